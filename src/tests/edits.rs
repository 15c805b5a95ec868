//! Random edits, with which suites beside the code compare patched data with data that is parsed
//! again.

use crate::text::TextRange;

#[allow(dead_code, reason = "the integration tests use more of it")]
#[path = "../../tests/support/random.rs"]
mod random;

pub(crate) use random::Random;

/// How many edits follow each other on one text.
pub(crate) const STEPS: usize = 20;

/// Returns how many texts are edited: `usual`, or the number that gives as many edits as the
/// variable `HIERA_LS_EDITS` states.
pub(crate) fn rounds(usual: usize) -> usize {
    std::env::var("HIERA_LS_EDITS")
        .ok()
        .and_then(|edits| edits.parse::<usize>().ok())
        .map_or(usual, |edits| edits / STEPS)
}

/// Returns a part of the text, often an empty one, and its replacement: one of the pieces, or
/// nothing.
pub(crate) fn edit(
    random: &mut Random,
    text: &str,
    pieces: &[&'static str],
) -> (TextRange, &'static str) {
    let mut start = random.below(text.len() + 1);
    while !text.is_char_boundary(start) {
        start -= 1;
    }
    let mut end = (start + random.pick(&[0, 0, 0, 1, 1, 6, 40])).min(text.len());
    while !text.is_char_boundary(end) {
        end += 1;
    }
    (TextRange::from_usize(start..end), if random.one_in(3) { "" } else { random.pick(pieces) })
}
