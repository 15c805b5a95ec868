//! Patterns that Ruby and Oniguruma read differently, in a form that means the same to both.

use super::pieces::{Piece, PieceKind, split_pieces};

/// Returns the pattern with the classes below rewritten so that Oniguruma matches what Ruby matches.
/// `None` where the pattern has none of these classes.
///
/// - `\d`, `\s`, `\w` and their complements match ASCII only in Ruby, all of Unicode in Oniguruma.
///   `\b`, `[[:alpha:]]` and `\p{…}` match Unicode in both.
/// - `[[:punct:]]` has the symbols of ASCII in Ruby, all symbols of Unicode in Oniguruma.
/// - `(?i)\p{…}` folds case in Ruby, in Oniguruma only within brackets.
/// - `(?i)[[:alpha:]]` matches one letter in Ruby, in Oniguruma `ss` as well, as `ß` is a member.
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

/// [`NO_WORD`] for patterns that fold case. The class leaves out the letters beyond ASCII that fold to
/// letters of ASCII: with these members Oniguruma would match letters of ASCII.
const FOLDED_NO_WORD: &str = r"[^a-zA-Z0-9_\u00df\u017f\u1e9e\u212a\ufb00-\ufb06]";

/// The members of Ruby's `[[:punct:]]`: Unicode's punctuation and the nine symbols of ASCII.
const PUNCTUATION: &str = r"\p{P}$+<=>\^`|~";

/// The POSIX classes that contain both cases of each member.
const CASELESS: [&str; 12] = [
    "alnum", "alpha", "ascii", "blank", "cntrl", "digit", "graph", "print", "punct", "space",
    "word", "xdigit",
];

/// Whether a dash behind the written part of a bracket expression is a member and begins no range.
fn is_dash_member(written: &str) -> bool {
    written.ends_with(['[', ']']) || written.ends_with("[^")
}

fn write_brackets(piece: Piece<'_>, out: &mut String) {
    let mut rewritten = String::with_capacity(piece.text.len());
    let mut has_cased = false;
    let mut rest = piece.text;
    while let Some(c) = rest.chars().next() {
        // The first bracket opens the expression itself: `[:punct:]` alone has the members `:`, `p`, …
        let nested = rest.strip_prefix("[:").filter(|_| rest.len() < piece.text.len());
        let posix = nested.and_then(|rest| Some(rest.split_once(":]")?.0)).filter(|name| {
            name.trim_start_matches('^').bytes().all(|byte| byte.is_ascii_alphabetic())
        });
        let len = match (c, posix) {
            ('\\', _) => 1 + rest[1..].chars().next().map_or(0, char::len_utf8),
            (_, Some(name)) => name.len() + "[::]".len(),
            _ => c.len_utf8(),
        };
        let (text, after) = rest.split_at(len);
        has_cased |= match posix {
            Some(name) => !CASELESS.contains(&name.trim_start_matches('^')),
            // A range and an escape may have letters as members.
            None => {
                let is_range =
                    text == "-" && !after.starts_with(']') && !is_dash_member(&rewritten);
                let is_escape = c == '\\' && ascii_class(text).is_none();
                is_range || is_escape || ascii_class(text).is_none() && c.is_alphabetic()
            }
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

/// Returns the pattern with a group around each anchor and each look-around that a quantifier
/// follows. Each `(?:` becomes `(?-:`, which switches no option and takes a quantifier even if an
/// alternative is an anchor. `None` where nothing changes.
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
        let Some(start) = target else { continue };
        let next = pieces[n + 1..].iter().find(|piece| piece.kind != PieceKind::Blank);
        if next.is_some_and(|next| next.kind == PieceKind::Quantifier) {
            out.insert_str(start, "(?-:");
            out.push(')');
        }
    }
    (out != pattern).then_some(out)
}

/// Returns Ruby's message for a pattern that Ruby refuses and Oniguruma takes: a count with an upper
/// end below the lower end, or a look-behind of varying length. `None` for any other pattern.
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

/// Whether an escape matches texts of several lengths: a reference to a group, `\R` or `\X`.
fn varies_in_length(escape: &str) -> bool {
    // `\10` may be the octal number of a character, and `\k` without a name is the letter.
    let is_number = matches!(escape.as_bytes(), [b'\\', b'1'..=b'9']);
    let is_reference = is_number || escape.starts_with(r"\k<") || escape.starts_with(r"\k'");
    is_reference || matches!(escape, r"\R" | r"\X")
}

/// Returns the lower and the upper end of a quantifier. The upper end is `None` without a limit.
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

/// Returns the number; 0 for an empty text, `u32::MAX` for a number that does not fit.
fn count(digits: &str) -> u32 {
    if digits.is_empty() { 0 } else { digits.parse().unwrap_or(u32::MAX) }
}
