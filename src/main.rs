//! The `hiera-ls` command.
fn main() {}
