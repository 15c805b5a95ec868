//! Finds the subject under the cursor; every feature starts here.

use std::sync::Arc;

use crate::hiera::config::{HieraConfig, Level, Template};
use crate::hiera::data::{DataFile, Reference};
use crate::hiera::key::{KeySegment, LookupKey};
use crate::puppet::value::{Data, Key, Provenance, Value};
use crate::text::{FilePath, FilePosition, Span, TextRange};
use crate::workspace::Snapshot;
use crate::workspace::environments::Environment;
use crate::workspace::files::file::{File, TextPart};
use crate::yaml::{NodeId, NodeKind, PathStep, ScalarStyle, Tree};

/// A place of interest, with the environment that it belongs to.
#[derive(Clone, Debug)]
pub struct Subject {
    /// The environment.
    pub environment: Arc<Environment>,
    /// The file.
    pub path: FilePath,
    /// The bytes that the subject covers.
    pub range: TextRange,
    /// The kind of the subject.
    pub kind: SubjectKind,
}

/// The kinds of subject.
#[derive(Clone, Debug)]
pub enum SubjectKind {
    /// A key, or a part of its value, in a data file.
    Key(KeyPath),
    /// A key that a token, or a call in code, asks for.
    Reference(LookupKey),
    /// The key of a class parameter that code names.
    Parameter(LookupKey),
    /// A variable that a token names.
    Variable(LookupKey),
    /// A location in a `hiera.yaml`.
    Location {
        /// The config.
        config: Arc<HieraConfig>,
        /// The location, as written.
        template: Template,
    },
    /// The function or backend that a level of a `hiera.yaml` names.
    Backend(Arc<Level>),
    /// A YAML alias; the anchored node's place.
    Alias {
        /// The anchor with its `&`.
        anchor: TextRange,
    },
}

/// The way to a part of a data file, as keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyPath {
    /// The root key.
    pub root: Arc<str>,
    /// The way from the root key's value to the part.
    pub steps: Vec<KeyStep>,
}

/// One step of a [`KeyPath`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyStep {
    /// Into a hash.
    Member(Key),
    /// Into a list: the element written at this place, and its number in this file.
    Element {
        /// Where the element is written.
        place: Span,
        /// The number of the element.
        index: usize,
    },
}

impl KeyPath {
    /// Returns the dotted key that looks the part up in this file; elements count as in this file.
    pub fn dotted_key(&self) -> String {
        let mut text = LookupKey::of_root(&self.root).text.to_string();
        for step in &self.steps {
            text.push('.');
            match step {
                KeyStep::Member(key) => text.push_str(&dotted_member(key)),
                KeyStep::Element { index, .. } => text.push_str(&index.to_string()),
            }
        }
        text
    }

    /// Returns the path within an effective value: elements get their numbers in that value, which
    /// merging may have changed. Parts that are not in the value stay as they are.
    pub fn renumber(&self, snapshot: &Snapshot, root: &Value) -> KeyPath {
        let mut steps = self.steps.clone();
        for n in 0..steps.len() {
            let outer = KeyPath { root: self.root.clone(), steps: steps[..n].to_vec() };
            let Some((_, list)) = outer.find_within(snapshot, root, None) else { break };
            if let (KeyStep::Element { place, index }, Some(items)) =
                (&mut steps[n], list.as_array())
                && let Some(found) =
                    items.iter().position(|item| is_written_at(snapshot, item, *place))
            {
                *index = found;
            }
        }
        KeyPath { root: self.root.clone(), steps }
    }

    /// The part within a root value, and where its key is written. An element of a list is the one
    /// that was written at its place.
    pub fn find_within(
        &self,
        snapshot: &Snapshot,
        root: &Value,
        root_key: Option<Span>,
    ) -> Option<(Option<Span>, Value)> {
        let mut current = (root_key, root.clone());
        for step in &self.steps {
            current = match (step, current.1.data()) {
                (KeyStep::Member(key), Data::Hash(hash)) => {
                    hash.get(key).map(|member| (member.key_origin, member.value.clone()))?
                }
                (KeyStep::Element { place, .. }, Data::Array(items)) => {
                    let item = items.iter().find(|item| is_written_at(snapshot, item, *place))?;
                    (item.origin, item.clone())
                }
                _ => return None,
            };
        }
        Some(current)
    }
}

/// Whether a value is written at a place.
fn is_written_at(snapshot: &Snapshot, value: &Value, place: Span) -> bool {
    value.origin.is_some_and(|origin| snapshot.is_same_place(origin, place))
}

