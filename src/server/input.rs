//! Standard input, read by a thread of its own, and whether all that has arrived on it has been taken in.
//!
//! An editor that was held up sends its edits in a heap. Whoever computes from what is known waits for [`Input::settled`] first, lest a
//! round be spent on the first of them while the others are being read.

use std::collections::VecDeque;
use std::future::Future;
use std::io::{self, Read};
use std::pin::Pin;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use tokio::io::{AsyncRead, ReadBuf};
use tokio::sync::Notify;

/// What was read, and how far it is taken in. Copies are the same input.
#[derive(Clone, Default)]
pub(super) struct Input(Arc<Inner>);

#[derive(Default)]
struct Inner {
    arrived: Mutex<Arrived>,
    /// There is room for more bytes.
    room: Condvar,
    /// All that arrived has been taken in.
    settled: Notify,
}

#[derive(Default)]
struct Arrived {
    /// What was read and is not taken.
    bytes: VecDeque<u8>,
    /// Why no more will come, if so: the end, or an error.
    ended: Option<io::Result<()>>,
    /// Who has taken all bytes, and waits for more.
    waits: Option<Waker>,
    /// How many messages were taken of which nothing has been done yet.
    messages: usize,
}

impl Arrived {
    fn is_settled(&self) -> bool {
        self.waits.is_some() && self.messages == 0
    }
}

/// How much is read at a time.
const PIECE: usize = 64 << 10;

/// With so many bytes that are not taken, no more are read.
const ENOUGH: usize = 1 << 20;

/// How long somebody waits for an input that does not settle.
const PATIENCE: Duration = Duration::from_millis(5);

impl Input {
    /// Reads `source` to its end, on a thread of its own: reading it cannot be interrupted.
    pub(super) fn of(source: impl Read + Send + 'static) -> io::Result<Input> {
        let input = Input::default();
        let reading = input.clone();
        std::thread::Builder::new().name("input".to_owned()).spawn(move || reading.read_all(source))?;
        Ok(input)
    }

    fn arrived(&self) -> MutexGuard<'_, Arrived> {
        self.0.arrived.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn read_all(&self, mut source: impl Read) {
        let mut piece = vec![0; PIECE];
        loop {
            let read = source.read(&mut piece);
            let mut arrived = self.arrived();
            match read {
                Ok(0) => arrived.ended = Some(Ok(())),
                Ok(count) => arrived.bytes.extend(&piece[..count]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => arrived.ended = Some(Err(error)),
            }
            if let Some(waits) = arrived.waits.take() {
                waits.wake();
            }
            if arrived.ended.is_some() {
                return;
            }
            while arrived.bytes.len() > ENOUGH {
                arrived = self.0.room.wait(arrived).unwrap_or_else(PoisonError::into_inner);
            }
        }
    }

    /// Waits until all that has arrived is taken in; not for long, for more may come all the time.
    pub(super) async fn settled(&self) {
        let settled = async {
            while !self.arrived().is_settled() {
                self.0.settled.notified().await;
            }
        };
        let _ = tokio::time::timeout(PATIENCE, settled).await;
    }

    /// What is done for a message that was taken. It is taken in once that has been polled: what a message changes is changed then.
    pub(super) fn message<F: Future + Unpin>(&self, work: F) -> Message<F> {
        self.arrived().messages += 1;
        Message { work, not_begun: Some(NotBegun(self.clone())) }
    }

    fn tell_if_settled(&self, arrived: &Arrived) {
        if arrived.is_settled() {
            self.0.settled.notify_one();
        }
    }
}

impl AsyncRead for Input {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let mut arrived = self.arrived();
        if arrived.bytes.is_empty() {
            if let Some(ended) = &mut arrived.ended {
                return Poll::Ready(std::mem::replace(ended, Ok(())));
            }
            arrived.waits = Some(cx.waker().clone());
            self.tell_if_settled(&arrived);
            return Poll::Pending;
        }
        let (front, _) = arrived.bytes.as_slices();
        let count = front.len().min(into.remaining());
        into.put_slice(&front[..count]);
        arrived.bytes.drain(..count);
        if arrived.bytes.is_empty() {
            // What a long text took is not needed for the next keys.
            arrived.bytes.shrink_to(PIECE);
        }
        self.0.room.notify_one();
        Poll::Ready(Ok(()))
    }
}

