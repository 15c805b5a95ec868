//! Questions about many nodes at once, answered with one lookup for all nodes that it concerns
//! alike.

pub mod alternatives;
pub mod groups;
