//! A value of a hover: a few lines of YAML, in which a comment names the level of each leaf.

use crate::puppet::print::{self, PrintOptions};
use crate::puppet::value::Value;
use crate::text::Span;

/// Returns the value as YAML with a line end behind each line, at most `max_lines` of them before a
/// last one that counts those left out: a single line is not left out.
///
/// Lists of scalars and small hashes take one line where they fit and come from one level.
/// `level` returns the level that a place belongs to; without it no line has a comment. The second
/// part is `true` if no line was left out.
pub(super) fn render_yaml(
    value: &Value,
    options: &PrintOptions<'_>,
    max_lines: usize,
    level: Option<&dyn Fn(Span) -> Option<String>>,
) -> (String, bool) {
    let lines = print::compact_lines(value, options, &|origin| level_comment(origin, level));
    let is_whole = lines.len() <= max_lines + 1;
    let shown = if is_whole { lines.len() } else { max_lines };
    let mut out = print::with_comments(&lines[..shown], &|origin| level_comment(origin, level));
    if !is_whole {
        out.push_str(&format!("# … {} more lines\n", lines.len() - shown));
    }
    (out, is_whole)
}

fn level_comment(origin: Span, level: Option<&dyn Fn(Span) -> Option<String>>) -> Option<String> {
    level.and_then(|level| level(origin))
}
