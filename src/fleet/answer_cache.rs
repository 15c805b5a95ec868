//! Answers of lookups for single nodes, one lookup for all nodes that give the same answers to its
//! questions. A caller that asks for many keys and nodes keeps them, so that the cost grows with
//! the distinct answers.
//!
//! Limit: only the value is kept, and whether it is final; not the steps.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use foldhash::HashMap;

use super::questions::Questions;
use crate::hiera::error::LookupError;
use crate::hiera::key::LookupKey;
use crate::hiera::lookup::Resolver;
use crate::hiera::resolution::Resolution;
use crate::puppet::Value;
use crate::text::{FilePath, Memo};
use crate::workspace::environments::Environment;
use crate::workspace::{EnvironmentView, Snapshot};

/// The answer of a lookup for a node.
#[derive(Debug)]
pub struct NodeAnswer {
    /// The value; `None` when nothing was found.
    pub value: Result<Option<Value>, LookupError>,
    /// Whether no unknown variable, backend or file can change the value.
    pub is_settled: bool,
    /// Whether tokens were replaced.
    pub has_tokens: bool,
}

impl NodeAnswer {
    /// Returns the answer that a resolution gives.
    pub fn from_resolution(resolution: Resolution) -> NodeAnswer {
        NodeAnswer {
            is_settled: resolution.is_settled(),
            has_tokens: resolution.has_tokens(),
            value: resolution.value,
        }
    }
}

/// A lookup for the nodes of an environment.
pub struct NodeQuestion<'a> {
    /// The snapshot.
    pub snapshot: &'a Snapshot,
    /// The environment.
    pub environment: &'a Environment,
    /// The files as the environment's lookups see them.
    pub view: &'a EnvironmentView<'a>,
    /// The root key.
    pub key: &'a LookupKey,
    /// Whether the key is looked up as code asks for it; otherwise as for a class parameter.
    pub is_called: bool,
}

/// Answers by key, for several threads.
#[derive(Debug)]
pub struct AnswerCache {
    keys: Memo<KeyOfAnswers, Arc<Mutex<AnswersOfKey>>>,
    /// The parts of values that the answers may take, and those that they take.
    room: usize,
    taken: AtomicUsize,
    /// The files that may be read and are not known; `None` where nodes must be asked one by one.
    unread: OnceLock<Option<Vec<FilePath>>>,
}

/// The environment, the root key, and whether it is looked up as code asks for it.
type KeyOfAnswers = (FilePath, Arc<str>, bool);

#[derive(Debug)]
struct AnswersOfKey {
    /// The questions of each lookup of the key.
    asked: Questions,
    /// Answers by the answers of a node to the questions in `asked`.
    known: HashMap<Vec<u32>, Vec<SharedAnswer>>,
}

/// An answer with the further questions that its lookup asked of a node.
#[derive(Debug)]
struct SharedAnswer {
    node: usize,
    asked: Questions,
    answer: Arc<NodeAnswer>,
}

/// The parts of values that answers may take, about 100 bytes each. A merge gives each node with a
/// file of its own another value, so that the number of keys does not bound the memory.
const ROOM: usize = 1 << 17;
/// The memory that an answer takes beside its value, in parts of values.
const PARTS_OF_ANSWER: usize = 3;

impl Default for AnswerCache {
    fn default() -> AnswerCache {
        AnswerCache::new(ROOM)
    }
}

impl AnswerCache {
    /// Creates an empty cache with room for values of so many parts. A file rarely has more keys
    /// than 4096; the next file may ask for the same ones.
    fn new(room: usize) -> AnswerCache {
        const KEYS: usize = 4096;
        let (keys, taken) = (Memo::new(KEYS), AtomicUsize::default());
        AnswerCache { keys, room, taken, unread: OnceLock::new() }
    }

    /// Returns the answer for the node with this number. All questions are about one revision.
    pub fn answer(&self, question: &NodeQuestion<'_>, node: usize) -> Arc<NodeAnswer> {
        let Some(unread) = self.unread.get_or_init(|| unread_files(question.snapshot)) else {
            return Arc::new(NodeAnswer::from_resolution(look_up(question, node)));
        };
        let of_key = self.answers_of_key(question, unread);
        let mut of_key = of_key.lock().unwrap_or_else(PoisonError::into_inner);
        let class = of_key.asked.answers_of(node);
        let known = of_key.known.entry(class).or_default();
        if let Some(same) = known.iter().find(|it| it.asked.have_same_answers(it.node, node)) {
            return same.answer.clone();
        }
        let resolution = look_up(question, node);
        let NodeQuestion { snapshot, environment, .. } = *question;
        let asked = Questions::of_lookup(snapshot, environment, &resolution, None);
        let answer = Arc::new(NodeAnswer::from_resolution(resolution));
        // A cancelled lookup fails: its answer is not kept.
        if !snapshot.cancel_token().is_cancelled() {
            known.reserve_exact(1);
            known.push(SharedAnswer { node, asked, answer: answer.clone() });
            self.count_answer(&answer);
        }
        answer
    }

