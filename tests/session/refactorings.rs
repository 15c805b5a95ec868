//! Refactorings applied at random, one after another: the values of no node change, except for as
//! many nodes as the title states.
//!
//! Random repositories and the sample repository; `HIERA_LS_RANDOM` sets how many are applied.

mod corpus;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use hiera_ls::disk::OsFs;
use hiera_ls::hiera::key::LookupKey;
use hiera_ls::hiera::lookup::{LOOKUP_OPTIONS, Resolver};
use hiera_ls::hiera::merge::Strategy;
use hiera_ls::ide::refactor::{
    Refactoring, RefactoringKind, RefactoringRequest, find_refactorings,
};
use hiera_ls::puppet::value::Value;
use hiera_ls::settings::open;
use hiera_ls::text::{FilePath, SourceChange, TextEdit, TextRange};
use hiera_ls::workspace::environments::Environment;
use hiera_ls::workspace::manifests::asked_strategy;
use hiera_ls::workspace::{Change, Snapshot, Workspace};

use crate::support::random::{self, Random, widen_letters};
use crate::support::{self, scratch, write_file};

/// How many refactorings one repository sees before the next one is made.
const STEPS: usize = 25;
/// The name of a node without any known variable, as the comparison lists it.
pub(crate) const UNKNOWN: &str = "any other";
/// How many places are tried for one.
const TRIES: usize = 40;

/// The numbers of a run.
#[derive(Debug, Default)]
struct Tally {
    /// Applied ones, by kind.
    applied: BTreeMap<String, usize>,
    neutral: usize,
    values: usize,
    refused: usize,
    created: usize,
    /// Titles whose numbers were compared.
    stated: usize,
    /// Comparisons of kinds of nodes.
    kinds: usize,
    /// Values of keys as calls ask for them.
    called: usize,
}

impl Tally {
    fn count(&self) -> usize {
        self.applied.values().sum()
    }
}

#[test]
fn random_repositories_keep_their_values() {
    let seed = random::seed("random_repositories_keep_their_values");
    let wanted = random::count(120);
    let mut random = Random::new(seed);
    let mut tally = Tally::default();
    let folder = scratch("refactorings");
    let mut number = 0;
    while tally.count() < wanted {
        let root = folder.join(format!("r{number}"));
        write_repository(&root, number, &mut random);
        let context = format!("HIERA_LS_SEED={seed}, repository {number}");
        walk(&root, STEPS.min(wanted - tally.count()), &mut random, &context, &mut tally);
        number += 1;
    }
    eprintln!("{number} repositories: {tally:?}");
    assert!(tally.neutral > 0 && tally.kinds > 0 && tally.called > 0, "{tally:?}");
}

#[test]
fn the_sample_repository_keeps_its_values() {
    let seed = random::seed("the_sample_repository_keeps_its_values");
    let wanted = random::count(120) / 8;
    let mut random = Random::new(seed);
    let mut tally = Tally::default();
    let root = support::in_package("tests/control-repo");
    while tally.count() < wanted {
        let steps = STEPS.min(wanted - tally.count());
        walk(&root, steps, &mut random, &format!("HIERA_LS_SEED={seed}"), &mut tally);
    }
    eprintln!("the sample repository: {tally:?}");
}

/// Applies refactorings to a repository, one after another.
fn walk(root: &Path, steps: usize, random: &mut Random, context: &str, tally: &mut Tally) {
    let root = FilePath::new(&root.display().to_string());
    let mut workspace = open(vec![root], &[], Vec::new(), &OsFs).workspace;
    for step in 0..steps {
        let before = workspace.snapshot();
        let Some(chosen) = choose(&before, random, tally) else { return };
        let Ok(change) = &chosen.change else { unreachable!("it was chosen for its change") };
        apply(&mut workspace, &before, change);
        let after = workspace.snapshot();
        let mut differing = differing(&before, &after, tally);
        let others_differ = differing.remove(UNKNOWN);
        let told = told_count(&chosen);
        let context = || {
            let texts = texts(&before, change).join("\n");
            format!("{context}, step {step}: {}\n{differing:?}\n{texts}", chosen.title)
        };
        match told {
            Some(count) => {
                assert_eq!(differing.len(), count, "{}", context());
                tally.stated += 1;
            }
            None if chosen.is_neutral => {
                assert!(differing.is_empty() && !others_differ, "{}", context());
            }
            None => {}
        }
        *tally.applied.entry(format!("{:?}", chosen.kind)).or_default() += 1;
        tally.neutral += usize::from(chosen.is_neutral);
        tally.created += change.created.len();
    }
}

