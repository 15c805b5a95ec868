//! Answers of Puppet, and that hiera-ls gives the same: recorded ones, and live ones where Puppet
//! and Ruby are installed.

#[path = "../support/mod.rs"]
mod support;

#[allow(dead_code, reason = "tests/session uses all of it")]
#[path = "../session/transport/client.rs"]
mod transport_client;

mod scenario;
mod typed;

mod aliases;
mod backends;
mod bridge;
mod catalogs;
mod configs;
mod confinement;
mod conformance;
mod control_repo;
mod conversions;
mod differential;
mod edits;
mod explanations;
mod eyaml;
mod fleet;
#[cfg(unix)]
mod globs;
mod lookup_function;
mod manifests;
mod merges;
mod parameters;
mod psych;
mod regexes;
mod rehearsals;
mod types;
mod upgrades;
