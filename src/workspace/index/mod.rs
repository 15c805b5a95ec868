//! The index of keys for rules across files: the files that define each key, and the keys that each
//! key asks for.
//!
//! An index is patched, not rebuilt: entries of a file's parts are removed and added as the parts
//! go and come, and all other entries are shared with the index before it.

mod siblings;

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, OnceLock, Weak};

use indexmap::IndexSet;

use siblings::{Names, group};
pub use siblings::{Siblings, key_prefix};

use super::parallel::on_all_cores;
use super::snapshot::Snapshot;
use crate::hiera::data::{DataFile, EntryData, Part, Parts, Reference};
use crate::hiera::lookup::LOOKUP_OPTIONS;
use crate::hiera::lookup_options::WrittenOptions;
use crate::hiera::merge::Strategy;
use crate::puppet::Value;
use crate::text::FilePath;
use crate::text::work::{self, Work};

/// The index of one snapshot.
#[derive(Clone, Debug, Default)]
pub struct KeyIndex {
    keys: UsesOfKeys,
    /// The root keys that some file defines.
    defined: Names,
    /// The data of each file, in each way in which some level reads it.
    readings: imbl::OrdMap<FilePath, Readings>,
    /// Computed when a search has to go far; the same as long as no key asks for another one.
    circles: Arc<OnceLock<HashMap<Arc<str>, usize>>>,
    /// The root keys that some token asks for; the same as long as no key asks for another one.
    asked_for: Arc<OnceLock<HashSet<Arc<str>>>>,
    /// The same as long as no `lookup_options` change.
    strictly_merged: Arc<OnceLock<WrittenOptions>>,
    /// The keys whose values may be Sensitive; gathered on first use.
    sensitive: Arc<OnceLock<WrittenOptions>>,
}

/// The data of one file, in each way in which some level reads it. Equal to another when it is the
/// very same data.
#[derive(Clone, Debug, Default)]
pub struct Readings(Arc<[Arc<DataFile>]>);

impl PartialEq for Readings {
    fn eq(&self, other: &Readings) -> bool {
        self.0.len() == other.0.len()
            && self.0.iter().zip(&*other.0).all(|(a, b)| Arc::ptr_eq(a, b))
    }
}

/// Root keys and where each is used. Found by a quicker hash than the usual one: rules ask for keys
/// all the time. Where it is used is shared by maps whose other keys are used otherwise.
type UsesOfKeys = imbl::GenericHashMap<
    Arc<str>,
    Arc<Uses>,
    foldhash::fast::RandomState,
    imbl::shared_ptr::DefaultSharedPtr,
>;

/// The places that use a root key.
#[derive(Clone, Debug, Default)]
struct Uses {
    /// The files that define it, in the order of their paths.
    definitions: Vec<FilePath>,
    /// The root keys that tokens in its values ask for, and how many tokens do.
    asks_for: Vec<(Arc<str>, u32)>,
}

/// The number of tokens that a search for a circle follows before all circles are computed.
const NEARBY: usize = 64;
/// The most keys to return that a lookup may come to, besides those that it starts from.
const FAR: usize = 500;
/// With fewer changed files an index is brought up to them by the way.
const LITTLE: usize = 64;

impl KeyIndex {
    /// Reads all data files of a snapshot that some level can reach.
    pub fn new(snapshot: &Snapshot) -> KeyIndex {
        KeyIndex::of(all_readings(snapshot))
    }

    fn of(files: Vec<(&FilePath, Readings)>) -> KeyIndex {
        let mut index = KeyIndex::default();
        let mut keys: HashMap<Arc<str>, Uses> = HashMap::new();
        for (path, readings) in files {
            if readings.0.is_empty() {
                continue;
            }
            for data in
                readings.0.iter().flat_map(|file| file.parts().iter()).map(|part| &part.data)
            {
                for key in data.members.iter().filter_map(|(key, _)| key.as_str()) {
                    let files = &mut entry(&mut keys, key).definitions;
                    if files.last() != Some(path) {
                        files.push(path.clone());
                    }
                }
                for (root, target) in questions(data) {
                    count(&mut entry(&mut keys, root).asks_for, &target, true);
                }
            }
            index.readings.insert(path.clone(), readings);
        }
        let is_defined = |(_, uses): &(&Arc<str>, &Uses)| !uses.definitions.is_empty();
        index.defined = keys.iter().filter(is_defined).map(|(key, _)| key.clone()).collect();
        index.keys = keys.into_iter().map(|(key, uses)| (key, Arc::new(uses))).collect();
        index
    }

