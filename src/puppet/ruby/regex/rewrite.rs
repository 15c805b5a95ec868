//! Patterns that Ruby and Oniguruma read differently, in a form that means the same to both.

use super::pieces::{Piece, PieceKind, split_pieces};

/// Returns the pattern with classes that Oniguruma reads otherwise in a form that means what Ruby
/// reads; `None` where there is no such class.
///
/// - `\d`, `\s`, `\w` and their complements match ASCII only in Ruby, all of Unicode in Oniguruma.
///   `\b`, `[[:alpha:]]` and `\p{…}` match Unicode in both.
/// - `[[:punct:]]` has the symbols of ASCII in Ruby, all symbols of Unicode in Oniguruma.
/// - `(?i)\p{…}` folds case in Ruby, in Oniguruma only within brackets.
/// - `(?i)[[:alpha:]]` has no letter that Ruby folds, in Oniguruma `ß` brings `ss` into the class.
pub(super) fn rewrite_classes(pattern: &str) -> Option<String> {
    let mut out = String::with_capacity(pattern.len());
    for piece in split_pieces(pattern) {
        match (piece.kind, ascii_class(piece.text)) {
            // With case folding, `[a-z]` would match the long s.
            (PieceKind::Escape, Some(class)) if piece.folds_case => {
                out.push_str(&format!("(?-i:{class})"));
            }
            (PieceKind::Escape, Some(class)) => out.push_str(class),
            (PieceKind::Escape, None) if piece.folds_case => match property(piece.text) {
                Some((name, true)) => out.push_str(&format!(r"[\p{{{name}}}]")),
                Some((name, false)) => out.push_str(&format!(r"[^\p{{{name}}}]")),
                None => out.push_str(piece.text),
            },
            (PieceKind::Brackets, _) => write_brackets(piece, &mut out),
            _ => out.push_str(piece.text),
        }
    }
    (out != pattern).then_some(out)
}

/// Returns the name of a Unicode property, and whether the escape matches the letters that have it;
/// `None` for another escape.
fn property(escape: &str) -> Option<(&str, bool)> {
    let name = escape.strip_suffix('}')?;
    match (name.strip_prefix(r"\p{"), name.strip_prefix(r"\P{")) {
        (Some(name), _) => Some(name.strip_prefix('^').map_or((name, true), |name| (name, false))),
        (_, Some(name)) => Some(name.strip_prefix('^').map_or((name, false), |name| (name, true))),
        (None, None) => None,
    }
}

/// Returns the bracket expression of ASCII for a class escape; `None` for another text.
fn ascii_class(escape: &str) -> Option<&'static str> {
    Some(match escape {
        r"\d" => "[0-9]",
        r"\D" => "[^0-9]",
        r"\s" => r"[ \t\r\n\f\v]",
        r"\S" => r"[^ \t\r\n\f\v]",
        r"\w" => "[a-zA-Z0-9_]",
        r"\W" => NO_WORD,
        _ => return None,
    })
}

const NO_WORD: &str = "[^a-zA-Z0-9_]";

/// [`NO_WORD`] where case is folded: without the letters that fold to those of ASCII, which would bring
/// these into the class.
const FOLDED_NO_WORD: &str = r"[^a-zA-Z0-9_\u00df\u017f\u1e9e\u212a\ufb00-\ufb06]";

/// The members of `[[:punct:]]`, which is Unicode's punctuation and the nine symbols of ASCII.
const PUNCTUATION: &str = r"\p{P}$+<=>\^`|~";

/// The POSIX classes whose letters have their other case in the class, too.
const CASELESS: [&str; 12] = [
    "alnum", "alpha", "ascii", "blank", "cntrl", "digit", "graph", "print", "punct", "space",
    "word", "xdigit",
];

