//! `not-a-hash`

use crate::diagnostics::rule::{
    Check, Dependence, FileContext, Finding, Needs, Rule, RuleGroup, Severity, in_words,
};
use crate::hiera::data::{Problem, ProblemKind};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    code: "not-a-hash",
    severity: Severity::Error,
    group: RuleGroup::Broken,
    tag: None,
    summary: "a data file whose root is no hash",
    docs: include_str!("not_a_hash.md"),
    depends_on: Dependence::Keys,
    needs: Needs::File,
    check: Check::Problem(check),
};

fn check(problem: &Problem, context: &FileContext<'_>, findings: &mut Vec<Finding>) {
    let ProblemKind::NotAHash { found, empty: false, .. } = &problem.kind else { return };
    if context.environment.is_read_by_functions(&context.file.path) {
        return;
    }
    findings.push(Finding::new(
        &RULE,
        problem.span,
        format!("a data file must be a hash of keys and values, this is {}", in_words(found)),
    ));
}
