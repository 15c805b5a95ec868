//! The words that completion leaves out, just beyond the limits of `docs/limits.md`.

use super::{CompletionConfig, Completions, accepted, complete_at, labels, words};
use crate::fixture::Fixture;

fn complete(text: &str) -> Completions {
    let fixture = Fixture::new(text);
    let config = CompletionConfig::default();
    complete_at(&fixture.snapshot, fixture.position(), &config).expect("words")
}

/// So many files of nodes, each with this text.
fn files(count: usize, text: &str) -> String {
    (0..count).map(|n| format!("#- /data/nodes/n{n:03}.yaml\n{text}\n")).collect()
}

#[test]
fn keys_behind_those_that_are_searched_are_announced() {
    let with = |count: usize| {
        let many: String = (0..count).map(|n| format!("a_{n:05}: 1\n")).collect();
        let found = complete(&format!(
            "#- levels Role Common\n#- /data/roles/web.yaml\n{many}z_needle: 1\n\
             #- /data/common.yaml\nneedle$0\n"
        ));
        let labels: Vec<String> = found.items.into_iter().map(|item| item.label).collect();
        (labels, found.is_incomplete)
    };
    assert_eq!(with(9_000), (vec!["z_needle".to_owned()], false));
    assert_eq!(with(10_000), (vec![], true), "the client asks again as users type");
}

#[test]
fn the_first_keys_of_a_file_decide_which_come_first() {
    let first = |count: usize| {
        let many: String = (0..count).map(|n| format!("k{n}: 1\n")).collect();
        let found = labels(&format!(
            "#- /modules/web/manifests/init.pp\nclass web(String $title, String $tls) {{}}\n\
             #- /modules/app/manifests/init.pp\nclass app(String $title) {{}}\n\
             #- /data/common.yaml\n{many}web::tls: x\n$0\n"
        ));
        assert!(
            found.contains(&"web::title".to_owned()) && found.contains(&"app::title".to_owned())
        );
        found[0].clone()
    };
    assert_eq!(first(499), "web::title");
    assert_ne!(first(500), "web::title");
}

#[test]
fn values_come_from_the_first_files_that_have_the_key() {
    let with = |count: usize| {
        let files = files(count, "mode: same");
        labels(&format!(
            "#- levels Node Common\n{files}#- /data/nodes/zz.yaml\nmode: other\n\
             #- /data/common.yaml\nmode: $0\n"
        ))
    };
    assert_eq!(with(150), ["same", "other"]);
    assert_eq!(with(200), ["same"]);
}

#[test]
fn a_long_type_beside_a_word_is_cut() {
    let with = |length: usize| {
        let data_type = format!("Enum[{}]", "x".repeat(length - "Enum[]".len()));
        let class = format!("class web({data_type} $mode = x) {{}}");
        let head = format!("#- /modules/web/manifests/init.pp\n{class}\n#- /data/common.yaml\n");
        words(&format!("{head}web::mo$0\n"))
    };
    assert_eq!(with(40), format!("web::mode: Enum[{}]\n", "x".repeat(34)));
    assert_eq!(with(41), format!("web::mode: Enum[{}…\n", "x".repeat(35)));
}

#[test]
fn the_variables_of_so_many_nodes_are_offered() {
    let with = |count: usize| {
        let nodes: String = (1..count).map(|n| format!("#- node n{n:03} role=web\n")).collect();
        let nodes = format!("{nodes}#- node zz last_one=1\n");
        labels(&format!("{nodes}#- levels Role Common\n#- /data/common.yaml\na: \"%{{last$0}}\"\n"))
    };
    assert_eq!(with(100), ["last_one"]);
    assert!(with(101).is_empty());
}

#[test]
fn a_type_of_very_many_words_gives_no_choice() {
    let with = |count: usize| {
        let all: Vec<String> = (0..count).map(|n| format!("w{n:02}")).collect();
        let class = format!("class web(Enum[{}] $mode) {{}}", all.join(", "));
        let head = format!("#- /modules/web/manifests/init.pp\n{class}\n#- /data/common.yaml\n");
        let offered = labels(&format!("{head}web::mode: $0\n"));
        assert_eq!(offered.len(), count, "all words are in the list at the value");
        accepted(&format!("{head}web::mo$0\n"), "web::mode")
    };
    assert!(with(24).contains("${1|w00,w01"), "{}", with(24));
    assert!(!with(25).contains('|'), "{}", with(25));
}

#[test]
fn a_key_far_below_the_cursor_is_not_seen() {
    let with = |lines: usize| {
        labels(&format!(
            "#- levels Role Common\n#- /data/roles/web.yaml\nusers:\n  ada: 1\n  bob: 1\n\
             #- /data/common.yaml\nusers:\n  $0\n{}  ada: 2\n",
            "  # nothing\n".repeat(lines)
        ))
    };
    assert_eq!(with(499), ["bob"]);
    assert_eq!(with(500), ["ada", "bob"]);
}
