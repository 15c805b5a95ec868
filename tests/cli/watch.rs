//! `--watch`: a report after each change of a file.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use crate::support::{hiera_ls, scratch};
use crate::{CONFIG, repo};

/// A line is waited for no longer than this.
const PATIENCE: Duration = Duration::from_secs(60);

/// A command that watches a folder. It is ended when dropped.
struct Watching {
    child: Child,
    /// The lines of stdout, and of stderr.
    lines: [Receiver<String>; 2],
}

impl Watching {
    fn start(folder: &Path, args: &[&str]) -> Watching {
        let mut command = hiera_ls(args.iter().chain(&["--watch"]));
        command.current_dir(folder).stdin(Stdio::null());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let stdout: Box<dyn Read + Send> = Box::new(child.stdout.take().unwrap());
        let stderr: Box<dyn Read + Send> = Box::new(child.stderr.take().unwrap());
        Watching { child, lines: [stdout, stderr].map(read_lines) }
    }

    /// Waits for a line of stderr that has `text`: the command waits for changes then, or has seen
    /// one.
    fn wait_for_note(&self, text: &str) {
        while !self.lines[1].recv_timeout(PATIENCE).expect(text).contains(text) {}
    }

    /// Waits for the end of a round, and returns the lines of its report.
    fn next_report(&self) -> Vec<String> {
        self.wait_for_note("watching for changes");
        // The report was written before the note; the thread that reads it may be behind.
        let first = self.lines[0].recv_timeout(PATIENCE).expect("a report");
        let mut report = vec![first];
        while let Ok(line) = self.lines[0].recv_timeout(Duration::from_millis(300)) {
            report.push(line);
        }
        report
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn read_lines(stream: Box<dyn Read + Send>) -> Receiver<String> {
    let (sender, lines) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(stream).lines() {
            if sender.send(line.unwrap()).is_err() {
                break;
            }
        }
    });
    lines
}

#[test]
fn check_runs_again_after_each_change() {
    let root = repo("watch-check", &[CONFIG, ("data/common.yaml", "a: 1\n")]);
    let watching = Watching::start(&root, &["check", "--format", "concise"]);
    assert!(watching.next_report().iter().any(|line| line.contains("nothing found")));
    fs::write(root.join("data/common.yaml"), "a: 1\na: 2\n").unwrap();
    watching.wait_for_note("data/common.yaml has changed");
    let report = watching.next_report();
    assert!(report.iter().any(|line| line.contains("duplicate-key")), "{report:?}");
    // An editor may save by renaming a new file, in a new folder or out of one.
    let beside = scratch("watch-beside").join("new.yaml");
    fs::write(&beside, "b: 1\n").unwrap();
    fs::rename(&beside, root.join("data/common.yaml")).unwrap();
    assert!(watching.next_report().iter().any(|line| line.contains("nothing found")));
    // The command also notices a file in a new folder.
    fs::create_dir(root.join("data/nodes")).unwrap();
    watching.wait_for_note("watching for changes");
    fs::write(root.join("data/nodes/a.yaml"), "a: '%{lookup(\"nope\")}'\n").unwrap();
    watching.wait_for_note("data/nodes/a.yaml has changed");
}

#[test]
fn lookup_runs_again_after_each_change_of_data_and_of_facts() {
    let config = "version: 5\nhierarchy:\n  - {name: N, path: '%{role}.yaml'}\n  - {name: C, path: common.yaml}\n";
    let files = [
        ("hiera.yaml", config),
        ("data/common.yaml", "a: common\n"),
        ("data/web.yaml", "a: web\n"),
    ];
    let root = repo("watch-lookup", &files);
    let facts = repo("watch-facts", &[("n.json", "{\"role\": \"db\"}")]).join("n.json");
    let watching = Watching::start(&root, &["lookup", "a", "--facts", facts.to_str().unwrap()]);
    assert_eq!(watching.next_report(), ["common"]);
    fs::write(root.join("data/common.yaml"), "a: other\n").unwrap();
    assert_eq!(watching.next_report(), ["other"]);
    fs::write(&facts, "{\"role\": \"web\"}").unwrap();
    assert_eq!(watching.next_report(), ["web"]);
    // A round that fails reports the failure, and the next change starts another round.
    fs::write(root.join("hiera.yaml"), "version: 9\n").unwrap();
    watching.wait_for_note("hiera.yaml has changed");
    watching.wait_for_note("watching for changes");
    fs::write(root.join("hiera.yaml"), config).unwrap();
    assert_eq!(watching.next_report(), ["web"]);
}

#[test]
fn a_watch_ends_when_its_reader_has_gone() {
    let root = repo("watch-gone", &[CONFIG, ("data/common.yaml", "a: 1\n")]);
    let mut command = hiera_ls(["lookup", "a", "--watch"]);
    command.current_dir(&root).stdin(Stdio::null());
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let notes = read_lines(Box::new(child.stderr.take().unwrap()));
    assert!(notes.recv_timeout(PATIENCE).unwrap().contains("watching for changes"));
    drop(child.stdout.take());
    fs::write(root.join("data/common.yaml"), "a: 2\n").unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
}