/// Returns the key that a lookup would be asked for about a subject; `None` for one that is no key.
pub(super) fn asked_key(kind: &SubjectKind) -> Option<LookupKey> {
    match kind {
        SubjectKind::Key(path) => {
            let members = path.steps.iter().take_while(|step| matches!(step, KeyStep::Member(_)));
            let steps = members.cloned().collect();
            LookupKey::parse(&KeyPath { root: path.root.clone(), steps }.dotted_key()).ok()
        }
        SubjectKind::Reference(key) | SubjectKind::Parameter(key) => Some(key.clone()),
        SubjectKind::Variable(_)
        | SubjectKind::Location { .. }
        | SubjectKind::Backend(_)
        | SubjectKind::Alias { .. } => None,
    }
}

/// Returns the subject at a place; `None` where there is none, and when the request is cancelled.
pub fn under_cursor(snapshot: &Snapshot, position: FilePosition) -> Option<Subject> {
    let file = snapshot.file_by_id(position.file)?;
    let environment = snapshot.environments().governing_environments(&file.path).next()?.clone();
    let subject = |range, kind| {
        Some(Subject { environment: environment.clone(), path: file.path.clone(), range, kind })
    };
    if let Some(config) =
        environment.all_configs().map(|(_, config)| config).find(|config| config.path == file.path)
    {
        if let Some((level, range)) = backend_at(snapshot, config, position.offset) {
            return subject(range, SubjectKind::Backend(level));
        }
        let template = location_at(snapshot, config, position.offset)?;
        let range = snapshot.span_bytes(template.span?);
        return subject(range, SubjectKind::Location { config: config.clone(), template });
    }
    let (range, kind) = data_subject(snapshot, &environment, file, position.offset)?;
    subject(range, kind)
}

/// Returns the key or token at an offset of a data file that no level of its environment reads, with
/// the environment; `None` for any other file.
pub fn under_cursor_unread(snapshot: &Snapshot, position: FilePosition) -> Option<Subject> {
    let file = snapshot.file_by_id(position.file)?;
    let path = &file.path;
    let environment = snapshot.environments().environment_of(path)?;
    let is_data = environment.lies_in_datadir(path) || environment.other_reader(path).is_some();
    if environment.governs_file(path) || !is_data {
        return None;
    }
    let (range, kind) = data_subject(snapshot, environment, file, position.offset)?;
    Some(Subject { environment: environment.clone(), path: path.clone(), range, kind })
}

/// Returns the key, token or alias at an offset of a data file, with its bytes.
fn data_subject(
    snapshot: &Snapshot,
    environment: &Environment,
    file: &File,
    offset: u32,
) -> Option<(TextRange, SubjectKind)> {
    let data = snapshot.view(environment).data_of(&file.path)?;
    if let Some((span, kind)) = token_at(&data, offset) {
        return Some((snapshot.span_bytes(span), kind));
    }
    if let Some((root, range)) = root_key_at(file, &data, offset) {
        return Some((range, SubjectKind::Key(KeyPath { root, steps: Vec::new() })));
    }
    let part = file.part_at(offset, snapshot.cancel_token())?;
    let tree = &part.tree;
    let located = part.node_at(offset)?;
    if let NodeKind::Alias { name, target } = &tree.node(located.node).kind {
        let anchor = match target {
            Some(target) => {
                tree.node(*target).anchor.as_ref().map(|anchor| part.file_range(anchor.span))
            }
            None => file.anchor_above(name, &part),
        };
        if let Some(anchor) = anchor {
            return Some((part.node_range(located.node), SubjectKind::Alias { anchor }));
        }
    }
    let (key_path, range) = key_path(&part, &located.path, located.node)?;
    Some((part.file_range(range), SubjectKind::Key(key_path)))
}

fn backend_at(
    snapshot: &Snapshot,
    config: &HieraConfig,
    offset: u32,
) -> Option<(Arc<Level>, TextRange)> {
    config.levels().find_map(|level| {
        let span = level.backend.span.filter(|span| Some(span.file) == config.file)?;
        let range = snapshot.span_bytes(span);
        range.touches_offset(offset).then(|| (level.clone(), range))
    })
}

fn location_at(snapshot: &Snapshot, config: &HieraConfig, offset: u32) -> Option<Template> {
    config
        .levels()
        .flat_map(|level| level.locations.templates())
        .find(|template| {
            template.span.is_some_and(|span| {
                Some(span.file) == config.file && snapshot.span_bytes(span).touches_offset(offset)
            })
        })
        .cloned()
}

fn token_at(data: &DataFile, offset: u32) -> Option<(Span, SubjectKind)> {
    let part = data.parts().part_at_offset(offset)?;
    let token = part.data.tokens.iter().find(|token| {
        let bytes = data.part_bytes(token.span());
        bytes.is_some_and(|range| range.start <= offset && offset < range.end)
    })?;
    let kind = match &token.reference {
        Reference::Key { key, .. } => SubjectKind::Reference(key.clone()),
        Reference::Variable(key) => SubjectKind::Variable(key.clone()),
    };
    Some((token.name_span(), kind))
}

