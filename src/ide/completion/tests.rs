//! Each test states the words that are offered, and the text after one of them is accepted.

mod data;
mod formats;
mod limits;
mod prefixes;
mod tokens;

use super::*;
use crate::fixture::Fixture;
use crate::text::TextEdit;

/// Returns the items at the cursor of a fixture.
fn items(text: &str) -> Vec<Item> {
    let fixture = Fixture::new(text);
    let config = CompletionConfig::default();
    complete_at(&fixture.snapshot, fixture.position(), &config).unwrap_or_default().items
}

/// Returns the first labels, each with its detail.
fn words(text: &str) -> String {
    let line = |item: &Item| match &item.detail {
        Some(detail) => format!("{}: {detail}\n", item.label),
        None => format!("{}\n", item.label),
    };
    items(text).iter().take(20).map(line).collect()
}

fn labels(text: &str) -> Vec<String> {
    items(text).into_iter().map(|item| item.label).collect()
}

/// Returns the line of the cursor, and those that are new, after the item with this label is
/// accepted: as plain text, and as a snippet where that is another one.
fn accepted(text: &str, label: &str) -> String {
    let fixture = Fixture::new(text);
    let position = fixture.position();
    let found = complete_at(&fixture.snapshot, position, &CompletionConfig::default());
    let items = found.unwrap_or_default().items;
    let item = items.iter().find(|item| item.label == label).unwrap_or_else(|| {
        panic!("{label} is none of {:?}", items.iter().map(|item| &item.label).collect::<Vec<_>>())
    });
    let file = fixture.snapshot.file_by_id(position.file).expect("it is there");
    let old = file.text().expect("a text").to_str().into_owned();
    let typed = &old[item.edit.range.start as usize..position.offset as usize];
    assert!(item.filter.starts_with(typed) || item.filter.contains(typed), "{item:?}");
    let of = |inserted: &str| {
        let edit = TextEdit::new(item.edit.range, inserted);
        let new = TextEdit::apply_all(&[edit], &old);
        let is_new = |line: &&str| !old.lines().any(|other| other == *line);
        // Blanks at the ends of lines are shown.
        let shown = |line: &str| {
            let text = line.trim_end_matches(' ');
            format!("{text}{}\n", "·".repeat(line.len() - text.len()))
        };
        new.lines().filter(is_new).map(shown).collect::<String>()
    };
    let plain = of(&item.edit.text);
    match &item.snippet {
        Some(snippet) => format!("{plain}snippet {}", of(snippet)),
        None => plain,
    }
}