    /// Returns the index after these changes.
    fn patched(&self, snapshot: &Snapshot, changed: &Changed) -> KeyIndex {
        let files = match changed {
            Changed::Files(changed) => {
                let paths: Vec<&FilePath> = changed.iter().collect();
                let new = on_all_cores(&paths, |path| readings(snapshot, path));
                paths.into_iter().zip(new).collect()
            }
            Changed::Layout => {
                let all = all_readings(snapshot);
                let is_other = |path: &FilePath, new: &Readings| {
                    self.readings.get(path).map_or(!new.0.is_empty(), |old| old != new)
                };
                let others = all.iter().filter(|(path, new)| is_other(path, new)).count();
                if others > all.len() / 2 {
                    return KeyIndex::of(all);
                }
                let gone = self.readings.keys().filter(|path| snapshot.file(path).is_none());
                let gone = gone.map(|path| (path, Readings::default()));
                all.into_iter()
                    .filter(|(path, new)| is_other(path, new))
                    .chain(gone)
                    .collect::<Vec<_>>()
            }
        };
        let mut index = self.clone();
        for (path, new) in files {
            let old = if new.0.is_empty() {
                index.readings.remove(path)
            } else {
                index.readings.insert(path.clone(), new.clone())
            };
            index.replace(path, &old.unwrap_or_default(), &new);
        }
        index
    }

    fn replace(&mut self, path: &FilePath, old: &Readings, new: &Readings) {
        let changes = changes(old, new);
        changes
            .iter()
            .filter(|change| matches!(change, Change::Come(_)))
            .for_each(|_| work::count(Work::Index));
        let is_of_options = |part: &Part| {
            part.data.members.iter().any(|(key, _)| key.as_str() == Some(LOOKUP_OPTIONS))
        };
        if changes.iter().any(|change| is_of_options(change.part())) {
            self.strictly_merged = Arc::default();
            self.sensitive = Arc::default();
        }
        if asks_otherwise(&changes) {
            self.circles = Arc::default();
            self.asked_for = Arc::default();
            for change in &changes {
                for (root, target) in questions(&change.part().data) {
                    let uses = Arc::make_mut(self.keys.entry(root.clone()).or_default());
                    count(&mut uses.asks_for, &target, matches!(change, Change::Come(_)));
                }
            }
        }
        for change in &changes {
            for key in change.part().data.members.iter().filter_map(|(key, _)| key.as_str()) {
                let defines =
                    |readings: &Readings| readings.0.iter().any(|data| data.get(key).is_some());
                let is_defined = defines(new);
                if is_defined == defines(old) {
                    continue; // as with most keys of a file that is read again
                }
                self.define(key, path, is_defined);
                if self
                    .keys
                    .get(key)
                    .is_some_and(|uses| uses.definitions.is_empty() && uses.asks_for.is_empty())
                {
                    self.keys.remove(key);
                }
            }
        }
    }

    /// Notes that a file defines a root key now, or not any more.
    fn define(&mut self, key: &str, path: &FilePath, is_defined: bool) {
        let definitions = &mut Arc::make_mut(self.keys.entry(key.into()).or_default()).definitions;
        match definitions.binary_search(path) {
            Err(place) if is_defined => definitions.insert(place, path.clone()),
            Ok(place) if !is_defined => drop(definitions.remove(place)),
            _ => {}
        }
        match definitions.is_empty() {
            true => self.defined.remove(key),
            false => self.defined.insert(key.into()),
        };
    }

    /// Returns the files that define a root key, in the order of their paths.
    pub fn definitions(&self, key: &str) -> &[FilePath] {
        self.keys.get(key).map_or(&[], |uses| uses.definitions.as_slice())
    }

    /// Whether `lookup_options` of any file may ask for a merge of this root key that fails for
    /// values of some type.
    pub fn may_be_merged_strictly(&self, key: &str) -> bool {
        let gather = || {
            let is_strict =
                |strategy: &Strategy| matches!(strategy, Strategy::Hash | Strategy::Unique);
            WrittenOptions::of_merges(self.written_options(), is_strict)
        };
        self.strictly_merged.get_or_init(gather).may_concern(key)
    }

    /// Whether `lookup_options` of any file may make values of this root key Sensitive. They
    /// themselves are no values.
    pub fn may_be_sensitive(&self, key: &str) -> bool {
        key != LOOKUP_OPTIONS && self.sensitive_keys().may_concern(key)
    }

