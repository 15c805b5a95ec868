//! Standard input, read and decoded by a thread of its own, and whether all messages that have
//! arrived have been begun.
//!
//! A client that was held up sends many edits at once. The publisher waits for [`Input::wait_settled`];
//! otherwise it would check after the first edit while the others are being read.

use std::collections::VecDeque;
use std::future::{Future, poll_fn};
use std::io::{self, Read};
use std::pin::Pin;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use tokio::sync::Notify;

use super::codec::Codec;
use super::message::Incoming;

/// The messages of a client. Copies are the same input.
#[derive(Clone, Default)]
pub(in crate::server) struct Input(Arc<InputState>);

#[derive(Default)]
struct InputState {
    queue: Mutex<Queue>,
    /// There is room for more messages.
    room: Condvar,
    /// All messages that arrived have been begun.
    settled: Notify,
    /// No more messages will come.
    ended: Notify,
}

#[derive(Default)]
struct Queue {
    messages: VecDeque<(Incoming, usize)>,
    /// The bytes that `messages` took in the input.
    bytes: usize,
    /// Whether bytes that arrived are being decoded.
    is_decoding: bool,
    /// The reason why the input has ended; `Err` with a message for an end that is an error.
    end: Option<Result<(), String>>,
    /// The task that has taken all messages, and waits for more.
    waiting: Option<Waker>,
    /// Messages that were taken, and whose work was not polled yet.
    not_begun: usize,
}

impl Queue {
    fn is_settled(&self) -> bool {
        self.waiting.is_some() && !self.is_decoding && self.not_begun == 0
    }
}

/// How many bytes are read at a time.
const CHUNK: usize = 64 << 10;

/// With messages of so many bytes in the queue, no more are read.
const QUEUE_LIMIT: usize = 1 << 20;

/// How long [`Input::wait_settled`] waits for an input that does not settle.
const SETTLE_TIMEOUT: Duration = Duration::from_millis(5);

impl Input {
    /// Reads `source` to its end, on a thread of its own: reading it cannot be interrupted.
    pub(in crate::server) fn read_from(source: impl Read + Send + 'static) -> io::Result<Input> {
        let input = Input::default();
        let reader = input.clone();
        std::thread::Builder::new()
            .name("input".to_owned())
            .spawn(move || reader.read_all(source, Codec::default()))?;
        Ok(input)
    }

