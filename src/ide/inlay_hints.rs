//! Hints beside the text of a data file: the value of each token in the file's scope, and the type
//! that a class declares for a key.

use std::iter::once_with;

use super::cursor::part_of;
use crate::fleet::audience::{FileAudience, ValueLimits};
use crate::hiera::data::{DataFile, Reference, TokenUse};
use crate::hiera::key::LookupKey;
use crate::hiera::lookup::LOOKUP_OPTIONS;
use crate::hiera::resolution::Resolution;
use crate::hiera::scope::{Scope, Variable};
use crate::puppet::print::{self, PrintOptions};
use crate::puppet::value::Value;
use crate::text::{FilePath, TextRange};
use crate::workspace::Snapshot;
use crate::workspace::environments::Environment;

/// The longest hint, in characters.
const MAX_HINT: usize = 40;

/// The hints to show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HintConfig {
    /// The values of tokens.
    pub token_values: bool,
    /// The types of class parameters.
    pub parameter_types: bool,
}

impl Default for HintConfig {
    fn default() -> HintConfig {
        HintConfig { token_values: true, parameter_types: false }
    }
}

/// A hint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hint {
    /// The byte before which the hint is shown.
    pub offset: u32,
    /// The text of the hint, one line.
    pub text: String,
    /// Whether the hint is a type.
    pub is_type: bool,
}

/// Returns the hints of the data file at `path` for places in `within`, in the order of the text.
/// Tokens have none whose value is not settled in the file's scope, or may be Sensitive; encrypted
/// text is masked.
pub fn inlay_hints(
    snapshot: &Snapshot,
    path: &FilePath,
    within: TextRange,
    config: HintConfig,
) -> Vec<Hint> {
    let Some(environment) = snapshot.environments().governing_environments(path).next() else {
        return Vec::new();
    };
    let view = snapshot.view(environment);
    let (Some(data), Some(file)) = (view.data_of(path), snapshot.file(path)) else {
        return Vec::new();
    };
    let scope = snapshot.scope_for(environment, path);
    let audience = FileAudience::new(snapshot, environment, path);
    let hinting = Hinting { snapshot, environment, data: &data, scope: &scope, audience };
    let length = file.text().map_or(0, |text| text.len());
    let mut hints = Vec::new();
    for (range, part) in data.parts().placed_parts(length) {
        if range.end < within.start || within.end < range.start {
            continue;
        }
        for token in part.data.tokens.iter().filter(|_| config.token_values) {
            if snapshot.cancel_token().is_cancelled() {
                return hints;
            }
            hints.extend(hinting.value_of(token));
        }
        for (key, member) in part.data.members.iter().filter(|_| config.parameter_types) {
            let place = member.key_origin.and_then(|origin| data.part_bytes(origin));
            hints.extend(
                key.as_str().zip(place).and_then(|(key, place)| hinting.type_of(key, place)),
            );
        }
    }
    hints.retain(|hint| within.touches_offset(hint.offset));
    hints.sort_by_key(|hint| hint.offset);
    hints
}

/// Makes the hints of one file.
struct Hinting<'a> {
    snapshot: &'a Snapshot,
    environment: &'a Environment,
    data: &'a DataFile,
    scope: &'a Scope,
    audience: FileAudience<'a>,
}

impl Hinting<'_> {
    fn value_of(&self, token: &TokenUse) -> Option<Hint> {
        let place = self.data.part_bytes(token.span())?;
        let value = match &token.reference {
            Reference::Variable(key) => match self.scope.get_path(&key.text) {
                Variable::Known(value) => value,
                Variable::Undefined | Variable::Unknown => return None,
            },
            Reference::Key { key, .. } => self.looked_up(key)?,
        };
        if value.holds_secret() {
            return None;
        }
        let options = PrintOptions {
            mask_encrypted: true,
            max_json: Some(MAX_HINT * 4),
            cancel: Some(self.snapshot.cancel_token()),
            ..PrintOptions::default()
        };
        let text = format!("= {}", cut_text(&print::print_inline(&value, &options)));
        Some(Hint { offset: place.end, text, is_type: false })
    }

    /// Returns the value of a key, if it is settled and no secret, and the whole audience of the file
    /// gets it.
    fn looked_up(&self, key: &LookupKey) -> Option<Value> {
        let root = LookupKey::of_root(&key.root_text());
        let found = self.audience.effective_value(&root, ValueLimits::OF_KEY, false);
        if !found.rest.is_empty() {
            return None;
        }
        // Where the known nodes settle that there is no hint, nothing is looked up for others.
        let others = once_with(|| self.audience.answer_of_unknown_nodes(&root, false)).flatten();
        let answers = found.groups.into_iter().map(|group| group.resolution).chain(others);
        let mut values = answers.map(|answer| self.settled_part(key, answer));
        let first = values.next()??;
        values.all(|other| other.as_ref() == Some(&first)).then_some(first)
    }

    /// Returns the part of an answer that a key names, if the answer is settled and no secret.
    fn settled_part(&self, key: &LookupKey, resolution: Resolution) -> Option<Value> {
        let is_settled = resolution.unsettled.is_empty() && resolution.unsettled_levels.is_empty();
        let mut read = resolution.reads.keys.iter().filter_map(|key| LookupKey::parse(key).ok());
        let is_sensitive = self.snapshot.may_be_sensitive(&key.root_text())
            || read.any(|key| self.snapshot.may_be_sensitive(&key.root_text()));
        if !is_settled
            || is_sensitive
            || resolution.is_secret()
            || !resolution.reads.unknown.is_empty()
        {
            return None;
        }
        let value = resolution.value.ok()??;
        part_of(key, &value).map(|(_, part)| part)
    }

    fn type_of(&self, key: &str, place: TextRange) -> Option<Hint> {
        if key == LOOKUP_OPTIONS {
            return None;
        }
        let found = self.snapshot.manifests(self.environment).asking_parameter(key)?;
        let written = found.parameter.data_type.as_ref().filter(|_| !found.class.recovered)?;
        let words: Vec<&str> = written.text.split_whitespace().collect();
        Some(Hint { offset: place.end, text: cut_text(&words.join(" ")), is_type: true })
    }
}

