//! The hashes in a file of nodes: JSON, JSON lines or YAML, as Puppet's own programs write them.

use crate::hiera::data::{DataFile, DataFormat, FileRefusal};
use crate::puppet::value::{Data, Hash, Key, Member, Provenance, Value};
use crate::text::{FileId, FilePath};
use crate::yaml;

/// The classes of times, which Puppet's reader of data refuses.
const TIMES: [&str; 3] = ["Time", "Date", "DateTime"];

/// Reads the values in a file of facts or scopes: JSON lines by the extension `jsonl`, else JSON or
/// YAML, a list giving several. Errors: why the text is none of these.
pub fn read_values(path: &FilePath, text: &str) -> Result<Vec<Value>, String> {
    if matches!(path.extension(), Some("jsonl" | "ndjson")) {
        let line = |(number, line): (usize, &str)| {
            parse_json(line).map_err(|error| format!("line {}: {error}", number + 1))
        };
        return text
            .lines()
            .enumerate()
            .filter(|(_, line)| !line.trim().is_empty())
            .map(line)
            .collect();
    }
    let value = read_value(path, text)?;
    Ok(match value.data() {
        Data::Array(items) => items.to_vec(),
        _ => vec![value],
    })
}

/// Reads the value in a file of JSON or YAML. As for `puppet lookup --facts`, the extension decides
/// the format; with any other extension, both are tried. Errors: why the text is neither.
pub(super) fn read_value(path: &FilePath, text: &str) -> Result<Value, String> {
    match path.extension() {
        Some("json") => parse_json(text),
        Some("yaml" | "yml") => from_yaml(text),
        _ => parse_json(text).or_else(|_| from_yaml(text)),
    }
}

/// Parses a JSON text. Errors: why it is none.
fn parse_json(text: &str) -> Result<Value, String> {
    if !has_long_number(text) {
        let parsed: Result<serde_json::Value, _> = serde_json::from_str(text);
        return parsed.map(|value| from_json(&value)).map_err(|error| error.to_string());
    }
    // `serde_json` makes a float of an integer that 64 bits do not hold.
    let tree = yaml::parse_json(text);
    let data = DataFile::read_whole(&tree, text, FileId::new(0), DataFormat::Json);
    match data.refusal() {
        Some(refused) => Err(refused.to_string()),
        None => Ok(data.root_value().map_or_else(|| Value::new_null(None), |root| as_given(&root))),
    }
}

/// Whether there is a number that 64 bits may not hold: one with 19 digits.
fn has_long_number(text: &str) -> bool {
    let mut digits = text.as_bytes().split(|byte| !byte.is_ascii_digit());
    digits.any(|run| run.len() >= 19)
}

/// Converts a JSON value to one of Hiera's.
pub fn from_json(value: &serde_json::Value) -> Value {
    match value {
        serde_json::Value::Null => Value::new_null(None),
        serde_json::Value::Bool(value) => new_value(Data::Bool(*value)),
        serde_json::Value::Number(number) => new_value(match (number.as_i64(), number.as_f64()) {
            (Some(value), _) => Data::Integer(value),
            (None, Some(value)) if number.is_f64() => Data::Float(value),
            _ => Data::BigInteger(number.to_string().into()),
        }),
        serde_json::Value::String(text) => Value::from_argument(text),
        serde_json::Value::Array(items) => {
            Value::new_array(items.iter().map(from_json).collect(), Provenance::from_source(None))
        }
        serde_json::Value::Object(members) => Value::hash(
            members
                .iter()
                .map(|(key, value)| {
                    (Key::new_string(key), Member { key_origin: None, value: from_json(value) })
                })
                .collect(),
            Provenance::from_source(None),
        ),
    }
}

fn new_value(data: Data) -> Value {
    Value::new(data, Provenance::from_source(None))
}

/// Parses a YAML text as Psych reads it, without the places that it was written at: no file of the
/// workspace holds facts. Symbols are their texts, as Puppet makes them of facts; keys stay numbers
/// and the like, as they do for Puppet. Errors: Psych's reason to refuse it.
fn from_yaml(text: &str) -> Result<Value, String> {
    let text = without_object_tags(text);
    let mut data = read_data(&text);
    if matches!(data.refusal(), Some(FileRefusal::Class(class)) if TIMES.contains(&class.as_str()))
    {
        data = read_data(&without_times(&text));
    }
    if let Some(refused) = data.refusal() {
        return Err(refused.to_string());
    }
    Ok(data.root_value().map_or_else(|| Value::new_null(None), |root| as_given(&root)))
}

fn read_data(text: &str) -> DataFile {
    DataFile::read_whole(&yaml::parse(text), text, FileId::new(0), DataFormat::Yaml)
}

/// Removes the tags of Ruby's classes, which Psych would refuse, from a text. Only files that start
/// with one have them: those that Puppet's own termini wrote.
fn without_object_tags(text: &str) -> std::borrow::Cow<'_, str> {
    const TAG: &str = "!ruby/object:";
    if !text.lines().next().is_some_and(|line| line.contains(TAG)) {
        return text.into();
    }
    text.split_inclusive('\n')
        .map(|line| match line.find(TAG) {
            Some(at) if line[..at].ends_with(' ') => {
                let rest = &line[at..];
                let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
                format!("{}{}", &line[..at], &rest[end..])
            }
            _ => line.to_owned(),
        })
        .collect::<String>()
        .into()
}

/// Returns the text without the times at which facts were taken: Puppet's termini permit them, and
/// its reader of data does not.
fn without_times(text: &str) -> String {
    text.split_inclusive('\n').filter(|line| !is_time(line)).collect()
}

fn is_time(line: &str) -> bool {
    let name = line.trim_start_matches(':').split(':').next();
    matches!(name, Some("timestamp" | "expiration"))
}

fn as_given(value: &Value) -> Value {
    match value.data() {
        Data::Symbol(text) => Value::from_argument(text),
        Data::Array(items) => {
            Value::new_array(items.iter().map(as_given).collect(), Provenance::from_source(None))
        }
        Data::Hash(members) => Value::hash(
            members
                .iter()
                .map(|(key, member)| {
                    let value = as_given(&member.value);
                    (
                        match key.data() {
                            Data::Symbol(text) => Key::new_string(text),
                            _ => key.clone(),
                        },
                        Member { key_origin: None, value },
                    )
                })
                .collect::<Hash>(),
            Provenance::from_source(None),
        ),
        data => Value::new(data.clone(), Provenance::from_source(None)),
    }
}

/// Converts a value as Puppet does for a fact or a parameter: at every depth, null becomes an empty
/// text. Source: nodes that a real compiler was asked about.
pub(super) fn without_nulls(value: &Value) -> Value {
    match value.data() {
        Data::Null => Value::from_argument(""),
        Data::Array(items) => Value::new_array(
            items.iter().map(without_nulls).collect(),
            Provenance::from_source(None),
        ),
        Data::Hash(members) => Value::hash(
            members
                .iter()
                .map(|(key, member)| {
                    let value = without_nulls(&member.value);
                    (key.clone(), Member { key_origin: None, value })
                })
                .collect::<Hash>(),
            Provenance::from_source(None),
        ),
        _ => value.clone(),
    }
}
