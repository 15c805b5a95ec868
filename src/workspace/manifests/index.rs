//! The index of one environment, and the replacement of a file's part of it.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use super::files::{CodeModules, CodePlace};
use crate::hiera::key::LookupKey;
use crate::manifest::Manifest;
use crate::manifest::model::{ClassUse, ReaderCall, TextPattern, TextPiece};
use crate::puppet::types::TypeTable;
use crate::text::{FileId, FilePath};

/// A file of code, as an index knows it.
#[derive(Clone, Debug)]
pub struct CodeFile {
    /// The file's number.
    pub id: FileId,
    /// The file's path.
    pub path: FilePath,
    /// The file's place in the environment.
    pub place: CodePlace,
    /// The file's content.
    pub manifest: Arc<Manifest>,
    /// The modules that the file lists, if it is a Puppetfile.
    pub installs: Arc<[Arc<str>]>,
}

impl PartialEq for CodeFile {
    fn eq(&self, other: &CodeFile) -> bool {
        Arc::ptr_eq(&self.manifest, &other.manifest)
            && self.installs == other.installs
            && self.place == other.place
    }
}

/// The place of a definition, call or use: its file and its number there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct DefinitionRef {
    pub(super) file: FilePath,
    pub(super) number: u32,
}

/// Names and the places that belong to each; shared by maps whose other names are the same.
pub(super) type Places = imbl::GenericHashMap<
    Arc<str>,
    Arc<[DefinitionRef]>,
    foldhash::fast::RandomState,
    imbl::shared_ptr::DefaultSharedPtr,
>;

/// The declarations and reads in the code of an environment.
#[derive(Clone, Debug, Default)]
pub struct ManifestIndex {
    pub(super) modules: Arc<CodeModules>,
    pub(super) files: imbl::OrdMap<FilePath, CodeFile>,
    /// Classes and defined types, by name.
    pub(super) definitions: Places,
    /// Classes that inherit another, by its name.
    pub(super) heirs: Places,
    /// Type aliases, by name in lower case.
    pub(super) aliases: Places,
    /// Calls with a literal key, by root key.
    pub(super) readers: Places,
    /// Calls with a partly known key.
    pub(super) patterns: Arc<Vec<DefinitionRef>>,
    /// Calls with an unknown key.
    pub(super) dynamic: Arc<Vec<DefinitionRef>>,
    /// Declarations and references, by class.
    pub(super) uses: Places,
    /// The modules that Puppetfiles install.
    pub(super) installed: Arc<BTreeSet<Arc<str>>>,
    /// The files whose reading a limit ended.
    pub(super) cut: Arc<BTreeSet<FilePath>>,
    /// The files that may lack declarations of Sensitive parameters.
    pub(in crate::workspace) lacking: Arc<BTreeSet<FilePath>>,
    /// Types that were read; the same as long as the aliases are.
    pub(super) types: Arc<TypeTable>,
}

/// The known part of the key that a call asks for.
pub(super) enum ReadKey {
    /// The root key.
    Literal(Arc<str>),
    /// Some pieces.
    Pattern,
    /// Nothing.
    Unknown,
}

/// With fewer literal characters a pattern fits so many keys that it is no evidence for any of
/// them.
const MIN_LITERAL: usize = 3;

/// Returns the known part of a key as written in code. A hole behind a dot leaves the root key
/// literal.
pub(super) fn read_key(pattern: &TextPattern) -> ReadKey {
    let known = match pattern.pieces.as_slice() {
        [] => return ReadKey::Unknown,
        [TextPiece::Text(text)] => text,
        [TextPiece::Text(text), ..] if text.contains('.') && !text.contains(['\'', '"']) => {
            return match text.split('.').next() {
                Some("") | None => ReadKey::Unknown,
                Some(root) => ReadKey::Literal(root.into()),
            };
        }
        pieces => {
            let known: usize = pieces
                .iter()
                .map(|piece| match piece {
                    TextPiece::Text(text) => text.chars().count(),
                    TextPiece::Hole(_) => 0,
                })
                .sum();
            return if known < MIN_LITERAL { ReadKey::Unknown } else { ReadKey::Pattern };
        }
    };
    match LookupKey::parse(known) {
        Ok(key) => ReadKey::Literal(key.root_text()),
        Err(_) => ReadKey::Unknown,
    }
}

