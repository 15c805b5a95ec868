//! `duplicate-key`

use crate::diagnostics::fix::{Fix, FixEdit, Safety};
use crate::diagnostics::rule::{
    Check, Dependence, FileContext, Finding, Needs, Rule, RuleGroup, Severity,
};
use crate::hiera::data::{Problem, ProblemKind};
use crate::text::Span;

/// The rule.
pub(crate) static RULE: Rule = Rule {
    code: "duplicate-key",
    severity: Severity::Error,
    group: RuleGroup::Broken,
    tag: None,
    summary: "a duplicate key in one hash",
    docs: include_str!("duplicate_key.md"),
    depends_on: Dependence::Keys,
    needs: Needs::File,
    check: Check::Problem(check),
};

fn check(problem: &Problem, _: &FileContext<'_>, findings: &mut Vec<Finding>) {
    let ProblemKind::DuplicateKey { key, is_equal } = &problem.kind else { return };
    let (severity, message, first) = if *is_equal {
        (
            Severity::Warning,
            format!("duplicate key '{key}' in this hash, with the same value"),
            "the same value, which Puppet ignores",
        )
    } else {
        (
            RULE.severity,
            format!(
                "duplicate key '{key}' in this hash: Puppet keeps this value and silently loses the one before"
            ),
            "the value that is lost",
        )
    };
    let finding = Finding::new(&RULE, problem.span, message).with_quoted(problem.related, first);
    let finding = Finding { severity, ..finding };
    findings.push(if *is_equal { finding.fix(remove_fix(problem.span)) } else { finding });
}

/// Returns the fix that removes the second of two equal members.
fn remove_fix(key: Span) -> Fix {
    Fix {
        title: "Remove the second of the two".to_owned(),
        edits: vec![FixEdit::RemoveMember(key)],
        safety: Safety::KeepsValues,
    }
}
