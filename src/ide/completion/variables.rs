//! Variables of tokens: those of the known nodes, those that the levels use, and those that every
//! node has.

use indexmap::IndexMap;

use super::context::CompletionContext;
use super::item::{Item, ItemKind, Items, Topic};
use crate::hiera::scope::{Scope, Variable};
use crate::puppet::value::Value;
use crate::text::TextEdit;
use crate::workspace::nodes::Node;

/// The most nodes whose variables are offered.
const MAX_NODES: usize = 100;

/// The variables that every node has, dotted.
const COMMON: [&str; 21] = [
    "facts.os.family",
    "facts.os.name",
    "facts.os.release.full",
    "facts.os.release.major",
    "facts.os.architecture",
    "facts.networking.fqdn",
    "facts.networking.hostname",
    "facts.networking.domain",
    "facts.networking.ip",
    "facts.kernel",
    "facts.virtual",
    "facts.is_virtual",
    "facts.processors.count",
    "trusted.certname",
    "trusted.hostname",
    "trusted.domain",
    "trusted.extensions",
    "trusted.authenticated",
    "server_facts.serverversion",
    "server_facts.servername",
    "environment",
];

/// The names that can follow, each with whether it has parts.
type NextNames = IndexMap<String, bool>;

/// Adds the variables that fit, or behind a dot the parts of one. `path` is the text before the
/// cursor; `edit` gives the edit for a dotted name, with the text that the client compares with.
pub(super) fn complete(
    ctx: &CompletionContext<'_>,
    path: &str,
    items: &mut Items,
    edit: &dyn Fn(&str, bool) -> (TextEdit, String),
) {
    let outer = path.rsplit_once('.').map(|(outer, _)| outer);
    let mut found = NextNames::new();
    let nodes = reading_nodes(ctx);
    for node in nodes.iter().take(MAX_NODES) {
        add_node(&node.scope, outer, &mut found);
    }
    let patterns = ctx.environment.reach.iter().flat_map(|reach| reach.pattern.variables());
    for name in patterns.map(String::as_str).chain(COMMON) {
        add_name(name, outer, &mut found);
    }
    let mut names: Vec<(&String, &bool)> = found.iter().collect();
    // A fact as a variable of its own is the old notation, so its name comes last.
    names.sort_by_cached_key(|(name, _)| {
        (outer.is_none() && is_fact(&nodes, name), place_in_order(name))
    });
    for (name, has_parts) in names {
        let dotted = outer.map_or_else(|| name.clone(), |outer| format!("{outer}.{name}"));
        let (edit, filter) = edit(&dotted, *has_parts);
        let mut item = Item::new(ItemKind::Variable, name, edit);
        item.filter = filter;
        item.topic = Some(Topic::Variable(dotted));
        items.push(item);
    }
}

/// Returns the nodes that read the file; all nodes of the environment, or else its kinds of nodes,
/// where none is known to.
fn reading_nodes<'a>(ctx: &CompletionContext<'a>) -> Vec<&'a Node> {
    let reading = if ctx.environment.reaches_file(&ctx.file.path) {
        ctx.snapshot.nodes_reading(ctx.environment, &ctx.file.path)
    } else {
        Vec::new()
    };
    if !reading.is_empty() {
        return reading.into_iter().map(|node| &**node).collect();
    }
    let all = ctx.snapshot.nodes_of(ctx.environment);
    let kinds = &ctx.snapshot.kinds_of(ctx.environment).all;
    all.iter().chain(kinds).map(|node| &**node).collect()
}

/// Adds the names that a node's scope has below `outer`.
fn add_node(scope: &Scope, outer: Option<&str>, found: &mut NextNames) {
    match outer {
        None => scope.known_variables().for_each(|(name, value)| add(name, is_hash(value), found)),
        Some(outer) => {
            if let Variable::Known(value) = scope.get_path(outer) {
                let members = value.as_hash().into_iter().flatten();
                let names = members.filter_map(|(key, member)| Some((key.as_str()?, member)));
                names.for_each(|(name, member)| add(name, is_hash(&member.value), found));
            }
        }
    }
}

fn is_hash(value: &Value) -> bool {
    value.as_hash().is_some()
}

fn add(name: &str, has_parts: bool, found: &mut NextNames) {
    if let Some(known) = found.get_mut(name) {
        *known |= has_parts;
        return;
    }
    if !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || "_:-".contains(c)) {
        found.insert(name.to_owned(), has_parts);
    }
}

/// Adds the part of a dotted name that follows `outer`.
fn add_name(dotted: &str, outer: Option<&str>, found: &mut NextNames) {
    let rest = match outer {
        None => Some(dotted),
        Some(outer) => dotted.strip_prefix(outer).and_then(|rest| rest.strip_prefix('.')),
    };
    let Some(rest) = rest.filter(|rest| !rest.is_empty()) else { return };
    let (name, parts) = rest.split_once('.').unwrap_or((rest, ""));
    *found.entry(name.to_owned()).or_default() |= !parts.is_empty();
}

/// Whether a variable is a fact as well, so that `facts.` is the way to it.
fn is_fact(nodes: &[&Node], name: &str) -> bool {
    let facts = nodes.first().map(|node| node.scope.get("facts"));
    matches!(facts, Some(Variable::Known(facts)) if facts.get(name).is_some())
}

/// The usual variables come first.
fn place_in_order(name: &str) -> usize {
    let usual = ["facts", "trusted", "environment", "server_facts"];
    usual.iter().position(|usual| *usual == name).unwrap_or(usual.len())
}
