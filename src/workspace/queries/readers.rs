//! The readers of a file: the routes by which levels can name it, and the scopes in which they do.

use std::collections::BTreeSet;
use std::sync::Arc;

use foldhash::HashMap;

use super::view::EnvironmentView;
use crate::hiera::config::{ConfigVersion, HieraConfig, Layer, Level, Locations};
use crate::hiera::hierarchy::located::{LevelTarget, Location};
use crate::hiera::hierarchy::{locate_levels, write_value};
use crate::hiera::key::LookupKey;
use crate::hiera::pattern::PatternMatch;
use crate::hiera::scope::{Scope, Variable};
use crate::hiera::sources::Sources as _;
use crate::text::FilePath;
use crate::workspace::environments::cache::LevelMemo;
use crate::workspace::environments::{Environment, Reach};
use crate::workspace::nodes::node::Node;
use crate::workspace::nodes::reading::{
    FileTurn, NodeColumn, NodesByValue, NodesReading, Reads, Step, is_of_the_node, most_certain,
    plain_value,
};
use crate::workspace::snapshot::Snapshot;

/// The routes in which the levels of an environment can name a file.
pub(super) struct FileReaders<'a> {
    environment: &'a Environment,
    path: &'a FilePath,
    /// The levels of the routes, each once, with their configs.
    levels: Vec<(&'a HieraConfig, &'a Arc<Level>)>,
    routes: Vec<Route>,
}

/// A location that can name the file.
struct Route {
    /// The number of the location's level.
    level: usize,
    /// The values that variables must have for the location to name the file, as far as their texts
    /// alone decide it.
    needs: Vec<(LookupKey, String)>,
}

