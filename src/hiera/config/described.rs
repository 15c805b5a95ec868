//! Functions of others that the settings describe: which files one reads for the path of its level,
//! and for the namespace of a key.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Backend, BackendKind, HieraConfig, Level, Locations, Template};
use crate::text::FilePath;

/// The files that functions read, by the names of the functions. Each is a path with `%{path}` for
/// the path of the level, and `%{namespace}` for the namespace of a key, see [`namespace_of`].
pub type DescribedBackends = BTreeMap<String, Vec<String>>;

/// The placeholder for the path of a level.
const PATH: &str = "%{path}";
/// The placeholder for the namespace of a key.
const NAMESPACE: &str = "%{namespace}";

/// Returns the reason why a path cannot describe the files that a function reads; `None` for a
/// valid path.
pub fn why_not_described(file: &str) -> Option<&'static str> {
    let name = file.rsplit('/').next().unwrap_or_default();
    let rest = file.replacen(NAMESPACE, "", 1);
    if file.contains(NAMESPACE) && (!name.starts_with(NAMESPACE) || rest.contains(NAMESPACE)) {
        return Some("%{namespace} stands for the name of a file, and begins it");
    }
    let has_extension = [".yaml", ".yml", ".json"].iter().any(|it| name.ends_with(it));
    (!has_extension).then_some("only files that end with .yaml, .yml or .json can be read")
}

/// Returns the namespace of a root key: the text before the first `::`, or all of it.
pub fn namespace_of(root: &str) -> &str {
    root.split_once("::").map_or(root, |(namespace, _)| namespace)
}

/// Returns whether a file is that of the namespace of a root key, by its name.
pub fn is_of_namespace(path: &FilePath, root: &str) -> bool {
    let name = path.name();
    name.rsplit_once('.').map_or(name, |(stem, _)| stem) == namespace_of(root)
}

impl HieraConfig {
    /// Has the levels of functions that are described here read the files that these read. Of such
    /// a level there is one for each file, in order, under the same name.
    pub fn describe_backends(&mut self, described: &DescribedBackends) {
        if described.is_empty() {
            return;
        }
        for hierarchy in [&mut self.hierarchy, &mut self.default_hierarchy] {
            *hierarchy = hierarchy.iter().flat_map(|level| levels_of(level, described)).collect();
        }
    }
}

fn levels_of(level: &Arc<Level>, described: &DescribedBackends) -> Vec<Arc<Level>> {
    let files =
        described.get(&*level.backend.name).filter(|_| level.backend.data_reader().is_none());
    let (Some(files), Locations::Paths(paths)) = (files, &level.locations) else {
        return vec![level.clone()];
    };
    let pairs = paths.iter().flat_map(|path| files.iter().map(move |file| (path, file)));
    pairs.map(|(path, file)| Arc::new(level_of(level, path, file))).collect()
}

fn level_of(level: &Level, path: &Template, file: &str) -> Level {
    let text = file.replace(PATH, &path.text).replace(NAMESPACE, "*");
    let template = Template { text: text.into(), span: path.span };
    let locations = match file.contains(NAMESPACE) {
        true => Locations::ByNamespace(vec![template]),
        false => Locations::Paths(vec![template]),
    };
    let function = if file.ends_with(".json") { "json_data" } else { "yaml_data" };
    let backend = Backend::new(BackendKind::DataHash, function.into(), level.backend.span);
    Level { backend, locations, options: None, ..level.clone() }
}
