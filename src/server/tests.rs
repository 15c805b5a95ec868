//! Handlers by themselves: what a message has changed when the next one begins.

use futures_util::FutureExt;
use serde_json::{Value, json};
use tower_lsp::lsp_types as lsp;
use tower_lsp::{ClientSocket, LanguageServer, LspService};

use super::features::Features;
use super::{Backend, Shared};
use crate::server::transport::Outlet;
use crate::settings::Origin;

/// Returns a server whose client has these features.
fn server(features: Features) -> (LspService<Backend>, ClientSocket) {
    let shared = Shared::default();
    shared.with(|state| state.features = features);
    LspService::new(|client| Backend {
        client,
        output: Outlet::new_closed(),
        shared: shared.into(),
    })
}

fn given(backend: &Backend) -> Vec<(Value, Origin)> {
    backend.shared.with(|state| state.client_settings.all_settings())
}

/// tokio runs the tasks of this test one after the other, so that none of them runs between two
/// messages: settings that wait for a task could change places on more threads.
#[tokio::test]
async fn pushed_settings_are_taken_before_the_next_message_begins() {
    let (service, _socket) = server(Features::default());
    let backend = service.inner();
    for severity in ["hint", "warning", "error"] {
        let section = json!({"rules": {"unknown-key": severity}});
        let settings = json!({"hiera": section.clone()});
        let params = lsp::DidChangeConfigurationParams { settings };
        let done = backend.did_change_configuration(params).now_or_never();
        assert!(done.is_some(), "the handler awaits nothing");
        assert_eq!(given(backend), [(section, Origin::Editor)]);
    }
    assert_eq!(backend.shared.disk.asked_count(), 3, "each push is applied by a reading");
}
