//! The files that could change an answer if unknown variables were known, in groups that users know
//! from their data: nodes, roles, files by other variables.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::around::with_more;
use super::{HoverAnswer, HoverWriter};
use crate::hiera::pattern::condition_phrase;
use crate::hiera::resolution::Unsettled;

/// The most files of a group that are written with their conditions; of more, there are a count and
/// examples.
const FEW: usize = 2;
/// The most examples of a group.
const EXAMPLES: usize = 5;

impl HoverWriter<'_> {
    /// The files that could change the value if unknown variables were known, by variable.
    pub(super) fn render_unsettled(&self, found: &HoverAnswer<'_>, out: &mut String) {
        let resolution = found.resolution;
        let root = resolution.key.root_text();
        if found.unsettled.is_empty() {
            return;
        }
        let reachable = found.unsettled.iter().filter(|file| !self.audience.is_foreign_file(file));
        let (own, other): (Vec<&Unsettled>, Vec<&Unsettled>) =
            reachable.partition(|file| *file.key == *root);
        let merges = !resolution.merge.stops_at_first();
        let own_title = match (&resolution.value, merges) {
            (Ok(None), _) => "could be set by",
            (_, true) => "could be merged with",
            (_, false) => "could be overridden by",
        };
        for (files, title) in [(own, own_title), (other, "keys that it asks for could be set by")] {
            if !files.is_empty() {
                let files = self.by_variable(&files);
                writeln!(out, "\n{title} {files}").expect("writing to a string");
            }
        }
    }

    /// Files that unknown variables decide on, those of nodes first, then a text for each set of
    /// variables.
    pub(super) fn by_variable(&self, files: &[&Unsettled]) -> String {
        let mut of_nodes = Vec::new();
        let mut by_variable: BTreeMap<Vec<&str>, Vec<&Unsettled>> = BTreeMap::new();
        for file in files {
            if self.audience.node_name(file).is_some() {
                of_nodes.push(*file);
                continue;
            }
            let names = file.when.keys().map(String::as_str).collect();
            by_variable.entry(names).or_default().push(file);
        }
        let mut texts = Vec::new();
        if !of_nodes.is_empty() {
            texts.push(self.group(
                &of_nodes,
                || "nodes".into(),
                |file| self.audience.node_name(file),
            ));
        }
        for (names, files) in &by_variable {
            texts.push(match names[..] {
                [name] => self.group(
                    files,
                    || self.file_noun(names),
                    |it| it.when.get(name).map(String::as_str),
                ),
                _ => self.group(files, || self.file_noun(names), |_| None),
            });
        }
        texts.join(", ")
    }

    /// Returns `[file:1] where role = web`, or `12 roles (api, db, …)`: examples have the `name` of
    /// a file, or else its place.
    fn group<'f>(
        &self,
        files: &[&'f Unsettled],
        noun: impl FnOnce() -> String,
        name: impl Fn(&'f Unsettled) -> Option<&'f str>,
    ) -> String {
        if files.len() <= FEW {
            let shown = files.iter().map(|file| {
                let when = self.markup.render_text(&condition_phrase(&file.when));
                let place = self.place_of_file(file);
                if when.is_empty() { place } else { format!("{place} where {when}") }
            });
            return shown.collect::<Vec<_>>().join(", ");
        }
        let examples = with_more(
            files
                .iter()
                .take(EXAMPLES)
                .map(|file| match (name(file), file.span) {
                    (Some(name), Some(span)) if self.markup.config.link.is_some() => {
                        self.markup.named_place(name, span)
                    }
                    (Some(name), _) => self.markup.render_text(name),
                    (None, _) => self.place_of_file(file),
                })
                .collect(),
            files.len(),
        );
        format!("{} {} ({examples})", files.len(), noun())
    }

    fn place_of_file(&self, file: &Unsettled) -> String {
        match file.span {
            Some(span) => self.markup.render_place(span),
            None => self.markup.render_text(self.markup.names.short_path(&file.path)),
        }
    }

    /// Returns the noun for files named after these variables: `roles`, ``files by `facts.os.name`
    /// ``.
    fn file_noun(&self, names: &[&str]) -> String {
        if let [name] = names
            && has_plain_plural(name)
        {
            return format!("{name}s");
        }
        let names: Vec<String> = names.iter().map(|name| self.markup.render_code(name)).collect();
        if names.is_empty() { "files".into() } else { format!("files by {}", names.join(", ")) }
    }
}

/// Whether the name of a variable is a word whose plural ends in one more `s`.
fn has_plain_plural(name: &str) -> bool {
    name.bytes().all(|byte| byte.is_ascii_lowercase())
        && !name.ends_with(['s', 'x', 'y', 'z', 'h', 'o'])
}
