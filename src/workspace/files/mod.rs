//! The files of a workspace: their names and kinds, their contents as they are read, the folders that
//! are read, and the trees of git revisions.

pub mod file;
pub mod git;
pub mod kinds;
pub mod mapping;
pub mod names;
pub mod parallel;
pub mod scan;
