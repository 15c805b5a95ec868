//! `bad-argument`

use crate::diagnostics::rule::{
    Check, Dependence, FileContext, Finding, Needs, Rule, RuleGroup, Severity,
};
use crate::hiera::data::{Problem, ProblemKind};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    code: "bad-argument",
    severity: Severity::Error,
    group: RuleGroup::Broken,
    tag: None,
    summary: "an argument of an interpolation function that is no key",
    docs: include_str!("bad_argument.md"),
    depends_on: Dependence::Keys,
    needs: Needs::File,
    check: Check::Problem(check),
};

fn check(problem: &Problem, _: &FileContext<'_>, findings: &mut Vec<Finding>) {
    let ProblemKind::BadArgument { function, argument } = &problem.kind else { return };
    let what = if function == "scope" { "variable" } else { "key" };
    findings.push(Finding::new(
        &RULE,
        problem.span,
        format!("'{argument}' is no {what} that {function} could look up"),
    ));
}
