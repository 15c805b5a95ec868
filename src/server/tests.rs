//! Handlers by themselves: what a message has changed when the next one begins.

use serde_json::json;
use tower_lsp::lsp_types as lsp;
use tower_lsp::{ClientSocket, LspService};

use super::capabilities::Features;
use super::session::{ServerHandle, Shared};
use super::{RoutedServer, dispatch, handlers};
use crate::server::transport::Outlet;
use crate::settings::{GivenSettings, Origin};

/// Returns a server whose client has these features.
fn server(features: Features) -> (LspService<RoutedServer>, ClientSocket) {
    let shared = Shared::default();
    shared.with(|state| state.features = features.into());
    LspService::new(|client| RoutedServer {
        server: ServerHandle { client, output: Outlet::new_closed(), shared: shared.into() },
        methods: dispatch::methods(),
    })
}

fn all_settings(server: &ServerHandle) -> Vec<GivenSettings> {
    server.shared.with(|state| state.client_settings.all_settings())
}

/// tokio runs the tasks of this test one after the other, so that none of them runs between two
/// messages: settings that wait for a task could change places on more threads.
#[tokio::test]
async fn pushed_settings_are_taken_before_the_next_message_begins() {
    let (service, _socket) = server(Features::default());
    let server = &service.inner().server;
    for severity in ["hint", "warning", "error"] {
        let section = json!({"rules": {"unknown-key": severity}});
        let settings = json!({"hiera": section.clone()});
        let params = lsp::DidChangeConfigurationParams { settings };
        handlers::documents::did_change_configuration(server, params);
        assert_eq!(all_settings(server), [GivenSettings::new(section, Origin::Editor)]);
    }
    assert_eq!(server.shared.disk.asked_count(), 3, "each push is applied by a reading");
}
