//! Parts of Ruby's core and standard libraries that Puppet's answers depend on.

pub mod base64;
pub mod glob;
pub mod inspect;
pub mod regex;
pub(crate) mod sprintf;
pub mod strings;
