//! Compares a parsed manifest with the result of Puppet's parser.

use serde_json::Value as Json;

use hiera_ls::manifest::model::{
    AskedStrategy, CallForm, ClassUse, Definition, DefinitionKind, Manifest, NodeName, ReaderCall,
    UseKind,
};
use hiera_ls::manifest::{parse, parse_epp};

/// The result of a comparison.
#[derive(Default)]
pub struct Tally {
    pub files: usize,
    /// Files that Puppet's parser refuses; nothing of them is compared.
    pub refused: usize,
    /// The reasons of the first refusals.
    pub refusals: Vec<String>,
    /// Of files that Puppet accepts: those that were not read to their end by the grammar.
    pub incomplete: usize,
    pub definitions: Share,
    pub parameters: Share,
    pub aliases: Share,
    pub readers: Share,
    pub uses: Share,
    pub nodes: Share,
    pub differences: Vec<String>,
}

#[derive(Default)]
pub struct Share {
    pub equal: usize,
    pub all: usize,
}

impl Tally {
    pub fn summary(&self) -> String {
        let share = |share: &Share| format!("{} of {}", share.equal, share.all);
        format!(
            "{} files, {} refused by Puppet, {} incomplete; equal: definitions {}, parameters {}, aliases {}, calls {}, uses {}, node blocks {}",
            self.files,
            self.refused,
            self.incomplete,
            share(&self.definitions),
            share(&self.parameters),
            share(&self.aliases),
            share(&self.readers),
            share(&self.uses),
            share(&self.nodes)
        )
    }
}

/// Compares one file.
pub fn file(path: &str, text: &str, answer: &Json, tally: &mut Tally) {
    tally.files += 1;
    if let Some(error) = answer.get("error") {
        tally.refused += 1;
        if tally.refusals.len() < 10 {
            tally.refusals.push(format!("{error}: {path}"));
        }
        return;
    }
    let found = if path.ends_with(".epp") { parse_epp(text, None) } else { parse(text, None) };
    if !found.complete {
        tally.incomplete += 1;
        tally.differences.push(format!("{path}: incomplete"));
    }
    let expected = |name: &str| answer[name].as_array().expect("a list").as_slice();
    let mut differ = |what: &str, expected: &str, found: &str| {
        tally.differences.push(format!("{path}: {what}\n  Puppet {expected}\n  ours   {found}"));
    };
    let parameters = expected("definitions").iter().map(parameters_of);
    let own = found.definitions.iter().map(own_parameters);
    lists(
        &mut tally.parameters,
        parameters.flatten().collect(),
        own.flatten().collect(),
        |a, b| {
            differ("parameter", a, b);
        },
    );
    let definitions = expected("definitions").iter().map(definition).collect();
    let own = found.definitions.iter().map(own_definition).collect();
    lists(&mut tally.definitions, definitions, own, |a, b| differ("definition", a, b));
    // Puppet's own place of an alias ends before the last bracket.
    let alias = |name: &str, written: String| format!("{name} = {}", without_end(&written));
    let aliases = expected("aliases").iter();
    let aliases = aliases.map(|one| alias(text_in(one, "name"), squeezed(one, "type"))).collect();
    let own = found.aliases.iter();
    let own = own.map(|one| alias(&one.name, squeeze(&one.data_type.text))).collect();
    lists(&mut tally.aliases, aliases, own, |a, b| differ("alias", a, b));
    let readers = sorted(expected("readers").iter().map(reader).collect());
    let asked = |one: &&ReaderCall| matches!(one.form, CallForm::Direct | CallForm::Method);
    let own = found.readers.iter().filter(asked).map(|one| own_reader(one, &found, text));
    lists(&mut tally.readers, readers, sorted(own.collect()), |a, b| differ("call", a, b));
    let uses = sorted(expected("uses").iter().map(class_use).collect());
    let own = sorted(found.uses.iter().filter_map(own_use).collect());
    lists(&mut tally.uses, uses, own, |a, b| differ("use", a, b));
    let nodes = expected("nodes").iter().map(|one| one.to_string()).collect();
    let own = found.nodes.iter().map(|one| {
        let names = one.names.iter().map(|(name, _)| node_name(name));
        Json::Array(names.collect()).to_string()
    });
    lists(&mut tally.nodes, nodes, own.collect(), |a, b| differ("node", a, b));
}

fn sorted(mut list: Vec<String>) -> Vec<String> {
    list.sort();
    list
}

/// Counts the elements of `expected` that are in `found`, and passes the missing and the
/// superfluous ones to `differ`.
fn lists(
    share: &mut Share,
    expected: Vec<String>,
    found: Vec<String>,
    mut differ: impl FnMut(&str, &str),
) {
    share.all += expected.len().max(found.len());
    let mut rest = found.clone();
    let mut missing = Vec::new();
    for one in &expected {
        match rest.iter().position(|other| other == one) {
            Some(at) => {
                rest.remove(at);
                share.equal += 1;
            }
            None => missing.push(one.as_str()),
        }
    }
    if !missing.is_empty() || !rest.is_empty() {
        differ(&missing.join("\n         "), &rest.join("\n         "));
    }
}

fn text_in<'a>(object: &'a Json, name: &str) -> &'a str {
    object.get(name).and_then(Json::as_str).unwrap_or("-")
}

fn squeezed(object: &Json, name: &str) -> String {
    object.get(name).and_then(Json::as_str).map_or("-".to_owned(), squeeze)
}

