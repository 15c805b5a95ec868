//! Hovers over subjects other than keys: variables, locations of a `hiera.yaml`, entries of
//! `lookup_options`.

use std::fmt::Write as _;
use std::sync::Arc;

use super::HoverWriter;
use crate::hiera::config::{HieraConfig, Level, Template};
use crate::hiera::hierarchy::locate_levels;
use crate::hiera::hierarchy::located::LevelTarget;
use crate::hiera::key::LookupKey;
use crate::hiera::lookup::Resolver;
use crate::hiera::scope::Variable;
use crate::ide::cursor::{KeyPath, KeyStep};
use crate::text::{FilePath, count_phrase};

impl HoverWriter<'_> {
    /// Describes an entry of `lookup_options`: the keys that it serves.
    pub(super) fn options_entry(&self, path: &KeyPath) -> String {
        let mut out = format!("{}\n\n", self.markup.render_bold("lookup_options"));
        let Some(KeyStep::Member(key)) = path.steps.first() else {
            out.push_str("How keys are merged and converted: literal keys, and patterns that start with `^`. A lookup does not return it.\n");
            return out;
        };
        let name = key.to_text();
        let matching = self.keys_served_by(&name);
        let count = count_phrase(matching.len(), "known key");
        writeln!(out, "{} serves {count}", self.markup.render_code(&name))
            .expect("writing to a string");
        if !matching.is_empty() {
            out.push('\n');
        }
        for key in matching.iter().take(self.markup.config.max_locations) {
            writeln!(out, "- {}", self.markup.render_code(key)).expect("writing to a string");
        }
        out
    }

    /// Returns the keys whose options come from this entry, in this file's scope.
    fn keys_served_by(&self, entry: &str) -> Vec<String> {
        let environment = &self.subject.environment;
        let view = self.snapshot.view(environment);
        let resolver = Resolver::new(self.snapshot.lookup_context(environment, &view, self.scope));
        let mut keys: Vec<String> =
            self.snapshot.keys().keys().map(|key| key.to_string()).collect();
        keys.sort();
        keys.retain(|key| {
            !self.snapshot.cancel_token().is_cancelled()
                && resolver
                    .options_entry(&LookupKey::of_root(key))
                    .is_ok_and(|found| found.is_some_and(|found| *found.key == *entry))
        });
        keys
    }

    pub(super) fn render_variable(&self, key: &LookupKey) -> String {
        let mut out =
            self.new_head(&format!("%{{{key}}}"), &self.scope_audience()).render_head(&self.markup);
        match self.scope.get_path(&key.text) {
            Variable::Known(value) => {
                let options = self.print_options();
                let max = self.markup.config.max_value_lines;
                let (yaml, _) = super::value::render_yaml(&value, &options, max, None);
                out.push_str(&self.markup.render_block(&yaml));
            }
            Variable::Undefined => {
                out.push_str("undefined: an empty text, or an error where Puppet is strict\n")
            }
            Variable::Unknown => self.values_in_nodes(key, &mut out),
        }
        out
    }

    /// The values that a variable has in the known nodes that read the file.
    fn values_in_nodes(&self, key: &LookupKey, out: &mut String) {
        let numbers = self.audience.readers();
        let nodes = self.snapshot.nodes_of(&self.subject.environment);
        let mut values: indexmap::IndexMap<String, usize> = indexmap::IndexMap::new();
        for number in numbers {
            if let Variable::Known(value) = nodes[*number].scope.get_path(&key.text) {
                let text = crate::puppet::print::print_inline(&value, &self.print_options());
                *values.entry(text).or_default() += 1;
            }
        }
        if values.is_empty() {
            out.push_str("unknown here: this file's path does not tell it\n");
            return;
        }
        out.push_str("differs between the known nodes that read this file:\n\n");
        values.sort_by(|_, a, _, b| b.cmp(a));
        for (value, count) in values.iter().take(self.markup.config.max_locations) {
            let nodes = count_phrase(*count, "node");
            writeln!(out, "- {} in {nodes}", self.markup.render_code(value))
                .expect("writing to a string");
        }
        let more = values.len().saturating_sub(self.markup.config.max_locations);
        if more > 0 {
            writeln!(out, "- … and {more} more values").expect("writing to a string");
        }
    }

    pub(super) fn render_location(&self, config: &HieraConfig, template: &Template) -> String {
        // In a config of version 3, every backend has all locations.
        let levels: Vec<Arc<Level>> = config
            .levels()
            .filter(|level| level.locations.templates().contains(template))
            .cloned()
            .collect();
        let names: Vec<String> =
            levels.iter().map(|level| self.markup.render_bold(&level.name)).collect();
        let noun = if names.len() == 1 { "level" } else { "levels" };
        let template_code = self.markup.render_code(&template.text);
        let mut out = format!("{template_code} of {noun} {}\n\n", names.join(", "));
        let environment = &self.subject.environment;
        let reaches: Vec<_> =
            environment.reach.iter().filter(|reach| reach.template == *template).collect();
        let files: Vec<&FilePath> = self
            .snapshot
            .files()
            .map(|file| &file.path)
            .filter(|path| reaches.iter().any(|reach| reach.pattern.bind(path.as_str()).is_some()))
            .collect();
        let verb = if files.len() == 1 { "fits" } else { "fit" };
        writeln!(out, "{} {verb}", count_phrase(files.len(), "existing file"))
            .expect("writing to a string");
        match self.snapshot.selected_in(environment) {
            None => {
                out.push('\n');
                let max = self.markup.config.max_locations;
                files.iter().take(max).for_each(|path| {
                    writeln!(out, "- {}", self.markup.place_of(path, 1))
                        .expect("writing to a string");
                });
                if files.len() > max {
                    writeln!(out, "- … and {} more", files.len() - max)
                        .expect("writing to a string");
                }
            }
            Some(node) => {
                let whom = if node.is_kind() { "nodes with" } else { "node" };
                writeln!(out, "\nfor {whom} {}:\n", self.markup.render_code(&node.name))
                    .expect("writing to a string");
                self.locations_in(config, &levels, template, &node.scope, &mut out);
            }
        }
        let functions = levels.iter().filter(|level| level.backend.data_reader().is_none());
        for level in functions {
            let probable: Vec<&FilePath> = self
                .snapshot
                .files()
                .map(|file| &file.path)
                .filter(|path| {
                    let found = environment.probable_function(path);
                    found.is_some_and(|reach| reach.template == *template)
                })
                .collect();
            self.probable_files(&level.backend.name, &probable, &mut out);
        }
        out
    }

    /// The files that a function probably reads.
    fn probable_files(&self, function: &str, files: &[&FilePath], out: &mut String) {
        let function = self.markup.render_code(function);
        let end = if files.is_empty() { "" } else { ", probably these files:\n" };
        writeln!(out, "\nread by {function}{end}").expect("writing to a string");
        let max = self.markup.config.max_locations;
        for path in files.iter().take(max) {
            writeln!(out, "- {}", self.markup.place_of(path, 1)).expect("writing to a string");
        }
        if files.len() > max {
            writeln!(out, "- … and {} more", files.len() - max).expect("writing to a string");
        }
    }

    /// The places that a location names in the scope of a node.
    fn locations_in(
        &self,
        config: &HieraConfig,
        levels: &[Arc<Level>],
        template: &Template,
        scope: &crate::hiera::scope::Scope,
        out: &mut String,
    ) {
        let view = self.snapshot.view(&self.subject.environment);
        for located in locate_levels(config, levels, scope, &view, None).unwrap_or_default() {
            for location in located
                .locations
                .iter()
                .filter(|location| location.template.as_ref() == Some(template))
            {
                match &location.place {
                    LevelTarget::File { path, exists: true } => {
                        writeln!(out, "- {}", self.markup.place_of(path, 1))
                    }
                    LevelTarget::File { path, exists: false } => {
                        let name = self.markup.render_code(self.markup.names.short_path(path));
                        writeln!(out, "- {name} (does not exist)")
                    }
                    LevelTarget::NoMatch { .. } => writeln!(out, "- no file"),
                    LevelTarget::Uri(uri) => writeln!(out, "- {}", self.markup.render_code(uri)),
                    LevelTarget::Undetermined(_) | LevelTarget::Nowhere => Ok(()),
                }
                .expect("writing to a string");
            }
        }
    }
}
