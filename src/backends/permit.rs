//! The code that the user lets run: the functions that levels name, and the files of the repository
//! that hold these and may be loaded by them. The consent is to their content, and to what the levels
//! pass to the functions.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value as Json, json};
use sha2::{Digest, Sha256};

use super::wire;
use crate::disk::FileSystem;
use crate::hiera::config::formats::built_in;
use crate::hiera::config::{Layer, Level};
use crate::manifest::{Language, Load, find_manifest_loads, find_ruby_loads};
use crate::text::{FilePath, hex_digits};
use crate::workspace::Snapshot;
use crate::workspace::environments::{Environment, Module};
use crate::workspace::queries::functions::{ENVIRONMENT, LevelCode, plain_name};

/// The most files that a permit names. The process refuses to load others.
const MAX_FILES: usize = 1000;

/// The code that may run for an environment. Two permits are equal where the same code would run with
/// the same options.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Permit {
    /// The folder of the environment.
    pub root: FilePath,
    /// The functions and the backends of Hiera 3 that may be called.
    pub functions: Vec<LevelCode>,
    /// Further files of the repository that the functions and backends may load, sorted by path.
    pub libraries: Vec<FilePath>,
    /// The digests of all files that may be loaded, by their paths without links.
    files: BTreeMap<FilePath, String>,
    /// The digest of the levels as they are written.
    levels: String,
}

impl Permit {
    /// Whether a function may be called. Puppet's own are no code of the repository.
    pub(super) fn may_call(&self, function: &str) -> bool {
        let name = plain_name(function);
        built_in(&name).is_some()
            || self.functions.iter().any(|permitted| plain_name(&permitted.name) == name)
    }

    /// Returns the digests by path, as the process reads them.
    pub(super) fn to_json(&self) -> Json {
        let files =
            self.files.iter().map(|(path, digest)| (path.to_string(), digest.as_str().into()));
        Json::Object(files.collect())
    }

    /// Returns the permit for the functions that levels of an environment name, with the files that
    /// are on disk now: all functions, or those of these names. `more` has files that the user names
    /// beside those that are found by reading the code.
    ///
    /// Editors' texts do not count, as Ruby does not see them.
    pub fn from_levels(
        snapshot: &Snapshot,
        environment: &Environment,
        names: Option<&[String]>,
        more: &BTreeSet<FilePath>,
        fs: &dyn FileSystem,
    ) -> Permit {
        let mut functions = snapshot.code_of_levels(environment);
        functions.retain(|function| is_named_function(&function.name, names));
        let mut found: BTreeSet<FilePath> = more.clone();
        for function in &functions {
            found.extend(if function.is_hiera3 {
                snapshot.hiera3_files(environment, &function.name)
            } else {
                snapshot.function_files(environment, &plain_name(&function.name))
            });
        }
        let mut waiting: Vec<FilePath> = found.iter().cloned().collect();
        let mut files = BTreeMap::new();
        while let Some(path) = waiting.pop() {
            let Ok(bytes) = fs.read(&path, snapshot.config().max_file_size) else { continue };
            let real = fs.real_path(&path).unwrap_or_else(|| path.clone());
            files.insert(real, digest(&bytes));
            for load in loads(&path, &String::from_utf8_lossy(&bytes)) {
                for loaded in files_of(snapshot, environment, &path, &load) {
                    if found.len() < MAX_FILES && found.insert(loaded.clone()) {
                        waiting.push(loaded);
                    }
                }
            }
        }
        let libraries = found
            .into_iter()
            .filter(|path| !functions.iter().any(|it| it.file.as_ref() == Some(path)))
            .collect();
        let levels = environment.all_configs().flat_map(|(layer, config)| {
            let levels = config.levels().filter(|level| level.backend.data_reader().is_none());
            let levels = levels.filter(|level| is_named_function(&level.backend.name, names));
            levels.map(|level| written(&layer, &config.path, level)).collect::<Vec<Json>>()
        });
        let levels = digest(Json::Array(levels.collect()).to_string().as_bytes());
        Permit { root: environment.root.clone(), functions, libraries, files, levels }
    }
}

fn is_named_function(name: &str, names: Option<&[String]>) -> bool {
    let name = plain_name(name);
    names.is_none_or(|names| names.iter().any(|one| plain_name(one) == name))
}

