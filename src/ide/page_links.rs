//! The places that a page for people names, as links.

use super::phrases::PlaceNames;
use crate::text::{FilePath, Span, TextRange};

/// A place that a page names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageLink {
    /// The bytes of the name in the text of the page.
    pub range: TextRange,
    /// The file.
    pub path: FilePath,
    /// The line, from 1.
    pub line: u32,
}

/// A place with its name, before a page has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LinkedPlace {
    /// The name: `path:line`.
    pub(crate) name: String,
    /// The file.
    pub(crate) path: FilePath,
    /// The line, from 1.
    pub(crate) line: u32,
}

impl LinkedPlace {
    /// Returns the place of a span; `None` where its file has no path any more.
    pub(crate) fn of_span(names: PlaceNames<'_>, span: Span) -> Option<LinkedPlace> {
        Some(LinkedPlace {
            name: names.place_name(span),
            path: names.snapshot.path_of(span.file)?.clone(),
            line: names.line_number(span),
        })
    }
}

/// Returns the links of a text: one for each word of which `named_place` returns a part that names a
/// place, with the file and the line.
pub(crate) fn find_links(
    text: &str,
    named_place: impl for<'w> Fn(&'w str) -> Option<(&'w str, FilePath, u32)>,
) -> Vec<PageLink> {
    let mut links = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        for word in line.split_whitespace() {
            // The word lies within the line: `split_whitespace` returns parts of the line.
            let at = word.as_ptr() as usize - line.as_ptr() as usize;
            if let Some((name, path, number)) = named_place(word) {
                let from = start + at + word.find(name).unwrap_or(0);
                let range = TextRange::new(from as u32, (from + name.len()) as u32);
                links.push(PageLink { range, path, line: number });
            }
        }
        start += line.len();
    }
    links
}