impl ManifestIndex {
    /// Creates the index of these files.
    pub(super) fn new(modules: CodeModules, files: Vec<CodeFile>) -> ManifestIndex {
        let mut index = ManifestIndex { modules: Arc::new(modules), ..ManifestIndex::default() };
        let mut collected = Collected::default();
        for file in files {
            collected.add(&file);
            index.files.insert(file.path.clone(), file);
        }
        collected.put_into(&mut index);
        index
    }

    /// Builds the index of these files; most of them are the same.
    pub(super) fn with_files(&self, modules: CodeModules, files: Vec<CodeFile>) -> ManifestIndex {
        let same = files.iter().filter(|file| self.files.get(&file.path) == Some(*file)).count();
        if same * 2 < files.len() {
            return ManifestIndex::new(modules, files);
        }
        let mut index = ManifestIndex { modules: Arc::new(modules), ..self.clone() };
        if index.modules != self.modules {
            index.types = Arc::default();
        }
        if same < self.files.len() {
            let kept: HashSet<&FilePath> = files.iter().map(|file| &file.path).collect();
            let gone = self.files.keys().filter(|path| !kept.contains(path));
            gone.for_each(|path| index.replace_file(path, None));
        }
        for file in files.into_iter().filter(|file| self.files.get(&file.path) != Some(file)) {
            index.replace_file(&file.path.clone(), Some(file));
        }
        index
    }

    /// Replaces the entries of a file, or removes them.
    pub(super) fn replace_file(&mut self, path: &FilePath, new: Option<CodeFile>) {
        let old = match &new {
            Some(file) => self.files.insert(path.clone(), file.clone()),
            None => self.files.remove(path),
        };
        let mut gone = Collected::default();
        old.iter().for_each(|file| gone.add(file));
        let mut come = Collected::default();
        new.iter().for_each(|file| come.add(file));
        let [definitions, heirs, aliases, readers, uses] = [
            &mut self.definitions,
            &mut self.heirs,
            &mut self.aliases,
            &mut self.readers,
            &mut self.uses,
        ];
        if !(gone.aliases.is_empty() && come.aliases.is_empty()) || is_data_type(path) {
            self.types = Arc::default();
        }
        patch(definitions, path, gone.definitions, come.definitions);
        patch(heirs, path, gone.heirs, come.heirs);
        patch(aliases, path, gone.aliases, come.aliases);
        patch(readers, path, gone.readers, come.readers);
        patch(uses, path, gone.uses, come.uses);
        patch_list(&mut self.patterns, path, &gone.patterns, come.patterns);
        patch_list(&mut self.dynamic, path, &gone.dynamic, come.dynamic);
        patch_set(&mut self.cut, &gone.cut, come.cut);
        patch_set(&mut self.lacking, &gone.lacking, come.lacking);
        if gone.installed != come.installed {
            self.installed = Arc::new(
                self.files.values().flat_map(|file| file.installs.iter().cloned()).collect(),
            );
        }
    }
}

/// The declarations and reads of files, by name.
#[derive(Default)]
struct Collected {
    definitions: Named,
    heirs: Named,
    aliases: Named,
    readers: Named,
    patterns: Vec<DefinitionRef>,
    dynamic: Vec<DefinitionRef>,
    uses: Named,
    installed: BTreeSet<Arc<str>>,
    cut: BTreeSet<FilePath>,
    lacking: BTreeSet<FilePath>,
}

type Named = foldhash::HashMap<Arc<str>, Vec<DefinitionRef>>;

