//! A change of the data of an environment, and the nodes that it may concern.

use std::cell::OnceCell;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use super::ComparedSide;
use super::keys::{has_config, has_other_options};
use super::shadowed::EditedFiles;
use crate::fleet::node_caches::CachedScope;
use crate::hiera::resolution::{Outcome, Resolution};
use crate::hiera::scope::Scope;
use crate::text::FilePath;
use crate::workspace::nodes::Node;

/// A change of the data of an environment, with what all keys of the change share.
pub(super) struct ComparedChange<'a> {
    pub(super) sides: (ComparedSide<'a>, ComparedSide<'a>),
    keys: &'a BTreeSet<Arc<str>>,
    pub(super) files: &'a [&'a FilePath],
    /// Whether the change concerns data alone: no levels, environments or `lookup_options`.
    is_of_data: bool,
    /// The scopes of the least reader of each file, which has the variables of the file's path alone,
    /// and of a node without any known variable.
    unknown: OnceCell<Vec<(Arc<Scope>, CachedScope)>>,
    /// The nodes that read a file are found only if the unknown ones get the same values.
    concerned: OnceCell<(ConcernedNodes<'a>, Option<EditedFiles<'a>>)>,
}

impl<'a> ComparedChange<'a> {
    pub(super) fn new(
        sides: (ComparedSide<'a>, ComparedSide<'a>),
        keys: &'a BTreeSet<Arc<str>>,
        files: &'a [&'a FilePath],
    ) -> ComparedChange<'a> {
        let is_of_data = std::ptr::eq(sides.0.environment, sides.1.environment)
            && !has_config(sides.0, sides.1, files)
            && !files.iter().any(|path| has_other_options(sides, path));
        let (unknown, concerned) = (OnceCell::new(), OnceCell::new());
        ComparedChange { sides, keys, files, is_of_data, unknown, concerned }
    }

    /// Returns the scopes of unknown nodes that the keys are compared in, with their names.
    pub(super) fn unknown_scopes(&self) -> &[(Arc<Scope>, CachedScope)] {
        self.unknown.get_or_init(|| {
            let ComparedSide { snapshot, environment, .. } = self.sides.0;
            let any = (Arc::new(snapshot.any_scope(environment)), CachedScope::AnyNode);
            self.files
                .iter()
                .filter_map(|path| {
                    let cached = CachedScope::ReaderOf((*path).clone());
                    environment
                        .reaches_file(path)
                        .then(|| (snapshot.inferred_scope(environment, path), cached))
                })
                .chain([any])
                .collect()
        })
    }

    /// Whether a lookup before the change has the same value after it: the lookup came to none of
    /// the files. Files that unknown variables decide are left aside.
    pub(super) fn is_beyond(&self, found: &Resolution) -> bool {
        self.is_of_data
            && self.files.iter().all(|path| self.sides.0.snapshot.file(path).is_some())
            && found.value.is_ok()
            && !found.steps.iter().any(|step| match &step.outcome {
                Outcome::Found { path, .. } | Outcome::NoSuchKey(path) => {
                    self.files.contains(&path)
                }
                Outcome::Answered { .. } | Outcome::NotAnswered(_) => true,
                _ => false,
            })
            && !found.asked_roots().any(|key| self.keys.contains(&key))
    }

    /// Returns the nodes that the change concerns, and the edited files where data alone differ.
    pub(super) fn concerned(&self) -> &(ConcernedNodes<'a>, Option<EditedFiles<'a>>) {
        let (before, after) = self.sides;
        self.concerned.get_or_init(|| {
            let nodes = ConcernedNodes::find(before, after, self.files);
            (nodes, self.is_of_data.then(|| EditedFiles::new(before, self.keys, self.files)))
        })
    }
}

/// The nodes, or kinds of nodes, that may get another answer: those that read one of the files that
/// change. All of them where the environment itself is another one.
pub(super) struct ConcernedNodes<'a> {
    /// The numbers of the nodes, in order.
    pub(super) numbers: Vec<usize>,
    /// The kinds of nodes; `None` for known nodes.
    pub(super) kinds: Option<&'a [Arc<Node>]>,
    /// The later numbers of the nodes, and the other way round; `None` where a number stays the
    /// same.
    later: Option<(HashMap<usize, usize>, HashMap<usize, usize>)>,
}

impl<'a> ConcernedNodes<'a> {
    fn find(
        before: ComparedSide<'a>,
        after: ComparedSide<'_>,
        files: &[&FilePath],
    ) -> ConcernedNodes<'a> {
        let numbers = nodes_concerned(before, after, files);
        let (all, are_kinds) = before.compared_nodes();
        let is_same = are_kinds || std::ptr::eq(before.environment, after.environment);
        let later = (!is_same).then(|| {
            let by_name: HashMap<&str, usize> = (after.compared_nodes().0.iter().enumerate())
                .map(|(number, node)| (&*node.name, number))
                .collect();
            let later: HashMap<usize, usize> = numbers
                .iter()
                .filter_map(|number| Some((*number, *by_name.get(&*all[*number].name)?)))
                .collect();
            let earlier = later.iter().map(|(node, later)| (*later, *node)).collect();
            (later, earlier)
        });
        ConcernedNodes { numbers, kinds: are_kinds.then_some(all), later }
    }

    /// Returns the later number of a node: a discovery may have found other nodes, too. `None` for
    /// a node that is no longer there.
    pub(super) fn number_after(&self, node: usize) -> Option<usize> {
        self.later.as_ref().map_or(Some(node), |(later, _)| later.get(&node).copied())
    }

    /// Returns the number of a node by its later one.
    pub(super) fn number_before(&self, later: usize) -> Option<usize> {
        self.later.as_ref().map_or(Some(later), |(_, earlier)| earlier.get(&later).copied())
    }
}

/// Returns the nodes, by their numbers, that may get another answer: those that read one of the
/// files. All of them where the environment itself is another one.
pub(super) fn nodes_concerned(
    before: ComparedSide<'_>,
    after: ComparedSide<'_>,
    files: &[&FilePath],
) -> Vec<usize> {
    let ComparedSide { snapshot, environment, .. } = before;
    let (nodes, are_kinds) = before.compared_nodes();
    if !std::ptr::eq(environment, after.environment) {
        return (0..nodes.len()).collect();
    }
    let mut concerned: Vec<usize> = if are_kinds {
        let reads =
            |kind: &Node, path: &FilePath| snapshot.may_read(environment, &kind.scope, path);
        (0..nodes.len())
            .filter(|number| files.iter().any(|path| reads(&nodes[*number], path)))
            .collect()
    } else {
        let readers = files.iter().map(|path| snapshot.readers_of(environment, path));
        readers
            .flat_map(|readers| readers.all_nodes().map(|(node, _)| node).collect::<Vec<_>>())
            .collect()
    };
    concerned.sort_unstable();
    concerned.dedup();
    concerned
}
