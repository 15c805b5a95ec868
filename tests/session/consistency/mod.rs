//! One question asked of several features at random places of random repositories: hover,
//! definition, hints, lenses, the page that explains a key, completion, titles of refactorings and
//! lookups of single nodes must not contradict one another.
//!
//! `HIERA_LS_PLACES` sets how many places are asked. Each repository has a seed of its own, which a
//! contradiction prints: with it in `HIERA_LS_SEED`, a run begins with that repository. Of each kind
//! of contradiction the smallest repository is printed.

mod generate;
mod question;
mod shown;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::thread;

use hiera_ls::disk::MemoryFs;
use hiera_ls::hiera::key::LookupKey;
use hiera_ls::settings::open;
use hiera_ls::text::{FilePath, FilePosition, TextRange};
use hiera_ls::workspace::{Change, Snapshot, Workspace};

use crate::support::{self, random, random::Random};
use question::Question;

/// The most places of one repository that are asked.
const PLACES: usize = 60;
/// The places that a run asks without `HIERA_LS_PLACES`.
const SHARE: usize = 2000;
/// One place in so many has the titles of its refactorings compared by force.
const TITLES: usize = 80;
/// The kinds of comparisons.
const KINDS: [&str; 10] = [
    "node",
    "case",
    "places",
    "page",
    "page order",
    "hint",
    "completion",
    "lens",
    "redundant",
    "title",
];

/// A place: a root key, or a token that asks for a key.
struct Place {
    path: FilePath,
    position: FilePosition,
    /// The bytes of the key, or of the token.
    range: TextRange,
    key: LookupKey,
    is_token: bool,
}

/// The comparisons that were made, by kind, and the contradictions.
#[derive(Debug, Default)]
struct Tally {
    made: BTreeMap<&'static str, usize>,
    contradictions: BTreeMap<&'static str, (usize, String)>,
}

impl Tally {
    /// Counts a comparison. A contradiction is kept, in the smallest repository.
    fn compare(&mut self, kind: &'static str, found: Option<String>, at: &dyn Fn() -> String) {
        *self.made.entry(kind).or_default() += 1;
        let Some(found) = found else { return };
        self.add_contradictions(kind, 1, format!("{found}\n{}", at()));
    }

    fn add_contradictions(&mut self, kind: &'static str, number: usize, text: String) {
        let (count, smallest) = self.contradictions.entry(kind).or_default();
        *count += number;
        if smallest.is_empty() || text.len() < smallest.len() {
            *smallest = text;
        }
    }

    fn assert_no_contradictions(&self) {
        let mut report = String::new();
        for (kind, (count, smallest)) in &self.contradictions {
            let _ = writeln!(report, "{count} contradictions of kind {kind}; one is\n{smallest}");
        }
        assert!(report.is_empty(), "{report}");
    }

    fn add(&mut self, other: Tally) {
        for (kind, count) in other.made {
            *self.made.entry(kind).or_default() += count;
        }
        for (kind, (count, smallest)) in other.contradictions {
            self.add_contradictions(kind, count, smallest);
        }
    }
}

#[test]
fn features_agree_at_random_places() {
    let seed = random::seed("features_agree_at_random_places");
    let wanted = random::number("HIERA_LS_PLACES").map_or(SHARE, |count| count as usize);
    let tally = Mutex::new(Tally::default());
    let (next, asked) = (AtomicU64::new(seed), AtomicUsize::new(0));
    let ask = || {
        while asked.load(Ordering::Relaxed) < wanted {
            let mut own = Tally::default();
            let places = ask_repository(next.fetch_add(1, Ordering::Relaxed), &mut own);
            asked.fetch_add(places, Ordering::Relaxed);
            tally.lock().unwrap().add(own);
        }
    };
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(ask);
        }
    });
    let tally = tally.into_inner().unwrap();
    let all: usize = tally.made.values().sum();
    let (asked, repositories) = (asked.into_inner(), next.into_inner() - seed);
    println!("{asked} places of {repositories} repositories, {all} comparisons: {:?}", tally.made);
    tally.assert_no_contradictions();
    let missing: Vec<_> = KINDS.iter().filter(|kind| !tally.made.contains_key(**kind)).collect();
    assert!(wanted < SHARE || missing.is_empty(), "not compared: {missing:?}");
}

