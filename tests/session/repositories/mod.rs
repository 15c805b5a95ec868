//! Small repositories, one for each shape that control repositories have in the wild, opened as
//! they are: the config that governs each data file, the findings, the known nodes, and the text of
//! a hover.
//!
//! `table.yaml` and `governing.yaml` (configs), `nodes.yaml` (nodes that data show), `sources.yaml`
//! (nodes that other files describe), `words.yaml` (findings) and `code.yaml` (findings about code) hold each repository with a column
//! for each of [`COLUMNS`]. A cell is a list of lines; a test that fails prints the cells that
//! hiera-ls gives.

mod commands;
mod corpus;
mod hovers;
mod specs;

use std::collections::BTreeMap;

use hiera_ls::diagnostics::check_all;
use hiera_ls::disk::MemoryFs;
use hiera_ls::hiera::key::LookupKey;
use hiera_ls::hiera::lookup::Resolver;
use hiera_ls::hiera::scope::{Scope, Variable};
use hiera_ls::ide::hover::{HoverConfig, hover};
use hiera_ls::ide::phrases::level_names;
use hiera_ls::puppet::print::{self, PrintOptions};
use hiera_ls::settings::{Opened, open};
use hiera_ls::text::{FilePath, FilePosition};
use hiera_ls::workspace::Snapshot;
use hiera_ls::workspace::nodes::Node;
use serde::Deserialize;

/// The folder that a repository is opened in.
const ROOT: &str = "/repo";

/// A repository of the table.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Repository {
    name: String,
    /// Contents by path.
    files: BTreeMap<String, String>,
    /// The keys to look up for no particular node, in the first environment.
    #[serde(default)]
    ask: Vec<String>,
    /// The node whose variables are shown.
    node: Option<String>,
    /// The places to hover over: a file, and a key at the start of a line of it.
    #[serde(default)]
    hover: Vec<(String, String)>,
    /// The expected cells, by column; nothing in a column that is not there.
    expect: BTreeMap<String, Vec<String>>,
}

/// A repository that was opened without any setting but its own.
struct Case {
    opened: Opened,
    snapshot: Snapshot,
    ask: Vec<String>,
    node: Option<String>,
    hover: Vec<(String, String)>,
}

