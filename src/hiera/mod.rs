//! The rules of Hiera. Pure: no files, no protocol, no `async`, no clock.

pub mod config;
pub mod interpolation;
pub mod key;
pub mod pattern;
pub mod ruby_regex;
pub mod scope;
pub mod value;

pub use key::{LookupKey, Segment};
pub use scope::{Scope, Variable};
pub use value::{Data, Hash, Key, Member, Value};
