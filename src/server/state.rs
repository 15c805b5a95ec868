//! The server's state between messages. Locked for moments only, never across an `await`.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::Value;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore, watch};
use tower_lsp::lsp_types as lsp;

use super::evaluator::Evaluator;
use super::pulled::Pulled;
use super::requests::{Announced, LastTokens};
use super::transport::{Input, Workers};
use crate::hiera::lookup::STACK;
use crate::ide::document_symbols::FileSymbols;
use crate::settings::{self, SettingProblem, Settings};
use crate::text::CancelToken;
use crate::text::{Encoding, FilePath};
use crate::workspace::fs::OsFs;
use crate::workspace::parallel::cores;
use crate::workspace::{Change, Workspace, WorkspaceConfig, scan};

/// The state that the handlers and the two background tasks share.
#[derive(Default)]
pub(super) struct Shared {
    state: Mutex<State>,
    /// Something changed that findings depend on.
    pub(super) changed: Notify,
    /// Something may have changed on disk, or the settings did.
    pub(super) disk: Readings,
    /// The findings, for a client that asks for them.
    pub(super) pulled: Pulled,
    /// Functions of levels that run at the user's request.
    pub(super) evaluator: Evaluator,
    /// Where messages come from.
    pub(super) input: Input,
    /// How long answers to requests take.
    pub(super) pace: Pace,
    /// Where answers are computed that take longer.
    pub(super) slots: Slots,
}

/// Threads for answers: as many as there are cores, and at least two. More would wait for a core,
/// each with memory of its own.
pub(super) struct Slots {
    /// For answers that a request waits for.
    free: Arc<Semaphore>,
    /// For cancelled work that has not stopped yet: it stops at its next step, and some steps are
    /// long.
    leaving: Arc<Semaphore>,
    workers: Workers,
}

impl Default for Slots {
    fn default() -> Slots {
        Slots::of(Workers::new(Slots::threads(), STACK))
    }
}

/// The slot that a running piece of work holds, of one kind or the other.
type Place = Arc<Mutex<OwnedSemaphorePermit>>;

/// Moves cancelled work from the slots for answers to those for leaving work, where there is room.
struct Waiting {
    place: Place,
    leaving: Arc<Semaphore>,
}

impl Drop for Waiting {
    fn drop(&mut self) {
        if Arc::strong_count(&self.place) > 1
            && let Ok(leaving) = self.leaving.clone().try_acquire_owned()
        {
            *self.place.lock().unwrap_or_else(PoisonError::into_inner) = leaving;
        }
    }
}

impl Slots {
    /// Slots for answers that these threads compute.
    fn of(workers: Workers) -> Slots {
        let slots = || Arc::new(Semaphore::new(Slots::number()));
        Slots { free: slots(), leaving: slots(), workers }
    }

    /// Returns the threads, for work other than answers.
    pub(super) fn workers(&self) -> &Workers {
        &self.workers
    }

    /// How many there are.
    fn number() -> usize {
        cores().max(2)
    }

    /// How many threads they may take.
    pub(super) fn threads() -> usize {
        Slots::number() * 2
    }

    /// Runs `work` on a thread as soon as one is free; `None` when it panicked. When the request is
    /// cancelled, the slot becomes free for others, but the thread stays taken until the work is
    /// done. The number of such threads is limited, or they would take the threads that read and
    /// write; cancelled work beyond the limit keeps its slot.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Option<T> {
        let slot = self.free.clone().acquire_owned().await.ok()?;
        let place: Place = Arc::new(Mutex::new(slot));
        let waiting = Waiting { place: place.clone(), leaving: self.leaving.clone() };
        let work = move || {
            let _place = place;
            work()
        };
        let done = self.workers.run(work).await;
        drop(waiting);
        done
    }
}

/// How long work of one kind takes. After some pieces in a row that were short the next one gets no
/// thread of its own: to wake one takes as long as most pieces do. After one that was not, the next
/// ones do.
#[derive(Debug, Default)]
pub(super) struct Pace {
    short_in_a_row: AtomicU32,
}

impl Pace {
    /// Work that is shorter is worth no thread of its own.
    const SHORT: Duration = Duration::from_millis(1);
    /// How many short pieces make the next one likely to be short.
    const SOME: u32 = 4;

    /// Whether the last pieces were short.
    pub(super) fn is_quick(&self) -> bool {
        self.short_in_a_row.load(Ordering::Relaxed) >= Pace::SOME
    }