/// Returns the first line of a text, at most [`MAX_HINT`] characters of it.
fn cut_text(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    let start: String = line.chars().take(MAX_HINT).collect();
    if start.len() < text.len() { format!("{start}…") } else { start }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::fixture::Fixture;

    const ALL: HintConfig = HintConfig { token_values: true, parameter_types: true };

    /// The text with the hints in it.
    fn check(text: &str, path: &str, config: HintConfig, expected: Expect) {
        let fixture = Fixture::new(text);
        let path = FilePath::new(path);
        let file = fixture.snapshot.file(&path).expect("the file is there");
        let mut shown = file.text().expect("a text").to_str().into_owned();
        let all = TextRange::new(0, shown.len() as u32);
        for hint in inlay_hints(&fixture.snapshot, &path, all, config).iter().rev() {
            let mark = if hint.is_type { ": " } else { " " };
            shown.insert_str(hint.offset as usize, &format!("‹{mark}{}›", hint.text));
        }
        expected.assert_eq(&shown);
    }

    #[test]
    fn tokens_have_their_values_in_the_scope_of_the_file() {
        check(
            r#"
#- scope web01 role=web
#- levels Node Common
#- /data/nodes/web01.yaml
domain: example.net
ports: {http: [80, 8080]}
#- /data/common.yaml
domain: other.net
contact: "mail@%{lookup('domain')} for %{role}%{nothing}"
port: "%{alias('ports.http')}"
none: "%{lookup('nowhere')}"
"#,
            "/data/common.yaml",
            HintConfig::default(),
            expect![[r#"
                domain: other.net
                contact: "mail@%{lookup('domain')}‹ = example.net› for %{role}‹ = web›%{nothing}"
                port: "%{alias('ports.http')}‹ = [80, 8080]›"
                none: "%{lookup('nowhere')}"
            "#]],
        );
    }

    #[test]
    fn a_value_that_other_files_could_change_has_no_hint() {
        check(
            r#"
#- levels Node Common
#- /data/nodes/web01.yaml
domain: example.net
#- /data/common.yaml
domain: other.net
company: Fjord
contact: "%{lookup('domain')} %{lookup('company')} %{role}"
"#,
            "/data/common.yaml",
            HintConfig::default(),
            expect![[r#"
                domain: other.net
                company: Fjord
                contact: "%{lookup('domain')} %{lookup('company')}‹ = Fjord› %{role}"
            "#]],
        );
    }

    #[test]
    fn a_value_that_all_readers_get_has_a_hint() {
        let text = "
#- node web1 role=web
#- node web2 role=web
#- node db1 role=db
#- levels Role Common
#- /data/roles/web.yaml
domain: web.net
port: 1
#- /data/roles/db.yaml
domain: db.net
port: 1
#- /data/common.yaml
contact: \"%{lookup('domain')} %{lookup('port')}\"
";
        check(
            text,
            "/data/common.yaml",
            HintConfig::default(),
            expect![[r#"
            contact: "%{lookup('domain')} %{lookup('port')}‹ = 1›"
        "#]],
        );
    }

    #[test]
    fn secrets_have_no_hints_and_long_values_are_cut() {
        check(
            r#"
lookup_options: {pin: {convert_to: Sensitive}}
pin: '4711'
sealed: ENC[PKCS7,MIIB]
long: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
a: "%{lookup('pin')} %{lookup('sealed')}"
b: "%{lookup('long')}"
"#,
            "/data/common.yaml",
            HintConfig::default(),
            expect![[r#"
                lookup_options: {pin: {convert_to: Sensitive}}
                pin: '4711'
                sealed: ENC[PKCS7,MIIB]
                long: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
                a: "%{lookup('pin')} %{lookup('sealed')}‹ = ENC[encrypted]›"
                b: "%{lookup('long')}‹ = aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa…›"
            "#]],
        );
    }

    #[test]
    fn keys_have_the_types_of_their_parameters() {
        let text = "
#- /modules/web/manifests/init.pp
class web(
  Integer[1, 65535] $port,
) {}
#- /data/common.yaml
web::port: 80
web::other: 1
";
        check(
            text,
            "/data/common.yaml",
            ALL,
            expect![[r#"
                web::port‹: Integer[1, 65535]›: 80
                web::other: 1
            "#]],
        );
    }
}
