//! The parts of a data file, in order. A new version shares unchanged parts with the version before
//! it.
//!
//! The parts are grouped into runs. Places within a run are relative to its start, so that an edit
//! rebuilds one run, and changes only the starts of the runs behind it.

use std::collections::{BTreeMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

use super::{EntryData, TokenUse};
use crate::text::work::{Work, count_work};
use crate::text::{PartId, TextRange};

/// How many parts a run has when it is made, and how many it grows to.
const RUN: usize = 64;
const LONGEST: usize = 2 * RUN;

/// The parts of a data file.
#[derive(Clone, Debug, Default)]
pub struct Parts {
    runs: Vec<PartRun>,
    count: usize,
    /// Where each part is that a [`PartId`] names; shared by versions in which parts went and came
    /// one for one.
    homes: Arc<Vec<Option<PartOffset>>>,
}

#[derive(Clone, Debug)]
struct PartRun {
    /// The run's first byte in the file.
    start: u32,
    /// The parts of the run, never empty.
    parts: Arc<[Part]>,
    /// Whether some part has a token: most runs of a long file have none.
    has_tokens: bool,
}

impl PartRun {
    /// Returns a run of parts whose starts are counted from its own.
    fn new(start: u32, parts: Arc<[Part]>) -> PartRun {
        let has_tokens = parts.iter().any(|part| !part.data.tokens.is_empty());
        PartRun { start, parts, has_tokens }
    }
}

/// A part of a data file.
#[derive(Clone, Debug)]
pub struct Part {
    /// The part's number, the same as long as the entry is the same to a reader.
    pub id: PartId,
    /// The part's content.
    pub data: Arc<EntryData>,
    /// The part's first byte, counted from the start of its run. The part ends where the next one
    /// starts.
    start: u32,
}

/// The place of a part: its run, and its index in the run. Greater for later parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct PartOffset {
    run: u32,
    index: u32,
}

impl Part {
    /// Returns whether the part is no entry, but all that stands behind the first document, which
    /// Puppet does not read.
    pub fn is_behind_document(&self) -> bool {
        self.data.is_behind_document
    }

    /// Returns a part that starts at this byte of the file.
    pub(super) fn new(id: PartId, start: u32, data: EntryData) -> Part {
        Part { id, start, data: Arc::new(data) }
    }
}

/// Returns the parts of a run that has these bytes, each with its own bytes.
pub fn placed_parts(run: TextRange, parts: &[Part]) -> impl Iterator<Item = (TextRange, &Part)> {
    let ends = parts.iter().skip(1).map(move |part| run.start + part.start).chain([run.end]);
    parts
        .iter()
        .zip(ends)
        .map(move |(part, end)| (TextRange::new(run.start + part.start, end), part))
}

/// Returns the runs of two versions without those that both begin with, and those that both end
/// with.
fn differing_runs<'a>(runs: &'a [PartRun], later: &'a [PartRun]) -> (&'a [PartRun], &'a [PartRun]) {
    let same = runs.iter().zip(later).take_while(has_same_parts).count();
    let (runs, later) = (&runs[same..], &later[same..]);
    let same = runs.iter().rev().zip(later.iter().rev()).take_while(has_same_parts).count();
    (&runs[..runs.len() - same], &later[..later.len() - same])
}

fn has_same_parts((one, other): &(&PartRun, &PartRun)) -> bool {
    Arc::ptr_eq(&one.parts, &other.parts)
}

/// Returns the parts of some runs that another version of the file does not have; `others` are the
/// runs of that version in the same place.
fn parts_not_in<'a>(runs: &'a [PartRun], others: &[PartRun], other: &Parts) -> Vec<&'a Part> {
    let known: HashSet<*const Part> = others.iter().map(|run| run.parts.as_ptr()).collect();
    let runs = runs.iter().filter(|run| !known.contains(&run.parts.as_ptr()));
    runs.flat_map(|run| &*run.parts)
        .filter(|part| {
            !other.get(part.id).is_some_and(|other| Arc::ptr_eq(&other.data, &part.data))
        })
        .collect()
}

