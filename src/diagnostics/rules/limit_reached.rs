//! `limit-reached`

use crate::diagnostics::rule::{
    Check, Dependence, FileContext, Finding, Needs, Rule, RuleGroup, Severity,
};
use crate::hiera::data::{FileRefusal, Problem, ProblemKind};
use crate::text::{Limit, Span};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    code: "limit-reached",
    severity: Severity::Warning,
    group: RuleGroup::Broken,
    tag: None,
    summary: "data or locations that multiply beyond what hiera-ls reads or looks up",
    docs: include_str!("limit_reached.md"),
    depends_on: Dependence::Keys,
    needs: Needs::File,
    check: Check::Problem(check),
};

fn check(problem: &Problem, _: &FileContext<'_>, findings: &mut Vec<Finding>) {
    let ProblemKind::Unloadable(FileRefusal::Bound(limit)) = &problem.kind else { return };
    findings.push(Finding::new(
        &RULE,
        problem.span,
        format!("{limit}: hiera-ls leaves off here, and values from here on are incomplete"),
    ));
}

/// Returns the finding for a lookup that a rule needed and that reached a limit at a place.
pub(in crate::diagnostics) fn of_lookup(limit: Limit, span: Span) -> Finding {
    let message = format!("a lookup through this needs {limit}: hiera-ls does not know its value");
    Finding::new(&RULE, span, message)
}

/// Returns the finding for a location of a `hiera.yaml` that stands for too many paths.
pub(in crate::diagnostics) fn of_location(span: Span) -> Finding {
    let message = "too many tokens, braces or wildcards: hiera-ls takes this location to name any file of its folder";
    Finding::new(&RULE, span, message.to_owned())
}
