//! `redundant-override`

use crate::diagnostics::rule::{
    Check, Dependence, EntryContext, EntryEffect, Finding, Needs, Rule, RuleGroup, Severity, Tag,
};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    code: "redundant-override",
    severity: Severity::Off,
    group: RuleGroup::Style,
    tag: Some(Tag::Unnecessary),
    summary: "a value that all its readers would get without it",
    docs: include_str!("redundant_override.md"),
    depends_on: Dependence::Keys,
    needs: Needs::Index,
    check: Check::Entry(check),
};

fn check(context: &EntryContext<'_>, findings: &mut Vec<Finding>) {
    for entry in
        context.removable_entries().filter(|entry| entry.effect == EntryEffect::RepeatsValue)
    {
        let message = format!("'{}': every reader gets the same value without it", entry.key);
        findings.push(entry.finding(&RULE, message));
    }
}
