//! Detects that the client is gone without `exit`: it closed the server's standard output, or its
//! process has ended. On Windows only a failed write shows it.

#[cfg(not(unix))]
use super::session::Session;
#[cfg(unix)]
pub(super) use unix::{watch_input, watch_output, watch_process};

/// Does nothing: there is no way to wait for the end of a pipe.
#[cfg(not(unix))]
pub(super) fn watch_input() -> std::sync::Arc<tokio::sync::Notify> {
    Default::default()
}

/// Does nothing: there is no way to wait for the end of a pipe.
#[cfg(not(unix))]
pub(super) fn watch_output(_: Session) {}

/// Does nothing: there is no safe way to wait for a process.
#[cfg(not(unix))]
pub(super) fn watch_process(_: i64, _: Session) {}

#[cfg(unix)]
mod unix {
    use std::sync::Arc;
    use std::time::Duration;

    use rustix::event::{PollFd, PollFlags, poll};
    use rustix::io::Errno;
    use rustix::process::{Pid, test_kill_process};

    use tokio::sync::Notify;

    use crate::server::transport::session::{End, Session};

    /// How long messages that arrived before the client went away are still read; `exit` may be
    /// among them.
    const GRACE: Duration = Duration::from_millis(100);

    /// How often a process is polled where the system cannot report its end.
    const INTERVAL: Duration = Duration::from_secs(3);

    /// Ends the session when nothing reads standard output any more.
    pub(in super::super) fn watch_output(session: Session) {
        watch("output watch", session, || {
            let closed = wait_for(&std::io::stdout(), PollFlags::empty())?;
            closed
                .intersects(PollFlags::ERR | PollFlags::HUP)
                .then(|| "the client has closed the standard output of the server".to_owned())
        });
    }

    /// Notifies when the client has closed standard input, although messages may be left in it.
    pub(in super::super) fn watch_input() -> Arc<Notify> {
        let closed = Arc::<Notify>::default();
        let watching = closed.clone();
        let builder = std::thread::Builder::new().name("input watch".to_owned());
        let _ = builder.spawn(move || {
            if wait_for(&std::io::stdin(), PollFlags::empty()).is_some() {
                watching.notify_one();
            }
        });
        closed
    }

    /// Ends the session when a process is not there any more, or was never.
    pub(in super::super) fn watch_process(id: i64, session: Session) {
        let Some(process) = i32::try_from(id).ok().filter(|id| *id > 0).and_then(Pid::from_raw)
        else {
            return;
        };
        watch("parent watch", session, move || {
            wait_for_end(process);
            Some(format!("the client's process {id} has ended"))
        });
    }

    /// Runs `wait` on a thread of its own, and ends the session with its result. Without a thread
    /// the end is noticed later, by a failed write or the end of standard input.
    fn watch(name: &str, session: Session, wait: impl FnOnce() -> Option<String> + Send + 'static) {
        let builder = std::thread::Builder::new().name(name.to_owned());
        let _ = builder.spawn(move || {
            if let Some(why) = wait() {
                std::thread::sleep(GRACE);
                session.end_session(End::Lost(why));
            }
        });
    }

    /// Waits for an event of a file; `None` where that cannot be done.
    fn wait_for(file: &impl std::os::fd::AsFd, flags: PollFlags) -> Option<PollFlags> {
        let mut files = [PollFd::new(file, flags)];
        loop {
            match poll(&mut files, None) {
                Ok(_) => return Some(files[0].revents()),
                Err(Errno::INTR) => {}
                Err(_) => return None,
            }
        }
    }

    fn wait_for_end(process: Pid) {
        #[cfg(target_os = "linux")]
        {
            use rustix::process::{PidfdFlags, pidfd_open};
            if let Ok(file) = pidfd_open(process, PidfdFlags::empty())
                && wait_for(&file, PollFlags::IN).is_some()
            {
                return;
            }
        }
        // A process of another user is there, although it cannot be sent a signal.
        while test_kill_process(process) != Err(Errno::SRCH) {
            std::thread::sleep(INTERVAL);
        }
    }
}
