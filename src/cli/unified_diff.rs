//! Changes of files as unified differences, which `git apply` and `patch` read. Lines that may hold
//! a secret are not printed: as context they end a hunk, and a hunk that changes one is replaced by
//! a sentence.

use std::io::{self, Write};

use similar::{ChangeTag, TextDiff};

use crate::diagnostics::render::LineSpans;
use crate::text::escape::escape_terminal;
use crate::text::{FilePath, Span, TextRange};

/// How many lines are shown around a change.
const CONTEXT: usize = 3;

/// A line of either text.
struct DiffLine<'t> {
    tag: ChangeTag,
    text: &'t str,
    may_be_secret: bool,
    is_shown: bool,
}

/// Writes the difference between two texts of a file; nothing if they are equal. A file without a
/// text after is removed. `sides` quote the lines before and after, and `escapes` is whether a
/// terminal shows them.
pub(super) fn write_file_diff(
    path: &FilePath,
    (old, new): (&str, Option<&str>),
    sides: &[LineSpans<'_>; 2],
    escapes: bool,
    out: &mut dyn Write,
) -> io::Result<()> {
    let diff = TextDiff::from_lines(old, new.unwrap_or_default());
    let mut lines = Vec::new();
    let mut offsets = [0, 0];
    for change in diff.iter_all_changes() {
        let (tag, text) = (change.tag(), change.value());
        let side = usize::from(tag == ChangeTag::Insert);
        let range = TextRange::from_usize(offsets[side]..offsets[side] + text.len());
        let file = sides[side].snapshot.file(path).map(|file| file.id);
        let may_be_secret =
            file.is_some_and(|file| sides[side].may_hold_secret(Span::in_file(file, range)));
        if tag != ChangeTag::Insert {
            offsets[0] += text.len();
        }
        if tag != ChangeTag::Delete {
            offsets[1] += text.len();
        }
        let is_shown = tag != ChangeTag::Equal;
        lines.push(DiffLine { tag, text, may_be_secret, is_shown });
    }
    show_context(&mut lines);
    let shown = path.relative_to(sides[0].root).unwrap_or(path.as_str());
    let shown = if escapes { escape_terminal(shown) } else { shown.into() };
    let mut has_head = false;
    let mut numbers = [1, 1];
    let mut rest = lines.as_slice();
    while let Some(first) = rest.first() {
        let length = rest.iter().take_while(|line| line.is_shown == first.is_shown).count();
        let (run, after) = rest.split_at(length);
        if first.is_shown {
            if !has_head {
                match new {
                    Some(_) => writeln!(out, "--- a/{shown}\n+++ b/{shown}")?,
                    None => writeln!(out, "--- a/{shown}\n+++ /dev/null")?,
                }
                has_head = true;
            }
            write_hunk(run, numbers, escapes, out)?;
        }
        for (number, skipped) in numbers.iter_mut().zip([ChangeTag::Insert, ChangeTag::Delete]) {
            *number += run.iter().filter(|line| line.tag != skipped).count();
        }
        rest = after;
    }
    Ok(())
}

/// Shows the equal lines beside each change, up to the first that may hold a secret.
fn show_context(lines: &mut [DiffLine<'_>]) {
    let changes: Vec<usize> =
        (0..lines.len()).filter(|number| lines[*number].tag != ChangeTag::Equal).collect();
    for change in changes {
        for number in (change + 1..lines.len()).take(CONTEXT) {
            if lines[number].may_be_secret {
                break;
            }
            lines[number].is_shown = true;
        }
        for number in (0..change).rev().take(CONTEXT) {
            if lines[number].may_be_secret {
                break;
            }
            lines[number].is_shown = true;
        }
    }
}

/// Writes lines that follow each other; the first has these numbers in the two texts.
fn write_hunk(
    lines: &[DiffLine<'_>],
    [old, new]: [usize; 2],
    escapes: bool,
    out: &mut dyn Write,
) -> io::Result<()> {
    let counts = [ChangeTag::Insert, ChangeTag::Delete]
        .map(|skipped| lines.iter().filter(|line| line.tag != skipped).count());
    if lines.iter().any(|line| line.may_be_secret) {
        return writeln!(out, "# a change at line {old} is not shown: it may hold a secret");
    }
    let [from, to] = [start_line(old, counts[0]), start_line(new, counts[1])];
    writeln!(out, "@@ -{from},{} +{to},{} @@", counts[0], counts[1])?;
    for line in lines {
        let text = line.text.strip_suffix('\n');
        let shown = text.unwrap_or(line.text);
        let shown = if escapes { escape_terminal(shown) } else { shown.into() };
        writeln!(out, "{}{shown}", line.tag)?;
        if text.is_none() {
            writeln!(out, "\\ No newline at end of file")?;
        }
    }
    Ok(())
}

/// A hunk without lines of one text names the line before it.
fn start_line(number: usize, count: usize) -> usize {
    if count == 0 { number - 1 } else { number }
}
