//! Nodes: their parts in files, the variables that the names of data files show, and the scope made
//! of both.

mod build;
pub(super) mod given;
mod inferred;
mod kinds;
mod list;
mod needed;
pub(super) mod node;
pub(super) mod parts;
mod pattern_blocks;
mod positions;
mod projected;
mod queries;
mod read;
pub(super) mod reading;
pub(super) mod source;
pub(super) mod sources;
pub(super) mod stale_files;
pub(super) mod steps;
mod values;

pub use build::literal_scope;
pub use kinds::same_fact;
pub use node::{Kinds, Node};
pub use read::{scope_of_name, scopes_of};
pub use reading::{FileTurn, NodeColumn, NodesReading, Reads};
pub use source::{NodeSource, SaidAs, VariableSource, VariableSources};
pub use steps::{InferStep, Steps};
pub use values::{from_json, read_values};

#[cfg(test)]
mod tests;
