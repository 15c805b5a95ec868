//! Ends processes with all that they started, also what left their group and changed its environment:
//! on Linux the kernel hands the children of a process that ended to hiera-ls, once it has said that it
//! takes them.
//!
//! A process that another program starts at a function's request (a service manager, a container
//! engine) is no descendant, and goes on.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Child;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::process::{
    Pid, Signal, WaitOptions, getpid, kill_process, kill_process_group, waitpid,
};

use crate::disk::{processes, processes_with};

/// Whether all children of this process are those that are started here.
static OWNS_CHILDREN: AtomicBool = AtomicBool::new(false);
/// The processes that were started and not ended, by number.
static RUNNING: Mutex<BTreeSet<i32>> = Mutex::new(BTreeSet::new());

/// Declares that this program starts no processes but those of functions: all other children are
/// theirs, and are ended with them.
pub fn own_all_children() {
    #[cfg(target_os = "linux")]
    if rustix::process::set_child_subreaper(Some(getpid())).is_ok() {
        OWNS_CHILDREN.store(true, Ordering::SeqCst);
    }
}

fn running() -> MutexGuard<'static, BTreeSet<i32>> {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Starts a process that [`end`] will end.
pub(super) fn begin(start: impl FnOnce() -> std::io::Result<Child>) -> std::io::Result<Child> {
    let mut running = running();
    let child = start()?;
    running.extend(i32::try_from(child.id()));
    Ok(child)
}

/// Ends a process with its group and all its descendants, and what descends from processes that ended
/// before. `mark` is an environment variable that it was started with, and the variable's value.
pub(super) fn end(child: &mut Child, mark: (&str, &str)) {
    let mut running = running();
    let number = i32::try_from(child.id()).unwrap_or_default();
    // A process that was waited for has no number any more.
    let is_there = matches!(child.try_wait(), Ok(None));
    running.remove(&number);
    if is_there {
        end_tree(|| vec![number]);
    }
    if let Some(group) = Pid::from_raw(number) {
        let _ = kill_process_group(group, Signal::KILL);
    }
    let _ = child.kill();
    let _ = child.wait();
    end_tree(|| processes_with(mark.0, mark.1));
    if OWNS_CHILDREN.load(Ordering::SeqCst) {
        end_orphans(&running);
    }
}

/// Ends the descendants of processes that ended: they are children of this process.
fn end_orphans(running: &BTreeSet<i32>) {
    let own = getpid().as_raw_nonzero().get();
    let orphans = || {
        let all =
            processes().into_iter().filter(|it| it.parent == own && !running.contains(&it.number));
        all.map(|it| it.number).collect::<Vec<i32>>()
    };
    end_tree(orphans);
    loop {
        let orphans = orphans();
        if orphans.is_empty() {
            return;
        }
        // The children of these orphans become orphans when their parents are gone.
        for orphan in orphans.into_iter().filter_map(Pid::from_raw) {
            let _ = kill_process(orphan, Signal::KILL);
            let _ = waitpid(Some(orphan), WaitOptions::empty());
        }
    }
}

/// Ends some processes with their descendants. Each is stopped first, so that it starts no other.
fn end_tree(roots: impl Fn() -> Vec<i32>) {
    let mut stopped = BTreeSet::new();
    loop {
        let found: Vec<i32> =
            with_descendants(roots()).into_iter().filter(|it| !stopped.contains(it)).collect();
        if found.is_empty() {
            break;
        }
        signal(&found, Signal::STOP);
        stopped.extend(found);
    }
    signal(&stopped.into_iter().collect::<Vec<i32>>(), Signal::KILL);
}

fn signal(numbers: &[i32], signal: Signal) {
    for number in numbers.iter().copied().filter_map(Pid::from_raw) {
        let _ = kill_process(number, signal);
    }
}

/// Returns these processes, and those that descend from them as the system now tells it.
fn with_descendants(roots: Vec<i32>) -> BTreeSet<i32> {
    let mut children: BTreeMap<i32, Vec<i32>> = BTreeMap::new();
    for entry in processes() {
        children.entry(entry.parent).or_default().push(entry.number);
    }
    let mut found = BTreeSet::new();
    let mut waiting = roots;
    while let Some(number) = waiting.pop() {
        if found.insert(number) {
            waiting.extend(children.remove(&number).unwrap_or_default());
        }
    }
    found
}