/// The name of a column, and the function that makes its cell.
type Column = (&'static str, fn(&Case) -> Vec<String>);

/// The columns of the table.
const COLUMNS: &[Column] = &[
    ("governs", governing),
    ("data", data_files),
    ("findings", findings),
    ("answers", answers),
    ("nodes", nodes),
    ("variables", variables),
    ("hover", hovers),
];

/// The tables.
const TABLES: &[&str] = &[
    include_str!("table.yaml"),
    include_str!("governing.yaml"),
    include_str!("nodes.yaml"),
    include_str!("sources.yaml"),
    include_str!("words.yaml"),
    include_str!("code.yaml"),
];

/// Returns the repositories of all tables.
fn all_repositories() -> Vec<Repository> {
    let tables = TABLES
        .iter()
        .flat_map(|text| serde_yaml::from_str::<Vec<Repository>>(text).expect("the table is YAML"));
    tables.collect()
}

impl Case {
    fn of(repository: &Repository) -> Case {
        let fs = MemoryFs::new();
        for (path, text) in &repository.files {
            fs.write(&format!("{ROOT}/{path}"), text.as_str());
        }
        let opened = open(vec![FilePath::new(ROOT)], &[], Vec::new(), &fs);
        let snapshot = opened.workspace.snapshot();
        let Repository { ask, node, hover, .. } = repository.clone();
        Case { opened, snapshot, ask, node, hover }
    }
}

/// A path below the repository.
fn relative(path: &FilePath) -> &str {
    match path.relative_to(&FilePath::new(ROOT)) {
        Some("") => ".",
        Some(below) => below,
        None => path.as_str(),
    }
}

/// The governing config of each environment, its role, and the other configs of its data.
fn governing(case: &Case) -> Vec<String> {
    let line = |environment: &std::sync::Arc<hiera_ls::workspace::environments::Environment>| {
        let config = environment.governing_config();
        let role = if environment.config.is_none() { " as the global layer's" } else { "" };
        let config = config.map_or("nothing", |config| relative(&config.path));
        let sought = environment
            .sought_datadirs
            .iter()
            .map(|sought| format!(", {} is {}", sought.written, relative(&sought.found)));
        let others = environment.others.iter().filter(|other| !other.shared.is_empty());
        let others = others.map(|other| format!(", also {}", relative(&other.config.path)));
        let more: String = sought.chain(others).collect();
        format!("{config} for {}{role}{more}", relative(&environment.root))
    };
    case.snapshot.environments().all.iter().map(line).collect()
}

/// The data files that some level reads, each with its config where there are several.
fn data_files(case: &Case) -> Vec<String> {
    let environments = case.snapshot.environments();
    let line = |path: &FilePath| {
        let environment = environments.environment_of(path).filter(|it| it.reaches_file(path))?;
        let config = environment.governing_config().map_or("", |config| relative(&config.path));
        Some(match environments.all.len() {
            1 => relative(path).to_owned(),
            _ => format!("{} by {config}", relative(path)),
        })
    };
    case.snapshot.files().filter_map(|file| line(&file.path)).collect()
}

/// Returns the findings of the rules.
fn findings(case: &Case) -> Vec<String> {
    let snapshot = &case.snapshot;
    let found = check_all(snapshot, &case.opened.settings.rules);
    let lines = found.iter().map(|finding| {
        let file = snapshot.file_by_id(finding.span.file).expect("a file of the workspace");
        let start = snapshot.span_bytes(finding.span).start;
        let line = file.text().map_or(0, |text| text.line_of(start)) + 1;
        let (path, severity) = (relative(&file.path), finding.severity.name());
        format!("{path}:{line} {severity} {}: {}", finding.rule.code, finding.message)
    });
    lines.collect()
}

/// Returns the answers of lookups, with the levels that leave them open.
fn answers(case: &Case) -> Vec<String> {
    let snapshot = &case.snapshot;
    let Some(environment) = snapshot.environments().all.first() else { return Vec::new() };
    let (view, scope) = (snapshot.view(environment), Scope::open("any node"));
    let resolver = Resolver::new(snapshot.lookup_context(environment, &view, &scope));
    let line = |key: &String| {
        let resolution = resolver.lookup(&LookupKey::parse(key).expect("a key"), None);
        let value = match &resolution.value {
            Ok(Some(value)) => print::print_inline(value, &PrintOptions::default()),
            Ok(None) => "not found".to_owned(),
            Err(error) => format!("error: {error}"),
        };
        let open = level_names(&resolution.unsettled_levels).join(", ");
        let open = if open.is_empty() { open } else { format!(", not settled: {open}") };
        format!("{key}: {value}{open}")
    };
    case.ask.iter().map(line).collect()
}

/// The nodes of each environment, each with the file that states most of its variables, or its
/// kinds of nodes.
fn nodes(case: &Case) -> Vec<String> {
    let environments = &case.snapshot.environments().all;
    let of = |environment: &std::sync::Arc<hiera_ls::workspace::environments::Environment>| {
        let place = match environments.len() {
            1 => String::new(),
            _ => format!(" in {}", relative(&environment.root)),
        };
        let line = |node: &Node| format!("{}{place}, from {}", node.name, relative(&node.source));
        let kind = |kind: &Node| format!("kind {}{place}", kind.name);
        let nodes = case.snapshot.nodes_of(environment).iter().map(|node| line(node));
        let kinds = case.snapshot.kinds_of(environment).all.iter().map(|it| kind(it));
        nodes.chain(kinds).collect::<Vec<_>>()
    };
    environments.iter().flat_map(of).collect()
}

/// The variables of the row's node in each environment that has it, each with its source.
fn variables(case: &Case) -> Vec<String> {
    let Some(name) = &case.node else { return Vec::new() };
    let root = FilePath::new(ROOT);
    let of = |node: &Node| {
        let line = |variable: &str| {
            let source = node.source_of(variable)?.source_phrase(&root);
            let Variable::Known(value) = node.scope.get_path(variable) else { return None };
            let value = print::print_inline(&value, &PrintOptions::default());
            Some(format!("{variable} = {value}, {source}"))
        };
        // For a node whose facts are all known, the variables are those of the node's scope.
        let mut names: Vec<&str> = node.told.iter().map(|(name, _)| &**name).collect();
        if !node.scope.open {
            names = node.scope.known_variables().map(|(name, _)| name).collect();
        }
        names.into_iter().filter_map(line).collect::<Vec<_>>()
    };
    let all = &case.snapshot.environments().all;
    let nodes = all.iter().flat_map(|environment| case.snapshot.nodes_of(environment));
    let lines: Vec<String> =
        nodes.filter(|node| *node.name == **name).flat_map(|node| of(node)).collect();
    if lines.is_empty() { vec![format!("nothing is known of the node {name}")] } else { lines }
}

/// Returns the hover over each of the row's keys, in plain text without empty lines.
fn hovers(case: &Case) -> Vec<String> {
    let config = HoverConfig { max_value_lines: 10, max_locations: 5, ..HoverConfig::default() };
    let of = |(path, key): &(String, String)| {
        let file = case.snapshot.file(&FilePath::new(&format!("{ROOT}/{path}")));
        let file = file.unwrap_or_else(|| panic!("no file {path}"));
        let text = file.text().expect("a text").to_str();
        let start = format!("\n{text}").find(&format!("\n{key}:"));
        let offset = start.unwrap_or_else(|| panic!("no {key} in {path}")) as u32;
        let found = hover(&case.snapshot, FilePosition { file: file.id, offset }, &config);
        let text = found.map_or_else(|| "nothing".to_owned(), |hover| hover.text);
        let lines = text.lines().filter(|line| !line.is_empty() && *line != key.as_str());
        let mut cell = vec![format!("{key} in {path}")];
        cell.extend(lines.map(|line| format!("  {line}")));
        cell
    };
    case.hover.iter().flat_map(of).collect()
}

/// Cells as the table has them.
fn shown(cells: &BTreeMap<String, Vec<String>>) -> String {
    let mut out = String::new();
    for (name, _) in COLUMNS {
        let lines = &cells[*name];
        if lines.is_empty() {
            continue;
        }
        out.push_str(&format!("    {name}:\n"));
        for line in lines {
            out.push_str(&format!("      - {}\n", serde_json::Value::from(line.as_str())));
        }
    }
    out
}

#[test]
fn each_shape_of_repository_is_served_as_it_is() {
    let table = all_repositories();
    let mut wrong = Vec::new();
    for repository in &table {
        let case = Case::of(repository);
        let cells = COLUMNS.iter().map(|(name, cell)| ((*name).to_owned(), cell(&case)));
        let found: BTreeMap<String, Vec<String>> = cells.collect();
        let is_column = |name: &String| COLUMNS.iter().any(|(column, _)| column == name);
        assert!(repository.expect.keys().all(is_column), "{}: a column", repository.name);
        let expected = |name: &str| repository.expect.get(name).cloned().unwrap_or_default();
        if found.iter().any(|(name, cell)| *cell != expected(name)) {
            wrong.push(format!("- name: {}\n  expect:\n{}", repository.name, shown(&found)));
        }
    }
    assert!(wrong.is_empty(), "of {} repositories:\n{}", table.len(), wrong.join("\n"));
}
