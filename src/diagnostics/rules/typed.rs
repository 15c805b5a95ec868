//! Values checked against the types that code declares for them; shared by the rules about types.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::unread::in_code;
use crate::diagnostics::rule::{EntryContext, FileContext};
use crate::fleet::answer_cache::{NodeAnswer, NodeQuestion};
use crate::hiera::error::LookupError;
use crate::hiera::eyaml::is_attempted;
use crate::hiera::interpolation::{Method, TokenKind, parse_tokens};
use crate::hiera::key::LookupKey;
use crate::hiera::lookup::LOOKUP_OPTIONS;
use crate::hiera::lookup_options::LookupOptions;
use crate::hiera::merge::Strategy;
use crate::puppet::types::{DataType, Known, WrongPart, check_partial};
use crate::puppet::value::{Data, Member, Value};
use crate::text::{Budget, Span};
use crate::workspace::manifests::{ManifestIndex, ParameterAt};

/// A parameter of a class that takes a key's value, and the type that it must have.
pub(super) struct ExpectedType<'a> {
    pub(super) parameter: ParameterAt<'a>,
    pub(super) data_type: Arc<DataType>,
}

/// Something that is wrong with a value in the file that is checked.
pub(super) struct WrongValue<'a> {
    pub(super) key: &'a str,
    pub(super) wanted: &'a ExpectedType<'a>,
    /// Where: the part at fault.
    pub(super) span: Span,
    /// Puppet's messages about the part at fault.
    pub(super) messages: Vec<String>,
    /// Whether a Sensitive value is required and the value is a plain one.
    pub(super) wants_sensitive: bool,
    /// Whether the part at fault is the whole value.
    pub(super) is_whole: bool,
    /// The known nodes that get the part at fault; `None` where no node is known to read the file.
    pub(super) nodes: Option<Vec<String>>,
}

/// How many known nodes are asked for the value that they get.
pub(super) const MAX_NODES: usize = 32;
/// How many parts of one value are reported.
const MAX_PARTS: usize = 20;
/// How long a message of Puppet may be before the end of it is left out.
const MAX_MESSAGE: usize = 300;

/// Reports the wrong values of an entry whose type `is_looked_at`.
pub(super) fn each_wrong_value(
    context: &EntryContext<'_>,
    is_looked_at: impl Fn(&DataType) -> bool,
    tell: &mut dyn FnMut(WrongValue<'_>),
) {
    let index = context.file.snapshot.manifests(context.file.environment);
    for (key, member) in context.root_members() {
        let Some(key) = key.as_str().filter(|key| *key != LOOKUP_OPTIONS) else { continue };
        let Some(wanted) = wanted_type(index, key) else { continue };
        if is_default(&member.value, &wanted)
            && matches!(value_treatment(context, &LookupKey::of_root(key)), Treatment::AsWritten)
            || !is_looked_at(&wanted.data_type)
        {
            continue;
        }
        for (span, parts) in wrong_parts(context, key, member, &wanted) {
            let takers = affected_nodes(context, key, &wanted, span)
                .or_else(|| is_overridden(context, key, &wanted, span).then(Vec::new));
            tell(WrongValue {
                key,
                wanted: &wanted,
                span,
                wants_sensitive: parts.iter().all(|part| part.wants_sensitive),
                is_whole: parts.iter().any(|part| part.is_whole),
                messages: parts.into_iter().map(|part| shorten(part.message)).collect(),
                nodes: takers,
            });
        }
    }
}

/// Whether the default takes the place of a value: that of a null, unless a conversion makes a value
/// of it.
fn is_default(value: &Value, wanted: &ExpectedType<'_>) -> bool {
    matches!(value.data(), Data::Null) && wanted.parameter.parameter.default.is_some()
}

fn wanted_type<'a>(index: &'a ManifestIndex, key: &str) -> Option<ExpectedType<'a>> {
    let parameter = index.asking_parameter(key).filter(|one| !one.class.recovered)?;
    let data_type = index.judged_type(&parameter.parameter.data_type.as_ref()?.text)?;
    Some(ExpectedType { parameter, data_type })
}

