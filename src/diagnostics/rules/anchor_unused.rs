//! `anchor-unused`

use std::collections::HashSet;

use crate::diagnostics::rule::{
    Check, Dependence, FileContext, Finding, Needs, Rule, RuleGroup, Severity, Tag,
};
use crate::hiera::data::DataFormat;
use crate::text::Span;
use crate::yaml::{self, NodeKind};

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
    let file = context.file;
    let Some(text) = file.text().filter(|_| file.format() == DataFormat::Yaml) else { return };
    let text = text.to_str();
    if !text.contains('&') || !context.environment.reaches_file(&file.path) {
        return;
    }
    let tree = yaml::parse(&text);
    if !tree.problems.is_empty() {
        return; // An alias may stand in a part that cannot be read.
    }
    let aliases: HashSet<&str> = tree
        .nodes
        .iter()
        .filter_map(|node| match &node.kind {
            NodeKind::Alias { name, .. } => Some(&**name),
            _ => None,
        })
        .collect();
    for anchor in tree.nodes.iter().filter_map(|node| node.anchor.as_deref()) {
        if !aliases.contains(anchor.name.as_str()) {
            let message = format!("no alias names the anchor '{}'", anchor.name);
            findings.push(Finding::new(&RULE, Span::in_file(file.id, anchor.span), message));
        }
    }
}