/// A text without blanks, lines of comments and round brackets: Puppet's tree has no place for
/// brackets, so that the outer ones are missing from its texts. Of a heredoc only the text before
/// its tag is compared. Puppet's own place of a selector ends before its last brace.
fn squeeze(text: &str) -> String {
    let text = text.split("@(").next().unwrap_or_default();
    let lines = text.lines().filter(|line| !line.trim_start().starts_with('#'));
    let text: String = lines.collect();
    let text: String =
        text.chars().filter(|c| !c.is_whitespace() && !matches!(c, '(' | ')')).collect();
    if text.contains("?{") { without_end(&text).to_owned() } else { text }
}

/// A type without the brackets that end it, and the comma before them.
fn without_end(text: &str) -> &str {
    text.trim_end_matches([']', '}', ','])
}

fn parameters_of(one: &Json) -> Vec<String> {
    let parameters = one["parameters"].as_array().expect("a list");
    let parameter = |parameter: &Json| {
        format!(
            "{} ${} at {} rest {} type {} default {}",
            text_in(one, "name"),
            text_in(parameter, "name"),
            parameter["offset"],
            parameter["rest"].as_bool().unwrap_or(false),
            squeezed(parameter, "type"),
            squeezed(parameter, "default")
        )
    };
    parameters.iter().map(parameter).collect()
}

fn own_parameters(definition: &Definition) -> Vec<String> {
    let parameters = definition.parameters.iter();
    let text = |excerpt: &Option<hiera_ls::manifest::model::Excerpt>| {
        excerpt.as_ref().map_or("-".to_owned(), |excerpt| squeeze(&excerpt.text))
    };
    parameters
        .map(|parameter| {
            format!(
                "{} ${} at {} rest {} type {} default {}",
                definition.name,
                parameter.name,
                parameter.range.start,
                parameter.captures_rest,
                text(&parameter.data_type),
                text(&parameter.default)
            )
        })
        .collect()
}

fn definition(one: &Json) -> String {
    let parent = one.get("inherits").and_then(Json::as_str);
    format!(
        "{} {} at {} to {} inherits {}",
        text_in(one, "kind"),
        text_in(one, "name"),
        one["offset"],
        one["end"],
        parent.map_or("-", |parent| parent.trim_start_matches("::"))
    )
}

fn own_definition(one: &Definition) -> String {
    let kind = match one.kind {
        DefinitionKind::Class => "class",
        DefinitionKind::DefinedType => "define",
        DefinitionKind::Function => "function",
        DefinitionKind::Plan => "plan",
    };
    format!(
        "{kind} {} at {} to {} inherits {}",
        one.name,
        one.range.start,
        one.range.end,
        one.inherits.as_ref().map_or("-", |parent| &parent.text)
    )
}

fn reader(one: &Json) -> String {
    format!(
        "{} {} at {} in {} keys {} type {} merge {} default {} lambda {}",
        text_in(one, "form"),
        text_in(one, "function"),
        one["offset"],
        text_in(one, "in"),
        one.get("keys").unwrap_or(&Json::Null),
        squeezed(one, "type"),
        squeezed(one, "merge"),
        squeezed(one, "default"),
        one.get("lambda").is_some()
    )
}

fn own_reader(one: &ReaderCall, manifest: &Manifest, text: &str) -> String {
    let form = if one.form == CallForm::Method { "method" } else { "direct" };
    let keys = one.keys.as_ref().map_or(Json::Null, |keys| {
        keys.iter().map(|key| Json::String(key.wildcard_text())).collect()
    });
    let squeezed = |excerpt: &Option<hiera_ls::manifest::model::Excerpt>| {
        excerpt.as_ref().map_or("-".to_owned(), |excerpt| squeeze(&excerpt.text))
    };
    // The strategy of functions such as `hiera_array` is no argument. In Puppet's tree, an argument
    // that may be options is a type.
    let merge = one.merge.as_ref().filter(|merge| {
        one.function.own_strategy().is_none()
            && !(merge.strategy == AskedStrategy::Unknown
                && one.value_type.as_ref().is_some_and(|written| written.range == merge.range))
    });
    format!(
        "{form} {} at {} in {} keys {keys} type {} merge {} default {} lambda {}",
        one.function.name(),
        one.range.start,
        one.definition.map_or("-", |at| &manifest.definitions[at].name),
        squeezed(&one.value_type),
        merge.map_or("-".to_owned(), |merge| squeeze(&text[merge.range.as_usize()])),
        squeezed(&one.default),
        one.other_default
    )
}

fn class_use(one: &Json) -> String {
    let gives = one.get("gives").map_or("-".to_owned(), Json::to_string);
    format!("{} {} gives {gives}", text_in(one, "how"), text_in(one, "class"))
}

fn own_use(one: &ClassUse) -> Option<String> {
    let how = match one.kind {
        UseKind::Include => "include",
        UseKind::Contain => "contain",
        UseKind::Require => "require",
        UseKind::Resource => "class",
        UseKind::Inherits => "inherits",
        UseKind::Function | UseKind::Reference => return None,
    };
    let class = one.class.as_ref().filter(|class| !class.resolved);
    let class = class.and_then(|class| class.literal_text());
    let gives = if one.kind == UseKind::Resource {
        let mut names: Vec<&str> = one.gives.iter().map(|given| given.name.as_str()).collect();
        names.extend(one.gives_more.then_some("*"));
        Json::from(names).to_string()
    } else {
        "-".to_owned()
    };
    Some(format!("{how} {} gives {gives}", class.unwrap_or("-")))
}

fn node_name(name: &NodeName) -> Json {
    match name {
        NodeName::Default => serde_json::json!({"default": true}),
        NodeName::Regex(source) => serde_json::json!({"regex": source}),
        NodeName::Literal(name) => serde_json::json!({"name": name}),
    }
}
