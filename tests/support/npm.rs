//! Packages of npm for a suite: a folder below Cargo's directory for tests, made once for each list
//! of packages. And the browser that some of them drive.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The package that drives a browser; it brings none.
pub const PLAYWRIGHT: &str = "playwright-core@1.65.1";

/// The folder `node_modules` with these packages (`name@version`), or why there is none: they are
/// fetched where `HIERA_LS_REQUIRE` names npm. None of their scripts is run.
pub fn with_packages(name: &str, packages: &[&str]) -> Result<PathBuf, String> {
    made_once("npm", name, &packages.join(" "), |folder| {
        run(folder, None, &[&["install", "--ignore-scripts"], packages].concat())
    })
    .map(|folder| folder.join("node_modules"))
}

/// A folder for packages of npm that `make` fills (see [`super::make_once`]).
pub fn made_once(
    tool: &str,
    name: &str,
    recipe: &str,
    make: impl FnOnce(&Path) -> Result<(), String>,
) -> Result<PathBuf, String> {
    let folder = folder_without_spaces().join(format!("{name}-node"));
    super::make_once(tool, folder, recipe, |folder| {
        std::fs::write(folder.join("package.json"), "{\"private\": true}")
            .map_err(|error| error.to_string())?;
        make(folder)
    })
}

/// Returns Cargo's directory for tests; another one where its path has a space: programs that are
/// compiled as parts of packages do not find their headers there. The folder is the same in later runs.
fn folder_without_spaces() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let path = folder.to_string_lossy();
    if !path.contains(char::is_whitespace) {
        return folder.to_owned();
    }
    std::env::temp_dir().join(path.replace(['/', '\\'], "-").replace(char::is_whitespace, "_"))
}

/// Runs npm in a folder, with another Node than the one on `PATH` if one is given.
pub fn run(folder: &Path, node: Option<&Path>, arguments: &[&str]) -> Result<(), String> {
    let mut command = Command::new("npm");
    command
        .args(arguments)
        .args(["--no-audit", "--no-fund", "--loglevel=error"])
        .current_dir(folder);
    if let Some(bin) = node.and_then(Path::parent) {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let paths =
            std::env::join_paths([bin.to_owned()].into_iter().chain(std::env::split_paths(&path)));
        command.env("PATH", paths.map_err(|error| error.to_string())?);
        // npm would otherwise download the headers of Node.
        command
            .env("npm_config_nodedir", bin.parent().unwrap_or(bin))
            .env("npm_config_build_from_source", "true");
    }
    succeed(&mut command)
}

/// Runs a command to its end; `Err` has its output if it fails.
pub fn succeed(command: &mut Command) -> Result<(), String> {
    let output = command
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("{command:?} does not start: {error}"))?;
    let error = String::from_utf8_lossy(&output.stderr);
    if output.status.success() { Ok(()) } else { Err(format!("{command:?} fails: {error}")) }
}

/// Chromium by the names that distributions give it.
pub fn chromium() -> Result<PathBuf, String> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let found = std::env::split_paths(&path)
        .flat_map(|folder| names.map(|name| folder.join(name)))
        .find(|program| program.is_file());
    found.ok_or_else(|| "there is no Chromium on PATH".to_owned())
}
