//! Version 4 of `hiera.yaml`, in environments and modules: a backend for each level, paths without
//! extensions. Source: semantics 1.11.

use std::sync::Arc;

use super::checks::is_absent;
use super::formats::{BuiltIn, hiera3_built_in};
use super::reading::{ConfigReader, LevelNames, Levels, first_key};
use super::templates::{Template, read_template};
use super::{
    Backend, BackendKind, ConfigProblem, ConfigProblemKind, Level, Locations, default_template,
};
use crate::puppet::value::{Data, Hash, Value};

impl ConfigReader<'_> {
    pub(super) fn version_4(&mut self, hash: &Hash) -> Levels {
        self.unknown_keys(hash, "", &["version", "datadir", "hierarchy"]);
        if let Some(datadir) = present_value("datadir", hash) {
            self.check_string(datadir, "entry 'datadir'");
        }
        let datadir = present_value("datadir", hash)
            .and_then(read_template)
            .unwrap_or_else(|| default_template("data"));
        let Some(list) = present_value("hierarchy", hash) else {
            let name = default_template("common");
            return Levels { hierarchy: vec![common_level(name, datadir)], ..Levels::default() };
        };
        let items = self.expect_array(list, "entry 'hierarchy'").unwrap_or_default();
        for (index, item) in items.iter().enumerate() {
            self.structure_of_level_4(item, &format!("entry 'hierarchy' index {index}"));
        }
        let mut levels: Vec<Level> = Vec::new();
        let mut names = LevelNames::new();
        for item in items {
            let Some(level) =
                item.as_hash().and_then(|hash| self.level_4(item, hash, &datadir, &names))
            else {
                continue;
            };
            names.entry(level.name.clone()).or_insert(level.span);
            levels.push(level);
        }
        Levels { hierarchy: levels, ..Levels::default() }
    }

    fn structure_of_level_4(&mut self, item: &Value, subject: &str) {
        let Some(level) = self.expect_struct(item, subject) else { return };
        if level.is_empty() {
            let message = format!("{subject} expects size to be between 2 and 5, got 0");
            return self.report(ConfigProblemKind::Structure, item.origin, message);
        }
        let place = first_key(level).or(item.origin);
        for key in ["backend", "name"].into_iter().filter(|key| !level.contains_key(*key)) {
            self.report(
                ConfigProblemKind::Structure,
                place,
                format!("{subject} expects a value for key '{key}'"),
            );
        }
        let subject = format!("{subject} ");
        self.check_strings(level, &subject, &["backend", "name", "datadir", "path"]);
        if let Some(paths) = level.get("paths") {
            let subject = format!("{subject}entry 'paths'");
            for (index, path) in
                self.expect_array(&paths.value, &subject).unwrap_or_default().iter().enumerate()
            {
                self.check_string(path, &format!("{subject} index {index}"));
            }
        }
        self.unknown_keys(level, &subject, &["backend", "name", "datadir", "path", "paths"]);
    }

    fn level_4(
        &mut self,
        item: &Value,
        hash: &Hash,
        datadir: &Template,
        others: &LevelNames,
    ) -> Option<Level> {
        let (name, backend) = (given_template("name", hash)?, given_template("backend", hash)?);
        let built_in =
            hiera3_built_in(&backend.text).filter(|own| own.kind == BackendKind::DataHash);
        let function = built_in.map_or("", |own| own.name);
        let extension = built_in.map(BuiltIn::dotted_extension).unwrap_or_default();
        // `paths` takes precedence over `path`. Without both keys the name of the level is the
        // path.
        let paths = match hash.get("paths").map(|member| member.value.data()) {
            Some(Data::Array(paths)) => paths.iter().filter_map(read_template).collect(),
            _ => vec![given_template("path", hash).unwrap_or_else(|| name.clone())],
        };
        let level = Level {
            name: name.text.clone(),
            span: item.origin,
            backend: Backend::new(BackendKind::DataHash, function.into(), backend.span),
            locations: Locations::Paths(paths),
            datadir: given_template("datadir", hash).unwrap_or_else(|| datadir.clone()),
            extension: Some(extension.into()),
            options: None,
        };
        self.name_is_new(&level, name.span, others);
        if function.is_empty() {
            let message = format!("No data provider is registered for backend '{}'", backend.text);
            let problem = self.new_problem(ConfigProblemKind::Backend, backend.span, message);
            let sought = Some(format!(r"[^\w]{}(?:[^\w]|$)", backend.text));
            self.when_used.push(ConfigProblem { sought, ..problem });
            return None;
        }
        self.tokens_of(
            level.locations.templates().iter().map(|path| (path.text.clone(), path.span)),
        );
        Some(level)
    }
}

fn given_template(key: &str, hash: &Hash) -> Option<Template> {
    hash.get(key).and_then(|member| read_template(&member.value))
}

fn present_value<'a>(key: &str, hash: &'a Hash) -> Option<&'a Value> {
    hash.get(key).map(|member| &member.value).filter(|value| !is_absent(value))
}

/// Returns the level of a config that names none.
fn common_level(name: Template, datadir: Template) -> Level {
    Level {
        name: Arc::clone(&name.text),
        span: None,
        backend: super::default_backend(),
        locations: Locations::Paths(vec![name]),
        datadir,
        extension: Some(".yaml".into()),
        options: None,
    }
}
