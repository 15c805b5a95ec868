//! `syntax-error`

use crate::diagnostics::rule::{
    Check, Dependence, FileContext, Finding, Needs, Rule, RuleGroup, Severity,
};
use crate::hiera::data::{Problem, ProblemKind};
use crate::text::TextRange;

/// The rule.
pub(crate) static RULE: Rule = Rule {
    code: "syntax-error",
    severity: Severity::Error,
    group: RuleGroup::Broken,
    tag: None,
    summary: "the text is no YAML, JSON or HOCON",
    docs: include_str!("syntax_error.md"),
    depends_on: Dependence::Keys,
    needs: Needs::File,
    check: Check::Problem(check),
};

fn check(problem: &Problem, context: &FileContext<'_>, findings: &mut Vec<Finding>) {
    let ProblemKind::Syntax { message, context: reading } = &problem.kind else { return };
    let while_reading = reading.as_deref().map(|reading| format!(" {reading}")).unwrap_or_default();
    let advice =
        if starts_like_a_token(context, problem) { "; quote a value that starts so" } else { "" };
    let message = format!(
        "{message}{while_reading}{advice}: Puppet cannot read this file, and lookups of nodes that reach it fail"
    );
    findings.push(
        Finding::new(&RULE, problem.span, message)
            .with_related(problem.related, reading.clone().unwrap_or_default()),
    );
}

/// Whether the reader stumbled over a character that no value may start with, most often the `%` of
/// a token.
fn starts_like_a_token(context: &FileContext<'_>, problem: &Problem) -> bool {
    let at = context.snapshot.span_bytes(problem.span).start;
    context
        .file
        .text()
        .is_some_and(|text| text.slice(TextRange::new(at, at + 1)).starts_with(['%', '@', '`']))
}
