//! The provenance of a value: the files, the merge strategy, and the place that chose the strategy.

use std::fmt::Write as _;

use super::HoverWriter;
use crate::hiera::resolution::{MergeSource, Resolution, Unapplied};
use crate::ide::phrases::option_phrase;
use crate::ide::value_sources::{Narrow, ValueSource, add_sources};
use crate::text::{Span, count_phrase};
use crate::workspace::manifests::{CalledMerge, ReaderAt, asked_strategy};

/// The most files that a provenance names.
const MAX_SOURCES: usize = 6;
/// The most files that a provenance names beside those of the largest group of nodes.
const MAX_OTHERS: usize = 2;

/// Whether no other of the places is of the same level, so that the level's name says which file it
/// is.
pub(super) fn has_own_level(source: &ValueSource, all: &[ValueSource]) -> bool {
    all.iter().filter(|other| other.level == source.level).count() == 1
}

impl HoverWriter<'_> {
    /// Returns the places that other nodes get the same value from, and that are not among `sources`.
    pub(super) fn sources_of_others(
        &self,
        sources: &[ValueSource],
        others: &[&Resolution],
        narrow: Narrow<'_>,
    ) -> Vec<ValueSource> {
        let mut all = sources.to_vec();
        for resolution in others {
            add_sources(&mut all, self.part_sources(resolution, narrow));
        }
        all.split_off(sources.len())
    }

    /// Returns `, a, b and 4 more`: the places that other nodes get the same value from.
    fn list_others(&self, others: &[ValueSource]) -> String {
        let names = others.iter().take(MAX_OTHERS).map(|source| self.source_with_path(source));
        let names: Vec<String> = names.collect();
        match others.len().saturating_sub(MAX_OTHERS) {
            0 => names.join(", "),
            more => format!("{} and {more} more", names.join(", ")),
        }
    }

    /// One line: the files that the value comes from, the merge strategy, the place that chose it,
    /// and the conversion; empty where there is none of them.
    pub(super) fn render_provenance(
        &self,
        resolution: &Resolution,
        sources: &[ValueSource],
        others: &[ValueSource],
    ) -> String {
        let merge = &resolution.merge;
        let mut line = match sources {
            [] => String::new(),
            [only] => {
                let names = [self.source_with_path(only)].into_iter();
                let others = (!others.is_empty()).then(|| self.list_others(others));
                format!("from {}", names.chain(others).collect::<Vec<_>>().join(", "))
            }
            several => {
                let mut names: Vec<String> = several
                    .iter()
                    .take(MAX_SOURCES)
                    .map(|source| {
                        if has_own_level(source, several) {
                            self.render_source(source)
                        } else {
                            self.source_with_path(source)
                        }
                    })
                    .collect();
                if several.len() > MAX_SOURCES {
                    names.push(format!("… and {} more", several.len() - MAX_SOURCES));
                }
                let count = count_phrase(several.len(), "file");
                let options = self.markup.render_text(&option_phrase(merge));
                format!("merged {}{options} from {count}: {}", merge.name(), names.join(", "))
            }
        };
        if sources.len() > 1 && !others.is_empty() {
            write!(line, "; in other nodes also from {}", self.list_others(others))
                .expect("writing to a string");
        }
        let is_chosen = match &resolution.merge_source {
            MergeSource::Options(_) => true,
            MergeSource::Argument => !merge.stops_at_first(),
            MergeSource::Default => false,
        };
        if sources.len() == 1 && is_chosen {
            let options = self.markup.render_text(&option_phrase(merge));
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
            let to = self.markup.render_code(conversion.type_text());
            write!(line, "{separator}converted to {to}{applied}").expect("writing to a string");
        }
        line
    }

    /// One line for several answers: the merge strategy, and the place that chose it.
    pub(super) fn render_strategy(&self, resolution: &Resolution) -> String {
        let merge = &resolution.merge;
        let calls =
            self.calls_note(resolution).map_or_else(String::new, |calls| format!("\n{calls}\n"));
        if merge.stops_at_first() {
            return format!("\nfirst value found\n{calls}");
        }
        let options = self.markup.render_text(&option_phrase(merge));
        let chosen_by = self.chosen_by(resolution);
        format!("\nmerge {}{options}{chosen_by}\n{calls}", merge.name())
    }

    /// Returns the entry of `lookup_options`, or the call in code, that chose the strategy.
    fn chosen_by(&self, resolution: &Resolution) -> String {
        let entry = match &resolution.merge_source {
            MergeSource::Options(entry) => entry,
            MergeSource::Argument => return self.merging_call(resolution),
            MergeSource::Default => return String::new(),
        };
        let place = entry
            .span
            .map_or_else(|| entry.shown_key().to_owned(), |span| self.markup.render_place(span));
        let pattern = if entry.pattern {
            format!(" by the pattern {}", self.markup.render_code(entry.shown_key()))
        } else {
            String::new()
        };
        format!(" · set in {place}{pattern}")
    }

    fn merging_call(&self, resolution: &Resolution) -> String {
        let index = self.snapshot.manifests(&self.subject.environment);
        match index.called_merge(&resolution.key.root_text()) {
            CalledMerge::One(merging) => {
                format!(" · asked for by {}", self.render_call(&merging.call))
            }
            CalledMerge::None | CalledMerge::Several(_) => String::new(),
        }
    }

    /// Returns a note that calls in code ask for several strategies, if they do.
    pub(super) fn calls_note(&self, resolution: &Resolution) -> Option<String> {
        let index = self.snapshot.manifests(&self.subject.environment);
        let root = resolution.key.root_text();
        let CalledMerge::Several(calls) = index.called_merge(&root) else { return None };
        let mut all: Vec<String> =
            calls.iter().take(MAX_SOURCES).map(|one| self.call_text(one)).collect();
        if calls.len() > MAX_SOURCES {
            all.push(format!("… and {} more", calls.len() - MAX_SOURCES));
        }
        Some(format!("asked for with {}", all.join(", ")))
    }

    fn call_text(&self, one: &ReaderAt<'_>) -> String {
        let strategy = asked_strategy(one.reader);
        let merge = match (&one.reader.merge, &strategy) {
            (None, _) => "no merge".to_owned(),
            (Some(_), Some(strategy)) => format!("merge {strategy}"),
            (Some(_), None) => "a computed merge".to_owned(),
        };
        format!("{merge} by {}", self.render_call(one))
    }

    /// Returns a call in code with its place.
    fn render_call(&self, one: &ReaderAt<'_>) -> String {
        let place = self.markup.render_place(Span::in_file(one.file.id, one.reader.range));
        format!("{} in {place}", self.markup.render_code(one.reader.function.name()))
    }

    pub(super) fn render_source(&self, source: &ValueSource) -> String {
        match source.place {
            Some(span) => self.markup.named_place(&source.level, span),
            None => self.markup.render_text(&source.level),
        }
    }

    pub(super) fn source_with_path(&self, source: &ValueSource) -> String {
        let place = match source.place {
            Some(span) => self.markup.render_place(span),
            None => self.markup.render_text(self.markup.names.short_path(&source.path)),
        };
        format!("{} {place}", self.markup.render_bold(&source.level))
    }

    /// Returns the keys that the value needs whose conversions it is shown without.
    pub(super) fn unconverted_note(&self, resolution: &Resolution) -> String {
        let others =
            resolution.unapplied_conversions.iter().filter(|one| *one.key != *resolution.key.text);
        others
            .map(|Unapplied { key, to }| {
                let (key, to) = (self.markup.render_code(key), self.markup.render_code(to));
                format!("\n{key} is converted to {to} (not shown here)\n")
            })
            .collect()
    }
}
