//! Lookups for many nodes at once: one lookup for all nodes that have the same answer.

pub mod alternatives;
pub mod answer_cache;
pub mod audience;
pub mod compare;
pub mod groups;
pub mod leaves;
mod node_caches;
pub mod node_set;
pub mod node_values;
pub mod proof;
mod questions;
#[cfg(test)]
mod tests;
pub mod ways;
