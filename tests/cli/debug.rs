//! `hiera-ls debug`: the program's own data about a file.

use expect_test::{Expect, expect};

use super::{CONFIG, at, repo};

const NODE: &str = "a: &x [1, '%{b}']\nmotd: \"%{lookup('company.name')} %{role}\"\nlist: *x\n";

fn check(aspect: &str, expected: Expect) {
    let root = repo(
        &format!("debug-{aspect}"),
        &[
            (
                "hiera.yaml",
                "version: 5\nhierarchy: [{name: Role, path: 'roles/%{role}.yaml'}, {name: Common, path: common.yaml}]\n",
            ),
            ("data/roles/web.yaml", NODE),
            (
                "data/common.yaml",
                "company: {name: Fjord}\nmotd: hello\nother: \"%{lookup('motd')}\"\n",
            ),
            (".hiera-ls.yaml", "nodes: {sources: [web01.json]}\n"),
            ("web01.json", r#"{"certname": "web01", "role": "web"}"#),
        ],
    );
    let (status, out, err) = at(&root, &["debug", aspect, "data/roles/web.yaml"], "");
    assert_eq!(status, 0, "{err}");
    expected.assert_eq(&out.replace(&*root.to_string_lossy(), "ROOT"));
}

#[test]
fn the_tree_has_places_and_styles() {
    check(
        "tree",
        expect![[r#"
            entry 1:1-4:1
              1:1-3:9 block mapping
                1:1-1:2 Plain "a"
                1:7-1:18 flow sequence &x
                  1:8-1:9 Plain of 1 characters
                  1:11-1:17 SingleQuoted of 4 characters
                2:1-2:5 Plain "motd"
                2:7-2:42 DoubleQuoted of 33 characters
                3:1-3:5 Plain "list"
                3:7-3:9 alias *x
        "#]],
    );
}

#[test]
fn entries_have_keys_and_tokens() {
    check(
        "entry",
        expect![[r#"
        entry 1:1-4:1
          key "a" (list)
          key "motd" (string)
          key "list" (list)
          token 1:12-1:16 variable b
          token 2:8-2:33 lookup of company.name
          token 2:34-2:41 variable role
    "#]],
    );
}

#[test]
fn the_index_has_definitions_and_uses() {
    check(
        "index",
        expect![[r#"
        a
          defined data/roles/web.yaml:1
        motd
          defined data/common.yaml:2
          defined data/roles/web.yaml:2
          asked for data/common.yaml:3 by other
        list
          defined data/roles/web.yaml:3
    "#]],
    );
}

#[test]
fn the_scope_has_levels_variables_and_nodes() {
    check(
        "scope",
        expect![[r#"
            environment production in ROOT
            layer environment
            level Role: roles/%{role}.yaml
            scope web01: a node; other variables are undefined
              certname = "web01"
              role = "web"
              facts = {"certname":"web01","role":"web"}
              trusted = {"authenticated":"remote","certname":"web01","hostname":"web…
              environment = "production"
              server_facts = {"environment":"production"}
              module_name = ""
            read for 1 of 1 nodes web01
            perhaps read for 0 of 1 nodes
            config of environment: hiera.yaml
        "#]],
    );
}

#[test]
fn encrypted_text_is_never_printed() {
    let secret = "k: ENC[PKCS7,MARKER]\nENC[PKCS7,MARKER]: \"%{ENC[PKCS7,MARKER]}\"\n'%{x': ['ENC[PKCS7,MARKER]']\n";
    let root = repo("debug-secret", &[CONFIG, ("data/common.yaml", secret)]);
    for aspect in ["tree", "entry", "index", "scope"] {
        let (_, out, err) = at(&root, &["debug", aspect, "data/common.yaml"], "");
        assert!(!out.contains("MARKER") && !err.contains("MARKER"), "{aspect}: {out}{err}");
    }
}

#[test]
fn debug_of_a_file_without_data_is_an_error() {
    let root = repo("debug-none", &[CONFIG, ("data/common.yaml", "k: 1\n"), ("x.txt", "k: 1\n")]);
    let (status, out, err) = at(&root, &["debug", "scope", "nowhere.yaml"], "");
    assert_eq!((status, out.as_str()), (2, ""));
    assert!(err.contains("there is no"), "{err}");
    let (status, out, err) = at(&root, &["debug", "index", "x.txt"], "");
    assert_eq!((status, out.as_str()), (2, ""));
    assert!(err.contains("no hiera.yaml"), "{err}");
}
