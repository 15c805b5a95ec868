//! `merge-conflict`

use crate::diagnostics::rule::{
    Check, Dependence, FileContext, Finding, Needs, Rule, RuleGroup, Severity,
};
use crate::text::work::{Work, count_work};
use crate::text::{Span, TextRange};

/// The rule. Findings about the syntax of the same file are left out.
pub(crate) static RULE: Rule = Rule {
    code: "merge-conflict",
    severity: Severity::Error,
    group: RuleGroup::Broken,
    tag: None,
    summary: "a conflict of a merge that is not resolved",
    docs: include_str!("merge_conflict.md"),
    depends_on: Dependence::Keys,
    needs: Needs::File,
    check: Check::File(check),
};

/// How the first line of a conflict begins.
const BEGIN: &str = "<<<<<<< ";

fn check(context: &FileContext<'_>, findings: &mut Vec<Finding>) {
    let file = context.file;
    let Some(text) = file.text() else { return };
    let is_refused = context.view.data_of(&file.path).is_some_and(|data| data.refusal().is_some());
    if !is_refused {
        return; // Such lines can stand within a text.
    }
    // A press of a key must not cost a walk over all lines of a long file.
    if file.find_word(BEGIN).is_empty() {
        return;
    }
    let text = text.to_str();
    let mut start: Option<(usize, &str)> = None;
    let mut is_divided = false;
    let mut offset = 0;
    for line in text.split_inclusive('\n') {
        count_work(Work::Step);
        let words = line.trim_end();
        if words.starts_with(BEGIN) {
            start = Some((offset, words));
            is_divided = false;
        } else if words == "=======" {
            is_divided = start.is_some();
        } else if let (true, Some((begin, first)), Some(theirs)) =
            (is_divided, start, words.strip_prefix(">>>>>>> "))
        {
            let ours = first.trim_start_matches(BEGIN);
            let message = format!(
                "the conflict between '{ours}' and '{theirs}' is not resolved: Puppet refuses the whole file"
            );
            let range = TextRange::from_usize(begin..begin + first.len());
            findings.push(Finding::new(&RULE, Span::in_file(file.id, range), message));
            start = None;
        }
        offset += line.len();
    }
}
