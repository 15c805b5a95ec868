//! Groups, answers that nodes share and readers of files, compared by force with each node's own
//! lookups, which locate levels and assemble options anew.

use std::fmt::Write as _;
use std::sync::Arc;

use super::alternatives::{add_cases, find_alternatives};
use super::answer_cache::{AnswerCache, NodeQuestion};
use super::groups::{Case, FleetQuestion, group_by_answer};
use super::node_values::NodeValues;
use crate::fixture::Fixture;
use crate::hiera::config::DataReader;
use crate::hiera::data::DataFile;
use crate::hiera::hierarchy::located::SharedCandidates;
use crate::hiera::key::LookupKey;
use crate::hiera::lookup::{Context, Resolver};
use crate::hiera::lookup_options::SharedOptions;
use crate::hiera::resolution::Resolution;
use crate::hiera::scope::Scope;
use crate::hiera::sources::{LevelLocations, LevelQuery, ModuleLayer, Sources};
use crate::tests::edits::Random;
use crate::text::{FilePath, work};
use crate::workspace::environments::Environment;
use crate::workspace::{EnvironmentView, Snapshot};

/// Files as lookups see them that share nothing.
struct Unshared<'a>(EnvironmentView<'a>);

impl Sources for Unshared<'_> {
    fn file_data(&self, path: &FilePath, reader: DataReader) -> Option<Arc<DataFile>> {
        self.0.file_data(path, reader)
    }

    fn exists(&self, path: &FilePath) -> bool {
        self.0.exists(path)
    }

    fn has_function(&self, name: &str) -> bool {
        self.0.has_function(name)
    }

    fn may_be_sensitive(&self, root: &str) -> bool {
        self.0.may_be_sensitive(root)
    }

    fn is_folder(&self, path: &FilePath) -> bool {
        self.0.is_folder(path)
    }

    fn is_unread(&self, path: &FilePath) -> bool {
        self.0.is_unread(path)
    }

    fn unlisted_reason(&self, path: &FilePath) -> Option<String> {
        self.0.unlisted_reason(path)
    }

    fn glob_files(&self, pattern: &str) -> Arc<[FilePath]> {
        self.0.glob_files(pattern)
    }

    fn files_defining(&self, root: &str) -> &[FilePath] {
        self.0.files_defining(root)
    }

    fn is_named_plainly(&self, path: &FilePath) -> bool {
        self.0.is_named_plainly(path)
    }

    fn is_indexed(&self, path: &FilePath) -> bool {
        self.0.is_indexed(path)
    }

    fn files_starting_with(&self, prefix: &str) -> Vec<FilePath> {
        self.0.files_starting_with(prefix)
    }

    fn level_locations(&self, level: &LevelQuery<'_>) -> LevelLocations {
        (level.locate)()
    }

    fn shared_options(&self) -> Option<Arc<SharedOptions>> {
        None
    }

    fn shared_candidates(&self) -> Option<Arc<SharedCandidates>> {
        None
    }

    fn module_layer(&self, name: &str) -> ModuleLayer {
        self.0.module_layer(name)
    }
}

const CONFIG: &str = "#- /hiera.yaml
version: 5
hierarchy:
- {name: Node, path: 'nodes/%{trusted.certname}.yaml'}
- {name: Role at a site, path: 'sites/%{site}/%{role}.yaml'}
- {name: Role, path: 'roles/%{role}.yaml'}
- {name: Family, path: 'os/%{facts.os.family}.yaml'}
- {name: Tiers, mapped_paths: [facts.tiers, tier, 'tiers/%{tier}.yaml']}
- {name: Parts, glob: 'parts/*.yaml'}
- {name: Common, path: common.yaml}
#- /.hiera-ls.yaml
nodes:
  derive: [{from: trusted.certname, match: '^(?<site>[a-z]+)-(?<role>[a-z]+)-'}]
";
const SITES: [&str; 2] = ["east", "west"];
const ROLES: [&str; 3] = ["web", "db", "dns"];
const KEYS: usize = 9;