/// Returns the files that code in `from` may mean by a name.
fn files_of(
    snapshot: &Snapshot,
    environment: &Environment,
    from: &FilePath,
    load: &Load,
) -> Vec<FilePath> {
    let modules = || environment.modules.values().map(|module| &module.root);
    let mut files: Vec<FilePath> = match load {
        Load::Library(name) => modules().map(|root| root.join(&format!("lib/{name}.rb"))).collect(),
        Load::Relative(path) => {
            let path = from.parent().unwrap_or_else(|| from.clone()).join(path);
            vec![FilePath::new(&format!("{path}.rb")), path]
        }
        Load::Function(name) => snapshot.function_files(environment, &plain_name(name)),
        Load::Type(name) => {
            let name = plain_name(name);
            let (module, below) = name.split_once("::").unwrap_or((&name, "init_typeset"));
            let below = format!("types/{}.pp", below.replace("::", "/"));
            let path = name.replace("::", "/");
            let in_ruby =
                modules().map(|root| root.join(&format!("lib/puppet/datatypes/{path}.rb")));
            module_root(module, &environment.root, &environment.modules)
                .map(|root| root.join(&below))
                .into_iter()
                .chain(in_ruby)
                .collect()
        }
        Load::Template(name) => {
            let (module, below) = name.split_once('/').unwrap_or_default();
            module_root(module, &environment.root, &environment.modules)
                .map(|root| root.join(&format!("templates/{below}")))
                .into_iter()
                .collect()
        }
    };
    files.retain(|path| snapshot.is_file(path));
    files
}

fn module_root<'a>(
    module: &str,
    root: &'a FilePath,
    modules: &'a BTreeMap<String, Module>,
) -> Option<&'a FilePath> {
    match modules.get(module) {
        _ if module == ENVIRONMENT => Some(root),
        module => module.map(|module| &module.root),
    }
}

/// Returns the code that a file names, by the language that its name stands for.
fn loads(path: &FilePath, text: &str) -> Vec<Load> {
    match path.extension() {
        Some("pp") => find_manifest_loads(text, Language::Manifest),
        Some("epp") => find_manifest_loads(text, Language::Epp),
        _ => find_ruby_loads(text),
    }
}

/// Returns a level as it is written, as far as its function sees it.
fn written(layer: &Layer, config: &FilePath, level: &Level) -> Json {
    let places: Vec<&str> = level.locations.templates().iter().map(|one| &*one.text).collect();
    json!([
        format!("{layer:?}"),
        config.as_str(),
        level.backend.kind.key(),
        &*level.backend.name,
        level.options.as_ref().map(wire::encode),
        &*level.datadir.text,
        places,
    ])
}