impl Parts {
    /// Returns these parts, in this order; each starts at its byte of the file.
    pub(super) fn new(parts: Vec<Part>) -> Parts {
        let mut made =
            Parts { runs: split_runs(&parts).collect(), count: parts.len(), homes: Arc::default() };
        made.find_homes();
        made
    }

    /// Returns how many parts there are.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Returns whether there is no part.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Returns all parts, in order.
    pub fn iter(&self) -> impl Iterator<Item = &Part> {
        self.runs.iter().flat_map(|run| &*run.parts)
    }

    /// Returns the tokens of all parts, in order. Reads the parts of runs that have tokens alone.
    pub fn tokens(&self) -> impl Iterator<Item = &TokenUse> {
        let runs = self.runs.iter().filter(|run| run.has_tokens);
        runs.flat_map(|run| &*run.parts).flat_map(|part| {
            count_work(Work::Step);
            &part.data.tokens
        })
    }

    /// Returns the part with this number.
    pub fn get(&self, id: PartId) -> Option<&Part> {
        self.homes.get(id.0 as usize)?.map(|place| self.part(place))
    }

    /// Returns the first byte of the part with this number.
    pub fn start(&self, id: PartId) -> Option<u32> {
        self.homes.get(id.0 as usize)?.map(|place| self.start_at(place))
    }

    /// Returns the bytes of the part with this number, in a text of this length.
    pub fn part_range(&self, id: PartId, length: u32) -> Option<TextRange> {
        let place = (*self.homes.get(id.0 as usize)?)?;
        let end = self.next(place).map_or(length, |next| self.start_at(next));
        Some(TextRange::new(self.start_at(place), end))
    }

    /// Returns the part that the byte at `offset` belongs to; `None` before the first one.
    pub fn part_at_offset(&self, offset: u32) -> Option<&Part> {
        let place = self.last_before(offset.saturating_add(1))?;
        (self.start_at(place) <= offset).then(|| self.part(place))
    }

    /// Returns all parts in order, each with its bytes in a text of this length.
    pub fn placed_parts(&self, length: u32) -> impl Iterator<Item = (TextRange, &Part)> {
        self.placed_runs(length).flat_map(|(run, parts)| placed_parts(run, parts))
    }

    /// Returns the runs in order, each with its bytes in a text of this length. A run is the same
    /// `Arc` in versions of the file in which neither its parts nor the text between them differ.
    pub fn placed_runs(&self, length: u32) -> impl Iterator<Item = (TextRange, &Arc<[Part]>)> {
        let ends = self.runs.iter().skip(1).map(|run| run.start).chain([length]);
        self.runs.iter().zip(ends).map(|(run, end)| (TextRange::new(run.start, end), &run.parts))
    }

    /// Returns the parts that begin in a range, in order, each with its first byte.
    pub fn parts_in(&self, range: TextRange) -> impl Iterator<Item = (u32, &Part)> {
        let before = self.last_before(range.start);
        let first = before.and_then(|place| {
            if self.start_at(place) < range.start { self.next(place) } else { Some(place) }
        });
        std::iter::successors(first, |place| self.next(*place))
            .map(|place| (self.start_at(place), self.part(place)))
            .take_while(move |(start, _)| *start < range.end)
    }

    /// Returns the part that a byte of a text of this length belongs to, with its bytes; `None`
    /// before the first one.
    pub fn placed_part(&self, offset: u32, length: u32) -> Option<(TextRange, &Part)> {
        let part = self.part_at_offset(offset)?;
        Some((self.part_range(part.id, length)?, part))
    }

