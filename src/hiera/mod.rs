//! The rules of Hiera. Pure: no files, no protocol, no `async`, no clock.

pub mod glob;
pub mod merge;
pub mod value;

pub use value::{Data, Hash, Key, Member, Value};
