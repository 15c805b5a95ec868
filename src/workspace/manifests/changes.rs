//! The keys that a change of code concerns.

use std::collections::HashSet;
use std::sync::Arc;

use super::index::{CodeFile, ManifestIndex, ReadKey, literal_class, read_key};
use super::query::{names_in_type, split_key};
use crate::manifest::Manifest;
use crate::manifest::model::{Definition, Parameter, ReaderCall, TextPattern, UseKind};
use crate::text::similar::nearest_name;

/// The changes from one index of an environment to a later one that concern data. A moved place in
/// code is a change, too: findings that name the place are computed again.
#[derive(Clone, Debug, Default)]
pub struct CodeChanges {
    /// Classes and defined types whose keys are concerned.
    names: HashSet<Arc<str>>,
    /// Modules in which names of classes and defined types, or their parameters, came or went.
    modules: HashSet<Arc<str>>,
    /// Root keys that some call reads or read.
    keys: HashSet<Arc<str>>,
    /// Keys without `::` that calls begin or cease to read: findings suggest them for similar keys.
    plain_keys: HashSet<Arc<str>>,
    /// Whether every key is concerned.
    is_all: bool,
}

impl CodeChanges {
    /// Whether anything changed.
    pub fn is_any(&self) -> bool {
        self.is_all || !(self.names.is_empty() && self.modules.is_empty() && self.keys.is_empty())
    }

    /// Whether a root key is concerned.
    pub fn concerns_key(&self, key: &str) -> bool {
        self.is_all
            || self.keys.contains(key)
            || split_key(key).is_some_and(|(name, _)| self.names.contains(name))
            || key.split_once("::").is_some_and(|(module, _)| self.modules.contains(module))
            || self.concerns_similar(key)
    }

    /// Whether a finding about a root key may suggest a concerned one, with a similar name or in a
    /// module with a similar name.
    fn concerns_similar(&self, key: &str) -> bool {
        let (word, names) = match key.split_once("::") {
            None => (key, &self.plain_keys),
            Some((module, _)) => (module, &self.modules),
        };
        nearest_name(word, names.iter().map(|name| &**name)).is_some()
    }

    /// Returns texts with which every concerned root key begins; other keys begin with them, too.
    /// `None` if any key may be concerned.
    pub fn key_prefixes(&self) -> Option<impl Iterator<Item = String>> {
        let of_names = self.names.iter().chain(&self.modules).map(|name| format!("{name}::"));
        let keys = self.keys.iter().map(|key| key.to_string());
        let has_similar = !(self.plain_keys.is_empty() && self.modules.is_empty());
        (!self.is_all && !has_similar).then(|| of_names.chain(keys))
    }

    fn add_file(&mut self, old: Option<&CodeFile>, new: Option<&CodeFile>) {
        let nothing = Arc::new(Manifest::default());
        let [old_said, new_said] =
            [old, new].map(|file| file.map_or(&nothing, |file| &file.manifest));
        self.is_all |= inexact_keys(old_said) != inexact_keys(new_said);
        self.is_all |= !computed_uses(old_said).eq(computed_uses(new_said));
        let is_installed = |file: Option<&CodeFile>| file.map(|file| file.installs.clone());
        self.is_all |=
            is_installed(old).unwrap_or_default() != is_installed(new).unwrap_or_default();
        if old_said.complete != new_said.complete
            || old_said.may_lack_sensitive != new_said.may_lack_sensitive
        {
            // The names that a module lacks, and the parameters that are not Sensitive, are certain
            // only if all of its files were read to their end.
            self.modules.extend(old.or(new).and_then(|file| file.place.module_name()).cloned());
        }
        let mut names = HashSet::new();
        for (one, other) in [(old_said, new_said), (new_said, old_said)] {
            for definition in &one.definitions {
                let twin = other.definitions.iter().find(|twin| twin.name == definition.name);
                if twin.is_none_or(|twin| !has_same_header(definition, twin)) {
                    names.insert(definition.name.as_str());
                }
                // Puppet may know the other classes of the file through this definition.
                if twin.is_none() {
                    names.extend(one.definitions.iter().map(|beside| beside.name.as_str()));
                }
                // A finding about a key names another class of its module that has the parameter.
                if twin.is_none_or(|twin| !has_same_parameters(definition, twin)) {
                    let module = definition.name.split("::").next().unwrap_or_default();
                    self.modules.insert(module.into());
                }
            }
            let other_keys: HashSet<_> = plain_keys(other).collect();
            self.plain_keys.extend(plain_keys(one).filter(|key| !other_keys.contains(key)));
            // The type of a parameter decides whether a call in its default reads a secret.
            self.keys.extend(
                one.readers
                    .iter()
                    .filter(|reader| {
                        let [old, new] = [one, other]
                            .map(|said| said.parameter_of(reader).map(|(_, around)| around));
                        !other.readers.contains(reader) || old != new
                    })
                    .flat_map(literal_roots),
            );
            for class_use in one.uses.iter().filter(|one| !other.uses.contains(one)) {
                names.extend(literal_class(class_use));
            }
        }
        self.names.extend(names.into_iter().map(Arc::from));
    }
}

/// Returns the literal root keys that a call reads.
fn literal_roots(reader: &ReaderCall) -> impl Iterator<Item = Arc<str>> {
    reader.keys.iter().flatten().filter_map(literal_root)
}

fn literal_root(key: &TextPattern) -> Option<Arc<str>> {
    if let ReadKey::Literal(root) = read_key(key) { Some(root) } else { None }
}

