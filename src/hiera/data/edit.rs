//! From one version of a data file to the next: an edit rereads the entries that it touches and no
//! other.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use super::anchors::{Anchored, changed_names};
use super::parts::PartOffset;
use super::{
    DataFile, DataFormat, EntryData, FileRefusal, Part, Parts, added_parts, documents,
    first_other_root, first_refused, load, message,
};
use crate::text::budget::MAX_FILE_PARTS;
use crate::text::{Budget, FileId, PartId, Span, Text, TextRange};
use crate::yaml::{self, Cutter, Refused, Syntax, TopEntry};

/// How many bytes behind the parts that an edit touches are usually read again, too.
const AHEAD: u32 = 256;

/// The bytes of a text that an edit replaced, and their number afterwards; all others are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edited {
    /// The first byte that may differ.
    pub start: u32,
    /// The end of the replaced bytes in the old text.
    pub old_end: u32,
    /// The end of the replacement in the new text.
    pub new_end: u32,
}

impl Edited {
    /// Returns the edit that puts `inserted` bytes in the place of a range.
    pub fn new(range: TextRange, inserted: u32) -> Edited {
        Edited { start: range.start, old_end: range.end, new_end: range.start + inserted }
    }

    /// Combines this edit with a later edit of the resulting text.
    pub fn combine(self, next: Edited) -> Edited {
        // The part of the first edit's outcome that the second edit leaves alone keeps its distance
        // to the ends of both texts.
        let old_end = self.old_end.max(self.old_position(next.old_end));
        let new_end = next.new_end.max(next.new_position(self.new_end));
        Edited { start: self.start.min(next.start), old_end, new_end }
    }

    /// Returns the place in the old text of a place behind the replacement.
    fn old_position(self, new: u32) -> u32 {
        (new + self.old_end).saturating_sub(self.new_end)
    }

    fn new_position(self, old: u32) -> u32 {
        (old + self.new_end).saturating_sub(self.old_end)
    }
}

/// Entries that were read again, and the parts that they take the places of.
struct Reread {
    first: PartId,
    last: PartId,
    entries: Vec<TopEntry>,
    /// Whether the edit is in the entries, not only behind them.
    is_of_edit: bool,
    /// How many bytes later the parts behind the entries start.
    shift: i64,
}

impl DataFile {
    /// Returns a file in parts; `None` when it cannot be cut.
    pub fn in_parts(text: &str, file: FileId, format: DataFormat) -> Option<DataFile> {
        let syntax = format.syntax()?;
        let entries = yaml::cut_text(text, syntax)?;
        let budget = Budget::of_file();
        let mut defined = Defined::default();
        let mut data = DataFile::of_parts(Parts::new(
            entries
                .iter()
                .zip(1..)
                .map(|(entry, number)| {
                    let piece = &text[entry.range.as_usize()];
                    let part = read_part(
                        entry,
                        piece,
                        syntax,
                        (file, PartId(number)),
                        &|name: &str| defined.get(name).cloned(),
                        &budget,
                    );
                    defined.extend(anchor_definitions(&part));
                    part
                })
                .collect(),
        ));
        if data.added_parts > MAX_FILE_PARTS {
            return None; // where the limit is reached depends on all entries
        }
        data.syntax = syntax;
        data.broken = refused_parts(entries, (1..).map(PartId));
        if !data.broken.is_empty() {
            data.verdict = data.verdict_of(&Text::new(text));
        }
        Some(data)
    }

    /// Returns the file after an edit; `text` is the new text. Parses only the entries that the
    /// edit touches, and refused entries whose error depends on the text behind them.
    ///
    /// `None` when they cannot be parsed alone: then the caller must parse the whole text.
    pub fn apply_edit(&self, edit: Edited, text: &Text, file: FileId) -> Option<DataFile> {
        let mut cutter = Cutter::new(text, self.syntax, self.reread_window(edit)?);
        let budget = Budget::of_file();
        let mut rereads: Vec<Reread> = Vec::new();
        for first in self.find_unsettled(edit)? {
            let is_read = rereads.last().is_some_and(|above| {
                self.parts.place_of_part(above.last) >= self.parts.place_of_part(first)
            });
            if !is_read {
                rereads.push(self.reread(first, edit, &mut cutter)?);
            }
        }
        let mut data = self.clone();
        let mut affected = Vec::new();
        // The loop begins with the last entries, because replacing entries moves no entry above
        // them.
        for reread in rereads.into_iter().rev() {
            data = data.replace_entries(reread, &mut cutter, (file, &budget), &mut affected)?;
        }
        data = data.with_anchors_settled(affected, &mut cutter, (file, &budget))?;
        if data.added_parts > MAX_FILE_PARTS {
            return None;
        }
        let reach = data.broken.iter().map(|(_, refused)| u64::from(refused.reach)).sum();
        if !yaml::is_worth_it(reach, text.len() as usize) || !data.has_hash() {
            return None;
        }
        data.verdict = data.verdict_of(text);
        Some(data)
    }

