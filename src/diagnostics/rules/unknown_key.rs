//! `unknown-key`

use crate::diagnostics::rule::{Check, DataContext, Finding, Rule, Severity};
use crate::hiera::data::Reference;
use crate::hiera::key::{LookupKey, Segment};
use crate::hiera::value::{Key, Value};

/// The rule.
pub static RULE: Rule = Rule {
    code: "unknown-key",
    severity: Severity::Warning,
    summary: "a token looks up a key that no level of any layer defines",
    docs: include_str!("unknown_key.md"),
    check: Check::Data(check),
};

fn check(context: &DataContext<'_>, findings: &mut Vec<Finding>) {
    let environment = context.file.environment;
    if environment.has_opaque_level() {
        return; // A backend that cannot be read may have any key.
    }
    let absent = std::cell::LazyCell::new(|| environment.levels_without_files(context.file.snapshot));
    for token in &context.data.tokens {
        let Reference::Key { key, .. } = &token.reference else { continue };
        let root = key.root_text();
        let defined: Vec<_> = definitions(context, &root).collect();
        if defined.is_empty() {
            let elsewhere = key.module().filter(|module| !environment.modules.contains_key(*module));
            let place = match elsewhere {
                Some(module) => format!(" (the module {module} is not on the module path here, so its own data was not seen)"),
                None => String::new(),
            };
            let message = match absent.as_slice() {
                [] => format!("no level of any layer defines '{root}'{place}: the token becomes an empty text"),
                levels => format!(
                    "no file here defines '{root}'{place}: the token becomes an empty text, unless the data of level '{}' does, which is not here",
                    levels.join("', '")
                ),
            };
            let mut finding = Finding::new(&RULE, token.name_span, message);
            if !absent.is_empty() || elsewhere.is_some() {
                finding.severity = Severity::Hint; // What is not here may well define it.
            }
            findings.push(finding);
        } else if let Some(missing) = missing_everywhere(key, &defined) {
            let message = format!(
                "no level of any layer defines '{key}': '{root}' has no '{missing}', and the token becomes an empty text"
            );
            let first = defined[0].origin;
            findings.push(Finding::new(&RULE, token.name_span, message).with_related(first, format!("'{root}' is set here")));
        }
    }
}

fn definitions<'a>(context: &DataContext<'a>, root: &'a str) -> impl Iterator<Item = Value> + 'a {
    let (snapshot, environment, view) = (context.file.snapshot, context.file.environment, context.file.view);
    let files = snapshot.keys().definitions(root).iter().filter(move |path| environment.reaches(path));
    files.filter_map(move |path| Some(view.data_of(path)?.roots.get(root)?.value.clone()))
}

/// The first subkey that no definition has, where all of them are written out as far as that.
fn missing_everywhere(key: &LookupKey, definitions: &[Value]) -> Option<String> {
    let mut current: Vec<Value> = definitions.to_vec();
    for segment in &key.subkeys {
        // What a token stands for is not written here; what is no collection is another mistake than a missing key.
        if current.iter().any(|value| value.is_live() && value.as_str().is_some()) {
            return None;
        }
        let live_keys = |value: &Value| value.as_hash().is_some_and(|hash| hash.keys().any(|key| key.to_text().contains("%{")));
        if current.iter().any(live_keys) {
            return None;
        }
        let all_collections = current.iter().all(|value| value.as_hash().is_some() || value.as_array().is_some());
        let next: Vec<Value> = current.iter().filter_map(|value| step(value, segment)).collect();
        if next.is_empty() {
            return all_collections.then(|| segment.to_string());
        }
        current = next;
    }
    None
}

fn step(value: &Value, segment: &Segment) -> Option<Value> {
    match segment {
        Segment::Name(name) => value.get(name).cloned(),
        Segment::Index(index) => match value.as_array() {
            // Merged lists are longer than each of their parts.
            Some(items) => usize::try_from(*index).ok().and_then(|index| items.get(index)).or(items.last()).cloned(),
            None => value.as_hash()?.get(&Key(crate::hiera::Data::Integer(*index))).map(|member| member.value.clone()),
        },
    }
}
