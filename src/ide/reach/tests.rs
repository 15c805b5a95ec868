use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;
use crate::fixture::Fixture;
use crate::text::{CancelToken, SourceChange, TextEdit, TextRange, work};
use crate::workspace::Change;

const FLEET: &str = "#- levels Role Common\n#- node a role=web\n#- node b role=web\n#- node c role=db\n#- /data/roles/web.yaml\nk: 1\nsecret_key: x\n#- /data/roles/db.yaml\nx: 1\n#- /data/common.yaml\nasks: \"%{lookup('k')}\"\nk: 3\nother: 1\n";

/// Returns the snapshot of a fleet, and the one after these files have other texts.
fn edited(fleet: &str, texts: &[(&str, &str)]) -> (Snapshot, Snapshot) {
    let before = Fixture::new(fleet).snapshot;
    let mut change = SourceChange::default();
    for (path, text) in texts {
        let path = FilePath::new(path);
        let file = before.file(&path).and_then(|file| file.text()).expect("a text");
        change.push(&path, TextEdit::new(TextRange::new(0, file.len()), *text));
    }
    let after = before.after_change(&change).expect("it can change");
    (before, after)
}

/// Returns the lenses of the first file, as `key: title`.
fn lenses(fleet: &str, texts: &[(&str, &str)]) -> Vec<String> {
    let (before, after) = edited(fleet, texts);
    let revisions = Revisions { before: &before, after: &after };
    let reach = revisions
        .find_reach(&Reach::default(), &mut KnownAnswers::default())
        .expect("not cancelled");
    let lens = |lens: &ReachLens| format!("{}: {}", lens.key.as_deref().unwrap_or(""), lens.title);
    reach.lenses_of(&FilePath::new(texts[0].0)).iter().map(lens).collect()
}

#[test]
fn an_entry_has_the_keys_and_nodes_that_its_edit_changes() {
    let web = "/data/roles/web.yaml";
    assert_eq!(
        lenses(FLEET, &[(web, "k: 2\nsecret_key: x\n")]),
        ["k: this edit changes 2 keys on 2 of 3 nodes"]
    );
    let common = ("/data/common.yaml", "asks: \"%{lookup('k')}\"\nk: 4\nother: 1\n");
    assert_eq!(lenses(FLEET, &[common]), ["k: this edit changes 2 keys on 1 of 3 nodes"]);
    assert_eq!(
        lenses(FLEET, &[(web, "# comment\nk: 1\nsecret_key: x\n")]),
        Vec::<String>::new(),
        "no entry is edited"
    );
}

#[test]
fn the_edits_of_all_files_are_counted_together() {
    let total = |texts: &[(&str, &str)]| {
        let (before, after) = edited(FLEET, texts);
        let revisions = Revisions { before: &before, after: &after };
        revisions
            .find_reach(&Reach::default(), &mut KnownAnswers::default())
            .expect("not cancelled")
            .total
    };
    let web = ("/data/roles/web.yaml", "k: 2\nsecret_key: x\n");
    let common = ("/data/common.yaml", "asks: \"%{lookup('k')}\"\nk: 3\nother: 2\n");
    let words = |text: &str| Some(text.to_owned());
    assert_eq!(total(&[web]), words("this edit changes 2 keys on 2 of 3 nodes"));
    assert_eq!(total(&[web, common]), words("these 2 edits change 3 keys on 3 of 3 nodes"));
    let broken = ("/data/roles/web.yaml", "k: 'x\n");
    assert_eq!(total(&[broken]), words(UNREADABLE));
    assert_eq!(total(&[broken, common]), words("this edit changes 1 key on 3 of 3 nodes"));
    assert_eq!(total(&[("/data/roles/web.yaml", "# c\nk: 1\nsecret_key: x\n")]), None);
}

#[test]
fn an_edit_without_effect_says_so() {
    let fleet = FLEET.replace("x: 1\n", "k: 5\n");
    let common = ("/data/common.yaml", "asks: \"%{lookup('k')}\"\nk: 4\nother: 1\n");
    let found = lenses(&fleet, &[common]);
    assert_eq!(found, ["k: this edit changes nothing for the 3 known nodes"]);
}

