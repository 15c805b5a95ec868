//! `malformed-token`

use crate::diagnostics::rule::{
    Check, Dependence, FileContext, Finding, Needs, Rule, RuleGroup, Severity,
};
use crate::hiera::data::{Problem, ProblemKind};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    code: "malformed-token",
    severity: Severity::Error,
    group: RuleGroup::Broken,
    tag: None,
    summary: "an interpolation token that is neither a variable nor a call",
    docs: include_str!("malformed_token.md"),
    depends_on: Dependence::Keys,
    needs: Needs::File,
    check: Check::Problem(check),
};

fn check(problem: &Problem, _: &FileContext<'_>, findings: &mut Vec<Finding>) {
    if problem.kind != ProblemKind::MalformedToken {
        return;
    }
    let message = "syntax error in this token: it is neither a variable nor `function('argument')` with one quoted argument";
    findings.push(Finding::new(&RULE, problem.span, message));
}
