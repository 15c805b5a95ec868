//! `hiera.yaml` as written: its levels with the place of each part, and all that Puppet finds wrong
//! with it.
//!
//! [`hierarchy`](super::hierarchy) finds the locations of a level in a scope.
//! Source of every rule here: semantics section 1, checked against Puppet 7.23 and 8.11.

mod called;
mod checks;
mod content;
mod described;
pub mod formats;
mod place;
mod problem;
mod reading;
mod selector;
mod templates;
mod v3;
mod v4;
mod v5;

pub use called::{CONTEXT_TYPE, FunctionArgument};
pub use content::{CONFIG_WORDS, version_by_content};
pub use described::{DescribedBackends, KeyPart, why_not_described};
pub use problem::{ConfigProblem, ConfigProblemKind, VersionProblem};
pub use selector::select;
pub use templates::{METHOD_SYNTAX, Template, TemplateError, template_error};

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use super::data::{DataFile, DataFormat, FileRefusal};
use crate::puppet::PuppetVersion;
use crate::puppet::value::Value;
use crate::text::{FileId, FilePath, Span, Text};
use reading::{ConfigReader, Levels};

/// A layer of the lookup; global before environment before module.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Layer {
    /// Data of the whole installation.
    Global,
    /// Data of one environment.
    Environment,
    /// A module's own data.
    Module(Arc<str>),
}

/// One `hiera.yaml`.
#[derive(Clone, Debug)]
pub struct HieraConfig {
    /// The file that the config was read from; `None` for a config that Puppet makes up where none
    /// is written.
    pub file: Option<FileId>,
    /// The path of the `hiera.yaml`, or where the file would be; datadirs are relative to its
    /// folder.
    pub path: FilePath,
    /// The version of the config, which decides how its levels find their files.
    pub version: ConfigVersion,
    /// The levels, highest priority first; those that could be read when there are problems.
    pub hierarchy: Vec<Arc<Level>>,
    /// A module's levels of last resort.
    pub default_hierarchy: Vec<Arc<Level>>,
    /// The problems of the file, in Puppet's order.
    pub problems: Vec<ConfigProblem>,
    /// Why the file cannot be read as YAML, if so: Puppet's message without the file's name.
    pub refused: Option<String>,
    /// The folders of datadirs on this machine, by the datadir as written, where the two differ:
    /// relative to the config's folder unless absolute, tokens as they are.
    datadirs: BTreeMap<Arc<str>, String>,
    /// The text of the config; empty for one that is not written.
    text: Text,
}

/// The versions of `hiera.yaml`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ConfigVersion {
    /// The version of Hiera 3, in the global layer only.
    V3,
    /// The version in environments and modules only.
    V4,
    /// Today's version.
    V5,
}

impl fmt::Display for ConfigVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ConfigVersion::V3 => "3",
            ConfigVersion::V4 => "4",
            ConfigVersion::V5 => "5",
        })
    }
}

/// A level of a hierarchy.
#[derive(Clone, Debug)]
pub struct Level {
    /// The level's name, unique in its hierarchy.
    pub name: Arc<str>,
    /// Where the level is written.
    pub span: Option<Span>,
    /// The backend that reads the level's data.
    pub backend: Backend,
    /// Where the level's data lies.
    pub locations: Locations,
    /// The folder that paths and globs are relative to, itself relative to the folder of
    /// `hiera.yaml`.
    pub datadir: Template,
    /// The extension of the level's files; it is added where it is missing. Versions 3 and 4 have
    /// it.
    pub extension: Option<Arc<str>>,
    /// Options for the backend, uninterpolated.
    pub options: Option<Value>,
}

impl Level {
    /// Returns the texts that may have tokens: the datadir, the locations, and the variable that
    /// mapped paths read.
    pub fn templates(&self) -> impl Iterator<Item = &Template> {
        let variable = match &self.locations {
            Locations::Mapped { variable, .. } => Some(variable),
            _ => None,
        };
        [&self.datadir].into_iter().chain(self.locations.templates()).chain(variable)
    }

