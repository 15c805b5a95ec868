//! `unloadable-value`

use crate::diagnostics::rule::{
    Check, Dependence, FileContext, Finding, Rule, RuleGroup, Severity,
};
use crate::hiera::data::{FileRefusal, Problem, ProblemKind};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    code: "unloadable-value",
    severity: Severity::Error,
    group: RuleGroup::Broken,
    tag: None,
    summary: "a value that makes Puppet refuse the whole file: a date, an unknown alias, a tag of Ruby's",
    docs: include_str!("unloadable_value.md"),
    depends_on: Dependence::Keys,
    check: Check::Problem(check),
};

fn check(problem: &Problem, context: &FileContext<'_>, findings: &mut Vec<Finding>) {
    let ProblemKind::Unloadable(refusal) = &problem.kind else { return };
    if matches!(refusal, FileRefusal::Bound(_)) {
        return; // a limit of hiera-ls, not Puppet's
    }
    if context.environment.is_read_by_functions(&context.file.path) {
        return; // How they load it is not known.
    }
    let data = context.view.data_of(&context.file.path);
    let mut keys = data.iter().flat_map(|data| data.keys_of_part(problem.span.part));
    let is_secret = keys.any(|key| context.snapshot.may_be_sensitive(key));
    let reason = if is_secret { refusal.masked_message() } else { refusal.to_string() };
    let advice = if refusal.is_for_a_time() { "; quote it to make it a string" } else { "" };
    findings.push(Finding::new(
        &RULE,
        problem.span,
        format!("Puppet refuses the whole file for this value ({reason}){advice}"),
    ));
}
