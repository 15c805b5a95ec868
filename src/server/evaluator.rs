//! Functions of levels that run at the user's request: their processes, one for the folder of an
//! environment, the user's consent, the requests under way, and the outcomes.
//!
//! `requests::evaluate` is the only caller that runs a function.

use std::collections::{BTreeSet, HashMap};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use tokio::sync::oneshot;
use tower_lsp::lsp_types as lsp;

use crate::backends::{BackendsConfig, Functions, Permit};
use crate::hiera::lookup::STACK;
use crate::ide::evaluation::{self, Evaluation, EvaluationSubject, Evaluations};
use crate::puppet::PuppetVersion;
use crate::text::{CancelToken, FilePath};
use crate::workspace::Snapshot;
use crate::workspace::queries::seen::Seen;

/// The functions of all environments. Copies are the same.
#[derive(Clone, Default)]
pub(super) struct Evaluator(Arc<EvaluatorState>);

#[derive(Default)]
struct EvaluatorState {
    /// The processes, by the folder of the environment. The lock is held while a function runs.
    processes: Mutex<HashMap<FilePath, Running>>,
    /// The code that the user agreed to run in this session. Other code, and other options of its
    /// levels, are not covered.
    allowed: Mutex<Vec<Permit>>,
    /// The files that the user agreed to run beside those that are found by reading code, by the
    /// folder of the environment.
    named: Mutex<HashMap<FilePath, BTreeSet<FilePath>>>,
    outcomes: Mutex<Evaluations>,
    /// The requests under way, by the token of the progress that the client shows.
    under_way: Mutex<HashMap<lsp::ProgressToken, RequestState>>,
    numbers: AtomicU64,
    has_ended: AtomicBool,
    /// Held from the question to the outcome, so that the user is asked one question at a time.
    turn: tokio::sync::Mutex<()>,
}

/// The functions of an environment.
struct Running {
    functions: Functions,
    config: BackendsConfig,
    permit: Permit,
    puppet: PuppetVersion,
    /// The state of the files when they were loaded.
    seen: Seen,
}

/// The state of a request under way that other threads read and set.
struct RequestState {
    /// The folder of the environment whose functions the request runs.
    root: FilePath,
    is_cancelled: Arc<AtomicBool>,
}

/// A request under way. The client can cancel it until the `UnderWay` is dropped.
pub(super) struct UnderWay {
    evaluator: Evaluator,
    /// The token of the request's progress.
    pub(super) token: lsp::ProgressToken,
    is_cancelled: Arc<AtomicBool>,
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        lock(&self.evaluator.0.under_way).remove(&self.token);
    }
}

impl UnderWay {
    /// Whether the request was cancelled, or the session has ended.
    pub(super) fn is_cancelled(&self) -> bool {
        self.is_cancelled.load(Ordering::SeqCst) || self.evaluator.has_ended()
    }

    fn cancel_token(&self) -> CancelToken {
        let (evaluator, is_cancelled) = (self.evaluator.clone(), self.is_cancelled.clone());
        CancelToken::new(move || is_cancelled.load(Ordering::SeqCst) || evaluator.has_ended())
    }
}

impl Evaluator {
    /// Returns the outcomes that are kept.
    pub(super) fn kept_outcomes(&self) -> Evaluations {
        lock(&self.0.outcomes).clone()
    }

