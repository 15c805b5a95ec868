//! Sizes of strings and collections, as bounds of types.

use super::{ANY_NUMBER, DataType, Range, Size, UNSTATED};

/// Returns a number of elements as bounds count.
pub(super) fn bound_of_count(len: usize) -> i128 {
    i128::try_from(len).unwrap_or(i128::MAX)
}

/// Returns the size of exactly `len` elements.
pub(super) fn exactly_size(len: usize) -> Range<i128> {
    Range::from_single(bound_of_count(len))
}

/// Returns the numbers of elements that a size permits; any number where it states none.
pub(super) fn array_size(size: Size) -> Range<i128> {
    match size {
        None | Some(UNSTATED) => ANY_NUMBER,
        Some(size) => size,
    }
}

/// Whether `ours` includes every size of `theirs`.
pub(super) fn covers_size(ours: Size, theirs: Size) -> bool {
    array_size(ours).covers_range(&array_size(theirs))
}

/// Returns how many elements a tuple has.
pub(super) fn tuple_size(types: &[DataType], size: Size) -> Range<i128> {
    size.unwrap_or(if types.is_empty() { ANY_NUMBER } else { exactly_size(types.len()) })
}
