//! Questions to an index.

use std::collections::VecDeque;
use std::sync::Arc;

use super::files::{CodeModule, CodeModules};
use super::index::{CodeFile, DefinitionRef, ManifestIndex, ReadKey, literal_class, read_key};
use crate::manifest::model::{
    ClassUse, Definition, DefinitionKind, Parameter, ReaderCall, ReaderFunction, TextPattern,
    TextPiece, TypeAlias, UseKind,
};
use crate::puppet::types::{DataType, NamedType, TypeNames};
use crate::text::FilePath;

/// A definition and its file.
#[derive(Clone, Copy, Debug)]
pub struct DefinitionAt<'a> {
    /// The file.
    pub file: &'a CodeFile,
    /// The definition.
    pub definition: &'a Definition,
}

/// A parameter, its class and their file.
#[derive(Clone, Copy, Debug)]
pub struct ParameterAt<'a> {
    /// The file.
    pub file: &'a CodeFile,
    /// The class.
    pub class: &'a Definition,
    /// The parameter.
    pub parameter: &'a Parameter,
}

/// A call that reads data, and its file.
#[derive(Clone, Copy, Debug)]
pub struct ReaderAt<'a> {
    /// The file.
    pub file: &'a CodeFile,
    /// The call.
    pub reader: &'a ReaderCall,
}

/// A place that names a class, and its file.
#[derive(Clone, Copy, Debug)]
pub struct UseAt<'a> {
    /// The file.
    pub file: &'a CodeFile,
    /// The place.
    pub class_use: &'a ClassUse,
}

/// The origin of a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModuleOrigin {
    /// The module's code is in the workspace.
    Present,
    /// A Puppetfile installs the module, and the module's code is not here.
    Installed,
    /// Nothing names the module.
    Unknown,
}

/// Returns a key as the class and the parameter that automatic parameter lookup would ask it for;
/// `None` for a key without `::`, and for one that no class can ask for.
pub fn split_key(key: &str) -> Option<(&str, &str)> {
    // Rules ask this of each key of a long file: searches for one byte are the quickest.
    let last = key.rfind(':')?;
    let (class, parameter) = (key[..last].strip_suffix(':')?, &key[last + 1..]);
    (is_name(parameter) && is_qualified_name(class)).then_some((class, parameter))
}

/// Returns whether a text is names with `::` between them.
fn is_qualified_name(text: &str) -> bool {
    // Each second part stands between two colons.
    let mut is_name_next = false;
    let are_names = text.split(':').all(|part| {
        is_name_next = !is_name_next;
        if is_name_next { is_name(part) } else { part.is_empty() }
    });
    are_names && is_name_next
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'_')
}

impl ManifestIndex {
    /// Whether the environment has any code, so that statements about it are possible.
    pub fn has_code(&self) -> bool {
        !self.definitions.is_empty()
    }

    /// Returns the modules whose code is here.
    pub fn modules(&self) -> &CodeModules {
        &self.modules
    }

    /// Returns all files of code, by path.
    pub fn files(&self) -> impl Iterator<Item = &CodeFile> {
        self.files.values()
    }

    /// Returns the file of code at a path.
    pub fn file(&self, path: &FilePath) -> Option<&CodeFile> {
        self.files.get(path)
    }

    /// Returns the origin of a module.
    pub fn module_origin(&self, name: &str) -> ModuleOrigin {
        if self.modules.by_name.contains_key(name) {
            ModuleOrigin::Present
        } else if self.installed.contains(name) {
            ModuleOrigin::Installed
        } else {
            ModuleOrigin::Unknown
        }
    }

    /// Whether a Puppetfile names a module.
    pub fn is_installed(&self, name: &str) -> bool {
        self.installed.contains(name)
    }

    /// Whether both indexes name the same modules in Puppetfiles.
    pub fn installs_as(&self, other: &ManifestIndex) -> bool {
        self.installed == other.installed
    }

    /// Whether all manifests of a module were read to their end.
    pub fn is_module_read(&self, name: &str) -> bool {
        let Some(module) = self.modules.by_name.get(name) else { return false };
        let manifests = module.root.join("manifests");
        let files = self.files.range(manifests.clone()..);
        let mut files = files.take_while(|(path, _)| path.is_within(&manifests));
        files.all(|(_, file)| file.manifest.complete)
    }

