//! `hiera.yaml` as written: its levels with the place of each part, and all that Puppet finds wrong with it.
//!
//! What a level's locations are in a scope is [`hierarchy`](super::hierarchy)'s business.
//! Source of every rule here: semantics section 1, checked against Puppet 7.23 and 8.11.

use std::sync::Arc;

use super::error::{LookupError, LookupErrorKind};
use super::key::LookupKey;
use super::merge::report;
use super::value::{Data, Hash, Value};
use crate::text::{FileId, FilePath, Span, TextRange};

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
    /// The file it was read from.
    pub file: FileId,
    /// That file's path; datadirs are relative to its folder.
    pub path: FilePath,
    /// The levels, highest priority first; those that could be read when there are problems.
    pub hierarchy: Vec<Level>,
    /// A module's levels of last resort.
    pub default_hierarchy: Vec<Level>,
    /// All that is wrong, in the order in which Puppet would say it.
    pub problems: Vec<ConfigProblem>,
    /// Why the file cannot be read as YAML, if so: Puppet's message without the file's name.
    pub refused: Option<String>,
}

/// A level of a hierarchy.
#[derive(Clone, Debug)]
pub struct Level {
    /// Its name, unique in its hierarchy.
    pub name: Arc<str>,
    /// Where the level is written.
    pub span: Option<Span>,
    /// What reads its data.
    pub backend: Backend,
    /// Where its data lies.
    pub locations: Locations,
    /// The folder that paths and globs are relative to, itself relative to the folder of `hiera.yaml`.
    pub datadir: Template,
    /// Options for the backend, uninterpolated.
    pub options: Option<Value>,
}

impl Level {
    /// What the built-in function of this level says when it is called: `yaml_data` and its like want a path and take no options,
    /// `eyaml_lookup_key` wants a path.
    pub fn call_error(&self) -> Option<String> {
        let built_in =
            self.backend.kind == BackendKind::DataHash && matches!(&*self.backend.name, "yaml_data" | "json_data" | "hocon_data");
        let eyaml = self.backend.reader() == Some(Reader::Eyaml);
        let has_options = self.options.as_ref().and_then(Value::as_hash).is_some_and(|options| !options.is_empty());
        let without_path = matches!(self.locations, Locations::None | Locations::Uris(_));
        let places = "one of 'path', 'paths' 'glob', 'globs' or 'mapped_paths' must be declared in hiera.yaml when using this";
        if built_in && (has_options || without_path) {
            return Some(format!("'{}' {places} data_hash function", self.backend.name));
        }
        (eyaml && without_path).then(|| format!("'{}': {places} lookup_key function", self.backend.name))
    }
}

/// The function that reads a level's data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Backend {
    /// Which contract it fulfils.
    pub kind: BackendKind,
    /// Its name, such as `yaml_data`.
    pub name: Arc<str>,
    /// Where the name is written; `None` for Puppet's default.
    pub span: Option<Span>,
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
}

impl BackendKind {
    /// The key that names a function of this kind in `hiera.yaml`.
    pub fn key(self) -> &'static str {
        match self {
            BackendKind::DataHash => "data_hash",
            BackendKind::LookupKey => "lookup_key",
            BackendKind::DataDig => "data_dig",
            BackendKind::Hiera3 => "hiera3_backend",
        }
    }
}

/// The built-in functions that hiera-ls reads data with; all others are opaque to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reader {
    /// `yaml_data`.
    Yaml,
    /// `json_data`.
    Json,
    /// `eyaml_lookup_key`: the file is YAML, encrypted values stay as they are.
    Eyaml,
}

impl Backend {
    /// The reader for this backend, or `None` for one that is opaque.
    pub fn reader(&self) -> Option<Reader> {
        match (self.kind, &*self.name) {
            (BackendKind::DataHash, "yaml_data") => Some(Reader::Yaml),
            (BackendKind::DataHash, "json_data") => Some(Reader::Json),
            (BackendKind::LookupKey, "eyaml_lookup_key") => Some(Reader::Eyaml),
            _ => None,
        }
    }
}

