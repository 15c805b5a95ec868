//! A data file that is probably out of use.

use std::sync::Arc;

/// A data file that no stated node reads, while stated nodes read most files of its level.
#[derive(Debug)]
pub struct StaleFile {
    /// The name of the level.
    pub level: Arc<str>,
    /// How many files of the level's location stated nodes read.
    pub read: usize,
    /// How many files the level's location has.
    pub all: usize,
    /// The node that only the name of the file tells of, if it is a node's file.
    pub node: Option<Arc<str>>,
}
