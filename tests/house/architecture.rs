//! The layers of the sources: which module may use which, and the one home of certain words.

use std::fs;
use std::path::{Path, PathBuf};

/// Each layer uses only those before it; `cli` and `server` also ignore each other.
const LAYERS: [&str; 18] = [
    "text",
    "yaml",
    "puppet",
    "hiera",
    "manifest",
    "disk",
    "eyaml",
    "puppetdb",
    "workspace",
    "backends",
    "fleet",
    "diagnostics",
    "ide",
    "settings",
    // This is the fixture language of the tests, which is compiled for tests only.
    "fixture",
    "server",
    "cli",
    "main",
];

/// Layers that may not be used although they stand before.
const FORBIDDEN: [(&str, &str); 14] = [
    ("cli", "server"),
    ("server", "cli"),
    ("server", "yaml"),
    ("cli", "yaml"),
    ("manifest", "yaml"),
    ("manifest", "hiera"),
    ("hiera", "manifest"),
    ("disk", "hiera"),
    ("disk", "manifest"),
    ("eyaml", "yaml"),
    ("eyaml", "manifest"),
    ("puppetdb", "yaml"),
    ("puppetdb", "hiera"),
    ("puppetdb", "manifest"),
];

/// The modules that make values from the text of files, from facts, settings and arguments, or from
/// names of the program's own.
const FRESH_VALUES: [&str; 16] = [
    "puppet/value.rs",
    "puppet/types/assign.rs",
    "hiera/data/load.rs",
    "hiera/data.rs",
    "hiera/config/",
    "hiera/eyaml.rs",
    "hiera/hierarchy.rs",
    "hiera/scope.rs",
    "backends/",
    "workspace/environments.rs",
    "workspace/nodes.rs",
    "workspace/nodes/",
    "workspace/queries/scopes.rs",
    "cli/lookup.rs",
    "ide/cursor.rs",
    "ide/effective.rs",
];

/// Words that have one home. The home is a prefix of the path below `src`.
const HOMES: [(&str, &[&str]); 25] = [
    ("lsp_types", &["server/"]),
    ("tower_lsp", &["server/"]),
    ("tokio::", &["server/"]),
    ("async fn", &["server/"]),
    ("std::fs", &["disk.rs", "disk/"]),
    ("notify::", &["disk/watcher.rs"]),
    ("process::Command", &["backends/process.rs"]),
    ("println!", &["cli/"]),
    ("stderr!", &["cli/", "main.rs", "server/mod.rs"]),
    ("git2::", &["workspace/files/git.rs", "workspace/files/git/"]),
    ("ropey", &["text/document.rs"]),
    ("serde_yaml", &["yaml/serde.rs", "fixture.rs"]),
    // These files are the one place that opens connections.
    ("ureq", &["puppetdb/client.rs", "puppetdb/connector.rs"]),
    ("rustls", &["puppetdb/client.rs", "puppetdb/connector.rs"]),
    ("TcpStream", &["puppetdb/client.rs"]),
    ("UdpSocket", &["puppetdb/client.rs"]),
    ("UnixStream", &["puppetdb/client.rs"]),
    ("rustix::net", &["puppetdb/client.rs"]),
    ("rsa::", &["eyaml/"]),
    ("cms::", &["eyaml/"]),
    ("env::var", &["disk.rs"]),
    // These constructors make values that do not come from other values: no mark of decrypted text
    // can be lost.
    ("Provenance::written(", &FRESH_VALUES),
    ("Value::from_argument(", &FRESH_VALUES),
    ("Key::new_string(", &FRESH_VALUES),
    ("yaml_rust2", &["diagnostics/rules/not_yaml_1_2.rs"]),
];

pub(crate) struct Source {
    /// Below `src`, with `/`.
    pub(crate) path: String,
    /// Without comments and without test modules' files.
    pub(crate) code: String,
}

impl Source {
    fn layer(&self) -> &str {
        self.path.split('/').next().unwrap().trim_end_matches(".rs")
    }
}

pub(crate) fn sources() -> Vec<Source> {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = Vec::new();
    collect(&src, &src, &mut found);
    assert!(found.len() > 40, "the sources are where this test looks for them");
    found
}

