//! The server's standard input and output, driven by a client that sends arbitrary bytes: malformed
//! messages, and peers that go away.

pub mod client;
mod ends;
mod malformed;
mod states;
