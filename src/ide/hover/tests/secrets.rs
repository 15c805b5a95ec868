//! What must not be shown is not.

use expect_test::expect;

use super::check;

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

              ENC[encrypted]

            first value found

            - Common data/common.yaml:1: "ENC[encrypted]"
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

              password: ENC[encrypted]

            first value found

            - Node data/nodes/web01.yaml:1: {"password":"ENC[encrypted]"}
            - Common data/common.yaml:1: {"password":"x"} (overridden)
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

              Sensitive [value redacted]

            first value found, converted to Sensitive

            - Common data/common.yaml:2: Sensitive [value redacted]
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

              Sensitive [value redacted]

            first value found, converted to Sensitive

            - Common data/common.yaml:2: Sensitive [value redacted]
        "#]],
    );
}
