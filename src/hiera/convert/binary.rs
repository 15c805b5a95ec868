//! `Binary.new`.

use super::{Made, Parameters, call, error, local, member, rich, within};
use crate::hiera::rich::Rich;
use crate::hiera::types::DataType;
use crate::hiera::value::{Data, Value};

use DataType as T;

pub(super) fn binary(arguments: &[Value]) -> Made {
    let format = T::Enum { values: ["%B", "%b", "%r", "%s", "%u"].map(str::to_owned).to_vec(), fold: false };
    let format = local("Base64Format", format);
    let bytes = T::array(local("ByteInteger", within(0, Some(255))), None);
    let string_hash = T::Struct(vec![member("value", false, T::STRING), member("format", true, T::optional(format.clone()))]);
    let array_hash = T::Struct(vec![member("value", false, bytes.clone())]);
    let hash = T::Variant(vec![local("StringHash", string_hash), local("ArrayHash", array_hash)]);
    let signatures: [Parameters<'_>; 3] = [
        (&[("str", T::STRING), ("format", format)], 1),
        (&[("byte_array", bytes)], 1),
        (&[("hash_args", local("BinaryArgsHash", hash))], 1),
    ];
    call("new_Binary", &signatures, &[], arguments, |form, arguments| {
        let (value, format) = match form {
            2 => (arguments[0].get("value").cloned(), arguments[0].get("format").cloned()),
            _ => (arguments.first().cloned(), arguments.get(1).cloned()),
        };
        let value = value.unwrap_or_else(|| Value::null(None));
        if let Some(items) = value.as_array() {
            let byte = |item: &Value| if let Data::Integer(number) = item.data { u8::try_from(number).ok() } else { None };
            return Ok(rich(Rich::Binary(items.iter().filter_map(byte).collect())));
        }
        let text = value.to_text();
        let format = format.and_then(|format| format.as_str().map(str::to_owned));
        let bytes = match format.as_deref().unwrap_or("%B") {
            "%b" => Some(lenient(&text)),
            "%u" => {
                let mut standard = text.replace('-', "+").replace('_', "/");
                if !standard.ends_with('=') && standard.len() % 4 != 0 {
                    standard.push_str(&"=".repeat(4 - standard.len() % 4));
                }
                strict(&standard)
            }
            "%B" => strict(&text),
            _ => Some(text.as_bytes().to_vec()),
        };
        match bytes {
            Some(bytes) => Ok(rich(Rich::Binary(bytes))),
            None => error("invalid base64"),
        }
    })
}

fn digit(byte: u8) -> Option<u32> {
    Some(match byte {
        b'A'..=b'Z' => u32::from(byte - b'A'),
        b'a'..=b'z' => u32::from(byte - b'a') + 26,
        b'0'..=b'9' => u32::from(byte - b'0') + 52,
        b'+' => 62,
        b'/' => 63,
        _ => return None,
    })
}

fn joined(digits: &[u32], out: &mut Vec<u8>) {
    let bits = digits.iter().fold(0, |bits, digit| bits << 6 | digit) << (6 * (4 - digits.len()));
    let bytes = bits.to_be_bytes();
    out.extend_from_slice(&bytes[1..digits.len()]);
}

/// Whole groups of four, and nothing in the bits that are left over.
fn strict(text: &str) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    if text.len() % 4 != 0 {
        return None;
    }
    let groups = text.as_bytes().chunks(4);
    let last = groups.len();
    for (n, group) in groups.enumerate() {
        let padding = group.iter().rev().take_while(|byte| **byte == b'=').count();
        let digits: Vec<u32> = group[..4 - padding].iter().map(|byte| digit(*byte)).collect::<Option<_>>()?;
        let left_over = match padding {
            0 => 0,
            1 => digits[2] & 0b11,
            2 => digits[1] & 0b1111,
            _ => return None,
        };
        if padding > 0 && n + 1 < last || left_over != 0 {
            return None;
        }
        joined(&digits, &mut out);
    }
    Some(out)
}

/// Whatever is no digit is passed over, up to the first padding.
fn lenient(text: &str) -> Vec<u8> {
    let mut out = Vec::new();
    let mut group = Vec::new();
    for byte in text.bytes() {
        if byte == b'=' && group.len() > 1 {
            break;
        }
        group.extend(digit(byte));
        if group.len() == 4 {
            joined(&group, &mut out);
            group.clear();
        }
    }
    if group.len() > 1 {
        joined(&group, &mut out);
    }
    out
}
