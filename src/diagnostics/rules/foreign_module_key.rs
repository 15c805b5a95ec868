//! `foreign-module-key`

use crate::diagnostics::rule::{
    Check, Dependence, EntryContext, Finding, Needs, Rule, RuleGroup, Severity,
};
use crate::hiera::config::Layer;

/// The rule.
pub(crate) static RULE: Rule = Rule {
    code: "foreign-module-key",
    severity: Severity::Warning,
    group: RuleGroup::Dead,
    tag: None,
    summary: "a key in a module's data outside the module's namespace",
    docs: include_str!("foreign_module_key.md"),
    depends_on: Dependence::Keys,
    needs: Needs::Levels,
    check: Check::Entry(check),
};

fn check(context: &EntryContext<'_>, findings: &mut Vec<Finding>) {
    let (environment, path) = (context.file.environment, &context.file.file.path);
    if !matches!(context.layer, Layer::Module(_))
        || environment.data_reader(path).is_some_and(|reader| reader.decrypts)
    {
        return; // Only data_hash functions are held to the rule.
    }
    for (key, member) in context.root_members() {
        let Some(text) = key.as_str() else { continue };
        if let (Some(module), Some(span)) =
            (environment.module_passing_over(path, text), member.key_origin)
        {
            let message = format!(
                "data of the module {module} must have keys that start with '{module}::': Puppet passes over this one"
            );
            findings.push(Finding::new(&RULE, span, message));
        }
    }
}
