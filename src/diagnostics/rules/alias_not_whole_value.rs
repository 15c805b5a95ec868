//! `alias-not-whole-value`

use crate::diagnostics::rule::{
    Check, Dependence, FileContext, Finding, Needs, Rule, RuleGroup, Severity,
};
use crate::hiera::data::{Problem, ProblemKind};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    code: "alias-not-whole-value",
    severity: Severity::Error,
    group: RuleGroup::Broken,
    tag: None,
    summary: "an `alias` token shares its string with other text",
    docs: include_str!("alias_not_whole_value.md"),
    depends_on: Dependence::Keys,
    needs: Needs::File,
    check: Check::Problem(check),
};

fn check(problem: &Problem, _: &FileContext<'_>, findings: &mut Vec<Finding>) {
    if problem.kind != ProblemKind::AliasNotWhole {
        return;
    }
    let message = "`alias` is only permitted when the token is the entire string; `lookup` inserts a value into a text";
    findings.push(Finding::new(&RULE, problem.span, message));
}