    /// Returns the parts of this version that are not in a later one, and those of the later one
    /// that are not in this.
    pub fn changes_to<'a>(&'a self, later: &'a Parts) -> (Vec<&'a Part>, Vec<&'a Part>) {
        let (runs, later_runs) = differing_runs(&self.runs, &later.runs);
        (parts_not_in(runs, later_runs, later), parts_not_in(later_runs, runs, self))
    }

    /// Returns the place of the first part.
    pub(super) fn first_place(&self) -> Option<PartOffset> {
        (!self.is_empty()).then_some(PartOffset { run: 0, index: 0 })
    }

    /// Returns the place of the last part.
    pub(super) fn last_place(&self) -> Option<PartOffset> {
        let run = self.runs.len().checked_sub(1)?;
        Some(PartOffset { run: run as u32, index: self.runs[run].parts.len() as u32 - 1 })
    }

    /// Returns the last part that starts before a byte; the first one if none does.
    pub(super) fn last_before(&self, offset: u32) -> Option<PartOffset> {
        self.first_place()?;
        let run = self.runs.partition_point(|run| run.start < offset).saturating_sub(1);
        let PartRun { start, parts, .. } = &self.runs[run];
        let index = parts.partition_point(|part| start + part.start < offset).saturating_sub(1);
        Some(PartOffset { run: run as u32, index: index as u32 })
    }

    /// Returns the place of the part that starts with a byte.
    pub(super) fn part_start(&self, offset: u32) -> Option<PartOffset> {
        self.last_before(offset.saturating_add(1)).filter(|place| self.start_at(*place) == offset)
    }

    /// Returns the place of the part with this number.
    pub(super) fn place_of_part(&self, id: PartId) -> Option<PartOffset> {
        *self.homes.get(id.0 as usize)?
    }

    /// Returns the place of the part behind another.
    pub(super) fn next(&self, place: PartOffset) -> Option<PartOffset> {
        let PartOffset { run, index } = place;
        if (index as usize) + 1 < self.runs[run as usize].parts.len() {
            return Some(PartOffset { run, index: index + 1 });
        }
        (run as usize + 1 < self.runs.len()).then_some(PartOffset { run: run + 1, index: 0 })
    }

    /// Returns the place of the part before another.
    pub(super) fn previous_place(&self, place: PartOffset) -> Option<PartOffset> {
        let PartOffset { run, index } = place;
        match (run, index) {
            (0, 0) => None,
            (_, 0) => Some(PartOffset {
                run: run - 1,
                index: self.runs[run as usize - 1].parts.len() as u32 - 1,
            }),
            _ => Some(PartOffset { run, index: index - 1 }),
        }
    }

    /// Returns the part at a place.
    pub(super) fn part(&self, place: PartOffset) -> &Part {
        &self.runs[place.run as usize].parts[place.index as usize]
    }

    /// Returns the first byte of the part at a place.
    pub(super) fn start_at(&self, place: PartOffset) -> u32 {
        self.runs[place.run as usize].start + self.part(place).start
    }

    /// Returns the parts from one place to another, both included.
    pub(super) fn parts_between(
        &self,
        first: PartOffset,
        last: PartOffset,
    ) -> impl Iterator<Item = &Part> {
        std::iter::successors(Some(first), |place| self.next(*place))
            .take_while(move |place| *place <= last)
            .map(|place| self.part(place))
    }

    /// Numbers that no part has, of those that some part had. The whole of a file is no part of it.
    pub(super) fn unused_ids(&self) -> impl Iterator<Item = PartId> {
        let free = self.homes.iter().zip(0..).filter(|(home, _)| home.is_none());
        free.map(|(_, number)| PartId(number)).filter(|id| *id != PartId::WHOLE)
    }

    /// Returns how many numbers some part had.
    pub(super) fn id_count(&self) -> usize {
        self.homes.len()
    }

    /// Returns the parts with others in place of those from one place to another, both included;
    /// the parts behind start `shift` bytes later.
    pub(super) fn replace_parts(
        &self,
        first: PartOffset,
        last: PartOffset,
        new: Vec<Part>,
        shift: i64,
    ) -> Parts {
        let (first_run, last_run) = (first.run as usize, last.run as usize);
        let of_run = |run: usize, indexes: Range<usize>| {
            let PartRun { start, parts, .. } = &self.runs[run];
            parts[indexes]
                .iter()
                .map(move |part| Part { start: start + part.start, ..part.clone() })
        };
        let before = of_run(first_run, 0..first.index as usize);
        let behind = of_run(last_run, last.index as usize + 1..self.runs[last_run].parts.len())
            .map(|part| Part { start: move_start(part.start, shift), ..part });
        let is_one_for_one =
            self.parts_between(first, last).map(|part| part.id).eq(new.iter().map(|part| part.id));
        let count = self.count - self.parts_between(first, last).count() + new.len();
        let touched: Vec<Part> = before.chain(new).chain(behind).collect();
        let mut made = Vec::with_capacity(self.runs.len() + 1);
        made.extend_from_slice(&self.runs[..first_run]);
        if touched.len() <= LONGEST {
            made.extend(run(&touched));
        } else {
            made.extend(split_runs(&touched));
        }
        made.extend(
            self.runs[last_run + 1..]
                .iter()
                .map(|run| PartRun { start: move_start(run.start, shift), ..run.clone() }),
        );
        if made.len() > 2 * count.div_ceil(RUN) + 8 {
            let all = made.iter().flat_map(|run| {
                run.parts.iter().map(|part| Part { start: run.start + part.start, ..part.clone() })
            });
            return Parts::new(all.collect());
        }
        // Where several runs were touched, `split_runs` divided their parts again, so that parts may be
        // in other runs than before.
        let is_each_at_home =
            is_one_for_one && first_run == last_run && made.len() == self.runs.len();
        let mut parts = Parts { runs: made, count, homes: self.homes.clone() };
        if !is_each_at_home {
            parts.find_homes();
        }
        parts
    }

    /// Returns the parts with others in some places, which start where those before them did.
    pub(super) fn with_data(&self, new: BTreeMap<PartOffset, Part>) -> Parts {
        let mut runs = self.runs.clone();
        let mut new = new.into_iter().peekable();
        while let Some((PartOffset { run, .. }, _)) = new.peek() {
            let run = *run;
            let PartRun { start, parts, .. } = &runs[run as usize];
            let (start, mut parts) = (*start, parts.to_vec());
            while let Some((place, part)) = new.next_if(|(place, _)| place.run == run) {
                parts[place.index as usize].data = part.data;
            }
            runs[run as usize] = PartRun::new(start, parts.into());
        }
        Parts { runs, ..self.clone() }
    }

    fn find_homes(&mut self) {
        let numbers =
            self.iter().map(|part| part.id.0 as usize + 1).max().unwrap_or(0).max(self.homes.len());
        let mut homes = vec![None; numbers];
        for (run, number) in self.runs.iter().zip(0..) {
            for (part, index) in run.parts.iter().zip(0..) {
                homes[part.id.0 as usize] = Some(PartOffset { run: number, index });
            }
        }
        self.homes = Arc::new(homes);
    }
}

