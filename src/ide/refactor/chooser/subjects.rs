//! The nodes of an environment as a chooser sees them: which files each reads above the place that has
//! the value of a key, and the answers that they get.

use std::collections::HashMap;
use std::sync::Arc;

use super::super::RefactorContext;
use super::super::targets::MoveTarget;
use crate::fleet::groups::{FleetQuestion, Group, group_by_answer};
use crate::fleet::node_values::NodeValues;
use crate::hiera::config::{HieraConfig, Layer, Level};
use crate::hiera::hierarchy::located::LevelTarget;
use crate::hiera::key::LookupKey;
use crate::hiera::lookup::Resolver;
use crate::hiera::resolution::{LookupStep, Outcome, Resolution};
use crate::hiera::scope::Scope;
use crate::text::{FilePath, count_phrase};

/// The known nodes of an environment, its kinds of nodes where none is known, or else the scope of the
/// file alone.
pub(super) struct Subjects<'c> {
    pub(super) context: &'c RefactorContext<'c>,
    pub(super) scopes: Vec<Arc<Scope>>,
    /// Whether the scopes are those of kinds of nodes.
    pub(super) are_kinds: bool,
    /// Whether the only scope is that of the file.
    pub(super) is_file_alone: bool,
}

/// The answers of nodes to the lookup of a key.
pub(super) struct Answers {
    pub(super) groups: Vec<Group>,
    group_of: HashMap<usize, usize>,
}

impl Answers {
    /// Returns the lookup of a node; `None` where there were too many others.
    pub(super) fn lookup_of(&self, node: usize) -> Option<&Resolution> {
        self.group_of(node).map(|group| &self.groups[group].resolution)
    }

    /// Returns the number of a node's group; `None` where there were too many others.
    pub(super) fn group_of(&self, node: usize) -> Option<usize> {
        self.group_of.get(&node).copied()
    }

    /// Returns the lookups of nodes, each group's once, without those of groups beyond the limit.
    pub(super) fn resolutions_of(&self, nodes: &[usize]) -> Vec<&Resolution> {
        let mut groups: Vec<usize> = nodes.iter().filter_map(|node| self.group_of(*node)).collect();
        groups.sort_unstable();
        groups.dedup();
        groups.iter().map(|group| &self.groups[*group].resolution).collect()
    }
}

/// Returns the first step of a lookup that gave a value or failed; `None` where no place has the key.
fn winner_of(answer: &Resolution) -> Option<&LookupStep> {
    let mut steps = answer.steps.iter();
    steps.find(|step| {
        matches!(
            &step.outcome,
            Outcome::Found { .. } | Outcome::Answered { .. } | Outcome::Failed(_)
        )
    })
}

