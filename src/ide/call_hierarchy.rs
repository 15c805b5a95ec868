//! Call hierarchy over lookups: the readers of a key, and the keys that its values read. A key is
//! one item, even if several files define it; so is a class that looks it up for a parameter, and
//! each class, definition or file of code whose calls name it. Nothing is looked up, and no item
//! contains a value.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::readers::{KeyReader, ReaderKind, readers_of};
use super::references::{Name, named_at};
use super::workspace_symbols::{KeySymbol, key_symbol};
use crate::hiera::lookup::LOOKUP_OPTIONS;
use crate::text::{FilePath, FilePosition, Span, TextRange};
use crate::workspace::Snapshot;
use crate::workspace::environments::Environment;

/// A key, or code that reads keys.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CallItem {
    /// The name: of the key, the class, the definition, or the file.
    pub name: String,
    /// The kind of the item.
    pub kind: CallItemKind,
    /// The level and the file of a key, the file of code.
    pub detail: String,
    /// The file.
    pub path: FilePath,
    /// Where the name stands in the file.
    pub range: TextRange,
}

/// The kinds of items.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CallItemKind {
    /// A root key of data. Only root keys of data have items on either side.
    Key,
    /// A root key that no level defines.
    MissingKey,
    /// An entry of `lookup_options`.
    Options,
    /// A class or another definition.
    Class,
    /// A file of code.
    File,
}

/// An item on one side of a key, with the places of the caller that name the called one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LookupCall {
    /// The item.
    pub item: CallItem,
    /// The places, in the caller's file.
    pub ranges: Vec<TextRange>,
}

/// Returns the key at a place of data, `hiera.yaml` or code: at the definition in that file, or else
/// at the first one. `None` where no key is named.
pub fn prepare(snapshot: &Snapshot, position: FilePosition) -> Option<CallItem> {
    let named = named_at(snapshot, position)?;
    let Name::Key(part) = named.name else { return None };
    let environment = named.environments.first()?;
    let path = snapshot.path_of(position.file)?;
    let found = key_item(snapshot, environment, &part.root, path);
    found.or_else(|| Some(missing_item(&part.root, path, named.range)))
}

/// Returns the readers of a root key in the environments of a file: parameters of classes, calls in
/// code, and keys whose values ask for it, each with the places of its reads.
pub fn incoming_calls(snapshot: &Snapshot, path: &FilePath, key: &str) -> Vec<LookupCall> {
    let mut all = Calls::default();
    for environment in reading_environments(snapshot, path) {
        for reader in readers_of(snapshot, &environment, key) {
            if snapshot.cancel_token().is_cancelled() {
                return Vec::new();
            }
            if let Some(item) = caller_item(snapshot, &environment, &reader) {
                all.add(item, snapshot.span_bytes(reader.place));
            }
        }
    }
    all.into_sorted()
}

/// Returns the keys that the values of a root key ask for, and the entries of `lookup_options` that
/// decide how they are merged, in the environments of a file. The places are tokens in this file;
/// for keys that only other files ask for, the place is the key itself.
pub fn outgoing_calls(snapshot: &Snapshot, path: &FilePath, key: &str) -> Vec<LookupCall> {
    let mut all = Calls::default();
    for environment in reading_environments(snapshot, path) {
        let view = snapshot.view(&environment);
        let own = view.data_of(path).and_then(|data| data.definition_span(key));
        let own = own.map(|span| snapshot.span_bytes(span)).unwrap_or_default();
        for file in
            snapshot.keys().definitions(key).iter().filter(|it| environment.reaches_file(it))
        {
            if snapshot.cancel_token().is_cancelled() {
                return Vec::new();
            }
            let Some(data) = view.data_of(file) else { continue };
            for token in data.tokens().filter(|token| *token.root == *key) {
                let Some(target) = token.reference.key().map(|key| key.root_text()) else {
                    continue;
                };
                let place = snapshot.span_bytes(token.name_span());
                let item = key_item(snapshot, &environment, &target, file)
                    .unwrap_or_else(|| missing_item(&target, file, place));
                all.add(item, if file == path { place } else { own });
            }
        }
        for entry in snapshot.keys().options_of(key) {
            let file =
                snapshot.path_of(entry.span.file).filter(|file| environment.reaches_file(file));
            let Some(file) = file.filter(|_| key != LOOKUP_OPTIONS) else { continue };
            let item = CallItem {
                name: format!("{LOOKUP_OPTIONS}: {}", entry.key),
                kind: CallItemKind::Options,
                detail: short_path(&environment, file),
                path: file.clone(),
                range: snapshot.span_bytes(entry.span),
            };
            all.add(item, own);
        }
    }
    all.into_sorted()
}

