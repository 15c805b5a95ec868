//! The questions about a node that the lookup of a key asks: which of the files that hold the key it
//! reads, and which values its variables have. Nodes with equal answers get the same value.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use foldhash::HashMap;

use crate::hiera::data::Reference;
use crate::hiera::key::LookupKey;
use crate::hiera::lookup::LOOKUP_OPTIONS;
use crate::hiera::pattern::Pattern;
use crate::hiera::resolution::Resolution;
use crate::text::FilePath;
use crate::workspace::Snapshot;
use crate::workspace::environments::Environment;
use crate::workspace::readers::{NodeColumn, NodesReading};

/// Questions about the nodes of an environment. Those to which all nodes give one answer are left
/// out.
#[derive(Debug, Default)]
pub(super) struct Questions {
    /// Of a file: by which location a node reads the file, if it does.
    files: Vec<Arc<NodesReading>>,
    /// Of a variable: its value.
    values: Vec<Arc<NodeColumn>>,
    /// Of a variable: whether it is unknown.
    unknown: Vec<Arc<NodeColumn>>,
}

impl Questions {
    /// Returns the questions of each lookup of a root key.
    pub(super) fn of_key(snapshot: &Snapshot, environment: &Environment, root: &str) -> Questions {
        let mut asked = Questions::default();
        asked.add_definitions(snapshot, environment, root);
        asked.add_definitions(snapshot, environment, LOOKUP_OPTIONS);
        // A lookup does not record which variables and keys its options depend on.
        for token in snapshot.keys().tokens_of_options() {
            match &token.reference {
                Reference::Variable(name) => {
                    asked.add_value(snapshot.node_column(environment, &name.text));
                }
                Reference::Key { key, .. } => {
                    asked.add_definitions(snapshot, environment, &key.root_text());
                }
            }
        }
        asked
    }

    /// Returns the further questions that one lookup asked.
    pub(super) fn of_lookup(
        snapshot: &Snapshot,
        environment: &Environment,
        resolution: &Resolution,
    ) -> Questions {
        let mut asked = Questions::default();
        for key in &resolution.reads.keys {
            let root = LookupKey::parse(key).map(|key| key.root_text().to_string());
            asked.add_definitions(snapshot, environment, root.as_deref().unwrap_or(key));
        }
        for name in &resolution.reads.variables {
            let column = snapshot.node_column(environment, name);
            if column.tells_nodes_apart() {
                asked.values.push(column);
            }
        }
        asked
    }

    /// Returns the further questions that one lookup asked, and which of the variables are unknown
    /// that decide whether the files that it leaves open are read.
    pub(super) fn of_open_lookup(
        snapshot: &Snapshot,
        environment: &Environment,
        resolution: &Resolution,
    ) -> Questions {
        let mut asked = Questions::of_lookup(snapshot, environment, resolution);
        for name in deciding_variables(environment, resolution) {
            asked.add_unknown(snapshot.node_column(environment, name));
        }
        asked
    }

    /// Asks how a node reads the files that define a root key.
    pub(super) fn add_definitions(
        &mut self,
        snapshot: &Snapshot,
        environment: &Environment,
        root: &str,
    ) {
        for path in snapshot.keys().definitions(root) {
            if environment.reaches_file(path) {
                self.add_file(snapshot, environment, path);
            }
        }
    }

    /// Asks how a node reads a file.
    pub(super) fn add_file(
        &mut self,
        snapshot: &Snapshot,
        environment: &Environment,
        path: &FilePath,
    ) {
        let readers = snapshot.readers_of(environment, path);
        let is_known = || self.files.iter().any(|known| Arc::ptr_eq(known, &readers));
        let count = snapshot.nodes_of(environment).len();
        if readers.all_nodes().len() > 0 && !is_known() && readers.tells_nodes_apart(count) {
            self.files.push(readers);
        }
    }

    /// Asks whether a variable is unknown.
    pub(super) fn add_unknown(&mut self, column: Arc<NodeColumn>) {
        if column.tells_nodes_apart() {
            self.unknown.push(column);
        }
    }

    /// Asks for the value of a column.
    pub(super) fn add_value(&mut self, column: Arc<NodeColumn>) {
        if column.tells_nodes_apart() {
            self.values.push(column);
        }
    }

    /// Returns the answers of a node.
    pub(super) fn answers_of(&self, node: usize) -> Vec<u32> {
        let ways = self.files.iter().map(|file| file.way_of(node).map_or(0, |way| way + 1));
        let values = self.values.iter().map(|column| column.number_of(node));
        let unknown = self.unknown.iter().map(|column| u32::from(column.is_unknown(node)));
        ways.chain(values).chain(unknown).collect()
    }

    /// Whether two nodes give the same answers.
    pub(super) fn have_same_answers(&self, one: usize, other: usize) -> bool {
        self.files.iter().all(|file| file.way_of(one) == file.way_of(other))
            && self.values.iter().all(|it| it.number_of(one) == it.number_of(other))
            && self.unknown.iter().all(|it| it.is_unknown(one) == it.is_unknown(other))
    }

    /// Returns the nodes in classes with the same answers, in order. The cost depends on the numbers
    /// of readers, and not on the number of nodes for each file.
    pub(super) fn split_nodes(&self, nodes: &[usize]) -> Vec<Vec<usize>> {
        const NONE: u32 = u32::MAX;
        let most = nodes.iter().max().map_or(0, |most| most + 1);
        let mut class_of = vec![NONE; most];
        nodes.iter().for_each(|node| class_of[*node] = 0);
        let mut count = 1;
        let mut new_class = |renamed: &mut HashMap<(u32, u32), u32>, old: u32, answer: u32| {
            *renamed.entry((old, answer)).or_insert_with(|| {
                count += 1;
                count - 1
            })
        };
        for file in &self.files {
            let mut renamed = HashMap::default();
            for (node, way) in file.all_nodes() {
                let Some(class) = class_of.get_mut(node).filter(|class| **class != NONE) else {
                    continue;
                };
                *class = new_class(&mut renamed, *class, way);
            }
        }
        let values = self.values.iter().map(|column| (column, false));
        let columns = values.chain(self.unknown.iter().map(|column| (column, true)));
        for (column, only_unknown) in columns {
            let mut renamed = HashMap::default();
            for node in nodes {
                let answer = match only_unknown {
                    true => u32::from(column.is_unknown(*node)),
                    false => column.number_of(*node),
                };
                class_of[*node] = new_class(&mut renamed, class_of[*node], answer);
            }
        }
        let mut classes: Vec<Vec<usize>> = Vec::new();
        let mut places: HashMap<u32, usize> = HashMap::default();
        for node in nodes {
            let place = *places.entry(class_of[*node]).or_insert_with(|| {
                classes.push(Vec::new());
                classes.len() - 1
            });
            classes[place].push(*node);
        }
        classes
    }
}

/// Returns the variables that may decide whether the files that an answer leaves open are read. For
/// nodes of one group the same ones are unknown, so that they have the same alternatives.
fn deciding_variables<'a>(
    environment: &'a Environment,
    resolution: &Resolution,
) -> BTreeSet<&'a String> {
    if resolution.unsettled.is_empty() {
        return BTreeSet::new();
    }
    let files: HashSet<&FilePath> = resolution.unsettled.iter().map(|file| &file.path).collect();
    let can_name = |pattern: &Pattern| files.iter().any(|path| pattern.can_name(path.as_str()));
    let deciding = environment.reach.iter().filter(|reach| can_name(&reach.pattern));
    deciding.flat_map(|reach| reach.pattern.variables()).collect()
}
