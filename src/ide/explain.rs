//! A [`Resolution`] as text: the story of a lookup for the terminal, and as JSON for programs.

use std::fmt::Write as _;

use serde_json::{Value as Json, json};

use crate::hiera::config::Layer;
use crate::hiera::merge::Strategy;
use crate::hiera::pattern::Bindings;
use crate::hiera::print::{self, PrintOptions};
use crate::hiera::resolution::{MergeSource, Outcome, Resolution, Step};
use crate::hiera::value::Value;
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
        text.map_or(1, |text| text.line_col(self.snapshot.place(span).start, Encoding::Utf32).line + 1)
    }
}

/// What the strategy is and who chose it, as a phrase.
pub fn strategy(resolution: &Resolution, names: &Names<'_>) -> String {
    let source = match &resolution.merge_source {
        MergeSource::Default => return "first found (no lookup_options entry)".to_owned(),
        MergeSource::Argument => "given as argument".to_owned(),
        MergeSource::Options(entry) => {
            let kind = if entry.pattern { "pattern" } else { "entry" };
            let place = entry.span.map(|span| format!(" at {}", names.place(span))).unwrap_or_default();
            format!("lookup_options {kind} '{}'{place}", entry.key)
        }
    };
    format!("{}{}: {source}", resolution.merge, options(&resolution.merge))
}

/// The options of a deep merge that are set, in parentheses.
pub fn options(strategy: &Strategy) -> String {
    let (Strategy::Deep(options) | Strategy::UnconstrainedDeep(options) | Strategy::ReverseDeep(options)) = strategy else {
        return String::new();
    };
    let mut set = Vec::new();
    set.extend(options.knockout_prefix.as_ref().map(|prefix| format!("knockout_prefix '{prefix}'")));
    set.extend(options.sort_merged_arrays.then(|| "sort_merged_arrays".to_owned()));
    set.extend(options.merge_hash_arrays.then(|| "merge_hash_arrays".to_owned()));
    if set.is_empty() { String::new() } else { format!(" ({})", set.join(", ")) }
}

/// The conditions under which a file would be seen, as a phrase: `role = web and site = oslo`.
pub fn conditions(when: &Bindings) -> String {
    let each: Vec<String> = when.iter().map(|(name, value)| format!("{name} = {value}")).collect();
    each.join(" and ")
}

/// The story of a lookup, in the structure of `puppet lookup --explain`.
pub fn text(resolution: &Resolution, snapshot: &Snapshot, root: &FilePath, options: &PrintOptions) -> String {
    let names = Names { snapshot, root };
    let mut out = format!("Searching for \"{}\"\n", resolution.key);
    line(&mut out, 1, &format!("Merge strategy {}", strategy(resolution, &names)));
    let mut layer: Option<&Layer> = None;
    let mut level: Option<&str> = None;
    for step in &resolution.steps {
        if layer != Some(&step.layer) {
            layer = Some(&step.layer);
            level = None;
            line(&mut out, 1, &layer_title(&step.layer));
        }
        if level != Some(&step.level.name) {
            level = Some(&step.level.name);
            line(&mut out, 2, &format!("Hierarchy entry \"{}\"", step.level.name));
        }
        step_text(&mut out, step, &names, shown(resolution, options));
    }
    if let Some(conversion) = &resolution.convert_to {
        let applied = if resolution.unapplied_conversion.is_some() { " (noted, not applied)" } else { "" };
        line(&mut out, 0, &format!("Applying convert_to lookup_option {}{applied}", conversion.type_text));
    }
    match &resolution.value {
        Ok(Some(value)) => {
            line(&mut out, 0, "Result:");
            indented(&mut out, 1, &print::yaml(value, options));
        }
        Ok(None) => line(&mut out, 0, &format!("Did not find a value for '{}'", resolution.key)),
        Err(error) => line(&mut out, 0, &format!("Error: {}", print::error(error, options))),
    }
    if !resolution.reads.unknown.is_empty() {
        let unknown: Vec<&str> = resolution.reads.unknown.iter().map(String::as_str).collect();
        line(&mut out, 0, &format!("Unknown variables, left as they are: {}", unknown.join(", ")));
    }
    out
}

/// Which options apply to a key, and where they come from.
pub fn options_text(resolution: &Resolution, snapshot: &Snapshot, root: &FilePath) -> String {
    let names = Names { snapshot, root };
    let mut out = format!("{}\n", resolution.key);
    line(&mut out, 1, &format!("merge: {}", strategy(resolution, &names)));
    if let Some(conversion) = &resolution.convert_to {
        let place = conversion.span.map(|span| format!(" at {}", names.place(span))).unwrap_or_default();
        line(&mut out, 1, &format!("convert_to: {}{place}", conversion.type_text));
    }
    out
}

fn layer_title(layer: &Layer) -> String {
    match layer {
        Layer::Global => "Global Data Provider (hiera configuration version 5)".into(),
        Layer::Environment => "Environment Data Provider (hiera configuration version 5)".into(),
        Layer::Module(name) => format!("Module \"{name}\" Data Provider (hiera configuration version 5)"),
    }
}

/// How candidates are shown: not at all where the value is a secret.
fn shown<'o>(resolution: &Resolution, options: &'o PrintOptions) -> Option<&'o PrintOptions> {
    (options.reveal_sensitive || !resolution.is_secret()).then_some(options)
}

