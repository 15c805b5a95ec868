//! `unclosed-token`

use crate::diagnostics::rule::{
    Check, Dependence, FileContext, Finding, Needs, Rule, RuleGroup, Severity,
};
use crate::hiera::data::{Problem, ProblemKind};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    code: "unclosed-token",
    severity: Severity::Warning,
    group: RuleGroup::Broken,
    tag: None,
    summary: "an interpolation token without its closing brace",
    docs: include_str!("unclosed_token.md"),
    depends_on: Dependence::Keys,
    needs: Needs::File,
    check: Check::Problem(check),
};

fn check(problem: &Problem, _: &FileContext<'_>, findings: &mut Vec<Finding>) {
    if problem.kind != ProblemKind::UnclosedToken {
        return;
    }
    findings.push(Finding::new(
        &RULE,
        problem.span,
        "this `%{` has no `}`: Puppet leaves the text as it is",
    ));
}