impl Collected {
    fn add(&mut self, file: &CodeFile) {
        let manifest = &file.manifest;
        for (number, definition) in manifest.definitions.iter().enumerate() {
            self.definitions
                .entry(definition.name.as_str().into())
                .or_default()
                .push(definition_place(number, &file.path));
            if let Some(parent) = &definition.inherits {
                let parent = parent.text.trim_start_matches("::").into();
                self.heirs.entry(parent).or_default().push(definition_place(number, &file.path));
            }
        }
        for (number, alias) in manifest.aliases.iter().enumerate() {
            let name = Arc::from(alias.name.to_ascii_lowercase());
            self.aliases.entry(name).or_default().push(definition_place(number, &file.path));
        }
        for (number, reader) in manifest.readers.iter().enumerate() {
            self.add_reader(reader, &definition_place(number, &file.path));
        }
        for (number, class_use) in manifest.uses.iter().enumerate() {
            if let Some(class) = literal_class(class_use) {
                self.uses
                    .entry(class.into())
                    .or_default()
                    .push(definition_place(number, &file.path));
            }
        }
        self.installed.extend(file.installs.iter().cloned());
        self.cut.extend(manifest.is_cut.then(|| file.path.clone()));
        self.lacking.extend(manifest.may_lack_sensitive.then(|| file.path.clone()));
    }

    fn add_reader(&mut self, reader: &ReaderCall, place: &DefinitionRef) {
        let Some(keys) = &reader.keys else { return self.dynamic.push(place.clone()) };
        for key in keys {
            match read_key(key) {
                ReadKey::Literal(root) => {
                    let places = self.readers.entry(root).or_default();
                    if places.last() != Some(place) {
                        places.push(place.clone());
                    }
                }
                ReadKey::Pattern => self.patterns.push(place.clone()),
                ReadKey::Unknown => self.dynamic.push(place.clone()),
            }
        }
    }

    fn put_into(self, index: &mut ManifestIndex) {
        index.definitions = share_places(self.definitions);
        index.heirs = share_places(self.heirs);
        index.aliases = share_places(self.aliases);
        index.readers = share_places(self.readers);
        index.uses = share_places(self.uses);
        index.patterns = Arc::new(self.patterns);
        index.dynamic = Arc::new(self.dynamic);
        index.installed = Arc::new(self.installed);
        index.cut = Arc::new(self.cut);
        index.lacking = Arc::new(self.lacking);
    }
}

fn share_places(named: Named) -> Places {
    named.into_iter().map(|(name, places)| (name, places.into())).collect::<Places>()
}

fn definition_place(number: usize, path: &FilePath) -> DefinitionRef {
    DefinitionRef { file: path.clone(), number: u32::try_from(number).unwrap_or(u32::MAX) }
}

/// Returns the class that a use names, if all of its name is known.
pub(super) fn literal_class(class_use: &ClassUse) -> Option<&str> {
    class_use.class.as_ref()?.literal_text()
}

/// Whether a file defines a type in Ruby, by where it stands.
fn is_data_type(path: &FilePath) -> bool {
    path.as_str().contains("/lib/puppet/datatypes/")
}

fn patch(places: &mut Places, path: &FilePath, gone: Named, mut come: Named) {
    for (name, old) in gone {
        let new = come.remove(&name).unwrap_or_default();
        if new == old {
            continue; // as with most names of a file that was edited
        }
        put_places(places, path, name, new);
    }
    for (name, new) in come {
        put_places(places, path, name, new);
    }
}

/// Has a name belong to these places of a file, in the order of paths.
fn put_places(places: &mut Places, path: &FilePath, name: Arc<str>, new: Vec<DefinitionRef>) {
    let mut all: Vec<DefinitionRef> =
        places.get(&name).map(|places| places.to_vec()).unwrap_or_default();
    replace_in(&mut all, path, new);
    if all.is_empty() {
        places.remove(&name)
    } else {
        places.insert(name, all.into())
    };
}

fn patch_set(
    set: &mut Arc<BTreeSet<FilePath>>,
    gone: &BTreeSet<FilePath>,
    come: BTreeSet<FilePath>,
) {
    if *gone != come {
        let set = Arc::make_mut(set);
        set.retain(|path| !gone.contains(path));
        set.extend(come);
    }
}

fn patch_list(
    list: &mut Arc<Vec<DefinitionRef>>,
    path: &FilePath,
    gone: &[DefinitionRef],
    come: Vec<DefinitionRef>,
) {
    if gone != come {
        replace_in(Arc::make_mut(list), path, come);
    }
}

fn replace_in(all: &mut Vec<DefinitionRef>, path: &FilePath, new: Vec<DefinitionRef>) {
    all.retain(|place| place.file != *path);
    let at = all.partition_point(|place| place.file < *path);
    all.splice(at..at, new);
}