    /// Returns the error of a call of this level's built-in function: a function of the wrong kind
    /// gets other arguments than it takes; `yaml_data` and similar functions need a path and take
    /// no options, `eyaml_lookup_key` needs a path.
    pub fn call_error(&self) -> Option<String> {
        let Backend { kind, name, .. } = &self.backend;
        let own = formats::built_in(name);
        let is_data_hash = own.is_some_and(|own| own.kind == BackendKind::DataHash);
        match (kind, &**name) {
            (BackendKind::LookupKey | BackendKind::DataDig, _) if is_data_hash => {
                return Some(format!("'{name}' expects 2 arguments, got 3"));
            }
            (BackendKind::DataHash, "eyaml_lookup_key") => {
                return Some(format!("'{name}' expects 3 arguments, got 2"));
            }
            // Puppet passes the segments of the key, at least one, to a data_dig function.
            (BackendKind::DataDig, "eyaml_lookup_key") => {
                return Some(format!("'{name}' parameter 'key' expects a String value, got Tuple"));
            }
            _ => {}
        }
        let built_in = *kind == BackendKind::DataHash && is_data_hash;
        let eyaml = self.backend.data_reader().is_some_and(|reader| reader.decrypts);
        // The settings of a backend in version 3 are not passed on to a data_hash function.
        let passes_options = self.extension.is_none();
        let has_options = passes_options
            && self
                .options
                .as_ref()
                .and_then(Value::as_hash)
                .is_some_and(|options| !options.is_empty());
        let without_path = matches!(self.locations, Locations::None | Locations::Uris(_));
        let places = "one of 'path', 'paths' 'glob', 'globs' or 'mapped_paths' must be declared in hiera.yaml when using this";
        if built_in && (has_options || without_path) {
            return Some(format!("'{}' {places} data_hash function", self.backend.name));
        }
        (eyaml && without_path)
            .then(|| format!("'{}': {places} lookup_key function", self.backend.name))
    }
}

/// The function that reads a level's data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Backend {
    /// The contract that the backend fulfils.
    pub kind: BackendKind,
    /// The backend's name, such as `yaml_data`.
    pub name: Arc<str>,
    /// Where the name is written; `None` for Puppet's default.
    pub span: Option<Span>,
    /// The service that a published backend asks, as a phrase that holds no secret; `None` for any
    /// other backend.
    pub service: Option<Arc<str>>,
}

/// The contracts of backends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BackendKind {
    /// Returns a whole hash for a location.
    DataHash,
    /// Is asked for one root key.
    LookupKey,
    /// Is asked for a dotted key.
    DataDig,
    /// A Hiera 3 backend, in the global layer only.
    Hiera3,
    /// A function of the data providers before Hiera 5, which takes nothing and returns a whole
    /// hash.
    LegacyFunction,
}

impl BackendKind {
    /// Returns the key that names a function of this kind in `hiera.yaml`.
    pub fn key(self) -> &'static str {
        match self {
            BackendKind::DataHash => "data_hash",
            BackendKind::LookupKey => "lookup_key",
            BackendKind::DataDig => "data_dig",
            BackendKind::Hiera3 => "hiera3_backend",
            BackendKind::LegacyFunction => "v4_data_hash",
        }
    }

    /// Returns the arguments that Puppet passes to a function of this kind, as a phrase.
    pub fn argument_phrase(self) -> &'static str {
        match self {
            BackendKind::DataHash => "the options and a context",
            BackendKind::LookupKey => "the key, the options and a context",
            BackendKind::DataDig => "the segments of the key, the options and a context",
            BackendKind::Hiera3 | BackendKind::LegacyFunction => "nothing",
        }
    }
}

/// How one of Puppet's own functions reads data files; all other functions are opaque to hiera-ls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DataReader {
    /// The format of the files.
    pub format: DataFormat,
    /// Whether the reader decrypts values of eyaml.
    pub decrypts: bool,
}

impl DataReader {
    /// The reader of `yaml_data`.
    pub const YAML: DataReader = DataReader { format: DataFormat::Yaml, decrypts: false };
}

impl Backend {
    /// Returns a backend of a level whose options are not known yet.
    fn new(kind: BackendKind, name: Arc<str>, span: Option<Span>) -> Backend {
        Backend { kind, name, span, service: None }
    }

    /// Returns the reader for this backend, or `None` for one that is opaque.
    pub fn data_reader(&self) -> Option<DataReader> {
        self.built_in().map(|own| own.reader)
    }

    /// Returns Puppet's own function of this name and kind that reads data files.
    pub fn built_in(&self) -> Option<&'static formats::BuiltIn> {
        formats::built_in(&self.name).filter(|own| own.kind == self.kind)
    }
}

/// The location keys of a level.
#[derive(Clone, Debug)]
pub enum Locations {
    /// `path` or `paths`.
    Paths(Vec<Template>),
    /// `glob` or `globs`.
    Globs(Vec<Template>),
    /// Globs whose files are each read for the keys of which a part names it: those of a function
    /// that the settings describe.
    ByKey(KeyPart, Vec<Template>),
    /// `uri` or `uris`.
    Uris(Vec<Template>),
    /// `mapped_paths`.
    Mapped {
        /// The variable whose elements are taken one by one.
        variable: Template,
        /// The name each element has in the path.
        local: Arc<str>,
        /// The path.
        path: Template,
    },
    /// None is given: the backend is asked once.
    None,
}

