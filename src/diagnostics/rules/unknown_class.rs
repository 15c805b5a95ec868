//! `unknown-class`

use super::unread::{in_code, unread_keys};
use crate::diagnostics::rule::{
    Check, Dependence, EntryContext, Finding, Needs, Rule, RuleGroup, Severity,
};
use crate::text::similar::nearest_name;
use crate::workspace::manifests::{KeyStanding, ManifestIndex, ParameterAt, split_key};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    code: "unknown-class",
    severity: Severity::Warning,
    group: RuleGroup::Dead,
    tag: None,
    summary: "a key for a class that its module does not have",
    docs: include_str!("unknown_class.md"),
    depends_on: Dependence::Keys,
    needs: Needs::Index,
    check: Check::Entry(check),
};

fn check(context: &EntryContext<'_>, findings: &mut Vec<Finding>) {
    let index = context.file.snapshot.manifests(context.file.environment);
    for unread in unread_keys(context) {
        let Some((class, parameter)) = split_key(unread.key) else { continue };
        match unread.standing {
            KeyStanding::NoClass => {}
            KeyStanding::MisplacedClass(found) => {
                let message = format!(
                    "Puppet does not find the class '{class}', which it expects in '{}', and nothing else here reads this key",
                    expected_file(class)
                );
                let place = in_code(found.file.id, found.definition.name_range);
                findings.push(
                    Finding::new(&RULE, unread.span, message)
                        .with_related(Some(place), "the class is here"),
                );
                continue;
            }
            _ => continue,
        }
        let module = class.split("::").next().unwrap_or(class);
        let holder = index.asking_parameter(class);
        let near = meant_class(index, module, class).map(|near| format!("{near}::{parameter}"));
        let advice = match holder {
            Some(ParameterAt { class, parameter, .. }) => format!(
                "; the class '{}' has a parameter '{}', whose members stand below its key",
                class.name, parameter.name
            ),
            None => {
                near.as_ref().map(|near| format!("; did you mean '{near}'?")).unwrap_or_default()
            }
        };
        let message = format!(
            "the module '{module}' has no class '{class}', and nothing else here reads this key{advice}"
        );
        let place = holder.map(|one| in_code(one.file.id, one.parameter.range));
        findings.push(
            Finding::new(&RULE, unread.span, message)
                .with_related(place, "the parameter is declared here")
                .suggest(unread.key, near.as_deref().filter(|_| holder.is_none())),
        );
    }
}

/// Returns the file of its own in which Puppet looks for a class, relative to the module's folder.
fn expected_file(class: &str) -> String {
    let below = class.split_once("::").map_or("init", |(_, below)| below);
    format!("manifests/{}.pp", below.replace("::", "/"))
}

/// Returns the class of the module that was probably meant.
fn meant_class<'a>(index: &'a ManifestIndex, module: &'a str, class: &str) -> Option<&'a str> {
    let mut names: Vec<&str> = index
        .definition_names(module)
        .filter(|name| index.loaded_class(name).is_some())
        .map(|name| &**name)
        .collect();
    names.sort_unstable();
    nearest_name(class, names)
}
