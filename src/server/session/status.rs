//! The status that a client has that subscribed to it. Two tasks tell it: with findings, and where
//! the reach of the edits is another one.

use tokio::sync::Mutex;
use tower_lsp::Client;

use super::reach::ReachStore;
use crate::server::to_lsp::status::{Status, StatusNotification};

/// The status that was sent last; `None` before the first one.
#[derive(Default)]
pub(in crate::server) struct ToldStatus(Mutex<Option<Status>>);

impl ToldStatus {
    /// Sends a status, or the last one again, with the reach of the edits that is known by now, unless
    /// the client has it.
    pub(in crate::server) async fn tell(
        &self,
        client: &Client,
        reach: &ReachStore,
        status: Option<Status>,
    ) {
        // The lock is held while a message is sent, so that a later status is sent later.
        let mut told = self.0.lock().await;
        let Some(status) = status.or_else(|| told.clone()) else { return };
        let status = status.with_reach(&reach.known_reach().reach);
        if told.as_ref() != Some(&status) {
            client.send_notification::<StatusNotification>(status.clone()).await;
            *told = Some(status);
        }
    }
}
