//! The functions that levels name: where Puppet finds their source, and the declarations in the
//! source. Nothing is run. Source: the loaders of Puppet 7.23, as its answers show them.

use std::sync::Arc;

use crate::hiera::config::formats::built_in;
use crate::hiera::config::{Backend, BackendKind, Level};
use crate::manifest::Manifest;
use crate::manifest::model::{DefinitionKind, Documentation, FunctionSignature};
use crate::text::{FilePath, TextRange};
use crate::workspace::environments::Environment;
use crate::workspace::snapshot::Snapshot;

/// The source of a function that a level names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FunctionSource {
    /// Puppet has the function.
    BuiltIn,
    /// The file that Puppet loads.
    File(FilePath),
    /// The module of the function's name is here and has no file for it.
    NotInModule(Arc<str>),
    /// The module of the function's name is not here.
    ModuleAbsent,
    /// Any module may have the function, and none here has it.
    Nowhere,
}

/// Code that levels name, which hiera-ls does not evaluate by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LevelCode {
    /// The code's name, as `hiera.yaml` has it.
    pub name: Arc<str>,
    /// Whether the code is a backend of Hiera 3, and no function.
    pub is_hiera3: bool,
    /// The file that holds the code; `None` where the workspace has none.
    pub file: Option<FilePath>,
}

/// A function, as its source declares it.
#[derive(Clone, Debug)]
pub struct DeclaredFunction {
    /// The function's name as the source has it, in lower case.
    pub name: String,
    /// The bytes of the name in the file.
    pub name_range: TextRange,
    /// The comment above the function.
    pub documentation: Documentation,
    /// The function's signatures; `None` where they are known only by running the code.
    pub signatures: Option<Vec<FunctionSignature>>,
}

/// The namespace of an environment's own functions and types.
pub(crate) const ENVIRONMENT: &str = "environment";

/// Returns the name of a function as Puppet seeks it.
pub fn plain_name(name: &str) -> String {
    name.strip_prefix("::").unwrap_or(name).to_ascii_lowercase()
}

impl Level {
    /// Returns whether a function that is not Puppet's own reads the level.
    pub fn has_custom_function(&self) -> bool {
        let Backend { kind, name, .. } = &self.backend;
        let is_function = !matches!(kind, BackendKind::Hiera3 | BackendKind::LegacyFunction);
        is_function && built_in(&plain_name(name)).is_none()
    }
}

impl Snapshot {
    /// Returns where Puppet finds the source of a function.
    pub fn function_source(&self, environment: &Environment, name: &str) -> FunctionSource {
        let name = plain_name(name);
        if built_in(&name).is_some() {
            return FunctionSource::BuiltIn;
        }
        if let Some(path) = self.function_files(environment, &name).into_iter().next() {
            return FunctionSource::File(path);
        }
        match name.split_once("::") {
            None => FunctionSource::Nowhere,
            Some((module, _))
                if module == ENVIRONMENT || environment.modules.contains_key(module) =>
            {
                FunctionSource::NotInModule(module.into())
            }
            Some(_) => FunctionSource::ModuleAbsent,
        }
    }

    /// Returns the files that may hold a function with this plain name, the one first that Puppet
    /// most likely loads: of modules that have a function of one unqualified name, the order in which
    /// the file system lists them decides.
    pub(crate) fn function_files(&self, environment: &Environment, name: &str) -> Vec<FilePath> {
        const RUBY: &str = "lib/puppet/functions";
        let file_in = |root: &FilePath, folder: &str, name: &str, extension: &str| {
            let path = root.join(&format!("{folder}/{}.{extension}", name.replace("::", "/")));
            self.names.is_file(&path).then_some(path)
        };
        let Some((module_name, below)) = name.split_once("::") else {
            let own = file_in(&environment.root, RUBY, name, "rb")
                .or_else(|| file_in(&environment.root, "functions", name, "pp"));
            if let Some(own) = own {
                return vec![own];
            }
            let in_modules = |folder: &str| -> Vec<FilePath> {
                environment
                    .modules
                    .values()
                    .map(|module| &module.root)
                    .filter_map(|root| file_in(root, folder, name, "rb"))
                    .collect()
            };
            let found = in_modules(RUBY);
            return if found.is_empty() {
                in_modules("lib/puppet/parser/functions")
            } else {
                found
            };
        };
        let root = match environment.modules.get(module_name) {
            _ if module_name == ENVIRONMENT => &environment.root,
            Some(module) => &module.root,
            None => return Vec::new(),
        };
        let ruby = file_in(root, RUBY, name, "rb");
        let is_sought_in_puppets_language = module_name != ENVIRONMENT;
        let found = ruby.or_else(|| {
            is_sought_in_puppets_language.then(|| file_in(root, "functions", below, "pp")).flatten()
        });
        found.into_iter().collect()
    }

    /// Returns the code that the levels of all layers of an environment name, each once, in the order
    /// of the layers.
    pub fn code_of_levels(&self, environment: &Environment) -> Vec<LevelCode> {
        let mut all: Vec<LevelCode> = Vec::new();
        let levels = environment.all_configs().flat_map(|(_, config)| config.levels());
        for backend in levels.map(|level| &level.backend).filter(|one| one.data_reader().is_none())
        {
            let is_hiera3 = backend.kind == BackendKind::Hiera3;
            let file = if is_hiera3 {
                self.hiera3_files(environment, &backend.name).into_iter().next()
            } else {
                match self.function_source(environment, &backend.name) {
                    FunctionSource::BuiltIn => continue, // Of another kind: its call fails.
                    FunctionSource::File(path) => Some(path),
                    _ => None,
                }
            };
            let code = LevelCode { name: backend.name.clone(), is_hiera3, file };
            if !all.contains(&code) {
                all.push(code);
            }
        }
        all
    }

