//! PuppetDB as a source of nodes: a real one, with its failures.

#![cfg(target_os = "linux")]

#[path = "../support/mod.rs"]
mod support;

#[allow(dead_code, reason = "tests/session uses all of it")]
#[path = "../session/transport/client.rs"]
mod transport_client;

mod command_line;
mod editor;
mod fleet;
mod proxy;
mod real;
