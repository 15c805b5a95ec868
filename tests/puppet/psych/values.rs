//! The values of documents: those that Puppet's `yaml_data` has of a file, tags, merge keys and
//! duplicates included.

use hiera_ls::hiera::data::{DataFile, DataFormat};
use hiera_ls::puppet::{Data, Value as HieraValue};
use hiera_ls::text::FileId;
use hiera_ls::yaml;
use serde_json::{Value, json};

use super::ruby;

/// Compares the values of the texts with those of Puppet's loader; panics with the first
/// differences.
pub fn check(texts: &[String]) {
    let mut differences = Vec::new();
    let (mut values, mut other_words) = (0, 0);
    for (chunk, answers) in texts.chunks(20_000).map(|chunk| (chunk, ruby::ask("values.rb", chunk)))
    {
        for (text, mut theirs) in chunk.iter().zip(answers) {
            // Ruby shows the line of its own source below the message of an error of its own.
            if let Some(message) = theirs["error"].as_str() {
                theirs = json!({"error": message.split("\n\n").next()});
            }
            let ours = meaning(text);
            values += usize::from(theirs.get("value").is_some());
            let both_refuse = ours.get("error").is_some() && theirs.get("error").is_some();
            if both_refuse && ours != theirs {
                other_words += 1;
            } else if ours != theirs && !is_known(text, &theirs) {
                differences.push((text, ours, theirs));
            }
        }
    }
    differences.sort_by_key(|(text, ..)| text.len());
    for (text, ours, theirs) in differences.iter().take(12) {
        eprintln!("{text:?}\n  ours   {ours}\n  theirs {theirs}");
    }
    assert!(
        differences.is_empty(),
        "{} of {} texts mean something else",
        differences.len(),
        texts.len()
    );
    eprintln!(
        "{} texts compared, {values} with a value, {other_words} refused in other words",
        texts.len()
    );
}

/// The texts that are known to be read otherwise; none of them is a data file that anybody would
/// write.
fn is_known(text: &str, theirs: &Value) -> bool {
    let error = theirs["error"].as_str().unwrap_or_default();
    // Psych forgets the anchor of a mapping that a tag makes a string. In hiera-ls the alias has
    // the mapping's value.
    let forgotten =
        error.starts_with("Unknown alias") && text.contains("str") && text.contains('&');
    // For a merge key that names a hash around it, Psych merges the entries of that hash that it
    // has read so far. In hiera-ls such a merge key is a cycle.
    let around = text.contains("<<") && text.contains('*') && theirs.get("value").is_some();
    forgotten || around
}

/// Our answer, in the form of the script's.
fn meaning(text: &str) -> Value {
    let data = DataFile::read_whole(&yaml::parse(text), text, FileId::new(0), DataFormat::Yaml);
    match data.refusal() {
        // The comparison of events checks the errors about the text itself.
        Some(_) if yaml::refusal_error(text).is_some() => json!({"error": "syntax"}),
        Some(message) => json!({"error": message.to_string()}),
        None => json!({"value": data.root_value().as_ref().map_or(Value::Null, encode)}),
    }
}

/// Returns a value in the form of the script's answers.
pub fn encode(value: &HieraValue) -> Value {
    encode_data(value.data())
}

fn encode_data(data: &Data) -> Value {
    match data {
        Data::Null => Value::Null,
        Data::Bool(value) => json!(value),
        Data::Integer(value) => json!({"i": value.to_string()}),
        Data::BigInteger(digits) => json!({"i": &**digits}),
        Data::Float(value) if value.is_nan() => json!({"f": "NaN"}),
        Data::Float(value) => json!({"f": format!("{:016x}", value.to_bits())}),
        Data::String(text) => json!(&**text),
        Data::Symbol(name) => json!({"s": &**name}),
        Data::Binary(bytes) => {
            json!({"b": bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>()})
        }
        Data::Array(items) => items.iter().map(encode).collect(),
        Data::Hash(hash) => {
            let pairs: Vec<Value> = hash
                .iter()
                .map(|(key, member)| json!([encode_data(key.data()), encode(&member.value)]))
                .collect();
            json!({"h": pairs})
        }
        other => panic!("no file holds {other:?}"),
    }
}
