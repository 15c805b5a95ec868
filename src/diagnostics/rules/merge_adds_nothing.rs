//! `merge-adds-nothing`

use crate::diagnostics::rule::{
    Check, Dependence, EntryContext, EntryEffect, Finding, Needs, Rule, RuleGroup, Severity, Tag,
};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    code: "merge-adds-nothing",
    severity: Severity::Off,
    group: RuleGroup::Style,
    tag: Some(Tag::Unnecessary),
    summary: "a merged value that adds nothing to those of other files",
    docs: include_str!("merge_adds_nothing.md"),
    depends_on: Dependence::Keys,
    needs: Needs::Index,
    check: Check::Entry(check),
};

fn check(context: &EntryContext<'_>, findings: &mut Vec<Finding>) {
    for entry in
        context.removable_entries().filter(|entry| entry.effect == EntryEffect::MergesNothing)
    {
        let message = format!(
            "'{}' adds nothing to the merge: every reader gets the same value without it",
            entry.key
        );
        findings.push(entry.finding(&RULE, message));
    }
}
