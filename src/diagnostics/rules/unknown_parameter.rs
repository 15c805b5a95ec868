//! `unknown-parameter`

use super::unread::{in_code, unread_keys};
use crate::diagnostics::rule::{
    Check, Dependence, EntryContext, Finding, Needs, Rule, RuleGroup, Severity,
};
use crate::text::similar::nearest_name;
use crate::workspace::manifests::{DefinitionAt, KeyStanding, ManifestIndex, split_key};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    code: "unknown-parameter",
    severity: Severity::Warning,
    group: RuleGroup::Dead,
    tag: None,
    summary: "a key for a parameter that its class does not have",
    docs: include_str!("unknown_parameter.md"),
    depends_on: Dependence::Keys,
    needs: Needs::Index,
    check: Check::Entry(check),
};

fn check(context: &EntryContext<'_>, findings: &mut Vec<Finding>) {
    let index = context.file.snapshot.manifests(context.file.environment);
    for unread in unread_keys(context) {
        let KeyStanding::NoParameter(class) = unread.standing else { continue };
        let Some((name, parameter)) = split_key(unread.key) else { continue };
        let names = class.definition.parameters.iter().map(|one| one.name.as_str());
        let near = nearest_name(parameter, names);
        let advice = match (near, inherited_class(index, class, parameter)) {
            (Some(near), _) => format!("; did you mean '{name}::{near}'?"),
            (None, Some(parent)) => format!(
                "; the class '{parent}' that it inherits has one, which reads '{parent}::{parameter}'"
            ),
            (None, None) => other_class(index, name, parameter)
                .map(|other| format!("; the class '{other}' has one"))
                .unwrap_or_default(),
        };
        let message = format!(
            "the class '{name}' has no parameter '{parameter}', and nothing else here reads this key{advice}"
        );
        let place = in_code(class.file.id, class.definition.name_range);
        let meant = near.map(|near| format!("{name}::{near}"));
        findings.push(
            Finding::new(&RULE, unread.span, message)
                .with_related(Some(place), "the class is defined here")
                .suggest(unread.key, meant.as_deref()),
        );
    }
}

/// Returns the other class of the same module with a parameter of this name, if it is the only one.
fn other_class<'a>(index: &'a ManifestIndex, class: &'a str, parameter: &str) -> Option<&'a str> {
    let module = class.split("::").next().unwrap_or(class);
    let mut others = index.definition_names(module).map(|name| &**name).filter(|name| {
        index
            .loaded_class(name)
            .is_some_and(|found| found.definition.find_parameter(parameter).is_some())
    });
    others.next().filter(|_| others.next().is_none())
}

/// Returns the class among those that a class inherits from which has a parameter of this name.
fn inherited_class<'a>(
    index: &'a ManifestIndex,
    class: DefinitionAt<'a>,
    parameter: &str,
) -> Option<&'a str> {
    let mut current = class.definition;
    for _ in 0..20 {
        let parent = current.inherits.as_ref()?.text.trim_start_matches("::");
        current = index.loaded_class(parent)?.definition;
        if current.find_parameter(parameter).is_some() {
            return Some(&current.name);
        }
    }
    None // Classes that inherit each other.
}
