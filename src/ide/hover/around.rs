//! The context of an answer: the values that it overrides, and the levels that cannot be read.

use std::fmt::Write as _;

use super::answer::ShownPart;
use super::{HoverAnswer, HoverQuestion, HoverWriter};
use crate::hiera::resolution::{LookupStep, Outcome, Resolution};
use crate::ide::phrases::{level_title, not_evaluated};
use crate::ide::value_sources::ValueSource;
use crate::puppet::print;
use crate::puppet::value::{Data, Value};
use crate::text::count_phrase;

/// The most keys of a hash that a line names.
const MAX_KEYS: usize = 5;

impl HoverWriter<'_> {
    /// Returns the files below that are overridden, the levels that cannot be read, notes on the
    /// value, and the files that may override it.
    pub(super) fn render_around(
        &self,
        found: &HoverAnswer<'_>,
        asked: &HoverQuestion<'_>,
    ) -> String {
        let resolution = found.resolution;
        let mut out = self.render_below(found, asked);
        if !resolution.reads.unknown.is_empty() {
            let names: Vec<String> =
                resolution.reads.unknown.iter().map(|name| self.markup.render_code(name)).collect();
            writeln!(out, "\nunknown here: {}", names.join(", ")).expect("writing to a string");
        }
        self.render_unsettled(found, &mut out);
        out
    }

    /// Returns the files below that are overridden, the levels that cannot be read, and notes on
    /// the value.
    pub(super) fn render_below(
        &self,
        found: &HoverAnswer<'_>,
        asked: &HoverQuestion<'_>,
    ) -> String {
        let resolution = found.resolution;
        let mut out = String::new();
        let mut lines = self.overridden_values(found, asked);
        lines.extend(resolution.steps.iter().filter_map(|step| self.unread_phrase(step)));
        let max = self.markup.config.max_locations;
        let more = lines.len().saturating_sub(max);
        lines.truncate(max);
        if more > 0 {
            lines.push(format!("… and {more} more"));
        }
        lines.extend(self.merges_nothing(found, asked));
        lines.extend(self.value_notes(found, asked));
        if !lines.is_empty() {
            out.push('\n');
        }
        for line in lines {
            writeln!(out, "- {line}").expect("writing to a string");
        }
        out
    }

    /// Returns the levels that cannot be read, a line for each.
    pub(super) fn unread_levels(&self, resolution: &Resolution) -> String {
        let lines = resolution.steps.iter().filter_map(|step| self.unread_phrase(step));
        let lines: String = lines.map(|line| format!("- {line}\n")).collect();
        if lines.is_empty() { lines } else { format!("\n{lines}") }
    }

    /// Returns the values of the part that a higher location hides.
    fn overridden_values(&self, found: &HoverAnswer<'_>, asked: &HoverQuestion<'_>) -> Vec<String> {
        let resolution = found.resolution;
        let effective = match self.shown_part(resolution, asked.narrow) {
            ShownPart::Value(value) => Some(value),
            _ => None,
        };
        let mut lines = Vec::new();
        let mut known = self.part_sources(resolution, asked.narrow);
        for step in &resolution.steps {
            let Outcome::NotReached { path: Some(path), shadowed: Some((key, value)), .. } =
                &step.outcome
            else {
                continue;
            };
            let Some((place, part)) = (asked.narrow)(value, *key) else { continue };
            let place = place.or(*key);
            let source = ValueSource {
                level: level_title(&step.layer, &step.level.name),
                path: path.clone(),
                place,
                is_function: false,
            };
            // Several levels may read one file.
            if known.iter().any(|one| one.is_same_place(&source)) {
                continue;
            }
            known.push(source.clone());
            let source = self.source_with_path(&source);
            let is_here = place.and_then(|place| self.snapshot.path_of(place.file))
                == Some(&self.subject.path);
            let what = if is_here { "the value here".to_owned() } else { source.clone() };
            // A comparison of a secret with another value would reveal part of it.
            let is_secret = resolution.is_secret()
                || part.holds_secret()
                || effective.as_ref().is_some_and(Value::holds_secret);
            lines.push(match &effective {
                _ if found.is_redundant && lines.is_empty() => {
                    format!("equals {source}: deleting it here changes nothing{}", self.for_whom())
                }
                _ if resolution.is_secret() => {
                    format!("overrides {what}: {}", self.markup.render_code(print::REDACTED))
                }
                _ if is_secret => format!("overrides {what}"),
                Some(effective) if *effective == part && !part.is_live() => {
                    format!("overrides {what} with the same value")
                }
                Some(effective) => {
                    format!("overrides {what}{}", self.hidden_phrase(effective, &part))
                }
                None => format!(
                    "overrides {what}: {}",
                    self.markup.render_code(&self.inline_value(&part))
                ),
            });
        }
        lines
    }

    /// Describes the part of a value that another value hides. For a hash: the keys that are lost,
    /// or else those with other values. For anything else: the value.
    fn hidden_phrase(&self, effective: &Value, hidden: &Value) -> String {
        let (Some(over), Some(under)) = (effective.as_hash(), hidden.as_hash()) else {
            return match hidden.data() {
                Data::Hash(hash) => format!(", a hash of {}", count_phrase(hash.len(), "key")),
                Data::Array(items) if self.is_long(hidden) => {
                    format!(", a list of {}", count_phrase(items.len(), "element"))
                }
                _ => format!(": {}", self.markup.render_code(&self.inline_value(hidden))),
            };
        };
        let lost: Vec<String> = under
            .keys()
            .filter(|key| !over.contains_key(*key))
            .map(|key| key.to_text().into_owned())
            .collect();
        if !lost.is_empty() {
            let noun = if lost.len() == 1 { "key" } else { "keys" };
            return format!(" and hides its {noun} {}", self.names_of_keys(lost.into_iter()));
        }
        let other = under
            .iter()
            .filter(|(key, member)| over.get(*key).is_some_and(|own| own.value != member.value));
        let other = self.names_of_keys(other.map(|(key, _)| key.to_text().into_owned()));
        if other.is_empty() { String::new() } else { format!(", with other values of {other}") }
    }

    /// Returns `a, b, …`; empty for none.
    fn names_of_keys(&self, names: impl Iterator<Item = String>) -> String {
        let names: Vec<String> = names.map(|name| self.markup.render_code(&name)).collect();
        let count = names.len();
        with_more(names.into_iter().take(MAX_KEYS).collect(), count)
    }

    /// Describes a level that cannot be read, or whose function was called.
    fn unread_phrase(&self, step: &LookupStep) -> Option<String> {
        let level = self.markup.render_bold(&level_title(&step.layer, &step.level.name));
        match &step.outcome {
            Outcome::Opaque(backend) => {
                let name = self.markup.render_code(&backend.name);
                Some(format!("{level}: {}", not_evaluated(backend, &name)))
            }
            Outcome::Answered { backend, .. } => {
                Some(format!("{level}: {} has a value", self.markup.render_code(&backend.name)))
            }
            Outcome::NotAnswered(backend) => Some(format!(
                "{level}: {} does not have the key",
                self.markup.render_code(&backend.name)
            )),
            Outcome::Excluded(backend) => Some(format!(
                "{level}: {} is not asked, its option {} excludes the key",
                self.markup.render_code(&backend.name),
                self.markup.render_code("confine_to_keys")
            )),
            Outcome::Unread { path, message } => Some(format!(
                "{level} {}: not read: {}",
                self.markup.render_text(self.markup.names.short_path(path)),
                self.markup.render_text(message)
            )),
            Outcome::Failed(path) => Some(format!(
                "{level} {}: fails",
                self.markup.render_text(self.markup.names.short_path(path))
            )),
            _ => None,
        }
    }
}

/// Returns a list of the first ones of so many.
pub(super) fn with_more(mut shown: Vec<String>, all: usize) -> String {
    if shown.len() < all {
        shown.push(format!("… and {} more", all - shown.len()));
    }
    shown.join(", ")
}
