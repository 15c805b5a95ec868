//! One answer of a hover: its provenance, the value, and its context.

use super::head::Head;
use super::provenance::Source;
use super::{Asked, Found, Narrow, Writer};
use crate::hiera::resolution::Resolution;
use crate::ide::phrases::open_levels;
use crate::puppet::print;
use crate::puppet::value::{Data, Value};
use crate::text::Span;

/// The widest value on one line, in characters.
const MAX_INLINE: usize = 60;

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

impl Writer<'_> {
    /// Returns an answer in full below the lines of its head. The last line of the head is its
    /// provenance.
    pub(super) fn answer(&self, mut head: Head, found: &Found<'_>, asked: &Asked<'_>) -> String {
        let (resolution, narrow) = (found.resolution, asked.narrow);
        let sources = self.sources(resolution, narrow);
        head.line(self.provenance(resolution, &sources));
        let mut out = head.written(&self.markup);
        match self.shown(resolution, narrow) {
            Shown::Value(value) => out.push_str(&self.block(&value, &sources)),
            Shown::Secret => out.push_str(&self.markup.block(&format!("{}\n", print::REDACTED))),
            Shown::NotFound if asked.is_parameter => {
                out.push_str(&self.without_value(found, asked))
            }
            other => {
                out.push_str(&self.phrase(&other));
                out.push('\n');
            }
        }
        out.push_str(&self.unconverted(resolution));
        out.push_str(&self.around(found, asked));
        out
    }

    /// Returns the part of the value of a lookup that the hover is about.
    pub(super) fn shown(&self, resolution: &Resolution, narrow: Narrow<'_>) -> Shown {
        match &resolution.value {
            Ok(Some(_)) if resolution.is_secret() => Shown::Secret,
            Ok(Some(value)) => narrow(value, None)
                .map_or_else(|| self.absent(resolution, Shown::NoPart), |(_, it)| Shown::Value(it)),
            Ok(None) => self.absent(resolution, Shown::NotFound),
            Err(error) => Shown::Fails(error.print_message(&self.print_options())),
        }
    }

    /// Returns `absent` if all levels are evaluated, else the levels that are not.
    fn absent(&self, resolution: &Resolution, absent: Shown) -> Shown {
        let levels = open_levels(resolution);
        if levels.is_empty() { absent } else { Shown::NotSettled(levels) }
    }

    /// Returns the text of a value, or the sentence in place of it.
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

    /// Returns the text of a value, or the words in place of it, for a list of several answers.
    pub(super) fn short_phrase(&self, shown: &Shown) -> String {
        match shown {
            Shown::Value(_) | Shown::Secret => self.phrase(shown),
            Shown::NoPart => "not in the value".into(),
            Shown::NotFound => "no value".into(),
            Shown::NotSettled(levels) => {
                let levels: Vec<String> =
                    levels.iter().map(|level| self.markup.bold(level)).collect();
                format!("not settled by {}", levels.join(", "))
            }
            Shown::Fails(message) => format!("fails: {}", self.markup.text(message)),
        }
    }

    /// Returns a value on one line, cut where it gets long, secrets masked.
    pub(super) fn inline(&self, value: &Value) -> String {
        // Only the beginning of a long value is shown: the text is printed a little further than
        // that, so that `cut` sees that there is more.
        let options =
            print::PrintOptions { max_json: Some(MAX_INLINE * 4), ..self.print_options() };
        cut(&print::print_inline(value, &options))
    }

    pub(super) fn is_long(&self, value: &Value) -> bool {
        matches!(value.data(), Data::Array(_) | Data::Hash(_)) && self.inline(value).ends_with('…')
    }

    /// Returns a value in lines. Where several files are merged, each leaf has its level behind it.
    pub(super) fn block(&self, value: &Value, sources: &[Source]) -> String {
        let level_of = |span: Span| {
            let path = self.snapshot.path_of(span.file)?;
            let at = sources.iter().find(|source| source.place == Some(span));
            let named = at.or_else(|| sources.iter().find(|source| source.path == *path));
            Some(match named {
                Some(source) => source.level.clone(),
                None => self.markup.names.path(path).to_owned(),
            })
        };
        let has_levels = sources.len() > 1;
        let level: Option<&dyn Fn(Span) -> Option<String>> =
            if has_levels { Some(&level_of) } else { None };
        let max = self.markup.config.max_value_lines;
        let (text, is_whole) = super::value::yaml(value, &self.print_options(), max, level);
        let more = if is_whole { String::new() } else { self.all_of_it() };
        self.markup.block(&text) + &more
    }
}

/// Returns the beginning of a text that is long.
pub(super) fn cut(text: &str) -> String {
    let cut: String = text.chars().take(MAX_INLINE).collect();
    if cut.len() < text.len() { format!("{cut}…") } else { cut }
}
