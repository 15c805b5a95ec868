//! `stale-node-file`

use crate::diagnostics::rule::{
    Check, Dependence, FileContext, Finding, Needs, Rule, RuleGroup, Severity,
};
use crate::text::{Span, TextRange};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    code: "stale-node-file",
    severity: Severity::Info,
    group: RuleGroup::Dead,
    tag: None,
    summary: "a data file of a node, a role or a site that no node has any more",
    docs: include_str!("stale_node_file.md"),
    depends_on: Dependence::Keys,
    needs: Needs::Index,
    check: Check::File(check),
};

fn check(context: &FileContext<'_>, findings: &mut Vec<Finding>) {
    let (environment, path) = (context.environment, &context.file.path);
    let Some(stale) = context.snapshot.stale_file(environment, path) else { return };
    let (read, all) = (stale.read, stale.all);
    let subject = match &stale.node {
        Some(node) => format!("only the name of this file tells of the node '{node}'"),
        None => "no known node reads this file".to_owned(),
    };
    let level = &stale.level;
    let message =
        format!("{subject}; known nodes read {read} of the {all} files of the level '{level}'");
    let span = Span::in_file(context.file.id, TextRange::new_empty(0));
    findings.push(Finding::new(&RULE, span, message));
}
