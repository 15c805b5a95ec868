//! The hierarchy as a text, for editors that show documents and no views.

use std::fmt::Write as _;

use super::{CandidateView, Hierarchy, LevelView, LocationState, LocationView};
use crate::hiera::key::LookupKey;
use crate::hiera::pattern::condition_phrase;
use crate::ide::phrases::PlaceNames;
use crate::text::{Span, column_width, count_phrase};

/// The most files that a row with unknown variables lists.
const MAX_CANDIDATES: usize = 20;

/// A row of the table, in three columns.
struct Row {
    level: String,
    place: String,
    note: String,
}

impl Hierarchy {
    /// Returns the hierarchy as lines: the key, if one is looked for, and the audience, then a table
    /// with a row for each location: its level, its place, its state.
    pub fn to_page(&self, names: &PlaceNames<'_>, key: Option<&LookupKey>) -> String {
        let mut text = String::new();
        if let Some(key) = key {
            let _ = writeln!(text, "{}", key.text);
        }
        let _ = writeln!(text, "{}\n", self.scope);
        let rows = self.levels.iter().flat_map(|level| level_rows(level, names, key.is_some()));
        write_table(&mut text, &rows.collect::<Vec<_>>());
        text
    }
}

fn level_rows(level: &LevelView, names: &PlaceNames<'_>, has_key: bool) -> Vec<Row> {
    let title = match &*level.layer {
        "environment" => level.name.clone(),
        layer => format!("{} ({layer})", level.name),
    };
    if level.locations.is_empty() {
        let (place, note) = (String::new(), "reads nothing here".to_owned());
        return vec![Row { level: title, place, note }];
    }
    let mut rows = Vec::new();
    for location in &level.locations {
        // Only the first row of a level has the level's name.
        let level = if rows.is_empty() { title.clone() } else { String::new() };
        let note = state_note(location, has_key).to_owned();
        rows.push(Row { level, place: place_of(&location.name, location.key, names), note });
        rows.extend(candidate_rows(&location.candidates, names));
    }
    rows
}

/// Returns the rows of the files that a location may turn out to be: those that have the key first.
fn candidate_rows(candidates: &[CandidateView], names: &PlaceNames<'_>) -> Vec<Row> {
    let (with_key, without_key): (Vec<_>, Vec<_>) =
        candidates.iter().partition(|candidate| candidate.key.is_some());
    let all = with_key.into_iter().chain(without_key);
    let mut rows: Vec<Row> =
        all.take(MAX_CANDIDATES).map(|candidate| candidate_row(candidate, names)).collect();
    let more = candidates.len().saturating_sub(MAX_CANDIDATES);
    if more > 0 {
        let (level, place) = (String::new(), format!("  {}", count_phrase(more, "more file")));
        rows.push(Row { level, place, note: String::new() });
    }
    rows
}

fn candidate_row(candidate: &CandidateView, names: &PlaceNames<'_>) -> Row {
    Row {
        level: String::new(),
        place: format!("  {}", place_of(&candidate.name, candidate.key, names)),
        note: if candidate.when.is_empty() {
            String::new()
        } else {
            format!("where {}", condition_phrase(&candidate.when))
        },
    }
}

fn place_of(name: &str, key: Option<Span>, names: &PlaceNames<'_>) -> String {
    match key {
        Some(key) => format!("{name}:{}", names.line_number(key)),
        None => name.to_owned(),
    }
}

/// Returns the state of a location in words; `has_key` is whether a key is looked for.
fn state_note(location: &LocationView, has_key: bool) -> &'static str {
    match location.state {
        LocationState::Value => "has the key; the value comes from it",
        LocationState::Overridden => "has the key, but a level above answers",
        LocationState::File if has_key => "does not have the key",
        LocationState::File => "",
        LocationState::Missing => "no such file",
        LocationState::Undetermined => "depends on variables that are unknown",
        LocationState::Opaque => "not read here",
    }
}

/// Writes rows in columns that are as wide as their longest text.
fn write_table(out: &mut String, rows: &[Row]) {
    let level = column_width(rows.iter().map(|row| &*row.level));
    let place = column_width(rows.iter().map(|row| &*row.place));
    for row in rows {
        let line = format!("{:level$}  {:place$}  {}", row.level, row.place, row.note);
        let _ = writeln!(out, "{}", line.trim_end());
    }
}
