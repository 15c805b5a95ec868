//! The story of the lookup of what is at a place, as a text of its own.

use super::audience::Audience;
use super::cursor::{KeyPath, KeyStep, Subject, SubjectKind, under_cursor};
use super::phrases::Names;
use crate::hiera::explain::{self, Shown, Subject as Explained};
use crate::hiera::key::LookupKey;
use crate::hiera::lookup::Resolver;
use crate::hiera::request::LookupRequest;
use crate::text::Span;
use crate::text::{FilePath, FilePosition};
use crate::workspace::Snapshot;

/// A story.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Story {
    /// For whom, in words.
    pub scope: String,
    /// As `hiera-ls lookup --explain --lines` tells it.
    pub text: String,
}

/// The key that a lookup would be asked for at a place; `None` where there is no key.
///
/// A part within a list is asked for with the list: merging may have moved it.
pub fn key_at(snapshot: &Snapshot, position: FilePosition) -> Option<LookupKey> {
    let Subject { kind, .. } = under_cursor(snapshot, position)?;
    match kind {
        SubjectKind::Key(path) => {
            let members = path.steps.iter().take_while(|step| matches!(step, KeyStep::Member(_)));
            let steps = members.cloned().collect();
            LookupKey::parse(&KeyPath { root: path.root, steps }.dotted()).ok()
        }
        SubjectKind::Reference(key) => Some(key),
        SubjectKind::Variable(_) | SubjectKind::Location { .. } | SubjectKind::Alias { .. } => None,
    }
}

/// The story of a lookup of `key` for whom values are shown in the file at `path`; `None` for a
/// file that no environment governs.
pub fn story(snapshot: &Snapshot, path: &FilePath, key: &LookupKey) -> Option<Story> {
    let environment = snapshot.environments().governing(path).next()?;
    let scope = snapshot.scope_for(environment, path);
    let view = snapshot.view(environment);
    let resolver = Resolver::new(snapshot.context(environment, &view, &scope));
    let explanation = resolver.explain(&LookupRequest::of(&key.text), Explained::Lookup);
    let names = Names { snapshot, root: &environment.root };
    let line = |span: Span| names.line(span);
    let shown = Shown {
        mask_encrypted: true,
        line: Some(&line),
        cancel: Some(snapshot.cancel_token()),
        ..Shown::default()
    };
    Some(Story {
        scope: Audience::of(snapshot, environment, &scope, path).phrase(str::to_owned),
        text: explain::text(&explanation.tree, shown),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Fixture;

    const DATA: &str = "a:\n  b: {'c.d': [1, $02]}\nz: \"%{lookup('a.b')}\"\n";

    #[test]
    fn the_key_of_a_place_is_what_a_lookup_can_be_asked_for() {
        let key = |text: &str| {
            let fixture = Fixture::new(text);
            key_at(&fixture.snapshot, fixture.position()).map(|key| key.text.to_string())
        };
        assert_eq!(key(DATA).as_deref(), Some("a.b.'c.d'"));
        assert_eq!(
            key(&DATA.replace("$0", "").replace("'a.b'", "'a$0.b'")).as_deref(),
            Some("a.b")
        );
        assert_eq!(key("a: 1\n# $0\n"), None);
    }

    #[test]
    fn the_story_is_that_of_the_command_line() {
        let fixture = Fixture::new("#- scope web01 role=web\n#- /data/common.yaml\na: 1\n");
        let path = FilePath::new("/data/common.yaml");
        let story = story(&fixture.snapshot, &path, &LookupKey::of_root("a")).unwrap();
        assert_eq!(story.scope, "node web01");
        assert!(
            story.text.contains("Hierarchy entry \"Common\"") && story.text.contains("common.yaml"),
            "{}",
            story.text
        );
        assert_eq!(
            super::story(&fixture.snapshot, &FilePath::new("/other.txt"), &LookupKey::of_root("a")),
            None
        );
    }

    #[test]
    fn secrets_stay_hidden() {
        let text =
            "a: ENC[PKCS7,MIIBeQYJ]\nlookup_options: {b: {convert_to: Sensitive}}\nb: hunter2\n";
        let fixture = Fixture::new(text);
        for key in ["a", "b"] {
            let story = story(
                &fixture.snapshot,
                &FilePath::new("/data/common.yaml"),
                &LookupKey::of_root(key),
            )
            .unwrap();
            assert!(
                !story.text.contains("MIIB") && !story.text.contains("hunter2"),
                "{}",
                story.text
            );
        }
    }
}
