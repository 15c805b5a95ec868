//! The subject under the cursor in code: a key that a call reads, a class parameter, a class, a type
//! alias.

use std::sync::Arc;

use super::cursor::{Subject, SubjectKind, dotted_name};
use super::references::{KeyPart, Name, code_text, named_at};
use crate::hiera::key::{KeySegment, LookupKey};
use crate::manifest::model::{Excerpt, TypeAlias};
use crate::text::{FilePosition, Span, TextRange};
use crate::workspace::Snapshot;
use crate::workspace::environments::Environment;
use crate::workspace::files::kinds::code_language;
use crate::workspace::manifests::{CodeFile, ManifestIndex};

/// Returns the key that code names at a place; `None` where it names none, and in files that are no
/// code.
pub(super) fn in_code(snapshot: &Snapshot, position: FilePosition) -> Option<Subject> {
    let path = snapshot.path_of(position.file)?;
    code_language(path)?;
    let named = named_at(snapshot, position)?;
    let Name::Key(part) = named.name else { return None };
    let environment = named.environments.first()?.clone();
    let key = key_of(&part)?;
    let index = snapshot.manifests(&environment);
    let is_called = index.file(path)?.manifest.readers.iter().any(|one| {
        one.keys.iter().flatten().any(|pattern| pattern.range.touches_offset(position.offset))
    });
    let is_parameter = !is_called && part.subkeys.is_empty();
    let kind = if is_parameter && index.asking_parameter(&part.root).is_some() {
        SubjectKind::Parameter(key)
    } else {
        SubjectKind::Reference(key)
    };
    Some(Subject { environment, path: path.clone(), range: named.range, kind })
}

fn key_of(part: &KeyPart) -> Option<LookupKey> {
    let mut text = LookupKey::of_root(&part.root).text.to_string();
    for segment in &part.subkeys {
        text.push('.');
        match segment {
            KeySegment::Name(name) => text.push_str(&dotted_name(name)),
            KeySegment::Index(index) => text.push_str(&index.to_string()),
        }
    }
    LookupKey::parse(&text).ok()
}

/// Returns the place of the parameter that takes a root key.
pub(super) fn parameter_place(
    snapshot: &Snapshot,
    environment: &Environment,
    root: &str,
) -> Option<Span> {
    let found = snapshot.manifests(environment).asking_parameter(root)?;
    let range = found.parameter.range;
    let name = TextRange::new(range.start + 1, range.end);
    Some(Span::in_file(found.file.id, name))
}

/// Returns the place of a class, by a name as data and code write it.
pub(super) fn class_place(
    snapshot: &Snapshot,
    environment: &Environment,
    name: &str,
) -> Option<Span> {
    let name = name.trim_start_matches("::").to_ascii_lowercase();
    let found = snapshot.manifests(environment).loaded_class(&name)?;
    Some(Span::in_file(found.file.id, found.definition.name_range))
}

/// Returns the class or type alias that code names at a place, and the bytes of the name.
pub(super) fn named_definition(
    snapshot: &Snapshot,
    position: FilePosition,
) -> Option<(TextRange, Span)> {
    let path = snapshot.path_of(position.file)?;
    code_language(path)?;
    snapshot.environments().all.iter().find_map(|environment| {
        let index = snapshot.manifests(environment);
        let file = index.file(path)?;
        class_at(snapshot, environment, file, position.offset).or_else(|| {
            let (word, found, alias) = alias_at(snapshot, index, file, position.offset)?;
            Some((word, Span::in_file(found.id, alias.name_range)))
        })
    })
}

fn class_at(
    snapshot: &Snapshot,
    environment: &Arc<Environment>,
    file: &CodeFile,
    offset: u32,
) -> Option<(TextRange, Span)> {
    let used = file.manifest.uses.iter().filter_map(|one| {
        Some((one.range, one.class.as_ref().and_then(|class| class.literal_text())?))
    });
    let parents = file.manifest.definitions.iter().filter_map(|one| one.inherits.as_ref());
    let parents = parents.map(|Excerpt { range, text }| (*range, text.as_str()));
    let (range, name) = used.chain(parents).find(|(range, _)| range.touches_offset(offset))?;
    Some((range, class_place(snapshot, environment, name)?))
}

/// Returns the type alias whose name is at a place of code, in a type or in its own definition, with
/// the bytes of the name, and with its environment.
pub(super) fn alias_under_cursor(
    snapshot: &Snapshot,
    position: FilePosition,
) -> Option<(TextRange, &TypeAlias, Arc<Environment>)> {
    let path = snapshot.path_of(position.file)?;
    code_language(path)?;
    snapshot.environments().all.iter().find_map(|environment| {
        let index = snapshot.manifests(environment);
        let file = index.file(path)?;
        let own = file
            .manifest
            .aliases
            .iter()
            .find(|one| one.name_range.touches_offset(position.offset))
            .map(|one| (one.name_range, one));
        let found = own.or_else(|| {
            let (word, _, alias) = alias_at(snapshot, index, file, position.offset)?;
            Some((word, alias))
        });
        found.map(|(range, alias)| (range, alias, environment.clone()))
    })
}

/// Returns the alias whose name is written at a place of a type, with its file and the bytes of the
/// name.
fn alias_at<'a>(
    snapshot: &Snapshot,
    index: &'a ManifestIndex,
    file: &CodeFile,
    offset: u32,
) -> Option<(TextRange, &'a CodeFile, &'a TypeAlias)> {
    let definitions = file.manifest.definitions.iter();
    let of_parameters = definitions.flat_map(|one| &one.parameters);
    let types = of_parameters
        .filter_map(|one| one.data_type.as_ref())
        .chain(file.manifest.aliases.iter().map(|one| &one.data_type))
        .chain(file.manifest.readers.iter().filter_map(|one| one.value_type.as_ref()));
    let range = { types }.map(|one| one.range).find(|range| range.touches_offset(offset))?;
    let text = code_text(snapshot, &file.path);
    let word = word_at(&text, range, offset)?;
    let (found, alias) = index.loaded_alias(text[word.as_usize()].trim_start_matches("::"))?;
    Some((word, found, alias))
}

/// Returns the name with its colons that a place of a text lies in.
fn word_at(text: &str, within: TextRange, offset: u32) -> Option<TextRange> {
    let part = text.get(within.as_usize())?;
    let at = usize::try_from(offset.checked_sub(within.start)?).ok()?;
    let start = part.get(..at)?.trim_end_matches(is_word_char).len();
    let end = part[at..].find(|c| !is_word_char(c)).map_or(part.len(), |length| at + length);
    (start < end).then(|| TextRange::new(start as u32, end as u32).offset_by(within.start))
}

fn is_word_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == ':'
}
