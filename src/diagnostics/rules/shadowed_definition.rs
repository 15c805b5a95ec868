//! `shadowed-definition`

use crate::diagnostics::rule::{
    Check, Dependence, EntryContext, EntryEffect, Finding, Needs, Rule, RuleGroup, Severity, Tag,
};

/// The rule. Where it has a finding, `redundant-override` has none.
pub(crate) static RULE: Rule = Rule {
    code: "shadowed-definition",
    severity: Severity::Off,
    group: RuleGroup::Dead,
    tag: Some(Tag::Unnecessary),
    summary: "a value that no reader gets, as a level above always has one",
    docs: include_str!("shadowed_definition.md"),
    depends_on: Dependence::Keys,
    needs: Needs::Index,
    check: Check::Entry(check),
};

fn check(context: &EntryContext<'_>, findings: &mut Vec<Finding>) {
    let entries = context.removable_entries();
    for entry in entries.filter(|entry| entry.effect == EntryEffect::NeverWins) {
        let message = format!(
            "no reader gets this value of '{}': a level above always has the key",
            entry.key
        );
        findings.push(entry.finding(&RULE, message));
    }
}
