//! `anchor-unused`

use crate::diagnostics::rule::{
    Check, Dependence, FileContext, Finding, Needs, Rule, RuleGroup, Severity, Tag,
};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    code: "anchor-unused",
    severity: Severity::Hint,
    group: RuleGroup::Dead,
    tag: Some(Tag::Unnecessary),
    summary: "an anchor that no alias names",
    docs: include_str!("anchor_unused.md"),
    depends_on: Dependence::Keys,
    needs: Needs::Levels,
    check: Check::File(check),
};

fn check(context: &FileContext<'_>, findings: &mut Vec<Finding>) {
    let path = &context.file.path;
    let Some(data) = context.view.data_of(path) else { return };
    // An alias may stand in a part that cannot be read.
    if data.refusal().is_some() || !context.environment.reaches_file(path) {
        return;
    }
    for (name, places) in data.unused_anchors() {
        let message = format!("no alias names the anchor '{name}'");
        findings.extend(places.iter().map(|place| Finding::new(&RULE, *place, message.clone())));
    }
}
