//! Heredocs of manifests: their tags, and the lines of a text that can end them.
//!
//! The index of lines is made once for a text: a search from each heredoc to the end of the text
//! would be quadratic where the tags have no end.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::Range;

use crate::text::work::{Work, count_work};

/// The lines that can end a heredoc, by the tag of the heredoc.
#[derive(Debug, Default)]
pub(super) struct HeredocEnds<'t> {
    /// For each tag the lines that end with the tag, in order.
    lines: HashMap<&'t str, Vec<Range<usize>>>,
}

impl<'t> HeredocEnds<'t> {
    /// Finds the lines for all tags of a text.
    ///
    /// Puppet ignores the text before the tag on its line.
    pub(super) fn new(text: &'t str) -> HeredocEnds<'t> {
        let tags: HashSet<&str> = text
            .match_indices("@(")
            .filter_map(|(at, _)| Some(heredoc_tag(&text[at..])?.name))
            .collect();
        let lengths: BTreeSet<usize> = tags.iter().map(|tag| tag.len()).collect();
        let mut lines: HashMap<&str, Vec<Range<usize>>> = HashMap::new();
        let mut start = 0;
        for line in text.split_inclusive('\n') {
            let end = start + line.len();
            let written = line.trim_end_matches([' ', '\t', '\r', '\n']);
            for length in lengths.range(..=written.len()) {
                count_work(Work::Step);
                let tag = written.get(written.len() - length..).and_then(|tag| tags.get(tag));
                if let Some(tag) = tag {
                    lines.entry(tag).or_default().push(start..end);
                }
            }
            start = end;
        }
        HeredocEnds { lines }
    }

    /// Returns the text of a heredoc whose text begins with the line at the byte `from`, and the
    /// byte behind the line that ends the heredoc. `None` where no line before the byte `end` does.
    pub(super) fn find(&self, tag: &str, from: usize, end: usize) -> Option<(Range<usize>, usize)> {
        let lines = self.lines.get(tag)?;
        let line = lines.get(lines.partition_point(|line| line.start < from))?;
        (line.end <= end).then_some((from..line.start, line.end))
    }
}

/// The tag of a heredoc.
pub(super) struct HeredocTag<'t> {
    /// The word that ends the heredoc.
    pub name: &'t str,
    /// Whether the heredoc's text has interpolation.
    pub interpolates: bool,
    /// The length of `@( … )` in bytes.
    pub length: usize,
}

/// Reads the tag at the beginning of a text: `@(X)`, `@("X":syntax/flags)`.
pub(super) fn heredoc_tag(text: &str) -> Option<HeredocTag<'_>> {
    let inner = text.strip_prefix("@(")?;
    let close = inner.find([')', '\n']).filter(|close| inner.as_bytes()[*close] == b')')?;
    let spec = &inner[..close];
    let name = spec.split([':', '/']).next().unwrap_or_default().trim();
    let quoted = name.strip_prefix('"').and_then(|name| name.strip_suffix('"'));
    let (name, interpolates) = quoted.map_or((name, false), |name| (name.trim(), true));
    (!name.is_empty()).then_some(HeredocTag { name, interpolates, length: close + 3 })
}
