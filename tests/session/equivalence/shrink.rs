//! A case that fails, made as small as it can be while it still fails.

use std::time::{Duration, Instant};

use super::steps::{Case, Edit, Step};

/// How long smaller cases are looked for.
const PATIENCE: Duration = Duration::from_secs(60);

/// The smallest case found that still fails.
pub fn shrunk(mut case: Case, fails: impl Fn(&Case) -> bool) -> Case {
    let begun = Instant::now();
    let mut best = |case: &mut Case, smaller: Case| {
        let better = begun.elapsed() < PATIENCE && fails(&smaller);
        if better {
            *case = smaller;
        }
        better
    };
    // The loop removes whole steps first, then files, then lines and inserted text, until nothing
    // more can be removed.
    loop {
        let mut smaller = false;
        let mut at = 0;
        while at < case.steps.len() {
            smaller |= [without_step(&case, at), baked(&case, at)]
                .into_iter()
                .any(|it| best(&mut case, it))
                || {
                    at += 1;
                    false
                };
        }
        for path in case.files.keys().cloned().collect::<Vec<_>>() {
            let mut without = case.clone();
            without.files.remove(&path);
            if best(&mut case, without) {
                smaller = true;
                continue;
            }
            smaller |= fewer_lines(&mut case, &path, &mut best);
        }
        smaller |= shorter_inserts(&mut case, &mut best);
        if !smaller {
            return case;
        }
    }
}

fn without_step(case: &Case, at: usize) -> Case {
    let mut without = case.clone();
    without.steps.remove(at);
    without
}

/// The case that begins with the text as it is after this step, where it is the first one of its
/// file.
fn baked(case: &Case, at: usize) -> Case {
    let mut baked = without_step(case, at);
    let is_first = |path: &str| !case.steps[..at].iter().any(|step| step.path() == path);
    match &case.steps[at] {
        Step::Edit { path, edits } if is_first(path) => {
            let text = baked.files.entry(path.clone()).or_default();
            edits.iter().for_each(|edit| edit.apply(text));
        }
        Step::Replace { path, text } | Step::Disk { path, text: Some(text) } if is_first(path) => {
            baked.files.insert(path.clone(), text.clone());
        }
        _ => {}
    }
    baked
}

/// Takes lines out of a file; edits behind them move up.
fn fewer_lines(
    case: &mut Case,
    path: &str,
    best: &mut impl FnMut(&mut Case, Case) -> bool,
) -> bool {
    let mut smaller = false;
    let mut line = 0;
    loop {
        let text = &case.files[path];
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        if line >= lines.len() {
            return smaller;
        }
        let start: usize = lines[..line].iter().map(|line| line.len()).sum();
        let length = lines[line].len();
        let mut without = case.clone();
        without
            .files
            .insert(path.to_owned(), format!("{}{}", &text[..start], &text[start + length..]));
        let up = |at: &mut usize| {
            *at = if *at >= start + length { *at - length } else { (*at).min(start) }
        };
        for step in &mut without.steps {
            let Step::Edit { path: edited, edits } = step else { continue };
            if edited == path {
                edits.iter_mut().for_each(|edit| {
                    up(&mut edit.start);
                    up(&mut edit.end);
                });
            }
        }
        if best(case, without) {
            smaller = true;
        } else {
            line += 1;
        }
    }
}

fn shorter_inserts(case: &mut Case, best: &mut impl FnMut(&mut Case, Case) -> bool) -> bool {
    let mut smaller = false;
    for step in 0..case.steps.len() {
        let Step::Edit { edits, .. } = &case.steps[step] else { continue };
        for edit in 0..edits.len() {
            for half in [false, true] {
                let mut shorter = case.clone();
                let Step::Edit { edits, .. } = &mut shorter.steps[step] else { continue };
                let Some(Edit { insert, .. }) = edits.get_mut(edit) else { continue };
                let chars: Vec<char> = insert.chars().collect();
                if chars.is_empty() {
                    continue;
                }
                let middle = chars.len() / 2;
                *insert = if half {
                    chars[..middle].iter().collect()
                } else {
                    chars[middle.max(1)..].iter().collect()
                };
                smaller |= best(case, shorter);
            }
        }
    }
    smaller
}
