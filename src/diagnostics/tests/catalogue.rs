//! The catalogue and its pages: codes, headings, and examples with the findings that they promise.

use std::collections::BTreeSet;

use crate::diagnostics::rules::{RULES, find};
use crate::diagnostics::{Finding, Rule, Severity, check_all};
use crate::fixture::Fixture;

const HEADINGS: [&str; 5] = ["What it finds", "Why", "Example", "Better", "Source"];

#[test]
fn codes_are_unique_and_kebab_case() {
    let mut codes = BTreeSet::new();
    for rule in RULES {
        assert!(codes.insert(rule.code), "{} stands twice", rule.code);
        let is_kebab = rule.code.split('-').all(|word| {
            !word.is_empty() && word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit())
        });
        assert!(is_kebab, "{}", rule.code);
        assert!(std::ptr::eq(find(rule.code).unwrap(), *rule));
    }
}

#[test]
fn every_rule_file_is_in_the_catalogue() {
    let listed = include_str!("../rules/mod.rs")
        .lines()
        .filter(|line| line.starts_with("pub mod ") || line.starts_with("pub(super) mod "));
    assert_eq!(listed.count(), RULES.len());
}

#[test]
fn summaries_are_one_line_without_a_full_stop() {
    for rule in RULES {
        assert!(
            !rule.summary.is_empty()
                && !rule.summary.contains('\n')
                && !rule.summary.ends_with('.'),
            "{}",
            rule.code
        );
    }
}

#[test]
fn pages_are_complete() {
    for rule in RULES {
        assert!(
            rule.docs.starts_with(&format!("# {}\n\n", rule.code)),
            "{}: the title is the code",
            rule.code
        );
        let headings: Vec<&str> =
            rule.docs.lines().filter_map(|line| line.strip_prefix("## ")).collect();
        assert_eq!(headings, HEADINGS, "{}", rule.code);
        for heading in HEADINGS {
            assert!(section(rule, heading).len() > 10, "{}: {heading}", rule.code);
        }
        assert!(rule.docs.ends_with(".\n"), "{}", rule.code);
        assert!(
            rule.docs.lines().all(|line| line.chars().count() <= 100),
            "{}: a line is too long for a terminal",
            rule.code
        );
    }
}

#[test]
fn examples_fire_their_rule_and_better_ones_fire_none() {
    for rule in RULES {
        let (found, rendered) = findings(rule, "Example");
        assert!(!found.is_empty(), "{}: the example does not fire it", rule.code);
        assert!(
            found.iter().all(|finding| finding.rule.code == rule.code),
            "{}: the example fires other rules\n{rendered}",
            rule.code
        );
        let (found, rendered) = findings(rule, "Better");
        assert!(found.is_empty(), "{}: the better example fires\n{rendered}", rule.code);
    }
}

/// Returns the findings in the example under a heading, with the rule itself turned on.
fn findings(rule: &Rule, heading: &str) -> (Vec<Finding>, String) {
    let section = section(rule, heading);
    let block = section.split("```yaml\n").nth(1).and_then(|rest| rest.split("```").next());
    let block = block.unwrap_or_else(|| panic!("{}: no block of yaml under {heading}", rule.code));
    let lines: Vec<String> = block.lines().map(fixture_line).collect();
    let text = format!("{}\n", lines.join("\n"));
    let fixture = Fixture::new(&text);
    let mut config = fixture.settings.rules.clone();
    if rule.severity == Severity::Off {
        config.severities.insert(rule.code.to_owned(), Severity::Warning);
    }
    super::early_findings_are_final(&text, &config);
    let found = check_all(&fixture.snapshot, &config);
    let rendered = fixture.rendered(&found);
    (found, rendered)
}

/// Returns a line of an example in the fixture language. In a page, comments state what the language
/// has lines for: `# data/common.yaml` begins a file, `# levels: Role, Common` and `# node web01:
/// role=web` are about the hierarchy and the fleet.
fn fixture_line(line: &str) -> String {
    let Some(comment) = line.strip_prefix("# ") else { return line.to_owned() };
    if let Some(levels) = comment.strip_prefix("levels: ") {
        return format!("#- levels {}", levels.replace(',', ""));
    }
    if let Some(node) = comment.strip_prefix("node ") {
        return format!("#- node {}", node.replacen(':', "", 1));
    }
    let (path, encoding) = match comment.strip_suffix(" (latin-1)") {
        Some(path) => (path, " latin-1"),
        None => (comment, ""),
    };
    if path.contains(' ') || !path.contains('.') {
        return line.to_owned();
    }
    format!("#- /{path}{encoding}")
}

fn section<'a>(rule: &'a Rule, heading: &str) -> &'a str {
    let rest = rule.docs.split(&format!("\n## {heading}\n")).nth(1).unwrap_or_default();
    rest.split("\n## ").next().unwrap_or_default().trim()
}
