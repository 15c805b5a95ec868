//! Nodes grouped by the answer to one lookup.
//!
//! Two nodes have the same answer if they read the same files of those that define the key, and
//! have the same values of the variables that the data use. So one lookup serves a group of any
//! size.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use crate::hiera::key::LookupKey;
use crate::hiera::lookup::LOOKUP_OPTIONS;
use crate::hiera::pattern::Pattern;
use crate::hiera::resolution::Resolution;
use crate::hiera::scope::{Scope, Variable};
use crate::text::FilePath;
use crate::workspace::Snapshot;
use crate::workspace::environments::Environment;

/// An assumption: variables with their values, in the order in which the levels ask for them.
pub type Assumed = Vec<(String, String)>;

/// An answer under an assumption. Of several, the first one whose assumption holds is the answer.
#[derive(Debug)]
pub struct Case {
    /// The assumption; empty for the last one, which holds where no other does.
    pub when: Assumed,
    /// The lookup; `None` where none was made, as there were too many.
    pub resolution: Option<Resolution>,
}

/// Nodes with one answer.
#[derive(Debug)]
pub struct Group {
    /// Their numbers among the nodes of the environment, in order.
    pub nodes: Vec<usize>,
    /// The scope of the first of them.
    pub scope: Arc<Scope>,
    /// The lookup for the first of them, which is the lookup for all of them.
    pub resolution: Resolution,
    /// The answers by the variables that are unknown for them, as
    /// `find_alternatives` gives them; empty where they make
    /// no difference, or were not asked for.
    pub cases: Vec<Case>,
}

impl Group {
    /// Returns the answers that the nodes may get: those of the cases, or the only one.
    pub fn resolutions(&self) -> impl Iterator<Item = &Resolution> {
        let only = self.cases.is_empty().then_some(&self.resolution);
        only.into_iter().chain(self.cases.iter().filter_map(|case| case.resolution.as_ref()))
    }
}

/// The nodes of a question in groups.
#[derive(Debug, Default)]
pub struct Groups {
    /// The groups, those with most nodes first.
    pub groups: Vec<Group>,
    /// The nodes that no lookup was made for, as there were too many groups or the work was
    /// cancelled.
    pub rest: Vec<usize>,
}

/// A lookup to make for nodes.
pub struct FleetQuestion<'a> {
    /// The snapshot.
    pub snapshot: &'a Snapshot,
    /// The environment in which keys are looked up for the nodes.
    pub environment: &'a Environment,
    /// The root key.
    pub root: &'a str,
    /// Looks the root key up in a scope.
    pub lookup: &'a dyn Fn(&Scope) -> Resolution,
    /// The most lookups to make.
    pub max_lookups: usize,
}

/// The key by which nodes are grouped: the files that a node reads, each with the number of the way
/// in which it reads the file.
type FilesRead = Vec<(u32, u32)>;

/// Groups these nodes, given by their numbers, by the answer to a question.
pub fn group_by_answer(question: &FleetQuestion<'_>, nodes: &[usize]) -> Groups {
    let mut files = Files::default();
    files.add_definitions(question, question.root);
    files.add_definitions(question, LOOKUP_OPTIONS);
    let mut waiting = split_classes(question, &files.paths, nodes);
    let mut found = Groups::default();
    while let Some(class) = take_largest(&mut waiting) {
        let is_enough = found.groups.len() >= question.max_lookups;
        if is_enough || question.snapshot.cancel_token().is_cancelled() {
            found.rest.extend(class);
            continue;
        }
        let (group, others) = answer_class(question, &files, class);
        found.groups.push(group);
        waiting.push(others);
    }
    let rank = |group: &Group| (Reverse(group.nodes.len()), group.nodes.first().copied());
    found.groups.sort_by_key(rank);
    found.rest.sort_unstable();
    found
}

fn take_largest(waiting: &mut Vec<Vec<usize>>) -> Option<Vec<usize>> {
    let (number, _) = waiting.iter().enumerate().max_by_key(|(_, class)| class.len())?;
    let class = waiting.swap_remove(number);
    if class.is_empty() { None } else { Some(class) }
}

