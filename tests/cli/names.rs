//! Names of nodes, keys and revisions that are not known: each command says so, and suggests a name.

use super::diff::{commit, small};
use super::{at, repo};
use crate::support::require;

#[test]
fn a_name_that_is_not_known_has_a_suggestion() {
    let root = repo(
        "cli-names",
        &[
            (
                "hiera.yaml",
                "version: 5\nhierarchy:\n- {name: Node, path: 'nodes/%{trusted.certname}.yaml'}\n- {name: Common, path: common.yaml}\n",
            ),
            ("data/nodes/web-01.example.net.yaml", "web::port: 80\n"),
            ("data/common.yaml", "web::port: 1\nweb::name: 'x%{facts.hostname}'\n"),
        ],
    );
    let node = "did you mean 'web-01.example.net'?";
    for (arguments, status, words) in [
        (&["lookup", "--node", "web-1.example.net", "web::port"][..], 0, node),
        (&["dump", "--node", "web-1.example.net"], 0, node),
        (&["compare", "web-01.example.net", "web-10.example.net"], 1, node),
        (&["lookup", "--nodes", "web-02.example.net", "web::port"], 2, node),
        (
            &["lookup", "web::prot"],
            1,
            "did not find a value for 'web::prot'; did you mean 'web::port'?",
        ),
        (&["lookup", "zebra"], 1, "did not find a value for 'zebra'\n"),
        (
            &["dump", "--keys", "web::prot"],
            2,
            "no file defines a key 'web::prot'; did you mean 'web::port'?",
        ),
        (
            &["compare", "web-01.example.net", "web-02.example.net", "--keys", "web::port,zebra"],
            2,
            "no file defines a key 'zebra'\n",
        ),
        (
            &["lookup", "--facts", "nowhere.yaml", "web::port"],
            2,
            "nowhere.yaml: No such file or directory",
        ),
    ] {
        let (found, _, err) = at(&root, arguments, "");
        assert!(found == status && err.contains(words), "{arguments:?}: {found}\n{err}");
    }
    let (status, out, _) = at(&root, &["dump", "--keys", "web::port, WEB::N*"], "");
    assert!(status == 0 && out.contains("web::port: 1") && out.contains("web::name: "), "{out}");
}

#[test]
fn a_token_of_an_unknown_variable_is_named_beside_the_value() {
    let root = repo(
        "cli-names-unknown",
        &[
            ("hiera.yaml", "version: 5\nhierarchy:\n- {name: Common, path: common.yaml}\n"),
            (
                "data/common.yaml",
                "one: 'x%{facts.hostname}'\ntwo: '%{lookup(\"one\")}%{role}'\nthree: 3\n",
            ),
        ],
    );
    for (key, words) in [
        (
            "one",
            "the variable facts.hostname is unknown, so that tokens stay in the value of 'one'\n",
        ),
        ("two", "the variables facts.hostname, role are unknown"),
    ] {
        let (status, out, err) = at(&root, &["lookup", key], "");
        assert!(status == 0 && out.contains("%{facts.hostname}"), "{out}");
        assert!(err.contains(words) && err.contains("--node"), "{err}");
    }
    let (status, _, err) = at(&root, &["lookup", "three"], "");
    assert_eq!((status, err.as_str()), (0, ""));
}

#[test]
fn names_that_no_revision_has_are_not_taken_for_real() {
    if !require("git") {
        return;
    }
    let root = small("cli-names-git");
    for (arguments, status, words) in [
        (&["log", "prot"][..], 1, "no file of HEAD defines 'prot'; did you mean 'port'?"),
        (
            &["log", "port", "--node", "web-011"],
            2,
            "no node is named 'web-011'; did you mean 'web-01'?",
        ),
        (&["diff", "--nodes", "web-011"], 2, "no node is named 'web-011'; did you mean 'web-01'?"),
        (&["diff", "--base", "mian"], 2, "no revision 'mian' is in this repository"),
    ] {
        let (found, out, err) = at(&root, arguments, "");
        assert!(found == status && err.contains(words), "{arguments:?}: {found}\n{out}{err}");
        assert!(found == 1 || out.is_empty(), "{out}");
    }
    // A key that a commit removed has a history.
    std::fs::write(root.join("data/roles/web.yaml"), "other: 80\n").unwrap();
    std::fs::write(root.join("data/roles/app.yaml"), "other: 90\n").unwrap();
    let common = std::fs::read_to_string(root.join("data/common.yaml")).unwrap();
    std::fs::write(root.join("data/common.yaml"), common.replace("db_password: one\n", ""))
        .unwrap();
    commit(&root, "removed");
    let (status, out, err) = at(&root, &["log", "db_password"], "");
    assert!(status == 0 && out.contains("removed") && err.is_empty(), "{out}{err}");
    let empty = repo("cli-names-empty", &[("hiera.yaml", "version: 5\n")]);
    super::diff::git(&empty, &["init", "-q"]);
    let (status, _, err) = at(&empty, &["diff"], "");
    assert!(status == 2 && err.contains("the repository has no commit yet"), "{err}");
}
