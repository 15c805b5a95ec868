//! Version 5 of `hiera.yaml`.

use std::sync::Arc;

use super::checks::is_absent;
use super::formats::hiera3_built_in;
use super::reading::{ConfigReader, LevelNames, Levels, first_key};
use super::templates::{Template, read_template, strings_of};
use super::{
    Backend, BackendKind, ConfigProblemKind, Layer, Level, Locations, default_backend,
    default_level, default_template,
};
use crate::hiera::key::LookupKey;
use crate::puppet::value::{Data, Hash, Value};
use crate::text::Span;

const FUNCTION_KINDS: [BackendKind; 5] = [
    BackendKind::DataHash,
    BackendKind::LookupKey,
    BackendKind::DataDig,
    BackendKind::Hiera3,
    BackendKind::LegacyFunction,
];
const LOCATION_KEYS: [&str; 7] = ["path", "paths", "glob", "globs", "uri", "uris", "mapped_paths"];

/// `defaults`, as far as levels need it.
struct Defaults {
    backend: Option<Backend>,
    datadir: Template,
    options: Option<Value>,
}

impl ConfigReader<'_> {
    pub(super) fn version_5(&mut self, hash: &Hash) -> Levels {
        self.unknown_keys(
            hash,
            "",
            &["version", "defaults", "hierarchy", "default_hierarchy", "plan_hierarchy"],
        );
        let defaults_hash = match hash.get("defaults").map(|member| &member.value) {
            None => None,
            Some(value) if is_absent(value) => None,
            Some(value) => self.expect_struct(value, "entry 'defaults'"),
        };
        if let Some(defaults) = defaults_hash {
            self.unknown_keys(
                defaults,
                "entry 'defaults' ",
                &["data_hash", "lookup_key", "data_dig", "datadir", "options"],
            );
            self.check_strings(
                defaults,
                "entry 'defaults' ",
                &["data_hash", "lookup_key", "data_dig", "datadir"],
            );
            self.check_options(defaults, "entry 'defaults' ");
        }
        let lists = ["hierarchy", "default_hierarchy", "plan_hierarchy"];
        let [hierarchy, default_hierarchy, plan_hierarchy] =
            lists.map(|key| self.structure_of_levels(hash, key));
        if !self.problems.is_empty() {
            self.problems.sort_by_key(|problem| problem.span.range.start);
        }
        let structure_is_sound = self.problems.is_empty();
        let defaults = self.read_defaults(defaults_hash);
        let plan = plan_hierarchy.unwrap_or_default();
        let levels = match &hierarchy {
            Some(levels) => self.read_levels(levels, &defaults),
            None if structure_is_sound || !hash.contains_key("hierarchy") => {
                vec![self.common_level(&defaults)]
            }
            None => Vec::new(),
        };
        if structure_is_sound
            && self.problems.is_empty()
            && hash.contains_key("default_hierarchy")
            && !matches!(self.source.layer, Layer::Module(_))
        {
            let span = hash.get("default_hierarchy").and_then(|member| member.key_origin);
            let message = "'default_hierarchy' is only allowed in the module layer";
            self.report_sought(span, message.into(), r"(?:^|\s+)default_hierarchy:".into());
        }
        let default_levels = self.read_levels(&default_hierarchy.unwrap_or_default(), &defaults);
        if !structure_is_sound {
            self.when_called.clear(); // A key that is missing may be the one that is misspelt.
        }
        let found_so_far = (self.when_used.len(), self.when_called.len());
        self.read_levels(&plan, &defaults);
        // No lookup goes through the levels of `plan_hierarchy`, so their problems are dropped.
        self.when_used.truncate(found_so_far.0);
        self.when_called.truncate(found_so_far.1);
        Levels { hierarchy: levels, default_hierarchy: default_levels }
    }

    /// Returns the levels of a list as hashes, after a check of their structure; `None` when there
    /// is no such list.
    fn structure_of_levels<'v>(&mut self, hash: &'v Hash, key: &str) -> Option<Vec<&'v Value>> {
        let value = &hash.get(key)?.value;
        let items = match value.data() {
            _ if key == "hierarchy" && is_absent(value) => return None,
            Data::Array(items) => items,
            _ => {
                self.report_mismatch(value, &format!("entry '{key}'"), "an Array");
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
        let strings = [
            "name",
            "data_hash",
            "lookup_key",
            "data_dig",
            "hiera3_backend",
            "v4_data_hash",
            "path",
            "glob",
            "uri",
            "datadir",
        ];
        self.check_strings(level, subject, &strings);
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
                self.check_string(item, &format!("{subject} index {index}"));
            }
        }
        self.check_options(level, subject);
        let known: Vec<&str> = strings
            .iter()
            .chain(&["paths", "globs", "uris", "mapped_paths", "options"])
            .copied()
            .collect();
        self.unknown_keys(level, subject, &known);
    }

    fn check_options(&mut self, of: &Hash, subject: &str) {
        let Some(member) = of.get("options") else { return };
        let subject = format!("{subject}entry 'options'");
        let Some(options) = self.expect_hash(&member.value, &subject) else { return };
        for (key, member) in options {
            if !key.as_str().is_some_and(is_option_name) {
                let pattern = "Pattern[/\\A[A-Za-z](:?[0-9A-Za-z_-]*[0-9A-Za-z])?\\z/]";
                let message = format!(
                    "{subject} key of entry '{0}' expects a match for {pattern}, got '{0}'",
                    key.to_text()
                );
                self.report(ConfigProblemKind::Structure, member.key_origin, message);
            }
        }
    }

    fn read_defaults(&mut self, hash: Option<&Hash>) -> Defaults {
        let Some(hash) = hash else {
            return Defaults {
                backend: Some(default_backend()),
                datadir: default_template("data"),
                options: None,
            };
        };
        let backends = read_backends(hash);
        if let [_, second, ..] = backends.as_slice() {
            self.report_first(
                second.span,
                "Only one of data_hash, lookup_key, data_dig, or hiera3_backend can be defined in defaults".into(),
            );
        }
        self.reserved_options(hash, "defaults");
        Defaults {
            backend: backends.into_iter().next(),
            datadir: hash
                .get("datadir")
                .and_then(|member| read_template(&member.value))
                .unwrap_or_else(|| default_template("data")),
            options: hash
                .get("options")
                .map(|member| member.value.clone())
                .filter(|options| options.as_hash().is_some()),
        }
    }

    fn reserved_options(&mut self, hash: &Hash, place: &str) {
        let Some(options) = hash.get("options").and_then(|member| member.value.as_hash()) else {
            return;
        };
        for key in ["path", "uri"] {
            if let Some(member) = options.get(key) {
                let vendor = self.source.puppet.vendor_name();
                self.report_first(
                    member.key_origin,
                    format!("Option key '{key}' used in {place} is reserved by {vendor}"),
                );
            }
        }
    }

    fn read_levels(&mut self, items: &[&Value], defaults: &Defaults) -> Vec<Level> {
        let mut levels: Vec<Level> = Vec::new();
        let mut names = LevelNames::new();
        for item in items {
            let Some(hash) = item.as_hash() else { continue };
            let Some(level) = self.read_level(item, hash, defaults) else { continue };
            let name = hash.get("name").and_then(|member| member.value.origin);
            let is_named = hash.get("name").is_some_and(|member| member.value.as_str().is_some());
            if is_named {
                self.name_is_new(&level, name, &names);
            }
            self.check_tokens(&level);
            self.check_library(&level);
            self.backend_needs(&level, name.or_else(|| first_key(hash)).or(item.origin));
            names.entry(level.name.clone()).or_insert(level.span);
            levels.push(level);
        }
        levels
    }

    fn read_level(&mut self, item: &Value, hash: &Hash, defaults: &Defaults) -> Option<Level> {
        let name_value = hash.get("name").map(|member| &member.value);
        let name: Arc<str> =
            name_value.and_then(Value::as_str).unwrap_or("(without a name)").into();
        let place =
            name_value.and_then(|value| value.origin).or_else(|| first_key(hash)).or(item.origin);
        let backends = read_backends(hash);
        if let [_, second, ..] = backends.as_slice() {
            let message = format!(
                "Only one of data_hash, lookup_key, data_dig, or hiera3_backend can be defined in hierarchy '{name}'"
            );
            self.report_first(second.span, message);
        }
        if let Some(backend) = backends.iter().find(|backend| backend.kind == BackendKind::Hiera3) {
            if *self.source.layer != Layer::Global {
                let message = "'hiera3_backend' is only allowed in the global layer";
                self.report_sought(backend.span, message.into(), r"\s+hiera3_backend:".into());
            } else if hiera3_built_in(&backend.name)
                .is_some_and(|own| own.kind == BackendKind::DataHash)
            {
                let message = format!(
                    "Use \"data_hash: {0}_data\" instead of \"hiera3_backend: {0}\"",
                    backend.name
                );
                let sought = format!(r#"\s+hiera3_backend:\s*['"]?{}(?:[^\w]|$)"#, backend.name);
                self.report_sought(backend.span, message, sought);
            }
        }
        let backend = backends.into_iter().next().or_else(|| defaults.backend.clone());
        if backend.is_none() {
            self.report_first(
                place,
                format!("One of data_hash, lookup_key, data_dig, or hiera3_backend must be defined in hierarchy '{name}'"),
            );
        }
        let given: Vec<&str> =
            LOCATION_KEYS.into_iter().filter(|key| hash.contains_key(*key)).collect();
        if let [_, second, ..] = given.as_slice() {
            let span = hash.get(*second).and_then(|member| member.key_origin);
            let message = format!(
                "Only one of path, paths, glob, globs, uri, uris, or mapped_paths can be defined in hierarchy '{name}'"
            );
            self.report_first(span, message);
        }
        self.reserved_options(hash, &format!("hierarchy '{name}'"));
        let own_options = hash
            .get("options")
            .map(|member| member.value.clone())
            .filter(|options| options.as_hash().is_some());
        let level = Level {
            name,
            span: item.origin,
            backend: backend?,
            locations: read_locations(hash, given.first().copied()),
            datadir: hash
                .get("datadir")
                .and_then(|member| read_template(&member.value))
                .unwrap_or_else(|| defaults.datadir.clone()),
            extension: None,
            options: own_options.or_else(|| defaults.options.clone()),
        };
        Some(level)
    }

    fn backend_needs(&mut self, level: &Level, place: Option<Span>) {
        if let Some(message) = level.call_error() {
            let span = level.options.as_ref().and_then(|options| options.origin).or(place);
            self.when_called.push(self.new_problem(ConfigProblemKind::Call, span, message));
        }
    }

    /// Tokens in hiera.yaml may name variables and nothing else.
    fn check_tokens(&mut self, level: &Level) {
        if let Locations::Mapped { variable, .. } = &level.locations
            && LookupKey::parse(&variable.text).is_err()
        {
            self.when_used.push(self.malformed_token("mapped_path[0]", variable.span));
        }
        if let Locations::Uris(uris) = &level.locations {
            for uri in uris
                .iter()
                .filter(|uri| !uri.text.contains("%{") && uri.text.contains(NEVER_IN_A_URI))
            {
                let message = format!("bad URI(is not URI?): {:?}", &*uri.text);
                self.when_used.push(self.new_problem(ConfigProblemKind::Uri, uri.span, message));
            }
        }
        let mut texts: Vec<(Arc<str>, Option<Span>)> = std::iter::once(&level.datadir)
            .chain(level.locations.templates())
            .map(|template| (template.text.clone(), template.span))
            .collect();
        if let Some(options) = &level.options {
            strings_of(options, &mut texts);
        }
        self.tokens_of(texts);
    }

    fn common_level(&mut self, defaults: &Defaults) -> Level {
        let mut level = default_level();
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

/// Characters that no URI may contain.
const NEVER_IN_A_URI: [char; 9] = [' ', '<', '>', '"', '\\', '^', '`', '{', '}'];

fn read_backends(hash: &Hash) -> Vec<Backend> {
    FUNCTION_KINDS
        .into_iter()
        .filter_map(|kind| {
            let member = hash.get(kind.key())?;
            Some(Backend::new(kind, member.value.as_str()?.into(), member.value.origin))
        })
        .collect()
}

fn read_locations(hash: &Hash, key: Option<&str>) -> Locations {
    let Some((key, member)) = key.and_then(|key| Some((key, hash.get(key)?))) else {
        return Locations::None;
    };
    let value = &member.value;
    let templates: Vec<Template> = match value.data() {
        Data::Array(items) => items.iter().filter_map(read_template).collect(),
        _ => read_template(value).into_iter().collect(),
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

/// Returns whether a name is a letter, then perhaps letters, digits, `_` and `-` that end in a
/// letter or digit; a colon may stand second (a bug in Puppet's pattern).
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
