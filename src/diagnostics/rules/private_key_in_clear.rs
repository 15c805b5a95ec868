//! `private-key-in-clear`

use crate::diagnostics::rule::{
    Check, Dependence, EntryContext, Finding, Needs, Rule, RuleGroup, Severity,
};
use crate::puppet::value::{Data, Value};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    code: "private-key-in-clear",
    severity: Severity::Info,
    group: RuleGroup::Fragile,
    tag: None,
    summary: "a private key that is not encrypted",
    docs: include_str!("private_key_in_clear.md"),
    depends_on: Dependence::Keys,
    needs: Needs::Levels,
    check: Check::Entry(check),
};

/// How the first line of a private key begins and ends.
const BEGIN: &str = "-----BEGIN ";
const END: &str = "PRIVATE KEY-----";
/// Names of folders and files whose keys open nothing.
const OF_TESTS: [&str; 7] = ["test", "tests", "spec", "fixtures", "vagrant", "example", "examples"];

fn check(context: &EntryContext<'_>, findings: &mut Vec<Finding>) {
    let mut holding = context.root_members().filter(|(_, member)| holds_private_key(&member.value));
    let Some(first) = holding.next() else { return };
    let environment = context.file.environment;
    let path = &context.file.file.path;
    let below = path.relative_to(&environment.root).unwrap_or(path.as_str());
    let words = below.split(['/', '.', '_', '-']);
    // `test01` is `test` with a number, as `test-01` is.
    let mut names = words.map(|word| word.trim_end_matches(|digit: char| digit.is_ascii_digit()));
    if names.any(|name| OF_TESTS.contains(&name)) {
        return;
    }
    for (key, member) in [first].into_iter().chain(holding) {
        let Some(span) = member.key_origin else { continue };
        let message = format!(
            "'{}' holds a private key that is not encrypted: every reader of the repository has it",
            key.to_text()
        );
        findings.push(Finding::new(&RULE, span, message));
    }
}

/// Whether a part of a value begins like a private key in PEM's format, and is not encrypted itself.
fn holds_private_key(value: &Value) -> bool {
    match value.data() {
        // Most texts are shorter than the first line of a key.
        Data::String(text) if text.len() < BEGIN.len() + END.len() => false,
        Data::String(text) => text.lines().any(|line| {
            let label = line.trim().strip_prefix(BEGIN);
            let label = label.and_then(|rest| rest.strip_suffix(END));
            label.is_some_and(|kind| !kind.contains("ENCRYPTED"))
        }),
        Data::Array(items) => items.iter().any(holds_private_key),
        Data::Hash(hash) => hash.values().any(|member| holds_private_key(&member.value)),
        _ => false,
    }
}
