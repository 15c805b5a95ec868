//! The audience of a file: the nodes for which features show the values in the file. Every feature
//! reads the effective values of the audience from here, so that two features cannot contradict each
//! other about the nodes or about their values.

use std::cell::OnceCell;
use std::sync::Arc;

use super::alternatives::add_cases;
use super::groups::{FleetQuestion, Group, Groups, group_by_answer};
use super::node_caches::{CachedScope, NodeCaches};
use crate::hiera::eyaml::Decryptor;
use crate::hiera::key::LookupKey;
use crate::hiera::lookup::Context;
use crate::hiera::resolution::{Resolution, Unsettled};
use crate::hiera::scope::Scope;
use crate::text::FilePath;
use crate::workspace::Snapshot;
use crate::workspace::environments::Environment;

/// The audience of a file.
pub struct FileAudience<'a> {
    /// The snapshot.
    pub snapshot: &'a Snapshot,
    /// An environment that governs the file.
    pub environment: &'a Environment,
    /// The file.
    pub path: &'a FilePath,
    /// The scope of the file: that of the chosen node or of the only reader, or the variables that
    /// the file's path implies.
    pub scope: Arc<Scope>,
    readers: OnceCell<Vec<usize>>,
    /// The levels and options of nodes, for lookups that decrypt nothing.
    caches: NodeCaches<'static>,
}

/// How many lookups one effective value may cost.
#[derive(Clone, Copy, Debug)]
pub struct ValueLimits {
    /// The most groups of nodes. The nodes of further groups are in [`Groups::rest`].
    pub groups: usize,
    /// The most lookups under assumptions, for all groups together.
    pub cases: usize,
}

impl ValueLimits {
    /// The limits of an answer about one key. All features share the limits, so that they have the
    /// same groups.
    pub const OF_KEY: ValueLimits = ValueLimits { groups: MAX_GROUPS, cases: MAX_CASES };
}

/// The most groups of nodes that an answer compares.
const MAX_GROUPS: usize = 24;
/// The most lookups under assumptions for an answer.
const MAX_CASES: usize = 48;

