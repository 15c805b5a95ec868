//! The effective values of nodes as Puppet computes them, with one lookup for each group of nodes.
//!
//! A file that Puppet cannot read, or a path that it cannot interpolate, makes every lookup of the
//! nodes concerned fail, whichever key is asked for. So only nodes with the same failures share a
//! lookup ([`super::groups`] distinguishes nodes by the definitions of the key alone).

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use super::alternatives::add_group_cases;
use super::audience::ValueLimits;
use super::groups::{FleetQuestion, Group, group_by_answer};
use super::node_caches::{CachedScope, NodeCaches};
use super::ways::ReadWay;
use crate::hiera::hierarchy::locate_levels;
use crate::hiera::hierarchy::located::LevelTarget;
use crate::hiera::key::LookupKey;
use crate::hiera::lookup::{Context, Resolver};
use crate::hiera::merge::Strategy;
use crate::hiera::resolution::Resolution;
use crate::hiera::scope::Scope;
use crate::hiera::sources::Sources as _;
use crate::text::FilePath;
use crate::workspace::environments::Environment;
use crate::workspace::files::parallel::on_all_cores;
use crate::workspace::nodes::Node;
use crate::workspace::{EnvironmentView, Snapshot};

/// The nodes of an environment whose values are looked up.
pub struct NodeValues<'a> {
    view: &'a EnvironmentView<'a>,
    snapshot: &'a Snapshot,
    environment: &'a Environment,
    nodes: &'a [Arc<Node>],
    are_kinds: bool,
    /// Whether no file can make lookups fail.
    are_files_accepted: bool,
    /// The numbers of the nodes, in classes with the same failures.
    classes: Arc<Vec<Vec<usize>>>,
    /// For each node the first one whose levels lead to the same files: the two share a cache.
    cached_as: Arc<Vec<usize>>,
    caches: NodeCaches<'a>,
}

/// The reasons why each lookup of a node fails: broken files that it reads, and the errors of
/// configs.
type Failures = Vec<String>;