/// Returns a fleet in the fixture language: nodes with facts, nodes with some facts, and nodes that
/// have a file only.
fn random_fleet(random: &mut Random) -> String {
    let mut text = String::new();
    let mut files: Vec<String> =
        ["common", "parts/a", "parts/b", "os/Debian", "os/RedHat"].map(str::to_owned).to_vec();
    files.extend(["tiers/gold", "tiers/test"].map(str::to_owned));
    files.extend(ROLES.map(|role| format!("roles/{role}")));
    files.extend(SITES.map(|site| format!("sites/{site}/{}", ROLES[random.below(3)])));
    for number in 0..12 {
        let (site, role) = (SITES[random.below(2)], ROLES[random.below(3)]);
        let name = format!("{site}-{role}-{number}");
        match random.below(3) {
            0 => {
                let family = ["Debian", "RedHat", "Suse"][random.below(3)];
                let tiers = ["[]", "[gold]", "[gold,test]", "[test,gold]"][random.below(4)];
                let _ = writeln!(
                    text,
                    "#- node {name} site={site} role={role} facts.os.family={family} facts.tiers={tiers}"
                );
            }
            _ => files.push(format!("nodes/{name}")),
        }
    }
    text.push_str(CONFIG);
    for file in files {
        let _ = writeln!(text, "#- /data/{file}.yaml\nown: 1");
        if random.below(4) == 0 {
            let merge = ["deep", "unique", "first", "'%{site}'"][random.below(4)];
            let _ =
                writeln!(text, "lookup_options: {{k{}: {{merge: {merge}}}}}", random.below(KEYS));
        }
        for key in 0..KEYS {
            let other = random.below(KEYS);
            let _ = match random.below(9) {
                0 => writeln!(text, "k{key}: {other}"),
                1 => writeln!(text, "k{key}: {{a{other}: 1, b: '%{{role}}'}}"),
                2 => writeln!(text, "k{key}: [x{other}, '%{{facts.os.family}}']"),
                3 => writeln!(text, "k{key}: \"%{{lookup('k{other}')}} %{{site}}\""),
                4 => writeln!(text, "k{key}: \"%{{alias('k{other}')}}\""),
                _ => Ok(()),
            };
        }
    }
    text
}

/// Returns the parts of a resolution that all nodes of a group have in common.
fn outcome(resolution: &Resolution) -> String {
    let mut unsettled: Vec<&str> = resolution.unsettled.iter().map(|it| it.path.as_str()).collect();
    unsettled.sort_unstable();
    format!("{:?} {:?} {unsettled:?}", resolution.value, resolution.merge)
}

fn own_lookup(
    snapshot: &Snapshot,
    environment: &Environment,
    node: usize,
    key: &LookupKey,
) -> Resolution {
    let view = snapshot.view(environment);
    let sources = Unshared(view);
    let scope = snapshot.nodes_of(environment)[node].scope.clone();
    let context = snapshot.lookup_context(environment, &view, &scope);
    Resolver::new(Context { sources: &sources, ..context }).lookup(key, None)
}

fn compare(text: &str, seed: u64) -> ((usize, usize), usize) {
    let snapshot = Fixture::new(text).snapshot;
    let environment = &snapshot.environments().all[0];
    let nodes = snapshot.nodes_of(environment);
    let numbers: Vec<usize> = (0..nodes.len()).collect();
    let (view, answers) = (snapshot.view(environment), AnswerCache::default());
    let mut groups = (0, 0);
    for root in (0..KEYS).map(|key| format!("k{key}")).chain(["own".to_owned()]) {
        let key = LookupKey::of_root(&root);
        let lookup = |scope: &Scope, _: Option<usize>| {
            let context = snapshot.lookup_context(environment, &view, scope);
            Resolver::new(context).lookup(&key, None)
        };
        let mut question = FleetQuestion {
            snapshot: &snapshot,
            environment,
            root: &root,
            lookup: &lookup,
            ends_at_first: false,
            is_enough: &|_| false,
            asked: None,
        };
        let all = group_by_answer(&question, &numbers);
        question.ends_at_first = snapshot.keys().ends_at_first(&root, None);
        let found = group_by_answer(&question, &numbers);
        for groups in [&all.groups, &found.groups] {
            let mut seen: Vec<usize> = groups.iter().flat_map(|it| it.nodes.clone()).collect();
            seen.sort_unstable();
            assert_eq!(seen, numbers, "seed {seed}: each node is in one group of {root}");
        }
        groups.0 += all.groups.len();
        groups.1 += found.groups.len();
        for group in all.groups.iter().chain(&found.groups) {
            for node in &group.nodes {
                let own = own_lookup(&snapshot, environment, *node, &key);
                let name = &nodes[*node].name;
                assert_eq!(
                    outcome(&group.resolution),
                    outcome(&own),
                    "seed {seed}: {root} of {name}\n{text}"
                );
                let question = NodeQuestion {
                    snapshot: &snapshot,
                    environment,
                    view: &view,
                    key: &key,
                    is_called: false,
                };
                let answer = answers.answer(&question, *node);
                assert_eq!(
                    format!("{:?} {} {}", answer.value, answer.is_settled, answer.has_tokens),
                    format!("{:?} {} {}", own.value, own.is_settled(), own.has_tokens()),
                    "seed {seed}: {root} of {name}\n{text}"
                );
            }
        }
    }
    (groups, numbers.len() * (KEYS + 1))
}

