//! Messages and status of `lookup` where levels could not be evaluated.

use super::{at, repo};

const CONFIG: &str = "\
version: 5
hierarchy:
  - {name: Top, path: top.yaml}
  - {name: Vault, lookup_key: vault_lookup, uri: 'https://vault.example'}
  - {name: Role, path: 'role/%{role}.yaml'}
  - {name: Secrets, lookup_key: eyaml_lookup_key, path: secret.eyaml, options: {pkcs7_private_key: /nowhere}}
  - {name: Common, path: common.yaml}
";

fn example(name: &str) -> std::path::PathBuf {
    repo(
        name,
        &[
            ("hiera.yaml", CONFIG),
            ("data/top.yaml", "above: 1\n"),
            ("data/role/web.yaml", "port: 80\n"),
            ("data/role/db.yaml", "port: 5432\nonly_db: 1\n"),
            ("data/secret.eyaml", "password: ENC[PKCS7,MIIBeQYJ]\n"),
            ("data/common.yaml", "port: 8080\nasks: \"%{lookup('nowhere')}\"\n"),
        ],
    )
}

#[test]
fn without_a_value_open_levels_make_status_3() {
    let root = example("cli-settled");
    let lookup = |args: &[&str]| at(&root, &[&["lookup"], args].concat(), "");
    assert_eq!(lookup(&["above"]), (0, "above\n".replace("above", "1"), String::new()));
    let (status, out, err) = lookup(&["nowhere"]);
    assert_eq!((status, out.as_str()), (3, ""));
    assert_eq!(
        err,
        "hiera-ls: did not find a value for 'nowhere'; levels that could not be evaluated may have one:\n  \
         level Vault, asked for 'nowhere': the backend vault_lookup cannot be evaluated here\n  \
         --run-backends runs functions, which are code of the repository\n"
    );
    let (status, _, err) = lookup(&["only_db"]);
    assert_eq!(status, 3);
    assert!(
        err.contains(
            "level Role, asked for 'only_db': role is unknown: data/role/db.yaml has the key"
        ) && err.contains("name a node with --node"),
        "{err}"
    );
    assert_eq!(lookup(&["nowhere", "--default", "x"]).0, 0, "a value is printed");
}

#[test]
fn a_value_below_open_levels_is_printed_with_their_names() {
    let root = example("cli-settled-value");
    let lookup = |args: &[&str]| at(&root, &[&["lookup"], args].concat(), "");
    let (status, out, err) = lookup(&["port"]);
    assert_eq!((status, out.as_str()), (0, "8080\n"));
    assert!(
        err.contains("level Vault")
            && err
                .contains("role is unknown: data/role/db.yaml and data/role/web.yaml have the key"),
        "{err}"
    );
    let (status, _, err) = lookup(&["password"]);
    assert!(status == 0 && err.contains("level Secrets") && err.contains("--decrypt"), "{err}");
    // A key that the value needs is as open as the value.
    let (_, _, err) = lookup(&["asks"]);
    assert!(err.contains("level Vault, asked for 'nowhere'"), "{err}");
    let (status, _, err) = lookup(&["port", "--explain"]);
    assert!(status == 0 && err.contains("level Vault"), "{err}");
    // Levels below the value that answered are not asked.
    assert_eq!(lookup(&["above"]).2, "");
}

#[test]
fn answers_of_a_batch_say_that_they_are_not_settled() {
    let root = example("cli-settled-batch");
    let keys = ["above", "nowhere", "port", "asks"];
    let questions: String = keys.iter().map(|key| format!("{{\"key\":\"{key}\"}}\n")).collect();
    let (status, out, _) = at(&root, &["lookup", "--batch"], questions);
    assert_eq!(status, 0);
    assert_eq!(
        out,
        "{\"key\":\"above\",\"found\":true,\"value\":1}\n\
         {\"key\":\"nowhere\",\"found\":false,\"settled\":false,\"unsettled_levels\":[\"Vault\"]}\n\
         {\"key\":\"port\",\"found\":true,\"value\":8080,\"settled\":false,\"unsettled_levels\":[\"Vault\",\"Role\"]}\n\
         {\"key\":\"asks\",\"found\":true,\"value\":\"%{lookup('nowhere')}\",\"settled\":false,\"unsettled_levels\":[\"Vault\"]}\n"
    );
}

#[test]
fn a_file_that_is_not_read_leaves_the_answer_open() {
    let config = "version: 5\nhierarchy: [{name: Large, path: large.yaml}, {name: Common, path: common.yaml}]\n";
    let files = [
        ("hiera.yaml", config),
        (".hiera-ls.yaml", "maxFileSize: 150\n"),
        ("data/large.yaml", &format!("port: 1\n# {}\n", "x".repeat(200))),
        ("data/common.yaml", "port: 2\n"),
    ];
    let root = repo("cli-settled-unread", &files);
    let (status, out, err) = at(&root, &["lookup", "port"], "");
    assert_eq!((status, out.as_str()), (0, "2\n"));
    assert!(err.contains("level Large") && err.contains("data/large.yaml is not read"), "{err}");
    assert_eq!(at(&root, &["lookup", "nowhere"], "").0, 3);
    let (_, out, _) = at(&root, &["lookup", "--batch"], "{\"key\":\"port\"}\n");
    assert!(out.contains("\"settled\":false,\"unsettled_levels\":[\"Large\"]"), "{out}");
}

