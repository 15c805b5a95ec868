//! `missing-parameter`

use super::typed::{MAX_NODES, named_nodes, node_answer};
use super::unread::in_code;
use crate::diagnostics::rule::{
    Check, Dependence, EntryContext, Finding, Needs, Rule, RuleGroup, Severity,
};
use crate::hiera::data::EntryData;
use crate::hiera::key::LookupKey;
use crate::manifest::model::UseKind;
use crate::puppet::value::{Data, Value};
use crate::text::Span;
use crate::workspace::Snapshot;
use crate::workspace::manifests::{DefinitionAt, ManifestIndex};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    code: "missing-parameter",
    severity: Severity::Off,
    group: RuleGroup::Broken,
    tag: None,
    summary: "a class in data with a required parameter that no level has",
    docs: include_str!("missing_parameter.md"),
    depends_on: Dependence::Everything(names_classes),
    needs: Needs::Index,
    check: Check::Entry(check),
};

/// Whether code includes the classes that a value of an entry names. The findings of such an entry
/// depend on any key.
pub(in crate::diagnostics) fn names_classes(index: &ManifestIndex, entry: &EntryData) -> bool {
    let keys = entry.members.iter().filter_map(|(key, _)| key.as_str());
    keys.into_iter().any(|key| index.is_included(key))
}

fn check(context: &EntryContext<'_>, findings: &mut Vec<Finding>) {
    let index = context.file.snapshot.manifests(context.file.environment);
    for (key, member) in context.root_members() {
        let Some(key) = key.as_str().filter(|key| index.is_included(key)) else { continue };
        let own = std::slice::from_ref(&member.value);
        let names =
            if let Data::Array(items) = member.value.data() { items.as_slice() } else { own };
        for name in names {
            let class = name.as_str().filter(|_| !name.is_live());
            let class = class.map(|class| class.trim_start_matches("::").to_ascii_lowercase());
            let Some((class, span)) = class.zip(name.origin) else { continue };
            let Some(class) = index.loaded_class(&class).filter(|found| is_looked_up(index, found))
            else {
                continue;
            };
            report_required(context, key, span, class, findings);
        }
    }
}

/// Whether all of a class's parameters are known, and no declaration gives some of them.
fn is_looked_up(index: &ManifestIndex, class: &DefinitionAt<'_>) -> bool {
    !class.definition.recovered
        && !index.may_be_declared(&class.definition.name)
        && !index
            .uses_of(&class.definition.name)
            .any(|one| matches!(one.class_use.kind, UseKind::Resource | UseKind::Function))
}

/// Reports the required parameters of a class that no level has, for the nodes that include it.
fn report_required(
    context: &EntryContext<'_>,
    key: &str,
    span: Span,
    class: DefinitionAt<'_>,
    findings: &mut Vec<Finding>,
) {
    let parameters = class.definition.parameters.iter();
    let name = &class.definition.name;
    for parameter in parameters.filter(|one| one.default.is_none() && !one.captures_rest) {
        let wanted = LookupKey::of_root(&format!("{name}::{}", parameter.name));
        let Some(whom) = concerned_nodes(context, &LookupKey::of_root(key), span, &wanted) else {
            continue;
        };
        let message = format!(
            "no level has '{wanted}', and the parameter '{}' has no default: Puppet refuses the class '{name}' for {whom}",
            parameter.name
        );
        let place = in_code(class.file.id, parameter.range);
        findings.push(
            Finding::new(&RULE, span, message)
                .with_related(Some(place), "the parameter is declared here"),
        );
    }
}

/// Returns the nodes, in words, that include the class from this place and get nothing for a key;
/// `None` if there are none for certain.
fn concerned_nodes(
    context: &EntryContext<'_>,
    including: &LookupKey,
    span: Span,
    wanted: &LookupKey,
) -> Option<String> {
    let resolution = (context.lookup)(wanted, None);
    if resolution.is_settled() && matches!(resolution.value, Ok(None)) {
        return Some("nodes that include it from here".to_owned());
    }
    let file = &context.file;
    let nodes = file.snapshot.nodes_of(file.environment);
    let readers = file.snapshot.readers_of(file.environment, &file.file.path);
    let mut names = Vec::new();
    for node in readers.certainly.iter().take(MAX_NODES) {
        let included = node_answer(context, *node, including, true);
        let value = included.value.as_ref().ok().and_then(Option::as_ref);
        if !value.is_some_and(|value| comes_from(file.snapshot, value, span)) {
            continue;
        }
        let answer = node_answer(context, *node, wanted, false);
        if answer.is_settled && matches!(answer.value, Ok(None)) {
            names.push(nodes[*node].name.to_string());
        }
    }
    (!names.is_empty()).then(|| named_nodes(&names))
}

/// Whether a part of a value comes from a place.
fn comes_from(snapshot: &Snapshot, value: &Value, span: Span) -> bool {
    let items = if let Data::Array(items) = value.data() { items.as_slice() } else { &[] };
    [value]
        .into_iter()
        .chain(items)
        .any(|part| part.origin.is_some_and(|origin| snapshot.is_same_place(origin, span)))
}