fn collect(root: &Path, folder: &Path, found: &mut Vec<Source>) {
    let mut entries: Vec<PathBuf> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            collect(root, &path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") && !is_test(&path) {
            let text = fs::read_to_string(&path).unwrap();
            let code = text
                .split("#[cfg(test)]\nmod tests {")
                .next()
                .unwrap()
                .lines()
                .filter(|line| !line.trim_start().starts_with("//"));
            let relative = path.strip_prefix(root).unwrap().to_str().unwrap().replace('\\', "/");
            found.push(Source {
                path: relative,
                code: code.collect::<Vec<_>>().join("\n").replace("eprintln!", "stderr!"),
            });
        }
    }
}

fn is_test(path: &Path) -> bool {
    path.components().any(|part| part.as_os_str() == "tests" || part.as_os_str() == "tests.rs")
}

/// The layers that a source names after `crate::` or, in the binary, after `hiera_ls::`.
fn used_layers(source: &Source) -> Vec<String> {
    let mut used = Vec::new();
    for prefix in ["crate::", "hiera_ls::"] {
        for part in source.code.split(prefix).skip(1) {
            if let Some(list) = part.strip_prefix('{') {
                used.extend(
                    list.split('}').next().unwrap().split(',').map(|item| first_word(item.trim())),
                );
            } else {
                used.push(first_word(part));
            }
        }
    }
    used.retain(|name| LAYERS.contains(&name.as_str()));
    used
}

fn first_word(text: &str) -> String {
    text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
}

/// Returns the faults of the sources, a line each.
fn violations(sources: &[Source]) -> Vec<String> {
    let rank = |layer: &str| LAYERS.iter().position(|known| *known == layer);
    let mut wrong = Vec::new();
    for source in sources.iter().filter(|source| source.path != "lib.rs") {
        let Some(own) = rank(source.layer()) else {
            wrong.push(format!("{}: '{}' is no layer of this house", source.path, source.layer()));
            continue;
        };
        for used in used_layers(source) {
            if rank(&used) > Some(own) {
                wrong.push(format!("{} uses {used}, which stands above it", source.path));
            }
            if FORBIDDEN.contains(&(source.layer(), used.as_str())) {
                wrong.push(format!("{} must not use {used}", source.path));
            }
        }
        for (word, homes) in HOMES {
            if source.code.contains(word) && !homes.iter().any(|home| source.path.starts_with(home))
            {
                wrong.push(format!(
                    "{} uses `{word}`, whose home is {}",
                    source.path,
                    homes.join(" or ")
                ));
            }
        }
    }
    wrong
}

#[test]
fn uses_point_one_way_and_words_stay_at_home() {
    assert_eq!(violations(&sources()), Vec::<String>::new());
}

#[test]
fn the_check_itself_can_fail() {
    let source = |path: &str, code: &str| Source { path: path.into(), code: code.into() };
    let wrong = violations(&[
        source("text/mod.rs", "use crate::yaml::Tree;"),
        source("hiera/x.rs", "use crate::{text::Span, workspace::Snapshot};\nasync fn read() {}"),
        source("cli/x.rs", "use crate::server::run;"),
        source("yaml/x.rs", "std::fs::read(path); println!()"),
        source("elsewhere/x.rs", ""),
    ]);
    assert_eq!(wrong.len(), 7, "{wrong:#?}");
}

/// No telemetry, no network: the VS Code extension has nothing that could reach any, and depends on
/// one package alone.
#[test]
fn the_extension_talks_to_its_server_only() {
    const ALLOWED: [&str; 7] = [
        "vscode",
        "vscode-languageclient/node",
        "node:child_process",
        "node:fs",
        "node:os",
        "node:path",
        "node:util",
    ];
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("editors/vscode");
    for file in fs::read_dir(folder.join("src")).unwrap() {
        let path = file.unwrap().path();
        let code = fs::read_to_string(&path).unwrap();
        for module in code.split(" from \"").skip(1).map(|rest| rest.split('"').next().unwrap()) {
            assert!(
                module.starts_with("./") || ALLOWED.contains(&module),
                "{} uses {module}",
                path.display()
            );
        }
        for word in
            ["require(", "import(", "fetch(", "WebSocket", "openExternal", "TelemetryLogger"]
        {
            assert!(!code.contains(word), "{} says {word}", path.display());
        }
    }
    let package = fs::read_to_string(folder.join("package.json")).unwrap();
    let package: serde_json::Value = serde_json::from_str(&package).unwrap();
    let packages: Vec<&String> = package["dependencies"].as_object().unwrap().keys().collect();
    assert_eq!(packages, ["vscode-languageclient"]);
}
