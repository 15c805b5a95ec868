//! `second-document`

use crate::diagnostics::rule::{
    Check, Dependence, FileContext, Finding, Needs, Rule, RuleGroup, Severity,
};
use crate::hiera::data::{Problem, ProblemKind};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    code: "second-document",
    severity: Severity::Error,
    group: RuleGroup::Broken,
    tag: None,
    summary: "data behind the first document of a file, which Puppet ignores",
    docs: include_str!("second_document.md"),
    depends_on: Dependence::Keys,
    needs: Needs::File,
    check: Check::Problem(check),
};

fn check(problem: &Problem, _: &FileContext<'_>, findings: &mut Vec<Finding>) {
    let ProblemKind::IgnoredDocuments { keys, has_more } = &problem.kind else { return };
    let lost = match (keys.len(), has_more) {
        (0, _) => String::new(),
        (_, more) => {
            let word = if keys.len() == 1 { "key" } else { "keys" };
            let others = if *more { " and others" } else { "" };
            format!(", with the {word} '{}'{others}", keys.join("', '"))
        }
    };
    let message = format!(
        "Puppet reads only the first document of a file: it ignores everything from this line on{lost}"
    );
    findings.push(Finding::new(&RULE, problem.span, message));
}