/// The location keys of a level.
#[derive(Clone, Debug)]
pub enum Locations {
    /// `path` or `paths`.
    Paths(Vec<Template>),
    /// `glob` or `globs`.
    Globs(Vec<Template>),
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
    /// The patterns of places, as written.
    pub fn templates(&self) -> &[Template] {
        match self {
            Locations::Paths(templates) | Locations::Globs(templates) | Locations::Uris(templates) => templates,
            Locations::Mapped { path, .. } => std::slice::from_ref(path),
            Locations::None => &[],
        }
    }
}

/// A string of `hiera.yaml` that may hold tokens.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Template {
    /// The string as written.
    pub text: Arc<str>,
    /// Its place; `None` for a default of Puppet's.
    pub span: Option<Span>,
}

/// Something that Puppet finds wrong with a `hiera.yaml`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigProblem {
    /// What kind of problem it is.
    pub kind: ConfigProblemKind,
    /// Puppet's words for it, without the file.
    pub message: String,
    /// Its place.
    pub span: Span,
    /// A place that explains it, such as the first of two levels of one name.
    pub related: Option<Span>,
}

/// The kinds of problem in a `hiera.yaml`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ConfigProblemKind {
    /// The file is no YAML, or no hash: Puppet falls back to version 3 defaults or fails.
    Unreadable,
    /// A version that cannot be used here.
    Version,
    /// Unknown keys, missing keys, wrong types. Puppet reports all of these together.
    Structure,
    /// Keys that exclude each other, reserved options.
    Conflict,
    /// A level's name that another has.
    Duplicate,
    /// A level that lacks what its function needs; only where the function is called, Puppet notices.
    Call,
    /// A token that calls a function.
    FunctionInConfig,
    /// A token that cannot be read.
    Token,
}

/// Where a config stands, which decides what may be in it.
#[derive(Clone, Copy, Debug)]
pub struct ConfigSource<'a> {
    /// The file.
    pub file: FileId,
    /// Its path.
    pub path: &'a FilePath,
    /// The layer that it configures.
    pub layer: &'a Layer,
}

const FUNCTION_KINDS: [BackendKind; 4] =
    [BackendKind::DataHash, BackendKind::LookupKey, BackendKind::DataDig, BackendKind::Hiera3];
const LOCATION_KEYS: [&str; 7] = ["path", "paths", "glob", "globs", "uri", "uris", "mapped_paths"];

impl HieraConfig {
    /// Reads a config from the root value of its file (`None`: empty or without a hash).
    ///
    /// Symbol keys must have become strings before. Levels with problems are kept as far as they make sense.
    pub fn from_value(source: ConfigSource<'_>, root: Option<&Value>) -> HieraConfig {
        let mut reading = Reading { source, problems: Vec::new(), when_used: Vec::new(), when_called: Vec::new() };
        let (hierarchy, default_hierarchy) = reading.config(root);
        reading.problems.append(&mut reading.when_used);
        reading.problems.append(&mut reading.when_called);
        HieraConfig {
            file: source.file,
            path: source.path.clone(),
            hierarchy,
            default_hierarchy,
            problems: reading.problems,
            refused: None,
        }
    }

    /// The config that applies where the global layer has none.
    pub fn global_default(file: FileId, path: &FilePath) -> HieraConfig {
        let level = Level {
            name: "Common".into(),
            span: None,
            backend: default_backend(),
            locations: Locations::Paths(vec![default_template("common.yaml")]),
            datadir: default_template("data"),
            options: None,
        };
        HieraConfig {
            file,
            path: path.clone(),
            hierarchy: vec![level],
            default_hierarchy: Vec::new(),
            problems: Vec::new(),
            refused: None,
        }
    }

    /// The config of a layer that has no levels.
    pub fn without_levels(file: FileId, path: &FilePath) -> HieraConfig {
        let (hierarchy, default_hierarchy, problems) = (Vec::new(), Vec::new(), Vec::new());
        HieraConfig { file, path: path.clone(), hierarchy, default_hierarchy, problems, refused: None }
    }