    /// Returns the entry that is a part of this file, whose text is `text`; `None` for one of YAML
    /// that is not refused. It is parsed within the text, as for the file's data: alone it might be
    /// accepted, or be no text.
    pub fn entry_in_place(&self, id: PartId, text: &Text) -> Option<TopEntry> {
        if self.syntax == Syntax::Yaml {
            self.broken.iter().find(|(part, _)| *part == id)?;
        }
        let range = self.parts.part_range(id, text.len())?;
        let is_first = self.parts.place_of_part(id) == self.parts.first_place();
        Cutter::new(text, self.syntax, range).cut_entry(range.start, is_first)
    }

    /// Returns the parts from which on entries must be read again, in order: those above the edit
    /// that were refused for something in its place, and the first one that it touches.
    fn find_unsettled(&self, edit: Edited) -> Option<Vec<PartId>> {
        let parts = &self.parts;
        let touched = self.first_touched(edit)?;
        let above = self
            .broken
            .iter()
            .filter(|(id, refused)| {
                let start = parts.start(*id).unwrap_or_default();
                parts.place_of_part(*id) < Some(touched)
                    && u64::from(start) + u64::from(refused.reach) >= u64::from(edit.start)
            })
            .map(|(id, _)| *id);
        Some(above.chain([parts.part(touched).id]).collect())
    }

    /// An edit of how an entry begins may join it to the one above.
    fn first_touched(&self, edit: Edited) -> Option<PartOffset> {
        self.parts.first_place().filter(|place| self.parts.part(*place).id != PartId::WHOLE)?;
        let place = self.parts.last_before(edit.start.saturating_sub(1))?;
        // An edit behind the last member of an object may add a member. Then the old member is no
        // longer the last one.
        let is_rest = self.syntax == Syntax::Json && Some(place) == self.parts.last_place();
        self.parts.previous_place(place).filter(|_| is_rest).or(Some(place))
    }

    fn last_touched(&self, edit: Edited) -> Option<PartOffset> {
        self.parts.last_before(edit.old_end.saturating_add(1))
    }

    /// Estimates how many bytes of the new text will be parsed again after an edit; `None` for the
    /// whole text.
    pub fn to_read(&self, edit: Edited) -> Option<u32> {
        self.reread_window(edit).map(TextRange::len)
    }

    /// Estimates the bytes of the new text that will be read.
    fn reread_window(&self, edit: Edited) -> Option<TextRange> {
        let start = self.parts.start_at(self.first_touched(edit)?);
        let behind = self
            .parts
            .next(self.last_touched(edit)?)
            .map_or(edit.old_end, |next| self.parts.start_at(next));
        Some(TextRange::new(start, edit.new_position(behind).saturating_add(AHEAD)))
    }

