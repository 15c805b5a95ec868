//! Texts made at random of others, in search of panics, endless work, and answers after edits that
//! are not those of a fresh start. Runs on stable Rust, without coverage.
//!
//! Each target is a test. `HIERA_LS_FUZZ` sets how many seconds it runs (2; hours by hand, best with
//! `--release`), `HIERA_LS_SEED` repeats a run. A text that fails is made shorter, and belongs into
//! `cases/TARGET` once it is understood: all texts there are run each time, and are mutated into
//! others. The current text is in the file that the first line names, in case the process dies.

mod mutate;
mod targets;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::{Duration, Instant};

use hiera_ls::hiera::lookup::STACK;

use crate::support::random::{self, Random};
use crate::support::{in_package, scratch, shortened, variable};
use targets::{EDITS, MESSAGES, PARSERS, REPOSITORIES, Target};

/// The texts that others are made of: the sample repository's, and the target's cases.
fn seeds(target: &Target) -> Vec<String> {
    let mut texts = cases(target);
    let mut folders = vec![in_package("tests/control-repo")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("the sample is there").flatten() {
            match entry.path() {
                path if path.is_dir() => folders.push(path),
                path => texts.extend(std::fs::read_to_string(path)),
            }
        }
    }
    texts.retain(|text| text.len() <= mutate::MAX_TEXT);
    // The system lists folders in any order: with sorted texts, a seed means the same run
    // everywhere.
    texts.sort();
    texts
}

/// The texts that failed once, and those that are odd in their own way.
fn cases(target: &Target) -> Vec<String> {
    let folder = in_package("tests/session/fuzz/cases").join(target.name);
    let files = std::fs::read_dir(folder).expect("each target has a folder").flatten();
    let texts = files.map(|file| std::fs::read_to_string(file.path()).expect("cases are UTF-8"));
    texts.collect()
}

/// Why a text fails at a place; `None` where it does not.
fn failure(target: &Target, text: &str, place: usize) -> Option<String> {
    let panic = catch_unwind(AssertUnwindSafe(|| (target.run)(text, place))).err()?;
    let words = panic.downcast_ref::<String>().map(String::as_str);
    Some(words.or(panic.downcast_ref::<&str>().copied()).unwrap_or("no words").to_owned())
}

/// A shorter text that fails as well.
fn shrunk(target: &Target, text: &str, place: usize) -> String {
    let mut text: Vec<char> = text.chars().collect();
    let mut size = text.len() / 2;
    while size > 0 {
        let mut at = 0;
        while at < text.len() {
            let end = (at + size).min(text.len());
            let shorter: String = text[..at].iter().chain(&text[end..]).collect();
            match failure(target, &shorter, place) {
                Some(_) => drop(text.drain(at..end)),
                None => at = end,
            }
        }
        size /= 2;
    }
    text.into_iter().collect()
}

/// Runs the cases of a target, and then made texts for so long. Panics with the first that fails.
fn fuzz(target: &Target, time: Duration, folder: &Path) {
    let check = |text: &str, place| {
        let Some(words) = failure(target, text, place) else { return };
        let short = shrunk(target, text, place);
        let words = shortened(&words, 2_000);
        panic!(
            "{}, place {place}: {words}\nfor tests/session/fuzz/cases/{0}:\n{short}\n= {short:?}",
            target.name
        );
    };
    for text in cases(target) {
        (0..target.places).for_each(|place| check(&text, place));
    }
    let mut random = Random::new(random::seed(target.name));
    let under_way = folder.join(target.name);
    println!("{}: the text under way is in {}", target.name, under_way.display());
    let seeds = seeds(target);
    let (start, mut count, mut slowest) = (Instant::now(), 0, Duration::ZERO);
    while start.elapsed() < time {
        let text = mutate::text(&mut random, &seeds);
        std::fs::write(&under_way, &text).expect("a scratch file can be written");
        let place = random.below(target.places);
        let begun = Instant::now();
        check(&text, place);
        count += 1;
        if begun.elapsed() > slowest {
            slowest = begun.elapsed();
            std::fs::write(under_way.with_extension("slowest"), &text).expect("a scratch file");
        }
    }
    println!("{}: {count} texts, the slowest took {slowest:?}", target.name);
    assert!(count > 0);
}

/// Fuzzes a target on a thread like those that run requests of the server.
fn fuzz_on_thread(target: &Target) {
    let seconds = variable("HIERA_LS_FUZZ").map_or(2, |it| it.parse().expect("it is a number"));
    let folder = scratch(&format!("fuzz-{}", target.name));
    std::thread::scope(|scope| {
        let run = || fuzz(target, Duration::from_secs(seconds), &folder);
        let thread = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, run);
        let done = thread.expect("a thread can be had").join();
        done.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    });
}

#[test]
fn made_texts_break_no_parser() {
    fuzz_on_thread(&PARSERS);
}

#[test]
fn made_texts_break_no_repository() {
    fuzz_on_thread(&REPOSITORIES);
}

#[test]
fn made_texts_break_no_edit() {
    fuzz_on_thread(&EDITS);
}

#[test]
fn made_texts_break_no_message() {
    fuzz_on_thread(&MESSAGES);
}

/// The search finds a text that fails, and shortens it.
#[test]
fn a_text_that_fails_is_found_and_made_short() {
    fn refuses_tabs(text: &str, _: usize) {
        assert!(!text.contains('\t'), "a tab");
    }
    let target = Target { name: "parsers", places: 1, run: refuses_tabs };
    let seeds = seeds(&target);
    let mut random = Random::new(1);
    let made = std::iter::repeat_with(|| mutate::text(&mut random, &seeds)).take(5_000);
    let found = made.into_iter().find(|text| failure(&target, text, 0).is_some()).expect("a tab");
    assert_eq!(shrunk(&target, &found, 0), "\t");
}