    /// The folder that datadirs are relative to.
    pub fn base(&self) -> FilePath {
        self.path.parent().unwrap_or_else(|| FilePath::new("/"))
    }

    /// The problem that makes lookups in this layer fail, if there is one: the first to be seen by Puppet, which checks the structure,
    /// then what excludes each other, and looks at tokens when it needs the levels.
    pub fn fatal(&self) -> Option<&ConfigProblem> {
        let of_kind = |kind| self.problems.iter().find(move |problem| problem.kind == kind);
        use ConfigProblemKind::{Conflict, Duplicate, FunctionInConfig, Structure, Token, Unreadable, Version};
        let at_load = [Unreadable, Version, Structure, Conflict].into_iter().find_map(of_kind);
        at_load.or_else(|| self.problems.iter().find(|problem| matches!(problem.kind, Duplicate | FunctionInConfig | Token)))
    }

    /// The error of lookups that need this config, for its fatal problem.
    pub(super) fn refusal(&self, problem: &ConfigProblem) -> LookupError {
        let error = match problem.kind {
            ConfigProblemKind::Structure => {
                let structure = self.problems.iter().filter(|problem| problem.kind == ConfigProblemKind::Structure);
                let subject = format!("The Lookup Configuration at '{}' has wrong type,", self.path);
                let lines: Vec<String> = structure.map(|problem| format!("{subject} {}", problem.message)).collect();
                LookupError::new(LookupErrorKind::ConfigType(report(&lines)), None)
            }
            ConfigProblemKind::Version if problem.message.starts_with("entry 'version'") => {
                let message = format!("The Lookup Configuration at '{}' has wrong type, {}", self.path, problem.message);
                LookupError::new(LookupErrorKind::ConfigType(message), None)
            }
            ConfigProblemKind::Token => {
                let text = problem.message.strip_prefix("Syntax error in string: ").unwrap_or(&problem.message);
                LookupError::new(LookupErrorKind::TokenSyntax(text.to_owned()), None)
            }
            _ => LookupError::config(format!("{} (file: {})", problem.message, self.path)),
        };
        error.or_at(Some(problem.span))
    }

    /// All levels, those of the default hierarchy last.
    pub fn levels(&self) -> impl Iterator<Item = &Level> {
        self.hierarchy.iter().chain(&self.default_hierarchy)
    }
}

fn default_backend() -> Backend {
    Backend { kind: BackendKind::DataHash, name: "yaml_data".into(), span: None }
}

fn default_template(text: &str) -> Template {
    Template { text: text.into(), span: None }
}

/// `defaults`, as far as levels need it.
struct Defaults {
    backend: Option<Backend>,
    datadir: Template,
    options: Option<Value>,
}

struct Reading<'a> {
    source: ConfigSource<'a>,
    /// What Puppet finds when it reads the file.
    problems: Vec<ConfigProblem>,
    /// What it finds when the layer is first asked, if there was nothing before.
    when_used: Vec<ConfigProblem>,
    /// What it finds when a level's function is called, if there was nothing before.
    when_called: Vec<ConfigProblem>,
}

