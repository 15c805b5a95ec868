//! One answer of a hover: its provenance, the value, and its context.

use super::head::Head;
use super::provenance::has_own_level;
use super::{HoverAnswer, HoverQuestion, HoverWriter};
use crate::hiera::resolution::Resolution;
use crate::ide::phrases::{absence_reservation, open_levels};
use crate::ide::value_sources::{Narrow, ValueSource};
use crate::puppet::print;
use crate::puppet::value::{Data, Value};
use crate::text::Span;

/// The widest value on one line, in characters.
const MAX_INLINE: usize = 60;

/// The part of an effective value that a hover is about.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum ShownPart {
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

impl HoverWriter<'_> {
    /// Returns an answer in full below the lines of its head. The last line of the head is its
    /// provenance.
    pub(super) fn render_answer(
        &self,
        mut head: Head,
        found: &HoverAnswer<'_>,
        asked: &HoverQuestion<'_>,
    ) -> String {
        let (resolution, narrow) = (found.resolution, asked.narrow);
        let sources = self.part_sources(resolution, narrow);
        let others = self.sources_of_others(&sources, &found.others, narrow);
        head.add_line(self.render_provenance(resolution, &sources, &others));
        let mut out = head.render_head(&self.markup);
        match self.shown_part(resolution, narrow) {
            ShownPart::Value(value) => out.push_str(&self.block_value(&value, &sources)),
            ShownPart::Secret => {
                out.push_str(&self.markup.render_block(&format!("{}\n", print::REDACTED)))
            }
            ShownPart::NotFound if asked.is_parameter => {
                out.push_str(&self.without_value(found, asked))
            }
            other => {
                out.push_str(&self.value_phrase(&other));
                out.push('\n');
            }
        }
        out.push_str(&self.unconverted_note(resolution));
        out.push_str(&self.render_around(found, asked));
        out
    }

    /// Returns the part of the value of a lookup that the hover is about.
    pub(super) fn shown_part(&self, resolution: &Resolution, narrow: Narrow<'_>) -> ShownPart {
        match &resolution.value {
            _ if resolution.rests_on_open_alias() => ShownPart::NotSettled(open_levels(resolution)),
            Ok(Some(_)) if resolution.is_secret() => ShownPart::Secret,
            Ok(Some(value)) => narrow(value, None).map_or_else(
                || self.absent_part(resolution, ShownPart::NoPart),
                |(_, it)| ShownPart::Value(it),
            ),
            Ok(None) => self.absent_part(resolution, ShownPart::NotFound),
            Err(error) => ShownPart::Fails(error.print_message(&self.print_options())),
        }
    }

    /// Returns `absent` if all levels are evaluated, else the levels that are not.
    fn absent_part(&self, resolution: &Resolution, absent: ShownPart) -> ShownPart {
        let levels = open_levels(resolution);
        if levels.is_empty() { absent } else { ShownPart::NotSettled(levels) }
    }

    /// Returns the text of a value, or the sentence in place of it.
    pub(super) fn value_phrase(&self, shown: &ShownPart) -> String {
        match shown {
            ShownPart::Value(value) => self.markup.render_code(&self.inline_value(value)),
            ShownPart::Secret => self.markup.render_code(print::REDACTED),
            ShownPart::NoPart => "This part is not in the effective value.".into(),
            ShownPart::NotFound => {
                let environment = &self.subject.environment;
                format!("No value is found{}.", absence_reservation(self.snapshot, environment))
            }
            ShownPart::NotSettled(levels) => {
                let levels: Vec<String> =
                    levels.iter().map(|level| self.markup.render_bold(level)).collect();
                format!(
                    "Whether there is a value is not settled: {} could not be evaluated.",
                    levels.join(", ")
                )
            }
            ShownPart::Fails(message) => {
                format!("The lookup fails: {}", self.markup.render_text(message))
            }
        }
    }

    /// Returns the text of a value, or the words in place of it, for a list of several answers.
    pub(super) fn short_phrase(&self, shown: &ShownPart) -> String {
        match shown {
            ShownPart::Value(_) | ShownPart::Secret => self.value_phrase(shown),
            ShownPart::NoPart => "not in the value".into(),
            ShownPart::NotFound => "no value".into(),
            ShownPart::NotSettled(levels) => {
                let levels: Vec<String> =
                    levels.iter().map(|level| self.markup.render_bold(level)).collect();
                format!("not settled by {}", levels.join(", "))
            }
            ShownPart::Fails(message) => format!("fails: {}", self.markup.render_text(message)),
        }
    }

    /// Returns the text of a value in a list of several answers. Where its beginning is also that of
    /// another value of the list, the text goes on at the first place that tells the two apart.
    pub(super) fn listed_phrase<'s>(
        &self,
        shown: &ShownPart,
        list: impl IntoIterator<Item = &'s ShownPart>,
    ) -> String {
        let ShownPart::Value(value) = shown else { return self.short_phrase(shown) };
        let short = self.inline_value(value);
        if !short.ends_with('…') {
            return self.markup.render_code(&short);
        }
        let values = list.into_iter().filter_map(|one| match one {
            ShownPart::Value(other) if other != value => Some(other),
            _ => None,
        });
        let alike: Vec<&Value> = values.filter(|other| self.inline_value(other) == short).collect();
        if alike.is_empty() {
            return self.markup.render_code(&short);
        }
        let text = self.inline_text(value, None);
        let others = alike.into_iter().map(|other| self.inline_text(other, None));
        let others = others.filter(|other| *other != text);
        let common = others
            .map(|other| text.chars().zip(other.chars()).take_while(|(a, b)| a == b).count())
            .max();
        self.markup.render_code(&common.map_or(short, |common| cut_around(&text, common)))
    }

    /// Returns a value on one line, cut where it gets long, secrets masked.
    pub(super) fn inline_value(&self, value: &Value) -> String {
        // The hover shows only the beginning of a long value. The text is printed a little beyond
        // this beginning, so that `cut_text` sees that more text follows.
        cut_text(&self.inline_text(value, Some(MAX_INLINE * 4)))
    }

    /// Returns a value on one line, secrets masked; of a long one little more than `most` bytes.
    fn inline_text(&self, value: &Value, most: Option<usize>) -> String {
        let options = print::PrintOptions { max_json: most, ..self.print_options() };
        print::print_inline(value, &options)
    }

    pub(super) fn is_long(&self, value: &Value) -> bool {
        matches!(value.data(), Data::Array(_) | Data::Hash(_))
            && self.inline_value(value).ends_with('…')
    }

    /// Returns a value in lines. Where several files are merged, each leaf has its level behind it, or
    /// its file where the level has several.
    pub(super) fn block_value(&self, value: &Value, sources: &[ValueSource]) -> String {
        let has_levels = sources.len() > 1;
        let level: Option<&dyn Fn(Span) -> Option<String>> =
            if has_levels { Some(&|span| self.level_of_span(span, sources)) } else { None };
        let max = self.markup.config.max_value_lines;
        let (text, is_whole) = super::value::render_yaml(value, &self.print_options(), max, level);
        let more = if is_whole { String::new() } else { self.all_of_it() };
        self.markup.render_block(&text) + &more
    }

    fn level_of_span(&self, span: Span, sources: &[ValueSource]) -> Option<String> {
        let path = self.snapshot.path_of(span.file)?;
        let at = sources.iter().find(|source| source.place == Some(span));
        let named = at.or_else(|| sources.iter().find(|source| source.path == *path));
        Some(match named {
            Some(source) if has_own_level(source, sources) => source.level.clone(),
            _ => self.markup.names.short_path(path).to_owned(),
        })
    }
}

/// Returns the first letters of a long text, and those around a place in it, in characters.
fn cut_around(text: &str, at: usize) -> String {
    let first: String = text.chars().take(MAX_INLINE / 2).collect();
    let rest = text.chars().skip(at.saturating_sub(MAX_INLINE / 6)).collect::<String>();
    let around: String = rest.chars().take(MAX_INLINE / 2).collect();
    let more = if around.len() < rest.len() { "…" } else { "" };
    format!("{first}…{around}{more}")
}

/// Returns the beginning of a text that is long.
pub(super) fn cut_text(text: &str) -> String {
    let cut: String = text.chars().take(MAX_INLINE).collect();
    if cut.len() < text.len() { format!("{cut}…") } else { cut }
}