    /// Returns the files of modules that may hold a backend of Hiera 3, in the order of the modules.
    pub(crate) fn hiera3_files(&self, environment: &Environment, name: &str) -> Vec<FilePath> {
        let file = format!("lib/hiera/backend/{}_backend.rb", name.to_lowercase());
        let paths = environment.modules.values().map(|module| module.root.join(&file));
        paths.filter(|path| self.names.is_file(path)).collect()
    }

    /// Returns the function that a file defines; `None` where the text does not declare it
    /// statically, as for functions of Puppet 3.
    pub fn declared_function(&self, path: &FilePath) -> Option<DeclaredFunction> {
        let manifest = self.code_of_function(path)?;
        if let Some(function) = &manifest.function {
            return Some(DeclaredFunction {
                name: plain_name(&function.name),
                name_range: function.name_range,
                documentation: function.documentation.clone(),
                signatures: function.signatures.clone(),
            });
        }
        let definition =
            manifest.definitions.iter().find(|one| one.kind == DefinitionKind::Function)?;
        Some(DeclaredFunction {
            name: plain_name(&definition.name),
            name_range: definition.name_range,
            documentation: definition.documentation.clone(),
            signatures: definition.signature().filter(|_| manifest.complete).map(|one| vec![one]),
        })
    }

    fn code_of_function(&self, path: &FilePath) -> Option<Arc<Manifest>> {
        let module = path
            .ancestors()
            .find(|folder| matches!(folder.name(), "lib" | "functions"))
            .and_then(|folder| folder.parent());
        let module: Option<Arc<str>> = module.map(|root| root.name().into());
        Some(self.file(path)?.manifest(module.as_ref()))
    }

    /// Whether the functions that levels name are the same in a later snapshot, with the types that
    /// they use.
    pub fn has_same_functions(&self, later: &Snapshot) -> bool {
        later.environments().all.iter().all(|environment: &Arc<Environment>| {
            let levels = environment.all_configs().flat_map(|(_, config)| config.levels());
            let mut custom = levels.filter(|level| level.has_custom_function()).peekable();
            if custom.peek().is_none() {
                return true; // as with most
            }
            custom.all(|level| {
                function_code(self, level, environment) == function_code(later, level, environment)
            }) && self
                .known_manifests(environment)
                .is_none_or(|known| known.has_types_of(later.manifests(environment)))
        })
    }
}

fn function_code(
    snapshot: &Snapshot,
    level: &Level,
    environment: &Environment,
) -> Option<Arc<Manifest>> {
    match snapshot.function_source(environment, &level.backend.name) {
        FunctionSource::File(path) => snapshot.code_of_function(&path),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Fixture;

    #[test]
    fn a_name_means_the_file_that_puppet_loads() {
        let fixture = Fixture::new(
            r#"
#- /hiera.yaml
version: 5
#- /lib/puppet/functions/own.rb
Puppet::Functions.create_function(:own) { }
#- /functions/both.pp
function both() { }
#- /lib/puppet/functions/environment/own.rb
Puppet::Functions.create_function(:'environment::own') { }
#- /modules/m/lib/puppet/functions/m/a.rb
Puppet::Functions.create_function(:'m::a') { }
#- /modules/m/functions/a.pp
function m::a() { }
#- /modules/m/functions/deep/b.pp
function m::deep::b() { }
#- /modules/m/lib/puppet/functions/free.rb
Puppet::Functions.create_function(:free) { }
#- /modules/m/lib/puppet/parser/functions/old.rb
Puppet::Parser::Functions.newfunction(:old) { }
#- /modules/n/lib/puppet/functions/m/other.rb
Puppet::Functions.create_function(:'m::other') { }
#- /modules/n/manifests/init.pp
class n { }
#- /modules/m/manifests/init.pp
class m { }
"#,
        );
        let snapshot = &fixture.snapshot;
        let environment = &snapshot.environments().all[0];
        for (name, expected) in [
            ("yaml_data", "built in"),
            ("own", "lib/puppet/functions/own.rb"),
            ("both", "functions/both.pp"),
            ("environment::own", "lib/puppet/functions/environment/own.rb"),
            ("environment::both", "not in environment"),
            ("m::a", "modules/m/lib/puppet/functions/m/a.rb"),
            ("::M::A", "modules/m/lib/puppet/functions/m/a.rb"),
            ("m::deep::b", "modules/m/functions/deep/b.pp"),
            ("free", "modules/m/lib/puppet/functions/free.rb"),
            ("old", "modules/m/lib/puppet/parser/functions/old.rb"),
            ("m::other", "not in m"),
            ("absent::a", "absent"),
            ("nowhere", "nowhere"),
        ] {
            let found = match snapshot.function_source(environment, name) {
                FunctionSource::BuiltIn => "built in".to_owned(),
                FunctionSource::File(path) => path.as_str().trim_start_matches('/').to_owned(),
                FunctionSource::NotInModule(module) => format!("not in {module}"),
                FunctionSource::ModuleAbsent => "absent".to_owned(),
                FunctionSource::Nowhere => "nowhere".to_owned(),
            };
            assert_eq!(found, expected, "{name}");
        }
    }
}