impl<'a> FileAudience<'a> {
    /// Returns the audience of the file at `path` in an environment that governs the file.
    pub fn new(
        snapshot: &'a Snapshot,
        environment: &'a Environment,
        path: &'a FilePath,
    ) -> FileAudience<'a> {
        let scope = snapshot.scope_for(environment, path);
        let (readers, caches) = (OnceCell::new(), NodeCaches::default());
        FileAudience { snapshot, environment, path, scope, readers, caches }
    }

    /// Returns the numbers of the known nodes that certainly read the file, in order; none where the
    /// scope is that of one node, and for files that are not data.
    pub fn readers(&self) -> &[usize] {
        self.readers.get_or_init(|| {
            if self.scope.is_node || !self.environment.reaches_file(self.path) {
                return Vec::new();
            }
            self.snapshot.readers_of(self.environment, self.path).certainly.clone()
        })
    }

    /// Looks a root key up in a scope, as the code asks for the key. Encrypted values are decrypted
    /// if `decrypts`, and the user has switched decryption on.
    pub fn look_up(&self, root: &LookupKey, scope: &Scope, decrypts: bool) -> Resolution {
        self.look_up_in(root, (scope, None), decrypts)
    }

    /// Looks a root key up in the scope of the file.
    fn look_up_as_reader(&self, root: &LookupKey, decrypts: bool) -> Resolution {
        // The caches are the audience's own: one key stands for its scope, also that of a chosen node.
        let reader = CachedScope::ReaderOf(self.path.clone());
        self.look_up_in(root, (&self.scope, Some(reader)), decrypts)
    }

    /// Looks a root key up in a scope, one of the caches' if `cached` names it.
    fn look_up_in(
        &self,
        root: &LookupKey,
        (scope, cached): (&Scope, Option<CachedScope>),
        decrypts: bool,
    ) -> Resolution {
        let view = self.snapshot.view(self.environment);
        let keys = decrypts.then(|| self.snapshot.eyaml_decryptor(self.environment)).flatten();
        let decryptor = keys.as_ref().map(|keys| keys as &dyn Decryptor);
        let context = self.snapshot.lookup_context(self.environment, &view, scope);
        let cached = cached.filter(|_| decryptor.is_none());
        let resolver = self.caches.resolver(Context { decryptor, ..context }, cached.as_ref());
        self.snapshot.lookup_as_called(self.environment, &resolver, root)
    }

    /// Returns the effective value of a root key: one group for each answer that known readers of
    /// the file get, or one group without nodes for the scope of the file. Each group has the cases
    /// that follow from the variables that are unknown in it.
    pub fn effective_value(&self, root: &LookupKey, limits: ValueLimits, decrypts: bool) -> Groups {
        let name = root.root_text();
        let lookup = |scope: &Scope, node: Option<usize>| {
            self.look_up_in(root, (scope, node.map(CachedScope::Node)), decrypts)
        };
        let question = FleetQuestion {
            snapshot: self.snapshot,
            environment: self.environment,
            root: &name,
            lookup: &lookup,
            ends_at_first: false, // The part of a place in a group depends on the places behind the value.
            is_enough: &|made| made >= limits.groups,
            asked: None,
        };
        let mut found = if self.readers().is_empty() {
            let resolution = self.look_up_as_reader(root, decrypts);
            let (nodes, scope, cases) = (Vec::new(), self.scope.clone(), Vec::new());
            let group = Group { nodes, scope, resolution, cases };
            Groups { groups: vec![group], rest: Vec::new() }
        } else {
            group_by_answer(&question, self.readers())
        };
        let mut lookups = limits.cases;
        add_cases(&question, &mut found.groups, &mut lookups);
        found
    }

    /// Returns the answer for nodes that read the file and are not known, without the files of known
    /// nodes among the unsettled ones. `None` where the settings name all nodes, or no known node
    /// certainly reads the file.
    pub fn answer_of_unknown_nodes(&self, root: &LookupKey, decrypts: bool) -> Option<Resolution> {
        let nodes = self.snapshot.nodes_of(self.environment);
        if self.readers().is_empty() || nodes.iter().all(|node| node.is_given) {
            return None;
        }
        let mut resolution = self.look_up_as_reader(root, decrypts);
        resolution.unsettled.retain(|file| !self.is_file_of_known_node(file));
        Some(resolution)
    }

    /// Whether the values of variables that lead to a file are those of a known node: its name.
    pub fn is_file_of_known_node(&self, file: &Unsettled) -> bool {
        file.when.values().any(|value| self.snapshot.is_node_name(self.environment, value))
    }

    /// Whether a file is that of a known node outside of the audience: not that of the node of the
    /// scope, nor of a node that reads the file of the audience, or may read it.
    pub fn is_foreign_file(&self, file: &Unsettled) -> bool {
        let Some(name) = self.node_name(file) else { return false };
        let named = self.snapshot.nodes_named(self.environment, name);
        if named.is_empty() {
            return false;
        }
        if self.scope.is_node {
            return *name != *self.scope.name;
        }
        let chosen = self.snapshot.selected_reader(self.environment, self.path);
        if chosen.is_some() || !self.environment.reaches_file(self.path) {
            return false;
        }
        let readers = self.snapshot.readers_of(self.environment, self.path);
        let shown =
            if readers.certainly.is_empty() { &readers.possibly } else { &readers.certainly };
        !named.iter().any(|number| shown.binary_search(number).is_ok())
    }

    /// Returns the name of the node that a file belongs to, where the file's location names the
    /// files of nodes.
    pub fn node_name<'f>(&self, file: &'f Unsettled) -> Option<&'f str> {
        let variables = self.snapshot.node_variables(self.environment);
        variables.iter().find_map(|name| file.when.get(name)).map(String::as_str)
    }
}