impl<'c> Subjects<'c> {
    /// Returns the nodes of the environment of a file.
    pub(super) fn of_context(context: &'c RefactorContext<'c>) -> Subjects<'c> {
        let (nodes, are_kinds) = NodeValues::all_nodes(context.snapshot, context.environment);
        let mut scopes: Vec<Arc<Scope>> = nodes.iter().map(|node| node.scope.clone()).collect();
        let is_file_alone = scopes.is_empty();
        if is_file_alone {
            scopes.push(context.snapshot.scope_for(context.environment, context.wanted.path));
        }
        Subjects { context, scopes, are_kinds, is_file_alone }
    }

    /// Returns the name of a node.
    pub(super) fn name_of(&self, node: usize) -> &str {
        &self.scopes[node].name
    }

    /// Returns the number of the node of this name; `None` where there is none.
    pub(super) fn number_of(&self, name: &str) -> Option<usize> {
        let found = self.scopes.iter().position(|scope| &*scope.name == name);
        found.filter(|_| !self.is_file_alone)
    }

    /// Returns the number of nodes in words; `None` where none is known.
    pub(super) fn nodes_phrase(&self) -> Option<String> {
        let noun = if self.are_kinds { "kind of nodes" } else { "node" };
        (!self.is_file_alone).then(|| count_phrase(self.scopes.len(), noun))
    }

    /// Returns the layers up to that of the file, with their configs, in order of priority.
    pub(super) fn layers(&self) -> Vec<(Layer, &'c Arc<HieraConfig>)> {
        let RefactorContext { environment, wanted, .. } = self.context;
        let own = environment.layer_of(wanted.path);
        let all = environment.all_configs();
        all.filter(|(layer, _)| {
            let is_other_module = matches!(layer, Layer::Module(_)) && Some(layer) != own;
            let is_below = own == Some(&Layer::Global) && *layer == Layer::Environment;
            !is_other_module && !is_below
        })
        .collect()
    }

    /// Returns the answers of nodes, given by their numbers in order, by at most so many lookups.
    pub(super) fn answers_of(&self, key: &str, nodes: &[usize], most: usize) -> Answers {
        let RefactorContext { snapshot, environment, .. } = self.context;
        let root = LookupKey::of_root(key);
        let view = snapshot.view(environment);
        let lookup = |scope: &Scope, _: Option<usize>| {
            let resolver = Resolver::new(snapshot.lookup_context(environment, &view, scope));
            snapshot.lookup_as_called(environment, &resolver, &root)
        };
        let groups = if self.are_kinds || self.is_file_alone {
            let alone = nodes.iter().take(most).map(|node| {
                let scope = self.scopes[*node].clone();
                let resolution = lookup(&scope, Some(*node));
                Group { nodes: vec![*node], scope, resolution, cases: Vec::new() }
            });
            alone.collect()
        } else {
            let question = FleetQuestion {
                snapshot,
                environment,
                root: key,
                lookup: &lookup,
                ends_at_first: false,
                is_enough: &|made| made >= most,
                asked: None,
            };
            group_by_answer(&question, nodes).groups
        };
        let members = groups.iter().enumerate();
        let group_of = members
            .flat_map(|(number, group)| group.nodes.iter().map(move |node| (*node, number)))
            .collect();
        Answers { groups, group_of }
    }

    /// Returns the numbers of the nodes that certainly read a file, in order.
    pub(super) fn readers_of(&self, path: &FilePath) -> Vec<usize> {
        let RefactorContext { snapshot, environment, .. } = self.context;
        if self.are_kinds || self.is_file_alone {
            return (0..self.scopes.len())
                .filter(|node| snapshot.reads_file(environment, &self.scopes[*node], path))
                .collect();
        }
        snapshot.readers_of(environment, path).certainly.clone()
    }

    /// Returns the files that a node reads above the first place that has the key, as targets, in the
    /// order of priority.
    pub(super) fn open_targets(&self, node: usize, answer: &Resolution) -> Vec<MoveTarget> {
        let mut targets: Vec<MoveTarget> = Vec::new();
        self.visit_above(node, answer, |target| {
            if !targets.iter().any(|known| known.path == target.path) {
                targets.push(target);
            }
        });
        targets
    }

    /// Passes each location above the first one that has the key on as a target.
    fn visit_above(&self, node: usize, answer: &Resolution, mut visit: impl FnMut(MoveTarget)) {
        let winner = winner_of(answer);
        let scope = &self.scopes[node];
        for (layer, config) in self.layers() {
            for level in self.context.located_levels(config, &config.hierarchy, scope) {
                let is_winners = winner
                    .is_some_and(|step| step.layer == layer && step.level.name == level.level.name);
                for location in level.locations.iter() {
                    let is_winner = is_winners
                        && winner.is_some_and(|step| match (&step.outcome, &location.place) {
                            (
                                Outcome::Found { path, .. } | Outcome::Failed(path),
                                LevelTarget::File { path: own, .. },
                            ) => path == own,
                            (Outcome::Answered { .. }, _) => true,
                            _ => false,
                        });
                    if is_winner {
                        return;
                    }
                    if let Some(target) = self.context.target_of(&level.level, location, scope) {
                        visit(target);
                    }
                }
            }
        }
    }

    /// Returns those readers of a file that read it above the first place that has the key: an entry
    /// in it governs them. Nodes without an answer are not among them.
    pub(super) fn governed_by(
        &self,
        path: &FilePath,
        readers: &[usize],
        answers: &Answers,
    ) -> Vec<usize> {
        let mut known: HashMap<usize, bool> = HashMap::new();
        let mut governs = |node: &usize| {
            let Some(group) = answers.group_of(*node) else { return false };
            *known.entry(group).or_insert_with(|| {
                let answer = &answers.groups[group].resolution;
                self.is_earlier(path, answer).unwrap_or_else(|| {
                    self.open_targets(*node, answer).iter().any(|target| target.path == *path)
                })
            })
        };
        readers.iter().copied().filter(|node| governs(node)).collect()
    }

    /// Whether lookups ask a target before the place that has the key. `None` where the locations that
    /// lead to both do not settle the order.
    fn is_earlier(&self, path: &FilePath, answer: &Resolution) -> Option<bool> {
        let only_location = |path: &FilePath| {
            let RefactorContext { snapshot, environment, .. } = self.context;
            let turn = snapshot.readers_of(environment, path).turn;
            turn.location.filter(|_| turn.may_end_lookup)
        };
        let own = only_location(path)?;
        let Some(winner) = winner_of(answer) else { return Some(true) };
        let (Outcome::Found { path: found, .. } | Outcome::Failed(found)) = &winner.outcome else {
            return None;
        };
        let other = only_location(found)?;
        (own != other).then_some(own < other)
    }

    /// Returns nodes that have, together, all locations of a level: one for each list of locations.
    pub(super) fn nodes_apart(&self, config: &HieraConfig, level: &Arc<Level>) -> Vec<usize> {
        if self.are_kinds || self.is_file_alone {
            return (0..self.scopes.len()).collect();
        }
        self.context.snapshot.first_of_classes(self.context.environment, config, level)
    }

    /// Returns a file as a target, by the first location that names it for a node.
    pub(super) fn targets_at(&self, path: &FilePath) -> Vec<MoveTarget> {
        let Some(node) = self.readers_of(path).first().copied() else { return Vec::new() };
        let scope = &self.scopes[node];
        let located = self
            .layers()
            .into_iter()
            .flat_map(|(_, config)| self.context.located_levels(config, &config.hierarchy, scope));
        let mut targets = located.flat_map(|level| {
            let locations = level.locations.iter();
            locations
                .filter_map(|location| self.context.target_of(&level.level, location, scope))
                .collect::<Vec<_>>()
        });
        targets.find(|target| target.path == *path).into_iter().collect()
    }
}
