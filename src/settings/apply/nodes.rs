//! The settings `nodes`: the sources of nodes, the default node, and the rules that derive
//! variables.

use regex::Regex;
use serde_json::Value;

use super::puppetdb;
use crate::hiera::scope::DeriveRule;
use crate::puppetdb::PuppetdbConfig;
use crate::settings::reader::{SettingsReader, set_if_read};
use crate::workspace::NodesConfig;
use crate::workspace::nodes::{InferStep, Steps};

/// Applies the settings `nodes`.
pub(super) fn apply(
    reader: &mut SettingsReader,
    value: &Value,
    nodes: &mut NodesConfig,
    puppetdb: &mut PuppetdbConfig,
) {
    reader.read_members("nodes", value, |reader, key, value| {
        match key {
            "puppetdb" => puppetdb::apply(reader, value, puppetdb),
            "sources" => {
                if let Some(sources) = reader.read_paths("nodes.sources", value) {
                    // Sources in a settings file lie below its folder; those of a client may lie
                    // below any folder.
                    let sources = sources.into_iter().map(|source| reader.below_folder(source));
                    nodes.sources = sources.collect();
                }
            }
            "default" => {
                set_if_read(&mut nodes.default, reader.read_text("nodes.default", value).map(Some));
            }
            "infer" => set_if_read(&mut nodes.infer, read_steps(reader, value)),
            "derive" => match value.as_array() {
                Some(rules) => {
                    nodes.derive =
                        rules.iter().filter_map(|rule| derive_rule(reader, rule)).collect();
                }
                None => reader.report("nodes.derive", "must be a list of rules"),
            },
            _ => return false,
        }
        true
    });
}

/// Reads the steps that infer nodes, without unknown ones; `None` for a value that is no list.
fn read_steps(reader: &mut SettingsReader, value: &Value) -> Option<Steps> {
    let Some(words) = value.as_array() else {
        reader.report("nodes.infer", "must be a list of steps");
        return None;
    };
    let mut steps = Steps::NONE;
    for word in words {
        match word.as_str().and_then(InferStep::from_word) {
            Some(step) => steps = steps.with_step(step),
            None => {
                let known = InferStep::WORDS.join(", ");
                reader.report("nodes.infer", &format!("{word} is none of {known}"));
            }
        }
    }
    Some(steps)
}

/// Reads a rule that derives variables; `None` for an invalid one.
fn derive_rule(reader: &mut SettingsReader, value: &Value) -> Option<DeriveRule> {
    let (Some(from), Some(pattern)) = (value["from"].as_str(), value["match"].as_str()) else {
        let message = "a rule must have `from`, a variable, and `match`, a regular expression";
        reader.report("nodes.derive", message);
        return None;
    };
    for name in value.as_object().into_iter().flat_map(|members| members.keys()) {
        if !matches!(name.as_str(), "from" | "match") {
            reader.report(&format!("nodes.derive.{name}"), "is not known");
        }
    }
    let problem = match Regex::new(pattern) {
        Ok(regex) if regex.capture_names().flatten().next().is_some() => {
            return Some(DeriveRule { from: from.to_owned(), pattern: regex });
        }
        Ok(_) => format!("'{pattern}' has no named group, so it derives nothing"),
        Err(error) => format!("'{pattern}' is no regular expression: {error}"),
    };
    reader.report("nodes.derive", &problem);
    None
}
