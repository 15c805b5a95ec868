//! Findings for the client: computed after each change, written as JSON once, and sent to the client
//! or stored for a client that requests them.

mod encoded;
mod indexing;
pub(super) mod publisher;
pub(super) mod pull;
