//! Reading YAML as Puppet reads it (libyaml's syntax, Psych's types), with places. Knows no Hiera.

mod parse;
mod recover;
mod scan;
pub mod tree;

pub use parse::{parse, verdict};
pub use recover::entries;
pub use tree::{Node, NodeId, NodeKind, PathStep, ScalarStyle, SyntaxError, Tree};
