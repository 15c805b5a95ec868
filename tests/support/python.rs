//! Python packages for a suite: a virtual environment below Cargo's directory for tests, made once
//! for each list of packages.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::on_path;

/// The interpreter of a virtual environment with exactly these packages (lines of pip's
/// requirements), or why there is none.
///
/// It is made where `HIERA_LS_REQUIRE` names `tool`, and made anew when the list changes. An
/// incomplete one is not used: the list is written last.
pub fn with_packages(tool: &str, name: &str, requirements: &str) -> Result<PathBuf, String> {
    super::may_install(tool)?;
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-python"));
    let interpreter = dir.join("bin/python");
    let made_from = dir.join("made-from.txt");
    if std::fs::read_to_string(&made_from).is_ok_and(|made_from| made_from == requirements) {
        return Ok(interpreter);
    }
    if !on_path("python3") {
        return Err("no python3 on PATH".into());
    }
    let list = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-requirements.txt"));
    std::fs::write(&list, requirements)
        .map_err(|error| format!("{} cannot be written: {error}", list.display()))?;
    succeed(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&dir))?;
    let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--requirement"];
    succeed(Command::new(&interpreter).args(pip).arg(&list))?;
    std::fs::write(&made_from, requirements)
        .map_err(|error| format!("{} cannot be written: {error}", made_from.display()))?;
    Ok(interpreter)
}

fn succeed(command: &mut Command) -> Result<(), String> {
    let output = command
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("{command:?} does not start: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let error = String::from_utf8_lossy(&output.stderr);
    Err(format!("{command:?} fails: {}", error.lines().last().unwrap_or_default()))
}