/// The work for a message, see [`Input::message`].
pub(super) struct Message<F> {
    work: F,
    not_begun: Option<NotBegun>,
}

/// A message of which nothing has been done yet; one that is forgotten counts as taken in, too.
struct NotBegun(Input);

impl Drop for NotBegun {
    fn drop(&mut self) {
        let mut arrived = self.0.arrived();
        arrived.messages -= 1;
        self.0.tell_if_settled(&arrived);
    }
}

impl<F: Future + Unpin> Future for Message<F> {
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
    use std::task::Context;

    use futures_util::FutureExt;
    use tokio::io::AsyncReadExt;

    use super::*;

    /// An input that is given piece by piece, and ends with the sender.
    struct Pieces(Receiver<Vec<u8>>);

    impl Read for Pieces {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            let Ok(piece) = self.0.recv() else { return Ok(0) };
            into[..piece.len()].copy_from_slice(&piece);
            Ok(piece.len())
        }
    }

    fn is_settled(input: &Input) -> bool {
        input.arrived().is_settled()
    }

    #[tokio::test]
    async fn every_byte_comes_in_order_and_then_the_end() {
        let (send, pieces) = channel();
        let mut input = Input::of(Pieces(pieces)).expect("a thread can be started");
        let pieces = (0..100_u32).map(|n| vec![n as u8; 1 + (n as usize * 997) % PIECE]);
        let all: Vec<u8> = pieces.clone().flatten().collect();
        assert!(all.len() > 2 * ENOUGH, "more than is read ahead");
        pieces.for_each(|piece| send.send(piece).expect("it is being read"));
        drop(send);
        let mut read = Vec::new();
        input.read_to_end(&mut read).await.expect("no error was sent");
        assert!(read == all);
    }

    #[tokio::test]
    async fn it_is_settled_when_nothing_waits_to_be_taken_in() {
        let (send, pieces) = channel();
        let mut input = Input::of(Pieces(pieces)).expect("a thread can be started");
        let mut byte = [0];
        assert!(!is_settled(&input), "nobody has looked yet");
        assert!(input.read(&mut byte).now_or_never().is_none());
        assert!(is_settled(&input) && input.settled().now_or_never().is_some(), "then nothing is waited for");
        send.send(vec![1, 2]).expect("it is being read");
        while is_settled(&input) {
            tokio::task::yield_now().await;
        }
        assert_eq!(input.read_u8().await.expect("it came"), 1);
        let mut first = input.message(Box::pin(async { tokio::task::yield_now().await }));
        assert_eq!(input.read_u8().await.expect("it came"), 2);
        let second = input.message(Box::pin(async {}));
        assert!(input.read(&mut byte).now_or_never().is_none());
        assert!(!is_settled(&input), "two messages are not begun");
        assert!(Pin::new(&mut first).poll(&mut Context::from_waker(Waker::noop())).is_pending());
        assert!(!is_settled(&input), "one is not");
        let other = input.clone();
        let waiting = tokio::spawn(async move { other.settled().await });
        tokio::task::yield_now().await;
        drop(second);
        assert!(is_settled(&input), "what has begun may take its time");
        waiting.await.expect("it does not panic");
    }

    #[tokio::test]
    async fn an_input_without_end_is_not_waited_for_without_end() {
        let input = Input::of(io::repeat(7)).expect("a thread can be started");
        input.settled().await;
        assert!(!is_settled(&input));
    }
}
