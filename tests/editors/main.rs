//! What is shipped for editors and for CI systems, in the real ones.

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
