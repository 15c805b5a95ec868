//! Reports on a terminal that long work goes on. Prints nothing where stderr is no terminal.

use std::io::IsTerminal as _;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use super::print_note;
use crate::text::FilePath;

/// How long a command works before its first message; each further pause is twice as long as the
/// one before.
const PATIENCE: Duration = Duration::from_secs(2);

/// Runs `read`, which reads a folder, and reports on standard error that it is still running, where
/// that is a terminal.
pub(super) fn while_reading<T>(root: &FilePath, read: impl FnOnce() -> T) -> T {
    while_working(&format!("reading {root}"), read)
}

/// Runs `work`, and reports on standard error that it is still running, where that is a terminal.
/// `name` is the work in words, such as `comparing nodes`.
pub(super) fn while_working<T>(name: &str, work: impl FnOnce() -> T) -> T {
    if !std::io::stderr().is_terminal() {
        return work();
    }
    report_while(PATIENCE, |since| print_note(&format!("still {name}, for {since} s now")), work)
}

/// Runs `work`, which prints as it goes, and reports as [`while_working`] does. Where standard output
/// is a terminal, too, the printed lines show that work goes on.
pub(super) fn while_printing<T>(name: &str, work: impl FnOnce() -> T) -> T {
    if std::io::stdout().is_terminal() { work() } else { while_working(name, work) }
}

/// Does `work`, and calls `tell` with the seconds since its start after `first`, twice that, and so
/// on until `work` is done. `tell` is never called if no thread can be started.
fn report_while<T>(first: Duration, tell: impl Fn(u64) + Send, work: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let (done, is_done) = channel::<()>();
    std::thread::scope(|scope| {
        let _ = std::thread::Builder::new().spawn_scoped(scope, move || {
            let mut pause = first;
            while is_done.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
                tell(start.elapsed().as_secs());
                pause *= 2;
            }
        });
        // The sender is dropped after the work, also after a panic in the work: then the thread
        // ends.
        let _done = done;
        work()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_work_reports_progress_until_it_is_done() {
        let (tell, told) = channel();
        let tell = move |since: u64| tell.send(since).unwrap_or_default();
        let seen = report_while(Duration::from_millis(1), tell, || {
            (0..3).filter(|_| told.recv_timeout(Duration::from_secs(60)).is_ok()).count()
        });
        assert_eq!(seen, 3);
    }

    #[test]
    fn short_work_is_not() {
        let told = std::sync::atomic::AtomicBool::new(false);
        let tell = |_| told.store(true, std::sync::atomic::Ordering::SeqCst);
        assert_eq!(report_while(Duration::from_secs(600), tell, || 1), 1);
        assert!(!told.into_inner());
    }
}
