//! A snapshot as the lookups of one environment see it.

use std::sync::Arc;

use super::functions::FunctionSource;
use crate::disk::{DiskEntry, FileSystem, OsFs};
use crate::eyaml::{self, EnvironmentKeys};
use crate::hiera::config::DataReader;
use crate::hiera::data::DataFile;
use crate::hiera::eyaml::KeySource;
use crate::hiera::hierarchy::located::SharedCandidates;
use crate::hiera::lookup::Context;
use crate::hiera::lookup_options::SharedOptions;
use crate::hiera::scope::Scope;
use crate::hiera::sources::{LevelLocations, LevelQuery, ModuleLayer, Sources};
use crate::puppet::ruby::base64;
use crate::puppet::value::Member;
use crate::text::FilePath;
use crate::workspace::environments::Environment;
use crate::workspace::files::file::Content;
use crate::workspace::snapshot::Snapshot;

impl Snapshot {
    /// Returns the files of an environment, as the resolver sees them.
    pub fn view<'a>(&'a self, environment: &'a Environment) -> EnvironmentView<'a> {
        EnvironmentView { snapshot: self, environment: Some(environment) }
    }

    /// Returns the context of lookups in an environment, for an editor: the readable parts of
    /// broken files count.
    pub fn lookup_context<'a>(
        &'a self,
        environment: &'a Environment,
        view: &'a EnvironmentView<'a>,
        scope: &'a Scope,
    ) -> Context<'a> {
        Context {
            sources: view,
            global: environment.global.clone(),
            environment: environment.config.clone(),
            scope,
            puppet: self.config_of(environment).puppet,
            decryptor: None,
            backends: None,
            tolerant: true,
            are_files_accepted: false,
            cancel: &self.cancel,
        }
    }

    /// Returns the decryptor for values of an environment; `None` unless the user has switched it
    /// on. [`Snapshot::lookup_context`] leaves it out: rules decrypt nothing, only answers to the user's
    /// own questions do.
    pub fn eyaml_decryptor<'a>(
        &'a self,
        environment: &'a Environment,
    ) -> Option<EnvironmentKeys<'a>> {
        self.eyaml.as_ref().map(|keys| keys.decryptor_in(&environment.root))
    }

    /// Encrypts a text as hiera-eyaml does, with the public key that a level of an environment
    /// names; only where the user asks for it. Returns the text for the file, `ENC[PKCS7,…]`.
    ///
    /// Errors: why the key cannot be used.
    pub fn encrypt_text(
        &self,
        environment: &Environment,
        plain: &str,
        key: &KeySource,
    ) -> Result<String, String> {
        let access = (&self.config.eyaml, &self.folders, Arc::new(OsFs) as Arc<dyn FileSystem>);
        let message = eyaml::encrypt(plain.as_bytes(), key, &environment.root, access)?;
        Ok(format!("ENC[PKCS7,{}]", base64::encode(&message)))
    }
}

/// A snapshot as one environment's lookups see it: modules are the environment's own.
#[derive(Clone, Copy, Debug)]
pub struct EnvironmentView<'a> {
    pub(in crate::workspace) snapshot: &'a Snapshot,
    pub(in crate::workspace) environment: Option<&'a Environment>,
}

impl Sources for EnvironmentView<'_> {
    fn file_data(&self, path: &FilePath, reader: DataReader) -> Option<Arc<DataFile>> {
        Some(self.snapshot.file(path)?.data_as(reader.format))
    }

    fn exists(&self, path: &FilePath) -> bool {
        self.snapshot.names.entries.contains_key(path)
    }

    fn has_function(&self, name: &str) -> bool {
        matches!(
            self.environment.map(|environment| self.snapshot.function_source(environment, name)),
            Some(FunctionSource::File(_))
        )
    }

    fn may_be_sensitive(&self, root: &str) -> bool {
        self.snapshot.may_be_sensitive(root)
    }

    fn is_folder(&self, path: &FilePath) -> bool {
        matches!(self.snapshot.names.entries.get(path), Some(DiskEntry::Folder { .. }))
    }

    fn is_unread(&self, path: &FilePath) -> bool {
        // Each lookup asks for most files that it reads, and the index has the answer for all.
        self.snapshot.keys().is_unread(path)
            && self.snapshot.file(path).map(|file| matches!(file.content, Content::Unreadable(_)))
                == Some(true)
    }

    fn unlisted_reason(&self, path: &FilePath) -> Option<String> {
        let unlisted = &self.snapshot.unlisted;
        if unlisted.is_empty() {
            return None;
        }
        unlisted.get(path).map(ToString::to_string).or_else(|| {
            path.ancestors().find_map(|folder| unlisted.get(&folder).map(ToString::to_string))
        })
    }

    fn glob_files(&self, pattern: &str) -> Arc<[FilePath]> {
        self.snapshot.names.glob_files(pattern)
    }

    fn files_defining(&self, root: &str) -> &[FilePath] {
        self.snapshot.keys().definitions(root)
    }

    fn is_named_plainly(&self, path: &FilePath) -> bool {
        self.environment.is_some_and(|environment| environment.path_matches(path).next().is_some())
    }

    fn is_indexed(&self, path: &FilePath) -> bool {
        self.environment.is_some_and(|environment| {
            environment.are_formats_one && environment.reaches_file(path)
        })
    }

    fn files_starting_with(&self, prefix: &str) -> Vec<FilePath> {
        self.snapshot.paths_starting_with(prefix).cloned().collect()
    }

    fn level_locations(&self, level: &LevelQuery<'_>) -> LevelLocations {
        match self.environment {
            Some(environment) => environment.cache.level_locations(level),
            None => (level.locate)(),
        }
    }

    fn shared_options(&self) -> Option<Arc<SharedOptions>> {
        Some(self.snapshot.keys().shared_options(&self.environment?.root))
    }

    fn shared_candidates(&self) -> Option<Arc<SharedCandidates>> {
        Some(self.snapshot.keys().shared_candidates(&self.environment?.root))
    }

    fn module_layer(&self, name: &str) -> ModuleLayer {
        match self.environment.and_then(|environment| environment.modules.get(name)) {
            None => ModuleLayer::NotFound,
            Some(module) => {
                module.config.clone().map_or(ModuleLayer::WithoutConfig, ModuleLayer::Config)
            }
        }
    }
}

impl EnvironmentView<'_> {
    /// Returns the data of a file, read as the level that reads the file does.
    pub fn data_of(&self, path: &FilePath) -> Option<Arc<DataFile>> {
        let reader = self
            .environment
            .and_then(|environment| environment.data_reader(path))
            .unwrap_or(DataReader::YAML);
        self.file_data(path, reader)
    }

    /// Returns the members under a root key in the files that the environment's levels read, in the
    /// order of their paths.
    pub fn root_members(&self, root: &str) -> impl Iterator<Item = Member> {
        let files = self.snapshot.keys().definitions(root).iter().filter(|path| {
            self.environment.is_some_and(|environment| environment.reaches_file(path))
        });
        files.filter_map(move |path| Some(self.data_of(path)?.get(root)?.clone()))
    }

    /// Whether any file that the environment's levels read defines a root key.
    pub fn is_defined(&self, root: &str) -> bool {
        // Some environment reads each file in the index. Most workspaces have one environment: then
        // it is the reader.
        let is_the_only_one = self.snapshot.environments.all.len() == 1;
        if is_the_only_one {
            !self.snapshot.keys().definitions(root).is_empty()
        } else {
            self.root_members(root).next().is_some()
        }
    }
}