fn write_brackets(piece: Piece<'_>, out: &mut String) {
    let mut rewritten = String::with_capacity(piece.text.len());
    let mut has_cased = false;
    let mut rest = piece.text;
    while let Some(c) = rest.chars().next() {
        let posix = rest.strip_prefix("[:").and_then(|rest| Some(rest.split_once(":]")?.0));
        let len = match (c, posix) {
            ('\\', _) => 1 + rest[1..].chars().next().map_or(0, char::len_utf8),
            (_, Some(name)) => name.len() + "[::]".len(),
            _ => c.len_utf8(),
        };
        let (text, after) = rest.split_at(len);
        has_cased |= match posix {
            Some(name) => !CASELESS.contains(&name.trim_start_matches('^')),
            None => ascii_class(text).is_none() && text.contains(char::is_alphabetic),
        };
        match (ascii_class(text), posix) {
            (Some(class), _) => rewritten.push_str(class),
            (_, Some("punct")) => rewritten.push_str(PUNCTUATION),
            (_, Some("^punct")) => rewritten.push_str(&format!("[^{PUNCTUATION}]")),
            _ => rewritten.push_str(text),
        }
        rest = after;
    }
    if !piece.folds_case {
        out.push_str(&rewritten);
    } else if has_cased {
        out.push_str(&rewritten.replace(NO_WORD, FOLDED_NO_WORD));
    } else {
        out.push_str(&format!("(?-i:{rewritten})"));
    }
}

/// Returns the pattern with groups that take a quantifier where Ruby takes one and Oniguruma does
/// not: behind an anchor or a look-around, and behind `(?:…)` with an alternative of these. `(?-:`
/// opens a group that switches no option. `None` where there is nothing of the kind.
pub(super) fn group_targets(pattern: &str) -> Option<String> {
    let pieces = split_pieces(pattern);
    let mut out = String::new();
    // Each element tells where in `out` an open group began, and whether the group looks around.
    let mut open = Vec::new();
    for (n, piece) in pieces.iter().enumerate() {
        let start = out.len();
        out.push_str(if piece.text == "(?:" { "(?-:" } else { piece.text });
        let target = match piece.kind {
            PieceKind::Anchor => Some(start),
            PieceKind::Open => {
                open.push((start, false));
                None
            }
            PieceKind::OpenAhead | PieceKind::OpenBehind => {
                open.push((start, true));
                None
            }
            PieceKind::Close => {
                open.pop().and_then(|(start, looks_around)| looks_around.then_some(start))
            }
            _ => None,
        };
        let next = pieces[n + 1..].iter().find(|piece| piece.kind != PieceKind::Blank);
        let is_repeated = next.is_some_and(|next| next.kind == PieceKind::Quantifier);
        if let (Some(start), true) = (target, is_repeated) {
            out.insert_str(start, "(?-:");
            out.push(')');
        }
    }
    (out != pattern).then_some(out)
}

/// Why Ruby refuses a pattern that Oniguruma takes, in Ruby's words: a count whose upper end is
/// below its lower one, which Oniguruma swaps, or a look-behind whose length varies, which
/// Oniguruma shortens or matches. `None` where neither of the two is there.
pub(super) fn refusal_of_ruby(pattern: &str) -> Option<&'static str> {
    for piece in split_pieces(pattern) {
        match piece.kind {
            PieceKind::Open if piece.is_behind && piece.text == "(?>" => {
                return Some(LOOK_BEHIND_REFUSED);
            }
            PieceKind::Escape if piece.is_behind && varies_in_length(piece.text) => {
                return Some(LOOK_BEHIND_REFUSED);
            }
            PieceKind::Quantifier => match counts(piece.text) {
                (lower, Some(upper)) if upper < lower => {
                    return Some("upper is smaller than lower in repeat range");
                }
                (lower, upper) if piece.is_behind && upper != Some(lower) => {
                    return Some(LOOK_BEHIND_REFUSED);
                }
                _ => {}
            },
            _ => {}
        }
    }
    None
}

const LOOK_BEHIND_REFUSED: &str = "invalid pattern in look-behind";

/// Whether the text that an escape matches may have several lengths: a reference to a group, a line
/// end, a letter with its accents.
fn varies_in_length(escape: &str) -> bool {
    // Several digits are the number of a letter where there are not so many groups.
    let is_reference =
        matches!(escape.as_bytes(), [b'\\', b'1'..=b'9']) || escape.starts_with(r"\k");
    is_reference || matches!(escape, r"\R" | r"\X")
}

/// Returns the ends of a quantifier; `None` for an upper end that is open.
fn counts(quantifier: &str) -> (u32, Option<u32>) {
    let Some(ends) = quantifier.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) else {
        return (u32::from(quantifier == "+"), (quantifier == "?").then_some(1));
    };
    match ends.split_once(',') {
        Some((lower, "")) => (count(lower), None),
        Some((lower, upper)) => (count(lower), Some(count(upper))),
        None => (count(ends), Some(count(ends))),
    }
}

/// Reads a count, which may be left out before a comma.
fn count(digits: &str) -> u32 {
    if digits.is_empty() { 0 } else { digits.parse().unwrap_or(u32::MAX) }
}
