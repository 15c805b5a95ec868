//! Memos: results computed about an environment and its files, kept for the next request.
//!
//! One rule of eviction holds for all memos. A memo belongs to one value of
//! [`Environments`](crate::workspace::environments::Environments) or [`DiskNames`](crate::workspace::files::names::DiskNames), which are
//! rebuilt whenever names, configs, settings or nodes change, and is dropped with it. A memo that
//! has reached its capacity is emptied before the next answer is kept.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use foldhash::HashMap;

use crate::hiera::config::{HieraConfig, Level};
use crate::hiera::hierarchy::DecisiveVariables;
use crate::hiera::hierarchy::located::Location;
use crate::hiera::key::LookupKey;
use crate::hiera::scope::Scope;
use crate::hiera::sources::{LevelLocations, LevelQuery};
use crate::text::FilePath;
use crate::text::Memo;
use crate::workspace::nodes::node::{Kinds, Node};
use crate::workspace::nodes::reading::{NodeColumn, NodesByValue, NodesReading};
use crate::workspace::nodes::stale_files::StaleFile;

/// Capacity of memos with an entry a file: more than a workspace lists.
const FILES: usize = 1 << 20;
/// Capacity of the memo of variables whose values distinguish nodes.
const VARIABLES: usize = 4096;
/// Capacity of the memo of levels: more than an environment has.
const LEVELS: usize = 1 << 16;
/// Capacity of the memo of a level's locations, by the values of the variables that decide them.
const TUPLES: usize = 4096;

/// The role of a file in an environment.
#[derive(Clone, Copy, Debug)]
pub(in crate::workspace) struct Role {
    /// Whether the file is one of the environment's configs.
    pub is_config: bool,
    /// The number of the location that decides how the file is read, if some level can read it.
    pub reach: Option<usize>,
}

/// All memos of one environment.
#[derive(Debug)]
pub(in crate::workspace) struct EnvironmentCache {
    /// The roles of files that have one: a scan asks about every file on disk.
    pub roles: Memo<FilePath, Role>,
    /// All nodes of the environment.
    pub nodes: OnceLock<Arc<[Arc<Node>]>>,
    /// The numbers of the nodes by name: mostly one.
    pub node_numbers: OnceLock<HashMap<Arc<str>, Vec<usize>>>,
    /// The kinds of nodes, where no node is known.
    pub kinds: OnceLock<Kinds>,
    /// The nodes that read a file.
    pub readers: Memo<FilePath, Arc<NodesReading>>,
    /// The scope that follows from a file's own path, with derived variables.
    pub scopes: Memo<FilePath, Arc<Scope>>,
    /// The nodes by the value of a variable that locations name.
    pub nodes_by_value: Memo<LookupKey, Arc<NodesByValue>>,
    /// The variables that name nodes.
    pub node_variables: OnceLock<Vec<String>>,
    /// The data files that are probably out of use.
    pub stale_files: OnceLock<BTreeMap<FilePath, StaleFile>>,
    /// The names of the levels without any file.
    pub levels_without_files: OnceLock<Vec<String>>,
    /// The nodes by the values of a variable that data or locations read.
    pub columns: Memo<Arc<str>, Arc<NodeColumn>>,
    /// The nodes by the locations that unknown variables leave open.
    pub open_locations: OnceLock<Arc<NodeColumn>>,
    /// Levels and their locations, keyed by the level's address.
    levels: Memo<usize, Arc<LevelMemo>>,
    /// Lists of many readers, each once.
    shared_readers: Mutex<Vec<Arc<NodesReading>>>,
}

impl Default for EnvironmentCache {
    fn default() -> EnvironmentCache {
        EnvironmentCache {
            roles: Memo::new(FILES),
            nodes: OnceLock::new(),
            node_numbers: OnceLock::new(),
            kinds: OnceLock::new(),
            readers: Memo::new(FILES),
            scopes: Memo::default(),
            nodes_by_value: Memo::new(VARIABLES),
            node_variables: OnceLock::new(),
            stale_files: OnceLock::new(),
            levels_without_files: OnceLock::new(),
            columns: Memo::new(VARIABLES),
            open_locations: OnceLock::new(),
            levels: Memo::new(LEVELS),
            shared_readers: Mutex::default(),
        }
    }
}

/// A level in the scopes that were asked for.
#[derive(Debug)]
pub(in crate::workspace) struct LevelMemo {
    /// The level, kept alive so that no other level can get its address.
    _level: Arc<Level>,
    /// The variables that decide the level's locations.
    pub variables: DecisiveVariables,
    located: Memo<String, Arc<[Location]>>,
    /// The class of each node: nodes of one class have the same locations, and read a file of the
    /// level or do not read it together.
    pub classes: OnceLock<NodeColumn>,
}

impl EnvironmentCache {
    /// Returns the memo of a level of a config; `None` for a level that only its caller has.
    pub(in crate::workspace) fn level_memo(
        &self,
        config: &HieraConfig,
        level: &Arc<Level>,
    ) -> Option<Arc<LevelMemo>> {
        let address = Arc::as_ptr(level).addr();
        if let Some(known) = self.levels.get(&address) {
            return Some(known);
        }
        config.levels().find(|known| Arc::ptr_eq(known, level))?;
        Some(self.levels.get_or(&address, || {
            Arc::new(LevelMemo {
                _level: level.clone(),
                variables: DecisiveVariables::of_level(config, level),
                located: Memo::new(TUPLES),
                classes: OnceLock::new(),
            })
        }))
    }

    /// Returns the locations of a level in a scope: those that were located for a scope with the
    /// same values, or those that `locate` returns.
    ///
    /// Errors: those of `locate`.
    pub(in crate::workspace) fn level_locations(&self, level: &LevelQuery<'_>) -> LevelLocations {
        let LevelQuery { config, level, scope, undefined_may_fail, locate } = *level;
        let Some(memo) = self.level_memo(config, level) else { return locate() };
        // The memo may have the locations from a caller for which an undefined variable is no
        // error.
        if undefined_may_fail && memo.variables.has_undefined(scope) {
            return locate();
        }
        let Some(values) = memo.variables.values_in(scope) else { return locate() };
        if let Some(known) = memo.located.get(&values) {
            return Ok(known);
        }
        let found = locate()?;
        memo.located.insert(values, found.clone());
        Ok(found)
    }

    /// Returns the nodes that read a file, shared with other files that the same nodes read.
    pub(in crate::workspace) fn share_readers(&self, readers: NodesReading) -> Arc<NodesReading> {
        const MANY: usize = 64;
        if readers.all_nodes().len() < MANY {
            return Arc::new(readers);
        }
        let mut known = self.shared_readers.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(same) = known.iter().find(|known| ***known == readers) {
            return same.clone();
        }
        let readers = Arc::new(readers);
        known.push(readers.clone());
        readers
    }
}
