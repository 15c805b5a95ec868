//! The claims of features, read from the texts that they show.

use std::collections::BTreeSet;

use tower_lsp::lsp_types::Url;

use super::generate;

/// A place: the path of a file, and a line from 1.
pub(super) type Line = (String, u32);

/// The claims of a hover.
#[derive(Debug, Default)]
pub(super) struct ShownHover {
    /// The places that the value comes from, in order.
    pub(super) places: Vec<Line>,
    /// The files in which one answer differs from another.
    pub(super) differences: BTreeSet<String>,
    /// Whether all places are named.
    pub(super) is_whole: bool,
    /// The value in YAML, where the hover has one answer.
    pub(super) value: Option<String>,
    /// Whether the hover says that the value can be deleted without effect.
    pub(super) is_redundant: bool,
}

impl ShownHover {
    /// Reads a hover in Markdown.
    pub(super) fn read(text: &str) -> ShownHover {
        let mut shown = ShownHover { is_whole: true, ..ShownHover::default() };
        let (head, below) = text.split_once("\n\n").unwrap_or((text, ""));
        if !head.trim_end().ends_with(':') {
            let block = below.strip_prefix("```yaml\n").and_then(|rest| rest.split_once("\n```"));
            shown.value = block.map(|(value, _)| value.to_owned());
        }
        for line in text.lines() {
            let arrow = line.split_once(" ← ").map(|it| it.1);
            let from = line.strip_prefix("from ").or(arrow);
            let from = from.or_else(|| line.starts_with("merged ").then_some(line));
            // The values of a node with unknown variables are a list in the list of nodes.
            let is_item = line.trim_start().starts_with("- ");
            shown.is_whole &= !is_item || !line.contains(" other value");
            shown.is_redundant |= line.contains("changes nothing");
            let Some(from) = from else { continue };
            // The place that chose the merge strategy is no place of the value.
            let ends = [" · set in ", " · asked for by "];
            let from = ends.iter().fold(from, |from, end| from.split(end).next().unwrap_or(from));
            shown.is_whole &= !from.contains(" more");
            let is_difference = line.starts_with("- ") && line.contains(" · ");
            match is_difference {
                true => shown.differences.extend(linked_lines(from).map(|(path, _)| path)),
                false => shown.places.extend(linked_lines(from)),
            }
        }
        shown
    }

    /// Returns the files that the hover names for the value.
    pub(super) fn files(&self) -> BTreeSet<String> {
        let places = self.places.iter().map(|(path, _)| path.clone());
        places.chain(self.differences.iter().cloned()).collect()
    }
}

/// The rows of the table of an explaining page.
#[derive(Debug, Default)]
pub(super) struct ShownTable {
    /// The places that the value comes from, in the order of the hierarchy.
    pub(super) values: Vec<Line>,
    /// All places.
    pub(super) all: BTreeSet<Line>,
}

impl ShownTable {
    /// Reads a page; `None` where it has no table.
    pub(super) fn read(page: &str) -> Option<ShownTable> {
        let (own, _) = page.split_once("\nAs puppet lookup")?;
        let (_, table) = own.split_once("Places, in the order of the hierarchy\n")?;
        let mut shown = ShownTable::default();
        for line in table.lines() {
            let place = line.split_whitespace().find(|word| word.starts_with("data/"));
            let place = place.and_then(|place| place.rsplit_once(':'));
            let line_number = place.and_then(|(path, number)| Some((path, number.parse().ok()?)));
            let Some((path, number)) = line_number else { continue };
            let place = (format!("{}/{path}", generate::ROOT), number);
            if line.contains("  the value") || line.contains("  merged") {
                shown.values.push(place.clone());
            }
            shown.all.insert(place);
        }
        Some(shown)
    }
}

/// The files of a phrase of a lens, or their number.
#[derive(Debug, PartialEq)]
pub(super) enum ShownFiles {
    Named(BTreeSet<String>),
    Count(usize),
}

impl ShownFiles {
    /// Reads `data/a.yaml, data/b.yaml` or `4 files`.
    pub(super) fn read(text: &str) -> ShownFiles {
        let count = text.strip_suffix(" files").and_then(|count| count.parse().ok());
        let named = || text.split(", ").map(|name| format!("{}/{name}", generate::ROOT)).collect();
        count.map_or_else(|| ShownFiles::Named(named()), ShownFiles::Count)
    }

    /// Whether the phrase names `files`, or their number.
    pub(super) fn are(&self, files: &BTreeSet<String>) -> bool {
        match self {
            ShownFiles::Named(named) => named == files,
            ShownFiles::Count(count) => *count == files.len(),
        }
    }
}

/// Returns the places that links in Markdown lead to.
fn linked_lines(text: &str) -> impl Iterator<Item = Line> {
    text.split("(file://").skip(1).filter_map(|link| {
        let (path, rest) = link.split_once("#L")?;
        let path = Url::parse(&format!("file://{path}")).ok()?.to_file_path().ok()?;
        Some((path.display().to_string(), rest.split_once(')')?.0.parse().ok()?))
    })
}