impl Reading<'_> {
    fn config(&mut self, root: Option<&Value>) -> (Vec<Level>, Vec<Level>) {
        let Some((root, hash)) = root.and_then(|root| Some((root, root.as_hash()?))) else {
            let span = root.and_then(|root| root.origin);
            // Puppet warns of it and goes on with the defaults of version 3.
            self.report(ConfigProblemKind::Unreadable, span, self.old_version(3));
            return Default::default();
        };
        if !self.version(root, hash) {
            return Default::default();
        }
        self.unknown_keys(hash, "", &["version", "defaults", "hierarchy", "default_hierarchy", "plan_hierarchy"]);
        let defaults_hash = match hash.get("defaults").map(|member| &member.value) {
            None => None,
            Some(value) if is_absent(value) => None,
            Some(value) => self.expect_struct(value, "entry 'defaults'"),
        };
        if let Some(defaults) = defaults_hash {
            self.unknown_keys(defaults, "entry 'defaults' ", &["data_hash", "lookup_key", "data_dig", "datadir", "options"]);
            self.strings(defaults, "entry 'defaults' ", &["data_hash", "lookup_key", "data_dig", "datadir"]);
            self.options(defaults, "entry 'defaults' ");
        }
        let lists = ["hierarchy", "default_hierarchy", "plan_hierarchy"];
        let [hierarchy, default_hierarchy, plan_hierarchy] = lists.map(|key| self.structure_of_levels(hash, key));
        if !self.problems.is_empty() {
            self.problems.sort_by_key(|problem| problem.span.range.start);
        }
        let structure_is_sound = self.problems.is_empty();
        let defaults = self.defaults(defaults_hash);
        let plan = plan_hierarchy.unwrap_or_default();
        let levels = match &hierarchy {
            Some(levels) => self.levels(levels, &defaults),
            None if structure_is_sound || !hash.contains_key("hierarchy") => vec![self.common_level(&defaults)],
            None => Vec::new(),
        };
        if structure_is_sound
            && self.problems.is_empty()
            && hash.contains_key("default_hierarchy")
            && !matches!(self.source.layer, Layer::Module(_))
        {
            let span = hash.get("default_hierarchy").and_then(|member| member.key_origin);
            self.report(ConfigProblemKind::Conflict, span, "'default_hierarchy' is only allowed in the module layer".into());
        }
        let default_levels = self.levels(&default_hierarchy.unwrap_or_default(), &defaults);
        if !structure_is_sound {
            self.when_called.clear(); // What is missing may be what is misspelt.
        }
        let found_so_far = (self.when_used.len(), self.when_called.len());
        self.levels(&plan, &defaults);
        // No lookup goes through the levels of plans.
        self.when_used.truncate(found_so_far.0);
        self.when_called.truncate(found_so_far.1);
        (levels, default_levels)
    }

    /// Whether the file can be read as version 5.
    fn version(&mut self, root: &Value, hash: &Hash) -> bool {
        let member = hash.get("version");
        let span =
            member.and_then(|member| member.value.origin.or(member.key_origin)).or_else(|| first_key(hash)).or(root.origin);
        let given = member.map(|member| &member.value.data).unwrap_or(&Data::Null);
        let version = match given {
            Data::Null => 3,
            Data::Integer(version) => *version,
            Data::Float(version) => *version as i64,
            Data::String(text) => leading_integer(text),
            other => {
                let value = Value::new(other.clone(), None);
                let message = format!("undefined method `to_i' for {}:{}", value.to_text(), value.class_name());
                self.report(ConfigProblemKind::Version, span, message);
                return false;
            }
        };
        let message = match version {
            5 if matches!(given, Data::Integer(_)) => return true,
            3..=5 if !matches!(given, Data::Integer(_) | Data::Null) => {
                format!("entry 'version' expects an Integer value, got {}", Value::new(given.clone(), None).type_name())
            }
            3 | 4 => self.old_version(version),
            other => format!("This runtime does not support hiera.yaml version {other}"),
        };
        self.report(ConfigProblemKind::Version, span, message);
        false
    }

    /// What is said of version 3 or 4: where Puppet still reads it, that hiera-ls does not.
    fn old_version(&self, version: i64) -> String {
        match (version, self.source.layer) {
            (4, Layer::Global) => "hiera.yaml version 4 cannot be used in the global layer".into(),
            (3, Layer::Environment) => "hiera.yaml version 3 cannot be used in an environment".into(),
            (3, Layer::Module(_)) => "hiera.yaml version 3 cannot be used in a module".into(),
            _ => format!("hiera.yaml version {version} is deprecated, and not read by hiera-ls"),
        }
    }

    /// The levels of a list as hashes, after a check of their structure; `None` when there is no such list.
    fn structure_of_levels<'v>(&mut self, hash: &'v Hash, key: &str) -> Option<Vec<&'v Value>> {
        let value = &hash.get(key)?.value;
        let items = match &value.data {
            _ if key == "hierarchy" && is_absent(value) => return None,
            Data::Array(items) => items,
            _ => {
                self.mismatch(value, &format!("entry '{key}'"), "an Array");
                return None;
            }
        };
        let mut levels = Vec::new();
        for (index, item) in items.iter().enumerate() {
            let subject = format!("entry '{key}' index {index}");
            if item.as_hash().is_some_and(Hash::is_empty) {
                let message = format!("{subject} expects size to be between 1 and 15, got 0");
                self.report(ConfigProblemKind::Structure, item.origin, message);
            } else if let Some(level) = self.expect_struct(item, &subject) {
                self.structure_of_level(item, level, &format!("{subject} "));
                levels.push(item);
            }
        }
        Some(levels)
    }

    fn structure_of_level(&mut self, item: &Value, level: &Hash, subject: &str) {
        if !level.contains_key("name") {
            self.report(
                ConfigProblemKind::Structure,
                first_key(level).or(item.origin),
                format!("{subject}expects a value for key 'name'"),
            );
        }
        let strings =
            ["name", "data_hash", "lookup_key", "data_dig", "hiera3_backend", "v4_data_hash", "path", "glob", "uri", "datadir"];
        self.strings(level, subject, &strings);
        for key in ["paths", "globs", "uris", "mapped_paths"] {
            let Some(member) = level.get(key) else { continue };
            let subject = format!("{subject}entry '{key}'");
            let Some(items) = self.expect_array(&member.value, &subject) else { continue };
            let fits = if key == "mapped_paths" { items.len() == 3 } else { !items.is_empty() };
            if !fits {
                let wanted = if key == "mapped_paths" { "3" } else { "at least 1" };
                self.report(
                    ConfigProblemKind::Structure,
                    member.value.origin,
                    format!("{subject} expects size to be {wanted}, got {}", items.len()),
                );
            }
            for (index, item) in items.iter().enumerate() {
                self.string(item, &format!("{subject} index {index}"));
            }
        }
        self.options(level, subject);
        let known: Vec<&str> = strings.iter().chain(&["paths", "globs", "uris", "mapped_paths", "options"]).copied().collect();
        self.unknown_keys(level, subject, &known);
    }

    fn options(&mut self, of: &Hash, subject: &str) {
        let Some(member) = of.get("options") else { return };
        let subject = format!("{subject}entry 'options'");
        let Some(options) = self.expect_hash(&member.value, &subject) else { return };
        for (key, member) in options {
            if !key.as_str().is_some_and(is_option_name) {
                let pattern = "Pattern[/\\A[A-Za-z](:?[0-9A-Za-z_-]*[0-9A-Za-z])?\\z/]";
                let message = format!("{subject} key of entry '{0}' expects a match for {pattern}, got '{0}'", key.to_text());
                self.report(ConfigProblemKind::Structure, member.key_origin, message);
            }
        }
    }

    fn unknown_keys(&mut self, hash: &Hash, subject: &str, known: &[&str]) {
        for (key, member) in hash {
            if !key.as_str().is_some_and(|key| known.contains(&key)) {
                self.report(
                    ConfigProblemKind::Structure,
                    member.key_origin,
                    format!("{subject}unrecognized key '{}'", key.to_text()),
                );
            }
        }
    }

    fn strings(&mut self, hash: &Hash, subject: &str, keys: &[&str]) {
        for key in keys {
            if let Some(member) = hash.get(*key) {
                self.string(&member.value, &format!("{subject}entry '{key}'"));
            }
        }
    }

    fn string(&mut self, value: &Value, subject: &str) {
        match &value.data {
            Data::String(text) if text.is_empty() => self.mismatch(value, subject, "a String[1]"),
            Data::String(_) => {}
            _ => self.mismatch(value, subject, "a String"),
        }
    }

    fn expect_hash<'v>(&mut self, value: &'v Value, subject: &str) -> Option<&'v Hash> {
        let hash = value.as_hash();
        if hash.is_none() {
            self.mismatch(value, subject, "a Hash");
        }
        hash
    }

    /// The same where Puppet knows the members.
    fn expect_struct<'v>(&mut self, value: &'v Value, subject: &str) -> Option<&'v Hash> {
        let hash = value.as_hash();
        if hash.is_none() {
            self.mismatch(value, subject, "a Struct");
        }
        hash
    }

    fn expect_array<'v>(&mut self, value: &'v Value, subject: &str) -> Option<&'v [Value]> {
        let items = value.as_array();
        if items.is_none() {
            self.mismatch(value, subject, "an Array");
        }
        items
    }

    fn mismatch(&mut self, value: &Value, subject: &str, wanted: &str) {
        self.report(
            ConfigProblemKind::Structure,
            value.origin,
            format!("{subject} expects {wanted} value, got {}", value.type_name()),
        );
    }

    fn report(&mut self, kind: ConfigProblemKind, span: Option<Span>, message: String) {
        let problem = self.problem(kind, span, message);
        self.problems.push(problem);
    }

    fn problem(&self, kind: ConfigProblemKind, span: Option<Span>, message: String) -> ConfigProblem {
        let span = span.unwrap_or(Span { file: self.source.file, range: TextRange::empty(0) });
        ConfigProblem { kind, message, span, related: None }
    }

    /// The same, unless something was reported before: from here on Puppet stops at the first.
    fn report_first(&mut self, span: Option<Span>, message: String) {
        self.report(ConfigProblemKind::Conflict, span, message);
    }

    fn defaults(&mut self, hash: Option<&Hash>) -> Defaults {
        let Some(hash) = hash else {
            return Defaults { backend: Some(default_backend()), datadir: default_template("data"), options: None };
        };
        let backends = backends(hash);
        if let [_, second, ..] = backends.as_slice() {
            self.report_first(
                second.span,
                "Only one of data_hash, lookup_key, data_dig, or hiera3_backend can be defined in defaults".into(),
            );
        }
        self.reserved_options(hash, "defaults");
        Defaults {
            backend: backends.into_iter().next(),
            datadir: hash.get("datadir").and_then(|member| template(&member.value)).unwrap_or_else(|| default_template("data")),
            options: hash.get("options").map(|member| member.value.clone()).filter(|options| options.as_hash().is_some()),
        }
    }

    fn reserved_options(&mut self, hash: &Hash, place: &str) {
        let Some(options) = hash.get("options").and_then(|member| member.value.as_hash()) else { return };
        for key in ["path", "uri"] {
            if let Some(member) = options.get(key) {
                self.report_first(member.key_origin, format!("Option key '{key}' used in {place} is reserved by Puppet"));
            }
        }
    }

    fn levels(&mut self, items: &[&Value], defaults: &Defaults) -> Vec<Level> {
        let mut levels: Vec<Level> = Vec::new();
        for item in items {
            let Some(hash) = item.as_hash() else { continue };
            let Some(level) = self.level(item, hash, defaults) else { continue };
            let name = hash.get("name").and_then(|member| member.value.origin);
            let is_named = hash.get("name").is_some_and(|member| member.value.as_str().is_some());
            if let Some(first) = levels.iter().find(|other| is_named && other.name == level.name) {
                let message = format!("Hierarchy name '{}' defined more than once", level.name);
                let related = first.span;
                self.when_used.push(ConfigProblem { related, ..self.problem(ConfigProblemKind::Duplicate, name, message) });
            }
            self.tokens(&level);
            self.backend_needs(&level, name.or_else(|| first_key(hash)).or(item.origin));
            levels.push(level);
        }
        levels
    }

    fn level(&mut self, item: &Value, hash: &Hash, defaults: &Defaults) -> Option<Level> {
        let name_value = hash.get("name").map(|member| &member.value);
        let name: Arc<str> = name_value.and_then(Value::as_str).unwrap_or("(without a name)").into();
        let place = name_value.and_then(|value| value.origin).or_else(|| first_key(hash)).or(item.origin);
        let backends = backends(hash);
        if let [_, second, ..] = backends.as_slice() {
            let message =
                format!("Only one of data_hash, lookup_key, data_dig, or hiera3_backend can be defined in hierarchy '{name}'");
            self.report_first(second.span, message);
        }
        if let Some(backend) = backends.iter().find(|backend| backend.kind == BackendKind::Hiera3) {
            if *self.source.layer != Layer::Global {
                self.report_first(backend.span, "'hiera3_backend' is only allowed in the global layer".into());
            } else if matches!(&*backend.name, "yaml" | "json" | "hocon") {
                let message = format!("Use \"data_hash: {0}_data\" instead of \"hiera3_backend: {0}\"", backend.name);
                self.report_first(backend.span, message);
            }
        }
        let backend = backends.into_iter().next().or_else(|| defaults.backend.clone());
        if backend.is_none() {
            self.report_first(
                place,
                format!("One of data_hash, lookup_key, data_dig, or hiera3_backend must be defined in hierarchy '{name}'"),
            );
        }
        let given: Vec<&str> = LOCATION_KEYS.into_iter().filter(|key| hash.contains_key(*key)).collect();
        if let [_, second, ..] = given.as_slice() {
            let span = hash.get(*second).and_then(|member| member.key_origin);
            let message =
                format!("Only one of path, paths, glob, globs, uri, uris, or mapped_paths can be defined in hierarchy '{name}'");
            self.report_first(span, message);
        }
        self.reserved_options(hash, &format!("hierarchy '{name}'"));
        let own_options = hash.get("options").map(|member| member.value.clone()).filter(|options| options.as_hash().is_some());
        let level = Level {
            name,
            span: item.origin,
            backend: backend?,
            locations: locations(hash, given.first().copied()),
            datadir: hash.get("datadir").and_then(|member| template(&member.value)).unwrap_or_else(|| defaults.datadir.clone()),
            options: own_options.or_else(|| defaults.options.clone()),
        };
        Some(level)
    }

    fn backend_needs(&mut self, level: &Level, place: Option<Span>) {
        if let Some(message) = level.call_error() {
            let span = level.options.as_ref().and_then(|options| options.origin).or(place);
            self.when_called.push(self.problem(ConfigProblemKind::Call, span, message));
        }
    }

    /// Tokens in hiera.yaml may name variables and nothing else.
    fn tokens(&mut self, level: &Level) {
        if let Locations::Mapped { variable, .. } = &level.locations
            && LookupKey::parse(&variable.text).is_err()
        {
            let message = "Syntax error in string: mapped_path[0]".to_owned();
            self.when_used.push(self.problem(ConfigProblemKind::Token, variable.span, message));
        }
        if let Locations::Uris(uris) = &level.locations {
            for uri in uris.iter().filter(|uri| !uri.text.contains("%{") && uri.text.contains(NEVER_IN_A_URI)) {
                let message = format!("bad URI(is not URI?): {:?}", &*uri.text);
                self.when_used.push(self.problem(ConfigProblemKind::Token, uri.span, message));
            }
        }
        let mut texts: Vec<(Arc<str>, Option<Span>)> = std::iter::once(&level.datadir)
            .chain(level.locations.templates())
            .map(|template| (template.text.clone(), template.span))
            .collect();
        if let Some(options) = &level.options {
            strings_of(options, &mut texts);
        }
        for (text, span) in texts {
            if let Some(problem) = template_error(&text) {
                let kind = if problem == METHOD_SYNTAX { ConfigProblemKind::FunctionInConfig } else { ConfigProblemKind::Token };
                if !self.when_used.iter().any(|known| Some(known.span) == span && known.kind == kind) {
                    self.when_used.push(self.problem(kind, span, problem));
                }
            }
        }
    }

    fn common_level(&mut self, defaults: &Defaults) -> Level {
        let mut level = HieraConfig::global_default(self.source.file, self.source.path).hierarchy.remove(0);
        match &defaults.backend {
            Some(backend) => level.backend = backend.clone(),
            None => {
                let message = "One of data_hash, lookup_key, data_dig, or hiera3_backend must be defined in hierarchy 'Common'";
                self.report_first(None, message.into());
            }
        }
        level.datadir = defaults.datadir.clone();
        level.options = defaults.options.clone();
        self.backend_needs(&level, None);
        level
    }
}