/// Returns the root key at `offset` if it is written plainly, as most are: no tree is needed to
/// find it.
fn root_key_at(file: &File, data: &DataFile, offset: u32) -> Option<(Arc<str>, TextRange)> {
    let text = file.text()?;
    let (whole, part) = data.parts().placed_part(offset, text.len())?;
    let members = part.data.members.iter();
    let mut keys =
        members.filter_map(|(key, member)| Some((key, data.part_bytes(member.key_origin?)?)));
    // A key that a merge key (`<<`) adds is written in another part, or further on in this part.
    let (key, range) = keys.find(|(_, range)| range.start <= offset && offset < range.end)?;
    let name = key.as_arc()?;
    let is_first =
        range.start == 0 || text.slice(TextRange::new(range.start - 1, range.start)) == "\n";
    let is_plain = is_first
        && !name.starts_with(':')
        && text.slice(range) == **name
        && !text.slice(whole).contains("<<");
    is_plain.then(|| (name.clone(), range))
}

/// Returns the keys on the way to a node, and the range to mark within the part: the key, or the
/// element of a list.
fn key_path(part: &TextPart<'_>, path: &[PathStep], node: NodeId) -> Option<(KeyPath, TextRange)> {
    let tree = &part.tree;
    let mut current = tree.root?;
    let mut root: Option<Arc<str>> = None;
    let mut steps = Vec::new();
    let mut range = tree.node(node).span;
    for step in path {
        current = tree.resolve(current)?;
        match (step, &tree.node(current).kind) {
            (PathStep::Entry(n), NodeKind::Mapping { entries, .. }) => {
                let (key, value) = *entries.get(*n)?;
                range = tree.node(key).span;
                let text = tree.scalar(key)?;
                match &root {
                    None => root = Some(text.strip_prefix(':').unwrap_or(text).into()),
                    Some(_) => steps.push(KeyStep::Member(key_of(tree, key)?)),
                }
                current = value;
            }
            (PathStep::Item(n), NodeKind::Sequence { items, .. }) => {
                current = *items.get(*n)?;
                range = tree.node(current).span;
                steps.push(KeyStep::Element { place: part.span(range), index: *n });
            }
            _ => return None,
        }
    }
    Some((KeyPath { root: root?, steps }, range))
}

fn key_of(tree: &Tree, id: NodeId) -> Option<Key> {
    use crate::yaml::psych::{Resolved, resolve_plain};
    let NodeKind::Scalar { style, text } = &tree.node(id).kind else { return None };
    let resolved =
        if *style == ScalarStyle::Plain { resolve_plain(text) } else { Resolved::String };
    let data = match resolved {
        Resolved::Integer(number) => Data::Integer(number),
        Resolved::Float(number) => Data::Float(number),
        Resolved::Bool(truth) => Data::Bool(truth),
        Resolved::Symbol(name) => Data::String(name.into()),
        _ => Data::String((**text).into()),
    };
    Some(Key::new(data, Provenance::from_source(None)))
}

/// Returns a key of a hash as a segment of a dotted key: quoted where it would be read as another
/// one.
pub(super) fn dotted_member(key: &Key) -> String {
    let name = key.to_text();
    let quote = name.contains(['.', '\'', '"'])
        || key.as_str().is_some_and(|name| name.bytes().all(|b| b.is_ascii_digit()));
    if quote { format!("'{name}'") } else { name.into_owned() }
}

/// Returns a name as a segment of a dotted key, quoted where necessary.
pub(super) fn dotted_name(name: &str) -> String {
    dotted_member(&Key::new_string(name))
}

/// Returns the part of a root value that a dotted key asks for, with the place of its key (of an
/// element: its own).
pub fn part_of(key: &LookupKey, root: &Value) -> Option<(Option<Span>, Value)> {
    let mut current = (root.origin, root.clone());
    for segment in &key.subkeys {
        current = match (segment, current.1.data()) {
            (KeySegment::Name(name), Data::Hash(hash)) => {
                hash.get(&**name).map(|member| (member.key_origin, member.value.clone()))?
            }
            (KeySegment::Index(index), Data::Hash(hash)) => {
                hash.get(index).map(|member| (member.key_origin, member.value.clone()))?
            }
            (KeySegment::Index(index), Data::Array(items)) => {
                let item = usize::try_from(*index).ok().and_then(|index| items.get(index))?;
                (item.origin, item.clone())
            }
            _ => return None,
        };
    }
    Some(current)
}
