//! The library behind `hiera-ls`: a language server and checker for Hiera data.
//!
//! Modules in reading order; each uses only those before it (`tests/house/architecture.rs` holds
//! them to that):
//!
//! - [`text`]: bytes, lines, columns, edits.
//! - [`yaml`]: the spanned tree of one file, read as Puppet reads it.
//! - [`hiera`]: the rules of Hiera, pure. Its heart is [`hiera::lookup`].
//! - [`manifest`]: manifests beside the data: declarations and calls that read data. Beside
//!   [`hiera`]; neither uses the other.
//! - [`disk`]: the only place that reads and writes files.
//! - [`eyaml`]: the user's keys for encrypted values.
//! - [`puppetdb`]: the nodes of a PuppetDB, asked for over the network; the only place that opens
//!   connections.
//! - [`workspace`]: many files over time; the only place with the notion of change.
//! - [`backends`]: the functions of levels, in a process that the user permits.
//! - [`diagnostics`]: the rules' catalogue, one file a rule.
//! - [`ide`]: hover, definition and their like, in editor words but without protocol types.
//! - [`settings`]: settings as written, to the configs of the above.
//! - [`server`]: the protocol, and the only `async`.
//! - [`cli`]: the command line.
//!
//! To add a rule: a file in `src/diagnostics/rules` with its page beside it, and two lines in
//! `rules/mod.rs`. To add a feature: a file in `src/ide` that starts at [`ide::cursor`], a handler and
//! a line of `dispatch.rs` in `server`, its capability in `capabilities.rs`. To add a setting: a field
//! in [`settings`], its use in the config that it belongs to, a line in the settings' table.

// Items that no other crate can reach are `pub(crate)`, so that the compiler sees unused ones.
// Tests share sources with other crates, where this is not so.
#![cfg_attr(not(test), warn(unreachable_pub))]

pub mod backends;
pub mod cli;
pub mod diagnostics;
pub mod disk;
pub mod eyaml;
#[cfg(test)]
pub(crate) mod fixture;
pub mod fleet;
pub mod hiera;
pub mod ide;
pub mod manifest;
pub mod puppet;
pub mod puppetdb;
pub mod server;
pub mod settings;
#[cfg(test)]
mod tests;
pub mod text;
pub mod workspace;
pub mod yaml;
