//! Replaces lone surrogates in messages from the client. JSON made of UTF-16 may escape a surrogate
//! that has no other half (`\ud83d`), as an editor's text may hold one. A Rust string cannot, so
//! serde_json refuses the message. The surrogate becomes U+FFFD, which is as wide in UTF-16.

/// The escape at a backslash.
enum Escape {
    /// A unit of UTF-16 in four digits.
    Unit(u16),
    Other,
}

/// The bytes of an escape in digits, and of its replacement.
const LENGTH: usize = 6;
const REPLACEMENT: &[u8; LENGTH] = b"\\ufffd";

/// Replaces the surrogates without another half in the JSON text of a message.
pub(super) fn replace_lone(json: &mut [u8]) {
    let mut at = 0;
    while let Some(next) = json.get(at..).and_then(|rest| memchr::memchr(b'\\', rest)) {
        let start = at + next;
        at = match escape(&json[start..]) {
            // The character behind the backslash may be a backslash, too.
            Escape::Other => start + 2,
            Escape::Unit(0xd800..=0xdbff) => match escape(&json[start + LENGTH..]) {
                Escape::Unit(0xdc00..=0xdfff) => start + 2 * LENGTH,
                Escape::Unit(_) | Escape::Other => replace_bytes(json, start),
            },
            Escape::Unit(0xdc00..=0xdfff) => replace_bytes(json, start),
            Escape::Unit(_) => start + LENGTH,
        };
    }
}

fn replace_bytes(json: &mut [u8], start: usize) -> usize {
    json[start..start + LENGTH].copy_from_slice(REPLACEMENT);
    start + LENGTH
}

fn escape(json: &[u8]) -> Escape {
    let unit = json.strip_prefix(b"\\u").and_then(|rest| rest.get(..4)).and_then(|digits| {
        let is_hexadecimal = digits.iter().all(u8::is_ascii_hexdigit);
        let digits = std::str::from_utf8(digits).ok().filter(|_| is_hexadecimal)?;
        u16::from_str_radix(digits, 16).ok()
    });
    unit.map_or(Escape::Other, Escape::Unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lone_surrogates_are_replaced() {
        for (sent, expected) in [
            (r#"{"a": "plain \n \\ \u00e4"}"#, r#"{"a": "plain \n \\ \u00e4"}"#),
            (r#""\ud83d\ude00 \uD83D\uDE00""#, r#""\ud83d\ude00 \uD83D\uDE00""#),
            (r#""\ud83d""#, r#""\ufffd""#),
            (r#""\ude00 \ud83dx \ud83d\n""#, r#""\ufffd \ufffdx \ufffd\n""#),
            (r#""\ud83d\ud83d\ude00\ude00""#, r#""\ufffd\ud83d\ude00\ufffd""#),
            (r#""\ud83d\u0041""#, r#""\ufffd\u0041""#),
            (r#""\\ud83d \\\ud83d""#, r#""\\ud83d \\\ufffd""#),
            (r#""\ud8 \u" \ud83d"#, r#""\ud8 \u" \ufffd"#), // No JSON: nothing to keep right.
            (r#""\"#, r#""\"#),
            (r#""\ud83d\u"#, r#""\ufffd\u"#),
        ] {
            let mut json = sent.as_bytes().to_vec();
            replace_lone(&mut json);
            assert_eq!(String::from_utf8(json).unwrap(), expected);
        }
    }
}
