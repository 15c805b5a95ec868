//! Standard output, written by a thread of its own: a client that does not read holds back no
//! message that arrives.

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use serde::Serialize;
use tokio::sync::{mpsc, oneshot};

use super::session::{End, Session};

/// How many messages may wait to be written.
const QUEUE: usize = 64;

/// Up to how many bytes of waiting messages are written at once.
const CHUNK: usize = 64 << 10;

/// How long a client that has ended its input may read nothing.
const STALL: Duration = Duration::from_secs(10);

/// How far the writing has come. Copies are the same progress.
#[derive(Clone, Default)]
pub(super) struct Progress(Arc<Written>);

#[derive(Default)]
struct Written {
    /// How often something was written.
    writes: AtomicU64,
    /// Whether something is being written.
    is_writing: AtomicBool,
}

impl Progress {
    /// Waits until the client has read nothing of waiting messages for [`STALL`].
    pub(super) async fn wait_stall(&self) {
        loop {
            let before = self.0.writes.load(Ordering::SeqCst);
            tokio::time::sleep(STALL).await;
            let is_writing = self.0.is_writing.load(Ordering::SeqCst);
            if is_writing && self.0.writes.load(Ordering::SeqCst) == before {
                return;
            }
        }
    }
}

/// Where messages to the client go. Copies are the same output.
#[derive(Clone)]
pub(super) struct Output(mpsc::Sender<Vec<u8>>);

impl Output {
    /// Writes to `sink`, on a thread of its own. A failure ends the session. The receiver is
    /// dropped by its sender when all messages are written, and no copy of the output is left.
    pub(super) fn write_to(
        sink: impl Write + Send + 'static,
        session: Session,
        progress: Progress,
    ) -> io::Result<(Output, oneshot::Receiver<()>)> {
        let (sender, messages) = mpsc::channel(QUEUE);
        let (written, when_written) = oneshot::channel();
        std::thread::Builder::new().name("output".to_owned()).spawn(move || {
            if let Err(error) = write_all(sink, messages, &progress) {
                session
                    .end_session(End::Lost(format!("standard output cannot be written: {error}")));
            }
            drop(written);
        })?;
        Ok((Output(sender), when_written))
    }

    /// Returns a weak handle of the output, for other tasks.
    pub(super) fn downgrade(&self) -> Outlet {
        Outlet(self.0.downgrade())
    }

    /// Sends a message; it is lost where the session has ended.
    pub(super) async fn send(&self, message: &impl Serialize) {
        if let Ok(body) = serde_json::to_vec(message) {
            self.send_json(&body).await;
        }
    }

    /// Sends a message that is JSON already.
    pub(super) async fn send_json(&self, body: &[u8]) {
        let mut frame = format!("Content-Length: {}\r\n\r\n", body.len()).into_bytes();
        frame.extend_from_slice(body);
        let _ = self.0.send(frame).await;
    }
}

/// The output for tasks that live on when the session ends: the outlet does not keep the output
/// open.
#[derive(Clone)]
pub(in crate::server) struct Outlet(mpsc::WeakSender<Vec<u8>>);

impl Outlet {
    /// Returns an output of a session that has ended.
    #[cfg(test)]
    pub(in crate::server) fn new_closed() -> Outlet {
        Outlet(mpsc::channel(1).0.downgrade())
    }

    /// Sends a message that is JSON already; it is lost where the session has ended.
    pub(in crate::server) async fn send_json(&self, body: &[u8]) {
        if let Some(sender) = self.0.upgrade() {
            Output(sender).send_json(body).await;
        }
    }
}

fn write_all(
    mut sink: impl Write,
    mut messages: mpsc::Receiver<Vec<u8>>,
    progress: &Progress,
) -> io::Result<()> {
    while let Some(mut bytes) = messages.blocking_recv() {
        while bytes.len() < CHUNK
            && let Ok(more) = messages.try_recv()
        {
            bytes.extend_from_slice(&more);
        }
        progress.0.is_writing.store(true, Ordering::SeqCst);
        for chunk in bytes.chunks(CHUNK) {
            sink.write_all(chunk)?;
            progress.0.writes.fetch_add(1, Ordering::SeqCst);
        }
        sink.flush()?;
        progress.0.is_writing.store(false, Ordering::SeqCst);
    }
    Ok(())
}