    /// Cuts and parses entries from this part on, until an entry begins where an unchanged one
    /// began before.
    fn reread(&self, first: PartId, edit: Edited, cutter: &mut Cutter<'_>) -> Option<Reread> {
        let parts = &self.parts;
        let (top, touched) = (parts.first_place()?, self.first_touched(edit)?);
        let (first, behind) = (parts.place_of_part(first)?, parts.next(self.last_touched(edit)?));
        // The text before the first entry may hold a marker, or begin one.
        let is_of_head = first == top && edit.start <= parts.start_at(top) + 1;
        let start = if is_of_head { cutter.find_head()? } else { parts.start_at(first) };
        let known = |at: u32, cutter: &Cutter<'_>| {
            if at < parts.start_at(touched) {
                return parts.part_start(at).filter(|place| *place > first);
            }
            // A place within the replacement corresponds to no place in the old text: the result of
            // `old_position` may lie above the edit.
            parts.part_start(edit.old_position(at)).filter(|place| {
                behind.is_some_and(|behind| *place >= behind)
                    && cutter.is_independent(at, edit.new_end)
            })
        };
        let mut entries: Vec<TopEntry> = Vec::new();
        let mut at = start;
        let next = loop {
            if at == cutter.byte_count() {
                break None;
            }
            // The text's first entry is cut in another way than the others.
            if let Some(place) = known(at, cutter).filter(|_| !(entries.is_empty() && is_of_head)) {
                break Some(place);
            }
            let entry = cutter.cut_entry(at, entries.is_empty() && first == top)?;
            at = entry.range.end;
            entries.push(entry);
        };
        let last = match next {
            Some(next) => parts.previous_place(next)?,
            None => parts.last_place()?,
        };
        let is_of_edit = last >= touched;
        if is_of_edit && !entries.iter().all(|entry| cutter.is_plain(entry)) {
            return None;
        }
        let shift = if is_of_edit { i64::from(edit.new_end) - i64::from(edit.old_end) } else { 0 };
        Some(Reread {
            first: parts.part(first).id,
            last: parts.part(last).id,
            entries,
            is_of_edit,
            shift,
        })
    }

    /// Returns the file with the entries that were read again. Adds to `affected` the parts in
    /// whose aliases an anchor now has another value or another place.
    fn replace_entries(
        &self,
        reread: Reread,
        cutter: &mut Cutter<'_>,
        (file, budget): (FileId, &Budget),
        affected: &mut Vec<PartId>,
    ) -> Option<DataFile> {
        let parts = &self.parts;
        let Reread { first, last, entries, is_of_edit, shift } = reread;
        let (first, last) = (parts.place_of_part(first)?, parts.place_of_part(last)?);
        let old: Vec<&Part> = parts.parts_between(first, last).collect();
        let ids: Vec<PartId> = old
            .iter()
            .map(|part| part.id)
            .chain(self.unused_ids())
            .chain((parts.id_count() as u32..).map(PartId))
            .take(entries.len())
            .collect();
        let mut defined = Defined::default();
        let new: Vec<Part> = entries
            .iter()
            .zip(&ids)
            .map(|(entry, id)| {
                let text = cutter.slice(entry.range);
                let part = read_part(
                    entry,
                    text,
                    self.syntax,
                    (file, *id),
                    &|name: &str| {
                        defined
                            .get(name)
                            .cloned()
                            .or_else(|| Some(self.definition_above(name, first)?.1.clone()))
                    },
                    budget,
                );
                defined.extend(anchor_definitions(&part));
                part
            })
            .collect();
        let mut broken: Vec<_> = self
            .broken
            .iter()
            .filter(|(id, _)| !old.iter().any(|part| part.id == *id))
            .cloned()
            .collect();
        broken.extend(self::refused_parts(entries, ids.into_iter()));
        // An entry above the edit has the same content as before, and is most often refused as
        // before.
        if let ([old], [new], false) = (&*old, &*new, is_of_edit)
            && is_same(&old.data, &new.data)
        {
            broken.sort_by_key(|(id, _)| parts.start(*id));
            return Some(DataFile { broken, ..self.clone() });
        }
        for name in changed_names(old.iter().copied(), new.iter()) {
            let users = self.anchors.find_users(&name, parts, last);
            affected.extend(users.into_iter().map(|place| parts.part(place).id));
        }
        let added_parts = (self.added_parts + added_parts(new.iter()))
            .saturating_sub(added_parts(old.iter().copied()));
        let refused = first_refused(new.iter());
        let parts = parts.replace_parts(first, last, new.clone(), shift);
        let anchors = self.anchors.replace_parts(&old, &new, &parts);
        let refused = match self.refused {
            None => refused,
            Some(_) => first_refused(parts.iter()),
        };
        broken.sort_by_key(|(id, _)| parts.start(*id));
        let roots = self.roots.replace_parts(&old, &new, &parts);
        let syntax = self.syntax;
        let other_root = match self.other_root {
            None => first_other_root(new.iter()),
            Some(_) => first_other_root(parts.iter()),
        };
        let verdict = None;
        Some(DataFile {
            roots,
            anchors,
            parts,
            syntax,
            refused,
            other_root,
            broken,
            verdict,
            added_parts,
        })
    }

    /// Returns the anchor of this name that an alias in the part at a place stands for, and the
    /// place of its part; `None` where no part above has one.
    fn definition_above(&self, name: &str, before: PartOffset) -> Option<(PartOffset, &Anchored)> {
        let place = self.anchors.find_definition(name, &self.parts, before)?;
        let anchors = self.parts.part(place).data.rare().anchors.as_ref()?;
        Some((place, anchors.defined.get(name)?))
    }

    /// Returns the file after the parts whose aliases stand for something else than before, and the
    /// parts that use anchors of these, were read again.
    fn with_anchors_settled(
        self,
        affected: Vec<PartId>,
        cutter: &mut Cutter<'_>,
        (file, budget): (FileId, &Budget),
    ) -> Option<DataFile> {
        if affected.is_empty() {
            return Some(self);
        }
        let parts = &self.parts;
        let mut open: BTreeSet<PartOffset> =
            affected.into_iter().filter_map(|id| parts.place_of_part(id)).collect();
        let mut read: BTreeMap<PartOffset, Part> = BTreeMap::new();
        let mut added_parts = self.added_parts;
        while let Some(place) = open.pop_first() {
            let (old, start) = (parts.part(place), parts.start_at(place));
            let entry = cutter.cut_entry(start, Some(place) == parts.first_place())?;
            let text = cutter.slice(entry.range);
            let new = read_part(
                &entry,
                text,
                self.syntax,
                (file, old.id),
                &|name: &str| {
                    let (place, as_before) = self.definition_above(name, place)?;
                    let now = || read.get(&place)?.data.rare().anchors.as_ref()?.defined.get(name);
                    Some(now().unwrap_or(as_before).clone())
                },
                budget,
            );
            for name in changed_names([old].into_iter(), [&new].into_iter()) {
                open.extend(self.anchors.find_users(&name, parts, place));
            }
            added_parts = (added_parts + new.data.rare().added_parts)
                .saturating_sub(old.data.rare().added_parts);
            read.insert(place, new);
        }
        let old: Vec<&Part> = read.keys().map(|place| parts.part(*place)).collect();
        let new: Vec<Part> = read.values().cloned().collect();
        // A root key may be a hash with an alias in it, so that the root keys may change.
        let settled = parts.with_data(read);
        let roots = self.roots.replace_parts(&old, &new, &settled);
        let refused = first_refused(settled.iter());
        let other_root = first_other_root(settled.iter());
        Some(DataFile { parts: settled, roots, refused, other_root, added_parts, ..self })
    }

    /// Returns the place of the anchor that an alias of this name in a part stands for, if the
    /// anchor is in another part.
    pub fn anchor_above(&self, name: &str, part: PartId) -> Option<Span> {
        Some(self.definition_above(name, self.parts.place_of_part(part)?)?.1.span)
    }

    /// Returns Puppet's refusal of the first entry that is refused, if one is.
    fn verdict_of(&self, text: &Text) -> Option<FileRefusal> {
        let (part, refused) = self.broken.first()?;
        let at = if refused.is_of_root {
            self.parts.start_at(self.parts.first_place()?)
        } else {
            self.parts.start(*part)? + message::blamed_offset(&refused.verdict)
        };
        if self.syntax == Syntax::Json {
            let before = text.slice(TextRange::new(0, at));
            let (line, column) = message::json_place(&before);
            return Some(FileRefusal::Syntax(message::located_message(
                &refused.verdict,
                line,
                column,
            )));
        }
        let line = text.line_of(at);
        let before = text.slice(TextRange::new(text.line_range(line)?.start, at));
        let column = before.chars().count() + 1;
        Some(FileRefusal::Syntax(message::located_message(
            &refused.verdict,
            line as usize + 1,
            column,
        )))
    }

    /// Numbers of parts that there are no more. Looked for only when they are many, so that numbers
    /// do not grow without end.
    fn unused_ids(&self) -> impl Iterator<Item = PartId> {
        let are_many = self.parts.id_count() > 2 * self.parts.len() + 8;
        are_many.then(|| self.parts.unused_ids()).into_iter().flatten()
    }
}

