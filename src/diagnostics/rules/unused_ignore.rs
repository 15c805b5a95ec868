//! `unused-ignore`

use crate::diagnostics::fix::{Fix, FixEdit, Safety};
use crate::diagnostics::rule::{
    Check, Dependence, Finding, Needs, Rule, RuleGroup, Severity, Tag, UnusedIgnore,
};
use crate::text::Span;
use crate::workspace::files::file::File;

/// The rule.
pub(crate) static RULE: Rule = Rule {
    code: "unused-ignore",
    severity: Severity::Warning,
    group: RuleGroup::Dead,
    tag: Some(Tag::Unnecessary),
    summary: "a comment that accepts findings where there are none",
    docs: include_str!("unused_ignore.md"),
    depends_on: Dependence::Keys,
    needs: Needs::Index,
    check: Check::Ignore(check),
};

fn check(unused: &UnusedIgnore<'_>, file: &File) -> Finding {
    let code = &unused.ignore.code;
    let span = Span::in_file(file.id, unused.ignore.range);
    if code.is_empty() {
        let message = "the comment names no rule: `# hiera-ls: ignore[code] reason`";
        return Finding::new(&RULE, span, message);
    }
    if !unused.is_known {
        let message = format!("there is no rule '{code}': the comment accepts nothing");
        return Finding::new(&RULE, span, message).suggest(code, unused.similar);
    }
    let message = match unused.ignore.covers {
        Some(_) => format!("there is no finding of '{code}' here: the comment accepts nothing"),
        None => {
            format!("there is no finding of '{code}' in this file: the comment accepts nothing")
        }
    };
    Finding::new(&RULE, span, message).fix(Fix {
        title: "Remove it".to_owned(),
        edits: vec![FixEdit::RemoveIgnore(span)],
        safety: Safety::KeepsValues,
    })
}