impl<'a> NodeValues<'a> {
    /// Prepares lookups for nodes of an environment, given by their numbers among
    /// [`NodeValues::all_nodes`].
    pub fn new(
        snapshot: &'a Snapshot,
        environment: &'a Environment,
        view: &'a EnvironmentView<'a>,
        numbers: &[usize],
    ) -> NodeValues<'a> {
        let (nodes, are_kinds) = NodeValues::all_nodes(snapshot, environment);
        let broken = broken_files(snapshot, environment, view);
        let located = on_all_cores(numbers, |number| {
            LocatedFiles::locate(&nodes[*number].scope, snapshot, environment, view, &broken)
        });
        let mut classes: BTreeMap<Failures, Vec<usize>> = BTreeMap::new();
        let may_share = snapshot.are_sources_listed() && !snapshot.keys().has_live_options();
        let mut alike: HashMap<String, usize> = HashMap::new();
        let mut cached_as: Vec<usize> = (0..nodes.len()).collect();
        for (number, LocatedFiles { failures, files }) in numbers.iter().zip(located) {
            classes.entry(failures).or_default().push(*number);
            if let Some(files) = files.filter(|_| may_share) {
                cached_as[*number] = *alike.entry(files).or_insert(*number);
            }
        }
        NodeValues {
            view,
            snapshot,
            environment,
            nodes,
            are_kinds,
            are_files_accepted: broken.is_empty(),
            classes: Arc::new(classes.into_values().collect()),
            cached_as: Arc::new(cached_as),
            caches: NodeCaches::default(),
        }
    }

    /// Returns a function that each of several threads may call for lookups of its own for the same
    /// nodes.
    pub fn for_threads(&self) -> impl Fn() -> NodeValues<'a> + Sync + use<'a> {
        let NodeValues {
            view, snapshot, environment, nodes, are_kinds, are_files_accepted, ..
        } = *self;
        let (classes, cached_as) = (self.classes.clone(), self.cached_as.clone());
        move || NodeValues {
            view,
            snapshot,
            environment,
            nodes,
            are_kinds,
            are_files_accepted,
            classes: classes.clone(),
            cached_as: cached_as.clone(),
            caches: NodeCaches::default(),
        }
    }

    /// Returns the number of nodes that share the cache of another one.
    #[cfg(test)]
    pub(super) fn shared_cache_count(&self) -> usize {
        self.cached_as.iter().enumerate().filter(|(number, other)| number != *other).count()
    }

    /// Returns the known nodes of an environment, or its kinds of nodes where none is known, and
    /// whether these are kinds.
    pub fn all_nodes(snapshot: &Snapshot, environment: &'a Environment) -> (&'a [Arc<Node>], bool) {
        match snapshot.nodes_of(environment) {
            [] => (&snapshot.kinds_of(environment).all, true),
            nodes => (nodes, false),
        }
    }

    /// Returns the answers to one lookup, those of most nodes first. Nodes with other files or
    /// variables are in groups of their own, also where their values are equal; not those with other
    /// files behind the one that the first value ends the lookup at. Each group has the cases that
    /// follow from its unknown variables.
    pub fn groups(&self, key: &LookupKey, merge: Option<&Strategy>) -> Vec<Group> {
        let root = key.root_text();
        let ask = |resolver: &Resolver<'_>| resolver.lookup(key, merge);
        let lookup = |scope: &Scope, node: Option<usize>| self.look_up(&ask, (scope, node));
        let ends_at_first = self.snapshot.keys().ends_at_first(&root, merge);
        let question = FleetQuestion { ends_at_first, ..self.question(&root, &lookup) };
        let mut groups = self.groups_of(&question, None);
        let mut number = 0;
        while let Some(group) = groups.get_mut(number) {
            let others = add_own_cases(&question, group);
            groups.extend(others);
            number += 1;
        }
        groups.sort_by_key(Group::rank);
        groups
    }

    /// Returns the answer to a lookup in a scope that may be that of no node, with the cases that
    /// follow from its unknown variables. `resolution` is the lookup of the key as Puppet does it.
    pub fn group_of_scope(
        &self,
        key: &LookupKey,
        scope: &Arc<Scope>,
        resolution: Resolution,
    ) -> Group {
        let root = key.root_text();
        let ask = |resolver: &Resolver<'_>| resolver.lookup(key, None);
        let lookup = |scope: &Scope, node: Option<usize>| self.look_up(&ask, (scope, node));
        let question = self.question(&root, &lookup);
        let (nodes, cases, scope) = (Vec::new(), Vec::new(), scope.clone());
        let mut group = Group { nodes, scope, resolution, cases };
        add_own_cases(&question, &mut group);
        group
    }

    /// Returns the answers of the nodes with these numbers, in order, to a lookup in a way, without
    /// the cases of unknown variables. Nodes of one group may have other files behind the value.
    pub(super) fn answers(
        &self,
        (key, way): (&LookupKey, &ReadWay<'_>),
        numbers: &[usize],
    ) -> Vec<Group> {
        let root = key.root_text();
        let ask = |resolver: &Resolver<'_>| way.lookup(resolver, key);
        let lookup = |scope: &Scope, node: Option<usize>| self.look_up(&ask, (scope, node));
        let ends_at_first = way.ends_at_first(self.snapshot, &root);
        let question = FleetQuestion { ends_at_first, ..self.question(&root, &lookup) };
        self.groups_of(&question, Some(numbers))
    }

    fn question<'q>(
        &'q self,
        root: &'q str,
        lookup: &'q dyn Fn(&Scope, Option<usize>) -> Resolution,
    ) -> FleetQuestion<'q> {
        let NodeValues { snapshot, environment, .. } = *self;
        let is_enough = &|_| false;
        let asked = Some(&self.caches.asked);
        FleetQuestion {
            snapshot,
            environment,
            root,
            lookup,
            ends_at_first: false,
            is_enough,
            asked,
        }
    }

    /// Returns the groups of the nodes with these numbers, in order, or of all.
    fn groups_of(&self, question: &FleetQuestion<'_>, numbers: Option<&[usize]>) -> Vec<Group> {
        let mut groups = Vec::new();
        for class in &*self.classes {
            let class: Cow<'_, [usize]> = match numbers {
                None => class.into(),
                Some(all) => {
                    let asked = class.iter().filter(|node| all.binary_search(node).is_ok());
                    asked.copied().collect()
                }
            };
            if class.is_empty() {
                continue;
            }
            match self.are_kinds {
                true => groups.extend(class.iter().map(|number| {
                    let scope = self.nodes[*number].scope.clone();
                    let resolution = (question.lookup)(&scope, Some(*number));
                    Group { nodes: vec![*number], scope, resolution, cases: Vec::new() }
                })),
                false => groups.extend(group_by_answer(question, &class).groups),
            }
        }
        groups
    }

    /// Looks a key up in a scope as Puppet does: broken files fail. Nothing is decrypted. The number
    /// is that of the node with this scope. The steps end with the location that answered, and those
    /// that name no file may name that of another node.
    fn look_up(
        &self,
        ask: &dyn Fn(&Resolver<'_>) -> Resolution,
        (scope, node): (&Scope, Option<usize>),
    ) -> Resolution {
        let context = self.snapshot.lookup_context(self.environment, self.view, scope);
        let context =
            Context { tolerant: false, are_files_accepted: self.are_files_accepted, ..context };
        let cached = node.map(|number| CachedScope::Node(self.cached_as[number]));
        ask(&self.caches.resolver(context, cached.as_ref()).without_unreached())
    }
}

