//! The server's own requests about nodes: which nodes see a file, and for which node values are
//! shown.

use serde::{Deserialize, Serialize};
use tower_lsp::jsonrpc::{Error, Result};
use tower_lsp::lsp_types as lsp;

use super::Answer;
use crate::hiera::Scope;
use crate::server::from_lsp;
use crate::server::session::{ClientView, ServerHandle, ask_for_views};
use crate::workspace::{Change, Snapshot};

/// `hiera/nodes`: the file asked about, or none for all nodes.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::server) struct NodesParams {
    text_document: Option<lsp::TextDocumentIdentifier>,
}

/// The answer to `hiera/nodes`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::server) struct NodesAnswer {
    /// The node that was chosen, if one was.
    selected: Option<String>,
    /// The nodes that see the file, or all.
    nodes: Vec<NodeItem>,
    /// Where no nodes are known, the kinds of nodes that may read the file, or all.
    kinds: Vec<NodeItem>,
    /// How many nodes are known.
    known: usize,
    /// The variables that the file's own path determines.
    inferred: serde_json::Map<String, serde_json::Value>,
}

/// A node.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::server) struct NodeItem {
    name: String,
    /// The file that the node's facts come from; for a kind of nodes, the `hiera.yaml`.
    source: String,
}

/// `hiera/selectNode`: the certname, or `null` to show inferred values again.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::server) struct SelectNodeParams {
    name: Option<String>,
}

/// The answer to `hiera/selectNode`: the current choice.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::server) struct SelectNodeAnswer {
    selected: Option<String>,
}

/// Returns the nodes that read a file. The answer is about no place in a text, so a later text will
/// do.
pub(in crate::server) fn nodes(
    snapshot: &Snapshot,
    _: &ClientView,
    params: &NodesParams,
) -> Answer<NodesAnswer> {
    let document = params.text_document.as_ref();
    let path = document.and_then(|document| from_lsp::path_of_uri(&document.uri));
    let environment =
        path.as_ref().and_then(|path| snapshot.environments().governing_environments(path).next());
    let nodes = match (&path, environment) {
        (Some(path), Some(environment)) => snapshot.nodes_reading(environment, path),
        (Some(_), None) => Vec::new(),
        (None, _) => snapshot.distinct_nodes().iter().collect(),
    };
    let kinds: Vec<_> = match (&path, environment) {
        (Some(path), Some(environment)) => {
            let all = snapshot.kinds_of(environment).all.iter();
            all.filter(|kind| snapshot.may_read(environment, &kind.scope, path)).collect()
        }
        (Some(_), None) => Vec::new(),
        (None, _) => snapshot.distinct_kinds(),
    };
    let inferred = path
        .as_ref()
        .zip(environment)
        .map(|(path, environment)| variables_json(&snapshot.inferred_scope(environment, path)));
    Ok(Some(NodesAnswer {
        selected: selected_name(snapshot),
        nodes: nodes.into_iter().map(node_item).collect(),
        kinds: kinds.into_iter().map(node_item).collect(),
        known: snapshot.distinct_nodes().len(),
        inferred: inferred.unwrap_or_default(),
    }))
}

fn node_item(node: &std::sync::Arc<crate::workspace::nodes::Node>) -> NodeItem {
    NodeItem { name: node.name.to_string(), source: node.source.to_string() }
}

/// Chooses the node whose values are shown.
pub(in crate::server) async fn select_node(
    server: ServerHandle,
    params: SelectNodeParams,
) -> Result<SelectNodeAnswer> {
    let shared = &server.shared;
    shared.await_scans().await;
    let snapshot = shared.with(|state| state.workspace.snapshot());
    if let Some(name) = params.name.as_deref().filter(|name| snapshot.find_node(name).is_none()) {
        return Err(Error::invalid_params(format!("no facts are known of the node '{name}'")));
    }
    server.apply_change(Change::SelectNode(params.name));
    ask_for_views(&server.client, shared);
    let snapshot = shared.with(|state| state.workspace.snapshot());
    Ok(SelectNodeAnswer { selected: selected_name(&snapshot) })
}

fn selected_name(snapshot: &Snapshot) -> Option<String> {
    snapshot.chosen_node().map(|node| node.name.to_string())
}

fn variables_json(scope: &Scope) -> serde_json::Map<String, serde_json::Value> {
    scope
        .known_variables()
        .map(|(name, value)| {
            (name.to_owned(), {
                let text = crate::puppet::print::print_json(
                    value,
                    &crate::puppet::print::PrintOptions::default(),
                );
                serde_json::from_str(&text).unwrap_or_default()
            })
        })
        .collect()
}
