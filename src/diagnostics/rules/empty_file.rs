//! `empty-file`

use crate::diagnostics::rule::{
    Check, Dependence, FileContext, Finding, Needs, Rule, RuleGroup, Severity,
};
use crate::hiera::data::{Problem, ProblemKind};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    code: "empty-file",
    severity: Severity::Off,
    group: RuleGroup::Dead,
    tag: None,
    summary: "a data file without any data",
    docs: include_str!("empty_file.md"),
    depends_on: Dependence::Keys,
    needs: Needs::File,
    check: Check::Problem(check),
};

fn check(problem: &Problem, _: &FileContext<'_>, findings: &mut Vec<Finding>) {
    let ProblemKind::NotAHash { empty: true, is_followed: false, .. } = &problem.kind else {
        return;
    };
    let message = "the file holds no data: Puppet warns of it at every run; `{}` says that it is meant to be empty";
    findings.push(Finding::new(&RULE, problem.span, message));
}