    /// Does a piece of work.
    pub(super) fn timed<T>(&self, work: impl FnOnce() -> T) -> T {
        let started = Instant::now();
        let done = work();
        if started.elapsed() < Pace::SHORT {
            let _ =
                self.short_in_a_row.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |count| {
                    count.checked_add(1)
                });
        } else {
            self.short_in_a_row.store(0, Ordering::Relaxed);
        }
        done
    }
}

/// The time that work may take where others wait for it, and whether it was enough.
pub(super) struct Moment {
    started: Instant,
    was_too_short: Arc<AtomicBool>,
}

impl Moment {
    /// Long enough for nearly all that is likely to be short; what takes longer begins again.
    const LENGTH: Duration = Duration::from_millis(2);

    /// From now on.
    pub(super) fn begin() -> Moment {
        Moment { started: Instant::now(), was_too_short: Arc::default() }
    }

    /// Returns the token that cancels the work.
    pub(super) fn cancel_token(&self) -> CancelToken {
        let (started, was_too_short) = (self.started, self.was_too_short.clone());
        CancelToken::new(move || {
            let is_over = started.elapsed() > Moment::LENGTH;
            if is_over {
                was_too_short.store(true, Ordering::Relaxed);
            }
            is_over
        })
    }

    /// Whether the work was cancelled, so that its result is not valid.
    pub(super) fn was_too_short(&self) -> bool {
        self.was_too_short.load(Ordering::Relaxed)
    }
}

/// The readings of the folders that were asked for, and those that are done. Many that are asked
/// for at once are done as one.
#[derive(Default)]
pub(super) struct Readings {
    asked: AtomicU64,
    /// Up to which of them there was a reason.
    needed: AtomicU64,
    wake: Notify,
    done: watch::Sender<u64>,
}

/// The server's memory.
pub(super) struct State {
    /// The files.
    pub(super) workspace: Workspace,
    /// The folders that the client has, as it lists them.
    pub(super) listed: Vec<FilePath>,
    /// The environments of open files that lie in none of them.
    adopted: Vec<FilePath>,
    /// The folders that were listed last, with the environment that each stands for.
    whole: HashMap<FilePath, FilePath>,
    /// How many folders are left out, as there are too many.
    pub(super) left_out: usize,
    /// The client's features.
    pub(super) features: Features,
    /// The settings in force.
    pub(super) settings: Settings,
    /// Whether functions of levels may run at the user's request: settings that come later do not
    /// change that.
    pub(super) evaluates: bool,
    /// Settings that came with `initialize`.
    pub(super) initialization_options: Option<Value>,
    /// Settings that came later; they win.
    pub(super) client_settings: Option<Value>,
    /// Whether those were asked for: clients that push theirs may have nothing to answer with.
    were_pulled: bool,
    /// The open documents.
    pub(super) documents: Documents,
    /// The last semantic tokens of open documents.
    pub(super) last_tokens: LastTokens,
    /// The last symbols of open documents.
    pub(super) last_symbols: HashMap<FilePath, Arc<FileSymbols>>,
    /// The problems of the settings when they were last put together.
    pub(super) settings_problems: Vec<SettingProblem>,
    /// Whether the settings have been put together.
    pub(super) is_configured: bool,
    /// When a request came last that is answered from a snapshot.
    pub(super) last_request: Option<Instant>,
    last_scan: Option<Instant>,
}

/// The open documents. Copies are cheap: every round of findings takes one.
pub(super) type Documents = imbl::GenericHashMap<
    FilePath,
    Document,
    foldhash::fast::RandomState,
    imbl::shared_ptr::DefaultSharedPtr,
>;

/// An open document as the client speaks of it.
#[derive(Clone, Debug)]
pub(super) struct Document {
    /// Its address in the client's own spelling.
    pub(super) uri: lsp::Url,
    /// Other spellings under which it is open as well.
    pub(super) others: Vec<lsp::Url>,
    /// The version that its text is.
    pub(super) version: i32,
    /// Whether its text is the one that was opened or last saved.
    pub(super) is_saved: bool,
}

