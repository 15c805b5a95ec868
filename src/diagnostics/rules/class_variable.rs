//! `class-variable`

use crate::diagnostics::rule::{
    Check, Dependence, EntryContext, Finding, Needs, Rule, RuleGroup, Severity,
};
use crate::hiera::data::Reference;

/// The rule.
pub(crate) static RULE: Rule = Rule {
    code: "class-variable",
    severity: Severity::Info,
    group: RuleGroup::Fragile,
    tag: None,
    summary: "a token with a variable of a class, which is empty before the class is evaluated",
    docs: include_str!("class_variable.md"),
    depends_on: Dependence::Keys,
    needs: Needs::Levels,
    check: Check::Entry(check),
};

fn check(context: &EntryContext<'_>, findings: &mut Vec<Finding>) {
    for token in &context.entry.tokens {
        let Reference::Variable(variable) = &token.reference else { continue };
        let root = variable.root_text();
        let name = root.trim_start_matches("::");
        let Some((class, variable)) = name.rsplit_once("::") else { continue };
        let message = format!(
            "the variable '{variable}' of the class '{class}' is empty in lookups before the class is evaluated: the value depends on the order of the code"
        );
        findings.push(Finding::new(&RULE, token.name_span(), message));
    }
}
