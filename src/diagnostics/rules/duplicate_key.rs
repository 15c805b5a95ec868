//! `duplicate-key`

use crate::diagnostics::rule::{Check, FileContext, Finding, Rule, Severity};
use crate::hiera::data::{Problem, ProblemKind};

/// The rule.
pub static RULE: Rule = Rule {
    code: "duplicate-key",
    severity: Severity::Error,
    summary: "a key stands twice in one hash",
    docs: include_str!("duplicate_key.md"),
    check: Check::Problem(check),
};

fn check(problem: &Problem, _: &FileContext<'_>, findings: &mut Vec<Finding>) {
    let ProblemKind::DuplicateKey(key) = &problem.kind else { return };
    let message = format!(
        "the key '{key}' stands twice in this hash: Puppet keeps this value and silently loses the one before"
    );
    findings.push(
        Finding::new(&RULE, problem.span, message)
            .with_related(problem.related, "the value that is lost"),
    );
}
