//! `unreachable-key`

use crate::diagnostics::rule::{Check, FileContext, Finding, Rule, Severity};
use crate::hiera::data::{Problem, ProblemKind};

/// The rule.
pub static RULE: Rule = Rule {
    code: "unreachable-key",
    severity: Severity::Warning,
    summary: "a root key that is no string and can never be looked up",
    docs: include_str!("unreachable_key.md"),
    check: Check::Problem(check),
};

fn check(problem: &Problem, _: &FileContext<'_>, findings: &mut Vec<Finding>) {
    let ProblemKind::UnreachableKey(key) = &problem.kind else { return };
    let message = format!("the key {key} is no string, so no lookup can reach it; quote it");
    findings.push(Finding::new(&RULE, problem.span, message));
}
