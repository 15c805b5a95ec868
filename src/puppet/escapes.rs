//! Blanks of Puppet's language, and escapes in its double-quoted strings.

use std::borrow::Cow;

/// Whether Puppet's lexer skips the character: a blank of Unicode, or a line break. Source:
/// `Lexer2::PATTERN_WS`.
pub(crate) fn is_blank(c: char) -> bool {
    matches!(
        c,
        '\t' | '\n' | '\r' | ' ' | '\u{a0}' | '\u{1680}' | '\u{2000}'
            ..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}'
    )
}

/// Returns the text that a backslash before `first` stands for, and the number of bytes after the
/// backslash that it takes.
pub(crate) fn decode_escape(first: char, rest: &str) -> (Cow<'static, str>, usize) {
    let simple = match first {
        '\\' => "\\",
        '$' => "$",
        '\'' => "'",
        '"' => "\"",
        'r' => "\r",
        'n' => "\n",
        't' => "\t",
        's' => " ",
        '\n' => "",
        '\r' if rest.starts_with("\r\n") => return ("".into(), 2),
        'u' => {
            let digits = if let Some(braced) = rest.strip_prefix("u{") {
                braced.split_once('}').map(|(digits, _)| (digits, digits.len() + 3))
            } else {
                rest.get(1..5).map(|digits| (digits, 5))
            };
            let character = digits
                .filter(|(digits, _)| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))
                .and_then(|(digits, length)| Some((u32::from_str_radix(digits, 16).ok()?, length)))
                .and_then(|(code, length)| Some((char::from_u32(code)?, length)));
            return match character {
                Some((character, length)) => (character.to_string().into(), length),
                None => ("\\u".into(), 1),
            };
        }
        other => return (format!("\\{other}").into(), other.len_utf8()),
    };
    (simple.into(), first.len_utf8())
}