#[test]
fn each_node_of_a_group_has_the_answer_of_its_own_lookup() {
    let (mut groups, mut first, mut lookups) = (0, 0, 0);
    for seed in 1..=40 {
        let (some, all) = compare(&random_fleet(&mut Random::new(seed)), seed);
        (groups, first, lookups) = (groups + some.0, first + some.1, lookups + all);
    }
    assert!(groups < lookups, "{groups} groups stand for {lookups} lookups");
    assert!(first < groups, "{first} groups that end at the first value stand for {groups}");
}

#[test]
fn each_node_has_the_value_of_its_own_lookup_as_puppet_does_it() {
    let mut shared = 0;
    for seed in 1..=40 {
        let mut text = random_fleet(&mut Random::new(seed));
        if seed % 2 == 0 {
            // Each node with facts has a twin, and no variable decides an option.
            let nodes = text.lines().filter_map(|line| line.strip_prefix("#- node "));
            let twins: String =
                nodes.map(|node| format!("#- node {}\n", node.replacen(' ', "b ", 1))).collect();
            text = twins + &text.replace("'%{site}'", "first");
        }
        let snapshot = Fixture::new(&text).snapshot;
        let environment = &snapshot.environments().all[0];
        let nodes = snapshot.nodes_of(environment);
        let numbers: Vec<usize> = (0..nodes.len()).collect();
        let view = snapshot.view(environment);
        let values = NodeValues::new(&snapshot, environment, &view, &numbers);
        for root in (0..KEYS).map(|key| format!("k{key}")).chain(["own".to_owned()]) {
            let key = LookupKey::of_root(&root);
            let groups = values.groups(&key, None);
            let count: usize = groups.iter().map(|group| group.nodes.len()).sum();
            assert_eq!(count, numbers.len(), "seed {seed}: each node is in one group of {root}");
            for (group, node) in groups.iter().flat_map(|it| it.nodes.iter().map(move |n| (it, n)))
            {
                let sources = Unshared(view);
                let context = snapshot.lookup_context(environment, &view, &nodes[*node].scope);
                let context = Context { sources: &sources, tolerant: false, ..context };
                let own = Resolver::new(context).lookup(&key, None);
                let name = &nodes[*node].name;
                assert_eq!(
                    outcome(&group.resolution),
                    outcome(&own),
                    "seed {seed}: {root} of {name}\n{text}"
                );
            }
        }
        shared += values.shared_cache_count();
    }
    assert!(shared > 20, "{shared} nodes share the cache of another one");
}

/// Returns the cases in one text: the assumption of each, with the answer.
fn cases_text(cases: &[Case]) -> String {
    let one = |case: &Case| format!("{:?}: {:?}", case.when, case.resolution.as_ref().map(outcome));
    cases.iter().map(one).collect::<Vec<_>>().join("\n")
}

#[test]
fn each_node_of_a_group_has_the_cases_of_its_own_lookup() {
    let mut shared = 0;
    for seed in 1..=24 {
        let text = random_fleet(&mut Random::new(seed));
        let snapshot = Fixture::new(&text).snapshot;
        let environment = &snapshot.environments().all[0];
        let nodes = snapshot.nodes_of(environment);
        let numbers: Vec<usize> = (0..nodes.len()).collect();
        let view = snapshot.view(environment);
        for root in (0..KEYS).map(|key| format!("k{key}")) {
            let key = LookupKey::of_root(&root);
            let lookup = |scope: &Scope, _: Option<usize>| {
                let context = snapshot.lookup_context(environment, &view, scope);
                Resolver::new(context).lookup(&key, None)
            };
            let question = FleetQuestion {
                snapshot: &snapshot,
                environment,
                root: &root,
                lookup: &lookup,
                ends_at_first: seed % 2 == 0 && snapshot.keys().ends_at_first(&root, None),
                is_enough: &|_| false,
                asked: None,
            };
            let mut groups = group_by_answer(&question, &numbers).groups;
            add_cases(&question, &mut groups, &mut 100_000);
            let mut seen: Vec<usize> = groups.iter().flat_map(|it| it.nodes.clone()).collect();
            seen.sort_unstable();
            assert_eq!(seen, numbers, "seed {seed}: each node is in one group of {root}");
            for group in groups.iter().filter(|group| !group.cases.is_empty()) {
                for node in &group.nodes {
                    let scope = &nodes[*node].scope;
                    let own = lookup(scope, None);
                    let is_foreign = |value: &str| snapshot.is_node_name(environment, value);
                    let own = find_alternatives(&question, scope, &own, &is_foreign, &mut 100_000);
                    let (stated, own) = (cases_text(&group.cases), cases_text(&own));
                    assert_eq!(stated, own, "seed {seed}: {root} of {}\n{text}", nodes[*node].name);
                }
                shared += group.nodes.len() - 1;
            }
        }
    }
    assert!(shared > 8, "{shared} nodes share the cases of another one");
}

