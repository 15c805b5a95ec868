//! The surroundings of the cursor, and the words and edits that several kinds of completion share.

use std::ops::Deref;
use std::sync::Arc;

use super::item::{Item, ItemKind};
use super::place::{CursorContext, CursorStep, Style};
use super::shape::ValueShape;
use crate::puppet::print::{self, json_text};
use crate::puppet::types::{self, DataType};
use crate::puppet::value::{Member, Value};
use crate::text::{FilePath, Span, TextEdit, TextRange};
use crate::workspace::Snapshot;
use crate::workspace::environments::Environment;
use crate::workspace::files::file::File;

/// A file, and the data that its environment has.
#[derive(Clone, Copy)]
pub(super) struct FileContext<'a> {
    pub(super) snapshot: &'a Snapshot,
    pub(super) environment: &'a Environment,
    pub(super) file: &'a File,
}

/// The surroundings of the cursor.
pub(super) struct CompletionContext<'a> {
    pub(super) at: FileContext<'a>,
    pub(super) place: &'a CursorContext,
    pub(super) is_json: bool,
}

impl<'a> Deref for CompletionContext<'a> {
    type Target = FileContext<'a>;

    fn deref(&self) -> &FileContext<'a> {
        &self.at
    }
}

/// The most files whose definitions of a key are looked into.
const MAX_DEFINITIONS: usize = 200;
/// The most characters of a type beside an item: clients cut the word itself for a longer one.
const MAX_DETAIL: usize = 40;

/// The bytes of a file that show which quotes the file uses.
const HABIT_BYTES: u32 = 4_096;

impl<'a> FileContext<'a> {
    /// Returns the definitions of a root key in files that the environment reads, each with its
    /// file.
    pub(super) fn root_definitions(
        &self,
        root: &str,
    ) -> impl Iterator<Item = (&'a FilePath, Member)> {
        let (environment, view) = (self.environment, self.snapshot.view(self.environment));
        let files = self.snapshot.keys().definitions(root).iter();
        let read = files.filter(|path| environment.reaches_file(path)).take(MAX_DEFINITIONS);
        read.filter_map(move |path| Some((path, view.data_of(path)?.get(root)?.clone())))
    }

    /// Returns the first definition of a root key in files other than this one.
    pub(super) fn first_other(&self, root: &str) -> Option<Member> {
        let here = &self.file.path;
        let mut others = self.root_definitions(root).filter(|(path, _)| *path != here);
        others.next().map(|(_, member)| member)
    }

    /// Whether values of a root key may be shown: they cannot be Sensitive.
    pub(super) fn may_show(&self, root: &str) -> bool {
        !self.snapshot.may_be_sensitive(root)
    }

    /// Returns the type of the parameter that asks for a root key, as far as it can be read.
    pub(super) fn type_of(&self, root: &str) -> Option<Arc<DataType>> {
        let index = self.snapshot.manifests(self.environment);
        let text = &index.asking_parameter(root)?.parameter.data_type.as_ref()?.text;
        index.judged_type(text).or_else(|| types::parse(text).ok().map(Arc::new))
    }

    /// Returns the path of a file as users know it.
    pub(super) fn file_name<'p>(&self, path: &'p FilePath) -> &'p str {
        path.relative_to(&self.environment.root).unwrap_or(path.as_str())
    }
}

