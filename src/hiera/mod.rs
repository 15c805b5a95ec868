//! The rules of Hiera. Pure: no files, no protocol, no `async`, no clock.

pub mod base64;
pub mod config;
pub mod convert;
pub mod data;
pub mod dig;
pub mod error;
pub mod explain;
pub mod eyaml;
mod fold;
pub mod glob;
pub mod hierarchy;
pub mod interpolation;
pub mod key;
pub mod lookup;
pub mod lookup_options;
pub mod merge;
pub mod pattern;
pub mod print;
pub mod request;
pub mod resolution;
pub mod rich;
pub mod ruby_regex;
pub mod scope;
mod shared;
pub mod sources;
pub mod types;
pub mod value;
pub mod wanted;

pub use key::{LookupKey, Segment};
pub use scope::{Scope, Variable};
pub use value::{Data, Hash, Key, Member, Value};
pub use wanted::Wanted;
