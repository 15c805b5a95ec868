//! All keys of a node with their effective values, as one text in YAML.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::audience::Audience;
use super::phrases::{PlaceNames, open_levels};
use crate::hiera::key::LookupKey;
use crate::hiera::lookup::Resolver;
use crate::hiera::resolution::{Outcome, Resolution};
use crate::hiera::scope::Scope;
use crate::puppet::print::{self, PrintOptions};
use crate::puppet::value::{Hash, Key, Member, Value};
use crate::text::FilePath;
use crate::workspace::Snapshot;
use crate::workspace::environments::Environment;

/// The page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EffectiveData {
    /// The audience, in words.
    pub scope: String,
    /// Each key with its value, and in a comment above it how it was merged and where it is
    /// written. Secrets are masked.
    pub text: String,
}

/// Returns all keys that the scope of the file at `path` finds; `None` for a file that no
/// environment governs, and as soon as the request is cancelled.
pub fn effective_data(snapshot: &Snapshot, path: &FilePath) -> Option<EffectiveData> {
    let environment = snapshot.environments().governing_environments(path).next()?;
    let scope = snapshot.scope_for(environment, path);
    let audience = Audience::of_scope(snapshot, environment, &scope, path);
    data_of_scope(snapshot, environment, &scope, audience)
}

/// Returns all keys that a node or a kind of nodes finds, in the first environment that has it;
/// `None` where none has it, and as soon as the request is cancelled.
pub fn node_data(snapshot: &Snapshot, name: &str) -> Option<EffectiveData> {
    let mut found = snapshot.environments().all.iter().flat_map(|environment| {
        let nodes = snapshot.nodes_of(environment).iter().map(|node| (node, true));
        let kinds = snapshot.kinds_of(environment).all.iter().map(|kind| (kind, false));
        nodes.chain(kinds).map(move |(node, is_node)| (environment, node, is_node))
    });
    let (environment, node, is_node) = found.find(|(_, node, _)| &*node.name == name)?;
    let (name, reads) = (node.name.to_string(), true);
    let audience =
        if is_node { Audience::Node { name, reads } } else { Audience::Kind { name, reads } };
    data_of_scope(snapshot, environment, &node.scope, audience)
}

fn data_of_scope(
    snapshot: &Snapshot,
    environment: &Environment,
    scope: &Scope,
    audience: Audience,
) -> Option<EffectiveData> {
    let view = snapshot.view(environment);
    let resolver = Resolver::new(snapshot.lookup_context(environment, &view, scope));
    let names = PlaceNames { snapshot, root: &environment.root };
    let keys = sorted_keys(snapshot)?;
    let audience = audience.to_phrase(str::to_owned);
    let mut text = format!("---\n# {}\n", one_line(&audience));
    for key in keys {
        if snapshot.cancel_token().is_cancelled() {
            return None;
        }
        let key_asked = LookupKey::of_root(key);
        let resolution = snapshot.lookup_as_called(environment, &resolver, &key_asked);
        write_key(&mut text, key, &resolution, &names);
    }
    // A cancelled lookup may have left the text of the last key incomplete.
    (!snapshot.cancel_token().is_cancelled()).then_some(EffectiveData { scope: audience, text })
}

/// Returns all keys in order; `None` when the request is cancelled.
fn sorted_keys(snapshot: &Snapshot) -> Option<BTreeSet<&str>> {
    let mut keys = BTreeSet::new();
    for key in snapshot.keys().keys() {
        if snapshot.cancel_token().is_cancelled() {
            return None;
        }
        keys.insert(&**key);
    }
    Some(keys)
}

fn write_key(out: &mut String, key: &str, resolution: &Resolution, names: &PlaceNames<'_>) {
    match &resolution.value {
        Ok(Some(value)) => {
            let merge = (!resolution.merge.stops_at_first())
                .then(|| format!("merged {}: ", resolution.merge.name()));
            let may_differ = if resolution.unsettled.is_empty() {
                ""
            } else {
                "; variables that are unknown may change it"
            };
            write_comment(
                &format!(
                    "{}{}{may_differ}",
                    merge.unwrap_or_default(),
                    place_names(resolution, names)
                ),
                out,
            );
            let entry = Hash::from_iter([(
                Key::new_string(key),
                Member { key_origin: None, value: value.clone() },
            )]);
            out.push_str(&print::print_yaml(
                &Value::hash_of(entry, None),
                &PrintOptions {
                    mask_encrypted: true,
                    cancel: Some(names.snapshot.cancel_token()),
                    ..PrintOptions::default()
                },
            ));
        }
        Ok(None) => {
            let levels: Vec<String> = open_levels(resolution);
            if !levels.is_empty() {
                let levels = levels.join(", ");
                write_comment(
                    &format!(
                        "{key}: whether there is a value is not settled: {levels} could not be evaluated"
                    ),
                    out,
                );
            }
        }
        Err(error) => write_comment(&format!("{key}: the lookup fails: {error}"), out),
    }
}