    /// Whether `lookup_options` of any file may make any value Sensitive.
    pub fn has_sensitive(&self) -> bool {
        !self.sensitive_keys().is_empty()
    }

    fn sensitive_keys(&self) -> &WrittenOptions {
        self.sensitive.get_or_init(|| WrittenOptions::of_secrets(self.written_options()))
    }

    /// Returns the values of `lookup_options` in all files.
    fn written_options(&self) -> impl Iterator<Item = &Value> {
        self.definitions(LOOKUP_OPTIONS)
            .iter()
            .filter_map(|path| self.readings.get(path))
            .flat_map(|readings| readings.0.iter())
            .filter_map(|data| data.get(LOOKUP_OPTIONS))
            .map(|member| &member.value)
    }

    /// Returns the number of root keys that some file defines.
    pub fn key_count(&self) -> usize {
        self.defined.len()
    }

    /// Returns the number of files that some level reads.
    pub fn file_count(&self) -> usize {
        self.readings.len()
    }

    /// Returns all root keys that some file defines, in the order of their bytes.
    pub fn keys(&self) -> impl Iterator<Item = &Arc<str>> {
        self.defined.iter()
    }

    /// Returns the other root keys of a key's class or prefix that some file defines.
    pub fn siblings(&self, key: &str) -> Siblings {
        Siblings::among(&self.defined, key)
    }

    /// Whether, levels left aside, tokens lead from each of two root keys to the other; the first
    /// asks for the second.
    pub fn in_one_cycle(&self, one: &str, other: &str) -> bool {
        let asks_for = |key: &str| self.keys.get(key).map_or(&[][..], |uses| &uses.asks_for);
        if one == other || asks_for(other).is_empty() {
            return one == other; // as with most
        }
        let mut seen = HashSet::from([other]);
        let mut open = vec![other];
        let mut looked_at = 0;
        while let Some(key) = open.pop() {
            if key == one {
                return true;
            }
            looked_at += asks_for(key).len();
            if looked_at > NEARBY {
                let circles = self.circles.get_or_init(|| circles(&self.keys));
                return circles.get(one).is_some_and(|circle| circles.get(other) == Some(circle));
            }
            open.extend(
                asks_for(key)
                    .iter()
                    .map(|(target, _)| &**target)
                    .filter(|target| seen.insert(target)),
            );
        }
        false
    }

    /// Whether a token in some value of a root key asks for a key.
    pub fn asks(&self, key: &str) -> bool {
        self.keys.get(key).is_some_and(|uses| !uses.asks_for.is_empty())
    }

    /// Whether a token of any value asks for a root key.
    pub fn is_asked_for(&self, key: &str) -> bool {
        let gather = || {
            let targets = self.keys.values().flat_map(|uses| &uses.asks_for);
            targets.map(|(target, _)| target.clone()).collect()
        };
        self.asked_for.get_or_init(gather).contains(key)
    }

    /// Returns the root keys that a lookup of these may come to, levels left aside: they
    /// themselves, what their values ask for, and so on; for keys without a definition the group of
    /// their siblings, too. `None` when there are too many others.
    pub fn reach_of(&self, keys: impl Iterator<Item = Arc<str>>) -> Option<Box<[Arc<str>]>> {
        let mut seen: IndexSet<Arc<str>, foldhash::fast::RandomState> = keys.collect();
        let undefined = seen.iter().filter(|key| !self.defined.contains(&***key));
        let groups: Vec<Arc<str>> = undefined.filter_map(|key| group(key)).collect();
        seen.extend(groups);
        let most = seen.len() + FAR;
        let mut next = 0;
        while let Some(key) = seen.get_index(next) {
            if seen.len() > most {
                return None;
            }
            let asks_for = self.keys.get(key).map_or(&[][..], |uses| &uses.asks_for);
            seen.extend(asks_for.iter().map(|(target, _)| target.clone()));
            next += 1;
        }
        Some(seen.into_iter().collect())
    }

