//! `refused-module`

use crate::diagnostics::rule::{Check, Dependence, Finding, Needs, Rule, RuleGroup, Severity};
use crate::text::{Span, TextRange};
use crate::workspace::environments::{MetadataFault, RefusedModule};
use crate::workspace::files::file::File;

/// The rule.
pub(crate) static RULE: Rule = Rule {
    code: "refused-module",
    severity: Severity::Error,
    group: RuleGroup::Dead,
    tag: None,
    summary: "a module that Puppet passes over for its metadata.json",
    docs: include_str!("refused_module.md"),
    depends_on: Dependence::Keys,
    needs: Needs::File,
    check: Check::Module(check),
};

fn check(module: &RefusedModule, file: &File) -> Finding {
    let problem = match &module.fault {
        MetadataFault::NotJson => "it is no JSON".to_owned(),
        MetadataFault::Missing(names) => format!("it has no '{}'", names.join("', '")),
        MetadataFault::NoListOfDependencies => "its 'dependencies' is no list".to_owned(),
    };
    let message = format!(
        "{problem}: Puppet passes over the module '{}' with an error in its log, and looks up nothing in its data",
        module.name
    );
    Finding::new(&RULE, Span::in_file(file.id, TextRange::new_empty(0)), message)
}
