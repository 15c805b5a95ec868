//! The lines of a text that can end a heredoc.
//!
//! The index is made once for a text: a search from each heredoc to the end of the text would be
//! quadratic where the tags have no end.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::Range;

use super::strings::heredoc_tag;
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