    /// Counts an answer that was kept. A full cache is emptied.
    fn count_answer(&self, answer: &NodeAnswer) {
        let value = answer.value.as_ref().ok().and_then(Option::as_ref);
        let weight = PARTS_OF_ANSWER + value.map_or(0, |value| value.weight() as usize);
        if self.taken.fetch_add(weight, Ordering::Relaxed) + weight > self.room {
            self.keys.clear();
            self.taken.store(0, Ordering::Relaxed);
        }
    }

    fn answers_of_key(
        &self,
        question: &NodeQuestion<'_>,
        unread: &[FilePath],
    ) -> Arc<Mutex<AnswersOfKey>> {
        let NodeQuestion { snapshot, environment, key, is_called, .. } = *question;
        let root = key.root_text();
        let name = (environment.root.clone(), root.clone(), is_called);
        self.keys.get_or(&name, || {
            let ends_at_first = !is_called && snapshot.keys().ends_at_first(&root, None);
            let mut asked = Questions::of_key(snapshot, environment, &root, ends_at_first);
            // A location that unknown variables decide leaves each answer open.
            asked.add_value(snapshot.open_locations(environment));
            let reached = unread.iter().filter(|path| environment.reaches_file(path));
            reached.for_each(|path| asked.add_file(snapshot, environment, path));
            Arc::new(Mutex::new(AnswersOfKey { asked, known: HashMap::default() }))
        })
    }
}

fn look_up(question: &NodeQuestion<'_>, node: usize) -> Resolution {
    let NodeQuestion { snapshot, environment, view, key, is_called } = *question;
    let scope = &snapshot.nodes_of(environment)[node].scope;
    let resolver = Resolver::new(snapshot.lookup_context(environment, view, scope));
    if is_called {
        snapshot.lookup_as_called(environment, &resolver, key)
    } else {
        resolver.lookup(key, None)
    }
}

/// Returns the files that levels read and whose data is not known. `None` where folders could not be
/// listed, or where tokens decide `lookup_options`: a lookup does not record what these depend on.
fn unread_files(snapshot: &Snapshot) -> Option<Vec<FilePath>> {
    let is_known = snapshot.are_sources_listed() && !snapshot.keys().has_live_options();
    is_known.then(|| snapshot.keys().unread_files().cloned().collect())
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;
    use crate::fixture::Fixture;

    #[test]
    fn a_cache_without_room_is_emptied() {
        let mut text = String::from(
            "#- /hiera.yaml\nversion: 5\nhierarchy: [{name: Nodes, path: 'nodes/%{trusted.certname}.yaml'}]\n",
        );
        for number in 0..9 {
            let _ = writeln!(text, "#- /data/nodes/web-{number}.example.net.yaml\nk: {number}");
        }
        let snapshot = &Fixture::new(&text).snapshot;
        let environment = &snapshot.environments().all[0];
        let (view, key) = (&snapshot.view(environment), &LookupKey::of_root("k"));
        let question = NodeQuestion { snapshot, environment, view, key, is_called: false };
        let weight = PARTS_OF_ANSWER + 1;
        let cache = AnswerCache::new(3 * weight);
        assert_eq!(snapshot.nodes_of(environment).len(), 9);
        let mut taken = Vec::new();
        for number in 0..9 {
            let answer = cache.answer(&question, number);
            let value = answer.value.as_ref().expect("the lookup succeeds").as_ref();
            assert_eq!(value.map(|value| value.to_text().into_owned()), Some(number.to_string()));
            taken.push(cache.taken.load(Ordering::Relaxed) / weight);
        }
        assert_eq!(taken, [1, 2, 3, 0, 1, 2, 3, 0, 1]);
        assert!(Arc::ptr_eq(&cache.answer(&question, 8), &cache.answer(&question, 8)));
    }
}
