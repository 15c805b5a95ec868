//! Manifests (`.pp`), templates and Ruby code beside the data: their declarations and their reads
//! of data. Pure: text in, plain data with byte ranges out; no files, no Hiera.
//!
//! Only headers are parsed. Bodies are lexed, with brackets paired, and searched for the calls and
//! declarations that matter to data: [`model::Manifest`] lists them. Half-typed text is input like
//! any other; [`model::Manifest::complete`] is `false` if something may be missing.
//!
//! In reading order: `token`, `lexer` with `strings`, `expression`, `header`, `named`, `documentation`,
//! `walk` with `readers`, `uses` and `nodes`, `ruby` with its functions, `rspec`, `loads`. `tests/puppet/manifests`
//! compares declarations and calls with those of real Puppet. Source: the grammar and the lexer of Puppet
//! 7.23, as its answers show them.

mod documentation;
mod expression;
mod header;
mod heredoc;
mod lexer;
mod loads;
pub mod model;
pub mod named;
mod nodes;
mod puppetfile;
mod readers;
mod rspec;
mod ruby;
mod strings;
mod token;
mod uses;
mod variables;
mod walk;

#[cfg(test)]
mod tests;

pub use loads::{Load, find_manifest_loads, find_ruby_loads};
pub use model::Manifest;
pub use puppetfile::{InstalledModule, parse_puppetfile};
pub use rspec::{DescribedHost, parse_hosts};
pub use ruby::{parse_ruby_calls, parse_ruby_function};
pub use variables::{VariableUse, find_variables};

pub use lexer::Language;

/// Reads a manifest. `module` is the module that the file belongs to, which `$module_name` names.
pub fn parse(text: &str, module: Option<&str>) -> Manifest {
    walk::walk(text, module, Language::Manifest)
}

/// Reads an EPP template.
pub fn parse_epp(text: &str, module: Option<&str>) -> Manifest {
    walk::walk(text, module, Language::Epp)
}
