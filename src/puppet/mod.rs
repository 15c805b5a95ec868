//! Puppet's values and types. Knows no Hiera and no files.

pub mod convert;
pub(crate) mod escapes;
pub mod legacy_facts;
pub mod print;
pub mod rich;
pub mod ruby;
pub mod types;
pub mod value;
pub mod version;

pub use value::{Data, Hash, Key, Member, Value};
pub use version::{LegacyFacts, PuppetVersion, Strict};
