//! `syntax-error`

use crate::diagnostics::rule::{Check, FileContext, Finding, Rule, Severity};
use crate::hiera::data::{Problem, ProblemKind};

/// The rule.
pub static RULE: Rule = Rule {
    code: "syntax-error",
    severity: Severity::Error,
    summary: "the text is no YAML or JSON",
    docs: include_str!("syntax_error.md"),
    check: Check::Problem(check),
};

fn check(problem: &Problem, _: &FileContext<'_>, findings: &mut Vec<Finding>) {
    let ProblemKind::Syntax { message, context } = &problem.kind else { return };
    let context_text = context.as_deref().map(|context| format!(" {context}")).unwrap_or_default();
    let message = format!("{message}{context_text}: Puppet cannot read this file, and no lookup that comes near it works");
    findings.push(Finding::new(&RULE, problem.span, message).with_related(problem.related, context.clone().unwrap_or_default()));
}
