//! `foreign-options`

use crate::diagnostics::rule::{
    Check, DataContext, Dependence, Finding, Needs, Rule, RuleGroup, Severity,
};
use crate::hiera::config::Layer;
use crate::puppet::value::Member;

/// The rule.
pub(crate) static RULE: Rule = Rule {
    code: "foreign-options",
    severity: Severity::Error,
    group: RuleGroup::Dead,
    tag: None,
    summary: "lookup_options of a module about keys that are not the module's",
    docs: include_str!("foreign_options.md"),
    depends_on: Dependence::Keys,
    needs: Needs::Levels,
    check: Check::Options(check),
};

fn check(options: &Member, context: &DataContext<'_>, findings: &mut Vec<Finding>) {
    let Layer::Module(module) = context.layer else { return };
    let Some(options) = options.value.as_hash() else { return };
    for (key, entry) in options {
        let Some(text) = key.as_str().filter(|text| !text.contains("%{")) else { continue };
        let prefix =
            if text.starts_with('^') { format!("^{module}::") } else { format!("{module}::") };
        if let (false, Some(span)) = (text.starts_with(&prefix), entry.key_origin) {
            let message = format!(
                "lookup_options of the module {module} must start with '{prefix}': every lookup of its keys fails for this one"
            );
            findings.push(Finding::new(&RULE, span, message));
        }
    }
}
