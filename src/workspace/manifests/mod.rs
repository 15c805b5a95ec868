//! The code beside the data: which class, defined type and type alias stands where, which calls
//! read which key, and which places declare which class.
//!
//! A [`ManifestIndex`] belongs to one environment of one snapshot. It is made when it is first asked
//! for, and patched after an edit: what a file says is taken out and put in, and all else is shared
//! with the index before it. `files` tells by names alone which code belongs to which environment;
//! `lazy` keeps the indexes of a snapshot; `changes` tells which keys a change concerns; `asked` which
//! merge strategies calls ask for.

mod asked;
mod changes;
mod files;
mod index;
mod lazy;
mod query;
mod standing;
#[cfg(test)]
mod tests;

pub use asked::{CalledMerge, MergingCall, asked_strategy};
pub use changes::CodeChanges;
pub use files::{CodeModule, CodeModules, CodePlace};
pub(in crate::workspace) use files::{code_files, modules};
pub use index::{CodeFile, ManifestIndex};
pub(in crate::workspace) use lazy::LazyManifests;
pub use query::{DefinitionAt, ModuleOrigin, ParameterAt, ReaderAt, UseAt, split_key};
pub use standing::KeyStanding;
