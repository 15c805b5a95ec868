//! `unloadable-value`

use crate::diagnostics::rule::{
    Check, Dependence, FileContext, Finding, Needs, Rule, RuleGroup, Severity,
};
use crate::hiera::data::{EntryData, FileRefusal, Problem, ProblemKind};
use crate::workspace::manifests::ManifestIndex;

/// The rule.
pub(crate) static RULE: Rule = Rule {
    code: "unloadable-value",
    severity: Severity::Error,
    group: RuleGroup::Broken,
    tag: None,
    summary: "a value that makes Puppet refuse the whole file: a date, an unknown alias, a tag of Ruby's",
    docs: include_str!("unloadable_value.md"),
    depends_on: Dependence::Everything(may_quote_value),
    needs: Needs::Index,
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
    let is_secret =
        data.is_some_and(|data| data.has_key(|key| context.snapshot.may_be_sensitive(key)));
    let reason = if is_secret { refusal.masked_message() } else { refusal.to_string() };
    let advice = if refusal.is_for_a_time() { "; quote it to make it a string" } else { "" };
    findings.push(Finding::new(
        &RULE,
        problem.span,
        format!("Puppet refuses the whole file for this value ({reason}){advice}"),
    ));
}

/// Whether a message about the entry may quote its value: other data and any code decide whether the
/// value is a secret.
fn may_quote_value(_: &ManifestIndex, entry: &EntryData) -> bool {
    entry.problems().iter().any(|problem| match &problem.kind {
        ProblemKind::Unloadable(refusal) => refusal.may_quote_value(),
        _ => false,
    })
}
