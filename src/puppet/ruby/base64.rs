//! Base64 as Ruby reads and writes it.

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Decodes `text`. Characters that are no digits are skipped, and `=` ends the text except where a
/// group of four has fewer than two digits: as in Ruby's `unpack('m')`.
pub fn decode(text: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let (mut bits, mut held, mut digits) = (0u32, 0u32, 0usize);
    for c in text.bytes() {
        let digit = match c {
            b'A'..=b'Z' => c - b'A',
            b'a'..=b'z' => c - b'a' + 26,
            b'0'..=b'9' => c - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            b'=' if digits % 4 >= 2 => break,
            _ => continue,
        };
        bits = (bits << 6 | u32::from(digit)) & 0xff_ffff;
        held += 6;
        digits += 1;
        if held >= 8 {
            held -= 8;
            bytes.push((bits >> held) as u8);
        }
    }
    bytes
}

/// Returns the text that stands for `bytes`, on one line.
pub fn encode(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let bits = chunk.iter().fold(0u32, |bits, byte| bits << 8 | u32::from(*byte))
            << (8 * (3 - chunk.len()));
        for n in 0..4 {
            let digit = DIGITS[(bits >> (18 - 6 * n)) as usize & 63] as char;
            out.push(if n <= chunk.len() { digit } else { '=' });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_and_back() {
        for bytes in [&b""[..], b"a", b"ab", b"abc", b"\xff\x00\xfe\x01"] {
            assert_eq!(decode(&encode(bytes)), bytes);
        }
        assert_eq!(decode("aGVs\n bG8="), b"hello");
        assert_eq!(decode("=aGVs=bG8="), b"hello");
    }
}
