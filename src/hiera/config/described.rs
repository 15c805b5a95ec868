//! Functions of others that the settings describe: which files one reads for the path of its level,
//! and for the namespace or the class of a key.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Backend, BackendKind, HieraConfig, Level, Locations, Template};
use crate::text::FilePath;

/// The files that functions read, by the names of the functions. Each is a path with `%{path}` for
/// the path of the level, and one of `%{namespace}` and `%{class}` for a part of a key, see
/// [`KeyPart`].
pub type DescribedBackends = BTreeMap<String, Vec<String>>;

/// The placeholder for the path of a level.
const PATH: &str = "%{path}";
/// The placeholder for the namespace of a key.
const NAMESPACE: &str = "%{namespace}";
/// The placeholder for the class of a key.
const CLASS: &str = "%{class}";

/// The part of a key that a function names its file after.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyPart {
    /// The text before the first `::`, or all of it.
    Namespace,
    /// The path of all segments but the last: `a/b` of `a::b::c`. A key of one segment has none.
    Class,
}

impl KeyPart {
    /// Returns whether a file is that of a root key, by its name. Of a class's file, the folders
    /// above those of the class are not compared.
    pub fn is_of_key(self, path: &FilePath, root: &str) -> bool {
        let name = path.as_str();
        let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
        let part = match self {
            KeyPart::Namespace => namespace_of(root).to_owned(),
            KeyPart::Class => match root.rsplit_once("::") {
                Some((class, _)) => class.replace("::", "/"),
                None => return false,
            },
        };
        stem.strip_suffix(part.as_str()).is_some_and(|rest| rest.ends_with('/'))
    }
}

/// Returns the reason why a path cannot describe the files that a function reads; `None` for a
/// valid path.
pub fn why_not_described(file: &str) -> Option<&'static str> {
    let placeholders = file.split("%{").skip(1).filter_map(|rest| rest.split('}').next());
    if placeholders.clone().any(|it| !matches!(it, "path" | "namespace" | "class")) {
        return Some("there are %{path}, %{namespace} and %{class}, and no other placeholders");
    }
    let name = file.rsplit('/').next().unwrap_or_default();
    let of_key = [NAMESPACE, CLASS].into_iter().find(|it| file.contains(it));
    if of_key.is_some_and(|it| {
        !name.starts_with(it) || placeholders.filter(|it| *it != "path").count() > 1
    }) {
        return Some("%{namespace} or %{class} stands for the name of a file, and begins it");
    }
    let has_extension = [".yaml", ".yml", ".json"].iter().any(|it| name.ends_with(it));
    (!has_extension).then_some("only files that end with .yaml, .yml or .json can be read")
}

/// Returns the namespace of a root key: the text before the first `::`, or all of it.
fn namespace_of(root: &str) -> &str {
    root.split_once("::").map_or(root, |(namespace, _)| namespace)
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
    let text = file.replace(PATH, &path.text).replace(NAMESPACE, "*").replace(CLASS, "**/*");
    let template = Template { text: text.into(), span: path.span };
    let locations = if file.contains(NAMESPACE) {
        Locations::ByKey(KeyPart::Namespace, vec![template])
    } else if file.contains(CLASS) {
        Locations::ByKey(KeyPart::Class, vec![template])
    } else {
        Locations::Paths(vec![template])
    };
    let function = if file.ends_with(".json") { "json_data" } else { "yaml_data" };
    let backend = Backend::new(BackendKind::DataHash, function.into(), level.backend.span);
    Level { backend, locations, options: None, ..level.clone() }
}
