//! Edits and requests over time: the state after each edit, and the answers of a server meanwhile.

#[path = "../support/mod.rs"]
mod support;

#[allow(dead_code, reason = "the benches use all of it")]
#[path = "../../benches/session/client.rs"]
mod client;
#[allow(dead_code, reason = "the benches use all of it")]
#[path = "../../benches/session/generate.rs"]
mod generate;
#[allow(dead_code, reason = "the benches use all of it")]
#[path = "../../benches/session/typing.rs"]
mod keyboard;
#[path = "../../benches/session/library.rs"]
mod library;

mod consistency;
mod equivalence;
mod faults;
mod fixes;
mod fuzz;
mod levels;
mod logging;
mod opening;
#[cfg(unix)]
mod outside;
mod overrides;
mod protocol;
mod reach;
mod refactorings;
#[cfg(target_os = "linux")]
mod refused;
mod renames;
mod repositories;
mod settings;
mod stopping;
mod transport;
mod typing;
