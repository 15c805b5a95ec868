//! The code that belongs to each environment, decided by names alone.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use crate::puppet::ruby::glob::EntryKind;
use crate::text::FilePath;
use crate::workspace::environments::{Environment, Environments};
use crate::workspace::files::kinds::{
    CODE_FOLDERS, code_language, is_module_name, is_puppetfile, is_sample,
};
use crate::workspace::files::names::DiskNames;

/// The modules of an environment, as far as code is concerned.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CodeModules {
    /// The folder of each module, by its name.
    pub by_name: BTreeMap<Arc<str>, CodeModule>,
}

/// A module's folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeModule {
    /// The folder.
    pub root: FilePath,
    /// Whether the folder is not on the module path: a deployment is assumed to put it there, as it
    /// has manifests.
    pub is_assumed: bool,
}

/// The place of code in its environment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CodePlace {
    /// In a module, at this path relative to the module's folder.
    Module {
        /// The module's name.
        module: Arc<str>,
        /// The path.
        path: Arc<str>,
    },
    /// Among the environment's own manifests, which are read at the start of every compile.
    Main,
    /// Elsewhere in the environment's own folder: functions, types, templates.
    Environment,
    /// A list of modules that a deployment installs.
    Puppetfile,
}

impl CodePlace {
    /// Returns the module that the file belongs to.
    pub fn module_name(&self) -> Option<&Arc<str>> {
        match self {
            CodePlace::Module { module, .. } => Some(module),
            _ => None,
        }
    }

    /// Returns the rank of the file among those in which Puppet looks for a class or defined type
    /// of this name; `None` where Puppet does not look for it. Of two files that define it, the
    /// one with the greater rank wins. Source: `TypeLoader#files_to_try_for`.
    pub fn autoload_rank(&self, name: &str) -> Option<usize> {
        let CodePlace::Module { module, path } = self else {
            return (*self == CodePlace::Main).then_some(usize::MAX);
        };
        let stem = path.strip_prefix("manifests/")?.strip_suffix(".pp")?;
        let mut parts = name.split("::");
        if parts.next() != Some(module) {
            return None;
        }
        if stem == "init" {
            return Some(0);
        }
        let mut folders = stem.split('/');
        let mut depth = 0;
        loop {
            match (folders.next(), parts.next()) {
                (None, _) => return Some(depth),
                (Some(folder), Some(part)) if folder == part => depth += 1,
                _ => return None,
            }
        }
    }

    /// Whether Puppet accepts a class or defined type of this name in the file, once it reads the
    /// file: the name has to begin with the letters that the file's path shows, so that `m::abc` may
    /// stand in `manifests/a.pp`, where Puppet does not look for it. Puppet refuses a file with
    /// another name. Source: `Checker4_0#internal_check_file_namespace`.
    pub fn accepts_definition(&self, name: &str) -> bool {
        let CodePlace::Module { module, path } = self else { return *self == CodePlace::Main };
        let Some(stem) = path.strip_prefix("manifests/").and_then(|it| it.strip_suffix(".pp"))
        else {
            return false;
        };
        let rest = name.strip_prefix(&**module);
        match stem {
            "init" => rest.is_some(),
            _ => rest.is_some_and(|rest| {
                let stem = stem.to_ascii_lowercase().replace('/', "::");
                rest.strip_prefix("::").is_some_and(|rest| rest.starts_with(&stem))
            }),
        }
    }

    /// Whether Puppet finds a type alias of this name in the file; the name is in lower case. An
    /// alias in a manifest is there once the manifest is read, which is certain only of the
    /// environment's own.
    pub fn loads_alias(&self, name: &str) -> bool {
        match self {
            CodePlace::Main => true,
            CodePlace::Environment => !name.contains("::"),
            CodePlace::Puppetfile => false,
            CodePlace::Module { module, path } => {
                let stem = path.strip_prefix("types/").and_then(|path| path.strip_suffix(".pp"));
                let below = name.strip_prefix(&**module).and_then(|rest| rest.strip_prefix("::"));
                matches!((stem, below), (Some(stem), Some(below)) if stem == below.replace("::", "/"))
            }
        }
    }
}

/// Returns the modules of all environments: those on their module paths, and folders that look like
/// modules in no environment's. In the order of `environments`.
pub(in crate::workspace) fn find_modules(
    environments: &Environments,
    names: &DiskNames,
) -> Vec<CodeModules> {
    let mut all: Vec<CodeModules> = environments
        .all
        .iter()
        .map(|environment| {
            let modules = environment.modules.iter().filter(|(name, _)| is_module_name(name));
            let by_name = modules.map(|(name, module)| {
                let root = module.root.clone();
                (Arc::from(name.as_str()), CodeModule { root, is_assumed: false })
            });
            CodeModules { by_name: by_name.collect() }
        })
        .collect();
    let known: HashSet<FilePath> = all
        .iter()
        .flat_map(|modules| modules.by_name.values().map(|module| module.root.clone()))
        .collect();
    let with_manifests = names.children.keys().filter(|folder| folder.name() == "manifests");
    let mut assumed: Vec<FilePath> =
        with_manifests.filter_map(FilePath::parent).filter(|root| !known.contains(root)).collect();
    assumed.sort();
    for root in assumed.into_iter().filter(|root| is_module_name(root.name())) {
        // The nearest environment comes first.
        let nearest = environments
            .all
            .iter()
            .position(|environment| root != environment.root && root.is_within(&environment.root));
        let Some(number) = nearest else { continue };
        let below = root.relative_to(&environments.all[number].root);
        let is_within_module = known.iter().any(|module| root.is_within(module));
        if below.is_some_and(is_sample) || is_within_module {
            continue;
        }
        let module = CodeModule { root: root.clone(), is_assumed: true };
        all[number].by_name.entry(root.name().into()).or_insert(module);
    }
    all
}

