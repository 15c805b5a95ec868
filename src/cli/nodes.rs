//! `hiera-ls nodes`: the nodes that are known, and where each of their variables comes from.

use std::collections::BTreeSet;
use std::io::Write;

use serde_json::{Map, Value as Json, json};

use super::{ArgumentSettings, Failure, NodesArguments, Opened, Status, open, print_note};
use crate::hiera::scope::Variable;
use crate::puppet::print::{self, PrintOptions};
use crate::text::escape::escape_terminal;
use crate::text::{FilePath, column_width};
use crate::workspace::environments::Environment;
use crate::workspace::nodes::{Node, VariableSource};

pub(super) fn run(arguments: &NodesArguments, out: &mut dyn Write) -> Result<Status, Failure> {
    let opened = open(&arguments.root, None, ArgumentSettings::new(), None)?;
    opened.note_settings();
    for (path, plugin) in opened.snapshot.unread_plugins() {
        let path = relative_path(path, &opened.root);
        print_note(&format!("{path}: the values of the plugin {plugin} are unknown"));
    }
    let mut found = false;
    for environment in opened.environments()? {
        let kinds = opened.snapshot.kinds_of(environment);
        let all = opened.snapshot.nodes_of(environment).iter().chain(&kinds.all);
        let nodes: Vec<&Node> = all
            .map(|node| &**node)
            .filter(|node| arguments.name.as_deref().is_none_or(|name| *node.name == *name))
            .collect();
        found |= !nodes.is_empty();
        match (arguments.json, arguments.name.is_some()) {
            (true, _) => write_json(&opened, environment, &nodes, out)?,
            (false, true) => write_variables(&opened, environment, &nodes, out)?,
            (false, false) => write_names(&opened, environment, &nodes, out)?,
        }
    }
    match &arguments.name {
        Some(name) if !found => Err(Failure(format!(
            "no node '{name}' is known; `hiera-ls nodes` lists those that are"
        ))),
        _ => Ok(Status::Good),
    }
}

/// Writes the nodes with the files that they come from, and a line of their sources.
fn write_names(
    opened: &Opened,
    environment: &Environment,
    nodes: &[&Node],
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let named = nodes.iter().filter(|node| !node.is_kind());
    let width = column_width(named.map(|node| &*node.name));
    for node in nodes {
        let source = relative_path(&node.source, &opened.root);
        let name = escape_terminal(&node.name);
        if node.is_kind() {
            writeln!(out, "{name}")?;
        } else {
            writeln!(out, "{name:width$}  {}", escape_terminal(source))?;
        }
    }
    for (variable, count) in &opened.snapshot.kinds_of(environment).open {
        let variable = escape_terminal(variable);
        writeln!(
            out,
            "# {variable} stays open: it has {count} values, and kinds of nodes with it would be too many"
        )?;
    }
    let overviews = opened.snapshot.overviews();
    if let Some(overview) = overviews.iter().find(|overview| overview.root == environment.root) {
        writeln!(out, "{}", escape_terminal(&overview.status_line(&opened.root)))?;
    }
    Ok(())
}

/// Writes the variables of a node, each with its source.
fn write_variables(
    opened: &Opened,
    environment: &Environment,
    nodes: &[&Node],
    out: &mut dyn Write,
) -> Result<(), Failure> {
    for node in nodes {
        let source = relative_path(&node.source, &opened.root);
        let of_environment = environment;
        let (name, environment) = (escape_terminal(&node.name), escape_terminal(&environment.name));
        if node.is_kind() {
            writeln!(out, "nodes with {name} in {environment}")?;
        } else {
            writeln!(out, "{name} in {environment}, from {}", escape_terminal(source))?;
        }
        for (name, value, source) in by_importance(node, of_environment, &opened.root) {
            let text = print::print_inline(
                &value,
                &PrintOptions { mask_encrypted: true, ..PrintOptions::default() },
            );
            let source = source.map_or_else(String::new, |source| format!("  # {source}"));
            writeln!(
                out,
                "  {}: {}{}",
                escape_terminal(&name),
                escape_terminal(&text),
                escape_terminal(&source)
            )?;
        }
        if let Some((classes, file)) = node.classifier_classes() {
            let text = print::print_inline(classes, &PrintOptions::default());
            let file = relative_path(file, &opened.root);
            writeln!(out, "  # classes: {}, in {}", escape_terminal(&text), escape_terminal(file))?;
        }
        if node.scope.open {
            writeln!(out, "  # other variables are unknown")?;
        }
    }
    Ok(())
}

/// Returns the variables of a node with their sources: those that decide which files it reads first,
/// and those that are another spelling or a part of its name last.
fn by_importance(
    node: &Node,
    environment: &Environment,
    root: &FilePath,
) -> Vec<(String, crate::puppet::Value, Option<String>)> {
    let used: BTreeSet<&str> = environment
        .reach
        .iter()
        .flat_map(|reach| reach.pattern.variables())
        .map(String::as_str)
        .collect();
    let mut all = sourced_variables(node, root);
    all.sort_by_key(|(name, _, _)| match node.source_of(name) {
        _ if used.contains(name.as_str()) => 0,
        Some(VariableSource::Name) => 2,
        _ => 1,
    });
    all
}

/// Returns the variables of a node with their sources: for a node with unknown variables, the known
/// ones by their dotted names; for others, the variables of the top scope.
fn sourced_variables(
    node: &Node,
    root: &FilePath,
) -> Vec<(String, crate::puppet::Value, Option<String>)> {
    if !node.scope.open {
        let all = node.scope.known_variables();
        return all
            .map(|(name, value)| (name.to_owned(), value.clone(), source_text(name, node, root)))
            .collect();
    }
    node.told
        .iter()
        .filter_map(|(name, _)| match node.scope.get_path(name) {
            Variable::Known(value) => {
                Some((name.to_string(), value, source_text(name, node, root)))
            }
            _ => None,
        })
        .collect()
}

fn source_text(name: &str, node: &Node, root: &FilePath) -> Option<String> {
    node.source_of(name).map(|source| source.source_phrase(root))
}

/// One line of JSON for each node.
fn write_json(
    opened: &Opened,
    environment: &Environment,
    nodes: &[&Node],
    out: &mut dyn Write,
) -> Result<(), Failure> {
    for node in nodes {
        let own = sourced_variables(node, &opened.root);
        let values: Map<String, Json> = own
            .iter()
            .map(|(name, one, _)| {
                (name.clone(), {
                    let options = PrintOptions { mask_encrypted: true, ..PrintOptions::default() };
                    serde_json::from_str::<Json>(&print::print_json(one, &options))
                        .unwrap_or_default()
                })
            })
            .collect();
        let sources: Map<String, Json> = own
            .iter()
            .filter_map(|(name, _, source)| Some((name.clone(), source.as_deref()?.into())))
            .collect();
        if node.is_kind() {
            let (kind, root) = (&*node.name, environment.root.as_str());
            let environment = &environment.name;
            let line = json!({
                "kind": kind, "environment": environment, "root": root, "variables": values, "from": sources,
            });
            writeln!(out, "{line}")?;
            continue;
        }
        let line = json!({
            "name": &*node.name,
            "environment": environment.name,
            "root": environment.root.as_str(),
            "source": node.source.as_str(),
            "inferred": node.scope.open,
            "variables": values,
            "from": sources,
        });
        writeln!(out, "{line}")?;
    }
    Ok(())
}

fn relative_path<'a>(path: &'a FilePath, root: &FilePath) -> &'a str {
    path.relative_to(root).unwrap_or(path.as_str())
}