/// Ruby takes `null` and `false` for a member that is not there.
fn is_absent(value: &Value) -> bool {
    matches!(value.data, Data::Null | Data::Bool(false))
}

/// Characters that make a text no URI, whatever else is in it.
const NEVER_IN_A_URI: [char; 9] = [' ', '<', '>', '"', '\\', '^', '`', '{', '}'];

/// What Puppet says of a function call in `hiera.yaml`.
pub const METHOD_SYNTAX: &str = "Interpolation using method syntax is not allowed in this context";

/// What is wrong with the tokens of a string of `hiera.yaml`, in Puppet's words; `None` when nothing is.
pub fn template_error(text: &str) -> Option<String> {
    use super::interpolation::{TokenKind, tokens};
    tokens(text).into_iter().find_map(|token| match token.kind {
        TokenKind::Call { .. } => Some(METHOD_SYNTAX.to_owned()),
        TokenKind::Malformed => Some(format!("Syntax error in string: {text}")),
        TokenKind::Empty | TokenKind::Variable { .. } => None,
    })
}

fn strings_of(value: &Value, out: &mut Vec<(Arc<str>, Option<Span>)>) {
    match &value.data {
        Data::String(text) => out.push((text.clone(), value.origin)),
        Data::Array(items) => items.iter().for_each(|item| strings_of(item, out)),
        Data::Hash(hash) => hash.iter().for_each(|(key, member)| {
            if let Data::String(text) = &key.0 {
                out.push((text.clone(), member.key_origin));
            }
            strings_of(&member.value, out);
        }),
        _ => {}
    }
}

