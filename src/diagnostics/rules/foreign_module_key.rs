//! `foreign-module-key`

use crate::diagnostics::rule::{Check, EntryContext, Finding, Rule, Severity};
use crate::hiera::config::{Layer, Reader};
use crate::hiera::lookup::LOOKUP_OPTIONS;

/// The rule.
pub static RULE: Rule = Rule {
    code: "foreign-module-key",
    severity: Severity::Warning,
    summary: "a key in a module's data outside the module's namespace",
    docs: include_str!("foreign_module_key.md"),
    check: Check::Entry(check),
};

fn check(context: &EntryContext<'_>, findings: &mut Vec<Finding>) {
    let Layer::Module(module) = context.layer else { return };
    if context.file.environment.reader(&context.file.file.path) == Some(Reader::Eyaml) {
        return; // Only data_hash functions are held to the rule.
    }
    let prefix = format!("{module}::");
    for (key, member) in context.members() {
        let Some(text) = key.as_str() else { continue };
        if let (false, Some(span)) =
            (text == LOOKUP_OPTIONS || text.starts_with(&prefix), member.key_origin)
        {
            let message = format!(
                "data of the module {module} must have keys that start with '{prefix}': Puppet passes over this one"
            );
            findings.push(Finding::new(&RULE, span, message));
        }
    }
}
