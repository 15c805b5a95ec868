//! The hashes in a file of nodes: JSON, JSON lines or YAML, as Puppet's own programs write them.

use crate::hiera::data::{DataFile, Format, Refusal};
use crate::puppet::value::{Data, Hash, Key, Member, Provenance, Value};
use crate::text::{FileId, FilePath};
use crate::yaml;

/// The classes of times, which Puppet's reader of data refuses.
const TIMES: [&str; 3] = ["Time", "Date", "DateTime"];

/// The values in a file of facts or scopes: JSON lines by the extension `jsonl`, else JSON or YAML,
/// a list giving several. Errors: why the text is none of these.
pub fn read_values(path: &FilePath, text: &str) -> Result<Vec<Value>, String> {
    if matches!(path.extension(), Some("jsonl" | "ndjson")) {
        let line = |(number, line): (usize, &str)| {
            let parsed: Result<serde_json::Value, _> = serde_json::from_str(line);
            parsed
                .map(|value| from_json(&value))
                .map_err(|error| format!("line {}: {error}", number + 1))
        };
        return text
            .lines()
            .enumerate()
            .filter(|(_, line)| !line.trim().is_empty())
            .map(line)
            .collect();
    }
    let value = match serde_json::from_str::<serde_json::Value>(text) {
        Ok(value) => from_json(&value),
        Err(error) if path.extension() == Some("json") => return Err(error.to_string()),
        Err(_) => from_yaml(text)?,
    };
    Ok(match value.data() {
        Data::Array(items) => items.to_vec(),
        _ => vec![value],
    })
}

/// A JSON value as one of Hiera's.
pub fn from_json(value: &serde_json::Value) -> Value {
    let given = |data: Data| Value::new(data, Provenance::written(None));
    match value {
        serde_json::Value::Null => Value::null(None),
        serde_json::Value::Bool(value) => given(Data::Bool(*value)),
        serde_json::Value::Number(number) => given(match (number.as_i64(), number.as_f64()) {
            (Some(value), _) => Data::Integer(value),
            (None, Some(value)) if number.is_f64() => Data::Float(value),
            _ => Data::BigInteger(number.to_string().into()),
        }),
        serde_json::Value::String(text) => Value::given(text),
        serde_json::Value::Array(items) => {
            Value::array(items.iter().map(from_json).collect(), Provenance::written(None))
        }
        serde_json::Value::Object(members) => {
            let member = |(key, value): (&String, &serde_json::Value)| {
                (Key::string(key), Member { key_origin: None, value: from_json(value) })
            };
            Value::hash(members.iter().map(member).collect(), Provenance::written(None))
        }
    }
}

/// A YAML text as Psych reads it, without the places that it was written at: no file of the
/// workspace holds facts. Symbols are their texts, and so are keys that are no strings, as Puppet
/// makes them of facts. Errors: Psych's reason to refuse it.
fn from_yaml(text: &str) -> Result<Value, String> {
    let read = |text: &str| DataFile::whole(&yaml::parse(text), text, FileId::new(0), Format::Yaml);
    let text = without_object_tags(text);
    let mut data = read(&text);
    if matches!(data.refused(), Some(Refusal::Class(class)) if TIMES.contains(&class.as_str())) {
        data = read(&without_times(&text));
    }
    if let Some(refused) = data.refused() {
        return Err(refused.to_string());
    }
    Ok(data.root().map_or_else(|| Value::null(None), |root| as_given(&root)))
}

/// The text without the tags of Ruby's classes, which Psych would refuse. Only files that start
/// with one have them: what Puppet's own termini wrote.
fn without_object_tags(text: &str) -> std::borrow::Cow<'_, str> {
    const TAG: &str = "!ruby/object:";
    if !text.lines().next().is_some_and(|line| line.contains(TAG)) {
        return text.into();
    }
    let line = |line: &str| match line.find(TAG) {
        Some(at) if line[..at].ends_with(' ') => {
            let rest = &line[at..];
            let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
            format!("{}{}", &line[..at], &rest[end..])
        }
        _ => line.to_owned(),
    };
    text.split_inclusive('\n').map(line).collect::<String>().into()
}

/// The text without the times at which facts were taken: Puppet's termini permit them, and its
/// reader of data does not.
fn without_times(text: &str) -> String {
    let is_time = |line: &&str| {
        let name = line.trim_start_matches(':').split(':').next();
        matches!(name, Some("timestamp" | "expiration"))
    };
    text.split_inclusive('\n').filter(|line| !is_time(line)).collect()
}

fn as_given(value: &Value) -> Value {
    match value.data() {
        Data::Symbol(text) => Value::given(text),
        Data::Array(items) => {
            Value::array(items.iter().map(as_given).collect(), Provenance::written(None))
        }
        Data::Hash(members) => {
            let text = |key: &Key| match key.data() {
                Data::Symbol(text) => text.to_string(),
                _ => key.to_text().into_owned(),
            };
            let member = |(key, member): (&Key, &Member)| {
                let value = as_given(&member.value);
                (Key::string(&text(key)), Member { key_origin: None, value })
            };
            Value::hash(members.iter().map(member).collect::<Hash>(), Provenance::written(None))
        }
        data => Value::new(data.clone(), Provenance::written(None)),
    }
}

/// A value as Puppet makes it of a fact or a parameter: at every depth, what is null is an empty
/// text. Source: nodes that a real compiler was asked about.
pub(super) fn without_nulls(value: &Value) -> Value {
    match value.data() {
        Data::Null => Value::given(""),
        Data::Array(items) => {
            Value::array(items.iter().map(without_nulls).collect(), Provenance::written(None))
        }
        Data::Hash(members) => {
            let member = |(key, member): (&Key, &Member)| {
                let value = without_nulls(&member.value);
                (key.clone(), Member { key_origin: None, value })
            };
            Value::hash(members.iter().map(member).collect::<Hash>(), Provenance::written(None))
        }
        _ => value.clone(),
    }
}
