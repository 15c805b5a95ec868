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
use crate::text::{FilePath, Memo};
use crate::workspace::Snapshot;
use crate::workspace::environments::Environment;
use crate::workspace::nodes::{NodeColumn, NodesReading};

/// Questions about the nodes of an environment. Those to which all nodes give one answer are left
/// out.
#[derive(Debug, Default)]
pub(super) struct Questions {
    /// Of a file: by which location a node reads the file, if it does.
    files: Vec<Arc<NodesReading>>,
    /// Of lookups that end at the first value: by which locations a node reads the files of a key.
    searches: Vec<Arc<FirstSearch>>,
    /// Of a variable: its value.
    values: Vec<Arc<NodeColumn>>,
    /// Of a variable: whether it is unknown.
    unknown: Vec<Arc<NodeColumn>>,
}

/// The questions of the root keys that lookups in one environment of one snapshot ask for, each
/// found once.
#[derive(Debug, Default)]
pub struct KeyQuestions(Memo<(Arc<str>, bool), Arc<Questions>>);

impl KeyQuestions {
    /// Returns how a node reads the files that define a root key, as far as its lookups read them.
    fn of_key(
        &self,
        snapshot: &Snapshot,
        environment: &Environment,
        root: Arc<str>,
    ) -> Arc<Questions> {
        let ends_at_first = snapshot.keys().ends_at_first(&root, None);
        let question = (root, ends_at_first);
        self.0.get_or(&question, || {
            let mut asked = Questions::default();
            asked.add_key(snapshot, environment, &question.0, ends_at_first);
            Arc::new(asked)
        })
    }
}

