//! `unknown-function`

use crate::diagnostics::rule::{
    Check, Dependence, FileContext, Finding, Needs, Rule, RuleGroup, Severity,
};
use crate::hiera::data::{Problem, ProblemKind};
use crate::hiera::interpolation::Method;
use crate::text::similar::nearest_name;

/// The rule.
pub(crate) static RULE: Rule = Rule {
    code: "unknown-function",
    severity: Severity::Error,
    group: RuleGroup::Broken,
    tag: None,
    summary: "a token that calls what is no interpolation function",
    docs: include_str!("unknown_function.md"),
    depends_on: Dependence::Keys,
    needs: Needs::File,
    check: Check::Problem(check),
};

fn check(problem: &Problem, _: &FileContext<'_>, findings: &mut Vec<Finding>) {
    let ProblemKind::UnknownFunction(name) = &problem.kind else { return };
    let message = format!(
        "unknown interpolation method '{name}': there are lookup, hiera, alias, literal and scope"
    );
    let meant = nearest_name(name, Method::NAMES);
    findings.push(Finding::new(&RULE, problem.span, message).suggest(name, meant));
}
