//! Readings of small texts. Names of traps (M23 to M36) are those of the specification of
//! manifests; agreement with Puppet on whole trees is `tests/puppet/manifests`'s.

use super::model::{
    AskedStrategy, CallForm, DefinitionKind, Literal, Manifest, NodeName, ReaderCall, UseKind,
};
use super::{parse, parse_epp, parse_ruby_calls};

mod reading;
mod typing;

/// The parameters of the first definition, as `type $name = default`.
fn parameters(text: &str) -> Vec<String> {
    let manifest = parse(text, None);
    let written = |part: &Option<super::model::Excerpt>| {
        part.as_ref().map_or(String::new(), |part| {
            assert_eq!(part.text, text[part.range.as_usize()], "the range is the text's");
            part.text.clone()
        })
    };
    let parameters = manifest.definitions[0].parameters.iter();
    parameters
        .map(|parameter| {
            assert_eq!(text[parameter.range.as_usize()], format!("${}", parameter.name));
            let (data_type, default) = (written(&parameter.data_type), written(&parameter.default));
            let default = if default.is_empty() { default } else { format!(" = {default}") };
            format!("{data_type} ${}{default}", parameter.name).trim_start().to_owned()
        })
        .collect()
}

/// The only call of a text.
fn reader(text: &str) -> ReaderCall {
    let mut readers = parse(text, Some("m")).readers;
    assert_eq!(readers.len(), 1, "{text}");
    readers.remove(0)
}

/// Returns a reader's keys, with `*` for unknown parts; `None` where nothing is known.
fn keys(reader: &ReaderCall) -> Option<Vec<String>> {
    reader.keys.as_ref().map(|keys| keys.iter().map(|key| key.wildcard_text()).collect())
}

/// The names of the classes that a text uses, with how.
fn uses(manifest: &Manifest) -> Vec<(UseKind, String)> {
    let name = |name: &super::model::TextPattern| name.wildcard_text();
    let uses = manifest.uses.iter();
    uses.map(|one| (one.kind, one.class.as_ref().map_or("?".to_owned(), name))).collect()
}

fn string(text: &str) -> Literal {
    Literal::String(text.to_owned())
}