/// The client's features that answers depend on.
#[derive(Clone, Debug, Default)]
pub(super) struct Features {
    /// The unit of columns.
    pub(super) encoding: Encoding,
    /// Hovers may be Markdown.
    pub(super) markdown: bool,
    /// Hovers in Markdown may have links.
    pub(super) hover_links: bool,
    /// How users call the actions of hovers, by the actions' names.
    pub(super) hover_actions: BTreeMap<String, String>,
    /// Definitions may say for which range they are.
    pub(super) links: bool,
    /// The client's features of completion.
    pub(super) completion: CompletionFeatures,
    /// Findings may name other places.
    pub(super) related_information: bool,
    /// It shows progress.
    pub(super) progress: bool,
    /// It can be asked for settings.
    pub(super) configuration: bool,
    /// It can be asked to watch files.
    pub(super) watches_files: bool,
    /// It subscribes to the status.
    pub(super) status: bool,
    /// It can be asked to tell of changed settings.
    pub(super) tells_configuration: bool,
    /// Its features that answers about the structure of files depend on.
    pub(super) announced: Announced,
}

/// The format of a text that explains something.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum TextFormat {
    /// A string: the client knows no formats.
    #[default]
    Unmarked,
    /// Plain text, marked as such.
    Plain,
    /// Markdown.
    Markdown,
}

/// The client's features of completion.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct CompletionFeatures {
    /// Texts may have places to fill in.
    pub(super) snippets: bool,
    /// The format of explanations.
    pub(super) format: TextFormat,
    /// Texts may ask for no indentation by the client.
    pub(super) as_is: bool,
    /// A list may have the range that its items replace.
    pub(super) default_range: bool,
    /// Items that the user looks at are asked for their details.
    pub(super) resolves_details: bool,
}

impl Default for State {
    fn default() -> State {
        State {
            workspace: Workspace::new(WorkspaceConfig::default(), Vec::new()),
            listed: Vec::new(),
            adopted: Vec::new(),
            features: Features::default(),
            settings: Settings::default(),
            evaluates: false,
            initialization_options: None,
            client_settings: None,
            were_pulled: false,
            documents: Documents::new(),
            last_tokens: LastTokens::default(),
            last_symbols: HashMap::new(),
            settings_problems: Vec::new(),
            is_configured: false,
            last_request: None,
            last_scan: None,
            whole: HashMap::new(),
            left_out: 0,
        }
    }
}

/// The most folders of a client, or environments of files in none of them, that are read. Real
/// workspaces have a handful, and each environment is compared with all files.
pub(super) const MAX_FOLDERS: usize = 500;

/// Not every client reports changed files; a reading of the disk that is older than this is
/// repeated when a request arrives.
const OLD: Duration = Duration::from_secs(3);
/// Before the folders were read once there is no answer worth giving, so requests wait for that;
/// not for ever.
const FIRST_READING: Duration = Duration::from_secs(10);
/// A later reading takes a moment in most workspaces. In the others the answer uses the previous
/// reading.
const LATER_READING: Duration = Duration::from_millis(100);
/// One that is merely due is a precaution where the client watches the files.
const DUE_READING: Duration = Duration::from_millis(10);

impl Readings {
    /// Asks for a reading, because something has changed.
    pub(super) fn ask(&self) {
        let number = self.asked.fetch_add(1, Ordering::SeqCst) + 1;
        self.needed.fetch_max(number, Ordering::SeqCst);
        self.wake.notify_one();
    }

    /// Asks for a reading, because the last one is old.
    fn due(&self) {
        self.asked.fetch_add(1, Ordering::SeqCst);
        self.wake.notify_one();
    }

    /// Waits until a reading is asked for that is not done.
    pub(super) async fn cancel_token(&self) {
        while self.asked() <= *self.done.borrow() {
            self.wake.notified().await;
        }
    }

    /// How many were asked for by now.
    pub(super) fn asked(&self) -> u64 {
        self.asked.load(Ordering::SeqCst)
    }

    /// Records that the readings up to this number, see [`Readings::asked`], are done.
    pub(super) fn finished(&self, number: u64) {
        self.done.send_replace(number);
    }

    /// Waits until the readings up to this number are done, and at least one is; but not for longer
    /// than this. Says whether they are.
    async fn wait(&self, number: u64, patience: Duration) -> bool {
        let number = number.max(1);
        if *self.done.borrow() >= number {
            return true;
        }
        let mut done = self.done.subscribe();
        // The sender is a neighbour of this borrow, so it is there.
        tokio::time::timeout(patience, done.wait_for(|done| *done >= number)).await.is_ok()
    }
}

