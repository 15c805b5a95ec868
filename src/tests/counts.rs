//! The cost of an edit depends on the parts that it touches: after each kind of edit of a long
//! file, only these parts are parsed, indexed and checked.

use crate::diagnostics::Findings;
use crate::fixture::Fixture;
use crate::text::work::{self, Counts};
use crate::text::{FilePath, TextRange};
use crate::workspace::Change;

/// How many plain entries stand above and below the edited one.
const AROUND: usize = 300;

/// A file in an editor, and the findings that are kept of it.
struct Session {
    fixture: Fixture,
    findings: Findings,
    path: FilePath,
    text: String,
}

impl Session {
    /// Opens a file that has these lines in the middle.
    fn new(path: &str, text: String) -> Session {
        Session::of("", path, text)
    }

    /// Opens the file in a workspace with other files, in the fixture language.
    fn of(others: &str, path: &str, text: String) -> Session {
        let fixture = Fixture::new(&format!("{others}#- {path}\n{text}"));
        let mut session =
            Session { fixture, findings: Findings::default(), path: FilePath::new(path), text };
        session.apply(Change::Open(session.path.clone(), session.text.clone()));
        session.edit("value 7", "value 8"); // The first edit makes ready for others.
        session
    }

    /// Replaces the only occurrence of a word by another; returns the work until the findings are
    /// published, and until everything is ready for the next edit.
    fn edit(&mut self, old: &str, new: &str) -> Counts {
        assert_eq!(self.text.matches(old).count(), 1, "{old:?} stands once in the text");
        let start = self.text.find(old).expect("just counted");
        self.text.replace_range(start..start + old.len(), new);
        // The edit is what an editor sends: it lacks the common beginning and end of both words.
        let head = old.bytes().zip(new.bytes()).take_while(|(old, new)| old == new).count();
        let (old, new) = (&old[head..], &new[head..]);
        let common = old.bytes().rev().zip(new.bytes().rev()).take_while(|(old, new)| old == new);
        let tail = common.count();
        let range = TextRange::from_usize(start + head..start + head + old.len() - tail);
        work::take();
        let insert = new[..new.len() - tail].to_owned();
        self.apply(Change::Edit(self.path.clone(), vec![(range, insert)]));
        work::take()
    }

    fn apply(&mut self, change: Change) {
        self.fixture.workspace.apply(change);
        let snapshot = self.fixture.workspace.snapshot();
        self.findings.update(&snapshot, &self.fixture.settings.rules);
        self.findings.after_publish(&|| true);
    }
}

/// Lines between plain entries.
fn among_others(lines: &str) -> String {
    let entries = |from: usize| {
        (from..from + AROUND / 2).map(|n| format!("key_{n}: value {n}.\n")).collect::<String>()
    };
    format!("{}value_7: value 7\n{lines}{}", entries(1_000), entries(2_000))
}

/// Edits of a file with these lines in the middle, in turn, and how many parts each may cost. An
/// edit at the edge of an entry concerns its neighbour, too.
#[track_caller]
fn check(lines: &str, edits: &[(&str, &str, usize)]) {
    let mut session = Session::new("/data/common.yaml", among_others(lines));
    for (old, new, parts) in edits {
        let counts = session.edit(old, new);
        let Counts { parsed, read, indexed, checked, .. } = counts;
        assert!(parsed < session.text.len() / 4, "{new:?} instead of {old:?}: {counts:?}");
        assert!(
            read <= *parts && indexed <= *parts && checked <= *parts,
            "{new:?} instead of {old:?} concerns {parts}: {counts:?}"
        );
        assert!(read > 0 && indexed > 0 && checked > 0, "work is counted: {counts:?}");
    }
}

#[test]
fn an_edit_of_a_plain_entry() {
    check(
        "plain: begun\nlist:\n- one\n- two\n",
        &[
            ("begun", "changed", 1),
            ("- two\n", "- two\n- three\n", 2),
            ("- one\n", "", 2),
            ("plain: changed\n", "", 2),
            ("list:\n", "new: 1\nlist:\n", 3),
            ("new", "renamed", 2),
        ],
    );
}

#[test]
fn an_edit_in_a_file_with_accepted_findings() {
    check(
        "plain: begun\n# hiera-ls: ignore[malformed-token] a reason\nbad: '%{'\nunused: &x 1\nmore: 1 # hiera-ls: ignore[unread-key]\n",
        &[
            ("begun", "changed", 1),
            ("bad: '%{'\n", "bad: '%{x'\n", 1),
            ("[unread-key]", "[unknown-key]", 1),
            ("&x 1", "&y 1", 1),
        ],
    );
}