fn step_text(out: &mut String, step: &Step, names: &Names<'_>, options: Option<&PrintOptions>) {
    let path_line = |out: &mut String, path: &str| {
        line(out, 3, &format!("Path \"{path}\""));
        if let Some(template) = &step.template {
            line(out, 4, &format!("Original path: \"{}\"", template.text));
        }
    };
    match &step.outcome {
        Outcome::Found { path, key, value } => {
            let at = key.map(|span| format!("{}:{}", names.path(path), names.line(span)));
            path_line(out, &at.unwrap_or_else(|| names.path(path).to_owned()));
            line(out, 4, "Found key, value:");
            indented(out, 5, &options.map_or_else(|| print::REDACTED.to_owned(), |options| print::yaml(value, options)));
        }
        Outcome::NoSuchKey(path) => {
            path_line(out, names.path(path));
            line(out, 4, "No such key");
        }
        Outcome::NoSuchFile(path) => {
            path_line(out, names.path(&FilePath::new(path)));
            line(out, 4, "Path not found");
        }
        Outcome::NotReached { path: Some(path), shadowed } => {
            path_line(out, names.path(path));
            match shadowed {
                Some((Some(span), _)) => line(out, 4, &format!("Not reached; it sets the key at line {}", names.line(*span))),
                Some((None, _)) => line(out, 4, "Not reached; it sets the key"),
                None => line(out, 4, "Not reached"),
            }
        }
        Outcome::NotReached { path: None, .. } => {
            path_line(out, "");
            line(out, 4, "Not reached");
        }
        Outcome::Undetermined { variables, candidates } => {
            path_line(out, "");
            line(out, 4, &format!("Depends on {}", variables.join(", ")));
            for candidate in candidates {
                line(out, 4, &format!("{} sets the key where {}", names.path(&candidate.path), conditions(&candidate.when)));
            }
        }
        Outcome::Opaque(backend) => {
            line(out, 3, &format!("{} \"{}\" cannot be evaluated here", backend.kind.key(), backend.name))
        }
        Outcome::Failed(path) => {
            path_line(out, names.path(path));
            line(out, 4, "Failed");
        }
    }
}

fn line(out: &mut String, depth: usize, text: &str) {
    writeln!(out, "{}{text}", "  ".repeat(depth)).expect("writing to a string");
}

fn indented(out: &mut String, depth: usize, text: &str) {
    text.lines().for_each(|text| line(out, depth, text));
}

/// The story as JSON: what [`text`] tells, for programs. Paths are relative to `root`, lines count from 1.
pub fn json(resolution: &Resolution, snapshot: &Snapshot, root: &FilePath, options: &PrintOptions) -> Json {
    let names = Names { snapshot, root };
    let value = |value: &Value| serde_json::from_str::<Json>(&print::json(value, options)).unwrap_or(Json::Null);
    let step = |step: &Step| {
        let mut object = json!({"layer": layer_name(&step.layer), "level": &*step.level.name});
        if let Some(template) = &step.template {
            object["original_path"] = (&*template.text).into();
        }
        match &step.outcome {
            Outcome::Found { path, key, value: found } => {
                object["event"] = "found".into();
                object["path"] = names.path(path).into();
                object["line"] = key.map(|span| names.line(span)).into();
                object["value"] = if shown(resolution, options).is_some() { value(found) } else { print::REDACTED.into() };
            }
            Outcome::NoSuchKey(path) => {
                object["event"] = "not_found".into();
                object["path"] = names.path(path).into();
            }
            Outcome::NoSuchFile(path) => {
                object["event"] = "location_not_found".into();
                object["path"] = names.path(&FilePath::new(path)).into();
            }
            Outcome::NotReached { path, shadowed } => {
                object["event"] = "not_reached".into();
                object["path"] = path.as_ref().map(|path| names.path(path).to_owned()).into();
                object["sets_key"] = shadowed.is_some().into();
            }
            Outcome::Undetermined { variables, candidates } => {
                object["event"] = "undetermined".into();
                object["variables"] = variables.clone().into();
                let candidate =
                    |found: &crate::hiera::resolution::Unsettled| json!({"path": names.path(&found.path), "when": found.when});
                object["candidates"] = candidates.iter().map(candidate).collect();
            }
            Outcome::Opaque(backend) => {
                object["event"] = "opaque".into();
                object["function"] = (&*backend.name).into();
            }
            Outcome::Failed(path) => {
                object["event"] = "failed".into();
                object["path"] = names.path(path).into();
            }
        }
        object
    };
    let mut object = json!({
        "key": &*resolution.key.text,
        "merge": resolution.merge.to_string(),
        "merge_source": strategy(resolution, &names),
        "convert_to": resolution.convert_to.as_ref().map(|conversion| conversion.type_text.clone()),
        "steps": resolution.steps.iter().map(step).collect::<Vec<_>>(),
        "unknown_variables": resolution.reads.unknown,
    });
    match &resolution.value {
        Ok(Some(found)) => {
            object["found"] = true.into();
            object["value"] = value(found);
        }
        Ok(None) => object["found"] = false.into(),
        Err(error) => object["error"] = print::error(error, options).into(),
    }
    object
}

/// The layer's name for people.
pub fn layer_name(layer: &Layer) -> String {
    match layer {
        Layer::Global => "global".into(),
        Layer::Environment => "environment".into(),
        Layer::Module(name) => format!("module {name}"),
    }
}
