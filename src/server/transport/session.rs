//! How a session ends, and the exit status that the process has then.

use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use tokio::sync::Notify;

/// The state of the session's end. Copies are the same session.
#[derive(Clone, Default)]
pub(super) struct Session(Arc<SessionState>);

#[derive(Default)]
struct SessionState {
    end: OnceLock<End>,
    ended: Notify,
    shutdown_requested: AtomicBool,
}

/// Why a session is over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// The client sent `exit`.
    Exit,
    /// Standard input ended between two messages.
    InputEnded,
    /// The client has gone, or its messages cannot be read; the reason, as a message.
    Lost(String),
}

impl Session {
    /// Records that the client sent `shutdown`: any end after that is a clean one.
    pub(super) fn request_shutdown(&self) {
        self.0.shutdown_requested.store(true, Ordering::SeqCst);
    }

    /// Returns whether the client has sent `shutdown`.
    pub(super) fn has_shut_down(&self) -> bool {
        self.0.shutdown_requested.load(Ordering::SeqCst)
    }

    /// Ends the session. The first reason counts.
    pub(super) fn end_session(&self, end: End) {
        let _ = self.0.end.set(end);
        self.0.ended.notify_one();
    }

    /// Returns the reason why the session has ended; `None` while it is running.
    pub(super) fn end_reason(&self) -> Option<End> {
        self.0.end.get().cloned()
    }

    /// Whether the session has ended.
    pub(super) fn has_ended(&self) -> bool {
        self.0.end.get().is_some()
    }

    /// Waits for the end. One task at most may wait.
    pub(super) async fn wait_end(&self) -> End {
        loop {
            if let Some(end) = self.0.end.get() {
                return end.clone();
            }
            self.0.ended.notified().await;
        }
    }

    /// Returns the exit status, and the message for standard error. `exit` without `shutdown` gives
    /// 1, as the protocol demands, and a lost client 2.
    pub(super) fn exit_outcome(&self, end: &End) -> (ExitCode, Option<String>) {
        let was_shut_down = self.0.shutdown_requested.load(Ordering::SeqCst);
        match end {
            _ if was_shut_down => (ExitCode::SUCCESS, None),
            End::InputEnded => (ExitCode::SUCCESS, None),
            End::Exit => (ExitCode::from(1), None),
            End::Lost(why) => (ExitCode::from(2), Some(why.clone())),
        }
    }
}