impl Questions {
    /// Returns the questions of each lookup of a root key. Where `ends_at_first`, each lookup ends at
    /// the first value, and files behind the one that certainly gives a node the value are no
    /// question about the node: only its value is the same as that of other nodes, not the rest.
    pub(super) fn of_key(
        snapshot: &Snapshot,
        environment: &Environment,
        root: &str,
        ends_at_first: bool,
    ) -> Questions {
        let mut asked = Questions::default();
        asked.add_key(snapshot, environment, root, ends_at_first);
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

    /// Returns the further questions that one lookup asked. `known` has those of the keys that other
    /// lookups asked for; `None` where no other lookup shares them.
    pub(super) fn of_lookup(
        snapshot: &Snapshot,
        environment: &Environment,
        resolution: &Resolution,
        known: Option<&KeyQuestions>,
    ) -> Questions {
        let own = KeyQuestions::default();
        let known = known.unwrap_or(&own);
        let mut asked = Questions::default();
        for key in &resolution.reads.keys {
            let root =
                LookupKey::parse(key).map_or_else(|_| key.as_str().into(), |key| key.root_text());
            asked.add_all(&known.of_key(snapshot, environment, root));
        }
        for name in &resolution.reads.variables {
            let column = snapshot.node_column(environment, name);
            if column.tells_nodes_apart() {
                asked.values.push(column);
            }
        }
        asked.values.sort_by_key(|column| column.value_count());
        asked
    }

    /// Returns the further questions that one lookup asked, and which of the variables are unknown
    /// that decide whether the files that it leaves open are read.
    pub(super) fn of_open_lookup(
        snapshot: &Snapshot,
        environment: &Environment,
        resolution: &Resolution,
        known: Option<&KeyQuestions>,
    ) -> Questions {
        let mut asked = Questions::of_lookup(snapshot, environment, resolution, known);
        for name in deciding_variables(environment, resolution) {
            asked.add_unknown(snapshot.node_column(environment, name));
        }
        asked
    }

    /// Asks the questions of a key.
    fn add_all(&mut self, of_key: &Questions) {
        for file in &of_key.files {
            self.push_file(file.clone());
        }
        for search in &of_key.searches {
            if !self.searches.iter().any(|known| Arc::ptr_eq(known, search)) {
                self.searches.push(search.clone());
            }
        }
    }

    fn push_file(&mut self, readers: Arc<NodesReading>) {
        if !self.files.iter().any(|known| Arc::ptr_eq(known, &readers)) {
            self.files.push(readers);
        }
    }

    /// Asks how a node reads the files that define a root key, as far as its lookups read them.
    fn add_key(
        &mut self,
        snapshot: &Snapshot,
        environment: &Environment,
        root: &str,
        ends_at_first: bool,
    ) {
        if ends_at_first {
            self.add_search(snapshot, environment, root);
        } else {
            self.add_definitions(snapshot, environment, root);
        }
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
        if readers.all_nodes().len() > 0 && readers.tells_nodes_apart() {
            self.push_file(readers);
        }
    }

    /// Asks how a node reads the files that define a root key, as far as lookups that end at the
    /// first value come to them.
    fn add_search(&mut self, snapshot: &Snapshot, environment: &Environment, root: &str) {
        let view = snapshot.view(environment);
        let mut search = FirstSearch::default();
        for path in snapshot.keys().definitions(root) {
            if !environment.reaches_file(path) {
                continue;
            }
            let readers = snapshot.readers_of(environment, path);
            if readers.turn.location.is_none() {
                self.add_file(snapshot, environment, path);
                continue;
            }
            if readers.all_nodes().len() == 0 {
                continue;
            }
            // The file may have the key where other environments read it in another format.
            let ends_lookup = readers.turn.may_end_lookup
                && !snapshot.keys().is_unread(path)
                && view.data_of(path).is_some_and(|data| data.get(root).is_some());
            search.files.push(SearchedFile { readers, ends_lookup });
        }
        search.files.sort_by_key(|file| file.readers.turn.location);
        if search.files.iter().any(|file| file.readers.tells_nodes_apart()) {
            self.searches.push(Arc::new(search));
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

    fn is_empty(&self) -> bool {
        let Questions { files, searches, values, unknown } = self;
        files.is_empty() && searches.is_empty() && values.is_empty() && unknown.is_empty()
    }

    /// Returns the answers of a node.
    pub(super) fn answers_of(&self, node: usize) -> Vec<u32> {
        self.asked_about(node).map(|question| question.answer_of(node)).collect()
    }

    /// Whether two nodes give the same answers.
    pub(super) fn have_same_answers(&self, one: usize, other: usize) -> bool {
        self.asked_about(one).all(|question| question.answer_of(one) == question.answer_of(other))
    }

    /// Returns the nodes that give the same answers as one of them, and the others in classes: nodes of
    /// a class give one answer to the first question to which the one node gives another, and to
    /// all questions before it.
    pub(super) fn split_off(&self, one: usize, nodes: Vec<usize>) -> (Vec<usize>, Vec<Vec<usize>>) {
        let given = self.answers_given_by(one);
        if given.0.is_empty() {
            return (nodes, Vec::new());
        }
        let mut classes = NodeClasses::with_capacity(nodes.len());
        // The class `same` comes first: the node `one` itself gives all the same answers.
        let same = classes.add_class();
        let mut class_of = HashMap::default();
        for node in &nodes {
            let class = given.first_difference(*node).map_or(same, |other| {
                *class_of.entry(other).or_insert_with(|| classes.add_class())
            });
            classes.push(class);
        }
        let mut split = classes.collect(&nodes);
        let others = split.split_off(1);
        (split.pop().unwrap_or_default(), others)
    }

    /// Returns the questions that a lookup for a node asks, with the answers of the node.
    pub(super) fn answers_given_by(&self, node: usize) -> GivenAnswers<'_> {
        let asked = self.asked_about(node);
        GivenAnswers(asked.map(|question| (question, question.answer_of(node))).collect())
    }

    /// Returns the questions that a lookup for a node asks. Those with few answers come first: which
    /// of the others are asked mostly depends on them.
    fn asked_about(&self, node: usize) -> impl Iterator<Item = NodeQuestion<'_>> {
        let searched = self.searches.iter().flat_map(move |search| search.files_before_end(node));
        let files = self.files.iter().chain(searched).map(|file| NodeQuestion::File(file));
        let unknown = self.unknown.iter().map(|column| NodeQuestion::Unknown(column));
        let values = self.values.iter().map(|column| NodeQuestion::Value(column));
        files.chain(unknown).chain(values)
    }

    /// Returns the nodes in classes with the same answers, in order. The cost depends on the numbers
    /// of readers, and not on the number of nodes for each file.
    pub(super) fn split_nodes(&self, nodes: &[usize]) -> Vec<Vec<usize>> {
        const NONE: u32 = u32::MAX;
        if self.is_empty() && !nodes.is_empty() {
            return vec![nodes.to_vec()];
        }
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
        let mut split_by_file = |readers: &NodesReading, is_over: &[bool]| {
            let mut renamed = HashMap::default();
            // Most nodes are in the class of the node before.
            let mut last = ((NONE, NONE), NONE);
            for (node, way) in readers.all_nodes() {
                let Some(class) = class_of.get_mut(node).filter(|class| **class != NONE) else {
                    continue;
                };
                if is_over.get(node).is_some_and(|is_over| *is_over) {
                    continue;
                }
                let question = (*class, way);
                if last.0 != question {
                    last = (question, new_class(&mut renamed, *class, way));
                }
                *class = last.1;
            }
        };
        self.files.iter().for_each(|readers| split_by_file(readers, &[]));
        for search in &self.searches {
            // `is_over` tells for each node whether the lookup for the node is over.
            let mut is_over = vec![false; most];
            for files in search.locations() {
                files.iter().for_each(|file| split_by_file(&file.readers, &is_over));
                for file in files.iter().filter(|file| file.ends_lookup) {
                    let ended = file.readers.certainly.iter();
                    ended.filter(|node| **node < most).for_each(|node| is_over[*node] = true);
                }
            }
        }
        let values = self.values.iter().map(|column| (column, false));
        let columns = values.chain(self.unknown.iter().map(|column| (column, true)));
        for (column, only_unknown) in columns {
            let mut renamed = HashMap::default();
            for node in nodes {
                let answer = if only_unknown {
                    u32::from(column.is_unknown(*node))
                } else {
                    column.number_of(*node)
                };
                class_of[*node] = new_class(&mut renamed, class_of[*node], answer);
            }
        }
        // Classes are numbered in the order of their first nodes.
        let mut classes = NodeClasses::with_capacity(nodes.len());
        let mut renumbered = vec![NONE; count as usize];
        for node in nodes {
            let class = &mut renumbered[class_of[*node] as usize];
            if *class == NONE {
                *class = classes.add_class();
            }
            classes.push(*class);
        }
        classes.collect(nodes)
    }
}

/// The classes of a list of nodes.
struct NodeClasses {
    /// For each node of the list, the number of its class.
    class_of: Vec<u32>,
    /// The number of nodes of each class.
    sizes: Vec<usize>,
}

impl NodeClasses {
    fn with_capacity(nodes: usize) -> NodeClasses {
        NodeClasses { class_of: Vec::with_capacity(nodes), sizes: Vec::new() }
    }