fn move_start(start: u32, shift: i64) -> u32 {
    u32::try_from(i64::from(start) + shift).unwrap_or(0)
}

/// Parts whose starts are counted from the file's, in runs.
fn split_runs(parts: &[Part]) -> impl Iterator<Item = PartRun> {
    parts.chunks(RUN).filter_map(run)
}

fn run(parts: &[Part]) -> Option<PartRun> {
    let start = parts.first()?.start;
    let parts = parts.iter().map(|part| Part { start: part.start - start, ..part.clone() });
    Some(PartRun::new(start, parts.collect()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hiera::data::{DataFile, DataFormat};
    use crate::tests::edits::Random;
    use crate::text::FileId;
    use crate::text::work;

    /// A part as a plain list knows it: its number, its start, and its content, by address.
    type Known = (u32, u32, *const EntryData);

    fn known(parts: &Parts) -> Vec<Known> {
        parts
            .iter()
            .map(|part| (part.id.0, parts.start(part.id).unwrap(), Arc::as_ptr(&part.data)))
            .collect()
    }

    #[test]
    fn parts_are_replaced_as_in_a_list() {
        let mut random = Random::new(7);
        let part = |id: u32, start: u32| Part::new(PartId(id), start, EntryData::default());
        let mut parts = Parts::new((0..300).map(|n| part(n + 1, 10 * n)).collect());
        let mut longest = 0;
        for step in 0..2_000 {
            let old = known(&parts);
            // Some steps replace a word everywhere.
            let is_everywhere = step % 9 == 0;
            let first = if is_everywhere { random.below(3) } else { random.below(old.len()) };
            // Some steps may remove many parts and add many parts.
            let most = if step % 50 == 0 { 150 } else { 3 };
            let last = if is_everywhere {
                old.len() - 1
            } else {
                (first + random.below(most)).min(old.len() - 1)
            };
            let end = old.get(last + 1).map_or(old[last].1 + 10, |next| next.1);
            let count = if is_everywhere {
                last + 1 - first
            } else {
                random.below(most).max(usize::from(old.len() < 10))
            };
            let mut ids: Vec<u32> = old[first..=last].iter().map(|old| old.0).collect();
            // Some steps use free part numbers again.
            let free =
                parts.unused_ids().map(|id| id.0).take(if step % 3 == 0 { count } else { 0 });
            ids.extend(free);
            ids.extend(parts.id_count() as u32..(parts.id_count() + count) as u32);
            let new: Vec<Part> = ids
                .iter()
                .zip(0..count as u32)
                .map(|(id, n)| part(*id, old[first].1 + 10 * n))
                .collect();
            let shift = i64::from(old[first].1) + 10 * count as i64 - i64::from(end);
            let mut expected = old[..first].to_vec();
            expected
                .extend(new.iter().map(|part| (part.id.0, part.start, Arc::as_ptr(&part.data))));
            expected.extend(
                old[last + 1..].iter().map(|old| (old.0, (i64::from(old.1) + shift) as u32, old.2)),
            );

            let place = |number: usize| parts.last_before(old[number].1 + 1).unwrap();
            let later = parts.replace_parts(place(first), place(last), new.clone(), shift);

            assert_eq!(known(&later), expected);
            assert_eq!(later.len(), expected.len());
            for (number, (id, start, data)) in expected.iter().enumerate() {
                assert_eq!(Arc::as_ptr(&later.get(PartId(*id)).unwrap().data), *data);
                assert_eq!(later.part_at_offset(start + 9).map(|part| part.id.0), Some(*id));
                let end = expected.get(number + 1).map_or(9_000_000, |next| next.1);
                assert_eq!(
                    later.part_range(PartId(*id), 9_000_000),
                    Some(TextRange::new(*start, end))
                );
            }
            let gone: Vec<u32> = old[first..=last]
                .iter()
                .map(|old| old.0)
                .filter(|id| later.get(PartId(*id)).is_none())
                .collect();
            assert!(gone.iter().all(|id| later.unused_ids().any(|unused| unused.0 == *id)));
            assert!(later.unused_ids().all(|id| id != PartId::WHOLE && later.get(id).is_none()));
            let (went, came) = parts.changes_to(&later);
            assert_eq!(
                went.iter().map(|part| part.id.0).collect::<Vec<_>>(),
                old[first..=last].iter().map(|old| old.0).collect::<Vec<_>>()
            );
            assert_eq!(came.len(), new.len());
            longest = longest.max(later.runs.iter().map(|run| run.parts.len()).max().unwrap());
            assert!(
                later.runs.len() <= 2 * later.len().div_ceil(RUN) + 8,
                "{} runs of {} parts",
                later.runs.len(),
                later.len()
            );
            parts = later;
        }
        assert!(longest <= LONGEST && longest > RUN);
    }

    #[test]
    fn tokens_are_found_without_a_look_at_runs_that_have_none() {
        let steps = |count: usize| {
            let lines = (0..count).map(|n| match n {
                7 => format!("k{n}: '%{{os}} %{{lookup(''k1'')}}'\n"),
                _ => format!("k{n}: 1\n"),
            });
            let text: String = lines.collect();
            let file = DataFile::in_parts(&text, FileId::new(0), DataFormat::Yaml);
            let file = file.expect("it is cut");
            work::take();
            assert_eq!(file.tokens().count(), 2);
            work::take().steps
        };
        assert_eq!(steps(RUN), RUN);
        assert_eq!(steps(100 * RUN), RUN);
    }
}
