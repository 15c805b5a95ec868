//! Quick fixes: the changes that mend findings, one by one, all of a rule, or all that are safe.

use crate::diagnostics::fix::{
    ChosenFixes, FixDrafter, Safety, accept_with_comments, choose_fixes,
};
use crate::diagnostics::{Finding, RulesConfig, check_file, check_range};
use crate::text::{FilePath, SourceChange, TextRange};
use crate::workspace::Snapshot;

/// A change that mends a finding, or all findings of its rule in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuickFix {
    /// The title of the quick fix, for a menu.
    pub title: String,
    /// The code of the rule.
    pub code: &'static str,
    /// The bytes of the finding.
    pub range: TextRange,
    /// The change.
    pub change: SourceChange,
    /// Whether the change mends the finding at `range` alone.
    pub is_single: bool,
}

/// Returns the quick fixes for the findings in a range of a file, in the order of their places, each
/// followed by the one for all findings of its rule in the file, where there are several.
pub fn quick_fixes(
    snapshot: &Snapshot,
    path: &FilePath,
    range: TextRange,
    rules: &RulesConfig,
) -> Vec<QuickFix> {
    let mut drafter = FixDrafter::new(snapshot);
    let mut fixes = Vec::new();
    for finding in check_range(snapshot, path, range, rules) {
        let Some((fix, change)) = finding.fix.as_deref().zip(drafter.draft(&finding)) else {
            continue;
        };
        let range = snapshot.span_bytes(finding.span);
        let code = finding.rule.code;
        fixes.push(QuickFix { title: fix.title.clone(), code, range, change, is_single: true });
    }
    let mut codes: Vec<(&str, TextRange)> = fixes.iter().map(|fix| (fix.code, fix.range)).collect();
    codes.dedup_by_key(|(code, _)| *code);
    if !codes.is_empty() {
        let all = check_file(snapshot, path, rules);
        for (code, range) in codes {
            let of_rule: Vec<&Finding> = all.iter().filter(|it| it.rule.code == code).collect();
            let chosen = choose_fixes(snapshot, &of_rule, Safety::ChangesValues);
            let count = chosen.findings.len();
            if count > 1
                && let Some(code) = of_rule.first().map(|finding| finding.rule.code)
            {
                let title = format!("Fix all {count} of {code} in this file");
                let change = chosen.change;
                fixes.push(QuickFix { title, code, range, change, is_single: false });
            }
        }
    }
    fixes
}

/// Returns the changes that accept the findings in a range of a file with comments: one for each rule.
pub fn acceptances(
    snapshot: &Snapshot,
    path: &FilePath,
    range: TextRange,
    rules: &RulesConfig,
) -> Vec<QuickFix> {
    let mut findings = check_range(snapshot, path, range, rules);
    findings.dedup_by_key(|finding| finding.rule.code);
    findings
        .iter()
        .filter_map(|finding| {
            let code = finding.rule.code;
            let change = accept_with_comments(snapshot, &[finding], "");
            let title = format!("Accept {code} here, in a comment");
            let range = snapshot.span_bytes(finding.span);
            (!change.is_empty()).then_some(QuickFix {
                title,
                code,
                range,
                change,
                is_single: false,
            })
        })
        .collect()
}

