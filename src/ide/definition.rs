//! Go to definition: from a key, or a token that asks for one, to the places that its value comes
//! from. Go to implementation: to every place that defines the key; the one that counts first.

use super::code;
use super::cursor::{KeyStep, Subject, SubjectKind, part_of, under_cursor};
use super::value_sources::{Narrow, add_sources, value_sources};
use crate::fleet::audience::{FileAudience, ValueLimits};
use crate::hiera::key::LookupKey;
use crate::hiera::lookup::Resolver;
use crate::hiera::resolution::Outcome;
use crate::puppet::value::Value;
use crate::text::{FilePath, FilePosition, Span, TextRange};
use crate::workspace::Snapshot;
use crate::workspace::environments::Environment;
use crate::workspace::queries::functions::FunctionSource;
use crate::yaml::NodeKind;

/// Where a definition is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DefinitionTarget {
    /// The file.
    pub path: FilePath,
    /// The key, or another name of the target; empty at the start for a whole file.
    pub range: TextRange,
}

/// The definitions of the subject at a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definitions {
    /// The bytes that were asked about.
    pub origin: TextRange,
    /// The definitions. Of all definitions of a key, the one that its value comes from is the first,
    /// then come those of the other levels in order of priority, then those that other nodes see.
    pub targets: Vec<DefinitionTarget>,
}

/// Returns the places that the value of the key at `position` comes from, for the nodes that read
/// the file: the place that wins, or all that are merged. A key whose value comes from its own place
/// leads to the parameter that takes the value. Where no place is known, and for any other subject,
/// all definitions; `None` where there is none.
pub fn find_definitions(snapshot: &Snapshot, position: FilePosition) -> Option<Definitions> {
    let all = find_implementations(snapshot, position)?;
    let subject = under_cursor(snapshot, position);
    let Some(subject) =
        subject.filter(|subject| class_in_data(snapshot, position, subject).is_none())
    else {
        return Some(all);
    };
    let places =
        |root: &LookupKey, narrow: Narrow<'_>| Some(value_places(snapshot, &subject, root, narrow));
    let spans = match &subject.kind {
        SubjectKind::Key(path) => {
            let root = LookupKey::of_root(&path.root);
            places(&root, &|value, key| path.find_within(snapshot, value, key))
        }
        SubjectKind::Reference(key) => {
            let root = LookupKey::of_root(&key.root_text());
            places(&root, &|value, root_key| part_of_reference(key, value, root_key))
        }
        _ => None,
    };
    let Some(spans) = spans else { return Some(all) };
    let mut targets: Vec<DefinitionTarget> =
        spans.into_iter().filter_map(|span| target_of(snapshot, span)).collect();
    if let (SubjectKind::Key(path), true) = (
        &subject.kind,
        targets.iter().all(|target| is_at_subject(target, &subject.path, subject.range)),
    ) {
        let place = code::parameter_place(snapshot, &subject.environment, &path.root);
        let parameter = place.filter(|_| path.steps.is_empty());
        targets.splice(0..0, parameter.and_then(|place| target_of(snapshot, place)));
        targets.truncate(1);
    }
    if targets.is_empty() { Some(all) } else { Some(Definitions { origin: all.origin, targets }) }
}

fn is_at_subject(target: &DefinitionTarget, path: &FilePath, range: TextRange) -> bool {
    target.path == *path && target.range.contains_range(range)
}

/// Returns the places that the value of a part of a root key comes from, for all answers that the
/// audience of the subject's file gets; each once, those of most nodes first.
fn value_places(
    snapshot: &Snapshot,
    subject: &Subject,
    root: &LookupKey,
    narrow: Narrow<'_>,
) -> Vec<Span> {
    let audience = FileAudience::new(snapshot, &subject.environment, &subject.path);
    let value = audience.effective_value(root, ValueLimits::OF_KEY, false);
    let mut sources = Vec::new();
    for resolution in value.groups.iter().flat_map(|group| group.resolutions()) {
        add_sources(&mut sources, value_sources(snapshot, resolution, narrow));
    }
    sources.into_iter().filter_map(|source| source.place).collect()
}

