//! Makes the indexes that rules ask on a thread of their own, where that takes long: the publisher
//! publishes meanwhile the findings that need none.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::diagnostics::prepare;
use crate::server::session::Shared;
use crate::text::CancelToken;
use crate::workspace::Snapshot;

/// The work on the indexes of one snapshot.
pub(super) struct Indexing {
    /// The snapshot, kept as the indexes of later snapshots are patched from its own.
    _snapshot: Snapshot,
    has_ended: Arc<AtomicBool>,
}

impl Indexing {
    /// Begins to make the indexes of a snapshot; wakes the publisher when they are made.
    pub(super) fn start(shared: &Arc<Shared>, snapshot: &Snapshot) -> Indexing {
        let snapshot = snapshot.clone().with_cancel_token(CancelToken::default());
        let has_ended = Arc::new(AtomicBool::new(false));
        let (shared, indexed, ended) = (shared.clone(), snapshot.clone(), has_ended.clone());
        tokio::spawn(async move {
            // After a panic the next round fails in the same way, and tells of it.
            shared.pool.run(false, move || prepare(&indexed)).await;
            ended.store(true, Ordering::Release);
            shared.changed.notify_one();
        });
        Indexing { _snapshot: snapshot, has_ended }
    }

    /// Whether the indexes are made.
    pub(super) fn has_ended(&self) -> bool {
        self.has_ended.load(Ordering::Acquire)
    }
}