    /// Returns the changes from this index to a later one.
    pub fn changes_to(&self, later: &KeyIndex) -> KeyChanges {
        use imbl::ordmap::DiffItem;
        let mut all = KeyChanges::default();
        let none = Readings::default();
        for change in self.readings.diff(&later.readings) {
            let (path, old, new) = match change {
                DiffItem::Add(path, new) => (path, &none, new),
                DiffItem::Update { old: (path, old), new: (_, new) } => (path, old, new),
                DiffItem::Remove(path, old) => (path, old, &none),
            };
            all.files.insert(path.clone());
            let changes = changes(old, new);
            let members = changes.iter().flat_map(|change| &change.part().data.members);
            let keys = members.filter_map(|(key, _)| key.as_arc());
            all.keys.extend(keys.clone().cloned());
            let came_or_went =
                |key: &&Arc<str>| self.defined.contains(&***key) != later.defined.contains(&***key);
            all.keys.extend(keys.filter(came_or_went).filter_map(|key| group(key)));
            if asks_otherwise(&changes) {
                all.questions = true;
                // Whether anything reads the keys that tokens ask for is another matter now.
                let asked = changes.iter().flat_map(|change| questions(&change.part().data));
                all.keys.extend(asked.map(|(_, target)| target));
            }
        }
        all
    }
}

/// The changes between two indexes.
#[derive(Debug, Default)]
pub struct KeyChanges {
    /// The files whose data differs.
    pub files: HashSet<FilePath>,
    /// The root keys whose definitions, or readers, may differ.
    pub keys: HashSet<Arc<str>>,
    /// Whether tokens that ask for keys came or went.
    pub questions: bool,
}

impl KeyChanges {
    /// Adds later changes.
    pub fn extend(&mut self, later: &KeyChanges) {
        self.files.extend(later.files.iter().cloned());
        self.keys.extend(later.keys.iter().cloned());
        self.questions |= later.questions;
    }

    /// Whether anything changed.
    pub fn is_any(&self) -> bool {
        self.questions || !self.keys.is_empty() || !self.files.is_empty()
    }
}

/// An index that is computed on first use: from an index before it, if there is one.
#[derive(Debug, Default)]
pub struct LazyIndex {
    done: OnceLock<KeyIndex>,
    /// The last index that was computed when this was made, and the changes since.
    before: Option<(KeyIndex, Changed)>,
    /// An index between them that was not computed yet, and the changes since. Another thread may
    /// have computed it by the time when this is needed.
    under_way: Option<(Weak<LazyIndex>, Changed)>,
}

/// The changes from one snapshot to another.
#[derive(Clone, Debug)]
enum Changed {
    /// These files and nothing else.
    Files(imbl::OrdSet<FilePath>),
    /// The set of files, or the ways in which they are read.
    Layout,
}

impl Default for Changed {
    fn default() -> Changed {
        Changed::Files(imbl::OrdSet::new())
    }
}

impl Changed {
    fn then(&self, later: &Changed) -> Changed {
        match (self, later) {
            (Changed::Files(earlier), Changed::Files(later)) => {
                Changed::Files(earlier.clone().union(later.clone()))
            }
            _ => Changed::Layout,
        }
    }

    /// Whether bringing an index up to it is a matter of some files that take little to read.
    fn is_little(&self, snapshot: &Snapshot) -> bool {
        let is_soon_read = |path| snapshot.file(path).is_none_or(|file| file.is_soon_read());
        matches!(self, Changed::Files(files) if files.len() < LITTLE && files.iter().all(is_soon_read))
    }
}

impl LazyIndex {
    /// Returns the index after the files at these paths changed.
    pub(super) fn after(
        before: &Arc<LazyIndex>,
        paths: impl IntoIterator<Item = FilePath>,
    ) -> LazyIndex {
        LazyIndex::with(before, Changed::Files(paths.into_iter().collect()))
    }

    /// Returns the index where other files may be there, or be read otherwise.
    pub(super) fn after_layout(before: &Arc<LazyIndex>) -> LazyIndex {
        LazyIndex::with(before, Changed::Layout)
    }

    fn with(index: &Arc<LazyIndex>, changed: Changed) -> LazyIndex {
        if let Some(done) = index.done.get() {
            return LazyIndex { before: Some((done.clone(), changed)), ..LazyIndex::default() };
        }
        let before =
            index.before.as_ref().map(|(done, earlier)| (done.clone(), earlier.then(&changed)));
        let under_way = match &index.under_way {
            Some((other, earlier)) if other.strong_count() > 0 => {
                (other.clone(), earlier.then(&changed))
            }
            _ => (Arc::downgrade(index), changed),
        };
        LazyIndex { done: OnceLock::new(), before, under_way: Some(under_way) }
    }

