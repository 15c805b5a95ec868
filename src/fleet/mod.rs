//! Lookups for many nodes at once: one lookup for all nodes that have the same answer.

pub mod alternatives;
pub mod audience;
pub mod compare;
pub mod groups;
pub mod leaves;
pub mod node_values;
pub mod ways;
pub mod node_answers;
mod questions;
#[cfg(test)]
mod tests;