#[test]
fn an_edit_parses_a_part_with_many_accepted_findings_a_few_times() {
    let accepted = |n: usize| format!("  # hiera-ls: ignore[malformed-token]\n  k{n}: '%{{'\n");
    let inside = (0..AROUND).map(accepted).collect::<String>();
    let above = "# hiera-ls: ignore-file[unread-key] a reason\n".repeat(AROUND);
    let between = "# hiera-ls: ignore[unread-key]\n".repeat(AROUND);
    for text in [
        format!("value_7: value 7\nroot:\n  plain: begun\n{inside}"),
        format!("{above}value_7: value 7\nplain: begun\n"),
        format!("value_7: value 7\n{between}plain: begun\n"),
    ] {
        let mut session = Session::new("/data/common.yaml", text);
        let counts = session.edit("begun", "changed");
        assert!(counts.parsed < 6 * session.text.len(), "{counts:?} of {}", session.text.len());
    }
}

#[test]
fn an_edit_of_what_others_ask_for() {
    check(
        "asked: begun\nasks: \"%{lookup('asked')}\"\ntoo: \"%{lookup('asks')}\"\n",
        &[("begun", "changed", 3), ("key_1003: value", "key_1003: word", 1)],
    );
}

#[test]
fn an_edit_beside_shared_anchors_concerns_no_other_entry() {
    let users: String = (0..20).map(|n| format!("user_{n}: {{<<: *x, own: {n}}}\n")).collect();
    check(
        &format!("defaults: &x {{a: 1}}\n{users}plain: begun\n"),
        &[
            ("begun", "changed", 1),
            ("own: 3}", "own: 33}", 1),
            ("user_12: {<<: *x, own: 12}\n", "", 2),
            ("user_15:", "user_fifteen:", 2),
            ("plain: changed\n", "plain: *x\n", 1),
        ],
    );
}

#[test]
fn an_edit_of_a_shared_anchor_concerns_the_entries_that_use_it() {
    check(
        "first: &x {a: 1}\none: *x\ntwo: [*x]\nsecond: &x {b: 1}\nthree: &y [*x]\nfour: *y\n",
        &[
            ("a: 1", "a: 12", 3),
            ("b: 1", "b: 12", 3),
            ("[*x]\nfour", "[*x, 1]\nfour", 2),
            ("second: &x {b: 12}\n", "second: &z {b: 12}\n", 3),
            ("first: &x {a: 12}", "first: &x {a: 12} # a comment", 1),
        ],
    );
}

#[test]
fn an_edit_of_json() {
    let entries = |from: usize| {
        (from..from + AROUND / 2)
            .map(|n| format!("  \"key_{n}\": \"value {n}.\",\n"))
            .collect::<String>()
    };
    let config = "#- /hiera.yaml\nversion: 5\nhierarchy: [{name: Json, path: all.json, data_hash: json_data}]\n";
    let lines = "  \"plain\": \"begun\",\n  \"list\": [\n    1,\n    2\n  ],\n  \"value_7\": \"value 7\",\n";
    let text = format!("{{\n{}{lines}{}  \"last\": null\n}}\n", entries(1_000), entries(2_000));
    let mut session = Session::of(config, "/data/all.json", text);
    for (old, new, most) in [
        ("begun", "changed", 1),
        ("    2\n", "    2,\n    3\n", 1),
        ("changed\",", "changed\"", 2),
        ("value 8\"", "value 9\"", 1),
        ("value 1005.\"", "value 5\"", 1),
        ("changed\"", "changed\",", 2),
        ("  \"list", "  \"new\": {},\n  \"list", 3),
        ("null", "true", 2),
    ] {
        let counts = session.edit(old, new);
        let Counts { read, indexed, checked, .. } = counts;
        assert!(
            read <= most && indexed <= most && checked <= most,
            "{new:?} instead of {old:?} concerns {most}: {counts:?}"
        );
        assert!(read > 0 && indexed > 0 && checked > 0, "work is counted: {counts:?}");
    }
}

#[test]
fn an_edit_in_a_file_of_several_documents() {
    let entries = among_others("plain: begun\n");
    for (head, rest) in [("%YAML 1.1\n---\n", "...\n"), ("---\n", "---\nsecond: one\n")] {
        let mut session =
            Session::new("/data/common.yaml", format!("{head}{entries}last: one\n{rest}"));
        for (old, new, most) in
            [("begun", "changed", 1), ("last: one", "last: two", 2), (rest, "...\n# x\n", 2)]
        {
            let Counts { read, indexed, checked, .. } = session.edit(old, new);
            assert!(
                read <= most && indexed <= most && checked <= most,
                "{new:?} after {head:?}: {read}, {indexed}, {checked}"
            );
        }
    }
}

#[test]
fn an_edit_beside_a_broken_entry() {
    for broken in ["half: \"open\n", "half: [open\n", "half\n", "half: 'x'\n  y: 1\n", "half: @x\n"]
    {
        let lines = format!("above: begun\nmore: 1\nand: 2\n{broken}below: {{a: one}}\n");
        check(&lines, &[("begun", "changed", 2), ("a: one", "a: two", 2)]);
    }
}
