//! The packages for editors and the hooks for CI systems, in real editors and systems.

#[path = "../support/mod.rs"]
mod support;

#[allow(dead_code, reason = "tests/session uses all of it")]
#[path = "../session/transport/client.rs"]
mod transport_client;

mod checks;
mod clients;
mod grammar;
mod markdown;
mod workbench;
