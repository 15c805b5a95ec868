//! The words of an answer.

use std::collections::HashSet;

use super::MAX_ITEMS;
use super::place::CursorContext;
use crate::text::TextEdit;
use crate::workspace::Snapshot;

/// An answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Completions {
    /// The words, likely ones first.
    pub items: Vec<Item>,
    /// Whether there are more words, so that a client must ask again as the user types.
    pub is_incomplete: bool,
}

/// A word that fits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// The word.
    pub label: String,
    /// The kind of the word.
    pub kind: ItemKind,
    /// The type of the word, or where the word comes from, on one line.
    pub detail: Option<String>,
    /// The meaning of the word, in Markdown, where the meaning is the same everywhere.
    pub documentation: Option<&'static str>,
    /// The subject that [`resolve`](super::resolve::resolve) explains.
    pub topic: Option<Topic>,
    /// The text to compare with the text before the cursor.
    pub filter: String,
    /// The change that accepts the word.
    pub edit: TextEdit,
    /// The text of the change with places to fill in, for clients that have snippets.
    pub snippet: Option<String>,
}

/// The kinds of words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ItemKind {
    /// A key of data.
    Key,
    /// A parameter of a class, as a key.
    Parameter,
    /// A member of a hash.
    Member,
    /// A function of tokens, or a backend.
    Function,
    /// A variable, or a part of one.
    Variable,
    /// A value.
    Value,
    /// A value that the type lists.
    EnumMember,
    /// A word of a format: an option, a setting.
    Keyword,
    /// A file.
    File,
}

/// The subject of an item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Topic {
    /// A lookup key.
    Key(String),
    /// A variable, dotted.
    Variable(String),
}

impl Item {
    /// Creates an item that is accepted by `edit`.
    pub(super) fn new(kind: ItemKind, label: impl Into<String>, edit: TextEdit) -> Item {
        let label = label.into();
        Item {
            filter: label.clone(),
            label,
            kind,
            detail: None,
            documentation: None,
            topic: None,
            edit,
            snippet: None,
        }
    }

    /// Returns the item with a detail.
    pub(super) fn with_detail(mut self, detail: impl Into<String>) -> Item {
        self.detail = Some(detail.into()).filter(|detail| !detail.is_empty());
        self
    }
}

/// The items that are gathered.
#[derive(Debug, Default)]
pub(super) struct Items {
    /// The text from `start` to the cursor.
    typed: String,
    start: u32,
    items: Vec<Item>,
    labels: HashSet<String>,
    is_incomplete: bool,
}

impl Items {
    /// No items yet, for the text at a place.
    pub(super) fn for_place(place: &CursorContext) -> Items {
        Items { typed: place.typed.clone(), start: place.before.start, ..Items::default() }
    }

    /// Adds an item unless it does not fit the text before the cursor, one with its label is there,
    /// or the list is full.
    pub(super) fn push(&mut self, item: Item) {
        if !self.is_new(&item) {
            return;
        }
        if self.is_full() {
            self.is_incomplete = true;
            return;
        }
        self.labels.insert(item.label.clone());
        self.items.push(item);
    }

    fn is_new(&self, item: &Item) -> bool {
        let replaced = item.edit.range.start.saturating_sub(self.start) as usize;
        let typed = self.typed.get(replaced..).unwrap_or_default();
        !self.labels.contains(&item.label) && is_subsequence(typed, &item.filter)
    }

    /// Whether no more items are kept.
    pub(super) fn is_full(&self) -> bool {
        self.items.len() >= MAX_ITEMS
    }

    /// Whether an item with this label is there.
    pub(super) fn has_label(&self, label: &str) -> bool {
        self.labels.contains(label)
    }

    /// Records that words were left out.
    pub(super) fn note_cut(&mut self) {
        self.is_incomplete = true;
    }

    /// Returns the answer; `None` for an empty one, unless words were left out, and when the request
    /// is cancelled.
    pub(super) fn into_completions(self, snapshot: &Snapshot) -> Option<Completions> {
        let has_words = !self.items.is_empty() || self.is_incomplete;
        let is_wanted = has_words && !snapshot.cancel_token().is_cancelled();
        is_wanted.then_some(Completions { items: self.items, is_incomplete: self.is_incomplete })
    }
}

/// Whether the characters of a text stand in another one in their order, in any case: clients show
/// no other items.
fn is_subsequence(typed: &str, filter: &str) -> bool {
    let mut rest = filter.chars().flat_map(char::to_lowercase);
    typed.chars().flat_map(char::to_lowercase).all(|c| rest.any(|other| other == c))
}