/// Adds the cases to a group, and returns the group of the nodes that have other cases. The limit of
/// lookups is that of the group: the answer for a node does not depend on the other nodes that are
/// asked about.
fn add_own_cases(question: &FleetQuestion<'_>, group: &mut Group) -> Option<Group> {
    let mut lookups = ValueLimits::OF_KEY.cases;
    add_group_cases(question, group, &mut lookups)
}

/// Returns the files of an environment that may make lookups of their readers fail.
fn broken_files(
    snapshot: &Snapshot,
    environment: &Environment,
    view: &EnvironmentView<'_>,
) -> HashSet<FilePath> {
    let files = snapshot.files().map(|file| &file.path);
    let broken = files.filter(|path| environment.reaches_file(path)).filter(|path| {
        view.data_of(path).is_some_and(|data| {
            data.refusal().is_some()
                || data.is_no_hash()
                || data.keys().any(|key| key.as_str().is_none())
        })
    });
    broken.cloned().collect()
}

/// The files that the levels of a node lead to.
struct LocatedFiles {
    failures: Failures,
    /// The existing files in their order, with their levels, as a text; `None` where an error or an
    /// unknown variable hides a location.
    files: Option<String>,
}

impl LocatedFiles {
    fn locate(
        scope: &Scope,
        snapshot: &Snapshot,
        environment: &Environment,
        view: &EnvironmentView<'_>,
        broken: &HashSet<FilePath>,
    ) -> LocatedFiles {
        let mut failures = Failures::new();
        let mut files = Some(String::new());
        let puppet = snapshot.config_of(environment).puppet;
        for (_, config) in environment.all_configs() {
            let levels: Vec<_> = config.levels().cloned().collect();
            let located = match locate_levels(config, &levels, scope, view, Some(puppet)) {
                Ok(located) => located,
                Err(error) => {
                    failures.push(format!("{}: {error}", config.path));
                    files = None;
                    continue;
                }
            };
            for level in located {
                files.iter_mut().for_each(|files| files.push('\n'));
                for location in level.locations.iter() {
                    match &location.place {
                        LevelTarget::File { exists: false, .. } | LevelTarget::NoMatch { .. } => {
                            continue;
                        }
                        LevelTarget::File { path, .. } => {
                            if broken.contains(path) || view.is_folder(path) {
                                failures.push(path.to_string());
                            }
                            if let Some(files) = &mut files {
                                files.push_str(path.as_str());
                                files.push('\0');
                            }
                        }
                        LevelTarget::Uri(_) | LevelTarget::Nowhere => {}
                        LevelTarget::Undetermined(_) => files = None,
                    }
                    failures.extend(level.level.call_error());
                }
            }
        }
        LocatedFiles { failures, files }
    }
}