/// Returns the literal root keys without `::` that calls read.
fn plain_keys(manifest: &Manifest) -> impl Iterator<Item = Arc<str>> {
    manifest.readers.iter().flat_map(literal_roots).filter(|key| !key.contains("::"))
}

/// Returns the keys of calls that are not literal, as far as they are known.
fn inexact_keys(manifest: &Manifest) -> Vec<Option<String>> {
    let keys = manifest.readers.iter().flat_map(|reader| match &reader.keys {
        None => vec![None],
        Some(keys) => {
            let inexact = keys.iter().filter(|key| literal_root(key).is_none());
            inexact.map(|key| Some(key.wildcard_text())).collect()
        }
    });
    keys.collect()
}

/// Returns how classes are used whose names are computed, and the names as far as they are known.
fn computed_uses(manifest: &Manifest) -> impl Iterator<Item = (UseKind, Option<String>)> {
    let uses = manifest.uses.iter().filter(|one| literal_class(one).is_none());
    uses.map(|one| (one.kind, one.class.as_ref().map(TextPattern::wildcard_text)))
}

fn has_same_header(one: &Definition, other: &Definition) -> bool {
    one.kind == other.kind
        && one.name_range == other.name_range
        && one.inherits == other.inherits
        && one.parameters == other.parameters
        && one.recovered == other.recovered
}

/// Whether the names of the parameters of two definitions are the same, in any order.
fn has_same_parameters(one: &Definition, other: &Definition) -> bool {
    has_all_parameters(one, other) && has_all_parameters(other, one)
}

fn has_all_parameters(one: &Definition, other: &Definition) -> bool {
    one.parameters.iter().all(|parameter| other.find_parameter(&parameter.name).is_some())
}

/// Returns the aliases that differ between two manifests, and those that only one of them has.
fn changed_aliases(old: &Manifest, new: &Manifest) -> HashSet<String> {
    let [old, new] = [old, new].map(|one| {
        one.aliases
            .iter()
            .map(|alias| (alias.name.to_ascii_lowercase(), alias.data_type.text.clone()))
            .collect::<HashSet<_>>()
    });
    old.symmetric_difference(&new).map(|(name, _)| name.clone()).collect()
}

/// Whether the text of a type has one of these names, which are in lower case.
fn names_any(text: &str, names: &HashSet<String>) -> bool {
    names_in_type(text)
        .any(|name| names.contains(&name.trim_start_matches("::").to_ascii_lowercase()))
}

impl ManifestIndex {
    /// Returns the changes from this index to a later one.
    pub fn changes_to(&self, later: &ManifestIndex) -> CodeChanges {
        use imbl::ordmap::DiffItem;
        let mut changes = CodeChanges {
            is_all: self.has_code() != later.has_code()
                || self.is_cut() != later.is_cut()
                || !Arc::ptr_eq(&self.modules, &later.modules) && self.modules != later.modules,
            ..CodeChanges::default()
        };
        let mut aliases = HashSet::new();
        let nothing = Manifest::default();
        for change in self.files.diff(&later.files) {
            let (old, new) = match change {
                DiffItem::Add(_, new) => (None, Some(new)),
                DiffItem::Update { old: (_, old), new: (_, new) } => (Some(old), Some(new)),
                DiffItem::Remove(_, old) => (Some(old), None),
            };
            changes.add_file(old, new);
            let said = |file: Option<&'_ CodeFile>| file.map(|file| file.manifest.clone());
            let (old, new) = (said(old), said(new));
            aliases.extend(changed_aliases(
                old.as_deref().unwrap_or(&nothing),
                new.as_deref().unwrap_or(&nothing),
            ));
        }
        later.add_children(&mut changes.names);
        later.add_named(aliases, &mut changes);
        changes
    }

    /// Adds the classes that inherit one of these classes.
    fn add_children(&self, names: &mut HashSet<Arc<str>>) {
        let mut parents: Vec<Arc<str>> = names.iter().cloned().collect();
        while let Some(parent) = parents.pop() {
            for heir in self.heirs_of(&parent) {
                let name: Arc<str> = heir.definition.name.as_str().into();
                if names.insert(name.clone()) {
                    parents.push(name);
                }
            }
        }
    }

    /// Adds the classes and calls whose types name one of these aliases, or one that does.
    fn add_named(&self, mut aliases: HashSet<String>, changes: &mut CodeChanges) {
        if aliases.is_empty() {
            return;
        }
        loop {
            let more: Vec<String> = self
                .files
                .values()
                .flat_map(|file| &file.manifest.aliases)
                .filter(|alias| {
                    !aliases.contains(&alias.name.to_ascii_lowercase())
                        && names_any(&alias.data_type.text, &aliases)
                })
                .map(|alias| alias.name.to_ascii_lowercase())
                .collect();
            if more.is_empty() {
                break;
            }
            aliases.extend(more);
        }
        let takes_named = |parameter: &Parameter| {
            parameter.data_type.as_ref().is_some_and(|written| names_any(&written.text, &aliases))
        };
        for manifest in self.files.values().map(|file| &file.manifest) {
            let named = manifest
                .definitions
                .iter()
                .filter(|definition| definition.parameters.iter().any(takes_named));
            changes.names.extend(named.map(|one| Arc::from(one.name.as_str())));
            let typed = manifest.readers.iter().filter(|reader| {
                reader.value_type.as_ref().is_some_and(|written| names_any(&written.text, &aliases))
                    || manifest.parameter_of(reader).is_some_and(|(_, one)| takes_named(one))
            });
            changes.keys.extend(typed.flat_map(literal_roots));
        }
    }
}
