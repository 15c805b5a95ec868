//! Names of places and layers, and options in words, as people read them.

use crate::hiera::config::Layer;
use crate::hiera::merge::Strategy;
use crate::puppet::print::{self, PrintOptions};
use crate::text::{Encoding, FilePath, Span};
use crate::workspace::Snapshot;

/// Names of places for people, relative to a folder.
#[derive(Clone, Copy, Debug)]
pub struct Names<'a> {
    /// The snapshot whose files are named.
    pub snapshot: &'a Snapshot,
    /// What paths are relative to.
    pub root: &'a FilePath,
}

impl Names<'_> {
    /// The path, relative where it lies below the folder.
    pub fn path<'p>(&self, path: &'p FilePath) -> &'p str {
        path.relative_to(self.root).filter(|path| !path.is_empty()).unwrap_or(path.as_str())
    }

    /// `path:line`, the line counted from 1.
    pub fn place(&self, span: Span) -> String {
        let Some(path) = self.snapshot.path(span.file) else { return String::new() };
        format!("{}:{}", self.path(path), self.line(span))
    }

    /// The line of a span, from 1.
    pub fn line(&self, span: Span) -> u32 {
        let text = self.snapshot.file_by_id(span.file).and_then(|file| file.text());
        text.map_or(1, |text| {
            text.line_col(self.snapshot.place(span).start, Encoding::Utf32).line + 1
        })
    }
}

/// The options of a deep merge that are set, in parentheses.
pub fn options(strategy: &Strategy) -> String {
    let (Strategy::Deep(options)
    | Strategy::UnconstrainedDeep(options)
    | Strategy::ReverseDeep(options)) = strategy
    else {
        return String::new();
    };
    let mut set = Vec::new();
    let prefix = options.given.as_ref().and_then(|given| given.get("knockout_prefix"));
    if let Some(prefix) = prefix.filter(|_| options.knockout_prefix.is_some()) {
        let prefix = print::text(prefix, &PrintOptions::default());
        set.push(format!("knockout_prefix '{prefix}'"));
    }
    set.extend(options.sort_merged_arrays.then(|| "sort_merged_arrays".to_owned()));
    set.extend(options.merge_hash_arrays.then(|| "merge_hash_arrays".to_owned()));
    if set.is_empty() { String::new() } else { format!(" ({})", set.join(", ")) }
}

/// The layer's name for people.
pub fn layer_name(layer: &Layer) -> String {
    match layer {
        Layer::Global => "global".into(),
        Layer::Environment => "environment".into(),
        Layer::Module(name) => format!("module {name}"),
    }
}