impl Locations {
    /// Returns the patterns of places, as written.
    pub fn templates(&self) -> &[Template] {
        match self {
            Locations::Paths(templates)
            | Locations::Globs(templates)
            | Locations::ByKey(_, templates)
            | Locations::Uris(templates) => templates,
            Locations::Mapped { path, .. } => std::slice::from_ref(path),
            Locations::None => &[],
        }
    }
}

/// The place of a config, and the Puppet that reads it, which decide its permitted content.
#[derive(Clone, Copy, Debug)]
pub struct ConfigSource<'a> {
    /// The file.
    pub file: FileId,
    /// The path of the `hiera.yaml`.
    pub path: &'a FilePath,
    /// The text of the `hiera.yaml`.
    pub text: &'a Text,
    /// The layer that the `hiera.yaml` configures.
    pub layer: &'a Layer,
    /// The version of the Puppet that reads the `hiera.yaml`.
    pub puppet: PuppetVersion,
}

impl HieraConfig {
    /// Reads a config. Levels with problems are kept as far as they make sense, and so are the
    /// readable parts of a file that is no YAML.
    pub fn read(source: ConfigSource<'_>, data: &DataFile) -> HieraConfig {
        let mut reading = ConfigReader {
            source,
            problems: Vec::new(),
            when_used: Vec::new(),
            when_called: Vec::new(),
        };
        let (version, levels) = match (&data.root_value(), data.refusal()) {
            (None, Some(_)) => (ConfigVersion::V5, Levels::default()),
            (root, _) => reading.read_config(root.as_ref()),
        };
        reading.problems.append(&mut reading.when_used);
        reading.problems.append(&mut reading.when_called);
        HieraConfig {
            file: Some(source.file),
            version,
            hierarchy: levels.hierarchy.into_iter().map(Level::with_service).collect(),
            default_hierarchy: levels
                .default_hierarchy
                .into_iter()
                .map(Level::with_service)
                .collect(),
            problems: reading.problems,
            refused: data.refusal().map(FileRefusal::to_string),
            text: source.text.clone(),
            ..HieraConfig::new_unwritten(source.path)
        }
    }

    /// Returns the config that applies where the global layer has no file at `path`, and where an
    /// older setting asks for one: version 5's defaults.
    pub fn default_at(path: &FilePath) -> HieraConfig {
        HieraConfig {
            hierarchy: vec![Arc::new(default_level())],
            ..HieraConfig::new_unwritten(path)
        }
    }

    /// Returns a config without levels that no file holds.
    fn new_unwritten(path: &FilePath) -> HieraConfig {
        HieraConfig {
            file: None,
            path: path.clone(),
            version: ConfigVersion::V5,
            hierarchy: Vec::new(),
            default_hierarchy: Vec::new(),
            problems: Vec::new(),
            refused: None,
            datadirs: BTreeMap::new(),
            text: Text::default(),
        }
    }

    /// Returns the text of the file; empty for one that is not written.
    pub fn text(&self) -> String {
        self.text.to_str().into()
    }

    /// Returns the folder that datadirs are relative to.
    pub fn base_folder(&self) -> FilePath {
        self.path.parent().unwrap_or_else(|| FilePath::new("/"))
    }

    /// Has the levels read where `place` puts the datadirs that they name, see
    /// [`mapped_datadir`](HieraConfig::mapped_datadir).
    pub fn place_datadirs(&mut self, mut place: impl FnMut(&str) -> String) {
        let written: BTreeSet<Arc<str>> =
            self.levels().map(|level| level.datadir.text.clone()).collect();
        self.datadirs = written
            .into_iter()
            .filter_map(|text| Some((text.clone(), place(&text))).filter(|it| it.1 != *text))
            .collect();
    }

    /// Returns where the datadir of a level lies on this machine: as written, or where path mapping
    /// puts it. Relative to [`base_folder`](HieraConfig::base_folder) unless absolute; tokens stay as they are.
    pub fn mapped_datadir<'a>(&'a self, level: &'a Level) -> &'a str {
        let written = &level.datadir.text;
        self.datadirs.get(written).map_or(written, String::as_str)
    }

    /// Returns all levels, those of the default hierarchy last.
    pub fn levels(&self) -> impl Iterator<Item = &Arc<Level>> {
        self.hierarchy.iter().chain(&self.default_hierarchy)
    }
}

/// Returns the level of a config that names none.
fn default_level() -> Level {
    Level {
        name: "Common".into(),
        span: None,
        backend: default_backend(),
        locations: Locations::Paths(vec![default_template("common.yaml")]),
        datadir: default_template("data"),
        extension: None,
        options: None,
    }
}

fn default_backend() -> Backend {
    Backend::new(BackendKind::DataHash, "yaml_data".into(), None)
}

fn default_template(text: &str) -> Template {
    Template { text: text.into(), span: None }
}
