//! `unknown-key`

use std::cell::LazyCell;
use std::collections::HashSet;

use crate::diagnostics::rule::{
    Check, Dependence, EntryContext, Finding, Needs, Rule, RuleGroup, Severity, in_words,
};
use crate::hiera::data::{Reference, TokenUse};
use crate::hiera::key::{KeySegment, LookupKey};
use crate::hiera::sources::Sources;
use crate::puppet::value::{Data, Member, Value};
use crate::workspace::Snapshot;
use crate::workspace::index::{Siblings, key_prefix};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    code: "unknown-key",
    severity: Severity::Warning,
    group: RuleGroup::Broken,
    tag: None,
    summary: "a token looks up a key that no level of any layer defines",
    docs: include_str!("unknown_key.md"),
    depends_on: Dependence::Keys,
    needs: Needs::Index,
    check: Check::Entry(check),
};

fn check(context: &EntryContext<'_>, findings: &mut Vec<Finding>) {
    let environment = context.file.environment;
    let private = LazyCell::new(|| private_prefixes(context));
    for token in &context.entry.tokens {
        let Reference::Key { key, .. } = &token.reference else { continue };
        let Some(finding) = token_finding(context, token, key, &private) else { continue };
        // A backend that cannot be read may have the key. This check comes last, as most keys are
        // defined.
        if !environment
            .may_have_unread(&key.root_text(), |name| context.file.view.has_function(name))
        {
            findings.push(finding);
        }
    }
}

/// Returns the finding for a token; `None` where a file here defines its key, or data that is kept
/// elsewhere probably does.
fn token_finding(
    context: &EntryContext<'_>,
    token: &TokenUse,
    key: &LookupKey,
    private: &LazyCell<HashSet<String>, impl FnOnce() -> HashSet<String>>,
) -> Option<Finding> {
    let root = key.root_text();
    if !context.file.view.is_defined(&root) {
        return (!is_private(context, &root, private))
            .then(|| undefined_finding(context, token, key));
    }
    if key.subkeys.is_empty() {
        return None;
    }
    let defined: Vec<Member> = context.file.view.root_members(&root).collect();
    let values = defined.iter().map(|member| member.value.clone()).collect();
    let dead_end = dead_end(key, values)?;
    Some(without_end(token, key, dead_end, defined.first()?))
}

/// Returns the finding for a key that no file defines.
fn undefined_finding(context: &EntryContext<'_>, token: &TokenUse, key: &LookupKey) -> Finding {
    let environment = context.file.environment;
    let root = key.root_text();
    let elsewhere = key.module_name().filter(|module| !environment.modules.contains_key(*module));
    let place = match elsewhere {
        Some(module) => format!(
            " (the module {module} is not on the module path here, so its own data was not seen)"
        ),
        None => String::new(),
    };
    let levels = context.file.snapshot.levels_without_files(environment);
    let siblings = context.file.snapshot.keys().siblings_of(&root);
    let are_public = elsewhere.is_none() && siblings.count >= FEWEST_SIBLINGS && !is_secret(&root);
    let message = match levels {
        [] => format!(
            "no level of any layer defines '{root}'{place}: the token becomes an empty text"
        ),
        levels => {
            let beside = if are_public { sibling_phrase(&siblings) } else { String::new() };
            format!(
                "no file here defines '{root}'{place}{beside}: the token becomes an empty text, unless it is in the data of {}",
                describe_absent_files(levels)
            )
        }
    };
    let meant = context.file.snapshot.keys().nearest_key(&root);
    let mut finding =
        Finding::new(&RULE, token.name_span(), message).suggest(&root, meant.as_deref());
    if elsewhere.is_some() || !levels.is_empty() && !are_public {
        finding.severity = Severity::Hint; // Files that are not here may define it.
    }
    finding
}

/// Whether a key that no file here defines is probably in data that is kept elsewhere, judged by
/// names: a location names no file here, and the key is a secret, or is asked for beside a secret
/// with the same prefix while no key with this prefix is here.
fn is_private(context: &EntryContext<'_>, root: &str, prefixes: &HashSet<String>) -> bool {
    let environment = context.file.environment;
    let is_of_absent_module =
        root.split_once("::").is_some_and(|(module, _)| !environment.modules.contains_key(module));
    if is_of_absent_module || context.file.snapshot.levels_without_files(environment).is_empty() {
        return false;
    }
    is_secret(root) || is_beside_secret(root, prefixes, context.file.snapshot)
}

fn is_beside_secret(root: &str, prefixes: &HashSet<String>, snapshot: &Snapshot) -> bool {
    key_prefix(root).is_some_and(|prefix| prefixes.contains(prefix))
        && snapshot.keys().siblings_of(root).count == 0
}

/// Returns the prefixes of the secrets that an entry asks for and no file here defines.
fn private_prefixes(context: &EntryContext<'_>) -> HashSet<String> {
    context
        .entry
        .tokens
        .iter()
        .filter_map(|token| {
            let root = token.reference.key()?.root_text();
            let is_private = is_secret(&root) && !context.file.view.is_defined(&root);
            key_prefix(&root).filter(|_| is_private).map(str::to_owned)
        })
        .collect()
}

