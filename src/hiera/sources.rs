//! The resolver's view of the world: parsed data by path, and names of files. The resolver cannot
//! read a file even by mistake.

use std::sync::Arc;

use super::config::{DataReader, HieraConfig, Level};
use super::data::DataFile;
use super::error::LookupError;
use super::hierarchy::located::Location;
use super::hierarchy::located::SharedCandidates;
use super::lookup_options::SharedOptions;
use super::scope::Scope;
use crate::text::FilePath;

/// The result of locating a level.
pub type LevelLocations = Result<Arc<[Location]>, LookupError>;

/// A level that is to be located in a scope.
pub struct LevelQuery<'a> {
    /// The config of the level.
    pub config: &'a HieraConfig,
    /// The level.
    pub level: &'a Arc<Level>,
    /// The scope.
    pub scope: &'a Scope,
    /// Whether an undefined variable may be an error (Puppet's `strict`). Then a kept result serves only
    /// scopes that define all variables.
    pub undefined_may_fail: bool,
    /// Locates the level without a memo.
    pub locate: &'a dyn Fn() -> LevelLocations,
}

/// The files of one moment, as the resolver sees them.
pub trait Sources {
    /// Returns the data of the file at `path`, read by `reader`; `None` when there is no such file.
    fn file_data(&self, path: &FilePath, reader: DataReader) -> Option<Arc<DataFile>>;

    /// Returns whether there is a file (or a folder) at `path`.
    fn exists(&self, path: &FilePath) -> bool;

    /// Returns whether the source of a function is here: in the environment or in one of its
    /// modules. Then it may be another one than the published one of that name.
    fn has_function(&self, name: &str) -> bool;

    /// Returns whether values of a root key may be Sensitive, so that no message quotes them.
    fn may_be_sensitive(&self, root: &str) -> bool;

    /// Returns whether there is a folder at `path`.
    fn is_folder(&self, path: &FilePath) -> bool;

    /// Returns whether there is a file at `path` that could not be read: nothing is known of its
    /// keys.
    fn is_unread(&self, path: &FilePath) -> bool;

    /// Returns why nothing is known of a path: it, or a folder above it, could not be listed. `None`
    /// where the listing is complete.
    fn unlisted_reason(&self, path: &FilePath) -> Option<String>;

    /// Returns the files that Ruby's `Dir.glob` finds for an absolute pattern, in its order.
    fn glob_files(&self, pattern: &str) -> Arc<[FilePath]>;

    /// Returns the known files that define a root key, in the order of their paths; perhaps some
    /// more.
    fn files_defining(&self, root: &str) -> &[FilePath];

    /// Returns whether some location names the file with variables that are each one part of its
    /// path, or of a part. Then no variable of another location holds slashes that make it this
    /// file.
    fn is_named_plainly(&self, path: &FilePath) -> bool;

    /// Returns whether the file is among the [`files_defining`](Sources::files_defining) each key
    /// that it has, for every level: some level's pattern names it, and all levels read it in the
    /// same way.
    fn is_indexed(&self, path: &FilePath) -> bool;

    /// Returns the known files whose path starts with this text, in the order of their paths.
    fn files_starting_with(&self, prefix: &str) -> Vec<FilePath>;

    /// Returns the locations of a level in a scope. A kept result for another scope serves if the
    /// variables that decide the locations have the same values.
    ///
    /// Errors: those of `locate`.
    fn level_locations(&self, level: &LevelQuery<'_>) -> LevelLocations;

    /// Returns the options that lookups have assembled from these files before; `None` where none
    /// are kept.
    fn shared_options(&self) -> Option<Arc<SharedOptions>>;

    /// Returns the candidates for undetermined locations that lookups in these files have found
    /// before; `None` where none are kept.
    fn shared_candidates(&self) -> Option<Arc<SharedCandidates>>;

    /// Returns the `hiera.yaml` of a module of the environment.
    fn module_layer(&self, name: &str) -> ModuleLayer;
}

/// The result of a search for a module and its config.
#[derive(Clone, Debug)]
pub enum ModuleLayer {
    /// No module of that name on the module path.
    NotFound,
    /// The module has no `hiera.yaml`, so no data of its own.
    WithoutConfig,
    /// The module's config.
    Config(Arc<HieraConfig>),
}
