//! From one version of a data file to the next: an edit rereads the entries that it touches and no other.

use std::sync::Arc;

use super::roots::Roots;
use super::{DataFile, Format, Part, Parts, first_refused, load};
use crate::text::{FileId, PartId, Text, TextRange};
use crate::yaml::{self, Entry};

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
        Some(DataFile::of_parts(Parts::new(entries.iter().zip(1..).map(part).collect())))
    }

    /// The file after an edit, `text` being the new text: only the entries that the edit touches are read.
    ///
    /// `None` when they cannot be read by themselves; then the whole text must be.
    pub fn edited(&self, edit: Edited, text: &Text, file: FileId) -> Option<DataFile> {
        let parts = &self.parts;
        let top = parts.first().filter(|place| parts.part(*place).id != PartId::WHOLE)?;
        // An edit at the very start of an entry may join it to the one above; one before all entries, to what is before them.
        let mut first = parts.last_before(edit.start)?;
        let mut start = if edit.start <= parts.start_at(top) { 0 } else { parts.start_at(first) };
        let last = parts.last_before(edit.old_end.saturating_add(1))?;
        let end = match parts.next(last) {
            Some(next) => (parts.start_at(next) + edit.new_end).checked_sub(edit.old_end)?,
            None => text.len(),
        };
        let (piece, entries) = loop {
            let piece = text.slice(TextRange::new(start, end));
            // What is before the first entry may hold a marker.
            let entries = yaml::cut_piece(&piece).or_else(|| yaml::cut(&piece).filter(|_| start == 0))?;
            // Lines before the first key may belong to the entry above, as those of a block scalar do.
            let stands_alone = start == 0 || entries.first().is_some_and(|entry| entry.range.start == 0);
            match parts.previous(first) {
                Some(above) if !stands_alone => first = above,
                _ => break (piece, entries),
            }
            start = parts.start_at(first);
        };
        if entries.is_empty() && first == top && parts.next(last).is_none() {
            return None; // Nothing is left: what such a text is, is not the parts' matter.
        }
        let replaced: Vec<&Part> = parts.between(first, last).collect();
        let mut ids = replaced.iter().map(|part| part.id).chain(self.unused()).chain((parts.numbers() as u32..).map(PartId));
        let reread: Vec<Part> = entries
            .iter()
            .zip(&mut ids)
            .map(|(entry, id)| part(entry, &piece[entry.range.as_usize()], start + entry.range.start, (file, id)))
            .collect();
        let roots = self.roots.after(&replaced, &reread);
        let refused = first_refused(reread.iter());
        let parts = parts.replaced(first, last, reread, i64::from(edit.new_end) - i64::from(edit.old_end));
        let refused = match self.refused {
            None => refused,
            Some(_) => first_refused(parts.iter()),
        };
        Some(DataFile { roots: roots.unwrap_or_else(|| Arc::new(Roots::new(&parts))), parts, refused })
    }

    /// Numbers of parts that there are no more. Looked for only when they are many, so that numbers do not grow without end.
    fn unused(&self) -> impl Iterator<Item = PartId> {
        let are_many = self.parts.numbers() > 2 * self.parts.len() + 64;
        are_many.then(|| self.parts.unused()).into_iter().flatten()
    }
}

fn part(entry: &Entry, text: &str, start: u32, (file, id): (FileId, PartId)) -> Part {
    Part::new(id, start, load::facts(&entry.tree, text, (file, id), Format::Yaml))
}

#[cfg(test)]
mod tests;