    /// Waits until no other request is under way, and keeps others waiting.
    pub(super) async fn wait_turn(&self) -> tokio::sync::MutexGuard<'_, ()> {
        self.0.turn.lock().await
    }

    /// Whether the user agreed in this session to run the code of `permit`, as it is now.
    pub(super) fn is_allowed(&self, permit: &Permit) -> bool {
        lock(&self.0.allowed).contains(permit)
    }

    /// Records that the user agreed to run the code of `permit`, for which the files of `named`
    /// were named.
    pub(super) fn record_consent(&self, permit: Permit, named: BTreeSet<FilePath>) {
        lock(&self.0.named).insert(permit.root.clone(), named);
        lock(&self.0.allowed).push(permit);
    }

    /// Returns the files that were named in the user's last agreement.
    pub(super) fn named_files(&self, root: &FilePath) -> BTreeSet<FilePath> {
        lock(&self.0.named).get(root).cloned().unwrap_or_default()
    }

    /// Begins a request that runs functions of the environment in a folder.
    pub(super) fn begin_request(&self, root: FilePath) -> UnderWay {
        let number = self.0.numbers.fetch_add(1, Ordering::Relaxed);
        let token = lsp::ProgressToken::String(format!("hiera-ls/evaluate/{number}"));
        let is_cancelled = Arc::<AtomicBool>::default();
        let state = RequestState { root, is_cancelled: is_cancelled.clone() };
        lock(&self.0.under_way).insert(token.clone(), state);
        UnderWay { evaluator: self.clone(), token, is_cancelled }
    }

    /// Cancels the request whose progress has this token, if there is one.
    pub(super) fn cancel(&self, token: &lsp::ProgressToken) {
        if let Some(state) = lock(&self.0.under_way).get(token) {
            state.is_cancelled.store(true, Ordering::SeqCst);
        }
    }

    /// Ends the processes of environments in none of the folders that are read, and cancels the
    /// requests that use them. Waits for that.
    pub(super) fn end_outside(&self, folders: &[FilePath]) {
        for state in lock(&self.0.under_way)
            .values()
            .filter(|state| is_outside_folders(&state.root, folders))
        {
            state.is_cancelled.store(true, Ordering::SeqCst);
        }
        // The lock is free when the cancelled request has ended.
        lock(&self.0.processes).retain(|root, _| !is_outside_folders(root, folders));
    }

    /// Looks a key up with functions, on a thread of its own, and keeps the outcome; also returns the
    /// files that functions would have loaded and that `permit` does not name. `None` where the
    /// request was cancelled meanwhile, or nothing can run.
    pub(super) async fn evaluate(
        &self,
        snapshot: Snapshot,
        target: EvaluationSubject,
        config: BackendsConfig,
        permit: Permit,
        under_way: &UnderWay,
        at: String,
    ) -> Option<(Evaluation, BTreeSet<FilePath>)> {
        let (done, outcome) = oneshot::channel();
        let (evaluator, cancel) = (self.clone(), under_way.cancel_token());
        let thread = thread::Builder::new().name("functions of levels".to_owned());
        thread
            .stack_size(STACK)
            .spawn(move || {
                let found =
                    evaluator.evaluate_here(&snapshot, &target, config, permit, &cancel, at);
                let _ = done.send(found.filter(|_| !cancel.is_cancelled()));
            })
            .ok()?;
        let (found, refused) = outcome.await.ok().flatten()?;
        lock(&self.0.outcomes).keep_outcome(found.clone());
        Some((found, refused))
    }

    fn evaluate_here(
        &self,
        snapshot: &Snapshot,
        target: &EvaluationSubject,
        config: BackendsConfig,
        permit: Permit,
        cancel: &CancelToken,
        at: String,
    ) -> Option<(Evaluation, BTreeSet<FilePath>)> {
        let environment = &target.environment;
        let puppet = snapshot.config_of(environment).puppet;
        let mut processes = lock(&self.0.processes);
        if cancel.is_cancelled() {
            return None;
        }
        let is_usable = |running: &Running| {
            running.functions.is_running()
                && (&running.config, &running.permit) == (&config, &permit)
                && running.puppet == puppet
                && running.seen.is_same(snapshot)
        };
        if !processes.get(&environment.root).is_some_and(is_usable) {
            // Puppet keeps the code that it loaded: other code needs another process.
            processes.remove(&environment.root);
            let functions = Functions::new(config.clone(), permit.clone(), puppet);
            let running = Running { functions, config, permit, puppet, seen: snapshot.seen() };
            processes.insert(environment.root.clone(), running);
        }
        let functions = &processes.get(&environment.root)?.functions;
        functions.set_cancel_token(cancel.clone());
        let snapshot = snapshot.clone().with_cancel_token(cancel.clone());
        let found = evaluation::evaluate(&snapshot, target, functions, at);
        Some((found, functions.take_refused()))
    }

    fn has_ended(&self) -> bool {
        self.0.has_ended.load(Ordering::SeqCst)
    }

    /// Ends all processes, and the requests that use them; no other one starts. Waits for that.
    pub(super) fn end_all(&self) {
        self.0.has_ended.store(true, Ordering::SeqCst);
        lock(&self.0.processes).clear();
    }
}

fn is_outside_folders(root: &FilePath, folders: &[FilePath]) -> bool {
    !folders.iter().any(|folder| root.is_within(folder))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