#[test]
fn options_with_tokens_are_those_of_each_node() {
    let text = "#- levels Common\n#- node a role=m::x\n#- node b role=other\n#- /data/common.yaml\nlookup_options: {'%{role}': {merge: unique}}\nk: 1\nm::x: [1, 1]\n";
    let snapshot = Fixture::new(text).snapshot;
    let environment = &snapshot.environments().all[0];
    let view = snapshot.view(environment);
    let values = snapshot.nodes_of(environment).iter().map(|node| {
        let context = snapshot.lookup_context(environment, &view, &node.scope);
        let resolver = Resolver::new(context);
        // The options of keys of no module are part of the options of a module's keys.
        let look_up = |key| resolver.lookup(&LookupKey::of_root(key), None).value;
        look_up("k").expect("the lookup succeeds");
        let found = look_up("m::x").expect("the lookup succeeds");
        found.expect("there is a value").as_array().map(<[_]>::len)
    });
    assert_eq!(values.collect::<Vec<_>>(), [Some(1), Some(2)]);
}

#[test]
fn nodes_with_other_options_are_in_other_groups() {
    let text = "
#- levels Role Common
#- node a role=web how=first
#- node b role=web how=unique
#- node c role=web how=first
#- /data/roles/web.yaml
lookup_options: {k0: {merge: '%{how}'}}
k0: [1]
#- /data/common.yaml
k0: [2]
";
    let (groups, lookups) = compare(text, 0);
    assert!(groups.0 < lookups, "a and c are in one group");
}

#[test]
fn a_node_without_the_variable_of_a_path_is_no_reader() {
    let fixture = Fixture::new("#- levels Role Common\n#- /data/roles/web.yaml\nk: 1\n");
    let environment = &fixture.snapshot.environments().all[0];
    let path = crate::text::FilePath::new("/data/roles/web.yaml");
    let without = Scope::new_closed("a", []);
    assert!(!fixture.snapshot.may_read(environment, &without, &path));
    assert!(fixture.snapshot.may_read(environment, &Scope::open("a"), &path));
}

#[test]
fn readers_of_a_file_are_the_nodes_that_may_read_it() {
    let mut possible = 0;
    for seed in 1..=20 {
        let snapshot = Fixture::new(&random_fleet(&mut Random::new(seed))).snapshot;
        let environment = &snapshot.environments().all[0];
        let nodes = snapshot.nodes_of(environment);
        for file in snapshot.files().filter(|file| environment.reaches_file(&file.path)) {
            let readers = snapshot.readers_of(environment, &file.path);
            possible += readers.possibly.len();
            for (number, node) in nodes.iter().enumerate() {
                let (scope, path) = (node.scope.clone(), &file.path);
                let is_reader = readers.way_of(number).is_some();
                let name = &node.name;
                assert_eq!(
                    (is_reader, readers.certainly.contains(&number)),
                    (
                        snapshot.may_read(environment, &scope, path),
                        snapshot.reads_file(environment, &scope, path)
                    ),
                    "seed {seed}: {name} and {path}"
                );
            }
        }
    }
    assert!(possible > 50, "unknown variables decide about {possible} readers only");
}

/// Returns the number of lookups that asking for a key of all nodes takes, and that of located
/// levels, where each role has so many nodes.
fn lookups_for(nodes_of_role: usize) -> usize {
    let mut text = CONFIG.to_owned();
    for role in ROLES {
        let _ = writeln!(text, "#- /data/roles/{role}.yaml\nk: {role}");
        for number in 0..nodes_of_role {
            let _ = writeln!(text, "#- /data/nodes/east-{role}-{number}.yaml\nown: {number}");
        }
    }
    text.push_str("#- /data/os/Debian.yaml\nk: Debian\n#- /data/common.yaml\nk: none\n");
    let snapshot = Fixture::new(&text).snapshot;
    let environment = &snapshot.environments().all[0];
    let (view, answers) = (snapshot.view(environment), AnswerCache::default());
    let key = LookupKey::of_root("k");
    let all = snapshot.nodes_of(environment).len();
    assert_eq!(all, ROLES.len() * nodes_of_role);
    work::take();
    for node in 0..all {
        let (snapshot, view, key) = (&snapshot, &view, &key);
        let question = NodeQuestion { snapshot, environment, view, key, is_called: false };
        answers.answer(&question, node);
    }
    work::take().lookups
}

#[test]
fn lookups_grow_with_groups_and_not_with_nodes() {
    let few = lookups_for(2);
    assert!(few > 0);
    assert_eq!(lookups_for(20), few);
}
