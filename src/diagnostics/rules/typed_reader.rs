//! `typed-reader`

use super::typed::{as_written, is_taken_as_written, shorten};
use super::unread::in_code;
use crate::diagnostics::rule::{
    Check, Dependence, EntryContext, Finding, Needs, Rule, RuleGroup, Severity,
};
use crate::hiera::key::LookupKey;
use crate::hiera::lookup::LOOKUP_OPTIONS;
use crate::manifest::model::ReaderCall;
use crate::puppet::types::check_partial;
use crate::puppet::value::{Member, Value};
use crate::text::Span;
use crate::workspace::manifests::ReaderAt;

/// The rule.
pub(crate) static RULE: Rule = Rule {
    code: "typed-reader",
    severity: Severity::Error,
    group: RuleGroup::Broken,
    tag: None,
    summary: "a value that is not of the type that a call in code asks for",
    docs: include_str!("typed_reader.md"),
    depends_on: Dependence::Keys,
    needs: Needs::Index,
    check: Check::Entry(check),
};

fn check(context: &EntryContext<'_>, findings: &mut Vec<Finding>) {
    let index = context.file.snapshot.manifests(context.file.environment);
    for (name, member) in context.root_members() {
        let Some(name) = name.as_str().filter(|name| *name != LOOKUP_OPTIONS) else { continue };
        let mut readers = index.readers_of_key(name).filter(|one| asks_directly(one.reader, name));
        let Some(first) = readers.next() else { continue };
        let key = LookupKey::of_root(name);
        if !is_taken_as_written(context, &key) || is_overridden(context, &key, &member.value) {
            continue;
        }
        for reader in [first].into_iter().chain(readers) {
            report_mismatches(context, (name, member), reader, findings);
        }
    }
}

/// Whether a call asks for a type, and for this key alone: data decides about its value.
fn asks_directly(call: &ReaderCall, name: &str) -> bool {
    let is_alone = call
        .keys
        .as_ref()
        .is_some_and(|keys| matches!(keys.as_slice(), [key] if key.literal_text() == Some(name)));
    is_alone && call.value_type.is_some() && call.merge.is_none() && !call.has_override
}

/// Whether all nodes that read the file certainly get another value.
fn is_overridden(context: &EntryContext<'_>, key: &LookupKey, value: &Value) -> bool {
    let resolution = (context.lookup)(key, None);
    let found = resolution.value.as_ref().ok().and_then(Option::as_ref);
    resolution.is_settled() && found.is_some_and(|found| found.origin != value.origin)
}

fn report_mismatches(
    context: &EntryContext<'_>,
    (name, member): (&str, &Member),
    ReaderAt { file, reader }: ReaderAt<'_>,
    findings: &mut Vec<Finding>,
) {
    let snapshot = context.file.snapshot;
    let index = snapshot.manifests(context.file.environment);
    let Some(text) = reader.value_type.as_ref().map(|excerpt| &excerpt.text) else { return };
    let Some(data_type) = index.judged_type(text) else { return };
    let mut seen: Vec<Span> = Vec::new();
    for part in check_partial(name, &data_type, &member.value, &as_written) {
        let Some(span) = part.origin.filter(|span| span.file == context.file.file.id) else {
            continue;
        };
        if part.wants_sensitive || seen.contains(&span) {
            continue; // `unwrapped-secret` is about what must be Sensitive.
        }
        seen.push(span);
        let problem = if snapshot.may_be_sensitive(name) {
            format!("expects {data_type}")
        } else {
            let start = format!("parameter '{name}' ");
            part.message.strip_prefix(&start).unwrap_or(&part.message).to_owned()
        };
        let message = format!(
            "a call of lookup with this key {}: Puppet refuses the value where the call runs",
            shorten(problem)
        );
        let call = in_code(file.id, reader.range);
        findings
            .push(Finding::new(&RULE, span, message).with_related(Some(call), "the call is here"));
    }
}
