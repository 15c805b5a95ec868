//! The nodes and kinds of nodes of a snapshot, and the node that is chosen among them.

use std::collections::HashSet;
use std::sync::Arc;

use foldhash::HashMap;

use super::inferred::node_variables;
use super::node::{Kinds, Node};
use super::{kinds, list};
use crate::workspace::environments::Environment;
use crate::workspace::snapshot::Snapshot;

impl Snapshot {
    /// Returns the nodes that an environment has: those of its own settings, or else of the
    /// workspace's, and those that the names of its data files show.
    pub fn nodes_of<'a>(&self, environment: &'a Environment) -> &'a [Arc<Node>] {
        environment.cache.nodes.get_or_init(|| list::nodes_of(self, environment))
    }

    /// Returns the numbers of the nodes of this name among the nodes of an environment, in order.
    pub fn nodes_named<'a>(&self, environment: &'a Environment, name: &str) -> &'a [usize] {
        let numbers = environment.cache.node_numbers.get_or_init(|| {
            let mut numbers: HashMap<Arc<str>, Vec<usize>> = HashMap::default();
            for (number, node) in self.nodes_of(environment).iter().enumerate() {
                numbers.entry(node.name.clone()).or_default().push(number);
            }
            numbers
        });
        numbers.get(name).map_or(&[], Vec::as_slice)
    }

    /// Whether an environment has a node of this name.
    pub fn is_node_name(&self, environment: &Environment, name: &str) -> bool {
        !self.nodes_named(environment, name).is_empty()
    }

    /// Returns the nodes of all environments, each once: several environments may make nodes of
    /// their own from one file.
    pub fn distinct_nodes(&self) -> &[Arc<Node>] {
        self.environments.distinct_nodes.get_or_init(|| {
            let mut known = HashSet::new();
            let all = self.environments.all.iter().flat_map(|one| self.nodes_of(one));
            all.chain(self.nodes.iter())
                .filter(|node| known.insert((node.source.clone(), node.name.clone())))
                .cloned()
                .collect()
        })
    }

    /// Returns the first node with this certname, or kind of nodes of this name, in any
    /// environment.
    pub fn find_node(&self, name: &str) -> Option<&Node> {
        match self.nodes.iter().position(|node| &*node.name == name) {
            Some(number) => Some(&self.nodes[number]),
            None => {
                let node = self
                    .distinct_nodes()
                    .iter()
                    .position(|node| &*node.name == name)
                    .map(|number| &*self.distinct_nodes()[number]);
                let mut kinds =
                    self.environments.all.iter().flat_map(|one| &self.kinds_of(one).all);
                node.or_else(|| kinds.find(|kind| &*kind.name == name).map(|kind| &**kind))
            }
        }
    }

    /// Returns the node that was chosen, or that the settings choose; `None` also for one that is
    /// not known, or no longer.
    pub fn chosen_node(&self) -> Option<&Node> {
        self.find_node(self.selected_node()?)
    }

    /// Returns the selected node among those that an environment has, by its own settings.
    pub fn selected_in<'a>(&self, environment: &'a Environment) -> Option<&'a Node> {
        let name =
            self.selected.as_deref().or(self.config_of(environment).nodes.default.as_deref())?;
        let mut all = self.nodes_of(environment).iter().chain(&self.kinds_of(environment).all);
        all.find(|node| &*node.name == name).map(|node| &**node)
    }

    /// Returns the kinds of nodes of an environment without known nodes; none in others.
    pub fn kinds_of<'a>(&self, environment: &'a Environment) -> &'a Kinds {
        environment.cache.kinds.get_or_init(|| kinds::kinds_of(self, environment))
    }

    /// Returns the kinds of nodes of all environments, each once.
    pub fn distinct_kinds(&self) -> Vec<&Arc<Node>> {
        let mut known = HashSet::new();
        let all = self.environments.all.iter().flat_map(|one| &self.kinds_of(one).all);
        all.filter(|kind| known.insert(kind.name.clone())).collect()
    }

    /// Returns the variables of locations whose files are one node each: their value is the node's
    /// name.
    pub fn node_variables<'a>(&self, environment: &'a Environment) -> &'a [String] {
        environment.cache.node_variables.get_or_init(|| node_variables(self, environment))
    }
}
