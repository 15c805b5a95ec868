//! The lines above the cursor that determine its place: those of its top-level entry.

use crate::text::{Text, TextRange};

/// The number of bytes that are searched first; entries are short.
const FIRST: u32 = 4 << 10;

/// Returns the text from the beginning of the entry that holds the byte `line_start`, the start of
/// a line, up to it. `is_json`: from the beginning of the file.
pub(super) fn entry_text_above(text: &Text, line_start: u32, is_json: bool) -> String {
    let mut size = if is_json { line_start } else { FIRST };
    loop {
        let start = line_start.saturating_sub(size);
        let slice = text.slice(TextRange::new(start, line_start));
        // The first line is left out where the slice begins within it.
        let whole = if start == 0 { 0 } else { slice.find('\n').map_or(slice.len(), |at| at + 1) };
        if is_json || start == 0 {
            let begin = if is_json { 0 } else { last_entry(&slice).unwrap_or(0) };
            return slice[begin..].to_owned();
        }
        if let Some(begin) = last_entry(&slice[whole..]) {
            return slice[whole + begin..].to_owned();
        }
        size = size.saturating_mul(4);
    }
}

/// Returns the start of the last line that begins a top-level entry.
fn last_entry(text: &str) -> Option<usize> {
    let mut end = text.len();
    while end > 0 {
        let start = text[..end - 1].rfind(['\n', '\r']).map_or(0, |at| at + 1);
        if text[start..end]
            .starts_with(|c| !matches!(c, ' ' | '\t' | '#' | '-' | '}' | ']' | '\r' | '\n'))
        {
            return Some(start);
        }
        end = start;
    }
    None
}
