//! A value of a hover: few lines of YAML, in which each leaf says the level that it comes from.

use crate::puppet::print::{self, PrintOptions};
use crate::puppet::value::Value;
use crate::text::Span;

/// The value as YAML with a line end behind each line, at most `max_lines` of them before a last
/// one that counts those left out.
///
/// `level` names the level that a place belongs to; without it no line has a comment.
pub(super) fn yaml(
    value: &Value,
    options: &PrintOptions<'_>,
    max_lines: usize,
    level: Option<&dyn Fn(Span) -> Option<String>>,
) -> String {
    let lines = print::yaml_lines(value, options);
    let shown = if lines.len() > max_lines + 1 { max_lines } else { lines.len() };
    let mut out =
        print::with_comments(&lines[..shown], &|origin| level.and_then(|level| level(origin)));
    if shown < lines.len() {
        out.push_str(&format!("# … {} more lines\n", lines.len() - shown));
    }
    out
}
