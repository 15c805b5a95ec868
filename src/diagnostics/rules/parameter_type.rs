//! `parameter-type`

use super::typed::{WrongValue, each_wrong_value, shorten};
use crate::diagnostics::rule::{
    Check, Dependence, EntryContext, Finding, Needs, Rule, RuleGroup, Severity,
};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    code: "parameter-type",
    severity: Severity::Error,
    group: RuleGroup::Broken,
    tag: None,
    summary: "a value that is not of the type of the class parameter that takes it",
    docs: include_str!("parameter_type.md"),
    depends_on: Dependence::Keys,
    needs: Needs::Index,
    check: Check::Entry(check),
};

fn check(context: &EntryContext<'_>, findings: &mut Vec<Finding>) {
    each_wrong_value(context, |_| true, &mut |wrong: WrongValue<'_>| {
        if wrong.wants_sensitive {
            return; // The rule `unwrapped-secret` reports it.
        }
        let message =
            format!("{}: {}", shorten(wrong.messages.join("; ")), wrong.consequence_phrase());
        let mut finding = Finding::new(&RULE, wrong.span, message)
            .with_related(Some(wrong.declaration_span()), "the parameter is declared here");
        if wrong.nodes.as_ref().is_some_and(Vec::is_empty) {
            finding.severity = Severity::Info;
        }
        findings.push(finding);
    });
}
