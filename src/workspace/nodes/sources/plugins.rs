//! Plugins in Bolt inventories: `_plugin: yaml` with `filepath` is replaced by the content of that
//! file, where it lies in the folders of the workspace. The values of other plugins, which ask
//! services or run commands, are unknown; their names are kept.
//!
//! Source: Bolt's `yaml` plugin; `filepath` is relative to the folder of the project, here that of
//! the inventory.

use std::cell::Cell;

use crate::disk::Stamp;
use crate::puppet::value::{Data, Hash, Member, Provenance, Value};
use crate::text::FilePath;
use crate::workspace::nodes::values::read_value;

/// Returns the version of a file of the workspace and its text; neither where the workspace has no
/// such file.
pub(in crate::workspace) type FileLoader<'a> =
    dyn Fn(&FilePath) -> (Option<Stamp>, Option<String>) + Sync + 'a;

/// The deepest inclusion of files in each other; Bolt's own have one.
const MAX_DEPTH: usize = 8;
/// The most files that one inventory includes.
const MAX_FILES: usize = 256;

/// The plugins of one inventory.
pub(in crate::workspace::nodes) struct Plugins<'a> {
    folder: FilePath,
    load: &'a FileLoader<'a>,
    included: Vec<(FilePath, Option<Stamp>)>,
    unknown: Vec<String>,
    depth: Cell<usize>,
}

impl<'a> Plugins<'a> {
    /// Creates the plugins of the inventory at `path`.
    pub(in crate::workspace::nodes) fn new(path: &FilePath, load: &'a FileLoader<'a>) -> Self {
        let folder = path.parent().unwrap_or_else(|| path.clone());
        Plugins { folder, load, included: Vec::new(), unknown: Vec::new(), depth: Cell::new(0) }
    }

    /// Returns the files that were included, with their versions, and the plugins whose values are
    /// unknown.
    pub(in crate::workspace::nodes) fn into_parts(
        self,
    ) -> (Vec<(FilePath, Option<Stamp>)>, Vec<String>) {
        (self.included, self.unknown)
    }

    /// Returns the value with the content of the files that it includes. References to other plugins
    /// stay as they are.
    pub(in crate::workspace::nodes) fn resolve(&mut self, value: &Value) -> Value {
        match value.data() {
            Data::Hash(hash) => match hash.get("_plugin").and_then(|it| it.value.as_str()) {
                Some(plugin) => self.resolve_plugin(plugin, value),
                None => {
                    let members = hash.iter().map(|(key, member)| {
                        let value = self.resolve(&member.value);
                        (key.clone(), Member { key_origin: None, value })
                    });
                    let members: Hash = members.collect();
                    Value::hash(members, Provenance::from_source(None))
                }
            },
            Data::Array(items) => {
                let mut all = Vec::new();
                for item in items.iter() {
                    let resolved = self.resolve(item);
                    let is_reference = item.get("_plugin").is_some();
                    // Bolt puts the items of a referenced list into the list that holds the
                    // reference.
                    match resolved.as_array().filter(|_| is_reference) {
                        Some(more) => all.extend(more.iter().cloned()),
                        None => all.push(resolved),
                    }
                }
                Value::new_array(all, Provenance::from_source(None))
            }
            _ => value.clone(),
        }
    }

    fn resolve_plugin(&mut self, plugin: &str, value: &Value) -> Value {
        let file = value.get("filepath").and_then(Value::as_str).filter(|_| plugin == "yaml");
        let Some(path) = file.map(|file| self.folder.join(file)) else {
            self.note_unknown(plugin);
            return value.clone();
        };
        let depth = self.depth.get();
        if depth >= MAX_DEPTH || self.included.len() >= MAX_FILES {
            self.note_unknown("yaml, of which more files are included than are read");
            return value.clone();
        }
        let (stamp, text) = (self.load)(&path);
        self.included.push((path.clone(), stamp));
        let content = text.and_then(|text| read_value(&path, &text).ok());
        let Some(content) = content else {
            self.note_unknown(&format!("yaml, whose file {} cannot be read here", path.name()));
            return value.clone();
        };
        self.depth.set(depth + 1);
        let resolved = self.resolve(&content);
        self.depth.set(depth);
        resolved
    }

    fn note_unknown(&mut self, plugin: &str) {
        if !self.unknown.iter().any(|known| known == plugin) {
            self.unknown.push(plugin.to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Resolves an inventory whose included files have the text that `text_of` returns.
    fn resolved(
        text: &str,
        text_of: &(dyn Fn(&FilePath) -> String + Sync),
    ) -> (usize, Vec<String>) {
        let path = FilePath::new("/repo/inventory.yaml");
        let load = |path: &FilePath| (None, Some(text_of(path)));
        let mut plugins = Plugins::new(&path, &load);
        plugins.resolve(&read_value(&path, text).expect("it is YAML"));
        let (included, unknown) = plugins.into_parts();
        (included.len(), unknown)
    }

    #[test]
    fn files_that_include_each_other_end() {
        let again =
            |_: &FilePath| "targets: {_plugin: yaml, filepath: inventory.yaml}\n".to_owned();
        let (included, unknown) = resolved(&again(&FilePath::new("/")), &again);
        assert_eq!(included, MAX_DEPTH);
        assert_eq!(unknown, ["yaml, of which more files are included than are read"]);
    }

    #[test]
    fn more_files_than_are_read_are_told() {
        let items: String = (0..MAX_FILES + 1)
            .map(|number| format!("  - {{_plugin: yaml, filepath: {number}.yaml}}\n"))
            .collect();
        let none = |_: &FilePath| "- a.example.net\n".to_owned();
        let (included, unknown) = resolved(&format!("targets:\n{items}"), &none);
        assert_eq!(included, MAX_FILES);
        assert_eq!(unknown.len(), 1, "{unknown:?}");
    }
}
