//! "Override for…" at random places of random repositories, for random nodes and files: the reach that
//! is shown equals lookups of all keys for all nodes before and after, an entry with the value of all
//! of its nodes changes nothing, and for these nodes, and no others, it is the place of the value.
//!
//! `HIERA_LS_RANDOM` sets how many entries are written.

use std::collections::BTreeSet;

use hiera_ls::disk::OsFs;
use hiera_ls::hiera::key::LookupKey;
use hiera_ls::hiera::lookup::Resolver;
use hiera_ls::hiera::resolution::{Outcome, Resolution};
use hiera_ls::ide::refactor::chooser::{
    Chosen, OverridePlace, OverrideRequest, find_places, list_targets,
};
use hiera_ls::settings::open;
use hiera_ls::text::FilePath;
use hiera_ls::workspace::Snapshot;

use crate::reach::{differing, title};
use crate::refactorings::{apply, text, write_repository};
use crate::support::{random, random::Random, scratch};

/// How many places of a repository are tried.
const TRIES: usize = 12;

/// The numbers of a run.
#[derive(Debug, Default)]
struct Tally {
    places: usize,
    created: usize,
    neutral: usize,
    /// Entries with another value than some of their nodes had.
    remarked: usize,
    /// Entries below a merge.
    merged: usize,
    for_nodes: usize,
    kinds: usize,
}

#[test]
fn the_reach_of_an_entry_equals_all_lookups_and_its_nodes_get_it() {
    let seed = random::seed("the_reach_of_an_entry_equals_all_lookups_and_its_nodes_get_it");
    let wanted = random::count(200);
    let mut random = Random::new(seed);
    let folder = scratch("overrides");
    let (mut tally, mut number) = (Tally::default(), 0);
    while tally.places < wanted {
        let root = folder.join(format!("r{number}"));
        write_repository(&root, number, &mut random);
        let context = format!("HIERA_LS_SEED={seed}, repository {number}");
        for _ in 0..TRIES {
            try_one(&FilePath::new(&root.display().to_string()), &mut random, &context, &mut tally);
        }
        number += 1;
    }
    eprintln!("{number} repositories: {tally:?}");
    let Tally { created, neutral, remarked, merged, for_nodes, kinds, places } = tally;
    assert!(created > 0 && remarked > 0 && merged > 0 && for_nodes > 0 && kinds > 0, "{places}");
    assert!(neutral * 2 > places, "most entries change nothing");
}

/// Writes an entry that is offered at a random key.
fn try_one(root: &FilePath, random: &mut Random, context: &str, tally: &mut Tally) {
    let mut workspace = open(vec![root.clone()], &[], Vec::new(), &OsFs).workspace;
    let before = workspace.snapshot();
    let files: Vec<FilePath> = before.keys().files().cloned().collect();
    let path = random.pick(&files);
    let written = text(&before, &path);
    let starts = written.match_indices('\n').map(|(at, _)| at + 1).chain([0]);
    let keys: Vec<usize> = starts.filter(|at| written[*at..].starts_with('k')).collect();
    if keys.is_empty() {
        return;
    }
    let offset = random.pick(&keys) as u32;
    let request = OverrideRequest { path: &path, offset, creates_files: true };
    let Some(list) = list_targets(&before, request, "") else { return };
    let open: Vec<_> = list.targets.iter().filter(|one| one.stated.is_none()).collect();
    let open: Vec<_> = open.into_iter().filter(|one| one.file.is_some()).collect();
    if open.is_empty() {
        return;
    }
    let target = open[random.below(open.len())];
    let places = find_places(&before, request, &target.chosen).expect("it was listed");
    assert!(!places.is_empty(), "{context}: {target:?} has no place");
    let place = &places[random.below(places.len())];
    let Ok(change) = &place.change else { return };
    apply(&mut workspace, &before, change);
    let after = workspace.snapshot();
    let context = format!(
        "{context}, {} at {offset} of {path} for {:?}:\n{place:?}\n{}",
        list.key,
        target.chosen,
        text(&after, &place.file.path)
    );
    check_reach(&before, &after, place, &context, tally);
    check_winners(&before, &after, (&list.key, place, &target.chosen), &context);
    let is_merged = lookups(&before, &list.key).any(|(_, it)| !it.merge.stops_at_first());
    tally.places += 1;
    tally.merged += usize::from(is_merged);
    tally.created += usize::from(!place.file.exists);
    tally.remarked += usize::from(place.remark.is_some());
    tally.for_nodes += usize::from(matches!(target.chosen, Chosen::Node(_)));
    tally.kinds += usize::from(list.are_kinds);
}

