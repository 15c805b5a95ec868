//! The clients of packages: tar, pip, pre-commit, npm, dpkg and rpm.

use std::process::Command;

use crate::support::{self, python};
use crate::{Index, assert_main_job, assert_pages, package, packages, succeed};

#[test]
fn tar_unpacks_the_archive() {
    let Some(folder) = packages() else { return };
    succeed(
        Command::new("sha256sum")
            .args(["--check", "--strict", "--quiet", "SHA256SUMS"])
            .current_dir(folder),
    );
    let to = support::scratch("packages-archive");
    let archive = package(folder, ".tar.gz");
    succeed(Command::new("tar").arg("-xzf").arg(&archive).arg("-C").arg(&to));
    let name = archive.file_name().expect("it has a name").to_string_lossy().into_owned();
    let unpacked = to.join(name.trim_end_matches(".tar.gz"));
    assert_main_job(&mut Command::new(unpacked.join("hiera-ls")));
    assert_pages(&unpacked.join("man"), ".1");
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = unpacked.join(format!("completions/hiera-ls.{shell}"));
        let text = std::fs::read_to_string(&script).expect("a completion is read");
        assert!(text.contains("lookup"), "{shell}");
    }
    assert!(unpacked.join("LICENSE").is_file());
}

#[test]
fn pip_installs_the_wheel() {
    let Some(folder) = packages() else { return };
    let index = Index::serve(folder);
    let environment = support::scratch("packages-pip");
    succeed(Command::new("python3").args(["-m", "venv"]).arg(&environment));
    let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-cache-dir"];
    succeed(
        Command::new(environment.join("bin/python"))
            .args(pip)
            .arg(format!("--index-url={}/simple/", index.address))
            .arg("hiera-ls"),
    );
    assert_main_job(&mut Command::new(environment.join("bin/hiera-ls")));
    assert_pages(&environment.join("share/man/man1"), ".1");
    // twine accepts the metadata of the wheel for PyPI.
    let checker = python::with_packages("packages", "twine", "twine==7.0.0\n");
    let checker = checker.expect("HIERA_LS_REQUIRE names packages");
    let said = succeed(
        Command::new(checker)
            .args(["-m", "twine", "check", "--strict"])
            .arg(package(folder, ".whl")),
    );
    assert!(said.contains("PASSED"), "{said}");
}

/// The hook that docs/install.md shows; pre-commit makes an environment of Python for it.
#[test]
fn pre_commit_installs_the_wheel() {
    let Some(folder) = packages() else { return };
    let tool = python::with_packages("packages", "pre-commit", "pre-commit==4.7.0\n");
    let tool = tool.expect("HIERA_LS_REQUIRE names packages");
    let index = Index::serve(folder);
    let temporary = support::scratch("packages-pre-commit");
    let repo = temporary.join("control-repo");
    support::copy(&support::in_package("tests/control-repo"), &repo);
    let page = std::fs::read_to_string(support::in_package("docs/install.md")).expect("a page");
    let block = page.split("\n```yaml\n").find(|block| block.starts_with("repos:"));
    let (config, _) = block.and_then(|block| block.split_once("```")).expect("the page has a hook");
    std::fs::write(repo.join(".pre-commit-config.yaml"), config).expect("a file can be written");
    let command = |program: &str, arguments: &[&str]| {
        let mut command = Command::new(program);
        command.args(arguments).current_dir(&repo);
        for variable in ["HOME", "PRE_COMMIT_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"] {
            command.env(variable, &temporary);
        }
        command.env("PIP_EXTRA_INDEX_URL", format!("{}/simple/", index.address));
        support::run(&mut command, "")
    };
    for arguments in [&["init", "--quiet"][..], &["add", "--all"]] {
        assert_eq!(command("git", arguments).status, Some(0));
    }
    let python = tool.to_string_lossy();
    let hook = ["-m", "pre_commit", "run", "--all-files"];
    let run = command(&python, &hook);
    assert_eq!(run.status, Some(0), "{}{}", run.stdout, run.stderr);

    let common = repo.join("data/common.yaml");
    let text = std::fs::read_to_string(&common).expect("a file of the sample");
    std::fs::write(
        &common,
        text.replace("\"%{alias('ntp_servers')}\"", "\"x %{alias('ntp_servers')}\""),
    )
    .expect("a file can be written");
    let run = command(&python, &hook);
    assert!(
        run.status == Some(1) && run.stdout.contains("[alias-not-whole-value]"),
        "{}{}",
        run.stdout,
        run.stderr
    );
}

