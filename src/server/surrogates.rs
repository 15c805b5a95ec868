//! Half a character in what a client sends: JSON made of UTF-16 may escape a surrogate that has no other half (`\ud83d`), as an editor's text
//! may hold one. No Rust string can, and tower-lsp ends at a message that it cannot read. It becomes U+FFFD, which is as wide in UTF-16.

use std::io::{self, Read};

/// A stream of messages in which every surrogate has its other half.
pub(super) struct Paired<R> {
    source: R,
    /// The start of an escape of which the rest has not come.
    held: Vec<u8>,
}

/// What stands where a backslash does.
enum Escape {
    /// A unit of UTF-16 in four digits.
    Unit(u16),
    Other,
    /// The rest of it has not come.
    Unfinished,
}

/// The bytes of an escape in digits, and of what stands in its place.
const LENGTH: usize = 6;
const REPLACEMENT: &[u8; LENGTH] = b"\\ufffd";

impl<R: Read> Paired<R> {
    pub(super) fn new(source: R) -> Paired<R> {
        Paired { source, held: Vec::new() }
    }
}

impl<R: Read> Read for Paired<R> {
    /// `into` has room for more than two escapes.
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            let before = self.held.len();
            into[..before].copy_from_slice(&self.held);
            let count = self.source.read(&mut into[before..])?;
            let bytes = &mut into[..before + count];
            let settled = if count == 0 { bytes.len() } else { pair(bytes) };
            self.held = bytes[settled..].to_vec();
            if settled > 0 || count == 0 {
                return Ok(settled);
            }
        }
    }
}

/// Replaces the surrogates without another half; says up to where that can be told.
fn pair(bytes: &mut [u8]) -> usize {
    let mut at = 0;
    while let Some(next) = bytes[at..].iter().position(|byte| *byte == b'\\') {
        let start = at + next;
        at = match escape(&bytes[start..]) {
            Escape::Unfinished => return start,
            // What follows a backslash may be one.
            Escape::Other => start + 2,
            Escape::Unit(0xd800..=0xdbff) => match escape(&bytes[start + LENGTH..]) {
                Escape::Unfinished => return start,
                Escape::Unit(0xdc00..=0xdfff) => start + 2 * LENGTH,
                Escape::Unit(_) | Escape::Other => replaced(bytes, start),
            },
            Escape::Unit(0xdc00..=0xdfff) => replaced(bytes, start),
            Escape::Unit(_) => start + LENGTH,
        };
    }
    bytes.len()
}

fn replaced(bytes: &mut [u8], start: usize) -> usize {
    bytes[start..start + LENGTH].copy_from_slice(REPLACEMENT);
    start + LENGTH
}

fn escape(bytes: &[u8]) -> Escape {
    let known = &bytes[..bytes.len().min(LENGTH)];
    let is_one = known.iter().zip(0..).all(|(byte, at)| match at {
        0 => *byte == b'\\',
        1 => *byte == b'u',
        _ => byte.is_ascii_hexdigit(),
    });
    let digits = || std::str::from_utf8(&known[2..]).ok().and_then(|digits| u16::from_str_radix(digits, 16).ok());
    match is_one {
        true if known.len() < LENGTH => Escape::Unfinished,
        true => digits().map_or(Escape::Other, Escape::Unit),
        false => Escape::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A source that gives so many bytes at a time.
    struct Pieces<'a>(&'a [u8], usize);

    impl Read for Pieces<'_> {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            let count = self.0.len().min(self.1).min(into.len());
            into[..count].copy_from_slice(&self.0[..count]);
            self.0 = &self.0[count..];
            Ok(count)
        }
    }

    #[test]
    fn what_has_no_other_half_is_replaced() {
        for (sent, expected) in [
            (r#"{"a": "plain \n \\ \u00e4"}"#, r#"{"a": "plain \n \\ \u00e4"}"#),
            (r#""\ud83d\ude00 \uD83D\uDE00""#, r#""\ud83d\ude00 \uD83D\uDE00""#),
            (r#""\ud83d""#, r#""\ufffd""#),
            (r#""\ude00 \ud83dx \ud83d\n""#, r#""\ufffd \ufffdx \ufffd\n""#),
            (r#""\ud83d\ud83d\ude00\ude00""#, r#""\ufffd\ud83d\ude00\ufffd""#),
            (r#""\ud83d\u0041""#, r#""\ufffd\u0041""#),
            (r#""\\ud83d \\\ud83d""#, r#""\\ud83d \\\ufffd""#),
            (r#""\ud8 \u" \ud83d"#, r#""\ud8 \u" \ud83d"#), // What is no JSON stays.
        ] {
            for piece in 1..=sent.len() {
                let mut read = String::new();
                let mut source = Paired::new(Pieces(sent.as_bytes(), piece));
                let mut some = [0; 20];
                loop {
                    let count = source.read(&mut some).unwrap();
                    if count == 0 {
                        break;
                    }
                    read.push_str(std::str::from_utf8(&some[..count]).unwrap());
                }
                assert_eq!(read, expected, "in pieces of {piece}");
            }
        }
    }

    #[test]
    fn nothing_is_held_back_but_an_escape() {
        let mut source = Paired::new(Pieces(br#"{"a": "b"}\ud83d"#, 100));
        let mut some = [0; 100];
        assert_eq!(source.read(&mut some).unwrap(), 10);
        assert_eq!(source.read(&mut some).unwrap(), LENGTH, "with the end it is told as it came");
        assert_eq!(source.read(&mut some).unwrap(), 0);
    }
}
