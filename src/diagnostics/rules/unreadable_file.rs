//! `unreadable-file`

use crate::diagnostics::rule::{
    Check, Dependence, FileContext, Finding, Needs, Rule, RuleGroup, Severity,
};
use crate::hiera::data::{Problem, ProblemKind};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    code: "unreadable-file",
    severity: Severity::Error,
    group: RuleGroup::Broken,
    tag: None,
    summary: "the file cannot be read",
    docs: include_str!("unreadable_file.md"),
    depends_on: Dependence::Keys,
    needs: Needs::File,
    check: Check::Problem(check),
};

fn check(problem: &Problem, _: &FileContext<'_>, findings: &mut Vec<Finding>) {
    let ProblemKind::Unreadable(reason) = &problem.kind else { return };
    findings.push(Finding::new(
        &RULE,
        problem.span,
        format!("this file cannot be read as data: {reason}"),
    ));
}