/// Returns the mismatches in this file, by place.
fn wrong_parts(
    context: &EntryContext<'_>,
    key: &str,
    member: &Member,
    wanted: &ExpectedType<'_>,
) -> Vec<(Span, Vec<WrongPart>)> {
    let name = &wanted.parameter.parameter.name;
    let key = LookupKey::of_root(key);
    let mut found = match value_treatment(context, &key) {
        Treatment::AsWritten => {
            let found = check_partial(name, &wanted.data_type, &member.value, &as_written);
            let is_certain = found.is_empty() || !may_be_treated(context, &key);
            if is_certain { found } else { Vec::new() }
        }
        Treatment::Final => final_parts(context, &key, wanted),
        Treatment::Unknown => Vec::new(),
    };
    // Puppet's messages quote values and keys: for a value that may be sensitive, the message names
    // only the parameter and the type.
    if !found.is_empty() && context.file.snapshot.may_be_sensitive(&key.root_text()) {
        for part in &mut found {
            part.message = format!("parameter '{name}' expects {}", wanted.data_type);
        }
    }
    let mut by_place: Vec<(Span, Vec<WrongPart>)> = Vec::new();
    for part in found {
        let Some(span) = part.origin.filter(|span| span.file == context.file.file.id) else {
            continue;
        };
        match by_place.iter().position(|(known, _)| *known == span) {
            Some(at) => by_place[at].1.push(part),
            None if by_place.len() < MAX_PARTS => by_place.push((span, vec![part])),
            None => break,
        }
    }
    // Where a variant accepts the value except for one part, only the place of this part is
    // reported.
    let places: Vec<Span> = by_place.iter().map(|(span, _)| *span).collect();
    by_place.retain(|(span, parts)| {
        !(parts.iter().all(|part| part.is_of_variant)
            && places.iter().any(|one| {
                *one != *span && one.part == span.part && span.range.contains_range(one.range)
            }))
    });
    by_place
}

/// The treatment of a value before a parameter gets it.
enum Treatment {
    /// Tokens in the value are replaced, nothing else.
    AsWritten,
    /// The value is merged with others, or converted.
    Final,
    /// The final value is unknown.
    Unknown,
}

fn value_treatment(context: &EntryContext<'_>, key: &LookupKey) -> Treatment {
    let Some(strategy) = (context.strategy)(&key.root_text()) else { return Treatment::Unknown };
    let converts =
        (context.options)(key).is_some_and(|entry| entry.value.get("convert_to").is_some());
    match strategy {
        Strategy::First | Strategy::Default if !converts => Treatment::AsWritten,
        _ => Treatment::Final,
    }
}

/// Whether no node has the value of a key merged or converted before a parameter gets it.
pub(super) fn is_taken_as_written(context: &EntryContext<'_>, key: &LookupKey) -> bool {
    matches!(value_treatment(context, key), Treatment::AsWritten) && !may_be_treated(context, key)
}

/// Whether `lookup_options` of any file may ask for a merge or a conversion of the key: some nodes
/// may see them.
fn may_be_treated(context: &EntryContext<'_>, key: &LookupKey) -> bool {
    let root = key.root_text();
    context.file.view.root_members(LOOKUP_OPTIONS).any(|member| {
        if member.value.is_live() {
            return true;
        }
        let Ok(options) = LookupOptions::new(Some(member.value)) else { return true };
        // A pattern that needs too many steps may match.
        let Ok(entry) = options.find_entry(&root, &Budget::of_request()) else { return true };
        entry.is_some_and(|entry| {
            ["merge", "convert_to"].iter().any(|name| entry.value.get(name).is_some())
        })
    })
}

/// Returns the knowledge about a part of a value as it is written. Texts with tokens and encrypted
/// texts are known to be strings; nothing is known about an alias.
pub(super) fn as_written(value: &Value) -> Known {
    match value.data() {
        Data::String(text) if value.is_live() => {
            let has_alias = parse_tokens(text).iter().any(|token| matches!(&token.kind, TokenKind::Call { method, .. } if Method::from_name(method) == Some(Method::Alias)));
            if has_alias { Known::Nothing } else { Known::Kind }
        }
        Data::String(text) if is_attempted(text) => Known::Kind,
        Data::Hash(hash) if hash.keys().any(|key| key.to_text().contains("%{")) => Known::Nothing,
        _ => Known::Whole,
    }
}

/// Returns the wrong parts of the final value for the nodes that this file decides about with
/// certainty: all that read it where no other file can change the value, else the known ones.
fn final_parts(
    context: &EntryContext<'_>,
    key: &LookupKey,
    wanted: &ExpectedType<'_>,
) -> Vec<WrongPart> {
    let resolution = (context.lookup)(key, None);
    if resolution.is_settled() {
        return parts_of(&resolution.value, resolution.has_tokens(), wanted);
    }
    let file = &context.file;
    let readers = file.snapshot.readers_of(file.environment, &file.file.path);
    let mut answers: Vec<Arc<NodeAnswer>> = Vec::new();
    let mut seen = BTreeSet::new();
    let mut all = Vec::new();
    for node in readers.certainly.iter().take(MAX_NODES) {
        let answer = node_answer(context, *node, key, false);
        if !answer.is_settled || answers.iter().any(|known| Arc::ptr_eq(known, &answer)) {
            continue;
        }
        let found = parts_of(&answer.value, answer.has_tokens, wanted);
        all.extend(
            found.into_iter().filter(|part| seen.insert((part.origin, part.message.clone()))),
        );
        answers.push(answer);
    }
    all
}

