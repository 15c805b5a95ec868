//! What Ruby's core and standard libraries do, where Puppet's answers depend on it.

pub mod base64;
pub mod glob;
pub mod inspect;
pub mod regex;
pub(crate) mod sprintf;