    /// Whether a limit ended the reading of some file, so that declarations and calls may be missing.
    pub fn is_cut(&self) -> bool {
        !self.cut.is_empty()
    }

    /// Whether Puppetfiles name modules, so that one that they do not name is probably gone.
    pub fn has_puppetfile(&self) -> bool {
        !self.installed.is_empty()
    }

    /// Whether code that may read data is known not to be in the workspace: modules that a
    /// Puppetfile installs.
    pub fn has_absent_modules(&self) -> bool {
        self.installed.iter().any(|name| !self.modules.by_name.contains_key(name))
    }

    fn declarations_at(
        &self,
        places: Option<&Arc<[DefinitionRef]>>,
    ) -> impl Iterator<Item = (&CodeFile, usize)> {
        let places = places.map_or(&[][..], |places| &**places).to_vec();
        places
            .into_iter()
            .filter_map(|place| Some((self.files.get(&place.file)?, place.number as usize)))
    }

    /// Returns all classes and defined types of a name, wherever they stand.
    pub fn definitions(&self, name: &str) -> impl Iterator<Item = DefinitionAt<'_>> {
        self.definitions_at(self.definitions.get(name))
    }

    /// Returns the classes that inherit a class, without those that inherit these.
    pub(super) fn heirs_of(&self, class: &str) -> impl Iterator<Item = DefinitionAt<'_>> {
        self.definitions_at(self.heirs.get(class))
    }

    fn definitions_at<'a>(
        &'a self,
        places: Option<&'a Arc<[DefinitionRef]>>,
    ) -> impl Iterator<Item = DefinitionAt<'a>> {
        self.declarations_at(places).filter_map(|(file, number)| {
            Some(DefinitionAt { file, definition: file.manifest.definitions.get(number)? })
        })
    }

    fn loaded_definition(&self, name: &str, kind: DefinitionKind) -> Option<DefinitionAt<'_>> {
        let ranked = self.definitions(name).filter(|one| one.definition.kind == kind);
        let ranked = ranked.filter_map(|one| Some((one.file.place.autoload_rank(name)?, one)));
        // Of two definitions in one file, or of one rank, the first wins.
        let best = ranked.reduce(|best, one| if one.0 > best.0 { one } else { best });
        best.map(|(_, one)| one)
    }

    /// Returns the class of this name that Puppet would load.
    pub fn loaded_class(&self, name: &str) -> Option<DefinitionAt<'_>> {
        self.loaded_definition(name, DefinitionKind::Class)
    }

    /// Returns the defined type of this name that Puppet would load.
    pub fn defined_type(&self, name: &str) -> Option<DefinitionAt<'_>> {
        self.loaded_definition(name, DefinitionKind::DefinedType)
    }

    /// Whether Puppet may know a class once it has read the file for another definition in it,
    /// although it does not look for the class there.
    pub(super) fn may_come_with_another(&self, class: &str) -> bool {
        self.definitions(class).any(|DefinitionAt { file, .. }| {
            file.place.accepts_definition(class)
                && file
                    .manifest
                    .definitions
                    .iter()
                    .any(|one| file.place.autoload_rank(&one.name).is_some())
        })
    }

    /// Returns the parameter that automatic parameter lookup asks a key for.
    pub fn asking_parameter(&self, key: &str) -> Option<ParameterAt<'_>> {
        if !self.has_code() {
            return None;
        }
        let (class, parameter) = split_key(key)?;
        let DefinitionAt { file, definition } = self.loaded_class(class)?;
        let parameter = definition.find_parameter(parameter)?;
        Some(ParameterAt { file, class: definition, parameter })
    }

    /// Returns the names of all classes and defined types, in no order.
    pub fn all_definition_names(&self) -> impl Iterator<Item = &str> {
        self.definitions.keys().map(|name| &**name)
    }

    /// Returns the names of the classes and defined types that a module defines, in no order.
    pub fn definition_names<'a>(&'a self, module: &'a str) -> impl Iterator<Item = &'a Arc<str>> {
        self.definitions.keys().filter(move |name| {
            name.strip_prefix(module).is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
        })
    }

    /// Returns the calls that read a root key and name it.
    pub fn readers_of_key(&self, root: &str) -> impl Iterator<Item = ReaderAt<'_>> {
        self.declarations_at(self.readers.get(root)).filter_map(|(file, number)| {
            Some(ReaderAt { file, reader: file.manifest.readers.get(number)? })
        })
    }

    /// Returns the root keys that calls name, in no order.
    pub fn read_keys(&self) -> impl Iterator<Item = &str> {
        self.readers.keys().map(|key| &**key)
    }

    /// Returns the calls that read keys of a pattern which fits a root key.
    pub fn pattern_readers<'a>(&'a self, root: &'a str) -> impl Iterator<Item = ReaderAt<'a>> {
        self.inexact_readers(&self.patterns).filter(move |one| {
            one.reader
                .keys
                .iter()
                .flatten()
                .any(|key| matches!(read_key(key), ReadKey::Pattern) && may_be(key, root))
        })
    }

    /// Returns the calls with an unknown key.
    pub fn dynamic_readers(&self) -> impl Iterator<Item = ReaderAt<'_>> {
        self.inexact_readers(&self.dynamic)
    }

    fn inexact_readers<'a>(
        &'a self,
        places: &'a [DefinitionRef],
    ) -> impl Iterator<Item = ReaderAt<'a>> {
        places.iter().filter_map(|place| {
            let file = self.files.get(&place.file)?;
            Some(ReaderAt { file, reader: file.manifest.readers.get(place.number as usize)? })
        })
    }

    /// Whether code declares the classes that the value of a root key names.
    pub fn is_included(&self, root: &str) -> bool {
        self.readers_of_key(root)
            .any(|one| one.reader.includes || one.reader.function == ReaderFunction::HieraInclude)
    }

    /// Returns the places that declare, inherit or name a class.
    pub fn uses_of(&self, class: &str) -> impl Iterator<Item = UseAt<'_>> {
        self.declarations_at(self.uses.get(class)).filter_map(|(file, number)| {
            Some(UseAt { file, class_use: file.manifest.uses.get(number)? })
        })
    }

    /// Whether some declaration of a class gives a parameter, or may give it, so that Puppet does not
    /// look it up there.
    pub fn may_be_given(&self, class: &str, parameter: &str) -> bool {
        self.uses_of(class).any(|one| {
            let UseAt { class_use, .. } = one;
            class_use.gives_more || class_use.gives.iter().any(|given| given.name == parameter)
        })
    }

    /// Whether a place whose class is computed may name this class: some pieces of the computed
    /// name are known, and they fit. Also where a limit ended the reading of a file, which may have
    /// such a place.
    pub fn may_be_used(&self, class: &str) -> bool {
        self.is_cut()
            || self.computed_uses().any(|one| {
                one.class.as_ref().is_some_and(|name| {
                    matches!(read_key(name), ReadKey::Pattern) && may_be(name, class)
                })
            })
    }

    /// Whether a declaration with parameters, whose class is computed, may be of this class. Also
    /// where a limit ended the reading of a file, which may have one.
    pub fn may_be_declared(&self, class: &str) -> bool {
        self.is_cut()
            || self
                .computed_uses()
                .filter(|one| matches!(one.kind, UseKind::Resource | UseKind::Function))
                .any(|one| one.class.as_ref().is_none_or(|name| may_be(name, class)))
    }

    /// Whether some place declares a class whose name is computed.
    pub fn has_computed_uses(&self) -> bool {
        self.computed_uses().next().is_some()
    }

    fn computed_uses(&self) -> impl Iterator<Item = &ClassUse> {
        let uses = self.files.values().flat_map(|file| &file.manifest.uses);
        uses.filter(|one| literal_class(one).is_none() && one.kind != UseKind::Reference)
    }

    /// Whether both indexes read every type alike: no alias differs.
    pub fn has_types_of(&self, other: &ManifestIndex) -> bool {
        Arc::ptr_eq(&self.types, &other.types)
    }

    /// Returns the type that a text in code stands for, if values can be held against it here.
    pub fn judged_type(&self, text: &str) -> Option<Arc<DataType>> {
        self.types.judged_type(text, self)
    }

    /// Returns the alias of this name, in any case, that Puppet would load.
    pub fn loaded_alias(&self, name: &str) -> Option<(&CodeFile, &TypeAlias)> {
        let lower = name.to_ascii_lowercase();
        let places = self.aliases.get(lower.as_str());
        let found = self
            .declarations_at(places)
            .filter_map(|(file, number)| Some((file, file.manifest.aliases.get(number)?)));
        found.into_iter().find(|(file, _)| file.place.loads_alias(&lower))
    }

    /// Returns the aliases that the text of a type names, and those that these name, at most `most`:
    /// each once, in the order of the first names.
    pub fn aliases_named(&self, text: &str, most: usize) -> Vec<&TypeAlias> {
        let mut found: Vec<&TypeAlias> = Vec::new();
        let mut open = VecDeque::from(self.named_aliases(text));
        while let Some(alias) = open.pop_front().filter(|_| found.len() < most) {
            if found.iter().all(|known| known.name != alias.name) {
                found.push(alias);
                open.extend(self.named_aliases(&alias.data_type.text));
            }
        }
        found
    }

    fn named_aliases(&self, text: &str) -> Vec<&TypeAlias> {
        let names = names_in_type(text).map(|name| name.trim_start_matches("::"));
        let names = names.filter(|name| name.starts_with(|c: char| c.is_ascii_uppercase()));
        names.filter_map(|name| Some(self.loaded_alias(name)?.1)).collect()
    }
}

