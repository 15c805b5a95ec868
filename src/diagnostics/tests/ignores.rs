//! Findings that comments and settings accept.

use expect_test::expect;

use super::check;
use crate::diagnostics::fix::accept_with_comments;
use crate::diagnostics::{Finding, check_all};
use crate::fixture::Fixture;
use crate::settings::{Origin, Settings};
use crate::text::TextEdit;

#[test]
fn a_comment_accepts_findings_of_its_line_or_of_the_entry_below() {
    check(
        "a::b:c: 1 # hiera-ls: ignore[single-colon-key] old\n\
         # hiera-ls: ignore[malformed-token, duplicate-key] the whole entry\n\
         # another comment\n\
         x:\n  - \"%{lookup( 'x' )}\"\n  - {y: 1, y: 2}\n\
         a::b:d: 1\n",
        expect![[r#"
            data/common.yaml:7:1: warning: 'a::b:d' is not 'a::b::d': with one colon no class parameter asks for it [single-colon-key]
              7 | a::b:d: 1
                | ^^^^^^
        "#]],
    );
}

#[test]
fn a_comment_accepts_findings_of_a_nested_entry_alone() {
    let text = "x:\n  # hiera-ls: ignore[duplicate-key]\n  y: {a: 1, a: 2}\n  z: {a: 1, a: 2}\n";
    let found = Fixture::new(text).findings();
    assert_eq!(found.len(), 1, "{found:?}");
    let whole = text.replace("ignore[", "ignore-file[");
    assert!(Fixture::new(&whole).findings().is_empty());
}

#[test]
fn comments_that_accept_nothing_are_reported() {
    check(
        "# hiera-ls: ignore-file[unread-key, malformed-token]\n\
         a: 1 # hiera-ls: ignore[duplicate-keys]\n\
         b: 1 # hiera-ls: ignore\n\
         c: 1 # hiera-ls: ignore[missing-parameter] it is off\n\
         d: |\n  # hiera-ls: ignore[unknown-key] no comment\n",
        expect![[r#"
            data/common.yaml:1:25: warning: there is no finding of 'unread-key' in this file: the comment accepts nothing [unused-ignore]
              1 | # hiera-ls: ignore-file[unread-key, malformed-token]
                |                         ^^^^^^^^^^
            data/common.yaml:1:37: warning: there is no finding of 'malformed-token' in this file: the comment accepts nothing [unused-ignore]
              1 | # hiera-ls: ignore-file[unread-key, malformed-token]
                |                                     ^^^^^^^^^^^^^^^
            data/common.yaml:2:25: warning: there is no rule 'duplicate-keys': the comment accepts nothing [unused-ignore]
              2 | a: 1 # hiera-ls: ignore[duplicate-keys]
                |                         ^^^^^^^^^^^^^^
            data/common.yaml:3:6: warning: the comment names no rule: `# hiera-ls: ignore[code] reason` [unused-ignore]
              3 | b: 1 # hiera-ls: ignore
                |      ^^^^^^^^^^^^^^^^^^
        "#]],
    );
}

#[test]
fn settings_accept_findings_by_paths() {
    let files = "#- levels Node Common\n#- /data/nodes/old.yaml\na::b:c: 1\n#- /data/common.yaml\na::b:d: 1\n";
    let paths = |settings: &str| -> Vec<String> {
        let fixture = Fixture::new(&format!("{files}#- /.hiera-ls.yaml\n{settings}\n"));
        let path = |one: &Finding| {
            fixture.snapshot.path_of(one.span.file).expect("a file").name().to_owned()
        };
        fixture.findings().iter().map(path).collect()
    };
    assert_eq!(paths("ignore: {'data/nodes/*.yaml': single-colon-key}"), ["common.yaml"]);
    assert_eq!(paths("ignore: {'data/**/*.yaml': 'unread-key, single-colon-key'}"), [""; 0]);
    assert_eq!(paths("ignore: {'data/nodes/*.yaml': unread-key}").len(), 2);
    assert_eq!(paths("preset: minimal"), [""; 0], "the rule is of the group `dead`");
}

#[test]
fn an_accepted_conflict_hides_no_errors_of_syntax() {
    let file = "#- /data/common.yaml\n<<<<<<< HEAD\na: 1\n=======\na: 2\n>>>>>>> other\n";
    let codes = |settings: &str| -> Vec<&str> {
        let fixture = Fixture::new(&format!("{file}#- /.hiera-ls.yaml\n{settings}\n"));
        fixture.findings().iter().map(|finding| finding.rule.code).collect()
    };
    assert_eq!(codes("preset: recommended"), ["merge-conflict"]);
    let accepted = codes("ignore: {'data/*.yaml': merge-conflict}");
    assert!(!accepted.is_empty() && !accepted.contains(&"merge-conflict"), "{accepted:?}");
}

#[test]
fn a_setting_that_names_no_rule_is_reported() {
    let settings = serde_json::json!({"ignore": {"data/*.yaml": "no-rule, unread-key"}});
    let problems = Settings::default().apply(&settings, Origin::User);
    let messages: Vec<String> = problems.iter().map(ToString::to_string).collect();
    assert_eq!(messages, ["setting 'ignore': names no rule with 'no-rule'"]);
}

#[test]
fn written_comments_accept_all_findings_and_keep_the_data() {
    let text = "%YAML 1.1\n---\na::b:c: 1\r\nx:\n  - y: {a: 1, a: 2}\n    z::q:r: \"%{lookup( 'x' )}\"\nx: 3\n";
    for text in [text, "x: [\n", "a::b:c: {x: 1, x: 2}", "a::b:c:\n  b: 1\n  b: 1\n"] {
        let fixture = Fixture::new(text);
        let findings = fixture.findings();
        assert!(!findings.is_empty(), "{text}");
        let all: Vec<&Finding> = findings.iter().collect();
        let change = accept_with_comments(&fixture.snapshot, &all, "as  it\nis");
        let after = fixture.snapshot.after_change(&change).expect("it can be made");
        let left = check_all(&after, &fixture.settings.rules);
        let (path, edits) = change.edits.first_key_value().expect("one file");
        let written = TextEdit::apply_all(edits, text);
        assert!(left.is_empty(), "{written}: {left:?}");
        assert!(written.contains("] as it is"), "{written}");
        let values = |snapshot: &crate::workspace::Snapshot| {
            let file = snapshot.file(path).expect("it is there");
            file.data_as(file.format()).root_value()
        };
        assert_eq!(values(&fixture.snapshot), values(&after), "{written}");
    }
}