/// Returns the group of the first node of a class, and the nodes of the class that are not in it.
fn answer_class(
    question: &FleetQuestion<'_>,
    files: &Files,
    class: Vec<usize>,
) -> (Group, Vec<usize>) {
    let nodes = question.snapshot.nodes_of(question.environment);
    let scope_of = |number: usize| nodes[number].scope_in(&question.environment.name);
    let scope = scope_of(class[0]);
    let resolution = (question.lookup)(&scope);
    let more = files.with_keys(question, &resolution.reads.keys);
    let variables = &resolution.reads.variables;
    let deciding = deciding_variables(question, &resolution);
    let (nodes, others) = if more.is_empty() && variables.is_empty() && deciding.is_empty() {
        (class, Vec::new())
    } else {
        let read = files_read(question, &more, &class);
        let values = |scope: &Scope| -> (Vec<Variable>, Vec<bool>) {
            let is_unknown = |name: &&String| scope.get_path(name) == Variable::Unknown;
            let known = variables.iter().map(|name| scope.get_path(name)).collect();
            (known, deciding.iter().map(is_unknown).collect())
        };
        let (first, known) = (read.get(&class[0]), values(&scope));
        class
            .iter()
            .partition(|number| read.get(*number) == first && values(&scope_of(**number)) == known)
    };
    (Group { nodes, scope, resolution, cases: Vec::new() }, others)
}

/// Returns the variables that may decide whether the files that an answer leaves open are read. For
/// nodes of one group the same ones are unknown, so that they have the same alternatives.
fn deciding_variables<'a>(
    question: &FleetQuestion<'a>,
    resolution: &Resolution,
) -> BTreeSet<&'a String> {
    let environment = question.environment;
    if resolution.unsettled.is_empty() {
        return BTreeSet::new();
    }
    let files: HashSet<&FilePath> = resolution.unsettled.iter().map(|file| &file.path).collect();
    let can_name = |pattern: &Pattern| files.iter().any(|path| pattern.can_name(path.as_str()));
    let deciding = environment.reach.iter().filter(|reach| can_name(&reach.pattern));
    deciding.flat_map(|reach| reach.pattern.variables()).collect()
}

/// Files that define keys, each once.
#[derive(Debug, Default)]
struct Files {
    known: HashSet<FilePath>,
    paths: Vec<FilePath>,
}

impl Files {
    fn add_definitions(&mut self, question: &FleetQuestion<'_>, root: &str) {
        for path in question.snapshot.keys().definitions(root) {
            if question.environment.reaches_file(path) && self.known.insert(path.clone()) {
                self.paths.push(path.clone());
            }
        }
    }

    /// Returns the files beyond these that define keys that a lookup has read.
    fn with_keys(&self, question: &FleetQuestion<'_>, keys: &BTreeSet<String>) -> Vec<FilePath> {
        let mut more = Files::default();
        for key in keys {
            let root = LookupKey::parse(key).map(|key| key.root_text().to_string());
            more.add_definitions(question, root.as_deref().unwrap_or(key));
        }
        more.paths.retain(|path| !self.known.contains(path));
        more.paths
    }
}

/// Returns the nodes in classes that read the same of these files.
fn split_classes(
    question: &FleetQuestion<'_>,
    files: &[FilePath],
    nodes: &[usize],
) -> Vec<Vec<usize>> {
    let mut read = files_read(question, files, nodes);
    let mut classes: BTreeMap<FilesRead, Vec<usize>> = BTreeMap::new();
    for number in nodes {
        classes.entry(read.remove(number).unwrap_or_default()).or_default().push(*number);
    }
    classes.into_values().collect()
}

/// Returns the files among `files` that each of these nodes reads; nodes that read none of them are
/// left out.
fn files_read(
    question: &FleetQuestion<'_>,
    files: &[FilePath],
    nodes: &[usize],
) -> foldhash::HashMap<usize, FilesRead> {
    let is_asked: HashSet<usize> = nodes.iter().copied().collect();
    let mut read: foldhash::HashMap<usize, FilesRead> = foldhash::HashMap::default();
    for (file, path) in (0..).zip(files) {
        let readers = question.snapshot.readers_of(question.environment, path);
        for (number, route) in readers.all_nodes() {
            if is_asked.contains(&number) {
                read.entry(number).or_default().push((file, route));
            }
        }
    }
    read
}