/// Asks all places of the repositories in `cases`, in which features contradicted one another. Each
/// is a text as a contradiction prints it: `#- chosen NODE` names the chosen node, `#- PATH` begins a
/// file.
#[test]
fn features_agree_in_the_repositories_of_earlier_contradictions() {
    let mut tally = Tally::default();
    let folder = fs::read_dir(support::in_package("tests/session/consistency/cases"));
    for entry in folder.expect("a folder of cases") {
        let path = entry.expect("an entry of the folder").path();
        let text = fs::read_to_string(&path).expect("a text");
        let name = path.display().to_string();
        let (mut files, mut chosen) = (Vec::new(), None);
        for part in text.split("#- ").skip(1) {
            let (head, body) = part.split_once('\n').unwrap_or((part, ""));
            match head.strip_prefix("chosen ") {
                Some(node) => chosen = Some(node.to_owned()),
                None => files.push((head.to_owned(), body.to_owned())),
            }
        }
        let mut workspace = open_repository(&files);
        workspace.apply(Change::SelectNode(chosen));
        let snapshot = workspace.snapshot();
        let places = all_places(&snapshot);
        assert!(!places.is_empty(), "{name} has no place");
        ask_places(&snapshot, &places, 1, &mut tally, &|| format!("{name}\n{text}"));
    }
    tally.assert_no_contradictions();
}

/// Asks places of the repository of a seed, and returns their number.
fn ask_repository(seed: u64, tally: &mut Tally) -> usize {
    let mut random = Random::new(seed);
    let files = generate::random_repository(&mut random);
    let mut workspace = open_repository(&files);
    if random.one_in(3) {
        let snapshot = workspace.snapshot();
        let environment = &snapshot.environments().all[0];
        let nodes = snapshot.nodes_of(environment);
        let chosen = (!nodes.is_empty()).then(|| random.pick(nodes).name.to_string());
        workspace.apply(Change::SelectNode(chosen));
    }
    let snapshot = workspace.snapshot();
    let mut all = all_places(&snapshot);
    let count = PLACES.min(all.len());
    let places: Vec<_> = (0..count).map(|_| all.swap_remove(random.below(all.len()))).collect();
    ask_places(&snapshot, &places, TITLES, tally, &|| {
        let chosen = snapshot.selected_node().map(|name| format!("#- chosen {name}\n"));
        let mut text = format!("HIERA_LS_SEED={seed}\n{}", chosen.unwrap_or_default());
        files.iter().for_each(|(path, body)| text.push_str(&format!("#- {path}\n{body}\n")));
        text
    });
    count
}

fn open_repository(files: &[(String, String)]) -> Workspace {
    let fs = MemoryFs::new();
    files.iter().for_each(|(path, text)| fs.write(path, text.as_str()));
    open(vec![generate::root()], &[], Vec::new(), &fs).workspace
}

/// Asks places of one repository; one in `titles` also has its refactorings compared.
/// `repository` describes a repository that has a contradiction.
fn ask_places(
    snapshot: &Snapshot,
    places: &[Place],
    titles: usize,
    tally: &mut Tally,
    repository: &dyn Fn() -> String,
) {
    for (number, place) in places.iter().enumerate() {
        let at = || {
            let at = snapshot.file(&place.path).and_then(|file| file.text()).map_or(0, |text| {
                text.to_str()[..place.range.start as usize].matches('\n').count() + 1
            });
            let (path, key) = (&place.path, &place.key.text);
            format!("{path}:{at} {key}, {}", repository())
        };
        Question::new(snapshot, place).compare(number % titles == 0, &mut |kind, found| {
            tally.compare(kind, found, &at);
        });
    }
}

/// Returns the places in data files: keys and tokens that ask for keys.
fn all_places(snapshot: &Snapshot) -> Vec<Place> {
    let environment = &snapshot.environments().all[0];
    let view = snapshot.view(environment);
    let mut all = Vec::new();
    for file in snapshot.files().filter(|file| environment.reaches_file(&file.path)) {
        let Some(data) = view.data_of(&file.path) else { continue };
        let place = |range: TextRange, key: LookupKey, is_token: bool| Place {
            path: file.path.clone(),
            position: FilePosition { file: file.id, offset: range.start },
            range,
            key,
            is_token,
        };
        for (name, member) in data.members() {
            let (Some(name), Some(origin)) = (name.as_str(), member.key_origin) else { continue };
            if name != "lookup_options" {
                all.push(place(snapshot.span_bytes(origin), LookupKey::of_root(name), false));
            }
        }
        for token in data.tokens() {
            let Some(key) = token.reference.key() else { continue };
            let name = snapshot.span_bytes(token.name_span());
            let mut found = place(snapshot.span_bytes(token.span()), key.clone(), true);
            found.position.offset = name.start;
            all.push(found);
        }
    }
    all
}