    /// Adds an empty class, and returns its number.
    fn add_class(&mut self) -> u32 {
        self.sizes.push(0);
        self.sizes.len() as u32 - 1
    }

    /// Puts the next node of the list into a class.
    fn push(&mut self, class: u32) {
        self.class_of.push(class);
        self.sizes[class as usize] += 1;
    }

    /// Returns the nodes of each class, in the order of the list.
    fn collect(self, nodes: &[usize]) -> Vec<Vec<usize>> {
        let mut classes: Vec<Vec<usize>> = self.sizes.into_iter().map(Vec::with_capacity).collect();
        for (node, class) in nodes.iter().zip(self.class_of) {
            classes[class as usize].push(*node);
        }
        classes
    }
}

/// A question about a node.
#[derive(Clone, Copy)]
enum NodeQuestion<'a> {
    /// By which locations the node reads a file.
    File(&'a NodesReading),
    /// The value of a variable.
    Value(&'a NodeColumn),
    /// Whether a variable is unknown.
    Unknown(&'a NodeColumn),
}

impl NodeQuestion<'_> {
    /// Returns the answer of a node. Equal answers have equal numbers.
    fn answer_of(self, node: usize) -> u32 {
        match self {
            NodeQuestion::File(file) => file.way_of(node).map_or(0, |way| way + 1),
            NodeQuestion::Value(column) => column.number_of(node),
            NodeQuestion::Unknown(column) => u32::from(column.is_unknown(node)),
        }
    }
}

/// Questions with the answers of a node.
pub(super) struct GivenAnswers<'a>(Vec<(NodeQuestion<'a>, u32)>);

impl GivenAnswers<'_> {
    /// Returns the number of the first question to which another node gives another answer, with
    /// this answer; `None` where all answers are the same.
    pub(super) fn first_difference(&self, other: usize) -> Option<(usize, u32)> {
        self.0.iter().enumerate().find_map(|(number, (question, given))| {
            let answer = question.answer_of(other);
            (answer != *given).then_some((number, answer))
        })
    }
}

/// The files that define a root key, for lookups that end at the first value.
#[derive(Debug, Default)]
struct FirstSearch {
    /// The files in the order of their locations.
    files: Vec<SearchedFile>,
}

#[derive(Debug)]
struct SearchedFile {
    readers: Arc<NodesReading>,
    /// Whether the lookup for a node that certainly reads the file comes to no later location.
    ends_lookup: bool,
}

impl FirstSearch {
    /// Returns the files of each location. One location may name several files for a node, so that
    /// a lookup ends behind a location.
    fn locations(&self) -> impl Iterator<Item = &[SearchedFile]> {
        self.files.chunk_by(|one, next| one.readers.turn.location == next.readers.turn.location)
    }

    /// Returns the files that the lookup for a node may come to, whether the node reads them or not.
    fn files_before_end(&self, node: usize) -> impl Iterator<Item = &Arc<NodesReading>> {
        let mut is_over = false;
        let reached = self.locations().take_while(move |files| {
            let was_over = is_over;
            is_over |= files.iter().any(|it| it.ends_lookup && it.readers.is_certain(node));
            !was_over
        });
        reached.flatten().map(|file| &file.readers)
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
    let patterns = environment.reach.iter().map(|reach| &reach.pattern);
    patterns
        .filter(|pattern| files.iter().any(|path| pattern.can_name(path.as_str())))
        .flat_map(Pattern::variables)
        .collect()
}