/// Returns the code of an environment, with the place of each file.
pub(in crate::workspace) fn code_files(
    environment: &Environment,
    modules: &CodeModules,
    names: &DiskNames,
) -> Vec<(FilePath, CodePlace)> {
    let mut files = Vec::new();
    for (name, module) in &modules.by_name {
        for folder in CODE_FOLDERS {
            each_file(names, &module.root.join(folder), &mut |path| {
                let below = path.relative_to(&module.root).unwrap_or_default();
                let place = CodePlace::Module { module: name.clone(), path: below.into() };
                files.push((path, place));
            });
        }
    }
    let root = &environment.root;
    let is_module = modules.by_name.values().any(|module| module.root == *root);
    if is_module {
        return files;
    }
    let main = &environment.main_manifests;
    if names.is_file(main) {
        files.push((main.clone(), CodePlace::Main));
    } else if main.is_within(root) && main != root {
        each_file(names, main, &mut |path| files.push((path, CodePlace::Main)));
    }
    for folder in CODE_FOLDERS.into_iter().filter(|folder| *folder != "manifests") {
        each_file(names, &root.join(folder), &mut |path| {
            files.push((path, CodePlace::Environment));
        });
    }
    files.extend(find_puppetfiles(root, names).map(|path| (path, CodePlace::Puppetfile)));
    files
}

/// Returns the Puppetfiles in an environment's folder and in the folders right below it.
fn find_puppetfiles<'a>(
    root: &'a FilePath,
    names: &'a DiskNames,
) -> impl Iterator<Item = FilePath> + use<'a> {
    let children = names.children.get(root).map_or(&[][..], Vec::as_slice);
    let folders = children.iter().filter(|(_, kind)| *kind != EntryKind::File);
    let folders = folders.map(|(name, _)| root.join(name));
    std::iter::once(root.clone()).chain(folders).flat_map(|folder| {
        let children = names.children.get(&folder).map_or(&[][..], Vec::as_slice);
        let files = children.iter().filter(|(_, kind)| *kind == EntryKind::File);
        let paths = files.map(|(name, _)| folder.join(name)).filter(is_puppetfile);
        paths.collect::<Vec<_>>()
    })
}

/// Gives each file of code below a folder.
fn each_file(names: &DiskNames, folder: &FilePath, take: &mut dyn FnMut(FilePath)) {
    for (name, kind) in names.children.get(folder).map_or(&[][..], Vec::as_slice) {
        let path = folder.join(name);
        match kind {
            EntryKind::File if code_language(&path).is_some() => take(path),
            EntryKind::File => {}
            EntryKind::Folder | EntryKind::LinkedFolder => each_file(names, &path, take),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rank(path: &str, name: &str) -> Option<usize> {
        CodePlace::Module { module: "m".into(), path: path.into() }.autoload_rank(name)
    }

    #[test]
    fn a_class_is_found_where_puppet_looks_for_it() {
        for (path, name, expected) in [
            ("manifests/init.pp", "m", Some(0)),
            ("manifests/b.pp", "m::b", Some(1)),
            ("manifests/b/c.pp", "m::b::c", Some(2)),
            ("manifests/init.pp", "m::a::b", Some(0)),
            ("manifests/a.pp", "m::a::b", Some(1)),
            ("manifests/other.pp", "m::a", None),
            ("manifests/m.pp", "m", None),
            ("manifests/a/init.pp", "m::a", None),
            ("manifests/Foo.pp", "m::foo", None),
            ("manifests/a.pp", "other::a", None),
            ("types/a.pp", "m::a", None),
        ] {
            assert_eq!(rank(path, name), expected, "{name} in {path}");
        }
        assert_eq!(CodePlace::Main.autoload_rank("anything"), Some(usize::MAX));
        assert_eq!(CodePlace::Environment.autoload_rank("anything"), None);
    }

    #[test]
    fn a_file_may_have_classes_that_begin_with_the_letters_of_its_path() {
        let accepts = |path: &str, name: &str| {
            CodePlace::Module { module: "m".into(), path: path.into() }.accepts_definition(name)
        };
        for (path, name, expected) in [
            ("manifests/init.pp", "m::a", true),
            ("manifests/init.pp", "mother", true),
            ("manifests/init.pp", "other", false),
            ("manifests/a.pp", "m::a::b", true),
            ("manifests/a.pp", "m::abc", true),
            ("manifests/a.pp", "m::b", false),
            ("manifests/a/b.pp", "m::a::bc", true),
            ("manifests/a/b.pp", "m::a", false),
            ("manifests/a/init.pp", "m::a::initial", true),
            ("manifests/a/init.pp", "m::a", false),
            ("manifests/Foo.pp", "m::foo", true),
            ("functions/a.pp", "m::a", false),
        ] {
            assert_eq!(accepts(path, name), expected, "{name} in {path}");
        }
    }
}
