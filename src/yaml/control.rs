//! Control characters: YAML allows none but tabs and line breaks, and libyaml refuses them when it
//! reads the piece of input that has them.

use super::scan::char_floor;
use super::tree::{SyntaxError, SyntaxErrorKind};
use crate::text::TextRange;

/// The size of the pieces in which libyaml reads its input. libyaml refuses control characters when
/// it reads the piece.
const READER_PIECE: usize = 16_384;

/// Returns the first character at or after `from` that YAML does not allow.
pub(super) fn bad_char(text: &str, from: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = from;
    for chunk in bytes[from..].chunks(64) {
        // This rough test compiles to vector code. `is_bad` checks suspected characters exactly.
        let suspect = chunk.iter().fold(false, |any, &byte| {
            any | (byte < 0x20) & (byte != b'\n') | (byte == 0x7F) | (byte == 0xC2) | (byte == 0xEF)
        });
        if suspect && let Some(found) = (at..at + chunk.len()).find(|at| is_bad(bytes, *at)) {
            return Some(found);
        }
        at += chunk.len();
    }
    None
}

fn is_bad(bytes: &[u8], at: usize) -> bool {
    match bytes[at] {
        b'\t' | b'\n' | b'\r' => false,
        0..=0x1F | 0x7F => true,
        0xC2 => matches!(bytes.get(at + 1), Some(0x80..=0x84 | 0x86..=0x9F)),
        0xEF => bytes.get(at + 1) == Some(&0xBF) && matches!(bytes.get(at + 2), Some(0xBE | 0xBF)),
        _ => false,
    }
}

/// Returns the error about the character at `at`, in libyaml's words.
pub(super) fn bad_char_error(text: &str, at: usize) -> SyntaxError {
    let len = text[at..].chars().next().map_or(0, char::len_utf8);
    SyntaxError {
        kind: SyntaxErrorKind::ControlCharacter,
        message: "control characters are not allowed".to_owned(),
        context: None,
        span: TextRange::from_usize(at..at + len),
    }
}

/// Returns the place where the piece of input begins with which libyaml reads the byte at `at`.
/// Pieces end with whole characters.
pub(super) fn piece_start(text: &str, at: usize) -> usize {
    let mut start = 0;
    loop {
        let next = char_floor(text, start + READER_PIECE);
        if next > at || next == start {
            return start;
        }
        start = next;
    }
}