impl<'a> FileReaders<'a> {
    /// Returns the routes to name the file at `path`.
    pub(super) fn new_readers(environment: &'a Environment, path: &'a FilePath) -> FileReaders<'a> {
        let mut readers = FileReaders { environment, path, levels: Vec::new(), routes: Vec::new() };
        for number in environment.locations_leading_to(path) {
            readers.add_route(&environment.reach[number]);
        }
        readers
    }

    fn add_route(&mut self, reach: &'a Reach) {
        let config = self.environment.all_configs().find(|(layer, _)| *layer == reach.layer);
        let Some((_, config)) = config else { return };
        let known = self.levels.iter().position(|(_, level)| Arc::ptr_eq(level, &reach.level));
        let level = known.unwrap_or_else(|| {
            self.levels.push((config, &reach.level));
            self.levels.len() - 1
        });
        let needs = needed_variables(config, reach, self.path);
        self.routes.push(Route { level, needs });
    }

    /// Returns the numbers of the environment's nodes that may read the file, in order: of a fleet,
    /// most are distinguished by the value of one variable.
    pub(super) fn candidate_nodes(&self, nodes: &[Arc<Node>]) -> Vec<usize> {
        let mut found = Vec::new();
        for route in &self.routes {
            let own = route.needs.iter().filter(|(key, _)| is_of_the_node(key));
            let fitting = own.map(|(key, text)| {
                self.environment
                    .cache
                    .nodes_by_value
                    .get_or(key, || Arc::new(NodesByValue::gather(nodes, key)))
                    .nodes_with(text)
            });
            match fitting.min_by_key(Vec::len) {
                Some(fewest) => found.extend(fewest),
                None => return (0..nodes.len()).collect(),
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Returns the memos of the routes' levels, which are levels of configs of the environment.
    fn level_memos(&self) -> Vec<Arc<LevelMemo>> {
        self.levels
            .iter()
            .filter_map(|(config, level)| self.environment.cache.level_memo(config, level))
            .collect()
    }

    /// Whether a node with this scope reads the file; `None` where it does not.
    pub(super) fn is_read_by(&self, scope: &Scope, view: &EnvironmentView<'_>) -> Option<Reads> {
        most_certain(&self.way_of(scope, view))
    }

    /// Returns all locations by which a node with this scope reads the file, in the order in which
    /// the node reads them; empty for a node that does not read it.
    ///
    /// A hash merge reads a file as often as locations name it, and its list fails the merge where
    /// it is read twice, so that the first location alone does not tell what a node gets.
    fn way_of(&self, scope: &Scope, view: &EnvironmentView<'_>) -> Vec<Step> {
        let environment = self.environment.name.as_str();
        let is_elsewhere = matches!(scope.get("environment"), Variable::Known(name) if name.to_text() != environment);
        if is_elsewhere && !self.environment.may_hold_others() {
            return Vec::new();
        }
        let mut steps = Vec::new();
        for (number, level) in self.levels.iter().enumerate() {
            if self.routes.iter().any(|route| route.level == number && route.may_be_taken(scope)) {
                self.add_steps(number, level, scope, view, &mut steps);
            }
        }
        steps
    }

    fn add_steps(
        &self,
        number: usize,
        (config, level): &(&'a HieraConfig, &'a Arc<Level>),
        scope: &Scope,
        view: &EnvironmentView<'_>,
        steps: &mut Vec<Step>,
    ) {
        let located = locate_levels(config, std::slice::from_ref(*level), scope, view, None);
        let located = located.unwrap_or_default();
        let locations = located.iter().flat_map(|level| level.locations.iter());
        let real = locations.clone().filter(|it| !matches!(it.place, LevelTarget::NoMatch { .. }));
        let is_alone = real.count() == 1;
        for (position, location) in locations.enumerate() {
            let Some(reads) = self.is_at(location, scope, view) else { continue };
            let rank = rank_of(level, location, position);
            steps.push(Step { level: number, rank, reads, is_alone });
        }
    }

    /// Whether the location is the file; `None` where it is not.
    fn is_at(
        &self,
        location: &Location,
        scope: &Scope,
        view: &EnvironmentView<'_>,
    ) -> Option<Reads> {
        match &location.place {
            LevelTarget::File { path, .. } if path == self.path => Some(Reads::Certainly),
            LevelTarget::Undetermined(undetermined) => {
                let (pattern, path) = (undetermined.pattern.as_ref()?, self.path.as_str());
                let found = pattern.bind(path).or_else(|| {
                    pattern.bind_nested(path).filter(|_| !view.is_named_plainly(self.path))
                })?;
                scope.may_have(found.bindings()).then_some(Reads::Possibly)
            }
            _ => None,
        }
    }
}

/// Returns the number of a location among those of its level that does not depend on files beside
/// the one at hand: that of the template, and where an array of the node or braces decide the order,
/// the position.
fn rank_of(level: &Level, location: &Location, position: usize) -> usize {
    let (Locations::Globs(templates) | Locations::ByKey(_, templates)) = &level.locations else {
        return position;
    };
    let template = location.template.as_ref().map(|template| &template.text);
    let has_braces = template.is_some_and(|text| text.replace("%{", "").contains('{'));
    let number = templates.iter().position(|known| Some(&known.text) == template);
    number.filter(|_| !has_braces).unwrap_or(templates.len() + position)
}

/// Returns the turn of a file in the lookups of an environment.
fn file_turn(environment: &Environment, path: &FilePath) -> FileTurn {
    let mut leading = (0..environment.reach.len())
        .filter(|n| environment.reach[*n].pattern.can_lead_to(path.as_str()));
    let Some(location) = leading.next() else { return FileTurn::default() };
    let reach = &environment.reach[location];
    // Locations that are too large come last among those of the environment.
    if reach.layer != Layer::Environment || environment.reach.iter().any(|it| it.is_too_large) {
        return FileTurn::default();
    }
    // A function that the settings describe passes over keys. Puppet refuses a default hierarchy in
    // the environment layer.
    let is_of_keys = matches!(reach.level.locations, Locations::ByKey(..));
    let is_asked = environment.config.as_ref().is_some_and(|config| {
        config.hierarchy.iter().any(|level| Arc::ptr_eq(level, &reach.level))
    });
    let is_plain = !reach.is_of_function() && !is_of_keys && is_asked;
    let may_end_lookup = is_plain && leading.next().is_none();
    FileTurn { location: Some(location), may_end_lookup }
}

impl Route {
    /// Whether no variable speaks against the route.
    fn may_be_taken(&self, scope: &Scope) -> bool {
        !self
            .needs
            .iter()
            .any(|(key, needed)| plain_value(scope, key).is_some_and(|text| text != needed))
    }
}

/// Returns the variables of a location that names the file in one way only. Where an extension is
/// added, or Hiera 3 reads the variables, texts alone do not decide it.
fn needed_variables(
    config: &HieraConfig,
    reach: &Reach,
    path: &FilePath,
) -> Vec<(LookupKey, String)> {
    let are_adjacent = reach.template.text.contains("}%{"); // One of two may be empty, and the other all.
    if reach.level.extension.is_some() || config.version == ConfigVersion::V3 || are_adjacent {
        return Vec::new();
    }
    let Some(PatternMatch::Bound(bindings)) = reach.pattern.bind(path.as_str()) else {
        return Vec::new();
    };
    bindings
        .into_iter()
        .filter_map(|(name, text)| Some((LookupKey::parse(&name).ok()?, text)))
        .collect()
}

impl Snapshot {
    /// Whether a node with this scope reads the file.
    pub fn reads_file(&self, environment: &Environment, scope: &Scope, path: &FilePath) -> bool {
        let readers = FileReaders::new_readers(environment, path);
        readers.is_read_by(scope, &self.view(environment)) == Some(Reads::Certainly)
    }

    /// Whether a node with this scope may read the file: its variables do not speak against it.
    pub fn may_read(&self, environment: &Environment, scope: &Scope, path: &FilePath) -> bool {
        FileReaders::new_readers(environment, path)
            .is_read_by(scope, &self.view(environment))
            .is_some()
    }

    /// Returns the nodes that read a file.
    pub fn readers_of(&self, environment: &Environment, path: &FilePath) -> Arc<NodesReading> {
        environment.cache.readers.get_or(path, || {
            let (view, readers) =
                (self.view(environment), FileReaders::new_readers(environment, path));
            let nodes = self.nodes_of(environment);
            let turn = file_turn(environment, path);
            let mut found = NodesReading::new_readers(turn);
            let levels = readers.level_memos();
            let classes: Vec<&NodeColumn> =
                levels.iter().map(|level| self.node_classes(environment, level)).collect();
            // The way to the file is computed for one node of each class.
            let mut known: HashMap<Vec<u32>, Option<(Reads, u32)>> = HashMap::default();
            let mut ways = HashMap::default();
            let mut class = Vec::new();
            for number in readers.candidate_nodes(nodes) {
                class.clear();
                class.extend(classes.iter().map(|column| column.number_of(number)));
                let way = known.get(&class).copied().unwrap_or_else(|| {
                    let steps = readers.way_of(&nodes[number].scope, &view);
                    let way = most_certain(&steps).map(|reads| {
                        let next = ways.len() as u32;
                        (reads, *ways.entry(steps).or_insert(next))
                    });
                    known.insert(class.clone(), way);
                    way
                });
                if let Some((reads, way)) = way {
                    found.add_node(number, reads, way);
                }
            }
            found.end_nodes(nodes.len());
            environment.cache.share_readers(found)
        })
    }

    /// Returns the values of a variable, dotted where a part is meant, for the nodes of an
    /// environment.
    pub fn node_column(&self, environment: &Environment, variable: &str) -> Arc<NodeColumn> {
        environment.cache.columns.get_or(&variable.into(), || {
            let key = LookupKey::parse(variable);
            Arc::new(self.gather_column(environment, |scope| {
                let mut text = String::new();
                key.as_ref().map_or(Some(()), |key| write_value(&mut text, scope, key))?;
                Some(text)
            }))
        })
    }

    /// Returns the nodes of an environment by the variables that are unknown among those that decide
    /// locations. For nodes with equal values, unknown variables decide the same locations.
    pub fn open_locations(&self, environment: &Environment) -> Arc<NodeColumn> {
        let gather = || {
            let configs: Vec<_> = environment.all_configs().collect();
            let levels = configs.iter().flat_map(|(_, config)| {
                config.levels().filter_map(move |level| environment.cache.level_memo(config, level))
            });
            let keys = levels.flat_map(|level| level.variables.keys().to_vec());
            let mut seen = BTreeSet::new();
            let keys: Vec<LookupKey> = keys.filter(|key| seen.insert(key.text.clone())).collect();
            Arc::new(self.gather_column(environment, |scope| {
                let mut text = String::from(".");
                for key in &keys {
                    let mut value = String::new();
                    write_value(&mut value, scope, key)?;
                    text.push(if value == "?" { '?' } else { '.' });
                }
                Some(text)
            }))
        };
        environment.cache.open_locations.get_or_init(gather).clone()
    }

    fn gather_column(
        &self,
        environment: &Environment,
        value: impl Fn(&Scope) -> Option<String>,
    ) -> NodeColumn {
        let nodes = self.nodes_of(environment).iter();
        NodeColumn::gather(nodes.map(|node| &*node.scope), value)
    }

    /// Returns the classes of an environment's nodes: nodes of one class have the same locations of
    /// a level, and what unknown variables may be for one of them, they may be for all.
    fn node_classes<'l>(&self, environment: &Environment, level: &'l LevelMemo) -> &'l NodeColumn {
        let own = LookupKey::of_root("environment");
        let variables = &level.variables;
        level.classes.get_or_init(|| {
            self.gather_column(environment, |scope| {
                let mut text = variables.values_in(scope)?;
                write_value(&mut text, scope, &own)?;
                // Derived variables contradict values of the variable that they follow from.
                for rule in scope.rules() {
                    let mut keys = variables.keys().iter();
                    if keys.any(|key| *key.text.trim_start_matches("::") == *rule.from) {
                        for name in rule.derived_names() {
                            write_value(&mut text, scope, &LookupKey::of_root(name))?;
                        }
                    }
                }
                Some(text)
            })
        })
    }

    /// Returns the first node of each class of an environment's nodes: nodes of one class have the same
    /// locations of this level of a config of the environment.
    pub fn first_of_classes(
        &self,
        environment: &Environment,
        config: &HieraConfig,
        level: &Arc<Level>,
    ) -> Vec<usize> {
        let Some(memo) = environment.cache.level_memo(config, level) else { return Vec::new() };
        self.node_classes(environment, &memo).first_nodes()
    }

    /// Returns the nodes whose hierarchy certainly includes the file.
    pub fn nodes_reading<'a>(
        &self,
        environment: &'a Environment,
        path: &FilePath,
    ) -> Vec<&'a Arc<Node>> {
        let nodes = self.nodes_of(environment);
        self.readers_of(environment, path).certainly.iter().map(|number| &nodes[*number]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Fixture;
    use crate::workspace::Snapshot;

    /// Values that mean more in a path than their text, and some that do not.
    const FLEET: &str = "
#- node plain a=x b=y
#- node dashed a=x-y b=z
#- node nested a=x/y b=y
#- node dotted a=./x b=y
#- node climbing a=../x b=y
#- node empty a='' b=x
#- node wild a=?* b=y
#- node braces a={x,q} b=y
#- node token a='%{b}' b=x
#- node number a=1 b='2'
#- node lacking b=y
#- node listed a='x,q' b=y
#- node joined a='' b=xy
#- node suffixed a=x.yaml b=y
#- node facts facts.os.family=x a=q
#- /hiera.yaml
version: 5
hierarchy:
- {name: One, path: 'n/%{a}.yaml'}
- {name: Two, path: 'n/%{a}-%{b}.yaml'}
- {name: Twice, path: '%{a}/%{b}/%{a}.yaml'}
- {name: Dotted, path: 'os/%{facts.os.family}.yaml'}
- {name: Glob, glob: 'g/%{a}/*.yaml'}
- {name: Star, globs: ['s/%{a}*.yaml', 'e/*%{a}.yaml', 'd/d/%{a}/**/*.yaml', 'c/{%{a},z}.yaml', 'q/?%{a}.yaml', 'w/[%{a}].yaml']}
- {name: Both, path: 't/%{a}%{b}.yaml'}
- {name: Mapped, mapped_paths: [b, each, 'm/%{each}/%{a}.yaml']}
- {name: Detour, path: 'r/%{a}/%{b}/only.json'}
- {name: Common, path: common.yaml}
#- /data/r/only.json
#- /data/r/x/only.json
#- /data/common.yaml
#- /data/n/x.yaml
#- /data/n/1.yaml
#- /data/n/.yaml
#- /data/n/x-y.yaml
#- /data/n/x-y-z.yaml
#- /data/n/x/y.yaml
#- /data/n/-x.yaml
#- /data/x/y/x.yaml
#- /data/x/z/x.yaml
#- /data/os/x.yaml
#- /data/g/x/1.yaml
#- /data/g/q/1.yaml
#- /data/s/x.yaml
#- /data/s/x-y.yaml
#- /data/s/xyz.yaml
#- /data/e/x.yaml
#- /data/e/1x.yaml
#- /data/e/x-y.yaml
#- /data/d/d/x/x/x.yaml
#- /data/d/d/x/x.yaml
#- /data/c/x.yaml
#- /data/c/z.yaml
#- /data/q/xx.yaml
#- /data/q/1x.yaml
#- /data/w/x.yaml
#- /data/w/y.yaml
#- /data/t/xy.yaml
#- /data/t/x-yz.yaml
#- /data/m/y/x.yaml
#- /data/m/x/x.yaml
";

    /// Returns the names of the nodes whose located levels hold the file: `FileReaders` finds these
    /// nodes by a quicker route.
    fn reading<'a>(
        snapshot: &'a Snapshot,
        environment: &Environment,
        path: &FilePath,
    ) -> Vec<&'a str> {
        let view = snapshot.view(environment);
        let reads = |scope: &Scope| {
            environment.all_configs().any(|(_, config)| {
                let levels: Vec<_> = config.levels().cloned().collect();
                let located =
                    locate_levels(config, &levels, scope, &view, None).expect("no token is bad");
                let mut places = located
                    .iter()
                    .flat_map(|level| level.locations.iter())
                    .map(|location| &location.place);
                places.any(
                    |place| matches!(place, LevelTarget::File { path: found, .. } if found == path),
                )
            })
        };
        snapshot
            .given_nodes()
            .iter()
            .filter(|node| reads(&node.scope))
            .map(|node| &*node.name)
            .collect()
    }

    #[test]
    fn readers_of_a_file_agree_with_the_levels() {
        let snapshot = Fixture::new(FLEET).snapshot;
        let environment = &snapshot.environments().all[0];
        let mut readers = 0;
        for file in snapshot.files().filter(|file| environment.reaches_file(&file.path)) {
            let expected = reading(&snapshot, environment, &file.path);
            let seen: Vec<&str> = snapshot
                .nodes_reading(environment, &file.path)
                .iter()
                .map(|node| &*node.name)
                .collect();
            assert_eq!(seen, expected, "{}", file.path);
            readers += expected.len();
        }
        assert!(readers > 30, "only {readers} nodes read any of the files");
    }
}
