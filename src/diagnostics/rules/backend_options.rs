//! `backend-options`

use super::backends::{DECLARED_HERE, custom_levels};
use crate::diagnostics::rule::{
    Check, Dependence, FileContext, Finding, Needs, Rule, RuleGroup, Severity,
};
use crate::hiera::config::HieraConfig;

/// The rule.
pub(crate) static RULE: Rule = Rule {
    code: "backend-options",
    severity: Severity::Error,
    group: RuleGroup::Broken,
    tag: None,
    summary: "a level's function does not take the level's options",
    docs: include_str!("backend_options.md"),
    depends_on: Dependence::Keys,
    needs: Needs::Index,
    check: Check::Config(check),
};

fn check(config: &HieraConfig, context: &FileContext<'_>, findings: &mut Vec<Finding>) {
    for custom in custom_levels(config, context) {
        let Some(refused) = custom.refusal(context).filter(|it| it.is_of_options) else { continue };
        let options = custom.level.options.as_ref().and_then(|options| options.origin);
        let severity = custom.bounded_severity(context, Severity::Error);
        let span = options.filter(|span| span.file == context.file.id).unwrap_or(custom.span);
        let finding = Finding { severity, ..Finding::new(&RULE, span, refused.message) };
        findings.push(finding.with_related(custom.declaration_span(context), DECLARED_HERE));
    }
}