/// The number of keys with the same prefix in the files here that makes a further one elsewhere
/// unlikely.
const FEWEST_SIBLINGS: usize = 3;

/// Whether a key's name suggests a secret value. Secrets are often kept in a separate repository.
fn is_secret(key: &str) -> bool {
    const STEMS: [&str; 8] =
        ["pass", "pwd", "secret", "token", "credential", "webhook", "private", "username"];
    const ENDINGS: [&str; 4] = ["key", "md5", "hash", "cert"];
    let name = key.rsplit("::").next().unwrap_or(key).to_ascii_lowercase();
    // `apikey` names a secret, `keystone` does not.
    STEMS.iter().any(|stem| name.contains(stem))
        || name.split('_').any(|part| ENDINGS.iter().any(|ending| part.ends_with(ending)))
}

/// Returns the siblings of a key in words.
fn sibling_phrase(siblings: &Siblings) -> String {
    let names = siblings.first.join("', '");
    match siblings.count - siblings.first.len() {
        0 => format!(", though '{names}' are defined here"),
        1 => format!(", though '{names}' and 1 more with the same prefix are"),
        more => format!(", though '{names}' and {more} more with the same prefix are"),
    }
}

/// Describes the levels with a location that names no file.
pub(crate) fn describe_absent_files(levels: &[String]) -> String {
    const SHOWN: usize = 3;
    let names = levels.iter().take(SHOWN).map(|name| format!("'{name}'")).collect::<Vec<_>>();
    let names = names.join(", ");
    match levels.len().saturating_sub(SHOWN) {
        0 if levels.len() == 1 => format!("level {names}, of which files are missing here"),
        0 => format!("levels {names}, of which files are missing here"),
        more => format!("levels {names} or {more} more, of which files are missing here"),
    }
}

/// Returns the finding for a dotted key whose root key has definitions; `first` is the first of
/// them.
fn without_end(token: &TokenUse, key: &LookupKey, dead_end: DeadEnd, first: &Member) -> Finding {
    let root = key.root_text();
    let (severity, message) = match dead_end {
        DeadEnd::Missing(name) => (
            RULE.severity,
            format!(
                "no level of any layer defines '{key}': '{root}' has no '{name}', and the token becomes an empty text"
            ),
        ),
        DeadEnd::Mismatch(name, type_name) => (
            Severity::Error,
            format!(
                "the lookup of '{key}' fails: Puppet finds {} where '{name}' should be looked for",
                in_words(type_name)
            ),
        ),
    };
    let place = first.key_origin.or(first.value.origin);
    let finding = Finding::new(&RULE, token.name_span(), message)
        .with_related(place, format!("'{root}' is set here"));
    Finding { severity, ..finding }
}

/// Where a dotted key ends in every definition of its root key.
enum DeadEnd {
    /// No definition has this subkey.
    Missing(String),
    /// All definitions have a value of this type where a collection with this subkey is needed.
    Mismatch(String, &'static str),
}

/// Returns the first subkey that no definition has, where all of them are written out as far as
/// that.
fn dead_end(key: &LookupKey, definitions: Vec<Value>) -> Option<DeadEnd> {
    let mut current = definitions;
    for segment in &key.subkeys {
        if current
            .iter()
            .any(|value| value.is_live() && value.as_str().is_some() || has_live_keys(value))
        {
            return None;
        }
        let next: Vec<Value> =
            current.iter().filter_map(|value| dig_segment(value, segment)).collect();
        if next.is_empty() {
            let mismatches = current.iter().filter(|value| cannot_hold(value, segment)).count();
            return match mismatches {
                0 => Some(DeadEnd::Missing(segment.to_string())),
                all if all == current.len() => {
                    Some(DeadEnd::Mismatch(segment.to_string(), current[0].type_name()))
                }
                _ => None,
            };
        }
        current = next;
    }
    None
}

/// The value of a token is not written here.
fn has_live_keys(value: &Value) -> bool {
    value.as_hash().is_some_and(|hash| hash.keys().any(|key| key.to_text().contains("%{")))
}

/// Whether Puppet fails to look for the subkey in the value, instead of not finding it. Source:
/// semantics 3.3.
fn cannot_hold(value: &Value, segment: &KeySegment) -> bool {
    match value.data() {
        Data::Null | Data::Hash(_) => false,
        Data::Array(_) => matches!(segment, KeySegment::Name(_)),
        _ => true,
    }
}

fn dig_segment(value: &Value, segment: &KeySegment) -> Option<Value> {
    match segment {
        KeySegment::Name(name) => value.get(name).cloned(),
        KeySegment::Index(index) => match value.as_array() {
            // Merged lists are longer than each of their parts.
            Some(items) => usize::try_from(*index)
                .ok()
                .and_then(|index| items.get(index))
                .or(items.last())
                .cloned(),
            None => value.as_hash()?.get(index).map(|member| member.value.clone()),
        },
    }
}