/// A function that a setting describes is no open level: its files are read for the keys of the
/// namespace that they are named after.
#[test]
fn a_function_that_a_setting_describes_is_evaluated() {
    let config = "version: 5\nhierarchy: [{name: Roles, lookup_key: 't::expand', paths: ['roles/%{role}', common]}]\n";
    let root = repo(
        "cli-described",
        &[
            ("hiera.yaml", config),
            (
                ".hiera-ls.yaml",
                "backends: {'t::expand': {files: ['%{path}.yaml', '%{path}/%{namespace}.yaml']}}\n",
            ),
            ("role.yaml", "role: web\n"),
            ("data/common.yaml", "motd: welcome\n"),
            ("data/common/ntp.yaml", "ntp::servers: [a]\napache::port: 1\nntp: whole\n"),
            ("data/common/apache.yaml", "apache::port: 8080\n"),
            ("data/roles/web/apache.yaml", "apache::port: 80\n"),
        ],
    );
    let lookup =
        |args: &[&str]| at(&root, &[&["lookup", "--render-as", "json"], args].concat(), "");
    let role = ["--scope", "role.yaml"];
    assert_eq!(lookup(&["apache::port", role[0], role[1]]), (0, "80\n".into(), String::new()));
    assert_eq!(lookup(&["ntp::servers"]), (0, "[\"a\"]\n".into(), String::new()));
    assert_eq!(lookup(&["ntp"]).1, "\"whole\"\n", "a key without a namespace is its own");
    let (_, out, err) = lookup(&["apache::port"]);
    assert!(out == "8080\n" && err.contains("data/roles/web/apache.yaml has the key"), "{err}");
    let questions = "{\"key\":\"apache::port\"}\n{\"key\":\"nope\"}\n";
    let (_, out, _) = at(&root, &["lookup", "--batch", role[0], role[1]], questions);
    let expected = "{\"key\":\"apache::port\",\"found\":true,\"value\":80}\n{\"key\":\"nope\",\"found\":false}\n";
    assert_eq!(out, expected);
}

#[test]
fn a_value_whose_options_may_be_in_a_file_that_is_not_read_is_not_settled() {
    let padding = "x".repeat(500);
    let root = repo(
        "cli-settled-options",
        &[
            (".hiera-ls.yaml", "maxFileSize: 400\n"),
            (
                "hiera.yaml",
                "version: 5\nhierarchy: [{name: Top, path: top.yaml}, {name: Common, path: common.yaml}]\n",
            ),
            ("data/top.yaml", "list: [1]\n"),
            (
                "data/common.yaml",
                &format!("lookup_options: {{list: {{merge: unique}}}}\nlist: [2]\n# {padding}\n"),
            ),
        ],
    );
    let (status, out, err) = at(&root, &["lookup", "list", "--render-as", "json"], "");
    assert_eq!((status, out.as_str()), (0, "[1]\n"));
    assert!(err.contains("level Common, asked for 'lookup_options': data/common.yaml"), "{err}");
    let (_, out, _) = at(&root, &["lookup", "--batch"], "{\"key\":\"list\"}\n".repeat(2));
    let answer = "{\"key\":\"list\",\"found\":true,\"value\":[1],\"settled\":false,\"unsettled_levels\":[\"Common\"]}\n";
    assert_eq!(out, answer.repeat(2));
    let (_, _, err) = at(&root, &["lookup", "--explain", "list"], "");
    assert!(err.contains("asked for 'lookup_options'"), "{err}");
}

/// The folder of nodes is a link out of the repository, which hiera-ls does not follow.
#[cfg(unix)]
#[test]
fn a_key_below_a_folder_that_cannot_be_listed_is_not_settled() {
    let config = "version: 5\nhierarchy: [{name: Node, path: 'nodes/web01.yaml'}, {name: Common, path: common.yaml}]\n";
    let root =
        repo("cli-settled-unlisted", &[("hiera.yaml", config), ("data/common.yaml", "port: 80\n")]);
    std::os::unix::fs::symlink("/usr/share", root.join("data/nodes")).expect("it can be linked");
    let (status, out, err) = at(&root, &["lookup", "nowhere"], "");
    assert_eq!((status, out.as_str()), (3, ""), "{err}");
    assert!(err.contains("data/nodes/web01.yaml"), "{err}");
    let (status, out, err) = at(&root, &["lookup", "port"], "");
    assert_eq!((status, out.as_str()), (0, "80\n"), "{err}");
    assert!(err.contains("may change the value"), "{err}");
}

/// A token that stands for a value of any type is no text where its own value is not settled.
#[test]
fn an_alias_of_a_key_that_is_not_settled_is_no_value() {
    let config = "version: 5\nhierarchy:\n  - {name: Vault, lookup_key: vault_lookup}\n  \
                  - {name: Own, path: own.yaml}\n  - {name: Common, path: common.yaml}\n";
    let root = repo(
        "cli-settled-alias",
        &[
            ("hiera.yaml", config),
            ("data/own.yaml", "vips: \"%{alias('other')}\"\n"),
            ("data/common.yaml", "vips: {b: 2}\n"),
        ],
    );
    let lookup = |args: &[&str]| at(&root, &[&["lookup", "vips"], args].concat(), "");
    for merge in [&[][..], &["--merge", "hash"], &["--merge", "deep"]] {
        let (status, out, err) = lookup(merge);
        assert_eq!((status, out.as_str()), (3, ""), "{merge:?} {err}");
        assert!(err.contains("level Vault, asked for 'other'"), "{err}");
    }
    let batch = "{\"key\":\"vips\"}\n{\"key\":\"vips\",\"merge\":\"hash\"}\n";
    let (_, out, _) = at(&root, &["lookup", "--batch"], batch);
    assert_eq!(out.matches("\"found\":false,\"settled\":false").count(), 2, "{out}");
    let (status, out, _) = at(&root, &["check"], "");
    assert!(status == 0 || !out.contains("merge-type-conflict"), "{out}");
}