/// Returns the SHA-256 digest of some bytes, in hexadecimal digits.
fn digest(bytes: &[u8]) -> String {
    hex_digits(&Sha256::digest(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::MemoryFs;
    use crate::workspace::files::scan;
    use crate::workspace::{Change, Workspace, WorkspaceConfig};

    const CONFIG: &str = "version: 5\nhierarchy:\n  - {name: One, lookup_key: t::fn, path: one.yaml, options: {a: 1}}\n  - {name: Two, data_hash: other}\n";
    const FUNCTION: &str = "/repo/modules/t/lib/puppet/functions/t/fn.rb";

    fn repository() -> MemoryFs {
        let fs = MemoryFs::new();
        fs.write("/repo/hiera.yaml", CONFIG);
        fs.write("/repo/data/one.yaml", "a: 1\n");
        fs.write(
            FUNCTION,
            "require 'puppet_x/help'\nparam 'T::Key', :key\ncall_function('u::inner')\n",
        );
        fs.write("/repo/modules/t/types/key.pp", "type T::Key = String[1]\n");
        fs.write("/repo/modules/t/manifests/init.pp", "class t { }\n");
        fs.write("/repo/modules/u/lib/puppet_x/help.rb", "require_relative 'more'\n");
        fs.write("/repo/modules/u/lib/puppet_x/more.rb", "# no code\n");
        fs.write("/repo/modules/u/lib/puppet_x/else.rb", "# no code\n");
        fs.write(
            "/repo/modules/u/functions/inner.pp",
            "function u::inner() { epp('u/page.epp') }\n",
        );
        fs.write("/repo/modules/u/templates/page.epp", "<% u::inner() %>\n");
        fs.write("/repo/modules/u/lib/puppet/functions/other.rb", "# of u\n");
        fs.write("/repo/modules/v/lib/puppet/functions/other.rb", "# of v\n");
        fs
    }

    fn permit(fs: &MemoryFs, names: &[&str], more: &[&str]) -> Permit {
        let mut workspace =
            Workspace::new(WorkspaceConfig::default(), vec![FilePath::new("/repo")]);
        let scanned = scan::scan(&workspace.scan_request(), fs, &|_| {});
        workspace.apply(Change::Scanned(Box::new(scanned)));
        let snapshot = workspace.snapshot();
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let more = more.iter().map(|path| FilePath::new(path)).collect();
        let names = Some(&names[..]).filter(|names| !names.is_empty());
        Permit::from_levels(&snapshot, &snapshot.environments().all[0], names, &more, fs)
    }

    fn paths<'a>(files: impl IntoIterator<Item = &'a FilePath>) -> Vec<&'a str> {
        files.into_iter().map(|path| path.as_str().trim_start_matches("/repo/modules/")).collect()
    }

    #[test]
    fn a_permit_names_the_functions_and_what_they_load() {
        let fs = repository();
        let one = permit(&fs, &["::T::Fn"], &[]);
        assert_eq!(
            paths(one.functions.iter().filter_map(|it| it.file.as_ref())),
            ["t/lib/puppet/functions/t/fn.rb"]
        );
        let libraries = [
            "t/types/key.pp",
            "u/functions/inner.pp",
            "u/lib/puppet_x/help.rb",
            "u/lib/puppet_x/more.rb",
            "u/templates/page.epp",
        ];
        assert_eq!(paths(&one.libraries), libraries);
        assert_eq!(one.files.len(), 6);
        assert!(one.may_call("t::fn") && one.may_call("yaml_data") && !one.may_call("other"));
        // Of functions with one unqualified name the order of the file system decides.
        let other = permit(&fs, &["other"], &["/repo/modules/u/lib/puppet_x/else.rb"]);
        assert_eq!(
            paths(other.files.keys()),
            [
                "u/lib/puppet/functions/other.rb",
                "u/lib/puppet_x/else.rb",
                "v/lib/puppet/functions/other.rb"
            ]
        );
        assert_eq!(permit(&fs, &[], &[]).files.len(), 8);
    }

    #[test]
    fn other_code_and_other_options_make_another_permit() {
        let fs = repository();
        let before = permit(&fs, &["t::fn"], &[]);
        let changed = |path: &str, text: &str| {
            fs.write(path, text);
            permit(&fs, &["t::fn"], &[]) != before
        };
        assert!(!changed("/repo/data/one.yaml", "a: 2\n"), "data");
        assert!(!changed("/repo/modules/u/lib/puppet/functions/other.rb", "1\n"), "other code");
        assert!(!changed("/repo/hiera.yaml", &format!("# a comment\n{CONFIG}")), "another line");
        assert!(changed("/repo/hiera.yaml", &CONFIG.replace("a: 1", "a: 2")), "an option");
        assert!(changed("/repo/hiera.yaml", &CONFIG.replace("one.yaml", "two.yaml")), "a path");
        assert!(changed("/repo/hiera.yaml", &CONFIG.replace("lookup_key", "data_dig")), "its kind");
        assert!(
            !changed("/repo/hiera.yaml", &CONFIG.replace("name: Two", "name: Three")),
            "another level"
        );
        assert!(changed("/repo/modules/u/lib/puppet_x/more.rb", "1\n"), "a library");
        assert!(!changed("/repo/modules/u/lib/puppet_x/more.rb", "# no code\n"), "as it was");
        assert!(changed(FUNCTION, "1\n"), "the function");
    }

    #[test]
    fn a_permit_names_so_many_files_at_most() {
        let fs = repository();
        let list: String = (0..=MAX_FILES).map(|n| format!("require 'puppet_x/n{n}'\n")).collect();
        (0..=MAX_FILES)
            .for_each(|n| fs.write(&format!("/repo/modules/u/lib/puppet_x/n{n}.rb"), "1\n"));
        fs.write(FUNCTION, list);
        assert_eq!(permit(&fs, &["t::fn"], &[]).files.len(), MAX_FILES);
    }
}
