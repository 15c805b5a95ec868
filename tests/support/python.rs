//! Python packages for a suite: a virtual environment below Cargo's directory for tests, made once
//! for each list of packages.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::on_path;

/// The interpreter of a virtual environment with exactly these packages (lines of pip's
/// requirements), or why there is none. Made where `HIERA_LS_REQUIRE` names `tool`, and anew when the
/// list changes.
pub fn with_packages(tool: &str, name: &str, requirements: &str) -> Result<PathBuf, String> {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-python"));
    let made = super::make_once(tool, dir, requirements, |dir| {
        if !on_path("python3") {
            return Err("no python3 on PATH".into());
        }
        succeed(Command::new("python3").args(["-m", "venv"]).arg(dir))?;
        let list = dir.join("requirements.txt");
        std::fs::write(&list, requirements)
            .map_err(|error| format!("{} cannot be written: {error}", list.display()))?;
        let pip = ["install", "--quiet", "--disable-pip-version-check", "--requirement"];
        succeed(Command::new(interpreter(dir)).args(["-m", "pip"]).args(pip).arg(&list))
    });
    made.map(|dir| interpreter(&dir))
}

/// The interpreter of a virtual environment.
fn interpreter(dir: &Path) -> PathBuf {
    dir.join("bin/python")
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
