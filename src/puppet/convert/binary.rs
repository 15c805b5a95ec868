//! `Binary.new`.

use super::{
    ConversionResult, Parameters, call_function, conversion_error, integer_type, local_type,
    rich_value, struct_member,
};
use crate::puppet::rich::Rich;
use crate::puppet::ruby::base64;
use crate::puppet::types::DataType;
use crate::puppet::value::{Data, Value};

use DataType as T;

pub(super) fn convert_binary(arguments: &[Value]) -> ConversionResult {
    let format =
        T::Enum { values: ["%B", "%b", "%r", "%s", "%u"].map(str::to_owned).to_vec(), fold: false };
    let format = local_type("Base64Format", format);
    let bytes = T::array_type(local_type("ByteInteger", integer_type(0, Some(255))), None);
    let string_hash = T::Struct(vec![
        struct_member("value", false, T::STRING),
        struct_member("format", true, T::optional_type(format.clone())),
    ]);
    let array_hash = T::Struct(vec![struct_member("value", false, bytes.clone())]);
    let hash = T::Variant(vec![
        local_type("StringHash", string_hash),
        local_type("ArrayHash", array_hash),
    ]);
    let signatures: [Parameters<'_>; 3] = [
        (&[("str", T::STRING), ("format", format)], 1),
        (&[("byte_array", bytes)], 1),
        (&[("hash_args", local_type("BinaryArgsHash", hash))], 1),
    ];
    call_function("new_Binary", &signatures, &[], arguments, |form, arguments| {
        let (value, format) = match form {
            2 => (arguments[0].get("value").cloned(), arguments[0].get("format").cloned()),
            _ => (arguments.first().cloned(), arguments.get(1).cloned()),
        };
        let value = value.unwrap_or_else(|| Value::new_null(None));
        if let Some(items) = value.as_array() {
            return Ok(rich_value(
                Rich::Binary(
                    items
                        .iter()
                        .filter_map(|item| {
                            if let Data::Integer(number) = *item.data() {
                                u8::try_from(number).ok()
                            } else {
                                None
                            }
                        })
                        .collect(),
                ),
                arguments,
            ));
        }
        let text = value.to_text();
        let format = format.and_then(|format| format.as_str().map(str::to_owned));
        let bytes = match format.as_deref().unwrap_or("%B") {
            "%b" => Some(base64::decode(&text)),
            "%u" => {
                let mut standard = text.replace('-', "+").replace('_', "/");
                if !standard.ends_with('=') && !standard.len().is_multiple_of(4) {
                    standard.push_str(&"=".repeat(4 - standard.len() % 4));
                }
                decode_strict(&standard)
            }
            "%B" => decode_strict(&text),
            _ => Some(text.as_bytes().to_vec()),
        };
        match bytes {
            Some(bytes) => Ok(rich_value(Rich::Binary(bytes), arguments)),
            None => conversion_error("invalid base64"),
        }
    })
}

/// Accepts only text in the exact form that Ruby writes.
fn decode_strict(text: &str) -> Option<Vec<u8>> {
    Some(base64::decode(text)).filter(|bytes| base64::encode(bytes) == text)
}
