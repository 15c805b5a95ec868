//! Version 3 of `hiera.yaml`, in the global layer: a level for each backend, each with the whole
//! hierarchy. Source: semantics 1.10.

use std::sync::Arc;

use super::checks::is_absent;
use super::formats::{BuiltIn, hiera3_built_in};
use super::reading::{ConfigReader, Levels};
use super::templates::{Template, read_template, strings_of};
use super::{
    Backend, BackendKind, ConfigProblem, ConfigProblemKind, Level, Locations, default_template,
};
use crate::puppet::value::{Data, Hash, Value};

/// Puppet's folder of environments; path mapping makes the folder of the workspace's environment of
/// it.
const DEFAULT_DATADIR: &str = "/etc/puppetlabs/code/environments/%{::environment}/hieradata";
const DEFAULT_HIERARCHY: [&str; 2] = ["nodes/%{::trusted.certname}", "common"];
/// How `merge_behavior` may be set. It counts for `hiera_hash()` in manifests, never for lookups.
const MERGE_BEHAVIORS: [&str; 3] = ["deep", "deeper", "native"];

impl ConfigReader<'_> {
    pub(super) fn version_3(&mut self, hash: &Hash) -> Levels {
        let backends = self
            .text_or_texts(present_value("backends", hash), "backends")
            .unwrap_or_else(|| vec![default_template("yaml")]);
        let hierarchy = self
            .text_or_texts(present_value("hierarchy", hash), "hierarchy")
            .unwrap_or_else(|| DEFAULT_HIERARCHY.map(default_template).to_vec());
        self.structure_3(hash, &backends);
        let texts: Vec<(Arc<str>, _)> =
            hierarchy.iter().map(|path| (path.text.clone(), path.span)).collect();
        let mut levels: Vec<Level> = Vec::new();
        for backend in &backends {
            let own = present_value(&backend.text, hash).filter(|own| own.as_hash().is_some());
            if let Some(first) = levels.iter().find(|other| other.name == backend.text) {
                let message = format!("Backend '{}' is defined more than once", backend.text);
                let problem = self.new_problem(ConfigProblemKind::Duplicate, backend.span, message);
                let sought = Some(format!(r"[^\w]{}(?:[^\w]|$)", backend.text));
                self.when_used.push(ConfigProblem { related: first.span, sought, ..problem });
            }
            if let Some(own) = own {
                let mut texts = Vec::new();
                strings_of(own, &mut texts);
                self.tokens_of(texts);
            }
            self.tokens_of(texts.clone());
            let level = self.level_3(backend, own, &hierarchy);
            self.check_library(&level);
            levels.push(level);
        }
        Levels { hierarchy: levels, ..Levels::default() }
    }

    fn structure_3(&mut self, hash: &Hash, backends: &[Template]) {
        if let Some(logger) = given_value("logger", hash) {
            self.check_string(logger, "entry 'logger'");
        }
        if let Some(behavior) =
            given_value("merge_behavior", hash).filter(|behavior| !is_absent(behavior))
            && !behavior.as_str().is_some_and(|text| MERGE_BEHAVIORS.contains(&text))
        {
            let found = behavior
                .as_str()
                .map_or_else(|| behavior.type_name().to_owned(), |text| format!("'{text}'"));
            let message = format!(
                "entry 'merge_behavior' expects a match for Enum['deep', 'deeper', 'native'], got {found}"
            );
            self.report(ConfigProblemKind::Structure, behavior.origin, message);
        }
        if let Some(options) =
            given_value("deep_merge_options", hash).filter(|options| !is_absent(options))
            && let Some(options) = self.expect_hash_of_named(
                options,
                "entry 'deep_merge_options'",
                "Variant[String, Boolean]",
            )
        {
            for (key, member) in options {
                if !matches!(member.value.data(), Data::String(_) | Data::Bool(_)) {
                    let subject = format!("entry 'deep_merge_options' entry '{}'", key.to_text());
                    self.mismatch_of(&member.value, &subject, "a value of type String or Boolean");
                }
            }
        }
        for backend in backends {
            if let Some(own) = given_value(&backend.text, hash) {
                self.expect_hash_of_named(own, &format!("entry '{}'", backend.text), "Any");
            }
        }
        let mut known = vec![
            "version",
            "backends",
            "logger",
            "merge_behavior",
            "deep_merge_options",
            "hierarchy",
        ];
        known.extend(backends.iter().map(|backend| &*backend.text));
        self.unknown_keys(hash, "", &known);
    }

    /// Reads a string, or a list of strings; `None` when nothing is given.
    fn text_or_texts(&mut self, value: Option<&Value>, key: &str) -> Option<Vec<Template>> {
        let value = value?;
        let subject = format!("entry '{key}'");
        match value.data() {
            Data::String(text) if text.is_empty() => {
                self.mismatch_of(value, &subject, "a value of type String[1] or Array[String[1]]");
                Some(Vec::new())
            }
            Data::String(_) => read_template(value).map(|template| vec![template]),
            Data::Array(items) => {
                if items.iter().any(|item| item.as_str().is_none_or(str::is_empty)) {
                    self.report_mismatch(value, &format!("{subject} variant 0"), "a String");
                }
                for (index, item) in items.iter().enumerate() {
                    self.check_string(item, &format!("{subject} variant 1 index {index}"));
                }
                Some(items.iter().filter_map(read_template).collect())
            }
            _ => {
                self.mismatch_of(value, &subject, "a value of type String or Array");
                Some(Vec::new())
            }
        }
    }

    /// Expects a hash whose keys are strings that are not empty.
    fn expect_hash_of_named<'v>(
        &mut self,
        value: &'v Value,
        subject: &str,
        of: &str,
    ) -> Option<&'v Hash> {
        let hash = self.expect_hash(value, subject)?;
        if let Some(key) = hash.keys().find(|key| key.as_str().is_none_or(str::is_empty)) {
            let found = key.to_value(None).type_name();
            let message = format!(
                "{subject} expects a Hash[String[1], {of}] value, got a key of type {found}"
            );
            self.report(ConfigProblemKind::Structure, value.origin, message);
        }
        Some(hash)
    }

    fn level_3(
        &mut self,
        backend: &Template,
        own: Option<&Value>,
        hierarchy: &[Template],
    ) -> Level {
        let datadir = own.and_then(|own| own.get("datadir")).filter(|value| !is_absent(value));
        if let Some(datadir) = datadir.filter(|datadir| datadir.as_str().is_none()) {
            let message = format!("no implicit conversion of {} into String", datadir.class_name());
            let problem = self.new_problem(ConfigProblemKind::Backend, datadir.origin, message);
            self.when_used.push(problem);
        }
        let built_in = hiera3_built_in(&backend.text);
        let (kind, function) =
            built_in.map_or((BackendKind::Hiera3, &*backend.text), |own| (own.kind, own.name));
        let extension = match own
            .and_then(|own| own.get("extension"))
            .filter(|value| !matches!(value.data(), Data::Null))
        {
            Some(extension) => format!(".{}", extension.to_text()),
            None => {
                built_in.map_or_else(|| format!(".{}", backend.text), BuiltIn::dotted_extension)
            }
        };
        Level {
            name: backend.text.clone(),
            span: backend.span,
            backend: Backend::new(kind, function.into(), backend.span),
            // Puppet asks a backend of Hiera 3 once where the hierarchy has no path. Puppet never
            // calls a function without a path.
            locations: match kind {
                BackendKind::Hiera3 if hierarchy.is_empty() => Locations::None,
                _ => Locations::Paths(hierarchy.to_vec()),
            },
            datadir: datadir
                .and_then(read_template)
                .unwrap_or_else(|| default_template(DEFAULT_DATADIR)),
            extension: Some(extension.into()),
            options: own.cloned(),
        }
    }
}

fn given_value<'a>(key: &str, hash: &'a Hash) -> Option<&'a Value> {
    hash.get(key).map(|member| &member.value)
}

fn present_value<'a>(key: &str, hash: &'a Hash) -> Option<&'a Value> {
    hash.get(key).map(|member| &member.value).filter(|value| !is_absent(value))
}
