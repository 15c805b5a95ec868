//! One answer of a hover: the value, its provenance, and the files that it overrides or that may
//! override it.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::markup::counted;
use super::{Narrow, Writer};
use crate::hiera::pattern::conditions;
use crate::hiera::resolution::{MergeSource, Outcome, Resolution, Step, Unapplied, Unsettled};
use crate::ide::phrases::{level_title, open_levels, options};
use crate::puppet::print;
use crate::puppet::value::{Data, Value};
use crate::text::{FilePath, Span};
use crate::workspace::manifests::{CalledMerge, ReaderAt, asked_strategy};

/// The widest value on one line, in characters.
const MAX_INLINE: usize = 60;
/// The most files that a provenance names.
const MAX_SOURCES: usize = 6;

/// The part of an effective value that a hover is about.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Shown {
    /// The part.
    Value(Value),
    /// There is a value, and neither it nor a part of it may be shown.
    Secret,
    /// The key has a value, and the part is not in it.
    NoPart,
    /// No location has the key.
    NotFound,
    /// These levels, by name, cannot be evaluated here and decide whether there is a value.
    NotSettled(Vec<String>),
    /// The lookup fails with this message.
    Fails(String),
}

/// A file that a value comes from.
pub(super) struct Source {
    /// The level, with the layer where it is not the environment's.
    pub(super) level: String,
    pub(super) path: FilePath,
    /// The place of the key, or of the part.
    pub(super) place: Option<Span>,
}