/// Calls by their items.
#[derive(Default)]
struct Calls(BTreeMap<CallItem, Vec<TextRange>>);

impl Calls {
    /// Adds a place. Each token that names a key that no level defines is a place of that key: the
    /// item stands at the first of these tokens.
    fn add(&mut self, item: CallItem, range: TextRange) {
        let is_missing = item.kind == CallItemKind::MissingKey;
        let known = self
            .0
            .keys()
            .find(|known| known.kind == item.kind && known.name == item.name)
            .filter(|_| is_missing)
            .cloned();
        self.0.entry(known.unwrap_or(item)).or_default().push(range);
    }

    /// Keys come first, each kind in the order of the names.
    fn into_sorted(self) -> Vec<LookupCall> {
        let mut all: Vec<LookupCall> = { self.0 }
            .into_iter()
            .map(|(item, mut ranges)| {
                ranges.sort();
                ranges.dedup();
                LookupCall { item, ranges }
            })
            .collect();
        all.sort_by_key(|call| call.item.kind);
        all
    }
}

/// Returns the environments that read a file, as data or as code.
fn reading_environments(snapshot: &Snapshot, path: &FilePath) -> Vec<Arc<Environment>> {
    let all = &snapshot.environments().all;
    let governing: Vec<_> = snapshot.environments().governing_environments(path).cloned().collect();
    if !governing.is_empty() {
        return governing;
    }
    all.iter().filter(|one| snapshot.manifests(one).file(path).is_some()).cloned().collect()
}

/// Returns a key at its definition in the file `near`, or else at the first one.
fn key_item(
    snapshot: &Snapshot,
    environment: &Environment,
    key: &str,
    near: &FilePath,
) -> Option<CallItem> {
    let files = snapshot.keys().definitions(key).iter();
    let files: Vec<&FilePath> = files.filter(|file| environment.reaches_file(file)).collect();
    let near = files.iter().find(|file| **file == near).copied();
    let KeySymbol { key, path, place, container } =
        key_symbol(snapshot, &key.into(), near.or_else(|| files.first().copied())?)?;
    let detail = match files.len() {
        1 => container,
        number => format!("{container} and {} more", number - 1),
    };
    Some(CallItem {
        name: key.to_string(),
        kind: CallItemKind::Key,
        detail,
        path,
        range: snapshot.span_bytes(place),
    })
}

fn missing_item(key: &str, path: &FilePath, range: TextRange) -> CallItem {
    CallItem {
        name: key.to_owned(),
        kind: CallItemKind::MissingKey,
        detail: "no level defines it".to_owned(),
        path: path.clone(),
        range,
    }
}

/// Returns the item that a reader stands in.
fn caller_item(
    snapshot: &Snapshot,
    environment: &Environment,
    reader: &KeyReader,
) -> Option<CallItem> {
    let path = snapshot.path_of(reader.place.file)?;
    let detail = short_path(environment, path);
    match &reader.kind {
        ReaderKind::Token { root } => {
            // The tokens are in the file at `path`, so the caller is the root key that this file
            // defines.
            let place = snapshot.view(environment).data_of(path)?.definition_span(root)?;
            Some(CallItem {
                name: root.to_string(),
                kind: CallItemKind::Key,
                detail,
                path: path.clone(),
                range: snapshot.span_bytes(place),
            })
        }
        ReaderKind::Parameter { .. }
        | ReaderKind::Call { .. }
        | ReaderKind::ComputedCall { .. } => Some(code_item(snapshot, environment, reader.place)?),
    }
}

/// Returns the innermost definition around a place in code; the file where there is none.
fn code_item(snapshot: &Snapshot, environment: &Environment, place: Span) -> Option<CallItem> {
    let path = snapshot.path_of(place.file)?;
    let range = snapshot.span_bytes(place);
    let detail = short_path(environment, path);
    let file = snapshot.manifests(environment).file(path)?;
    let definition =
        file.manifest.definitions.iter().rev().find(|one| one.range.contains_range(range));
    Some(match definition {
        Some(one) => CallItem {
            name: one.name.to_string(),
            kind: CallItemKind::Class,
            detail,
            path: path.clone(),
            range: one.name_range,
        },
        None => CallItem {
            name: path.name().to_owned(),
            kind: CallItemKind::File,
            detail,
            path: path.clone(),
            range: TextRange::default(),
        },
    })
}

