//! `backend-return-type`

use super::backends::{CustomLevel, DECLARED_HERE, custom_levels};
use crate::diagnostics::rule::{
    Check, Dependence, FileContext, Finding, Needs, Rule, RuleGroup, Severity,
};
use crate::hiera::config::{BackendKind, HieraConfig};
use crate::puppet::types::{DataType, parse, type_mismatch};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    code: "backend-return-type",
    severity: Severity::Error,
    group: RuleGroup::Broken,
    tag: None,
    summary: "a level's function declares a return type that Hiera refuses",
    docs: include_str!("backend_return_type.md"),
    depends_on: Dependence::Keys,
    needs: Needs::Index,
    check: Check::Config(check),
};

fn check(config: &HieraConfig, context: &FileContext<'_>, findings: &mut Vec<Finding>) {
    for custom in custom_levels(config, context) {
        let Some(message) = return_type_error(&custom, context) else { continue };
        let severity = custom.bounded_severity(context, Severity::Error);
        let finding = Finding { severity, ..Finding::new(&RULE, custom.span, message) };
        findings.push(finding.with_related(custom.declaration_span(context), DECLARED_HERE));
    }
}

/// Returns Puppet's message about the declared return type, if it has one. `None` also for a
/// function without a declared type, or with several signatures.
fn return_type_error(custom: &CustomLevel<'_>, context: &FileContext<'_>) -> Option<String> {
    let (_, function) =
        custom.declared_function(context).filter(|(_, it)| it.name == custom.name)?;
    let [signature] = function.signatures?.try_into().ok()?;
    let index = context.snapshot.manifests(context.environment);
    let declared = index.judged_type(signature.return_type.as_deref()?)?;
    if *declared == DataType::Any {
        return None; // Counts as undeclared.
    }
    let kind = custom.level.backend.kind;
    let wanted = match kind {
        BackendKind::DataHash => "Hash[RichDataKey, RichData]",
        _ => "RichData",
    };
    let wanted = parse(wanted).expect("a type of Puppet's own");
    let subject =
        format!("Return type of '{}' function named '{}' is incorrect,", kind.key(), custom.name);
    type_mismatch(&subject, &wanted, &declared)
}