impl Writer<'_> {
    /// An answer in full.
    pub(super) fn answer(&self, resolution: &Resolution, narrow: Narrow<'_>) -> String {
        let mut out = String::new();
        let sources = self.sources(resolution, narrow);
        match self.shown(resolution, narrow) {
            Shown::Value(value) => out.push_str(&self.block(&value, &sources)),
            Shown::Secret => out.push_str(&self.markup.block(&format!("{}\n", print::REDACTED))),
            other => writeln!(out, "{}", self.phrase(&other)).expect("writing to a string"),
        }
        out.push_str(&self.provenance(resolution, &sources));
        out.push_str(&self.around(resolution, narrow));
        out
    }

    /// The part of the value of a lookup that the hover is about.
    pub(super) fn shown(&self, resolution: &Resolution, narrow: Narrow<'_>) -> Shown {
        match &resolution.value {
            Ok(Some(_)) if resolution.is_secret() => Shown::Secret,
            Ok(Some(value)) => narrow(value, None)
                .map_or_else(|| self.absent(resolution, Shown::NoPart), |(_, it)| Shown::Value(it)),
            Ok(None) => self.absent(resolution, Shown::NotFound),
            Err(error) => Shown::Fails(error.printed(&self.print_options())),
        }
    }

    /// What is absent as far as all levels are evaluated.
    fn absent(&self, resolution: &Resolution, absent: Shown) -> Shown {
        let levels = open_levels(resolution);
        if levels.is_empty() { absent } else { Shown::NotSettled(levels) }
    }

    /// What is said in place of a value.
    pub(super) fn phrase(&self, shown: &Shown) -> String {
        match shown {
            Shown::Value(value) => self.markup.code(&self.inline(value)),
            Shown::Secret => self.markup.code(print::REDACTED),
            Shown::NoPart => "This part is not in the effective value.".into(),
            Shown::NotFound => "No value is found.".into(),
            Shown::NotSettled(levels) => {
                let levels: Vec<String> =
                    levels.iter().map(|level| self.markup.bold(level)).collect();
                format!(
                    "Whether there is a value is not settled: {} could not be evaluated.",
                    levels.join(", ")
                )
            }
            Shown::Fails(message) => format!("The lookup fails: {}", self.markup.text(message)),
        }
    }

    /// A value on one line, cut where it gets long, secrets masked.
    pub(super) fn inline(&self, value: &Value) -> String {
        // The part of a long value that is shown is in its first bytes, and one more tells that
        // there is more.
        let options =
            print::PrintOptions { max_json: Some(MAX_INLINE * 4), ..self.print_options() };
        let text = print::inline(value, &options);
        let cut: String = text.chars().take(MAX_INLINE).collect();
        if cut.len() < text.len() { format!("{cut}…") } else { cut }
    }

    pub(super) fn is_long(&self, value: &Value) -> bool {
        matches!(value.data(), Data::Array(_) | Data::Hash(_)) && self.inline(value).ends_with('…')
    }

    /// A value in lines. Where several files are merged, each leaf says its level.
    pub(super) fn block(&self, value: &Value, sources: &[Source]) -> String {
        let level_of = |span: Span| {
            let path = self.snapshot.path(span.file)?;
            let named = sources.iter().find(|source| source.path == *path);
            Some(match named {
                Some(source) => source.level.clone(),
                None => self.markup.names.path(path).to_owned(),
            })
        };
        let has_levels = sources.len() > 1;
        let level: Option<&dyn Fn(Span) -> Option<String>> =
            if has_levels { Some(&level_of) } else { None };
        let max = self.markup.config.max_value_lines;
        self.markup.block(&super::value::yaml(value, &self.print_options(), max, level))
    }

    /// The files that have the part, highest priority first.
    pub(super) fn sources(&self, resolution: &Resolution, narrow: Narrow<'_>) -> Vec<Source> {
        let source = |step: &Step| match &step.outcome {
            Outcome::Found { path, key, value } => {
                let place = narrow(value, *key)?.0.or(*key);
                Some(Source {
                    level: level_title(&step.layer, &step.level.name),
                    path: path.clone(),
                    place,
                })
            }
            _ => None,
        };
        resolution.steps.iter().filter_map(source).collect()
    }

    /// One line: the files that the value comes from, how they are merged, and what chose that.
    pub(super) fn provenance(&self, resolution: &Resolution, sources: &[Source]) -> String {
        if sources.is_empty() && resolution.convert_to.is_none() {
            return self.unconverted(resolution);
        }
        let merge = &resolution.merge;
        let mut line = match sources {
            [] => String::new(),
            [only] => format!("from {}", self.source_with_path(only)),
            several => {
                let mut names: Vec<String> =
                    several.iter().take(MAX_SOURCES).map(|source| self.source(source)).collect();
                if several.len() > MAX_SOURCES {
                    names.push(format!("… and {} more", several.len() - MAX_SOURCES));
                }
                let count = counted(several.len(), "file");
                let options = self.markup.text(&options(merge));
                format!("merged {}{options} from {count}: {}", merge.name(), names.join(", "))
            }
        };
        let is_chosen = match &resolution.merge_source {
            MergeSource::Options(_) => true,
            MergeSource::Argument => !merge.stops_at_first(),
            MergeSource::Default => false,
        };
        if sources.len() == 1 && is_chosen {
            let options = self.markup.text(&options(merge));
            write!(line, " · merge {}{options}", merge.name()).expect("writing to a string");
        }
        if !line.is_empty() {
            line.push_str(&self.chosen_by(resolution));
        }
        if let Some(conversion) = &resolution.convert_to {
            let is_unapplied =
                resolution.unapplied_conversions.iter().any(|one| *one.key == *resolution.key.text);
            let applied = if is_unapplied { " (not shown here)" } else { "" };
            let separator = if line.is_empty() { "" } else { " · " };
            let to = self.markup.code(conversion.shown());
            write!(line, "{separator}converted to {to}{applied}").expect("writing to a string");
        }
        format!("\n{line}\n{}{}", self.calls(resolution), self.unconverted(resolution))
    }

    /// One line for several answers: how values are merged, and what chose that.
    pub(super) fn strategy(&self, resolution: &Resolution) -> String {
        let merge = &resolution.merge;
        if merge.stops_at_first() {
            return format!("\nfirst value found\n{}", self.calls(resolution));
        }
        let options = self.markup.text(&options(merge));
        let chosen_by = self.chosen_by(resolution);
        format!("\nmerge {}{options}{chosen_by}\n{}", merge.name(), self.calls(resolution))
    }

    /// The entry of `lookup_options`, or the call in code, that chose the strategy.
    fn chosen_by(&self, resolution: &Resolution) -> String {
        let entry = match &resolution.merge_source {
            MergeSource::Options(entry) => entry,
            MergeSource::Argument => return self.merging_call(resolution),
            MergeSource::Default => return String::new(),
        };
        let place =
            entry.span.map_or_else(|| entry.shown_key().to_owned(), |span| self.markup.place(span));
        let pattern = if entry.pattern {
            format!(" by the pattern {}", self.markup.code(entry.shown_key()))
        } else {
            String::new()
        };
        format!(" · set in {place}{pattern}")
    }

    fn merging_call(&self, resolution: &Resolution) -> String {
        let index = self.snapshot.manifests(&self.subject.environment);
        match index.called_merge(&resolution.key.root_text()) {
            CalledMerge::One(merging) => format!(" · asked for by {}", self.call(&merging.call)),
            CalledMerge::None | CalledMerge::Several(_) => String::new(),
        }
    }

    /// That calls in code ask for several strategies, if they do.
    fn calls(&self, resolution: &Resolution) -> String {
        let index = self.snapshot.manifests(&self.subject.environment);
        let root = resolution.key.root_text();
        let CalledMerge::Several(calls) = index.called_merge(&root) else { return String::new() };
        let call = |one: &ReaderAt<'_>| {
            let strategy = asked_strategy(one.reader);
            let merge = match (&one.reader.merge, &strategy) {
                (None, _) => "no merge".to_owned(),
                (Some(_), Some(strategy)) => format!("merge {strategy}"),
                (Some(_), None) => "a computed merge".to_owned(),
            };
            format!("{merge} by {}", self.call(one))
        };
        let mut all: Vec<String> = calls.iter().take(MAX_SOURCES).map(call).collect();
        if calls.len() > MAX_SOURCES {
            all.push(format!("… and {} more", calls.len() - MAX_SOURCES));
        }
        format!("\nasked for with {}\n", all.join(", "))
    }

    /// A call in code with its place.
    fn call(&self, one: &ReaderAt<'_>) -> String {
        let place = self.markup.place(Span::in_file(one.file.id, one.reader.range));
        format!("{} in {place}", self.markup.code(one.reader.function.name()))
    }

    fn source(&self, source: &Source) -> String {
        match source.place {
            Some(span) => self.markup.named_place(&source.level, span),
            None => self.markup.text(&source.level),
        }
    }

    pub(super) fn source_with_path(&self, source: &Source) -> String {
        let place = match source.place {
            Some(span) => self.markup.place(span),
            None => self.markup.text(self.markup.names.path(&source.path)),
        };
        format!("{} {place}", self.markup.bold(&source.level))
    }

    /// The keys that the value needs whose conversions it is shown without.
    fn unconverted(&self, resolution: &Resolution) -> String {
        let others =
            resolution.unapplied_conversions.iter().filter(|one| *one.key != *resolution.key.text);
        others
            .map(|Unapplied { key, to }| {
                let (key, to) = (self.markup.code(key), self.markup.code(to));
                format!("\n{key} is converted to {to} (not shown here)\n")
            })
            .collect()
    }

    /// The files below that are overridden, the levels that cannot be read, and the files that may
    /// override the value.
    pub(super) fn around(&self, resolution: &Resolution, narrow: Narrow<'_>) -> String {
        let mut out = String::new();
        let mut lines = self.overridden(resolution, narrow);
        lines.extend(resolution.steps.iter().filter_map(|step| self.unread(step)));
        let max = self.markup.config.max_locations;
        if !lines.is_empty() {
            out.push('\n');
        }
        for line in lines.iter().take(max) {
            writeln!(out, "- {line}").expect("writing to a string");
        }
        if lines.len() > max {
            writeln!(out, "- … and {} more", lines.len() - max).expect("writing to a string");
        }
        if !resolution.reads.unknown.is_empty() {
            let names: Vec<String> =
                resolution.reads.unknown.iter().map(|name| self.markup.code(name)).collect();
            writeln!(out, "\nunknown here: {}", names.join(", ")).expect("writing to a string");
        }
        self.unsettled(resolution, &mut out);
        out
    }

    /// The values of the part that a higher location hides.
    fn overridden(&self, resolution: &Resolution, narrow: Narrow<'_>) -> Vec<String> {
        let effective = match self.shown(resolution, narrow) {
            Shown::Value(value) => Some(value),
            _ => None,
        };
        let winner = self.sources(resolution, narrow).into_iter().next();
        let is_winner = winner.is_some_and(|source| source.path == self.subject.path);
        let mut lines = Vec::new();
        for step in &resolution.steps {
            let Outcome::NotReached { shadowed: Some((key, value)), .. } = &step.outcome else {
                continue;
            };
            let Some((place, part)) = narrow(value, *key) else { continue };
            let place = place.or(*key);
            let is_same = is_winner
                && lines.is_empty()
                && resolution.unsettled.is_empty()
                && effective.as_ref() == Some(&part);
            let source = Source {
                level: level_title(&step.layer, &step.level.name),
                path: FilePath::new(""),
                place,
            };
            let source = self.source_with_path(&source);
            let is_here =
                place.and_then(|place| self.snapshot.path(place.file)) == Some(&self.subject.path);
            let text = if resolution.is_secret() {
                self.markup.code(print::REDACTED)
            } else {
                self.markup.code(&self.inline(&part))
            };
            lines.push(match (is_same, is_here) {
                (true, _) => format!("same value as {source}: redundant here"),
                (false, true) => format!("overrides the value here: {text}"),
                (false, false) => format!("overrides {source}: {text}"),
            });
        }
        lines
    }

    /// A level that cannot be read.
    fn unread(&self, step: &Step) -> Option<String> {
        let level = self.markup.bold(&level_title(&step.layer, &step.level.name));
        match &step.outcome {
            Outcome::Opaque(backend) => Some(format!(
                "{level}: the backend {} cannot be evaluated here",
                self.markup.code(&backend.name)
            )),
            Outcome::Unread { path, message } => Some(format!(
                "{level} {}: not read: {}",
                self.markup.text(self.markup.names.path(path)),
                self.markup.text(message)
            )),
            Outcome::Failed(path) => {
                Some(format!("{level} {}: fails", self.markup.text(self.markup.names.path(path))))
            }
            _ => None,
        }
    }

    /// The files that could change the value if unknown variables were known, by variable.
    fn unsettled(&self, resolution: &Resolution, out: &mut String) {
        let root = resolution.key.root_text();
        let (own, other): (Vec<_>, Vec<_>) =
            resolution.unsettled.iter().partition(|file| *file.key == *root);
        let merges = !resolution.merge.stops_at_first();
        let own_title = match (&resolution.value, merges) {
            (Ok(None), _) => "could be set by",
            (_, true) => "could be merged with",
            (_, false) => "could be overridden by",
        };
        for (files, title) in [(own, own_title), (other, "keys that it asks for could be set by")] {
            let mut by_variable: BTreeMap<Vec<&str>, Vec<&Unsettled>> = BTreeMap::new();
            for file in files {
                let names = file.when.keys().map(String::as_str).collect();
                by_variable.entry(names).or_default().push(file);
            }
            for (names, files) in by_variable {
                writeln!(out, "\n{title} {}", self.files_by_variable(&names, &files))
                    .expect("writing to a string");
            }
        }
    }

    /// `[file:1] where role = web`, or `12 values of role: [api], [db], …`.
    fn files_by_variable(&self, names: &[&str], files: &[&Unsettled]) -> String {
        const FEW: usize = 2;
        const EXAMPLES: usize = 5;
        let place = |file: &Unsettled| match file.span {
            Some(span) => self.markup.place(span),
            None => self.markup.text(self.markup.names.path(&file.path)),
        };
        let [name] = names else {
            let shown = files.iter().take(EXAMPLES).map(|file| {
                let when = self.markup.text(&conditions(&file.when));
                let place = place(file);
                if when.is_empty() { place } else { format!("{place} where {when}") }
            });
            return with_more(shown.collect(), files.len());
        };
        if files.len() <= FEW {
            let shown = files.iter().map(|file| {
                format!("{} where {}", place(file), self.markup.text(&conditions(&file.when)))
            });
            return with_more(shown.collect(), files.len());
        }
        let value = |file: &Unsettled| file.when.get(*name).cloned().unwrap_or_default();
        let examples = files.iter().take(EXAMPLES).map(|file| match file.span {
            Some(span) if self.markup.config.link.is_some() => {
                self.markup.named_place(&value(file), span)
            }
            _ => self.markup.text(&value(file)),
        });
        let name = self.markup.code(name);
        let examples = with_more(examples.collect(), files.len());
        format!("{} values of {name}: {examples}", files.len())
    }
}

/// A list of the first ones of so many.
fn with_more(mut shown: Vec<String>, all: usize) -> String {
    if shown.len() < all {
        shown.push("…".into());
    }
    shown.join(", ")
}