/// npm takes the one package of the platforms' that fits, and leaves out those that the registry
/// does not have.
#[test]
fn npx_runs_the_package() {
    let Some(folder) = packages() else { return };
    let index = Index::serve(folder);
    let home = support::scratch("packages-npx");
    let mut npx = Command::new("npx");
    npx.args(["--yes", "--loglevel=error"])
        .arg(format!("--registry={}", index.address))
        .arg(format!("--cache={}", home.join("cache").display()))
        .env("HOME", &home)
        .arg("hiera-ls");
    assert_main_job(&mut npx);
}

/// A command that runs as root, as those that install packages for a whole system do.
fn root_command(program: &str) -> Command {
    let is_root = succeed(Command::new("id").arg("-u")).trim() == "0";
    let mut command = Command::new(if is_root { program } else { "sudo" });
    if !is_root {
        command.arg(program);
    }
    command
}

#[test]
fn dpkg_installs_and_removes_the_package() {
    let Some(folder) = packages() else { return };
    let root = support::scratch("packages-dpkg");
    for name in ["info", "updates"] {
        std::fs::create_dir_all(root.join("var/lib/dpkg").join(name)).expect("a folder is made");
    }
    std::fs::write(root.join("var/lib/dpkg/status"), "").expect("a file can be written");
    // The root has no package with the C library of the tests' program.
    let dpkg = |arguments: &[&str]| {
        let mut command = root_command("dpkg");
        command.arg(format!("--root={}", root.display())).arg("--force-depends").args(arguments);
        succeed(&mut command)
    };
    let file = package(folder, ".deb");
    dpkg(&["--install", &file.to_string_lossy()]);
    assert_main_job(&mut Command::new(root.join("usr/bin/hiera-ls")));
    assert_pages(&root.join("usr/share/man/man1"), ".1.gz");
    for script in [
        "bash-completion/completions/hiera-ls",
        "zsh/vendor-completions/_hiera-ls",
        "fish/vendor_completions.d/hiera-ls.fish",
    ] {
        assert!(root.join("usr/share").join(script).is_file(), "{script} is missing");
    }
    assert_eq!(dpkg(&["--verify", "hiera-ls"]), "");
    let depends = succeed(Command::new("dpkg-deb").arg("--field").arg(&file).arg("Depends"));
    assert!(depends.starts_with("libc6 (>= 2."), "{depends}");
    dpkg(&["--purge", "hiera-ls"]);
    assert!(!root.join("usr/bin/hiera-ls").exists() && !root.join("usr/share/man").exists());
}

#[test]
fn rpm_installs_and_removes_the_package() {
    let Some(folder) = packages() else { return };
    let root = support::scratch("packages-rpm");
    let rpm =
        |arguments: &[&str]| succeed(root_command("rpm").arg("--root").arg(&root).args(arguments));
    let file = package(folder, ".rpm");
    rpm(&["--install", "--nodeps", "--ignoresize", &file.to_string_lossy()]);
    assert_main_job(&mut Command::new(root.join("usr/bin/hiera-ls")));
    assert_pages(&root.join("usr/share/man/man1"), ".1.gz");
    assert!(root.join("usr/share/zsh/site-functions/_hiera-ls").is_file());
    assert_eq!(rpm(&["--verify", "--nodeps", "hiera-ls"]), "");
    rpm(&["--erase", "hiera-ls"]);
    assert!(!root.join("usr/bin/hiera-ls").exists());
}