/// Checks the words for the reach, and that an entry with the value of all of its nodes changes
/// nothing where one place gives the value.
fn check_reach(
    before: &Snapshot,
    after: &Snapshot,
    place: &OverridePlace,
    context: &str,
    tally: &mut Tally,
) {
    let forced = differing(before, after);
    let words = title(&forced);
    let told = place.effect.replace("changes", "change").replace("makes", "make");
    let is_right = words.split('…').all(|part| told.contains(part));
    // Unknown variables decide the answer, and no lookup shows that.
    let is_open = forced.is_empty() && told.contains("may change");
    assert!(is_right || is_open, "{told} is not {words}: {context}");
    tally.neutral += usize::from(forced.is_empty());
}

/// Checks which nodes get the value of the entry.
fn check_winners(
    before: &Snapshot,
    after: &Snapshot,
    (key, place, chosen): (&str, &OverridePlace, &Chosen),
    context: &str,
) {
    let path = &place.file.path;
    let is_first = |resolution: &Resolution| {
        let mut with_key = resolution.steps.iter().filter_map(|step| match &step.outcome {
            Outcome::Found { path, .. } | Outcome::Failed(path) => Some(path),
            _ => None,
        });
        with_key.next() == Some(path)
    };
    let winners: BTreeSet<String> =
        lookups(after, key).filter(|(_, it)| is_first(it)).map(|(name, _)| name).collect();
    let count = format!("governs {} of ", winners.len());
    assert!(place.governs.starts_with(&count), "the entry is that of {winners:?}: {context}");
    if let Chosen::Node(name) = chosen {
        assert!(winners.contains(&**name), "{winners:?}: {context}");
    }
    let names: BTreeSet<String> = lookups(before, key).map(|(name, _)| name).collect();
    assert!(winners.is_subset(&names), "{context}");
    if place.remark.is_some() {
        return;
    }
    let later: Vec<_> = lookups(after, key).collect();
    for ((name, old), (_, new)) in lookups(before, key).zip(later) {
        if winners.contains(&name) && old.merge.stops_at_first() && old.unsettled.is_empty() {
            let (old, new) = (old.value.map_err(|_| ()), new.value.map_err(|_| ()));
            assert_eq!(old, new, "{name}: {context}");
        }
    }
}

/// Returns the lookups of a key, as code asks for it, for all nodes, or for the kinds of nodes where none is known.
fn lookups(snapshot: &Snapshot, key: &str) -> impl Iterator<Item = (String, Resolution)> {
    let environment = &snapshot.environments().all[0];
    let (nodes, kinds) = (snapshot.nodes_of(environment), &snapshot.kinds_of(environment).all);
    let nodes = if nodes.is_empty() { kinds } else { nodes };
    let lookup = |node: &std::sync::Arc<hiera_ls::workspace::nodes::Node>| {
        let scope = node.scope_in(&environment.name);
        let view = snapshot.view(environment);
        let resolver = Resolver::new(snapshot.lookup_context(environment, &view, &scope));
        let found = snapshot.lookup_as_called(environment, &resolver, &LookupKey::of_root(key));
        (node.name.to_string(), found)
    };
    nodes.iter().map(lookup).collect::<Vec<_>>().into_iter()
}