impl Shared {
    /// Returns the state before the first message arrives on `input`.
    pub(super) fn of(input: Input, workers: Workers, evaluator: Evaluator) -> Shared {
        Shared { input, evaluator, slots: Slots::of(workers), ..Shared::default() }
    }

    /// Reads or changes the state. Must not take long: messages wait for it.
    pub(super) fn with<T>(&self, look: impl FnOnce(&mut State) -> T) -> T {
        // A panic under the lock leaves the state as it was between two assignments: better than no
        // server.
        look(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Requests another reading of the disk, in the background, if the last one is old.
    pub(super) fn refresh_if_old(&self) {
        let is_old = |state: &mut State| {
            let old = state.last_scan.is_some_and(|last| last.elapsed() > OLD);
            if old {
                state.scanned(); // As good as: it is asked for once, not by every request that comes meanwhile.
            }
            old
        };
        if self.with(is_old) {
            self.disk.due();
        }
    }

    /// Waits for the readings that a request should be answered from: the first reading of the
    /// folders, and for a moment one that was requested (by a save, or because the last one is old;
    /// then for a shorter moment, where the client reports changes). Returns at once where no
    /// reading is awaited.
    pub(super) async fn settled(&self) {
        self.refresh_if_old();
        let (is_complete, watches_files) =
            self.with(|state| (state.workspace.snapshot().complete, state.features.watches_files));
        let patience = if is_complete { LATER_READING } else { FIRST_READING };
        if self.disk.wait(self.disk.needed.load(Ordering::SeqCst), patience).await {
            self.disk
                .wait(self.disk.asked(), if watches_files { DUE_READING } else { LATER_READING })
                .await;
        }
    }
}

impl State {
    /// Records a document that is opened.
    pub(super) fn opened(&mut self, path: &FilePath, uri: &lsp::Url, version: i32) {
        let others = self.other_spellings(path, uri, true);
        let document = Document { uri: uri.clone(), others, version, is_saved: true };
        self.documents.insert(path.clone(), document);
    }

    /// Records a document's new version, and the current spelling of its address.
    pub(super) fn edited(&mut self, path: &FilePath, uri: &lsp::Url, version: i32) {
        let others = self.other_spellings(path, uri, false);
        let document = Document { uri: uri.clone(), others, version, is_saved: false };
        self.documents.insert(path.clone(), document);
    }

    /// Returns the other spellings under which a document is open when `uri` becomes the one in
    /// use. The one that was in use stays open where `uri` is `opened`, or was open already;
    /// otherwise the client spells the same document anew.
    fn other_spellings(&self, path: &FilePath, uri: &lsp::Url, opened: bool) -> Vec<lsp::Url> {
        let Some(document) = self.documents.get(path) else { return Vec::new() };
        let mut others = document.others.clone();
        others.retain(|other| other != uri);
        let is_open_twice = opened || others.len() < document.others.len();
        if is_open_twice && document.uri != *uri {
            others.push(document.uri.clone());
        }
        others
    }

    /// Records that a document is saved as it is here.
    pub(super) fn saved(&mut self, path: &FilePath) {
        if let Some(document) = self.documents.get_mut(path) {
            document.is_saved = true;
        }
    }

    /// Returns the version of a document; `None` when it is not open.
    pub(super) fn version(&self, path: Option<&FilePath>) -> Option<i32> {
        self.documents.get(path?).map(|document| document.version)
    }

    /// Closes a document under one spelling of its address. Returns whether that was the last one:
    /// two spellings of one file are one document, which stays open for the other.
    pub(super) fn closed(&mut self, path: &FilePath, uri: &lsp::Url) -> bool {
        let Some(document) = self.documents.get_mut(path) else { return true };
        if let Some(at) = document.others.iter().position(|other| other == uri) {
            document.others.remove(at);
            return false;
        }
        match document.others.pop() {
            Some(other) => document.uri = other,
            None => {
                self.documents.remove(path);
                self.last_tokens.forget(path);
                self.last_symbols.remove(path);
            }
        }
        !self.documents.contains_key(path)
    }

    /// Takes the folders that the client has.
    pub(super) fn list_folders(&mut self, listed: Vec<FilePath>) {
        self.listed = listed;
        self.use_folders();
    }

    /// A folder within an environment stands for all of it: modules, nodes and settings lie beside
    /// it. Folders beyond [`MAX_FOLDERS`] are left out.
    fn use_folders(&mut self) {
        let mut before = std::mem::take(&mut self.whole);
        let mut folders: Vec<FilePath> = Vec::new();
        for folder in self.listed.iter().take(MAX_FOLDERS) {
            let above = || scan::environment_above(folder, &OsFs).unwrap_or_else(|| folder.clone());
            // Thousands may come one by one, each time with all those before it.
            let whole = before.remove(folder).unwrap_or_else(above);
            self.whole.insert(folder.clone(), whole.clone());
            folders.push(whole);
        }
        folders.extend(self.adopted.iter().cloned());
        let mut seen = HashSet::new();
        folders.retain(|folder| seen.insert(folder.clone()));
        self.left_out = self.listed.len().saturating_sub(MAX_FOLDERS)
            + folders.len().saturating_sub(MAX_FOLDERS);
        folders.truncate(MAX_FOLDERS);
        self.workspace.apply(Change::Folders(folders));
    }

    /// Takes the environment of a file that lies in no folder of the workspace into it.
    /// Says whether there was one.
    pub(super) fn adopt(&mut self, path: &FilePath) -> bool {
        if self.workspace.folders().iter().any(|folder| path.is_within(folder)) {
            return false;
        }
        let Some(root) = path.parent().and_then(|folder| scan::environment_above(&folder, &OsFs))
        else {
            return false;
        };
        if self.adopted.contains(&root) {
            return false; // It is left out.
        }
        self.adopted.push(root);
        self.use_folders();
        self.scanned(); // In a moment.
        true
    }

    /// Takes the settings that the client answered with when asked, or else those that it pushed;
    /// returns whether they are new.
    pub(super) fn told_settings(&mut self, pushed: Option<&Value>, answer: Option<Value>) -> bool {
        let pushed = pushed.filter(|pushed| settings::section(pushed).is_some());
        match (pushed, answer) {
            (Some(pushed), answer) if !answer.as_ref().is_some_and(Value::is_object) => {
                self.pushed_settings(pushed);
                true
            }
            (_, Some(answer)) => self.pulled_settings(answer),
            (_, None) => false,
        }
    }

    /// Takes settings that the client pushed: its section, or the bare settings. Anything else
    /// changes nothing: clients also push settings of other servers, or nothing at all to request a
    /// pull.
    fn pushed_settings(&mut self, settings: &Value) {
        if let Some(section) = settings::section(settings) {
            self.client_settings = Some(section.clone()).filter(Value::is_object);
            self.were_pulled = false;
        }
    }

    /// Takes the section that the client answered with; returns whether it is new. An answer
    /// without a section removes the previous one.
    fn pulled_settings(&mut self, section: Value) -> bool {
        let section = Some(section).filter(Value::is_object);
        if section.is_none() && !self.were_pulled {
            return false;
        }
        self.were_pulled = true;
        std::mem::replace(&mut self.client_settings, section.clone()) != section
    }

    /// Records that the disk was read.
    pub(super) fn scanned(&mut self) {
        self.last_scan = Some(Instant::now());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[tokio::test]
    async fn cancelled_work_leaves_its_slot_to_others_as_long_as_there_are_threads() {
        let slots = Slots::default();
        let number = Slots::number();
        let (begin, begun) = std::sync::mpsc::channel();
        let mut ends = Vec::new();
        for _ in 0..number * 2 {
            let (begin, (end, ended)) = (begin.clone(), std::sync::mpsc::channel::<()>());
            let work = move || {
                begin.send(()).expect("the test listens");
                ended.recv().expect("the test tells");
            };
            let cancelled = tokio::time::timeout(Duration::from_millis(50), slots.run(work)).await;
            assert!(
                cancelled.is_err() && begun.recv().is_ok(),
                "it was begun and is not waited for any more"
            );
            ends.push(end);
            if ends.len() <= number {
                assert_eq!(slots.free.available_permits(), number, "others have all slots");
            }
        }
        assert_eq!(
            (slots.free.available_permits(), slots.leaving.available_permits()),
            (0, 0),
            "there are no more threads"
        );
        for end in ends {
            end.send(()).expect("the work goes on");
        }
        let all = u32::try_from(number).expect("few cores");
        for kind in [&slots.free, &slots.leaving] {
            assert!(
                tokio::time::timeout(Duration::from_secs(10), kind.acquire_many(all)).await.is_ok()
            );
        }
        assert_eq!(slots.run(|| 1).await, Some(1));
        assert_eq!(
            (slots.free.available_permits(), slots.leaving.available_permits()),
            (number, number)
        );
    }

    #[tokio::test]
    async fn a_look_at_the_disk_that_is_due_is_waited_for_where_nobody_else_looks() {
        use futures_util::future::{Either, join, select};
        let shared = Shared::default();
        shared.disk.ask();
        shared.disk.finished(1);
        shared.disk.due();
        let looking = async {
            tokio::time::sleep(LATER_READING / 3).await;
            shared.disk.finished(2);
        };
        let settled = async {
            shared.settled().await;
            *shared.disk.done.borrow()
        };
        // Both are polled in this order, so that a machine that is slow changes nothing.
        assert_eq!(join(looking, settled).await.1, 2, "the client watches nothing");
        shared.with(|state| state.features.watches_files = true);
        shared.disk.due();
        let (settled, for_long) = (
            std::pin::pin!(shared.settled()),
            std::pin::pin!(tokio::time::sleep(LATER_READING / 2)),
        );
        assert!(
            matches!(select(settled, for_long).await, Either::Left(_)),
            "it would have told of a change"
        );
    }

    #[test]
    fn a_document_is_open_until_its_last_spelling_is_closed() {
        let mut state = State::default();
        let path = FilePath::new("/data/a.yaml");
        let [plain, encoded, other] = ["a", "%61", "%61%2Eyaml#"]
            .map(|name| lsp::Url::parse(&format!("file:///data/{name}.yaml")).expect("an address"));
        state.opened(&path, &plain, 1);
        assert!(state.closed(&path, &encoded), "a client may close it in another spelling");
        state.opened(&path, &plain, 1);
        state.opened(&path, &encoded, 1);
        state.opened(&path, &encoded, 2);
        assert!(!state.closed(&path, &encoded));
        assert_eq!(state.documents[&path].uri, plain);
        state.opened(&path, &encoded, 1);
        state.edited(&path, &plain, 2);
        assert!(!state.closed(&path, &encoded));
        state.edited(&path, &other, 3);
        assert_eq!((state.version(Some(&path)), &state.documents[&path].uri), (Some(3), &other));
        assert!(state.closed(&path, &other) && state.documents.is_empty());
    }

    #[test]
    fn folders_beyond_the_limit_are_left_out_and_counted() {
        let mut state = State::default();
        let folder = |n: usize| FilePath::new(&format!("/nowhere/folder{n}"));
        state.list_folders((0..MAX_FOLDERS).map(folder).collect());
        assert_eq!((state.workspace.folders().len(), state.left_out), (MAX_FOLDERS, 0));
        state.list_folders((0..MAX_FOLDERS + 7).map(folder).collect());
        assert_eq!((state.workspace.folders().len(), state.left_out), (MAX_FOLDERS, 7));
        state.list_folders(vec![folder(1), folder(1)]);
        assert_eq!((state.workspace.folders(), state.left_out), (&[folder(1)][..], 0));
    }

    #[test]
    fn pushed_and_pulled_settings() {
        let mut state = State::default();
        let rules = json!({"rules": {"unknown-key": "off"}});
        state.pushed_settings(&json!({"hiera": rules.clone()}));
        state.pushed_settings(&json!({"yaml": {}}));
        state.pushed_settings(&Value::Null);
        assert_eq!(
            state.client_settings,
            Some(rules.clone()),
            "what is not for us changes nothing"
        );
        assert!(!state.pulled_settings(Value::Null), "a client that pushes may have no answer");
        assert!(!state.pulled_settings(rules.clone()), "it is what was pushed");
        assert!(state.pulled_settings(Value::Null));
        assert_eq!(state.client_settings, None);
        state.pushed_settings(&rules);
        assert_eq!(state.client_settings, Some(rules));
    }

    #[test]
    fn an_answer_counts_more_than_what_was_pushed() {
        let mut state = State::default();
        let (all, set) = (json!({"hiera": {"rules": {}, "eyaml": {}}}), json!({"rules": {}}));
        assert!(state.told_settings(Some(&all), Some(set.clone())));
        assert_eq!(state.client_settings, Some(set), "the defaults are not the user's");
        assert!(state.told_settings(Some(&all), Some(Value::Null)), "a client may only push");
        assert_eq!(state.client_settings, Some(all["hiera"].clone()));
        assert!(!state.told_settings(Some(&json!({"yaml": {}})), None));
        assert!(!state.told_settings(None, None));
        assert!(state.told_settings(Some(&Value::Null), Some(json!({}))), "a request to ask");
    }
}
