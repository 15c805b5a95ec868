//! Questions to a snapshot: its files as a node sees them, the nodes that read a file, the scopes of files,
//! and the snapshot after a change.

pub mod change_gate;
pub mod functions;
pub mod readers;
mod scopes;
pub mod seen;
mod sensitivity;
mod trial;
pub mod ungoverned;
pub mod view;
