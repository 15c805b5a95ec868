//! Places in a text: byte offsets, half-open ranges, and the file that they belong to.
//!
//! Everything inside the library counts bytes. Lines and columns exist only in
//! [`position`](super::position).

use std::num::NonZeroU32;
use std::ops::Range;

/// A half-open range of bytes, `start..end`, in one text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TextRange {
    /// The first byte.
    pub start: u32,
    /// One past the last byte; never less than `start`.
    pub end: u32,
}

impl TextRange {
    /// Returns the range `start..end`; an end before the start gives the empty range at `start`.
    pub fn new(start: u32, end: u32) -> TextRange {
        TextRange { start, end: end.max(start) }
    }

    /// Returns the range of the `usize` offsets that slices are indexed with.
    ///
    /// Offsets beyond 4 GiB saturate; no text that long is ever loaded.
    pub fn from_usize(range: Range<usize>) -> TextRange {
        TextRange::new(clamp(range.start), clamp(range.end))
    }

    /// Returns the empty range at `offset`.
    pub fn new_empty(offset: u32) -> TextRange {
        TextRange { start: offset, end: offset }
    }

    /// Returns how many bytes the range holds.
    pub fn len(self) -> u32 {
        self.end - self.start
    }

    /// Returns whether the range holds no byte.
    pub fn is_empty(self) -> bool {
        self.start == self.end
    }

    /// Returns whether a cursor at `offset` touches the range: both borders count, as editors place
    /// a cursor between characters.
    pub fn touches_offset(self, offset: u32) -> bool {
        self.start <= offset && offset <= self.end
    }

    /// Returns whether the range has a byte, or an end, in common with `other`.
    pub fn meets_range(self, other: TextRange) -> bool {
        self.start <= other.end && other.start <= self.end
    }

    /// Returns whether `other` lies wholly inside the range.
    pub fn contains_range(self, other: TextRange) -> bool {
        self.start <= other.start && other.end <= self.end
    }

    /// Returns the smallest range that holds both ranges.
    pub fn cover(self, other: TextRange) -> TextRange {
        TextRange { start: self.start.min(other.start), end: self.end.max(other.end) }
    }

    /// Returns the range with `by` added to both ends: a range within a part as one of the file.
    pub fn offset_by(self, by: u32) -> TextRange {
        TextRange { start: self.start + by, end: self.end + by }
    }

    /// Returns the range as indices of a slice.
    pub fn as_usize(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

fn clamp(offset: usize) -> u32 {
    u32::try_from(offset).unwrap_or(u32::MAX)
}

/// A file's number within one workspace. Numbers are never reused, so an old snapshot's stay true.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId(NonZeroU32); // A place that may be missing then takes no more room than one that is there.

impl FileId {
    /// Returns the file with this number, counted from 0.
    pub const fn new(number: u32) -> FileId {
        FileId(NonZeroU32::MIN.saturating_add(number))
    }

    /// Returns the file's number.
    pub const fn number(self) -> u32 {
        self.0.get() - 1
    }
}

/// A part of a file that is read by itself: a top-level entry of a data file, or the whole file.
///
/// Offsets within a part are counted from the part's start, so that an edit above it moves nothing.
/// Only the file's own version knows which bytes of the file they are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PartId(pub u32);

impl PartId {
    /// The whole file: offsets are counted from its start.
    pub const WHOLE: PartId = PartId(0);
}

/// A range of bytes in a file: where a value, a key or a token was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// The file.
    pub file: FileId,
    /// The part of the file that the range is counted from.
    pub part: PartId,
    /// The bytes within the part.
    pub range: TextRange,
}

impl Span {
    /// Returns a range that is counted from the start of the file.
    pub fn in_file(file: FileId, range: TextRange) -> Span {
        Span { file, part: PartId::WHOLE, range }
    }
}

/// A place between two bytes of a file: a cursor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FilePosition {
    /// The file.
    pub file: FileId,
    /// Bytes from the start of the file's text.
    pub offset: u32,
}