    /// Returns the nearest index that is computed already, and the changes since.
    fn nearest(&self) -> Option<(KeyIndex, Changed)> {
        let under_way = self.under_way.as_ref().and_then(|(index, changed)| {
            let done = index.upgrade()?.done.get()?.clone();
            Some((done, changed.clone()))
        });
        under_way.or_else(|| self.before.clone())
    }

    /// Whether no more than a little has to be read for it.
    pub(super) fn is_near(&self, snapshot: &Snapshot) -> bool {
        self.done.get().is_some()
            || self.nearest().is_some_and(|(_, changed)| changed.is_little(snapshot))
    }

    /// Returns the index of the snapshot that this belongs to.
    pub(super) fn get(&self, snapshot: &Snapshot) -> &KeyIndex {
        self.done.get_or_init(|| match self.nearest() {
            Some((before, changed)) => before.patched(snapshot, &changed),
            None => KeyIndex::new(snapshot),
        })
    }
}

fn entry<'k>(keys: &'k mut HashMap<Arc<str>, Uses>, key: &str) -> &'k mut Uses {
    if !keys.contains_key(key) {
        keys.insert(key.into(), Uses::default());
    }
    keys.get_mut(key).expect("just inserted")
}

fn count(targets: &mut Vec<(Arc<str>, u32)>, target: &Arc<str>, add: bool) {
    match targets.iter().position(|(known, _)| **known == **target) {
        Some(place) if add => targets[place].1 += 1,
        Some(place) if targets[place].1 == 1 => drop(targets.swap_remove(place)),
        Some(place) => targets[place].1 -= 1,
        None if add => targets.push((target.clone(), 1)),
        None => {}
    }
}

/// Returns the data of all files.
fn all_readings(snapshot: &Snapshot) -> Vec<(&FilePath, Readings)> {
    let files: Vec<&FilePath> = snapshot.files().map(|file| &file.path).collect();
    let readings = on_all_cores(&files, |path| readings(snapshot, path));
    files.into_iter().zip(readings).collect()
}

/// Returns the data of a file, in each way in which an environment's levels read it.
fn readings(snapshot: &Snapshot, path: &FilePath) -> Readings {
    let environments = &snapshot.environments().all;
    let governing = environments.iter().filter(|environment| environment.reaches(path));
    let mut data: Vec<_> =
        governing.filter_map(|environment| snapshot.view(environment).data_of(path)).collect();
    // Environments that read the file in the same way share its data: parsed once, counted once.
    data.dedup_by(|a, b| Arc::ptr_eq(a, b));
    Readings(data.into())
}

/// From which root key to which a part's tokens lead, those that aliases bring in included.
fn questions(data: &EntryData) -> impl Iterator<Item = (&Arc<str>, Arc<str>)> {
    let written = data.tokens.iter().filter_map(|token| match &token.reference {
        Reference::Key { key, .. } => Some((&token.root, key.root_text())),
        Reference::Variable(_) => None,
    });
    let borrowed = data.borrowed.iter();
    written.chain(borrowed.flat_map(|of| of.asks.iter().map(|key| (&of.root, key.clone()))))
}

