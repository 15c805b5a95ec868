//! Reading YAML as Puppet reads it (libyaml's syntax, Psych's types), with places. Knows no Hiera.

pub mod tree;

pub use tree::{Node, NodeId, NodeKind, PathStep, ScalarStyle, SyntaxError, Tree};