    fn lock_queue(&self) -> MutexGuard<'_, Queue> {
        self.0.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn read_all(&self, mut source: impl Read, mut codec: Codec) {
        let mut chunk = vec![0; CHUNK];
        loop {
            let end = match source.read(&mut chunk) {
                Ok(0) => codec.unfinished_reason().map_or(Ok(()), |why| Err(why.to_owned())),
                Ok(count) => {
                    self.decode(&mut codec, &chunk[..count]);
                    if codec.is_lost() {
                        Err("no message can be found in standard input".to_owned())
                    } else {
                        continue;
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => Err(format!("standard input cannot be read: {error}")),
            };
            let mut queue = self.lock_queue();
            queue.end = Some(end);
            wake(queue);
            self.0.ended.notify_waiters();
            return;
        }
    }

    /// Puts the messages that bytes complete into the queue, and waits for room in it.
    fn decode(&self, codec: &mut Codec, bytes: &[u8]) {
        self.lock_queue().is_decoding = true;
        codec.feed(bytes);
        let mut decoded: VecDeque<_> = std::iter::from_fn(|| codec.next()).collect();
        // A message that is longer than `bytes` came in several reads, whose bytes were taken as
        // they came.
        let each = bytes.len().div_ceil(decoded.len().max(1));
        let mut queue = self.lock_queue();
        queue.is_decoding = false;
        queue.bytes += each * decoded.len();
        queue.messages.extend(decoded.drain(..).map(|message| (message, each)));
        let mut queue = if queue.messages.is_empty() {
            self.notify_if_settled(&queue);
            return;
        } else {
            wake(queue);
            self.lock_queue()
        };
        while queue.bytes > QUEUE_LIMIT {
            queue = self.0.room.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Returns the next message; `None` at the end.
    pub(super) async fn next(&self) -> Option<Incoming> {
        poll_fn(|cx| self.poll_next(cx)).await
    }

    fn poll_next(&self, cx: &mut Context<'_>) -> Poll<Option<Incoming>> {
        let mut queue = self.lock_queue();
        let Some((message, bytes)) = queue.messages.pop_front() else {
            if queue.end.is_some() {
                return Poll::Ready(None);
            }
            queue.waiting = Some(cx.waker().clone());
            self.notify_if_settled(&queue);
            return Poll::Pending;
        };
        queue.bytes -= bytes;
        self.0.room.notify_one();
        Poll::Ready(Some(message))
    }

    /// Returns how the input has ended: `Ok` between two messages, else `Err` with a message.
    pub(super) fn end_reason(&self) -> Result<(), String> {
        self.lock_queue().end.clone().unwrap_or(Ok(()))
    }

    /// Waits until no more messages will come.
    pub(in crate::server) async fn wait_end(&self) {
        // The queue shows the end of an input that ended before `ended` was created.
        let ended = self.0.ended.notified();
        if self.lock_queue().end.is_none() {
            ended.await;
        }
    }

    /// Waits until all messages that have arrived are begun, but for [`SETTLE_TIMEOUT`] at most:
    /// more may come all the time.
    pub(in crate::server) async fn wait_settled(&self) {
        let settled = async {
            while !self.lock_queue().is_settled() {
                self.0.settled.notified().await;
            }
        };
        let _ = tokio::time::timeout(SETTLE_TIMEOUT, settled).await;
    }

    /// Wraps the work for a message that was taken. The message counts as begun when the work is
    /// polled or dropped: its changes happen in the first poll.
    pub(super) fn wrap_work<F: Future + Unpin>(&self, work: F) -> Work<F> {
        self.lock_queue().not_begun += 1;
        Work { work, not_begun: Some(NotBegun(self.clone())) }
    }

    fn notify_if_settled(&self, queue: &Queue) {
        if queue.is_settled() {
            self.0.settled.notify_one();
        }
    }
}

/// Wakes the task that waits for messages.
fn wake(mut queue: MutexGuard<'_, Queue>) {
    let waiting = queue.waiting.take();
    drop(queue);
    if let Some(waiting) = waiting {
        waiting.wake();
    }
}

/// The work for a message, see [`Input::wrap_work`].
pub(super) struct Work<F> {
    work: F,
    not_begun: Option<NotBegun>,
}

/// Counts a message that was not begun.
struct NotBegun(Input);

impl Drop for NotBegun {
    fn drop(&mut self) {
        let mut queue = self.0.lock_queue();
        queue.not_begun -= 1;
        self.0.notify_if_settled(&queue);
    }
}

impl<F: Future + Unpin> Future for Work<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let polled = Pin::new(&mut self.work).poll(cx);
        self.not_begun = None;
        polled
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, channel};

    use futures_util::FutureExt;

    use super::*;

    /// An input that arrives piece by piece, and ends with the sender.
    struct Pieces(Receiver<Vec<u8>>);

    impl Read for Pieces {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            let Ok(piece) = self.0.recv() else { return Ok(0) };
            into[..piece.len()].copy_from_slice(&piece);
            Ok(piece.len())
        }
    }

    fn notification(method: &str) -> Vec<u8> {
        let body = format!(r#"{{"jsonrpc":"2.0","method":"{method}"}}"#);
        format!("Content-Length: {}\r\n\r\n{body}", body.len()).into_bytes()
    }

    fn method(message: Incoming) -> String {
        match message {
            Incoming::Request(request) => request.method().to_owned(),
            other => panic!("no request: {other:?}"),
        }
    }

    fn is_settled(input: &Input) -> bool {
        input.lock_queue().is_settled()
    }

    #[tokio::test]
    async fn messages_arrive_in_order_and_then_the_end() {
        let (send, pieces) = channel();
        let input = Input::read_from(Pieces(pieces)).expect("a thread can be started");
        let names: Vec<String> =
            (0..300).map(|n: usize| format!("{n}{}", "x".repeat(n * 997 % 20_000))).collect();
        assert!(names.iter().map(String::len).sum::<usize>() > 2 * QUEUE_LIMIT);
        for name in &names {
            for piece in notification(name).chunks(7_000) {
                send.send(piece.to_vec()).expect("it is being read");
            }
        }
        drop(send);
        for name in names {
            assert_eq!(input.next().await.map(method), Some(name));
        }
        assert!(input.next().await.is_none() && input.end_reason().is_ok());
    }

    #[tokio::test]
    async fn settled_when_all_messages_are_begun() {
        let (send, pieces) = channel();
        let input = Input::read_from(Pieces(pieces)).expect("a thread can be started");
        assert!(!is_settled(&input), "no task has asked for messages yet");
        assert!(input.next().now_or_never().is_none());
        assert!(is_settled(&input) && input.wait_settled().now_or_never().is_some());
        send.send([notification("a"), notification("b")].concat()).expect("it is being read");
        while is_settled(&input) {
            tokio::task::yield_now().await;
        }
        assert_eq!(input.next().await.map(method).as_deref(), Some("a"));
        let mut first = input.wrap_work(Box::pin(async { tokio::task::yield_now().await }));
        assert_eq!(input.next().await.map(method).as_deref(), Some("b"));
        let second = input.wrap_work(Box::pin(async {}));
        assert!(input.next().now_or_never().is_none());
        assert!(!is_settled(&input), "two messages are not begun");
        assert!(Pin::new(&mut first).poll(&mut Context::from_waker(Waker::noop())).is_pending());
        assert!(!is_settled(&input), "one is not begun");
        let other = input.clone();
        let waiting = tokio::spawn(async move { other.wait_settled().await });
        tokio::task::yield_now().await;
        drop(second);
        assert!(is_settled(&input), "work that has begun may take its time");
        waiting.await.expect("it does not panic");
    }

    #[tokio::test]
    async fn settled_does_not_wait_for_ever() {
        let (send, pieces) = channel();
        let input = Input::read_from(Pieces(pieces)).expect("a thread can be started");
        input.wait_settled().await;
        assert!(!is_settled(&input));
        drop(send);
    }
}