fn backends(hash: &Hash) -> Vec<Backend> {
    let named = |kind: BackendKind| {
        let member = hash.get(kind.key())?;
        Some(Backend { kind, name: member.value.as_str()?.into(), span: member.value.origin })
    };
    FUNCTION_KINDS.into_iter().filter_map(named).collect()
}

fn locations(hash: &Hash, key: Option<&str>) -> Locations {
    let Some(key) = key else { return Locations::None };
    let value = &hash[key].value;
    let templates: Vec<Template> = match &value.data {
        Data::Array(items) => items.iter().filter_map(template).collect(),
        _ => template(value).into_iter().collect(),
    };
    match key {
        "path" | "paths" => Locations::Paths(templates),
        "glob" | "globs" => Locations::Globs(templates),
        "uri" | "uris" => Locations::Uris(templates),
        _ => match <[Template; 3]>::try_from(templates) {
            Ok([variable, local, path]) => Locations::Mapped { variable, local: local.text, path },
            Err(_) => Locations::Paths(Vec::new()),
        },
    }
}

fn template(value: &Value) -> Option<Template> {
    Some(Template { text: value.as_str()?.into(), span: value.origin })
}

fn first_key(hash: &Hash) -> Option<Span> {
    hash.values().find_map(|member| member.key_origin)
}

/// A letter, then perhaps letters, digits, `_` and `-` that end in a letter or digit; a colon may stand second (a slip in Puppet's pattern).
fn is_option_name(name: &str) -> bool {
    let mut chars = name.chars();
    if !chars.next().is_some_and(|c| c.is_ascii_alphabetic()) {
        return false;
    }
    let rest = chars.as_str();
    let rest = rest.strip_prefix(':').unwrap_or(rest);
    rest.is_empty() && name.len() == 1
        || rest.ends_with(|c: char| c.is_ascii_alphanumeric())
            && rest.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
}

/// Ruby's `to_i`: the digits at the start, or 0.
fn leading_integer(text: &str) -> i64 {
    let text = text.trim_start();
    let end = text
        .char_indices()
        .find(|(at, c)| !(c.is_ascii_digit() || (*at == 0 && matches!(c, '+' | '-'))))
        .map_or(text.len(), |(at, _)| at);
    text[..end].parse().unwrap_or(0)
}
