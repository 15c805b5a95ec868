//! The requests of the protocol, one file for each group: parameters in, a feature of `ide` asked on
//! a snapshot, its plain data converted. `server::mod` routes the messages here.

mod actions;
mod announced;
mod beside;
mod calls;
mod coloring;
mod completion;
mod evaluate;
mod navigation;
mod parts;
mod progress;
mod references;
mod rename;
mod structure;
mod symbols;

pub(super) use announced::{Announced, add_capabilities};
pub(super) use beside::refresh;
pub(super) use coloring::LastTokens;
pub(super) use evaluate::is_switched_on;
pub(super) use parts::send_part;
