//! Names of places and layers, and options in words, as people read them.

use crate::diagnostics::describe_absent_files;
use crate::hiera::config::{Backend, Layer};
use crate::hiera::merge::Strategy;
use crate::hiera::resolution::{Resolution, Unevaluated, UnsettledLevel};
use crate::puppet::print::{self, PrintOptions};
use crate::text::{FilePath, Span};
use crate::workspace::Snapshot;
use crate::workspace::environments::Environment;

/// Names of places for people, relative to a folder.
#[derive(Clone, Copy, Debug)]
pub struct PlaceNames<'a> {
    /// The snapshot whose files are named.
    pub snapshot: &'a Snapshot,
    /// The folder that shown paths are relative to.
    pub root: &'a FilePath,
}

impl PlaceNames<'_> {
    /// Returns the path, relative where it lies below the folder, or else below an opened one.
    pub fn short_path<'p>(&self, path: &'p FilePath) -> &'p str {
        let below = path.relative_to(self.root).filter(|path| !path.is_empty());
        below.unwrap_or_else(|| self.snapshot.shown_path(path))
    }

    /// Returns `path:line`, the line counted from 1.
    pub fn place_name(&self, span: Span) -> String {
        let Some(path) = self.snapshot.path_of(span.file) else { return String::new() };
        format!("{}:{}", self.short_path(path), self.line_number(span))
    }

    /// Returns the line of a span, from 1.
    pub fn line_number(&self, span: Span) -> u32 {
        let text = self.snapshot.file_by_id(span.file).and_then(|file| file.text());
        text.map_or(1, |text| text.line_of(self.snapshot.span_bytes(span).start) + 1)
    }
}

/// Returns the options of a deep merge that are set, in parentheses.
pub fn option_phrase(strategy: &Strategy) -> String {
    let (Strategy::Deep(options)
    | Strategy::UnconstrainedDeep(options)
    | Strategy::ReverseDeep(options)) = strategy
    else {
        return String::new();
    };
    let mut set = Vec::new();
    let prefix = options.given.as_ref().and_then(|given| given.get("knockout_prefix"));
    if let Some(prefix) = prefix.filter(|_| options.knockout_prefix.is_some()) {
        let prefix = print::print_text(prefix, &PrintOptions::default());
        set.push(format!("knockout_prefix '{prefix}'"));
    }
    set.extend(options.sort_merged_arrays.then(|| "sort_merged_arrays".to_owned()));
    set.extend(options.merge_hash_arrays.then(|| "merge_hash_arrays".to_owned()));
    if set.is_empty() { String::new() } else { format!(" ({})", set.join(", ")) }
}

/// Returns the level's name for people, with its layer where that is not the environment's.
pub fn level_title(layer: &Layer, level: &str) -> String {
    match layer {
        Layer::Environment => level.to_owned(),
        layer => format!("{level} ({})", layer_name(layer)),
    }
}

/// Returns the names of the levels that leave open whether there is a value, each once.
pub fn open_levels(resolution: &Resolution) -> Vec<String> {
    level_names(resolution.levels_without_verdict())
}

/// Returns the names of levels that could not be evaluated, each once.
pub fn level_names<'a>(levels: impl IntoIterator<Item = &'a UnsettledLevel>) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for level in levels {
        let name = level_title(&level.layer, &level.level);
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// Returns the phrase for a backend that is not evaluated, with the service that it asks if that is
/// known; `name` is the backend's name, as marked up.
pub fn not_evaluated(backend: &Backend, name: &str) -> String {
    match &backend.service {
        Some(phrase) => format!("the backend {name} {phrase}, and is not evaluated here"),
        None => format!("the backend {name} cannot be evaluated here"),
    }
}

/// Returns the reason why a level could not be evaluated, for people; `path` names files.
pub fn why_unevaluated(reason: &Unevaluated, path: impl Fn(&FilePath) -> String) -> String {
    match reason {
        Unevaluated::Backend(backend) => not_evaluated(backend, &backend.name),
        Unevaluated::Undetermined { variables, files } => {
            let unknown = variables.join(", ");
            let are = if variables.len() == 1 { "is" } else { "are" };
            let (first, more) = match &files[..] {
                [] => return format!("{unknown} {are} unknown"),
                [only] => (path(only), " has the key".to_owned()),
                [first, second] => (path(first), format!(" and {} have the key", path(second))),
                [first, rest @ ..] => {
                    (path(first), format!(" and {} other files have the key", rest.len()))
                }
            };
            format!("{unknown} {are} unknown: {first}{more}")
        }
        Unevaluated::Unread(file, message) => format!("{} is not read: {message}", path(file)),
        Unevaluated::Encrypted(file) => {
            format!("its value in {} is encrypted, and was not decrypted", path(file))
        }
    }
}

/// Returns the words that restrict `no value is found`: a level without files may have the value.
/// Empty where each level has files.
pub fn absence_reservation(snapshot: &Snapshot, environment: &Environment) -> String {
    match snapshot.levels_without_files(environment) {
        [] => String::new(),
        levels => format!(", unless it is in the data of {}", describe_absent_files(levels)),
    }
}

/// Returns the layer's name for people.
pub fn layer_name(layer: &Layer) -> String {
    match layer {
        Layer::Global => "global".into(),
        Layer::Environment => "environment".into(),
        Layer::Module(name) => format!("module {name}"),
    }
}