/// Returns a refactoring that is offered at some place.
fn choose(snapshot: &Snapshot, random: &mut Random, tally: &mut Tally) -> Option<Refactoring> {
    let is_data = |path: &FilePath| path.extension().is_some_and(|it| it == "yaml");
    let files: Vec<FilePath> =
        snapshot.keys().files().filter(|path| is_data(path)).cloned().collect();
    for _ in 0..TRIES {
        let path = random.pick(&files);
        let text = text(snapshot, &path);
        if text.is_empty() {
            continue;
        }
        let floor = |at: usize| (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        let at = floor(random.below(text.len()));
        // Half of the places are at the start of a line, where keys are.
        let line = text[..at].rfind('\n').map_or(0, |line_break| line_break + 1);
        let start = if random.one_in(2) { line } else { at };
        let end = if random.one_in(3) {
            floor((start + random.below(12)).min(text.len()))
        } else {
            start
        };
        let kind = random.pick(&RefactoringKind::ALL);
        let wanted = RefactoringRequest {
            path: &path,
            range: TextRange::new(start as u32, end as u32),
            creates_files: true,
            is_by_user: true,
            lookups: None,
            kinds: &|one| one == kind,
        };
        let found = find_refactorings(snapshot, wanted);
        tally.refused += found.iter().filter(|one| one.change.is_err()).count();
        let can: Vec<Refactoring> = found.into_iter().filter(|one| one.change.is_ok()).collect();
        if !can.is_empty() {
            return Some(random.pick(&can));
        }
    }
    None
}

/// Returns the nodes, or the kinds of nodes where none is known, for which a key that was there
/// before has another value; among them [`UNKNOWN`] where a node without any known variable may
/// have one.
pub(crate) fn differing_nodes(before: &Snapshot, after: &Snapshot) -> BTreeSet<String> {
    differing(before, after, &mut Tally::default())
}

fn differing(before: &Snapshot, after: &Snapshot, tally: &mut Tally) -> BTreeSet<String> {
    let mut differing = BTreeSet::new();
    let all: BTreeSet<_> = before.keys().keys().cloned().collect();
    for environment in &before.environments().all {
        let same_root = |one: &&Arc<Environment>| one.root == environment.root;
        let later = after.environments().all.iter().find(same_root).expect("it is still there");
        // Where no node is known, the combinations of variables that files are named after take the
        // place of nodes.
        let kinds = &before.kinds_of(environment).all;
        let nodes = before.nodes_of(environment);
        let nodes = if nodes.is_empty() { kinds } else { nodes };
        tally.kinds += usize::from(!kinds.is_empty() && std::ptr::eq(nodes, &**kinds));
        let any = before.any_scope(environment);
        let known = nodes.iter().map(|node| (&*node.name, node.scope_in(&environment.name)));
        for (name, scope) in known.chain([(UNKNOWN, any.into())]) {
            let (view, later_view) = (before.view(environment), after.view(later));
            let old = Resolver::new(before.lookup_context(environment, &view, &scope));
            let new = Resolver::new(after.lookup_context(later, &later_view, &scope));
            for name_of_key in all.iter().filter(|key| &***key != LOOKUP_OPTIONS) {
                let key = LookupKey::of_root(name_of_key);
                for strategy in strategies(before, environment, name_of_key) {
                    let value = |resolver: &Resolver<'_>| -> Result<Option<Value>, ()> {
                        resolver.lookup(&key, strategy.as_ref()).value.map_err(|_| ())
                    };
                    tally.values += 1;
                    tally.called += usize::from(strategy.is_some());
                    if value(&old) != value(&new) {
                        differing.insert(name.to_owned());
                    }
                }
            }
        }
    }
    differing
}

