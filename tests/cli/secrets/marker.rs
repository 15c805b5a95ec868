//! The texts that secrets are made of, and how an output is searched for them.

use serde_json::Value;

/// A part of every encrypted text, and of each value that `convert_to` may make Sensitive.
pub const TEXT: &str = "Zqxmarkvwj";
/// Secrets that are numbers.
pub const NUMBER: u64 = 8_375_520_461_937;

/// Returns the secret that `output` reveals, in any form; `None` if it reveals none.
///
/// Only letters and digits count, and their case does not: a text whose characters are printed one
/// by one is found, too. JSON is also searched string by string, and line by line.
pub fn told(output: &str) -> Option<String> {
    let json = std::iter::once(output)
        .chain(output.lines())
        .filter(|text| text.starts_with(['{', '[', '"']))
        .filter_map(|text| serde_json::from_str(text).ok());
    told_plainly(output).or_else(|| json.into_iter().find_map(|value: Value| told_in(&value)))
}

/// Returns the secret that a JSON value reveals.
pub fn told_in(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => told_plainly(text),
        Value::Array(items) => {
            // The items may be the characters of a text that was taken apart.
            let all: String = items.iter().filter_map(Value::as_str).collect();
            told_plainly(&all).or_else(|| items.iter().find_map(told_in))
        }
        Value::Object(members) => {
            members.iter().find_map(|(key, value)| told_plainly(key).or_else(|| told_in(value)))
        }
        other => told_plainly(&other.to_string()),
    }
}

fn told_plainly(text: &str) -> Option<String> {
    let bare: String =
        text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    forms().into_iter().find(|form| bare.contains(form.as_str()))
}

/// Returns the markers, and their converted forms.
fn forms() -> Vec<String> {
    let number =
        [NUMBER.to_string(), format!("{NUMBER:x}"), format!("{NUMBER:o}"), format!("{NUMBER:b}")];
    // This is the Base64 form of `Zqxmarkvwj` at the beginning of a text.
    let base64 = "wnf4bwfya3z3a".to_owned();
    let hex: String = TEXT.bytes().map(|byte| format!("{byte:02x}")).collect();
    number.into_iter().chain([TEXT.to_lowercase(), base64, hex]).collect()
}

#[test]
fn markers_are_found_in_every_form() {
    for text in [
        "x: Zqxmarkvwj7",
        "[\"Z\",\"q\",\"x\",\"m\",\"a\",\"r\",\"k\",\"v\",\"w\",\"j\"]",
        "- Z\n- q\n- x\n- m\n- a\n- r\n- k\n- v\n- w\n- j\n",
        "{\"a\": \"- Z\\n- q\\n- x\\n- m\\n- a\\n- r\\n- k\\n- v\\n- w\\n- j\"}",
        "ZQXMARKVWJ",
        "8375520461937.0",
        "0x79e13ec0471",
        "WnF4bWFya3Z3ag==",
    ] {
        assert!(told(text).is_some(), "{text}");
    }
    assert_eq!(told("password: ENC[decrypted]\n"), None);
}
