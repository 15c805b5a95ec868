//! Text that all cores write, in the order of the items that it is about.

use std::collections::BTreeMap;
use std::io::{self, ErrorKind, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use super::core_count;
use crate::hiera::lookup::STACK;

/// The bytes that a thread collects before it passes them on.
const CHUNK: usize = 256 << 10;
/// The bytes that wait for their turn, at most: of the item whose turn it is, and of all others
/// together.
const WAITING: usize = 8 << 20;

/// Calls `work` for each item on all cores, and writes what it writes to `out`, item by item in
/// their order. Each thread calls `begin` first, and passes the result on to `work`. The memory that
/// the text takes is bounded.
///
/// Errors: that of `out`, or else that of the first item with one, after all text before the error.
pub fn write_on_all_cores<T: Sync, S, E: Send + From<io::Error>>(
    items: &[T],
    out: &mut dyn Write,
    begin: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, &T, &mut dyn Write) -> Result<(), E> + Sync,
) -> Result<(), E> {
    write_on_cores(core_count(), items, out, begin, work)
}

fn write_on_cores<T: Sync, S, E: Send + From<io::Error>>(
    cores: usize,
    items: &[T],
    out: &mut dyn Write,
    begin: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, &T, &mut dyn Write) -> Result<(), E> + Sync,
) -> Result<(), E> {
    let in_place = |out: &mut dyn Write| {
        let mut state = begin();
        items.iter().try_for_each(|item| work(&mut state, item, out))
    };
    let cores = cores.min(items.len());
    if cores < 2 {
        return in_place(out);
    }
    let (next, queue) = (AtomicUsize::new(0), OutputQueue::default());
    let take = || {
        let mut state = begin();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(number) else { return };
            let mut writer = ItemWriter { number, queue: &queue, chunk: Vec::new() };
            let done = work(&mut state, item, &mut writer);
            let done = done.and(writer.flush().map_err(E::from));
            if !queue.end_item(number, done) {
                return;
            }
        }
    };
    thread::scope(|scope| {
        // A thread that panics must not leave the others waiting.
        let begun = (0..cores).map(|_| {
            thread::Builder::new().stack_size(STACK).spawn_scoped(scope, || {
                let _guard = StopOnPanic(&queue);
                take();
            })
        });
        if begun.filter(Result::is_ok).count() == 0 {
            return in_place(out);
        }
        let written = queue.write_all(items.len(), out);
        queue.stop();
        written
    })
}

/// The text that waits for its turn.
struct OutputQueue<E> {
    state: Mutex<QueueState<E>>,
    changed: Condvar,
}

struct QueueState<E> {
    /// The item whose text is being written.
    turn: usize,
    waiting: BTreeMap<usize, ItemOutput<E>>,
    /// The bytes of all items that wait.
    bytes: usize,
    /// Whether nothing more is written.
    is_over: bool,
}

struct ItemOutput<E> {
    chunks: Vec<Vec<u8>>,
    bytes: usize,
    /// Whether the item's output is complete, and with which result.
    done: Option<Result<(), E>>,
}

impl<E> Default for OutputQueue<E> {
    fn default() -> OutputQueue<E> {
        let waiting = BTreeMap::new();
        let state = QueueState { turn: 0, waiting, bytes: 0, is_over: false };
        OutputQueue { state: Mutex::new(state), changed: Condvar::new() }
    }
}

impl<E> QueueState<E> {
    fn output_of(&mut self, item: usize) -> &mut ItemOutput<E> {
        self.waiting.entry(item).or_insert_with(|| ItemOutput {
            chunks: Vec::new(),
            bytes: 0,
            done: None,
        })
    }

    /// Whether a thread may pass on more text of an item.
    fn has_room_for(&self, item: usize) -> bool {
        let own = self.waiting.get(&item).map_or(0, |output| output.bytes);
        let taken = if item == self.turn { own } else { self.bytes };
        self.is_over || taken < WAITING
    }
}