/// Returns the merge strategies with which a key is read; `None` is that of `lookup_options`, which
/// tokens and calls without a strategy use.
pub(crate) fn strategies(
    snapshot: &Snapshot,
    environment: &Environment,
    key: &str,
) -> Vec<Option<Strategy>> {
    let mut all = Vec::new();
    let calls = snapshot.manifests(environment).readers_of_key(key);
    let called = calls.map(|call| asked_strategy(call.reader));
    let token = (!snapshot.keys().asked_by(key).is_empty()).then_some(None);
    for strategy in called.chain(token) {
        if !all.contains(&strategy) {
            all.push(strategy);
        }
    }
    if all.is_empty() { vec![None] } else { all }
}

/// Returns the number of nodes whose values change by the title; `None` where the title states
/// none, or not for all nodes.
pub(crate) fn told_count(refactoring: &Refactoring) -> Option<usize> {
    let (_, effect) = refactoring.title.split_once(" (changes ")?;
    if effect.contains("not known") {
        return None;
    }
    let (count, _) = effect.split_once(" of ")?;
    if count == "none" { Some(0) } else { count.parse().ok() }
}

pub(crate) fn text(snapshot: &Snapshot, path: &FilePath) -> String {
    let file = snapshot.file(path).expect("it is there");
    file.text().map_or_else(String::new, |text| text.to_str().into_owned())
}

fn texts(snapshot: &Snapshot, change: &SourceChange) -> Vec<String> {
    let edited = change.edits.iter().map(|(path, edits)| {
        let before = text(snapshot, path);
        format!("--- {path}\n{before}+++\n{}", TextEdit::apply_all(edits, &before))
    });
    edited.chain(change.created.iter().map(|(path, text)| format!("+++ {path}\n{text}"))).collect()
}

pub(crate) fn apply(workspace: &mut Workspace, snapshot: &Snapshot, change: &SourceChange) {
    for (path, edits) in &change.edits {
        let after = TextEdit::apply_all(edits, &text(snapshot, path));
        workspace.apply(Change::Open(path.clone(), after));
    }
    for (path, text) in &change.created {
        workspace.apply(Change::Open(path.clone(), text.clone()));
    }
}

/// Writes a repository of some levels, nodes, data, and calls that read the data.
pub(crate) fn write_repository(root: &Path, number: usize, random: &mut Random) {
    // A third of the repositories has letters beyond ASCII.
    let write = |path: &str, text: &str| match number % 3 {
        1 => write_file(root.join(widen_letters(path)), widen_letters(text)),
        _ => write_file(root.join(path), text),
    };
    // In some repositories no node is known.
    let is_open = number.is_multiple_of(4);
    let node = match is_open {
        true => "",
        false => "  - {name: Node, path: 'nodes/%{trusted.certname}.yaml'}\n",
    };
    let levels = "  - {name: Role, path: 'roles/%{role}.yaml'}\n  - {name: Os, path: 'os/%{facts.os.family}.yaml'}\n  - {name: Common, path: common.yaml}\n";
    write("hiera.yaml", &format!("version: 5\nhierarchy:\n{node}{levels}"));
    write(".hiera-ls.yaml", "nodes: {sources: [scopes/*.json]}\n");
    write("manifests/site.pp", &calls(random));
    let count = if is_open { 0 } else { 2 + random.below(5) };
    for n in 0..count {
        let (role, os) = (random.pick(&["web", "db"]), random.pick(&["Debian", "RedHat"]));
        let certname = format!("n{n}");
        let scope = serde_json::json!({"name": certname, "values": {
            "role": role, "osfamily": os, "os": {"family": os}, "facts": {"os": {"family": os}, "osfamily": os},
            "trusted": {"certname": certname},
        }});
        write(&format!("scopes/{certname}.json"), &scope.to_string());
    }
    for file in
        ["nodes/n0", "nodes/n1", "roles/web", "roles/db", "os/Debian", "os/RedHat", "common"]
    {
        let is_unread = is_open && file.starts_with("nodes/");
        if file == "common" || !is_unread && !random.one_in(4) {
            let text = data(random, file == "common");
            write(&format!("data/{file}.yaml"), &text);
        }
    }
}

