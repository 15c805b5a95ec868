//! The parts that a hover leaves out, and the words that say so. Each text is just beyond a limit of
//! `docs/limits.md`.

use super::hovered;

/// Checks that a hover says something, and leaves something else out.
#[track_caller]
fn check_cut(text: &str, said: &str, left_out: &str) {
    let told = hovered(text, false, None);
    assert!(told.contains(said), "no {said:?} in:\n{told}");
    assert!(!told.contains(left_out), "{left_out:?} in:\n{told}");
}

#[test]
fn more_sources_than_are_listed_are_counted() {
    let levels: String = (0..8).map(|n| format!("  - {{name: L{n}, path: l{n}.yaml}}\n")).collect();
    let files: String = (0..8).map(|n| format!("#- /data/l{n}.yaml\nk: [{n}]\n")).collect();
    let files = files.replacen("k: [0]", "k$0: [0]\nlookup_options: {k: {merge: unique}}", 1);
    check_cut(
        &format!("#- /hiera.yaml\nversion: 5\nhierarchy:\n{levels}{files}"),
        "… and 2 more",
        "l6.yaml",
    );
}

#[test]
fn a_long_type_is_cut() {
    let long = format!("Enum[{}]", ["some_word"; 12].join(", "));
    check_cut(
        &format!("m::p$0: some_word\n#- /modules/m/manifests/init.pp\nclass m({long} $p) {{}}\n"),
        "…",
        &long,
    );
}

#[test]
fn the_default_of_a_null_is_named_where_it_is_short() {
    let long = "x".repeat(41);
    check_cut(
        &format!("m::p$0: ~\n#- /modules/m/manifests/init.pp\nclass m($p = '{long}') {{}}\n"),
        "the parameter takes the class's default",
        &long,
    );
}

#[test]
fn more_hidden_keys_than_are_named_are_counted() {
    let keys: Vec<String> = (0..7).map(|n| format!("key{n}: {n}")).collect();
    check_cut(
        &format!(
            "#- scope web01 role=web\n#- levels Role Common\n#- /data/roles/web.yaml\n\
             li$0sten: {{other: 1}}\n#- /data/common.yaml\nlisten: {{{}}}\n",
            keys.join(", ")
        ),
        "key4",
        "key5",
    );
}

#[test]
fn a_long_value_of_another_level_is_cut() {
    let long = "word ".repeat(20);
    check_cut(
        &format!(
            "#- scope web01 role=web\n#- levels Role Common\n#- /data/roles/web.yaml\n\
             li$0sten: 1\n#- /data/common.yaml\nlisten: '{long}'\n"
        ),
        "…",
        long.trim(),
    );
}

#[test]
fn groups_of_nodes_beyond_those_that_are_shown_are_counted() {
    let nodes: String = (0..40).map(|n| format!("#- node n{n:02} n=x{n}\n")).collect();
    let files: String = (0..40)
        .map(|n| format!("#- /data/x{n}.yaml\nother: '%{{alias(\"k\")}}'\nk: {n}\n"))
        .collect();
    let text = format!(
        "{nodes}#- /hiera.yaml\nversion: 5\nhierarchy: [{{name: N, path: '%{{n}}.yaml'}}, \
         {{name: Common, path: common.yaml}}]\n{files}#- /data/common.yaml\n\
         as$0ks: \"%{{lookup('k')}}\"\n"
    );
    check_cut(&text, "- 18 other values in 18 nodes\n", "'6'");
    check_cut(&text, "- 16 other nodes, not compared", "n39");
}