/// Returns the answer of a lookup for the node with this number, as code asks for the key if
/// `is_called`.
pub(super) fn node_answer(
    context: &EntryContext<'_>,
    node: usize,
    key: &LookupKey,
    is_called: bool,
) -> Arc<NodeAnswer> {
    let FileContext { snapshot, environment, view, answers, .. } = context.file;
    answers.answer(&NodeQuestion { snapshot, environment, view, key, is_called }, node)
}

fn parts_of(
    value: &Result<Option<Value>, LookupError>,
    has_tokens: bool,
    wanted: &ExpectedType<'_>,
) -> Vec<WrongPart> {
    let Ok(Some(value)) = value else { return Vec::new() };
    if is_default(value, wanted) {
        return Vec::new();
    }
    check_partial(&wanted.parameter.parameter.name, &wanted.data_type, value, &|part: &Value| {
        match part.data() {
            // The lookup does not record in which texts it replaced tokens.
            Data::String(text) if has_tokens || is_attempted(text) => Known::Kind,
            Data::Hash(hash)
                if has_tokens && hash.keys().any(|key| key.to_text().contains("%{")) =>
            {
                Known::Nothing
            }
            _ => Known::Whole,
        }
    })
}

/// Returns the known nodes that read the file and get the wrong part at this place.
fn affected_nodes(
    context: &EntryContext<'_>,
    key: &str,
    wanted: &ExpectedType<'_>,
    span: Span,
) -> Option<Vec<String>> {
    let file = &context.file;
    let readers = file.snapshot.readers_of(file.environment, &file.file.path);
    if readers.certainly.is_empty() || readers.certainly.len() > MAX_NODES {
        return None;
    }
    let key = LookupKey::of_root(key);
    let nodes = file.snapshot.nodes_of(file.environment);
    let takers = readers.certainly.iter().filter(|node| {
        let answer = node_answer(context, **node, &key, false);
        !answer.is_settled
            || parts_of(&answer.value, answer.has_tokens, wanted).iter().any(|part| {
                part.origin.is_some_and(|origin| file.snapshot.is_same_place(origin, span))
            })
    });
    Some(takers.map(|node| nodes[*node].name.to_string()).collect())
}

/// Whether all nodes that read the file get another value, that of a higher level, for any values
/// of unknown variables.
fn is_overridden(
    context: &EntryContext<'_>,
    key: &str,
    wanted: &ExpectedType<'_>,
    span: Span,
) -> bool {
    let resolution = (context.lookup)(&LookupKey::of_root(key), None);
    resolution.is_settled()
        && resolution.value.is_ok()
        && parts_of(&resolution.value, resolution.has_tokens(), wanted)
            .iter()
            .all(|part| part.origin != Some(span))
}

/// Returns nodes in words: `web01, web02 and 5 more nodes`.
pub(super) fn named_nodes(names: &[String]) -> String {
    if names.len() <= 3 {
        return names.join(", ");
    }
    format!("{} and {} more nodes", names[..2].join(", "), names.len() - 2)
}

/// Cuts a message after [`MAX_MESSAGE`] characters.
pub(super) fn shorten(message: String) -> String {
    match message.char_indices().nth(MAX_MESSAGE) {
        Some((end, _)) => format!("{}…", &message[..end]),
        None => message,
    }
}

impl WrongValue<'_> {
    /// Names the affected nodes: `Puppet fails for web01, web02`.
    pub(super) fn consequence_phrase(&self) -> String {
        let class = &self.wanted.parameter.class.name;
        match self.nodes.as_deref() {
            None => format!("Puppet refuses the class '{class}' for nodes that take it from here"),
            Some([]) => "no known node takes it from here".to_owned(),
            Some(all) => format!("Puppet refuses the class '{class}' for {}", named_nodes(all)),
        }
    }

    /// Returns the place where the parameter is declared.
    pub(super) fn declaration_span(&self) -> Span {
        in_code(self.wanted.parameter.file.id, self.wanted.parameter.parameter.range)
    }
}
