//! The colored parts of small files, a line each.

use expect_test::{Expect, expect};

use super::semantic_tokens;
use crate::fixture::Fixture;
use crate::text::{FilePath, Span, TextRange};

fn check(text: &str, expected: Expect) {
    let fixture = Fixture::new(text);
    expected.assert_eq(&shown(&fixture, "/data/common.yaml", None));
}

fn shown(fixture: &Fixture, path: &str, within: Option<TextRange>) -> String {
    let path = FilePath::new(path);
    let file = fixture.snapshot.file(&path).expect("the file is there");
    let all = TextRange::new(0, u32::MAX);
    let tokens = semantic_tokens(&fixture.snapshot, &path, within.unwrap_or(all));
    let tokens = tokens.expect("it is governed");
    let mut shown = String::new();
    for token in tokens {
        let text = fixture.text_at(Span::in_file(file.id, token.range)).replace('\n', "⏎");
        let unresolved = if token.is_unresolved { " unresolved" } else { "" };
        shown.push_str(&format!("{text} {:?}{unresolved}\n", token.kind));
    }
    shown
}

#[test]
fn tokens_have_delimiters_functions_and_names() {
    check(
        r#"
a: "%{lookup('b.c')} and %{facts.os.family}"
b: {"k-%{role}": "%{ alias( 'x') }", c: "%{scope(\"role\")}"}
d: "%{lookup('nowhere::d')}%{hiera('a')}"
"%{not}": "%{}"
"#,
        expect![[r#"
            %{ Delimiter
            lookup Function
            b.c Key
            } Delimiter
            %{ Delimiter
            facts.os.family Variable
            } Delimiter
            %{ Delimiter
            role Variable
            } Delimiter
            %{ Delimiter
            scope Function
            role Variable
            } Delimiter
            %{ Delimiter
            lookup Function
            nowhere::d Key unresolved
            } Delimiter
            %{ Delimiter
            hiera Function
            a Key
            } Delimiter
        "#]],
    );
}

#[test]
fn tokens_within_another_token_have_no_colors() {
    check(
        "a: \"%{lookup('b.%{c}.%{d}')} %{e}\"\nb: >\n  ENC[PKCS7,aa\n  bb%{c}==]\n",
        expect![[r#"
            %{ Delimiter
            d Variable
            } Delimiter
            %{ Delimiter
            e Variable
            } Delimiter
            ENC[PKCS7,aa⏎  bb%{c}==] Encrypted
        "#]],
    );
}

#[test]
fn literals_and_encrypted_blocks() {
    check(
        "
a: \"%{literal('%')}{x} %h\"
b: >
  ENC[PKCS7,MIIB
  MIIC]
c: ['ENC[PKCS7,MIID]', plain]
",
        expect![[r#"
            %{ Delimiter
            literal Function
            % Literal
            } Delimiter
            ENC[PKCS7,MIIB⏎  MIIC] Encrypted
            ENC[PKCS7,MIID] Encrypted
        "#]],
    );
}

#[test]
fn a_range_has_the_tokens_that_touch_it() {
    let fixture = Fixture::new("a: '%{x}'\nb: '%{$0y}'$0\nc: '%{z}'\n");
    let expected = expect![[r#"
        y Variable
        } Delimiter
    "#]];
    expected.assert_eq(&shown(&fixture, "/data/common.yaml", Some(fixture.range().range)));
}

#[test]
fn locations_of_a_config_and_broken_files_have_them_too() {
    let fixture =
        Fixture::new("#- levels Role Common\n#- /data/common.yaml\na: '%{x}'\nb: [\"%{y\n");
    let expected = expect![[r#"
        %{ Delimiter
        role Variable
        } Delimiter
    "#]];
    expected.assert_eq(&shown(&fixture, "/hiera.yaml", None));
    let expected = expect![[r#"
        %{ Delimiter
        x Variable
        } Delimiter
    "#]];
    expected.assert_eq(&shown(&fixture, "/data/common.yaml", None));
}

#[test]
fn a_key_that_an_unread_backend_may_have_is_not_unresolved() {
    let fixture = Fixture::new(
        "
#- /hiera.yaml
version: 5
hierarchy:
  - {name: Vault, lookup_key: vault_lookup}
  - {name: Common, path: common.yaml}
#- /data/common.yaml
a: \"%{lookup('elsewhere')}\"
",
    );
    assert!(!shown(&fixture, "/data/common.yaml", None).contains("unresolved"));
}
