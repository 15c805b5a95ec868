//! Reading YAML as Puppet reads it (libyaml's syntax, Psych's types), with places. Knows no Hiera.
//!
//! [`parse`], [`parse_json`] and [`parse_hocon`] make a [`Tree`] of any text. [`psych`] resolves
//! its scalars and tags, [`scalar`] locates a part of a scalar's text, and [`Tree::node_at`] finds
//! the node under a cursor.

mod accept;
mod builder;
mod control;
mod cut;
pub(crate) mod document;
mod entry;
mod hocon;
mod json;
mod navigate;
mod parse;
pub mod psych;
mod recover;
mod run;
pub mod scalar;
mod scan;
mod serde;
pub mod tree;

pub use accept::refusal_error;
pub use cut::{Cutter, cut_text, is_worth_it};
pub use entry::{Refused, Syntax, TopEntry};
pub use hocon::{parse_hocon, resolve_hocon};
pub use json::{parse_json, resolve_json};
pub use navigate::Located;
pub use parse::{parse, parse_for_editing, parse_for_editing_while, parse_while};
pub use psych::{Resolved, TagMeaning, resolve_plain, tag_meaning};
pub use scan::char_floor;
pub use serde::deserialize;
pub use tree::{Node, NodeId, NodeKind, PathStep, ScalarStyle, SyntaxError, SyntaxErrorKind, Tree};