impl CompletionContext<'_> {
    /// Whether a place is the one of the cursor.
    pub(super) fn is_here(&self, span: Option<Span>) -> bool {
        span.is_some_and(|span| {
            span.file == self.file.id
                && self.snapshot.span_bytes(span).touches_offset(self.place.before.end)
        })
    }

    /// Returns the item that inserts a key of a hash, with the beginning of its value where the key
    /// has none yet.
    pub(super) fn key_item(&self, kind: ItemKind, key: &str, shape: &ValueShape) -> Item {
        let place = self.place;
        let word = place.word_behind(|c| c.is_alphanumeric() || "_-./^$*\\".contains(c));
        let word = word + rest_of_key(&place.behind[word..]);
        let quote = place.style.quote();
        let is_closed = !quote.is_empty() && place.behind[word..].starts_with(quote);
        let end = word + usize::from(is_closed);
        let has_colon = ends_key(place.behind[end..].trim_start_matches(' '));
        let written = self.written_key(key);
        let (plain, snippet) = if has_colon {
            (String::new(), String::new())
        } else {
            shape.shape_text(self.is_json, place.in_flow, place.column)
        };
        let colon = if has_colon { "" } else { ":" };
        let edit = TextEdit::new(place.typed_range(end), format!("{written}{colon}{plain}"));
        Item {
            filter: format!("{quote}{key}"),
            snippet: (snippet != plain)
                .then(|| format!("{}{colon}{snippet}", super::shape::escape_snippet(&written))),
            ..Item::new(kind, key, edit)
        }
    }

    fn written_key(&self, key: &str) -> String {
        match self.place.style {
            _ if self.is_json => json_text(key),
            Style::Double => json_text(key),
            Style::Single => print::quote_single(key),
            Style::Plain | Style::Block => self.plain_scalar(key),
        }
    }

    /// Returns a text as a scalar of YAML that is the same string.
    pub(super) fn plain_scalar(&self, text: &str) -> String {
        let written = print::quote_scalar(text);
        let has_indicator = self.place.in_flow && text.contains([',', '[', ']', '{', '}']);
        if !has_indicator && !written.starts_with('\'') {
            return written;
        }
        let is_double = text.contains('\'') && !text.contains(['"', '\\']);
        if is_double || !text.contains('"') && self.prefers_double_quotes() {
            json_text(text)
        } else {
            print::quote_single(text)
        }
    }

    /// Whether the beginning of the file has more double quotes than single ones.
    fn prefers_double_quotes(&self) -> bool {
        let Some(text) = self.file.text() else { return false };
        let start = text.slice(text.clamp_range(TextRange::new(0, text.len().min(HABIT_BYTES))));
        start.matches('"').count() > start.matches('\'').count()
    }

    /// Returns the item that inserts a scalar as a value. `text` is a scalar of YAML; `string` the
    /// string that it is, if it is one.
    pub(super) fn value_item(&self, kind: ItemKind, text: &str, string: Option<&str>) -> Item {
        let place = self.place;
        let quote = place.style.quote();
        let written = match (string, place.style) {
            (Some(string), _) if self.is_json => json_text(string),
            (Some(string), Style::Double) => json_text(string),
            (Some(string), Style::Single) => print::quote_single(string),
            (Some(string), _) => self.plain_scalar(string),
            (None, _) => text.to_owned(),
        };
        let label = string.unwrap_or(text);
        let edit = TextEdit::new(place.typed_range(place.scalar_behind()), written);
        Item { filter: format!("{quote}{label}"), ..Item::new(kind, label, edit) }
    }

    /// Returns the type at the place of the cursor.
    pub(super) fn type_here(&self, root: &str) -> Option<DataType> {
        let whole = self.type_of(root)?;
        super::shape::type_at(&whole, &self.place.path[1..])
    }
}

/// Returns a type on one line, cut where it is long.
pub(super) fn short_type(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match text.char_indices().nth(MAX_DETAIL) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// Returns the length of the rest of a key whose parts are separated by `::`.
fn rest_of_key(behind: &str) -> usize {
    let run = behind
        .find(|c: char| !(c.is_alphanumeric() || "_-./^$*\\:".contains(c)))
        .unwrap_or(behind.len());
    let word = &behind[..run];
    // The last colon ends the key.
    let end = if word.ends_with(':') && !behind[run..].starts_with(['"', '\'']) { 1 } else { 0 };
    run - end
}

/// Whether a text begins with the colon that ends a key.
fn ends_key(text: &str) -> bool {
    text.strip_prefix(':')
        .is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t', '[', '{', '"', ',']))
}

/// Returns the parts of a value at the end of a path. An element of a list stands for all elements.
pub(super) fn dig<'v>(value: &'v Value, path: &[CursorStep]) -> Vec<&'v Value> {
    path.iter().fold(vec![value], |values, step| {
        values
            .into_iter()
            .flat_map(|value: &'v Value| -> Vec<&'v Value> {
                match step {
                    CursorStep::Key(name) => hash_member(value, name).into_iter().collect(),
                    CursorStep::Item(_) => value.as_array().into_iter().flatten().collect(),
                }
            })
            .collect()
    })
}

fn hash_member<'v>(value: &'v Value, name: &str) -> Option<&'v Value> {
    let hash = value.as_hash()?;
    let found = hash.get(name).or_else(|| {
        hash.iter().find(|(key, _)| key.as_str().is_none() && key.to_text() == name).map(|it| it.1)
    });
    found.map(|member| &member.value)
}