/// Returns a manifest with calls of half of the keys, some with a merge strategy.
fn calls(random: &mut Random) -> String {
    let mut text = String::new();
    for key in 0..5 {
        for _ in 0..random.below(3) {
            let merge = random.pick(&["", ", Data, 'first'", ", Data, 'unique'", ", Data, 'deep'"]);
            text.push_str(&format!("$a{key} = lookup('k{key}'{merge})\n"));
        }
    }
    // In each manifest one call names a strategy.
    text + "$b = lookup('k9', Data, 'hash')\n"
}

/// Returns a data file with some of ten keys, with comments, anchors and blank lines.
fn data(random: &mut Random, with_options: bool) -> String {
    let mut text = random.pick(&["", "---\n", "# vim: ft=yaml\n---\n"]).to_owned();
    if with_options && random.one_in(2) {
        let strategy = random.pick(&["unique", "hash", "deep", "first"]);
        text.push_str(&format!("lookup_options:\n  k1:\n    merge: {strategy}\n\n"));
    }
    let mut anchored = false;
    let mut keys: Vec<usize> = (0..10).filter(|_| !random.one_in(3)).collect();
    for n in (1..keys.len()).rev() {
        keys.swap(n, random.below(n + 1));
    }
    for key in keys {
        if random.one_in(4) {
            text.push_str(&format!("# about k{key}\n"));
        }
        match random.below(12) {
            0 if anchored => text.push_str(&format!("k{key}: *a\n")),
            1 if !anchored => {
                anchored = true;
                text.push_str(&format!("k{key}: &a [one, two]\n"));
            }
            _ => text.push_str(&format!("k{key}:{}", value(random, 2, 2))),
        }
        if random.one_in(4) {
            text.push('\n');
        }
    }
    if text.is_empty() { "k0: 1\n".to_owned() } else { text }
}

/// Returns a value behind its key, with a line break at its end.
fn value(random: &mut Random, depth: usize, indent: usize) -> String {
    let pad = " ".repeat(indent);
    match random.below(if depth == 0 { 8 } else { 12 }) {
        0 if random.one_in(2) => format!(" {}\n", random::odd_value(random)),
        4 if random.one_in(4) => {
            let key = random.below(10);
            format!(" \"\\u007f %{{lookup('k{key}')}} \\u2028\\n shared.example.org\"\n")
        }
        0 => format!(" {}\n", random.pick(&["1", "0750", "yes", "1.10", "~", "true"])),
        1 | 2 => " shared.example.org\n".to_owned(),
        3 => format!(" \"%{{alias('k{}')}}\"\n", random.below(10)),
        4 => format!(" \"x %{{lookup('k{}')}} shared.example.org\"\n", random.below(10)),
        5 => format!(" 'in %{{{}}}'\n", random.pick(&["::osfamily", "facts.os.family", "role"])),
        6 => " [one, two]\n".to_owned(),
        7 => " {a: 1, b: [one, two]} # trailing\n".to_owned(),
        8 => format!(" |\n{pad}text\n{pad}more\n"),
        9 | 10 => {
            let members = random.pick(&[&["a"][..], &["a", "b"], &["b", "c"]]);
            let member = |name: &&str| {
                let value = value(random, depth - 1, indent + 2);
                format!("{pad}{name}:{value}")
            };
            format!("\n{}", members.iter().map(member).collect::<String>())
        }
        _ => format!("\n{pad}- one\n{pad}- two\n"),
    }
}