impl<E: From<io::Error>> OutputQueue<E> {
    fn lock(&self) -> MutexGuard<'_, QueueState<E>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until something changes.
    fn wait<'q>(&self, state: MutexGuard<'q, QueueState<E>>) -> MutexGuard<'q, QueueState<E>> {
        self.changed.wait(state).unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes text of an item, as soon as there is room for it.
    ///
    /// Errors: nothing more is written.
    fn put_chunk(&self, item: usize, chunk: Vec<u8>) -> io::Result<()> {
        let mut state = self.lock();
        while !state.has_room_for(item) {
            state = self.wait(state);
        }
        if state.is_over {
            return Err(ErrorKind::BrokenPipe.into());
        }
        state.bytes += chunk.len();
        let output = state.output_of(item);
        output.bytes += chunk.len();
        output.chunks.push(chunk);
        self.changed.notify_all();
        Ok(())
    }

    /// Takes the end of an item. Returns whether others are wanted.
    fn end_item(&self, item: usize, result: Result<(), E>) -> bool {
        let mut state = self.lock();
        let is_good = result.is_ok();
        state.output_of(item).done = Some(result);
        self.changed.notify_all();
        is_good && !state.is_over
    }

    fn stop(&self) {
        self.lock().is_over = true;
        self.changed.notify_all();
    }

    /// Writes the text of so many items, in order.
    ///
    /// Errors: that of `out`, or that of an item.
    fn write_all(&self, count: usize, out: &mut dyn Write) -> Result<(), E> {
        let mut state = self.lock();
        while state.turn < count && !state.is_over {
            let turn = state.turn;
            let output = state.output_of(turn);
            let (chunks, bytes) =
                (std::mem::take(&mut output.chunks), std::mem::take(&mut output.bytes));
            if chunks.is_empty() {
                let Some(result) = output.done.take() else {
                    state = self.wait(state);
                    continue;
                };
                result?;
                state.waiting.remove(&turn);
                state.turn += 1;
            } else {
                state.bytes -= bytes;
                drop(state);
                self.changed.notify_all();
                chunks.iter().try_for_each(|chunk| out.write_all(chunk))?;
                state = self.lock();
                continue;
            }
            self.changed.notify_all();
        }
        Ok(())
    }
}

/// Ends the queue where a thread panics: the scope passes the panic on.
struct StopOnPanic<'q, E: From<io::Error>>(&'q OutputQueue<E>);

impl<E: From<io::Error>> Drop for StopOnPanic<'_, E> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.stop();
        }
    }
}

/// Collects the text of an item.
struct ItemWriter<'q, E: From<io::Error>> {
    number: usize,
    queue: &'q OutputQueue<E>,
    chunk: Vec<u8>,
}

impl<E: From<io::Error>> Write for ItemWriter<'_, E> {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        self.chunk.extend_from_slice(text);
        if self.chunk.len() >= CHUNK {
            self.flush()?;
        }
        Ok(text.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.chunk.is_empty() {
            Ok(())
        } else {
            self.queue.put_chunk(self.number, std::mem::take(&mut self.chunk))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes the lines of some items, each of as many bytes as the item says.
    fn write_items(
        items: &[usize],
        out: &mut dyn Write,
        bad: Option<usize>,
    ) -> Result<(), io::Error> {
        let lines = |_: &mut (), item: &usize, out: &mut dyn Write| {
            for _ in 0..item.div_ceil(100) {
                out.write_all(format!("{item:>99}\n").as_bytes())?;
            }
            if Some(*item) == bad { Err(io::Error::other("bad")) } else { Ok(()) }
        };
        write_on_cores(3, items, out, || (), lines)
    }

    fn expected(items: &[usize]) -> String {
        let lines = |item: &usize| format!("{item:>99}\n").repeat(item.div_ceil(100));
        items.iter().map(lines).collect()
    }

    #[test]
    fn the_text_of_items_is_in_their_order_whatever_its_length() {
        for count in [0, 1, 3, 200] {
            let items: Vec<usize> = (0..count).map(|n| (n * 7919) % 300_000).collect();
            let mut out = Vec::new();
            write_items(&items, &mut out, None).expect("nothing fails");
            assert_eq!(String::from_utf8(out).expect("it is ASCII"), expected(&items));
        }
        // One item is longer than all the bytes that may wait for their turn.
        let items = [100, WAITING * 3, 100];
        let mut out = Vec::new();
        write_items(&items, &mut out, None).expect("nothing fails");
        assert!(String::from_utf8(out).expect("it is ASCII") == expected(&items));
    }

    #[test]
    fn the_first_item_with_an_error_ends_the_text() {
        let items: Vec<usize> = (0..100).map(|n| n * 1000).collect();
        let mut out = Vec::new();
        let error = write_items(&items, &mut out, Some(50_000)).expect_err("one item is bad");
        assert_eq!(error.to_string(), "bad");
        assert!(String::from_utf8(out).expect("it is ASCII") == expected(&items[..=50]));
    }

    /// Takes so many bytes, and fails then.
    struct Full(usize);

    impl Write for Full {
        fn write(&mut self, text: &[u8]) -> io::Result<usize> {
            self.0 = self.0.checked_sub(text.len()).ok_or(ErrorKind::StorageFull)?;
            Ok(text.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn no_thread_waits_for_a_disk_that_is_full() {
        let items = vec![WAITING; 20];
        let error =
            write_items(&items, &mut Full(WAITING * 2), None).expect_err("the disk is full");
        assert_eq!(error.kind(), ErrorKind::StorageFull);
    }
}
