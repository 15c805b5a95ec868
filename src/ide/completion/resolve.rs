//! The explanation of one item, computed when a user looks at it: the parameter that a key is for,
//! and the values that the file's nodes get.

use super::item::Topic;
use crate::hiera::key::LookupKey;
use crate::ide::cursor::{Subject, SubjectKind};
use crate::ide::hover::{HoverConfig, describe};
use crate::text::{FilePath, TextRange};
use crate::workspace::Snapshot;

/// Returns the explanation of a topic in the file at `path`, in Markdown or plain as `config` states.
/// `None` for a file that no environment governs, for a text that is no key, and when the request
/// is cancelled.
pub fn resolve(
    snapshot: &Snapshot,
    path: &FilePath,
    topic: &Topic,
    config: &HoverConfig<'_>,
) -> Option<String> {
    let environment = snapshot.environments().governing_environments(path).next()?;
    let kind = match topic {
        Topic::Variable(name) => SubjectKind::Variable(LookupKey::parse(name).ok()?),
        Topic::Key(text) => {
            let key = LookupKey::parse(text).ok()?;
            let index = snapshot.manifests(environment);
            let is_parameter = index.asking_parameter(&key.root_text()).is_some();
            if is_parameter && key.subkeys.is_empty() {
                SubjectKind::Parameter(key)
            } else {
                SubjectKind::Reference(key)
            }
        }
    };
    let text = describe(
        snapshot,
        &(Subject {
            environment: environment.clone(),
            path: path.clone(),
            range: TextRange::default(),
            kind,
        }),
        config,
    )?
    .trim()
    .to_owned();
    let is_whole = !snapshot.cancel_token().is_cancelled() && !text.is_empty();
    is_whole.then_some(text)
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::fixture::Fixture;

    const REPO: &str = "
#- levels Role Common
#- /modules/web/manifests/init.pp
# @param port the port to listen on
# @param pin a secret
class web (Integer $port = 80, String $pin, Integer $size = 3) {}
#- /data/roles/web.yaml
web::port: 443
web::pin: hunter2
lookup_options: {web::pin: {convert_to: Sensitive}}
#- /data/common.yaml
web::port: 8080
";

    fn explained(topic: &Topic) -> String {
        let fixture = Fixture::new(REPO);
        let config = HoverConfig::default();
        let path = FilePath::new("/data/roles/web.yaml");
        resolve(&fixture.snapshot, &path, topic, &config).unwrap_or_default()
    }

    #[test]
    fn a_key_has_its_meaning_and_its_value_here() {
        expect![[r#"
            web::port · Integer · class web modules/web/manifests/init.pp:3
            for nodes with role = web
            from Role data/roles/web.yaml:1

              443

            - overrides Common data/common.yaml:1: 8080

            the port to listen on

            - default 80"#]]
        .assert_eq(&explained(&Topic::Key("web::port".into())));
    }

    #[test]
    fn names_of_files_are_no_images() {
        let fixture = Fixture::new(
            "
#- /hiera.yaml
version: 5
hierarchy: [{name: Common, path: '![n](https:evil.example).yaml'}]
#- /data/![n](https:evil.example).yaml
port: 1
",
        );
        let link = |_: &FilePath, line: u32| format!("file:///f#L{line}");
        let config = HoverConfig { markdown: true, link: Some(&link), ..HoverConfig::default() };
        let path = FilePath::new("/data/![n](https:evil.example).yaml");
        let explanation =
            resolve(&fixture.snapshot, &path, &Topic::Key("port".into()), &config).unwrap();
        expect![[r#"
            **port**  
            for any node, as none is known  
            from **Common** [data/&#33;&#91;n&#93;(https:evil.example).yaml:1](file:///f#L1)

            ```yaml
            1
            ```"#]]
        .assert_eq(&explanation);
    }

    #[test]
    fn a_key_without_data_has_its_default() {
        expect![[r#"
            web::size · Integer · class web modules/web/manifests/init.pp:3
            for nodes with role = web

            No level has it; this is the default of the class:

              3

            - default 3"#]]
        .assert_eq(&explained(&Topic::Key("web::size".into())));
    }

    #[test]
    fn a_secret_is_masked() {
        let text = explained(&Topic::Key("web::pin".into()));
        assert!(text.contains("a secret") && !text.contains("hunter2"), "{text}");
    }

    #[test]
    fn a_variable_has_its_value() {
        expect![[r#"
            %{role}
            for nodes with role = web

              web"#]]
        .assert_eq(&explained(&Topic::Variable("role".into())));
    }
}
