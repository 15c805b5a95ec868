//! Titles of refactorings in a real control repository: how many state the number of nodes.

use hiera_ls::disk::OsFs;
use hiera_ls::ide::refactor::{RefactoringKind, RefactoringRequest, find_refactorings};
use hiera_ls::settings::open;
use hiera_ls::text::{FilePath, TextRange};

use crate::support::{random, random::Random, require, variable};

/// How many places are asked about.
const PLACES: usize = 60;

#[test]
fn titles_on_the_corpus_state_counts() {
    if !require("corpus") {
        return;
    }
    let root = variable("HIERA_LS_CORPUS_ROOT").expect("require(\"corpus\") said so");
    let workspace = open(vec![FilePath::new(&root)], &[], Vec::new(), &OsFs).workspace;
    let snapshot = workspace.snapshot();
    let mut random = Random::new(random::seed("titles_on_the_corpus_state_counts"));
    let files: Vec<FilePath> = snapshot.keys().files().cloned().collect();
    let (mut titles, mut unknown) = (0, 0);
    let mut time = std::time::Duration::ZERO;
    let mut asked = 0;
    while asked < PLACES {
        let path = random.pick(&files);
        let Some(file) = snapshot.file(&path) else { continue };
        let data = file.data_as(file.format());
        let keys: Vec<_> = data.keys().filter_map(|key| key.as_arc().cloned()).collect();
        if keys.is_empty() {
            continue;
        }
        let key = random.pick(&keys);
        let Some(span) = data.definition_span(&key) else { continue };
        let range = TextRange::new_empty(snapshot.span_bytes(span).start + 1);
        let wanted = RefactoringRequest {
            path: &path,
            range,
            creates_files: true,
            is_by_user: true,
            lookups: None,
            kinds: &|kind| kind == RefactoringKind::Move || kind == RefactoringKind::Rewrite,
        };
        let began = std::time::Instant::now();
        let found = find_refactorings(&snapshot, wanted);
        let took = began.elapsed();
        time += took;
        asked += 1;
        let of_place = found.iter().filter(|one| one.change.is_ok()).count();
        let not_known = found.iter().filter(|one| one.title.contains("not known")).count();
        titles += of_place;
        unknown += not_known;
        eprintln!("{took:?} {not_known} of {of_place}: {key} in {path}");
        for one in &found {
            eprintln!("    {}", one.title);
        }
    }
    eprintln!("{unknown} of {titles} titles at {asked} places are not known, in {time:?}");
    assert!(unknown * 50 <= titles, "{unknown} of {titles}");
}
