//! The readers of a key, as far as the code and data of the workspace show them.

use super::query::{DefinitionAt, ModuleOrigin, ParameterAt, split_key};
use crate::hiera::lookup::LOOKUP_OPTIONS;
use crate::manifest::model::DefinitionKind;
use crate::workspace::environments::Environment;
use crate::workspace::snapshot::Snapshot;

/// The readers of a root key of data.
#[derive(Clone, Copy, Debug)]
pub enum KeyStanding<'a> {
    /// A parameter of a class.
    Parameter(ParameterAt<'a>),
    /// Calls that name the key, or may name it.
    Call,
    /// Tokens in data, or Hiera itself.
    Data,
    /// Nothing: the class is here and has no such parameter.
    NoParameter(DefinitionAt<'a>),
    /// Nothing: the key begins with the name of a defined type, whose parameters are never looked
    /// up.
    DefinedType(DefinitionAt<'a>),
    /// Nothing: the module is here, and the class stands only in this file, where Puppet does not
    /// look for it.
    MisplacedClass(DefinitionAt<'a>),
    /// Nothing: the module is here and has no such class.
    NoClass,
    /// Nothing that is here: the code of the key's module is not.
    AbsentModule(ModuleOrigin),
    /// Nothing: the key names no module.
    Plain,
    /// Not known: there is no code, or it could not be read in full.
    Unknown,
}

impl Snapshot {
    /// Returns the readers of a root key in an environment.
    pub fn key_standing<'a>(&'a self, environment: &Environment, key: &str) -> KeyStanding<'a> {
        let index = self.manifests(environment);
        if let Some(parameter) = index.asking_parameter(key) {
            return KeyStanding::Parameter(parameter);
        }
        if key == LOOKUP_OPTIONS || self.keys().is_asked_for(key) {
            return KeyStanding::Data;
        }
        if index.readers_of_key(key).next().is_some() || index.pattern_readers(key).next().is_some()
        {
            return KeyStanding::Call;
        }
        if !index.has_code() || index.is_cut() {
            return KeyStanding::Unknown;
        }
        let Some((module, _)) = key.split_once("::") else {
            // A module may read the key of its own name.
            return match index.module_origin(key) {
                ModuleOrigin::Installed => KeyStanding::AbsentModule(ModuleOrigin::Installed),
                ModuleOrigin::Present | ModuleOrigin::Unknown => KeyStanding::Plain,
            };
        };
        let Some((class, _)) = split_key(key) else { return KeyStanding::Unknown };
        if let Some(found) = index.loaded_class(class) {
            let is_whole = !found.definition.recovered;
            return if is_whole { KeyStanding::NoParameter(found) } else { KeyStanding::Unknown };
        }
        if let Some(found) = index.defined_type(class) {
            return KeyStanding::DefinedType(found);
        }
        if index.may_come_with_another(class) {
            return KeyStanding::Unknown;
        }
        match index.module_origin(module) {
            // The class may be one of the definitions that could not be read.
            ModuleOrigin::Present if !index.is_module_read(module) => KeyStanding::Unknown,
            ModuleOrigin::Present => match index
                .definitions(class)
                .find(|one| one.definition.kind == DefinitionKind::Class)
            {
                Some(found) => KeyStanding::MisplacedClass(found),
                None => KeyStanding::NoClass,
            },
            origin => KeyStanding::AbsentModule(origin),
        }
    }
}
