//! Hovers do not show secrets.

use expect_test::expect;

use super::{HoverConfig, check, hover};
use crate::fixture::Fixture;
use crate::hiera::key::LookupKey;
use crate::ide::effective::effective_data;
use crate::ide::story::explain_key;
use crate::text::FilePath;

#[test]
fn encrypted_values_are_masked() {
    check(
        "
#- scope web01 role=web facts.os.family=Debian
pass$0word: ENC[PKCS7,MIIBeQYJKoZIhvcNAQcDoIIBajCCAWYCAQAxggEhMIIBHQ==]
",
        expect![[r#"
            <password>
            password
            node web01
            from Common data/common.yaml:1

              ENC[encrypted]
        "#]],
    );
}

#[test]
fn encrypted_values_are_masked_on_one_line() {
    check(
        r#"
#- scope web01 role=web facts.os.family=Debian
#- levels Node Role Common
#- /data/nodes/web01.yaml
db: {password: "ENC[PKCS7,MIIBeQYJKoZI]"}
#- /data/common.yaml
d$0b: {password: x}
"#,
        expect![[r#"
            <db>
            db
            node web01
            from Node data/nodes/web01.yaml:1

              password: ENC[encrypted]

            - overrides the value here, with other values of password
        "#]],
    );
}

#[test]
fn sensitive_values_are_masked() {
    check(
        "
#- scope web01 role=web facts.os.family=Debian
lookup_options: {secret: {convert_to: Sensitive}}
sec$0ret: geheim
",
        expect![[r#"
            <secret>
            secret
            node web01
            from Common data/common.yaml:2 · converted to Sensitive

              Sensitive [value redacted]
        "#]],
    );
}

#[test]
fn a_token_of_a_sensitive_value() {
    check(
        r#"
#- scope web01 role=web facts.os.family=Debian
lookup_options: {secret: {convert_to: Sensitive}}
secret: geheim
url: "https://x:%{lookup('sec$0ret')}@y"
"#,
        expect![[r#"
            <secret>
            secret
            node web01
            from Common data/common.yaml:2 · converted to Sensitive

              Sensitive [value redacted]
        "#]],
    );
}

/// Each way to write a type that may make a value Sensitive, whether Puppet makes it so, keeps the
/// value as it is, fails, or is left to decide.
#[test]
fn no_spelling_of_sensitive_shows_the_value() {
    for spelling in [
        "Sensitive",
        "' Sensitive'",
        "[Sensitive]",
        "[' Sensitive']",
        "'Sensitive[String]'",
        "'Sensitive[Integer]'",
        "'Optional[Sensitive]'",
        "'Optional[ Sensitive[String] ]'",
        "'Variant[Sensitive, String]'",
        "'Variant[Sensitive, Integer]'",
        "'Array[Sensitive]'",
        "'NotUndef[Sensitive[String]]'",
        "'Init[Sensitive]'",
        "'Sensitive[Mymodule::Text]'",
        "'Mymodule::Secret'",
        "'Sensitive['",
    ] {
        let text = format!(
            "#- scope web01 role=web\n#- /data/common.yaml\nlookup_options: {{secret: {{convert_to: {spelling}}}}}\n\
             secret: geh%{{}}eim\nurl: \"x%{{lookup('secret')}}y\"\nsame: \"%{{alias('secret')}}\"\n"
        );
        for key in ["secret: geh", "url", "same"] {
            let fixture = Fixture::new(&text.replacen(key, &format!("$0{key}"), 1));
            let path = FilePath::new("/data/common.yaml");
            let config = HoverConfig {
                markdown: true,
                max_value_lines: 20,
                max_locations: 9,
                ..HoverConfig::default()
            };
            let hovered = hover(&fixture.snapshot, fixture.position(), &config).expect("a key");
            let key = LookupKey::of_root(key.split(':').next().expect("a part"));
            let story = explain_key(&fixture.snapshot, &path, &key, &Default::default())
                .expect("it is governed");
            let page = effective_data(&fixture.snapshot, &path).expect("it is governed");
            for shown in [hovered.text, story.text, page.text] {
                assert!(
                    !shown.contains("geheim") && !shown.contains("geh%"),
                    "{spelling}: {shown}"
                );
            }
        }
    }
}