/// Returns the part of a root value that a key names, with the place of its key.
fn part_of_reference(
    key: &LookupKey,
    value: &Value,
    root_key: Option<Span>,
) -> Option<(Option<Span>, Value)> {
    let (place, value) = part_of(key, value)?;
    Some((if key.subkeys.is_empty() { root_key } else { place }, value))
}

/// Returns all definitions of the subject at `position`; `None` where there is none.
pub fn find_implementations(snapshot: &Snapshot, position: FilePosition) -> Option<Definitions> {
    let subject = under_cursor(snapshot, position).or_else(|| code::in_code(snapshot, position));
    let Some(subject) = subject else {
        let (origin, place) = code::named_definition(snapshot, position)?;
        return Some(Definitions { origin, targets: vec![target_of(snapshot, place)?] });
    };
    if let Some(found) = class_in_data(snapshot, position, &subject) {
        return Some(found);
    }
    let targets = match &subject.kind {
        SubjectKind::Key(path) => {
            let root = LookupKey::of_root(&path.root);
            let narrow: Narrow<'_> = &|value, key| path.find_within(snapshot, value, key);
            let mut targets = key_targets(snapshot, &subject, &root, narrow);
            targets.extend(
                parameter_target(&path.root, snapshot, &subject.environment)
                    .filter(|_| path.steps.is_empty()),
            );
            targets
        }
        SubjectKind::Parameter(key) => {
            let narrow: Narrow<'_> = &|value, root| Some((root, value.clone()));
            let mut targets = key_targets(snapshot, &subject, key, narrow);
            // From the class header, a parameter leads to data. From other places, the parameter
            // leads to its declaration in the header first.
            let declared =
                parameter_target(&key.root_text(), snapshot, &subject.environment).into_iter();
            targets.splice(
                0..0,
                declared.filter(|target| !is_at_subject(target, &subject.path, subject.range)),
            );
            targets
        }
        SubjectKind::Reference(key) => {
            let root = LookupKey::of_root(&key.root_text());
            key_targets(snapshot, &subject, &root, &|value, root_key| {
                part_of_reference(key, value, root_key)
            })
        }
        SubjectKind::Variable(_) => Vec::new(),
        SubjectKind::Location { template, .. } => files_of(snapshot, &subject, template),
        SubjectKind::Backend(level) => {
            function_of(snapshot, &subject, &level.backend.name).into_iter().collect()
        }
        SubjectKind::Alias { anchor } => {
            vec![DefinitionTarget { path: subject.path.clone(), range: *anchor }]
        }
    };
    (!targets.is_empty()).then_some(Definitions { origin: subject.range, targets })
}

fn parameter_target(
    root: &str,
    snapshot: &Snapshot,
    environment: &Environment,
) -> Option<DefinitionTarget> {
    let place = code::parameter_place(snapshot, environment, root)?;
    target_of(snapshot, place)
}

fn target_of(snapshot: &Snapshot, place: Span) -> Option<DefinitionTarget> {
    Some(DefinitionTarget {
        path: snapshot.path_of(place.file)?.clone(),
        range: snapshot.span_bytes(place),
    })
}

/// Returns the class that a value in data names: one wherever code includes the classes of the root
/// key, and any value that is the full name of a class with `::`.
fn class_in_data(
    snapshot: &Snapshot,
    position: FilePosition,
    subject: &Subject,
) -> Option<Definitions> {
    let SubjectKind::Key(path) = &subject.kind else { return None };
    let is_element = matches!(path.steps.last(), Some(KeyStep::Element { .. }));
    if subject.range.touches_offset(position.offset) && !is_element {
        return None; // The cursor is on the key.
    }
    let file = snapshot.file_by_id(position.file)?;
    let part = file.part_at(position.offset, snapshot.cancel_token())?;
    let located = part.node_at(position.offset)?;
    let NodeKind::Scalar { text, .. } = &part.tree.node(located.node).kind else { return None };
    let index = snapshot.manifests(&subject.environment);
    if located.on_key || !(text.contains("::") || index.is_included(&path.root)) {
        return None;
    }
    let place = code::class_place(snapshot, &subject.environment, text)?;
    let origin = part.node_range(located.node);
    Some(Definitions { origin, targets: vec![target_of(snapshot, place)?] })
}