/// Returns a path as seen from the environment.
fn short_path(environment: &Environment, path: &FilePath) -> String {
    let root = environment.root.as_str();
    let below = path.as_str().strip_prefix(root).map(|rest| rest.trim_start_matches('/'));
    below.unwrap_or(path.as_str()).to_owned()
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::fixture::Fixture;

    const REPO: &str = "
#- levels Role Common
#- /modules/web/manifests/init.pp
class web (Integer $port = 80) {
  $name = lookup('company')
}
#- /manifests/site.pp
lookup('company')
#- /data/roles/web.yaml
web::port: \"%{alias('ports.web')}\"
#- /data/common.yaml
lookup_options:
  '^web::': {merge: first}
  company: {merge: unique}
company: \"%{lookup('name')} in %{lookup('town')} and %{lookup('town')}\"
name: fjord
ports: {web: 80}
web::port: 8080
motd: \"at %{lookup('company')}\"
";

    fn described(fixture: &Fixture, calls: Vec<LookupCall>, caller: Option<&FilePath>) -> String {
        let text = |path: &FilePath, range: &TextRange| {
            let text = fixture.snapshot.file(path).unwrap().text().unwrap();
            text.slice(*range).to_string()
        };
        let line = |LookupCall { item, ranges }: LookupCall| {
            let places = ranges.iter().map(|range| text(caller.unwrap_or(&item.path), range));
            let places = places.collect::<Vec<_>>().join(", ");
            let CallItem { name, kind, detail, .. } = item;
            format!("{kind:?} {name} ({detail}): {places}\n")
        };
        calls.into_iter().map(line).collect()
    }

    fn check(cursor: (&str, &str), readers: Expect, feeders: Expect) {
        let (file, key) = cursor;
        let fixture = Fixture::new(REPO);
        let path = FilePath::new(file);
        let found = fixture.snapshot.file(&path).unwrap();
        let text = found.text().unwrap().to_str().into_owned();
        let offset = u32::try_from(text.find(key).unwrap()).unwrap();
        let item = prepare(&fixture.snapshot, FilePosition { file: found.id, offset }).unwrap();
        assert_eq!((&*item.name, &item.path), (key, &path));
        let reading = incoming_calls(&fixture.snapshot, &item.path, &item.name);
        readers.assert_eq(&described(&fixture, reading, None));
        let feeding = outgoing_calls(&fixture.snapshot, &item.path, &item.name);
        feeders.assert_eq(&described(&fixture, feeding, Some(&path)));
    }

    #[test]
    fn readers_are_keys_classes_and_files() {
        check(
            ("/data/common.yaml", "company"),
            expect![[r#"
            Key motd (data/common.yaml): company
            Class web (modules/web/manifests/init.pp): lookup('company')
            File site.pp (manifests/site.pp): lookup('company')
        "#]],
            expect![[r#"
            Key name (Common · data/common.yaml): name
            MissingKey town (no level defines it): town, town
            Options lookup_options: company (data/common.yaml): company
        "#]],
        );
    }

    #[test]
    fn a_key_that_several_files_define_is_one_item() {
        check(
            ("/data/roles/web.yaml", "web::port"),
            expect![[r#"
            Class web (modules/web/manifests/init.pp): $port
        "#]],
            expect![[r#"
            Key ports (Common · data/common.yaml): ports.web
            Options lookup_options: ^web:: (data/common.yaml): web::port
        "#]],
        );
    }

    #[test]
    fn a_call_in_code_names_a_key() {
        let fixture = Fixture::new(REPO);
        let found = fixture.snapshot.file(&FilePath::new("/manifests/site.pp")).unwrap();
        let item = prepare(&fixture.snapshot, FilePosition { file: found.id, offset: 9 }).unwrap();
        assert_eq!((&*item.name, item.kind), ("company", CallItemKind::Key));
        assert_eq!(item.path, FilePath::new("/data/common.yaml"));
    }
}
