//! `never-consulted`

use super::unread::in_code;
use crate::diagnostics::rule::{
    Check, Dependence, EntryContext, Finding, Needs, Rule, RuleGroup, Severity, Tag,
};
use crate::manifest::model::{ClassUse, Literal, UseKind};
use crate::workspace::manifests::{ManifestIndex, ModuleOrigin, ParameterAt, UseAt};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    code: "never-consulted",
    severity: Severity::Hint,
    group: RuleGroup::Dead,
    tag: Some(Tag::Unnecessary),
    summary: "a key for a parameter that every declaration of its class gives",
    docs: include_str!("never_consulted.md"),
    depends_on: Dependence::Keys,
    needs: Needs::Index,
    check: Check::Entry(check),
};

fn check(context: &EntryContext<'_>, findings: &mut Vec<Finding>) {
    let (snapshot, environment) = (context.file.snapshot, context.file.environment);
    let index = snapshot.manifests(environment);
    for (key, member) in context.root_members() {
        let Some((key, span)) = key.as_str().zip(member.key_origin) else { continue };
        let Some(found) = index.asking_parameter(key) else { continue };
        let Some(declarations) = giving_declarations(index, &found) else { continue };
        let is_read = snapshot.keys().is_asked_for(key)
            || index.readers_of_key(key).next().is_some()
            || index.pattern_readers(key).next().is_some();
        if is_read {
            continue;
        }
        let (class, parameter) = (&found.class.name, &found.parameter.name);
        let who = match declarations.len() {
            1 => "the only declaration".to_owned(),
            count => format!("each of the {count} declarations"),
        };
        let message = format!(
            "{who} of the class '{class}' here gives the parameter '{parameter}', so that Puppet does not look this key up{}",
            other_ways(index)
        );
        let mut finding = Finding::new(&RULE, span, message);
        for UseAt { file, class_use } in declarations.iter().take(SHOWN) {
            let place = in_code(file.id, class_use.range);
            finding = finding.with_related(Some(place), "declared here");
        }
        findings.push(finding);
    }
}

/// How many declarations are named.
const SHOWN: usize = 3;

/// Returns all declarations of a parameter's class, if there are some, each gives the parameter,
/// and no code that is not here can know the class.
fn giving_declarations<'a>(
    index: &'a ManifestIndex,
    found: &ParameterAt<'a>,
) -> Option<Vec<UseAt<'a>>> {
    let class = found.class.name.as_str();
    let mut all = Vec::new();
    for one in index.uses_of(class) {
        match one.class_use.kind {
            UseKind::Reference => {}
            UseKind::Resource | UseKind::Function if gives_value(one.class_use, found) => {
                all.push(one)
            }
            _ => return None,
        }
    }
    if all.is_empty() {
        return None;
    }
    // Modules that are installed beside the class's module may declare its classes. They do not
    // know the classes of the repository's own modules.
    let module = class.split("::").next().unwrap_or(class);
    let is_own =
        index.module_origin(module) == ModuleOrigin::Present && !index.is_installed(module);
    let is_certain = (is_own || !index.has_absent_modules()) && !index.may_be_used(class);
    is_certain.then_some(all)
}

/// Whether a declaration gives a parameter a value: an `undef` is none, and the parameter is looked
/// up.
fn gives_value(class_use: &ClassUse, found: &ParameterAt<'_>) -> bool {
    let given = class_use.gives.iter().find(|given| given.name == found.parameter.name);
    given.is_some_and(|given| matches!(&given.literal, Some(literal) if *literal != Literal::Undef))
}

/// Names other places that may declare the class.
fn other_ways(index: &ManifestIndex) -> &'static str {
    if index.has_computed_uses() {
        ", unless a computed name or a node classifier declares the class"
    } else {
        ", unless a node classifier declares the class"
    }
}