fn key_targets(
    snapshot: &Snapshot,
    subject: &Subject,
    root: &LookupKey,
    narrow: Narrow<'_>,
) -> Vec<DefinitionTarget> {
    let environment = &subject.environment;
    let view = snapshot.view(environment);
    let scope = snapshot.scope_for(environment, &subject.path);
    let resolver = Resolver::new(snapshot.lookup_context(environment, &view, &scope));
    let resolution = snapshot.lookup_as_called(environment, &resolver, root);
    let mut spans: Vec<Span> = Vec::new();
    // A part of the merged value has its own place, unless an alias copies it.
    let first_found = resolution.steps.iter().find_map(|step| match &step.outcome {
        Outcome::Found { key, .. } => Some(*key),
        _ => None,
    });
    if let (Ok(Some(value)), Some(key)) = (&resolution.value, first_found)
        && let Some((Some(place), _)) = narrow(value, key)
    {
        spans.push(place);
    }
    for step in &resolution.steps {
        let place = match &step.outcome {
            Outcome::Found { path, key, .. } => raw_value(&view, path, root)
                .and_then(|value| narrow(&value, *key))
                .and_then(|found| found.0),
            Outcome::NotReached { shadowed: Some((key, value)), .. } => {
                narrow(value, *key).and_then(|found| found.0)
            }
            _ => None,
        };
        spans.extend(place);
    }
    for path in snapshot
        .keys()
        .definitions(&root.root_text())
        .iter()
        .filter(|path| environment.reaches_file(path))
    {
        let Some(data) = view.data_of(path) else { continue };
        let Some(member) = data.get(&root.root_text()) else { continue };
        spans.extend(narrow(&member.value, member.key_origin).and_then(|found| found.0));
    }
    let mut targets: Vec<DefinitionTarget> = Vec::new();
    for span in spans {
        let Some(path) = snapshot.path_of(span.file) else { continue };
        let target = DefinitionTarget { path: path.clone(), range: snapshot.span_bytes(span) };
        if !targets.contains(&target) {
            targets.push(target);
        }
    }
    targets
}

fn raw_value(
    view: &crate::workspace::EnvironmentView<'_>,
    path: &FilePath,
    root: &LookupKey,
) -> Option<Value> {
    Some(view.data_of(path)?.get(&root.root_text())?.value.clone())
}

/// Returns the place of the function that a level names: its name in its source, or the start of a
/// file whose text does not declare it.
fn function_of(snapshot: &Snapshot, subject: &Subject, name: &str) -> Option<DefinitionTarget> {
    match snapshot.function_source(&subject.environment, name) {
        FunctionSource::File(path) => {
            let declared = snapshot.declared_function(&path);
            let range = declared.map_or(TextRange::new_empty(0), |function| function.name_range);
            Some(DefinitionTarget { path, range })
        }
        _ => None,
    }
}

/// Returns the files that a location of `hiera.yaml` can name: those that the chosen node reads
/// first.
fn files_of(
    snapshot: &Snapshot,
    subject: &Subject,
    template: &crate::hiera::config::Template,
) -> Vec<DefinitionTarget> {
    let environment = &subject.environment;
    // In version 3 every backend has all locations.
    let reaches: Vec<_> =
        environment.reach.iter().filter(|reach| reach.template == *template).collect();
    let node = snapshot.selected_in(environment);
    let files = snapshot
        .files()
        .map(|file| &file.path)
        .filter(|path| reaches.iter().any(|reach| reach.pattern.bind(path.as_str()).is_some()));
    let (first, rest): (Vec<&FilePath>, Vec<&FilePath>) = files.partition(|path| {
        node.is_some_and(|node| snapshot.reads_file(environment, &node.scope, path))
    });
    first
        .into_iter()
        .chain(rest)
        .map(|path| DefinitionTarget { path: path.clone(), range: TextRange::new_empty(0) })
        .collect()
}

#[cfg(test)]
mod tests;