fn write_comment(text: &str, out: &mut String) {
    writeln!(out, "\n# {}", one_line(text)).expect("writing to a string")
}

/// Returns the places that a value comes from, in order of priority.
fn place_names(resolution: &Resolution, names: &PlaceNames<'_>) -> String {
    let places: Vec<String> = resolution
        .steps
        .iter()
        .filter_map(|step| match &step.outcome {
            Outcome::Found { key: Some(span), .. } => Some(names.place_name(*span)),
            Outcome::Found { path, key: None, .. } => Some(names.short_path(path).to_owned()),
            _ => None,
        })
        .collect();
    places.join(", ")
}

/// Returns a text as it can stand in a comment.
fn one_line(text: &str) -> String {
    text.split(|c: char| c.is_control() || matches!(c, '\u{85}' | '\u{2028}' | '\u{2029}'))
        .collect::<Vec<_>>()
        .join(" ")
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use expect_test::expect;

    use super::*;
    use crate::fixture::Fixture;
    use crate::text::CancelToken;

    const REPO: &str = r#"
#- scope web01 role=web
#- /hiera.yaml
version: 5
hierarchy:
  - {name: Role, path: "roles/%{role}.yaml"}
  - {name: Common, path: common.yaml}
#- /data/roles/web.yaml
users: {grace: {uid: 2}}
port: 80
bad: x
#- /data/common.yaml
lookup_options: {users: {merge: deep}, pin: {convert_to: Sensitive}, bad: {merge: hash}}
users: {ada: {uid: 1}}
port: 8080
"%{odd}: key": "%{lookup('port')}"
pin: "4711"
secret: ENC[PKCS7,MIIBeQYJ]
bad: [1]
"#;

    #[test]
    fn all_keys_of_a_node() {
        let fixture = Fixture::new(REPO);
        let data = effective_data(&fixture.snapshot, &FilePath::new("/data/common.yaml")).unwrap();
        expect![[r#"
            ---
            # node web01

            # data/common.yaml:4
            '%{odd}: key': '80'

            # bad: the lookup fails: The first element of the merge has wrong type, expects a Hash value, got String

            # data/common.yaml:5
            pin: Sensitive [value redacted]

            # data/roles/web.yaml:2
            port: 80

            # data/common.yaml:6
            secret: ENC[encrypted]

            # merged deep: data/roles/web.yaml:1, data/common.yaml:2
            users:
              ada:
                uid: 1
              grace:
                uid: 2
        "#]]
        .assert_eq(&data.text);
        assert_eq!(data.scope, "node web01");
    }

    #[test]
    fn a_node_or_a_kind_is_named() {
        let fixture = Fixture::new(&format!("#- node db01 role=db{REPO}"));
        let data = node_data(&fixture.snapshot, "db01").expect("it is known");
        assert_eq!(data.scope, "node db01");
        assert!(data.text.contains("\n# data/common.yaml:3\nport: 8080\n"), "{}", data.text);
        assert_eq!(node_data(&fixture.snapshot, "db02"), None);
        let fixture = Fixture::new(&REPO.replace("#- scope web01 role=web\n", ""));
        let data = node_data(&fixture.snapshot, "role = web").expect("a file is named after it");
        assert!(data.text.contains("port: 80\n"), "{}", data.text);
    }

    #[test]
    fn without_a_node_it_says_what_may_differ() {
        let fixture = Fixture::new(&REPO.replace("#- scope web01 role=web\n", ""));
        let data = effective_data(&fixture.snapshot, &FilePath::new("/data/common.yaml")).unwrap();
        assert!(
            data.text.contains(
                "# data/common.yaml:3; variables that are unknown may change it\nport: 8080"
            ),
            "{}",
            data.text
        );
        assert_eq!(data.scope, "for any node, as none is known");
    }

    #[test]
    fn a_cancelled_page_is_not_finished() {
        let (fixture, path) = (Fixture::new(REPO), FilePath::new("/data/common.yaml"));
        let asked = Arc::new(AtomicUsize::new(0));
        let count = asked.clone();
        let cancel = CancelToken::new(move || count.fetch_add(1, Ordering::Relaxed) >= 8);
        assert_eq!(effective_data(&fixture.snapshot.with_cancel_token(cancel), &path), None);
        assert!(asked.load(Ordering::Relaxed) < 16, "no key is looked up after that");
    }

    #[test]
    fn effective_data_is_valid_yaml() {
        let fixture = Fixture::new(REPO);
        let data = effective_data(&fixture.snapshot, &FilePath::new("/data/common.yaml")).unwrap();
        let again = Fixture::new(&format!("#- /data/common.yaml\n{}", data.text));
        assert_eq!(again.rendered_findings(), "");
    }
}
