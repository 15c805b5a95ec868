//! Memos: results computed about an environment and its files, kept for the next request.
//!
//! One rule of eviction holds for all memos. A memo belongs to one value of
//! [`Environments`](super::environments::Environments) or [`DiskNames`](super::names::DiskNames), which are
//! rebuilt whenever names, configs, settings or nodes change, and is dropped with it. A memo that
//! has reached its capacity is emptied before the next answer is kept.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use foldhash::HashMap;

use super::memo::Memo;
use super::nodes::node::{Kinds, Node};
use super::readers::nodes::{NodesByValue, NodesReading};
use crate::hiera::config::Layer;
use crate::hiera::error::LookupError;
use crate::hiera::hierarchy::located::LocatedLayer;
use crate::hiera::key::LookupKey;
use crate::hiera::scope::Scope;
use crate::hiera::sources::Locate;
use crate::text::FilePath;

/// Capacity of memos with an entry a file: more than a workspace lists.
const FILES: usize = 1 << 20;
/// Capacity of the memo of variables whose values distinguish nodes.
const VARIABLES: usize = 4096;
/// Capacity of the memo of scopes whose levels are kept: those of the files and nodes in use.
const SCOPES: usize = 256;

/// The role of a file in an environment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Role {
    /// Whether it is one of the environment's configs.
    pub(super) is_config: bool,
    /// The number of the location that decides how it is read, if some level can read it.
    pub(super) reach: Option<usize>,
}

/// All memos of one environment.
#[derive(Debug)]
pub(super) struct EnvironmentCache {
    /// The roles of files that have one: a scan asks about every file on disk.
    pub(super) roles: Memo<FilePath, Role>,
    /// All nodes of the environment.
    pub(super) nodes: OnceLock<Arc<[Arc<Node>]>>,
    /// The kinds of nodes, where no node is known.
    pub(super) kinds: OnceLock<Kinds>,
    /// The nodes that read a file.
    pub(super) readers: Memo<FilePath, Arc<NodesReading>>,
    /// The scope that follows from a file's own path, with derived variables.
    pub(super) scopes: Memo<FilePath, Arc<Scope>>,
    /// The nodes by the value of a variable that locations name.
    pub(super) nodes_by_value: Memo<LookupKey, Arc<NodesByValue>>,
    /// The variables that name nodes.
    pub(super) node_variables: OnceLock<Vec<String>>,
    /// The names of the levels without any file.
    pub(super) levels_without_files: OnceLock<Vec<String>>,
    /// Located levels of recently used scopes, keyed by the scope's address.
    located: Memo<usize, Arc<LevelsInScope>>,
}

impl Default for EnvironmentCache {
    fn default() -> EnvironmentCache {
        EnvironmentCache {
            roles: Memo::new(FILES),
            nodes: OnceLock::new(),
            kinds: OnceLock::new(),
            readers: Memo::new(FILES),
            scopes: Memo::new(FILES),
            nodes_by_value: Memo::new(VARIABLES),
            node_variables: OnceLock::new(),
            levels_without_files: OnceLock::new(),
            located: Memo::new(SCOPES),
        }
    }
}

/// The levels of layers in one scope.
#[derive(Debug)]
struct LevelsInScope {
    /// Kept alive so that no other scope can get its address.
    _scope: Arc<Scope>,
    layers: Mutex<HashMap<Layer, LocatedLayer>>,
}

fn scope_address(scope: &Scope) -> usize {
    std::ptr::from_ref(scope).addr()
}

impl EnvironmentCache {
    /// Caches the levels of this scope once they are located, unless only the caller holds the
    /// scope: then it is not used again.
    pub(super) fn keep_levels_of(&self, scope: &Arc<Scope>) {
        if Arc::strong_count(scope) < 2 {
            return;
        }
        self.located.get_or(&scope_address(scope), || {
            Arc::new(LevelsInScope { _scope: scope.clone(), layers: Mutex::default() })
        });
    }

    /// Returns the levels of a layer in a scope: those that were kept, or those that `locate`
    /// gives.
    ///
    /// Errors: those of `locate`.
    pub(super) fn located_levels(
        &self,
        scope: &Scope,
        layer: &Layer,
        locate: Locate<'_>,
    ) -> Result<LocatedLayer, LookupError> {
        let Some(in_scope) = self.located.get(&scope_address(scope)) else { return locate() };
        let layers = || in_scope.layers.lock().unwrap_or_else(PoisonError::into_inner);
        let known = layers().get(layer).cloned();
        if let Some(known) = known {
            return Ok(known);
        }
        let found = locate()?;
        layers().insert(layer.clone(), found.clone());
        Ok(found)
    }
}
