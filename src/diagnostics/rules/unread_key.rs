//! `unread-key`

use super::unread::unread_keys;
use crate::diagnostics::rule::{
    Check, Dependence, EntryContext, Finding, Fix, Needs, Rule, RuleGroup, Safety, Severity, Tag,
};
use crate::text::similar::{nearest_name, nearest_within};
use crate::workspace::manifests::{KeyStanding, ManifestIndex, ModuleOrigin};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    code: "unread-key",
    severity: Severity::Hint,
    group: RuleGroup::Dead,
    tag: Some(Tag::Unnecessary),
    summary: "a key that no class, call or token in the workspace reads",
    docs: include_str!("unread_key.md"),
    depends_on: Dependence::Keys,
    needs: Needs::Index,
    check: Check::Entry(check),
};

fn check(context: &EntryContext<'_>, findings: &mut Vec<Finding>) {
    let index = context.file.snapshot.manifests(context.file.environment);
    for unread in unread_keys(context) {
        let key = unread.key;
        let meant = meant_key(index, key);
        let advice = meant.as_ref().map(|meant| format!("; did you mean '{meant}'?"));
        let mut cause = None;
        let message = match unread.standing {
            KeyStanding::Plain => {
                let others = advice.clone().unwrap_or_else(|| confidence_phrase(index));
                format!("nothing here reads '{key}'{others}")
            }
            KeyStanding::AbsentModule(ModuleOrigin::Unknown)
                if index.has_puppetfile() || meant.is_some() =>
            {
                let module = key.split("::").next().unwrap_or_default();
                let place = if index.has_puppetfile() {
                    "neither in the workspace nor in a Puppetfile"
                } else {
                    "not in the workspace"
                };
                let fact = format!("the module '{module}' is {place}");
                cause = Some(fact.clone()).filter(|_| meant.is_none());
                format!("nothing here reads '{key}': {fact}{}", advice.unwrap_or_default())
            }
            _ => continue,
        };
        let mut finding = Finding::new(&RULE, unread.span, message).suggest(key, meant.as_deref());
        if matches!(unread.standing, KeyStanding::Plain) && meant.is_none() {
            let safety = Safety::ChangesValues; // The value of the key itself is gone.
            finding = finding.fix(Fix { safety, ..Fix::delete_entry(key, unread.span) });
        }
        if meant.is_some_and(|meant| index.asking_parameter(&meant).is_some()) {
            finding.severity = Severity::Warning; // The value is lost.
        }
        finding.cause = cause;
        findings.push(finding);
    }
}

/// The length from which on two letters may be wrong in a name.
const LONG_NAME: usize = 12;

/// Returns the key that code reads and that was probably meant: one that a call names, or that of a
/// parameter whose module has a similar name.
fn meant_key(index: &ManifestIndex, key: &str) -> Option<String> {
    let Some((module, rest)) = key.split_once("::") else {
        let mut names: Vec<&str> = index
            .read_keys()
            .filter(|name| !name.contains("::") && strip_digits(name) != strip_digits(key))
            .collect();
        names.sort_unstable();
        let most = if key.len() < LONG_NAME { 1 } else { 2 };
        return nearest_within(key, names, most).map(str::to_owned);
    };
    let mut modules: Vec<&str> = index.modules().by_name.keys().map(|name| &**name).collect();
    modules.sort_unstable();
    let meant = format!("{}::{rest}", nearest_name(module, modules)?);
    index.asking_parameter(&meant).is_some().then_some(meant)
}

/// Names of a series differ in their numbers.
fn strip_digits(name: &str) -> String {
    name.replace(|c: char| c.is_ascii_digit(), "")
}

/// Names other possible readers of a key.
fn confidence_phrase(index: &ManifestIndex) -> String {
    let calls = match index.dynamic_readers().count() {
        0 => None,
        1 => Some("a call with a computed key".to_owned()),
        more => Some(format!("one of {more} calls with computed keys")),
    };
    let modules = index.has_absent_modules().then(|| "a module that is not here".to_owned());
    match (calls, modules) {
        (None, None) => ": no class parameter, no call and no token".to_owned(),
        (Some(one), None) | (None, Some(one)) => format!(", unless {one} does"),
        (Some(calls), Some(modules)) => format!(", unless {calls} or {modules} does"),
    }
}
