//! The rules of Hiera. Pure: no files, no protocol, no `async`, no clock.

pub mod backends;
pub mod config;
mod confinement;
pub mod data;
pub mod dig;
pub mod error;
pub mod explain;
pub mod eyaml;
mod fold;
pub mod hierarchy;
pub mod interpolation;
pub mod key;
pub mod lookup;
pub mod lookup_options;
pub mod merge;
pub mod pattern;
pub mod request;
pub mod resolution;
pub mod scope;
pub mod services;
pub(crate) mod shared;
pub mod sources;
mod without;

pub use key::{KeySegment, LookupKey};
pub use scope::{Scope, Variable};