/// Whether the parts that came ask for other keys than those that went.
fn asks_otherwise(changes: &[Change<'_>]) -> bool {
    let asked = |come: bool| {
        let parts = changes.iter().filter(|change| matches!(change, Change::Come(_)) == come);
        let mut all: Vec<_> = parts.flat_map(|change| questions(&change.part().data)).collect();
        all.sort();
        all
    };
    asked(false) != asked(true)
}

enum Change<'a> {
    Gone(&'a Part),
    Come(&'a Part),
}

impl<'a> Change<'a> {
    fn part(&self) -> &'a Part {
        match self {
            Change::Gone(part) | Change::Come(part) => part,
        }
    }
}

/// Returns the parts that only one of two has.
fn changes<'a>(old: &'a Readings, new: &'a Readings) -> Vec<Change<'a>> {
    let mut all = Vec::new();
    for n in 0..old.0.len().max(new.0.len()) {
        let parts = |readings: &'a Readings| readings.0.get(n).map(|data| data.parts());
        let (old, new) = (parts(old), parts(new));
        let (gone, come) = match (old, new) {
            (Some(old), Some(new)) => old.changes_to(new),
            (old, new) => (
                old.into_iter().flat_map(Parts::iter).collect(),
                new.into_iter().flat_map(Parts::iter).collect(),
            ),
        };
        all.extend(gone.into_iter().map(Change::Gone));
        all.extend(come.into_iter().map(Change::Come));
    }
    all
}

/// Returns the strongly connected components with a loop in them: for each key in one, its number
/// (Tarjan's algorithm, without recursion).
fn circles(uses: &UsesOfKeys) -> HashMap<Arc<str>, usize> {
    let asking = uses.iter().map(|(key, uses)| (key, &**uses));
    let asking: Vec<(&Arc<str>, &Uses)> =
        asking.filter(|(_, uses)| !uses.asks_for.is_empty()).collect();
    let keys: Vec<&Arc<str>> = asking.iter().map(|(key, _)| *key).collect();
    let number: HashMap<&str, usize> =
        keys.iter().enumerate().map(|(n, key)| (&***key, n)).collect();
    let numbers = |uses: &Uses| {
        uses.asks_for.iter().filter_map(|(target, _)| number.get(&**target).copied()).collect()
    };
    let targets: Vec<Vec<usize>> = asking.iter().map(|(_, uses)| numbers(uses)).collect();
    let mut order = vec![usize::MAX; keys.len()];
    let mut low = vec![0; keys.len()];
    let mut on_stack = vec![false; keys.len()];
    let (mut stack, mut clock, mut found) = (Vec::new(), 0, HashMap::new());
    for start in 0..keys.len() {
        if order[start] != usize::MAX {
            continue;
        }
        let mut calls = vec![(start, 0)];
        while let Some((node, next)) = calls.pop() {
            if next == 0 {
                order[node] = clock;
                low[node] = clock;
                clock += 1;
                stack.push(node);
                on_stack[node] = true;
            }
            if let Some(&target) = targets[node].get(next) {
                calls.push((node, next + 1));
                if order[target] == usize::MAX {
                    calls.push((target, 0));
                } else if on_stack[target] {
                    low[node] = low[node].min(order[target]);
                }
                continue;
            }
            if let Some((parent, _)) = calls.last() {
                low[*parent] = low[*parent].min(low[node]);
            }
            if low[node] == order[node] {
                let at = stack
                    .iter()
                    .rposition(|member| *member == node)
                    .expect("a component's root is on the stack");
                let members = stack.split_off(at);
                members.iter().for_each(|member| on_stack[*member] = false);
                if members.len() > 1 || targets[node].contains(&node) {
                    found.extend(members.into_iter().map(|member| (keys[member].clone(), node)));
                }
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn index(edges: &[(&str, &str)]) -> KeyIndex {
        let mut index = KeyIndex::default();
        for (from, to) in edges {
            count(
                &mut Arc::make_mut(index.keys.entry(Arc::from(*from)).or_default()).asks_for,
                &Arc::from(*to),
                true,
            );
        }
        index
    }

    #[test]
    fn circles_are_found_and_chains_are_not() {
        let index =
            index(&[("a", "b"), ("b", "c"), ("c", "a"), ("c", "d"), ("d", "e"), ("s", "s")]);
        assert!(
            index.in_one_cycle("a", "b")
                && index.in_one_cycle("b", "c")
                && index.in_one_cycle("s", "s")
        );
        assert!(!index.in_one_cycle("c", "d") && !index.in_one_cycle("d", "e"));
    }

    #[test]
    fn what_many_keys_come_to_is_told_unless_it_is_much() {
        let names: Vec<String> = (0..4 * FAR).map(|n| format!("k{n}")).collect();
        let (starts, others) = names.split_at(2 * FAR);
        let reach = |others: &[String]| {
            let edges: Vec<(&str, &str)> =
                starts.iter().zip(others).map(|(from, to)| (from.as_str(), to.as_str())).collect();
            index(&edges)
                .reach_of(starts.iter().map(|key| Arc::from(key.as_str())))
                .map(|reach| reach.len())
        };
        assert_eq!(reach(&[]), Some(2 * FAR));
        assert_eq!(reach(&others[..FAR]), Some(3 * FAR));
        assert_eq!(reach(others), None);
    }

    #[test]
    fn a_circle_too_long_to_be_searched_is_found() {
        let names: Vec<String> = (0..500).map(|n| format!("k{n}")).collect();
        let next = |n: usize| names[(n + 1) % names.len()].as_str();
        let mut edges: Vec<(&str, &str)> =
            names.iter().enumerate().map(|(n, name)| (name.as_str(), next(n))).collect();
        assert!(index(&edges).in_one_cycle("k0", "k1"));
        edges.pop();
        assert!(!index(&edges).in_one_cycle("k0", "k1"));
    }
}
