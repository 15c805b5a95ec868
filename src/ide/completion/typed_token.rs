//! The token that is being typed, and the edits that put words into it.

use super::place::{CursorContext, Spot, Style};
use crate::text::{TextEdit, TextRange};

/// A token that is being typed.
pub(super) struct TypedToken<'a> {
    /// The text behind `%{` up to the cursor.
    pub(super) text: &'a str,
    /// The text of the scalar before `%{`, without its quote.
    pub(super) ahead: &'a str,
}

/// Returns the token that the cursor is in.
pub(super) fn token_at_cursor(place: &CursorContext) -> Option<TypedToken<'_>> {
    let content = place.typed_content();
    let start = content.rfind("%{")?;
    let text = &content[start + 2..];
    let is_root_key = place.spot == Spot::Key && place.path.is_empty();
    (!text.contains('}') && !is_root_key).then_some(TypedToken { text, ahead: &content[..start] })
}

/// Returns the edit that replaces the text of a token by `text` and closes it, with the text that
/// the client compares with.
pub(super) fn token_edit(
    place: &CursorContext,
    token: &TypedToken<'_>,
    text: &str,
) -> (TextEdit, String) {
    let word = place.word_behind(|c| c.is_alphanumeric() || "_.:".contains(c));
    with_end(place, token, text, (token.text.len(), word), &["}"])
}

/// Returns the edit that puts `text` and the pieces of `end` in place of a word, so many bytes
/// before the cursor and behind it, and of those pieces of `end` that follow it already. A scalar
/// without quotes cannot begin with `%`: it gets quotes.
pub(super) fn with_end(
    place: &CursorContext,
    token: &TypedToken<'_>,
    text: &str,
    (before, behind): (usize, usize),
    end: &[&str],
) -> (TextEdit, String) {
    let rest = &place.behind[behind..];
    let closed = written_end_length(rest, end);
    let end = end.concat();
    let cursor = place.before.end;
    let stop = cursor + (behind + closed) as u32;
    let is_bare = place.style == Style::Plain
        && place.spot == Spot::Value
        && token.ahead.is_empty()
        && rest[closed..].trim().is_empty();
    if !is_bare {
        // Behind a dot, the edit replaces only the last part: some clients compare only this part.
        let typed = &place.typed[place.typed.len() - before..];
        let kept = typed.rfind('.').map_or(0, |dot| dot + 1);
        let kept = if text.starts_with(&typed[..kept]) { kept } else { 0 };
        let range = TextRange::new(cursor - (before - kept) as u32, stop);
        return (TextEdit::new(range, format!("{}{end}", &text[kept..])), text[kept..].to_owned());
    }
    let kept = &place.typed[..place.typed.len() - before];
    let inner = format!("{kept}{text}{end}").replace('\\', "\\\\").replace('"', "\\\"");
    let edit = TextEdit::new(TextRange::new(place.before.start, stop), format!("\"{inner}\""));
    (edit, format!("{kept}{text}"))
}

/// Returns how many bytes at the start of a text are pieces of `end`, in their order: editors
/// insert closing quotes and brackets on their own.
fn written_end_length(text: &str, end: &[&str]) -> usize {
    let mut rest = text;
    for piece in end {
        rest = rest.strip_prefix(piece).unwrap_or(rest);
    }
    text.len() - rest.len()
}
