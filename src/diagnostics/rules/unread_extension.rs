//! `unread-extension`

use crate::diagnostics::rule::{
    Check, Dependence, FileContext, Finding, Needs, Rule, RuleGroup, Severity,
};
use crate::text::{FilePath, Span, TextRange};
use crate::workspace::environments::Environment;

/// The rule. Where it has a finding, `unreached-file` has none.
pub(crate) static RULE: Rule = Rule {
    code: "unread-extension",
    severity: Severity::Warning,
    group: RuleGroup::Dead,
    tag: None,
    summary: "a data file that a level would read if its name ended otherwise",
    docs: include_str!("unread_extension.md"),
    depends_on: Dependence::Keys,
    needs: Needs::Levels,
    check: Check::File(check),
};

/// Extensions that are written one for the other.
const SISTERS: [(&str, &[&str]); 4] = [
    ("yml", &["yaml"]),
    ("yaml", &["yml", "eyaml"]),
    ("eyaml", &["yaml", "yml"]),
    ("hocon", &["conf"]),
];

fn check(context: &FileContext<'_>, findings: &mut Vec<Finding>) {
    let path = &context.file.path;
    let Some(meant) = readable_name(context.environment, path) else { return };
    let message = format!(
        "no level reads this file: levels read '{}', and the ending is a part of the name",
        meant.name()
    );
    let span = Span::in_file(context.file.id, TextRange::new_empty(0));
    findings.push(Finding::new(&RULE, span, message));
}

/// Returns the name under which some level would read a file that none reads as it is.
pub(super) fn readable_name(environment: &Environment, path: &FilePath) -> Option<FilePath> {
    if environment.reaches_file(path) || !environment.lies_in_datadir(path) {
        return None;
    }
    let extension = path.extension()?;
    let (_, others) = SISTERS.iter().find(|(one, _)| *one == extension)?;
    let stem = path.as_str().strip_suffix(extension)?;
    let sisters = others.iter().map(|other| FilePath::new(&format!("{stem}{other}")));
    let mut sisters = sisters.filter(|sister| environment.reaches_file(sister));
    sisters.next()
}