#[test]
fn several_edits_and_removed_entries_are_counted_above_the_file() {
    let found = lenses(FLEET, &[("/data/common.yaml", "asks: 1\nother: 2\n")]);
    assert_eq!(
        found,
        [
            ": these 3 edits change 3 keys on 3 of 3 nodes",
            "asks: this edit changes 1 key on 3 of 3 nodes",
            "other: this edit changes 1 key on 3 of 3 nodes"
        ]
    );
    let found = lenses(FLEET, &[("/data/roles/web.yaml", "k: 1\n")]);
    assert_eq!(found, [": this edit changes 1 key on 2 of 3 nodes"]);
}

#[test]
fn lookups_that_fail_afterwards_come_first() {
    let text = "asks: \"%{lookup('k')}\"\nk: 3\nother: \"%{lookup('asks')}\"\n";
    let circle =
        [("/data/common.yaml", text), ("/data/roles/db.yaml", "x: 1\nk: \"%{lookup('other')}\"\n")];
    let found = lenses(FLEET, &[circle[1], circle[0]]);
    assert_eq!(
        found,
        ["k: this edit makes lookups fail for 3 keys on 1 of 3 nodes"],
        "all three are in the circle"
    );
}

#[test]
fn edits_of_options_and_of_the_hierarchy_have_a_reach() {
    let options = "lookup_options: {k: {merge: unique}}\nasks: 1\nk: 3\nother: 1\n";
    let fleet = FLEET.replace("asks: \"%{lookup('k')}\"", "asks: 1");
    assert_eq!(
        lenses(&fleet, &[("/data/common.yaml", options)]),
        ["lookup_options: this edit changes 1 key on 3 of 3 nodes"]
    );
    let config = "version: 5\nhierarchy: [{name: Common, path: common.yaml}]\n";
    assert_eq!(
        lenses(FLEET, &[("/hiera.yaml", config)]),
        [": this edit changes 4 keys on 3 of 3 nodes"]
    );
}

#[test]
fn the_reach_of_a_file_that_cannot_be_read_is_not_known_and_others_have_theirs() {
    let texts = [
        ("/data/common.yaml", "asks: 1\nk: 'half\n"),
        ("/data/roles/web.yaml", "k: 2\nsecret_key: x\n"),
    ];
    let (before, after) = edited(FLEET, &texts);
    let revisions = Revisions { before: &before, after: &after };
    let mut last = Reach::default();
    for expected in [None, Some("asks")] {
        let reach =
            revisions.find_reach(&last, &mut KnownAnswers::default()).expect("not cancelled");
        let [lens] = reach.lenses_of(&FilePath::new(texts[0].0)) else { panic!("{reach:?}") };
        assert_eq!((lens.key.as_deref(), lens.title.as_str()), (expected, UNREADABLE));
        let [lens] = reach.lenses_of(&FilePath::new(texts[1].0)) else { panic!("{reach:?}") };
        assert_eq!(lens.title, "this edit changes 2 keys on 2 of 3 nodes");
        let asks = ReachLens { key: Some("asks".into()), title: "earlier".into() };
        last.lenses.insert(FilePath::new(texts[0].0), vec![asks]);
    }
    let broken = edited(FLEET, &[("/hiera.yaml", "version: 5\nhierarchy: [{name: 'C\n")]);
    let revisions = Revisions { before: &broken.0, after: &broken.1 };
    let reach = revisions
        .find_reach(&Reach::default(), &mut KnownAnswers::default())
        .expect("not cancelled");
    assert_eq!(reach.lenses_of(&FilePath::new("/hiera.yaml"))[0].title, UNREADABLE);
}

