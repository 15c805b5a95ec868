//! From one version of a data file to the next: an edit rereads the entries that it touches and no other.

use std::sync::Arc;

use super::{DataFile, Format, Part, load};
use crate::text::{FileId, PartId, Text, TextRange};
use crate::yaml::{self, Entry};

/// The start of a part that there is no more.
pub(super) const UNUSED: u32 = u32::MAX;

/// Which bytes of a text became which of another; all others are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edited {
    /// The first byte that may differ.
    pub start: u32,
    /// Where what was replaced ended in the old text.
    pub old_end: u32,
    /// Where what replaced it ends in the new text.
    pub new_end: u32,
}

impl Edited {
    /// The edit that puts `inserted` bytes in the place of a range.
    pub fn new(range: TextRange, inserted: u32) -> Edited {
        Edited { start: range.start, old_end: range.end, new_end: range.start + inserted }
    }

    /// This edit and then another of the text that it made, as one.
    pub fn then(self, next: Edited) -> Edited {
        // What of the first edit's outcome the second leaves alone keeps its distance to the ends of both texts.
        let old_end = self.old_end.max(self.old_position(next.old_end));
        let new_end = next.new_end.max(next.new_position(self.new_end));
        Edited { start: self.start.min(next.start), old_end, new_end }
    }

    /// The place in the old text of a place behind what was replaced.
    fn old_position(self, new: u32) -> u32 {
        (new + self.old_end).saturating_sub(self.new_end)
    }

    fn new_position(self, old: u32) -> u32 {
        (old + self.new_end).saturating_sub(self.old_end)
    }
}

impl DataFile {
    /// A file in parts; `None` when it cannot be cut.
    pub fn in_parts(text: &str, file: FileId) -> Option<DataFile> {
        let entries = yaml::cut(text)?;
        let part = |(entry, number): (&Entry, u32)| {
            part(entry, &text[entry.range.as_usize()], entry.range.start, (file, PartId(number)))
        };
        let parts: Vec<Part> = entries.iter().zip(1..).map(part).collect();
        let starts = std::iter::once(0).chain(parts.iter().map(|part| part.start)).collect();
        Some(DataFile::of_parts(parts, starts))
    }

    /// The file after an edit, `text` being the new text: only the entries that the edit touches are read.
    ///
    /// `None` when they cannot be read by themselves; then the whole text must be.
    pub fn edited(&self, edit: Edited, text: &Text, file: FileId) -> Option<DataFile> {
        let first_start = self.parts.first().filter(|part| part.id != PartId::WHOLE)?.start;
        // An edit at the very start of an entry may join it to the one above; one before all entries, to what is before them.
        let mut first = self.parts.partition_point(|part| part.start < edit.start).saturating_sub(1);
        let mut start = if edit.start <= first_start { 0 } else { self.parts[first].start };
        let last = self.parts.partition_point(|part| part.start <= edit.old_end).saturating_sub(1);
        let length = text.len();
        let end = match self.parts.get(last + 1) {
            Some(next) => (next.start + edit.new_end).checked_sub(edit.old_end)?,
            None => length,
        };
        let (piece, entries) = loop {
            let piece = text.slice(TextRange::new(start, end));
            // What is before the first entry may hold a marker.
            let entries = yaml::cut_piece(&piece).or_else(|| yaml::cut(&piece).filter(|_| start == 0))?;
            // Lines before the first key may belong to the entry above, as those of a block scalar do.
            if first == 0 || start == 0 || entries.first().is_some_and(|entry| entry.range.start == 0) {
                break (piece, entries);
            }
            first -= 1;
            start = self.parts[first].start;
        };
        if entries.is_empty() && self.parts.len() == last + 1 - first {
            return None; // Nothing is left: what such a text is, is not the parts' matter.
        }
        let replaced = &self.parts[first..=last];
        let mut ids = replaced.iter().map(|part| part.id).chain(self.unused()).chain((self.starts.len() as u32..).map(PartId));
        let reread: Vec<Part> = entries
            .iter()
            .zip(&mut ids)
            .map(|(entry, id)| part(entry, &piece[entry.range.as_usize()], start + entry.range.start, (file, id)))
            .collect();
        let roots = self.roots.after(replaced, &reread);
        let refused = match self.refused {
            None => reread.iter().position(|part| part.facts.refused.is_some()).map(|number| first + number),
            Some(_) => None,
        };
        let behind =
            self.parts[last + 1..].iter().map(|part| Part { start: part.start + edit.new_end - edit.old_end, ..part.clone() });
        let mut starts = self.starts.clone();
        replaced.iter().for_each(|part| starts[part.id.0 as usize] = UNUSED);
        let mut parts = Vec::with_capacity(self.parts.len() + reread.len());
        parts.extend_from_slice(&self.parts[..first]);
        parts.extend(reread);
        parts.extend(behind);
        for part in &parts[first..] {
            let number = part.id.0 as usize;
            starts.resize(starts.len().max(number + 1), UNUSED);
            starts[number] = part.start;
        }
        match (roots, self.refused) {
            (Some(roots), None) => Some(DataFile { parts, starts, roots, refused }),
            _ => Some(DataFile::of_parts(parts, starts)),
        }
    }

    /// Numbers of parts that there are no more. Looked for only when they are many, so that numbers do not grow without end.
    fn unused(&self) -> impl Iterator<Item = PartId> {
        let starts = if self.starts.len() > 2 * self.parts.len() + 64 { self.starts.as_slice() } else { &[] };
        starts.iter().zip(0..).filter(|(start, _)| **start == UNUSED).map(|(_, number)| PartId(number))
    }
}

fn part(entry: &Entry, text: &str, start: u32, (file, id): (FileId, PartId)) -> Part {
    Part { id, start, facts: Arc::new(load::facts(&entry.tree, text, (file, id), Format::Yaml)) }
}

#[cfg(test)]
mod tests;
