//! Each request has one response, in each state of a session.

use serde_json::json;

use super::client::{Server, parameters};
use crate::support::request_methods;

/// The requests of the protocol, with the server's own and one that no server knows.
const METHODS: &[&str] = &[
    "callHierarchy/incomingCalls",
    "callHierarchy/outgoingCalls",
    "codeAction/resolve",
    "codeLens/resolve",
    "completionItem/resolve",
    "documentLink/resolve",
    "hiera/config",
    "hiera/effectiveData",
    "hiera/explain",
    "hiera/hierarchy",
    "hiera/nodes",
    "hiera/override",
    "hiera/overrideTargets",
    "hiera/reach",
    "hiera/selectNode",
    "hiera/status",
    "hiera/unknown",
    "inlayHint/resolve",
    "textDocument/codeAction",
    "textDocument/codeLens",
    "textDocument/completion",
    "textDocument/declaration",
    "textDocument/definition",
    "textDocument/diagnostic",
    "textDocument/documentColor",
    "textDocument/documentHighlight",
    "textDocument/documentLink",
    "textDocument/documentSymbol",
    "textDocument/foldingRange",
    "textDocument/formatting",
    "textDocument/hover",
    "textDocument/implementation",
    "textDocument/inlayHint",
    "textDocument/prepareCallHierarchy",
    "textDocument/prepareRename",
    "textDocument/references",
    "textDocument/rename",
    "textDocument/selectionRange",
    "textDocument/semanticTokens/full",
    "textDocument/semanticTokens/full/delta",
    "textDocument/semanticTokens/range",
    "textDocument/typeDefinition",
    "workspace/diagnostic",
    "workspace/executeCommand",
    "workspace/symbol",
    "workspace/textDocumentContent",
    "workspace/willRenameFiles",
    "workspaceSymbol/resolve",
    "$/unknown",
];

/// Sends all requests; returns how many were answered with a result, and with each error code.
fn ask_all(server: &mut Server, state: &str) -> std::collections::BTreeMap<i64, usize> {
    let params = parameters("file:///nowhere/data/common.yaml", 0, 0);
    for method in METHODS {
        let id = format!("{state} {method}");
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        server.send(&request);
    }
    let mut open: Vec<String> = METHODS.iter().map(|method| format!("{state} {method}")).collect();
    let mut codes = std::collections::BTreeMap::new();
    while !open.is_empty() {
        let message = server.read().unwrap_or_else(|| panic!("no answer to {open:?}"));
        if message.get("method").is_some() {
            continue;
        }
        let number = open.iter().position(|id| message["id"] == *id);
        open.swap_remove(number.unwrap_or_else(|| panic!("a second answer: {message}")));
        *codes.entry(message["error"]["code"].as_i64().unwrap_or_default()).or_default() += 1;
    }
    codes
}

#[test]
fn each_request_has_one_response_in_each_state() {
    let not_initialized =
        std::collections::BTreeMap::from([(-32601, 1), (-32002, METHODS.len() - 1)]);
    for method in request_methods() {
        assert!(METHODS.contains(&method.as_str()), "{method} is missing in the list of this test");
    }
    let mut server = Server::start();
    assert_eq!(ask_all(&mut server, "before initialize"), not_initialized);
    server.introduce(None);
    assert_eq!(ask_all(&mut server, "before initialized"), not_initialized);
    server.send(&json!({"jsonrpc": "2.0", "method": "initialized", "params": {}}));
    let running = ask_all(&mut server, "running");
    assert!(running[&0] >= 15, "{running:?}");
    server.send(&json!({"jsonrpc": "2.0", "id": "s", "method": "shutdown"}));
    server.answers_until("s");
    // tower-lsp does not route unknown methods.
    let after = std::collections::BTreeMap::from([(-32601, 2), (-32600, METHODS.len() - 2)]);
    assert_eq!(ask_all(&mut server, "after shutdown"), after);
}

#[test]
fn a_client_may_end_a_session_before_it_begins() {
    let mut server = Server::start();
    server.introduce(None);
    server.send(&json!({"jsonrpc": "2.0", "id": "s", "method": "shutdown"}));
    server.answers_until("s");
    server.send(&json!({"jsonrpc": "2.0", "method": "exit"}));
    assert_eq!(server.end(), (Some(0), String::new()));
}
