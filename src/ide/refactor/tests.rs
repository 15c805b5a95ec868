//! Refactorings, each as its title with the texts that it leaves.

use expect_test::{Expect, expect};

use super::{Refactoring, RefactoringKind, RefactoringRequest, find_refactorings};
use crate::fixture::Fixture;
use crate::text::TextEdit;
use crate::workspace::Snapshot;

/// Returns the refactorings of some kinds at the cursor of a fixture.
fn found(fixture: &Fixture, kinds: &[RefactoringKind]) -> Vec<Refactoring> {
    found_within(fixture, kinds, None)
}

/// Returns the same where so many lookups compare values.
fn found_within(
    fixture: &Fixture,
    kinds: &[RefactoringKind],
    lookups: Option<usize>,
) -> Vec<Refactoring> {
    let place = fixture.selection();
    let file = fixture.snapshot.file_by_id(place.file).expect("the cursor is in a file");
    let wanted = RefactoringRequest {
        path: &file.path,
        range: place.range,
        creates_files: true,
        is_by_user: true,
        lookups,
        kinds: &|kind| kinds.contains(&kind),
    };
    find_refactorings(&fixture.snapshot, wanted)
}

fn shown(snapshot: &Snapshot, refactoring: &Refactoring) -> String {
    let mut out = format!("{}\n", refactoring.title);
    let change = match &refactoring.change {
        Ok(change) => change,
        Err(reason) => return format!("{out}  refused: {reason}\n"),
    };
    for (path, edits) in &change.edits {
        let text = snapshot.file(path).and_then(|file| file.text()).expect("a text").to_str();
        out.push_str(&format!("  {path}\n"));
        for line in TextEdit::apply_all(edits, &text).lines() {
            out.push_str(format!("    {line}").trim_end());
            out.push('\n');
        }
    }
    for (path, text) in &change.created {
        out.push_str(&format!("  {path}, new\n"));
        text.lines().for_each(|line| out.push_str(&format!("    {line}\n")));
    }
    out
}

fn check(kind: RefactoringKind, text: &str, expected: Expect) {
    let fixture = Fixture::new(text);
    let all = found(&fixture, &[kind]);
    expected.assert_eq(
        &all.iter().map(|one| shown(&fixture.snapshot, one)).collect::<Vec<_>>().concat(),
    );
}

mod chooser;
mod config;
mod kept;
mod moves;
mod overrides;
mod references;
mod rewrites;
