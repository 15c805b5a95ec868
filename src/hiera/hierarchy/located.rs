//! The levels of a layer in one scope, with their concrete locations.

use std::sync::Arc;

use crate::hiera::config::{Level, Template};
use crate::hiera::pattern::{Bindings, Pattern, PatternPiece};
use crate::text::{FilePath, Memo};

/// A level with its locations in one scope.
#[derive(Clone, Debug)]
pub struct LocatedLevel {
    /// The level.
    pub level: Arc<Level>,
    /// The level's locations, highest priority first; shared by the scopes in which they are the
    /// same.
    pub locations: Arc<[Location]>,
}

/// The levels of a layer in one scope. Copies are cheap.
#[derive(Clone, Debug, Default)]
pub struct LocatedLayer {
    /// Whether the layer takes part; one without a config does not, nor does one with a config that
    /// is passed over.
    pub takes_part: bool,
    /// The layer's levels.
    pub hierarchy: Arc<[LocatedLevel]>,
    /// A module's levels of last resort.
    pub default_hierarchy: Arc<[LocatedLevel]>,
}

/// A place that a level reads in a scope.
#[derive(Clone, Debug)]
pub struct Location {
    /// The template that the location comes from; `None` when the level names no location.
    pub template: Option<Template>,
    /// Puppet's name for the location's origin: the place as written; of a glob, the whole pattern
    /// with its tokens replaced.
    pub original: Arc<str>,
    /// Puppet's name for the place: a path as it was put together, or a URI; empty when the level
    /// names no location.
    pub name: Arc<str>,
    /// The place.
    pub place: LevelTarget,
    /// Whether the location is a file and the index knows all of its keys, see
    /// `Sources::is_indexed`.
    pub is_indexed: bool,
}

/// Where a location is.
#[derive(Clone, Debug)]
pub enum LevelTarget {
    /// A file; it exists if `exists`.
    File {
        /// The path of the file.
        path: FilePath,
        /// Whether the file is there.
        exists: bool,
    },
    /// A glob that names no file.
    NoMatch {
        /// The pattern, tokens replaced.
        pattern: String,
    },
    /// A place that is not a file.
    Uri(String),
    /// The level has no location: its backend is asked once.
    Nowhere,
    /// The location depends on unknown variables.
    Undetermined(Undetermined),
}

/// A location that an unknown variable decides.
#[derive(Clone, Debug)]
pub struct Undetermined {
    /// The variables that are unknown.
    pub variables: Vec<String>,
    /// The paths that the location may turn out to be; `None` when it is no file.
    pub pattern: Option<Pattern>,
}

/// The files that undetermined locations may name, by a location's pattern and a root key that they
/// define.
pub type SharedCandidates = Memo<(Arc<[PatternPiece]>, Arc<str>), Arc<[CandidateFile]>>;

/// A file that an undetermined location may turn out to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CandidateFile {
    /// The file.
    pub path: FilePath,
    /// The values that the unknown variables need for the location to be the file; variables for
    /// which several values would do are left out.
    pub when: Bindings,
    /// How many bytes of the location's path are literal.
    pub literal_len: usize,
}
