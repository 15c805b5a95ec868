//! `unread-key`

use super::unread::unread_keys;
use crate::diagnostics::rule::{Check, EntryContext, Finding, Rule, Severity};
use crate::workspace::manifests::{KeyStanding, ManifestIndex, ModuleOrigin};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    code: "unread-key",
    severity: Severity::Hint,
    summary: "a key that no class, call or token in the workspace reads",
    docs: include_str!("unread_key.md"),
    check: Check::Entry(check),
};

fn check(context: &EntryContext<'_>, findings: &mut Vec<Finding>) {
    let index = context.file.snapshot.manifests(context.file.environment);
    for unread in unread_keys(context) {
        let message = match unread.standing {
            KeyStanding::Plain => {
                format!("nothing here reads '{}'{}", unread.key, confidence_phrase(index))
            }
            KeyStanding::AbsentModule(ModuleOrigin::Unknown) if index.has_puppetfile() => {
                let module = unread.key.split("::").next().unwrap_or_default();
                format!(
                    "nothing here reads '{}': the module '{module}' is neither in the workspace nor in a Puppetfile",
                    unread.key
                )
            }
            _ => continue,
        };
        findings.push(Finding::new(&RULE, unread.span, message));
    }
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