/// Returns the names in the text of a type, with the colons that they begin with.
pub(super) fn names_in_type(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | ':')))
}

impl TypeNames for ManifestIndex {
    fn type_named(&self, name: &str) -> NamedType {
        if let Some((_, alias)) = self.loaded_alias(name) {
            let (name, text) = (alias.name.clone(), alias.data_type.text.clone());
            return NamedType::Alias { name, text };
        }
        let module = name.split_once("::").and_then(|(module, rest)| {
            Some((self.modules.by_name.get(module)?, rest.replace("::", "/")))
        });
        let is_ruby = |(module, rest): (&CodeModule, String)| {
            self.files.contains_key(&module.root.join(&format!("lib/puppet/datatypes/{rest}.rb")))
        };
        if module.is_some_and(is_ruby) { NamedType::Opaque } else { NamedType::Unknown }
    }
}

/// Whether a pattern can match a text, taken as the root of a dotted key.
fn may_be(pattern: &TextPattern, root: &str) -> bool {
    let mut rest = root;
    let mut is_open = false;
    let last = pattern.pieces.len().saturating_sub(1);
    for (number, piece) in pattern.pieces.iter().enumerate() {
        let TextPiece::Text(text) = piece else {
            is_open = true;
            continue;
        };
        // The text behind a dot is no part of the root key.
        let (text, is_end) = match text.split_once('.') {
            Some((text, _)) => (text, true),
            None => (text.as_str(), number == last),
        };
        rest = match (is_open, is_end) {
            (false, false) => match rest.strip_prefix(text) {
                Some(rest) => rest,
                None => return false,
            },
            (false, true) => return rest == text,
            (true, true) => return rest.ends_with(text),
            (true, false) => match rest.find(text) {
                Some(at) => &rest[at + text.len()..],
                None => return false,
            },
        };
        is_open = false;
    }
    is_open || rest.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::TextRange;

    #[test]
    fn keys_are_split_as_classes_and_parameters() {
        assert_eq!(split_key("m::c::x_Y"), Some(("m::c", "x_Y")));
        assert_eq!(split_key("m::x"), Some(("m", "x")));
        for key in [
            "m", "::m::x", "m::x.y", "m:::x", "m:: x", "m::", "::x", "::", ":x", "m:x", "m::c:x",
            "m:c::x", "m::::x", "m :c::x", "",
        ] {
            assert_eq!(split_key(key), None, "{key}");
        }
    }

    #[test]
    fn a_pattern_stands_for_root_keys() {
        let pattern = |text: &str| {
            let mut pieces = Vec::new();
            for (number, part) in text.split('*').enumerate() {
                pieces.extend((number > 0).then_some(TextPiece::Hole(None)));
                pieces.extend((!part.is_empty()).then(|| TextPiece::Text(part.to_owned())));
            }
            TextPattern { range: TextRange::new_empty(0), pieces, resolved: false }
        };
        for (text, key, expected) in [
            ("m::*", "m::a", true),
            ("m::*", "n::a", false),
            ("m::*::x", "m::a::b::x", true),
            ("m::*::x", "m::x", false),
            ("*_roles", "web_roles", true),
            ("*_roles", "roles", false),
            ("m::*.port", "m::a", true),
            ("a*b*c", "aXbYc", true),
            ("a*b*c", "aXcYb", false),
        ] {
            assert_eq!(may_be(&pattern(text), key), expected, "{key} as {text}");
        }
    }
}
