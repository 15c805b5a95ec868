//! The code beside the data: the places of classes, defined types and type aliases, the calls that
//! read each key, and the places that declare each class.
//!
//! A [`ManifestIndex`] belongs to one environment of one snapshot. It is computed on first use, and
//! patched after an edit: the entries of a file are replaced, and all others are shared with the
//! index before it. `files` decides by names alone which code belongs to which environment; `lazy`
//! keeps the indexes of a snapshot, which `build` computes; `changes` computes the keys that a change
//! concerns; `asked` the merge strategies that calls ask for; `values` the values of parameters that
//! no declaration gives.

mod asked;
mod build;
mod changes;
mod files;
mod index;
pub(super) mod lazy;
mod query;
mod standing;
#[cfg(test)]
mod tests;
mod values;

pub use asked::{AskedMerges, CallStrategy, CalledMerge, MergingCall, asked_strategy};
pub use changes::CodeChanges;
pub use files::{CodeModule, CodeModules, CodePlace};
pub(in crate::workspace) use files::{code_files, find_modules};
pub use index::{CodeFile, ManifestIndex};
pub use query::{DefinitionAt, ModuleOrigin, ParameterAt, ReaderAt, UseAt, split_key};
pub use standing::KeyStanding;
pub use values::ParameterValue;
