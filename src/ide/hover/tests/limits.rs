//! The parts that a hover leaves out, and the words that say so. Each text is just beyond a limit of
//! `docs/limits.md`.

use super::hovered;

/// Checks that a hover contains one text, and lacks another.
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
        "… · class m",
        &format!("{long} · class m"),
    );
}

#[test]
fn a_long_line_of_code_is_cut() {
    let long = format!("Enum[{}]", ["some_word"; 20].join(", "));
    check_cut(
        &format!("m::p$0: some_word\n#- /modules/m/manifests/init.pp\nclass m({long} $p) {{}}\n"),
        "…\n",
        &long,
    );
}

#[test]
fn more_aliases_than_are_spelt_out_are_left_out() {
    let types: String = (0..6)
        .map(|n| format!("#- /modules/m/types/t{n}.pp\ntype M::T{n} = Array[M::T{}]\n", n + 1))
        .collect();
    check_cut(
        &format!("m::p$0: []\n#- /modules/m/manifests/init.pp\nclass m(M::T0 $p) {{}}\n{types}"),
        "type M::T3 = Array[M::T4]",
        "type M::T4",
    );
}

#[test]
fn the_default_of_a_null_is_named_where_it_is_short() {
    let long = "x".repeat(41);
    check_cut(
        &format!("m::p$0: ~\n#- /modules/m/manifests/init.pp\nclass m($p = '{long}') {{}}\n"),
        "the parameter takes the class's default\n",
        &format!("default, '{long}'"),
    );
}

#[test]
fn more_readers_than_are_named_are_told() {
    let calls: String = (0..6)
        .map(|n| format!("#- /modules/m/manifests/c{n}.pp\nclass m::c{n} {{ lookup('k') }}\n"))
        .collect();
    check_cut(&format!("k$0: 1\n{calls}"), "c3.pp:1 and more", "c4.pp");
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

#[test]
fn values_by_unknown_variables_beyond_those_that_are_shown_are_counted() {
    let files: String =
        (0..11).map(|n| format!("#- /data/roles/r{n:02}.yaml\nk: v{n:02}\n")).collect();
    let text = format!(
        "#- levels Role Common\n{files}#- /data/common.yaml\nas$0ks: \"%{{lookup('k')}}\"\nk: 0\n"
    );
    // The hover shows five values, and then the first four conditions of the other values.
    check_cut(&text, "- 6 other values where role = r05", "v05");
    check_cut(&text, "r08, …", "r09");
}

#[test]
fn one_value_beyond_those_that_are_shown_is_shown() {
    let nodes: String = (0..7).map(|n| format!("#- node n{n} n=x{n}\n")).collect();
    let levels = "#- /hiera.yaml\nversion: 5\nhierarchy: [{name: N, path: '%{n}.yaml'}, {name: Common, path: common.yaml}]\n";
    let common = "#- /data/common.yaml\nas$0ks: \"%{lookup('k')}\"\nk: last\n";
    let files = |count: usize| -> String {
        (0..count).map(|n| format!("#- /data/x{n}.yaml\nk: v{n}\n")).collect()
    };
    check_cut(&format!("{nodes}{levels}{}{common}", files(7)), "- v6 in n6", "other value");
    // Six values are from the files of level N, the last value is from level Common.
    check_cut(&format!("{levels}{}{common}", files(6)), "- v5 where n = x5", "other value");
}

#[test]
fn cases_beyond_the_lookup_limit_are_marked() {
    let names = ["zone", "site", "rack", "role", "tier"];
    let levels: String = names
        .iter()
        .map(|name| format!("- {{name: {name}, path: '{name}/%{{{name}}}.yaml'}}\n"))
        .collect();
    let file = |name: &str, n: usize| format!("#- /data/{name}/x{n}.yaml\nk: {name}{n}\n");
    let files: String = names.iter().flat_map(|name| (0..12).map(move |n| file(name, n))).collect();
    let text = format!(
        "#- /hiera.yaml\nversion: 5\nhierarchy:\n{levels}- {{name: Common, path: common.yaml}}\n\
         {files}#- /data/common.yaml\nas$0ks: \"%{{lookup('k')}}\"\nk: 0\n"
    );
    // The limit of 48 lookups is reached with the files of four levels.
    check_cut(&text, "- '0' otherwise, unless one of 12 files changes it", "tier = x");
}

#[test]
fn of_many_files_that_have_all_of_a_value_the_number_is_told() {
    let others = |count: usize| {
        let name = |n: usize| format!("  - {{name: L{n}, path: l{n}.yaml}}\n");
        let levels: String = (0..=count).map(name).collect();
        let files: String =
            (1..=count).map(|n| format!("#- /data/l{n}.yaml\nk: [a, {n}]\n")).collect();
        format!(
            "#- /hiera.yaml\nversion: 5\nhierarchy:\n{levels}#- /data/l0.yaml\n\
             lookup_options: {{k: {{merge: unique}}}}\nk$0: [a]\n{files}"
        )
    };
    check_cut(&others(3), "adds nothing to L1 data/l1.yaml", "the other");
    check_cut(&others(4), "adds nothing to the other 4 files", "adds nothing to L1");
}

#[test]
fn of_more_readings_of_a_path_than_are_named_none_is() {
    let with = |names: &[&str]| {
        let level = |name: &&str| format!("- {{name: {name}, path: '%{{{name}}}.yaml'}}\n");
        let levels: String = names.iter().map(level).collect();
        format!("#- /hiera.yaml\nversion: 5\nhierarchy:\n{levels}#- /data/x.yaml\n$0a: 1\n")
    };
    check_cut(
        &with(&["role", "site", "zone"]),
        "with role = x, or with site = x",
        "read this file",
    );
    check_cut(
        &with(&["role", "site", "zone", "tier"]),
        "for the nodes that read this file",
        "role = x",
    );
}
