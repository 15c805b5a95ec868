//! `backend-signature`

use super::backends::{DECLARED_HERE, custom_levels};
use crate::diagnostics::rule::{
    Check, Dependence, FileContext, Finding, Needs, Rule, RuleGroup, Severity,
};
use crate::hiera::config::HieraConfig;

/// The rule.
pub(crate) static RULE: Rule = Rule {
    code: "backend-signature",
    severity: Severity::Error,
    group: RuleGroup::Broken,
    tag: None,
    summary: "a level's function does not take what its kind of function is given",
    docs: include_str!("backend_signature.md"),
    depends_on: Dependence::Keys,
    needs: Needs::Index,
    check: Check::Config(check),
};

fn check(config: &HieraConfig, context: &FileContext<'_>, findings: &mut Vec<Finding>) {
    for custom in custom_levels(config, context) {
        let Some(refused) = custom.refusal(context).filter(|it| !it.is_of_options) else {
            continue;
        };
        let message = format!(
            "{}: a {} function is called with {}",
            refused.message,
            custom.level.backend.kind.key(),
            custom.level.backend.kind.argument_phrase()
        );
        let severity = custom.bounded_severity(context, Severity::Error);
        let finding = Finding { severity, ..Finding::new(&RULE, custom.span, message) };
        findings.push(finding.with_related(custom.declaration_span(context), DECLARED_HERE));
    }
}