#[test]
fn a_page_names_the_nodes_first_and_hides_secrets() {
    let (before, after) =
        edited(FLEET, &[("/data/roles/web.yaml", "k: 2\nsecret_key: y\nnew: 1\n")]);
    let revisions = Revisions { before: &before, after: &after };
    let page = revisions
        .find_page(("the saved texts", "the editor"), &mut KnownAnswers::default())
        .expect("not cancelled");
    let expected = expect_test::expect![[r#"
        Effective changes from the saved texts to the editor, for 3 nodes, from scopes.jsonl
          ! now fails   - no value any more   ~ other value   + new value   ? unknown variables decide

        data/roles/web.yaml:1  1 entry added, 2 edited
          ~ asks  '1' (data/common.yaml:1) -> '2'    2 nodes: a, b
          ~ k  1 (data/roles/web.yaml:1) -> 2    the same 2
          ~ secret_key  (hidden) changed    the same 2
          + new  not found -> 1    the same 2

        4 keys change on 2 of 3 nodes (8 values, 3 edits)
    "#]];
    expected.assert_eq(&page.text);
    let named: Vec<(&str, u32)> = page
        .links
        .iter()
        .map(|link| (&page.text[link.range.start as usize..link.range.end as usize], link.line))
        .collect();
    assert_eq!(named.first(), Some(&("data/roles/web.yaml:1", 1)), "{named:?}");
    assert!(!page.text.contains('y') || !page.text.contains("secret_key  x"), "{}", page.text);
}

#[test]
fn a_cancelled_comparison_looks_nothing_more_up() {
    let (before, after) = edited(FLEET, &[("/data/common.yaml", "asks: 1\nk: 4\nother: 2\n")]);
    let count = |limit: usize| {
        let checks = AtomicUsize::new(0);
        let token = CancelToken::new(move || checks.fetch_add(1, Ordering::Relaxed) >= limit);
        let (before, after) = (
            before.clone().with_cancel_token(token.clone()),
            after.clone().with_cancel_token(token),
        );
        work::take();
        let revisions = Revisions { before: &before, after: &after };
        let found = revisions.find_reach(&Reach::default(), &mut KnownAnswers::default());
        (found.is_some(), work::take().lookups)
    };
    let (is_found, lookups) = count(usize::MAX);
    assert!(is_found && lookups >= 6, "{lookups}");
    assert_eq!(count(0), (false, 0));
    let (is_found, some) = count(3);
    assert!(!is_found && some < lookups, "{some} of {lookups}");
}

/// Returns the reach of texts with these known answers, and the lookups that it takes.
fn reach_with(
    before: &Snapshot,
    texts: &[(&str, &str)],
    known: &mut KnownAnswers,
) -> (Option<Reach>, usize) {
    let mut change = SourceChange::default();
    for (path, text) in texts {
        let path = FilePath::new(path);
        let file = before.file(&path).and_then(|file| file.text()).expect("a text");
        change.push(&path, TextEdit::new(TextRange::new(0, file.len()), *text));
    }
    let after = before.after_change(&change).expect("it can change");
    work::take();
    let found = Revisions { before, after: &after }.find_reach(&Reach::default(), known);
    (found, work::take().lookups)
}

#[test]
fn the_next_keystroke_looks_up_what_follows_from_its_text_alone() {
    let before = Fixture::new(FLEET).snapshot;
    let mut known = KnownAnswers::default();
    let common = |text: &'static str| [("/data/common.yaml", text)];
    let first = common("asks: \"%{lookup('k')}\"\nk: 4\nother: 1\n");
    let (found, lookups) = reach_with(&before, &first, &mut known);
    // On each side, two groups of nodes are looked up for each of `k` and `asks`.
    let (again, fewer) = reach_with(&before, &first, &mut known);
    assert_eq!((found, fewer * 2), (again, lookups));
    let (found, next) =
        reach_with(&before, &common("asks: \"%{lookup('k')}\"\nk: 45\nother: 1\n"), &mut known);
    assert_eq!(next, fewer);
    let texts = common("asks: \"%{lookup('k')}\"\nk: 45\nother: 1\n");
    assert_eq!(found, reach_with(&before, &texts, &mut KnownAnswers::default()).0);
    let no_room = &mut KnownAnswers::new(0);
    reach_with(&before, &first, no_room);
    assert_eq!(reach_with(&before, &first, no_room).1, lookups, "nothing is kept without room");
}

#[test]
fn an_edit_visits_no_other_files_and_keys() {
    let steps = |count: usize| {
        let of_roles = |n: usize| format!("#- /data/roles/r{n}.yaml\nown{n}: 1\n");
        let fleet = format!(
            "#- levels Role Common\n#- node a role=web\n{}#- /data/roles/bad.yaml\nk: [\n#- /data/common.yaml\nk: 1\nm: 2\n{}#- /manifests/site.pp\nclass p($how = 'first') {{ lookup('k', Data, $how) }}\n",
            (0..count).map(of_roles).collect::<String>(),
            (0..count).map(|n| format!("k{n}: 1\n")).collect::<String>()
        );
        let mut fixture = Fixture::new(&fleet);
        let path = FilePath::new("/data/common.yaml");
        let text = fixture.snapshot.file(&path).and_then(|file| file.text()).expect("a text");
        let text = text.to_str().into_owned();
        let value = text.find("m: 2").expect("it is there") as u32 + 3;
        fixture.workspace.apply(Change::Open(path.clone(), text));
        let before = fixture.workspace.snapshot();
        before.keys(); // An edit shares the entries that are parsed.
        let edit = (TextRange::new(value, value + 1), "3".to_owned());
        fixture.workspace.apply(Change::Edit(path, vec![edit]));
        let after = fixture.workspace.snapshot();
        work::take();
        let revisions = Revisions { before: &before, after: &after };
        let found = revisions.find_reach(&Reach::default(), &mut KnownAnswers::default());
        let total = found.and_then(|reach| reach.total);
        assert_eq!(total.as_deref(), Some("this edit changes 1 key on 1 of 1 node"));
        work::take().steps
    };
    assert!(steps(20) > 0);
    assert_eq!(steps(200), steps(20));
}

#[test]
fn a_parameter_that_decides_a_strategy_changes_the_keys_that_are_read_with_it() {
    let fleet = "#- levels Role Common\n#- node a role=web\n#- /data/roles/web.yaml\nk: [1]\n#- /data/common.yaml\nk: [2]\np::how: first\n#- /manifests/site.pp\nclass p($how = 'first') { lookup('k', Array, $how) }\n";
    let before = Fixture::new(fleet).snapshot;
    let texts = [("/data/common.yaml", "k: [2]\np::how: unique\n")];
    let (found, _) = reach_with(&before, &texts, &mut KnownAnswers::default());
    let total = found.and_then(|reach| reach.total);
    assert_eq!(total.as_deref(), Some("this edit changes 2 keys on 1 of 1 node"));
}

#[test]
fn a_cancelled_comparison_leaves_no_wrong_answer() {
    let before = Fixture::new(FLEET).snapshot;
    let texts = [("/data/common.yaml", "asks: 1\nk: 4\nother: 2\n")];
    let expected = reach_with(&before, &texts, &mut KnownAnswers::default()).0;
    let mut ends = 0;
    for limit in 0..300 {
        let checks = AtomicUsize::new(0);
        let token = CancelToken::new(move || checks.fetch_add(1, Ordering::Relaxed) >= limit);
        let mut known = KnownAnswers::default();
        let cancelled = before.clone().with_cancel_token(token);
        ends += usize::from(reach_with(&cancelled, &texts, &mut known).0.is_some());
        assert_eq!(reach_with(&before, &texts, &mut known).0, expected, "after {limit} checks");
    }
    assert!((1..300).contains(&ends), "{ends} of 300 were not cancelled");
}

#[test]
fn known_answers_are_those_of_the_strategy_that_the_edited_code_asks_for() {
    let fleet = "#- levels Role Common\n#- node a role=web\n#- /data/roles/web.yaml\nk: [1]\n#- /data/common.yaml\nk: [2]\n#- /manifests/site.pp\n$x = lookup('k', Array, 'first')\n";
    let before = Fixture::new(fleet).snapshot;
    let mut known = KnownAnswers::default();
    let common = ("/data/common.yaml", "k: [3]\n");
    for (code, keys) in
        [("first", "changes nothing"), ("unique", "changes 1 key"), ("first", "changes nothing")]
    {
        let code = format!("$x = lookup('k', Array, '{code}')\n");
        let texts = [common, ("/manifests/site.pp", &*code)];
        let found = reach_with(&before, &texts, &mut known).0.expect("not cancelled");
        let title = &found.lenses_of(&FilePath::new(common.0))[0].title;
        assert!(title.contains(keys), "{code}: {title}");
    }
}