/// Returns the change that makes all safe fixes in a file; `None` where there is none.
pub fn fix_all(snapshot: &Snapshot, path: &FilePath, rules: &RulesConfig) -> Option<SourceChange> {
    let findings = check_file(snapshot, path, rules);
    let findings: Vec<&Finding> = findings.iter().filter(|finding| finding.fix.is_some()).collect();
    let ChosenFixes { change, findings } = choose_fixes(snapshot, &findings, Safety::KeepsValues);
    (!findings.is_empty()).then_some(change)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Fixture;
    use crate::text::TextEdit;

    /// Returns the text of the file with the cursor after each fix at the cursor, under its title.
    fn fixed(text: &str) -> Vec<String> {
        let fixture = Fixture::new(text);
        let position = fixture.position();
        let file = fixture.snapshot.file_by_id(position.file).expect("the cursor is in a file");
        let range = TextRange::new_empty(position.offset);
        let rules = &fixture.settings.rules;
        let text = file.text().expect("it has a text").to_str();
        let apply = |fix: QuickFix| {
            let edits = &fix.change.edits[&file.path];
            format!("{}: {}\n{}", fix.code, fix.title, TextEdit::apply_all(edits, &text))
        };
        quick_fixes(&fixture.snapshot, &file.path, range, rules).into_iter().map(apply).collect()
    }

    #[test]
    fn a_misspelt_name_is_replaced_within_its_quotes() {
        let web = "#- /modules/web/manifests/init.pp\nclass web(Integer $port = 1) { }\n";
        for (text, expected) in [
            (
                format!("'web::po$0rtt': 1\n{web}"),
                "unknown-parameter: Change to 'web::port'\n'web::port': 1\n",
            ),
            (
                format!("? \"web::prot$0\"\n: 1\n{web}"),
                "unknown-parameter: Change to 'web::port'\n? \"web::port\"\n: 1\n",
            ),
            (
                format!("web:po$0rt::x: 1\n{web}"),
                "single-colon-key: Change to 'web::port::x'\nweb::port::x: 1\n",
            ),
            (
                "x: \"%{lokup$0('y')}\"\ny: 1\n".to_owned(),
                "unknown-function: Change to 'lookup'\nx: \"%{lookup('y')}\"\ny: 1\n",
            ),
            (
                "x: \"%{lookup('db_prot$0')}\"\ndb_port: 1\n".to_owned(),
                "unknown-key: Change to 'db_port'\nx: \"%{lookup('db_port')}\"\ndb_port: 1\n",
            ),
            (
                "lookup_options: {x: {merge: uni$0que_}}\n".to_owned(),
                "unknown-strategy: Change to 'unique'\nlookup_options: {x: {merge: unique}}\n",
            ),
            (
                "lookup_options: {x: {mrege$0: hash}}\n".to_owned(),
                "unknown-option: Change to 'merge'\nlookup_options: {x: {merge: hash}}\n",
            ),
            (
                "#- /hiera.yaml\nversion: 5\nhierarchy: [{name: A, data_hash: ymal_da$0ta, path: a.yaml}]\n#- /data/a.yaml\nx: 1\n".to_owned(),
                "unknown-backend: Change to 'yaml_data'\nversion: 5\nhierarchy: [{name: A, data_hash: yaml_data, path: a.yaml}]\n",
            ),
        ] {
            assert_eq!(fixed(&text), [expected], "{text}");
        }
    }

    #[test]
    fn all_of_a_rule_are_fixed_at_once_and_the_safe_ones_of_a_file() {
        let text = "a: 1\na: 1\nb: {x: 1}\nc::d:e: 1\nc:d::f: 1\n$0c::d:g: 1\nb: {x: 1}\n";
        let titles = fixed(text);
        assert_eq!(
            titles,
            [
                "single-colon-key: Change to 'c::d::g'\na: 1\na: 1\nb: {x: 1}\nc::d:e: 1\nc:d::f: 1\nc::d::g: 1\nb: {x: 1}\n",
                "single-colon-key: Fix all 3 of single-colon-key in this file\na: 1\na: 1\nb: {x: 1}\nc::d::e: 1\nc::d::f: 1\nc::d::g: 1\nb: {x: 1}\n",
            ]
        );
        let fixture = Fixture::new(text);
        let path = FilePath::new("/data/common.yaml");
        let change =
            fix_all(&fixture.snapshot, &path, &fixture.settings.rules).expect("duplicates");
        let source = text.replace("$0", "");
        assert_eq!(
            TextEdit::apply_all(&change.edits[&path], &source),
            "a: 1\nb: {x: 1}\nc::d:e: 1\nc:d::f: 1\nc::d:g: 1\n"
        );
    }

    #[test]
    fn nothing_is_offered_elsewhere() {
        for text in [
            "x: $01\ny: \"%{lokup('x')}\"\n",
            "x: \"%{nothing_like_it$0('y')}\"\n",
            "x: \"%{lookup('far$0_away')}\"\ndb_port: 1\n",
        ] {
            assert_eq!(fixed(text), [""; 0], "{text}");
        }
    }
}
