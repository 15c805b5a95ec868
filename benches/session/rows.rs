//! The rows of the table: the measurements. Each returns one or more figures.

mod code;
mod completion;
mod edits;
mod fleets;
mod groups;
mod lookups;
mod names;
mod peers;
mod requests;
mod starts;
mod stops;
mod views;

use std::path::PathBuf;

use hiera_ls::hiera::scope::Scope;
use hiera_ls::puppet::PuppetVersion;
use hiera_ls::text::FilePath;
use hiera_ls::workspace::nodes;
use serde_json::{Value, json};

use crate::Bench;
use crate::generate::Repo;
use crate::library::workspace;
use crate::report::Figure;

/// A row: its name on the command line, and how it is measured.
type Row = (&'static str, fn(&Bench) -> Vec<Figure>);

/// All rows, in the order of the table.
pub const ROWS: [Row; 23] = [
    ("edits", edits::edits),
    ("kinds", edits::kinds),
    ("broken", edits::broken),
    ("burst", edits::burst),
    ("open-file", edits::open_file),
    ("open-all", starts::open_all),
    ("requests", requests::requests),
    ("names", names::names),
    ("completion", completion::completion),
    ("code", code::code),
    ("views", views::views),
    ("peers", peers::peers),
    ("groups", groups::groups),
    ("cancel", stops::cancel),
    ("superseded", stops::superseded),
    ("start", starts::start),
    ("lookup", lookups::process),
    ("library", lookups::library),
    ("fleet", lookups::fleet),
    ("large-fleets", fleets::large_fleets),
    ("large", starts::large),
    ("rescan", starts::rescan),
    ("typing", edits::typing_session),
];

/// The repository of the rows that take a real one where there is one.
struct Subject {
    name: &'static str,
    root: PathBuf,
    /// The data files and their texts.
    files: Vec<(PathBuf, String)>,
    /// The file with the scopes of the repository's nodes, one a line.
    scopes: Option<PathBuf>,
    /// Settings that name the scopes as nodes.
    options: Value,
    /// The generated repository, removed from the disk with the subject.
    _synthetic: Option<Repo>,
}

impl Subject {
    fn new(bench: &Bench) -> Subject {
        match &bench.corpus {
            Some((root, scopes)) => {
                let root = std::fs::canonicalize(root).expect("HIERA_LS_CORPUS_ROOT is a folder");
                let scopes = scopes.as_ref().map(|path| {
                    std::fs::canonicalize(path).expect("HIERA_LS_CORPUS_SCOPES is a file")
                });
                let options =
                    scopes.as_ref().map_or(json!({}), |path| json!({"nodes": {"sources": [path]}}));
                let workspace = workspace(&root);
                let snapshot = workspace.snapshot();
                let environments = &snapshot.environments().all;
                let data = snapshot.files().filter(|file| {
                    environments.iter().any(|environment| environment.reaches_file(&file.path))
                });
                let text = |path: &str| std::fs::read_to_string(path).ok();
                let files = data
                    .filter_map(|file| {
                        Some((PathBuf::from(file.path.as_str()), text(file.path.as_str())?))
                    })
                    .collect();
                Subject { name: "corpus", root, files, scopes, options, _synthetic: None }
            }
            None => {
                let mut repo = bench.repo(1_090, 52);
                repo.add_large(52);
                let scopes = Some(repo.root.join("fleet.jsonl"));
                Subject {
                    name: "synthetic",
                    root: repo.root.clone(),
                    files: repo.files.clone(),
                    scopes,
                    options: json!({}),
                    _synthetic: Some(repo),
                }
            }
        }
    }
}

/// The scopes of a file of them.
fn scopes(path: &std::path::Path) -> Vec<Scope> {
    let text = std::fs::read_to_string(path).expect("the scopes can be read");
    let values =
        nodes::read_values(&FilePath::new(path.to_str().expect("paths here are UTF-8")), &text)
            .expect("the scopes are JSON lines");
    let scope = |value: &hiera_ls::puppet::Value| {
        let certname = value
            .get("trusted")
            .and_then(|trusted| trusted.get("certname"))
            .and_then(|name| name.as_str())
            .unwrap_or("unnamed");
        nodes::literal_scope(
            value.as_hash().expect("a scope is a hash"),
            certname,
            "production",
            PuppetVersion::default(),
        )
    };
    values.iter().map(scope).collect()
}
