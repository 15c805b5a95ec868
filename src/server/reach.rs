//! The task that finds the reach of the texts that the client holds: in the background, in the
//! first pause after a change, cancelled by the next one. Where the reach is another one than before,
//! the client is asked to request its lenses again, and has a new status.

use std::time::Duration;

use tower_lsp::lsp_types as lsp;

use super::session::{ServerHandle, ask_for_lenses};
use crate::ide::reach::Reach;

/// The search begins this long after the findings of the last change. VS Code requests lenses 250 ms
/// after a keystroke.
const PAUSE: Duration = Duration::from_millis(150);

/// Finds the reach after each change, until the server ends.
pub(in crate::server) async fn run(ServerHandle { client, shared, .. }: ServerHandle) {
    let mut told: Option<String> = None;
    loop {
        // The search uses all cores: the findings of the next keystroke would wait for it.
        shared.reach.due.wait_pause(PAUSE).await;
        let (snapshot, is_shown) = shared.with(|state| {
            let snapshot = state.workspace.snapshot();
            let is_ready = state.is_configured && snapshot.complete;
            let cancel = state.workspace.until_next_revision();
            let snapshot = is_ready.then(|| snapshot.with_cancel_token(cancel));
            (snapshot, state.settings.lenses.reach)
        });
        let Some(snapshot) = snapshot else { continue };
        let revision = snapshot.revision;
        let finding = shared.clone();
        let found = match shared
            .pool
            .run(false, move || {
                if !is_shown {
                    return Ok(Some(Reach::default()));
                }
                finding.find_reach(snapshot)
            })
            .await
        {
            // The search was cancelled: a newer change is on its way.
            Some(Ok(None)) => continue,
            Some(Ok(Some(reach))) => {
                told = None;
                reach
            }
            Some(Err(error)) => {
                let message = format!("edits are not compared with `reach.base`: {error}");
                if told.as_ref() != Some(&message) {
                    client.log_message(lsp::MessageType::WARNING, &message).await;
                    told = Some(message);
                }
                Reach::default()
            }
            None => {
                let message = "comparing edits failed; this is a defect of hiera-ls";
                client.log_message(lsp::MessageType::ERROR, message).await;
                Reach::default()
            }
        };
        tracing::debug!(revision, "reach of the edits");
        if shared.reach.put_reach(found, revision) {
            ask_for_lenses(&client, &shared);
            shared.status.tell(&client, &shared.reach, None).await;
        }
    }
}
