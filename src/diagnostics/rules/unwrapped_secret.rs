//! `unwrapped-secret`

use super::typed::{WrongValue, each_wrong_value};
use crate::diagnostics::rule::{
    Check, Dependence, EntryContext, Finding, Needs, Rule, RuleGroup, Severity,
};
use crate::puppet::types::DataType;

/// The rule.
pub(crate) static RULE: Rule = Rule {
    code: "unwrapped-secret",
    severity: Severity::Error,
    group: RuleGroup::Fragile,
    tag: None,
    summary: "a plain value for a parameter that takes Sensitive values only",
    docs: include_str!("unwrapped_secret.md"),
    depends_on: Dependence::Keys,
    needs: Needs::Index,
    check: Check::Entry(check),
};

fn check(context: &EntryContext<'_>, findings: &mut Vec<Finding>) {
    each_wrong_value(context, DataType::holds_sensitive, &mut |wrong: WrongValue<'_>| {
        if !wrong.wants_sensitive {
            return;
        }
        let advice = if wrong.is_whole {
            format!("set `convert_to: Sensitive` for '{}' in lookup_options", wrong.key)
        } else {
            "data cannot hold such a part, and `convert_to` wraps the whole value only".to_owned()
        };
        let message = format!(
            "the parameter takes Sensitive values, and values in data are plain: {advice}; else {}",
            wrong.consequence_phrase()
        );
        let mut finding = Finding::new(&RULE, wrong.span, message)
            .with_related(Some(wrong.declaration_span()), "the parameter is declared here");
        if wrong.nodes.as_ref().is_some_and(Vec::is_empty) {
            finding.severity = Severity::Info;
        }
        findings.push(finding);
    });
}
