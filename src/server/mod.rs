//! The protocol.
/// Serves.
pub fn run() -> std::process::ExitCode { std::process::ExitCode::from(2) }