/// Returns the refused ones among entries, by the numbers of their parts.
fn refused_parts(
    entries: Vec<TopEntry>,
    ids: impl Iterator<Item = PartId>,
) -> Vec<(PartId, Refused)> {
    let refused = entries.into_iter().zip(ids);
    let mut parts = Vec::new();
    // `collect` would keep the memory of all entries for the few that are refused.
    parts.extend(refused.filter_map(|(entry, id)| Some((id, entry.refused?))));
    parts
}

/// Returns whether an entry is the same to every reader. Values that are equal may still stand in
/// other places.
fn is_same(old: &EntryData, new: &EntryData) -> bool {
    format!("{old:?}") == format!("{new:?}")
}

fn read_part(
    entry: &TopEntry,
    text: &str,
    syntax: Syntax,
    (file, id): (FileId, PartId),
    above: &dyn Fn(&str) -> Option<Anchored>,
    budget: &Budget,
) -> Part {
    let format = match syntax {
        Syntax::Yaml => DataFormat::Yaml,
        Syntax::Json => DataFormat::Json,
    };
    let is_behind_document = entry.is_behind_document;
    let data = if is_behind_document && entry.refused.is_none() {
        documents::read_ignored(&entry.tree, text, (file, id))
    } else {
        EntryData {
            is_behind_document,
            ..load::load_entry(&entry.tree, text, (file, id), format, above, budget)
        }
    };
    Part::new(id, entry.range.start, data)
}

/// The anchors of the parts that were read so far, by name.
type Defined = HashMap<Arc<str>, Anchored>;

fn anchor_definitions(part: &Part) -> impl Iterator<Item = (Arc<str>, Anchored)> {
    let defined = part.data.rare().anchors.iter().flat_map(|anchors| &anchors.defined);
    defined.map(|(name, found)| (name.clone(), found.clone()))
}

#[cfg(test)]
mod tests;
