//! The fixture language: a small workspace with a cursor, as text. For tests alone, and for the
//! examples on the pages of rules.
//!
//! ```text
//! #- scope web01 role=web facts.os.family=Debian
//! #- /hiera.yaml
//! version: 5
//! hierarchy: [{name: Role, path: 'roles/%{role}.yaml'}, {name: Common, path: common.yaml}]
//! #- /data/roles/web.yaml
//! motd: hello
//! #- /data/common.yaml
//! mo$0td: welcome
//! ```
//!
//! - `#- /path` starts a file; the folder of the workspace is `/`. Text before the first such line
//!   is `/data/common.yaml`. `#- /path latin-1` writes the file in that encoding instead of UTF-8.
//! - `#- levels Node Role Common` writes a `/hiera.yaml` with these levels, or some of them:
//!   `nodes/%{trusted.certname}.yaml`, `roles/%{role}.yaml`, `common.yaml`. Without it, and without
//!   a `/hiera.yaml`, there is the level Common alone.
//! - `$0` is the cursor and no part of the file; two make a range.
//! - `#- scope NAME var=value …` declares a node with this certname and the variables of its top
//!   scope, taken literally. A value is YAML without blanks. A dotted name sets a part of a hash:
//!   `facts.os.family=Debian`, `trusted.extensions.pp_role=web`. The first scope is the selected
//!   node. `#- node …` declares one in the same way and leaves it unselected.
//! - `/.hiera-ls.yaml` holds settings, read as if they were the user's own.

use serde_json::{Map, Value as Json};

use crate::diagnostics::render::{LineSpans, write_findings};
use crate::diagnostics::{Finding, check_all};
use crate::disk::MemoryFs;
use crate::settings::{Origin, SettingProblem, Settings, SettingsFile, without_effect};
use crate::text::{FilePath, FilePosition, Span, TextRange};
use crate::workspace::files::scan;
use crate::workspace::{Change, Snapshot, Workspace};

const DEFAULT_FILE: &str = "/data/common.yaml";
const DEFAULT_CONFIG: &str = "version: 5\nhierarchy:\n  - name: Common\n    path: common.yaml\n";
/// The levels that `#- levels` knows by name.
const LEVELS: [(&str, &str); 3] = [
    ("Node", "\"nodes/%{trusted.certname}.yaml\""),
    ("Role", "\"roles/%{role}.yaml\""),
    ("Common", "common.yaml"),
];
/// The settings file.
const SETTINGS: &str = "/.hiera-ls.yaml";
/// Where the declared nodes are written for the scan to find.
const SCOPES: &str = "scopes.jsonl";

/// A workspace made from a text.
pub(crate) struct Fixture {
    /// The disk.
    pub(crate) fs: MemoryFs,
    /// The workspace that was read from the disk.
    pub(crate) workspace: Workspace,
    /// The workspace's state after that reading, with the selected node.
    pub(crate) snapshot: Snapshot,
    /// The settings.
    pub(crate) settings: Settings,
    /// The places of `$0`, in the order of the text.
    cursors: Vec<(FilePath, u32)>,
}

impl Fixture {
    /// Reads a text in the fixture language. Panics on one that is none.
    pub(crate) fn new(text: &str) -> Fixture {
        let parsed = Parsed::new(text);
        let fs = MemoryFs::new();
        for file in &parsed.files {
            fs.write(&file.path, file.bytes());
        }
        if !parsed.files.iter().any(|file| file.path == "/hiera.yaml") {
            fs.write("/hiera.yaml", DEFAULT_CONFIG);
        }
        let mut settings = parsed.settings();
        if !parsed.nodes.is_empty() {
            let lines: Vec<String> = parsed.nodes.iter().map(Json::to_string).collect();
            fs.write(&format!("/{SCOPES}"), lines.join("\n"));
            settings.workspace.common.nodes.sources.push(SCOPES.to_owned());
        }
        let mut workspace = Workspace::new(settings.workspace.clone(), vec![FilePath::new("/")]);
        let scanned = scan::scan(&workspace.scan_request(), &fs, &|_| {});
        workspace.apply(Change::Scanned(Box::new(scanned)));
        assert!(
            workspace.snapshot().source_errors().is_empty(),
            "{:?}",
            workspace.snapshot().source_errors()
        );
        if let Some(selected) = parsed.selected {
            workspace.apply(Change::SelectNode(Some(selected)));
        }
        let snapshot = workspace.snapshot();
        let file = parsed.files.iter().find(|file| file.path == SETTINGS);
        let file =
            file.map(|file| SettingsFile { folder: FilePath::new("/"), text: file.text.clone() });
        let wrong = without_effect(&snapshot, &Vec::from_iter(file), &fs);
        settings.rules.settings = wrong.iter().filter_map(SettingProblem::as_wrong).collect();
        let cursors = parsed
            .files
            .iter()
            .flat_map(|file| file.cursors.iter().map(|at| (FilePath::new(&file.path), *at)))
            .collect();
        Fixture { fs, workspace, snapshot, settings, cursors }
    }

    /// Returns the place of the only cursor.
    pub(crate) fn position(&self) -> FilePosition {
        let [(path, offset)] = self.cursors.as_slice() else {
            panic!("one $0 is wanted, not {}", self.cursors.len())
        };
        FilePosition { file: self.id(path), offset: *offset }
    }

    /// Returns the place between the two cursors.
    pub(crate) fn range(&self) -> Span {
        let [(path, start), (other, end)] = self.cursors.as_slice() else {
            panic!("two $0 are wanted, not {}", self.cursors.len())
        };
        assert_eq!(path, other, "a range lies in one file");
        Span::in_file(self.id(path), TextRange::new(*start, *end))
    }

    /// Returns the place between the two cursors, or that of the only one.
    pub(crate) fn selection(&self) -> Span {
        if self.cursors.len() == 2 {
            return self.range();
        }
        let position = self.position();
        Span::in_file(position.file, TextRange::new_empty(position.offset))
    }

    fn id(&self, path: &FilePath) -> crate::text::FileId {
        self.snapshot
            .file(path)
            .unwrap_or_else(|| panic!("{path} is no file that the workspace reads"))
            .id
    }

    /// Returns all findings of the rules, in the order of paths.
    pub(crate) fn findings(&self) -> Vec<Finding> {
        check_all(&self.snapshot, &self.settings.rules)
    }

    /// Returns all findings of the rules as the command line prints them for people: with lines and
    /// carets.
    pub(crate) fn rendered_findings(&self) -> String {
        self.rendered(&self.findings())
    }

    /// Findings with their lines and carets.
    pub(crate) fn rendered(&self, findings: &[Finding]) -> String {
        let root = FilePath::new("/");
        let spans = LineSpans::new(&self.snapshot, &root);
        let mut out = Vec::new();
        write_findings(findings, &spans, &mut out).expect("writing to memory");
        String::from_utf8(out).expect("findings are UTF-8")
    }

    /// Returns the text of a place.
    pub(crate) fn text_at(&self, span: Span) -> String {
        let file = self.snapshot.file_by_id(span.file).expect("a file of the workspace");
        file.text().expect("a text").to_str()[span.range.as_usize()].to_owned()
    }
}

struct Parsed {
    files: Vec<FixtureFile>,
    nodes: Vec<Json>,
    selected: Option<String>,
}

struct FixtureFile {
    path: String,
    text: String,
    latin_1: bool,
    cursors: Vec<u32>,
}

impl FixtureFile {
    fn new(path: &str, latin_1: bool) -> FixtureFile {
        FixtureFile { path: path.to_owned(), text: String::new(), latin_1, cursors: Vec::new() }
    }

    /// Adds a line, `$0` taken out.
    fn push(&mut self, line: &str) {
        let mut parts = line.split("$0");
        self.text.push_str(parts.next().unwrap_or_default());
        for part in parts {
            self.cursors.push(u32::try_from(self.text.len()).expect("fixtures are short"));
            self.text.push_str(part);
        }
    }

    fn bytes(&self) -> Vec<u8> {
        if !self.latin_1 {
            return self.text.as_bytes().to_vec();
        }
        self.text
            .chars()
            .map(|c| u8::try_from(u32::from(c)).expect("a character of Latin-1"))
            .collect()
    }
}

impl Parsed {
    fn new(text: &str) -> Parsed {
        let text = text.strip_prefix('\n').unwrap_or(text);
        let mut parsed = Parsed { files: Vec::new(), nodes: Vec::new(), selected: None };
        for line in text.split_inclusive('\n') {
            match line.strip_prefix("#- ") {
                Some(directive) => parsed.directive(directive.trim_end()),
                None => {
                    if parsed.files.is_empty() {
                        parsed.files.push(FixtureFile::new(DEFAULT_FILE, false));
                    }
                    parsed.files.last_mut().expect("one was added").push(line);
                }
            }
        }
        parsed
    }

    fn directive(&mut self, text: &str) {
        let words: Vec<&str> = text.split_whitespace().collect();
        match words.as_slice() {
            [path] if path.starts_with('/') => self.files.push(FixtureFile::new(path, false)),
            ["levels", names @ ..] => {
                let mut config = FixtureFile::new("/hiera.yaml", false);
                config.text = "version: 5\nhierarchy:\n".to_owned();
                for name in names {
                    let known = LEVELS.iter().find(|(known, _)| known == name);
                    let (_, path) = known
                        .unwrap_or_else(|| panic!("`{name}` is no level of the fixture language"));
                    config.text.push_str(&format!("  - {{name: {name}, path: {path}}}\n"));
                }
                self.files.push(config);
            }
            [path, "latin-1"] if path.starts_with('/') => {
                self.files.push(FixtureFile::new(path, true))
            }
            [kind @ ("scope" | "node"), name, variables @ ..] => {
                self.nodes.push(scope(name, variables));
                if *kind == "scope" {
                    self.selected.get_or_insert_with(|| (*name).to_owned());
                }
            }
            _ => panic!("`#- {text}` is no line of the fixture language"),
        }
    }

    fn settings(&self) -> Settings {
        let mut settings = Settings::default();
        if let Some(file) = self.files.iter().find(|file| file.path == SETTINGS) {
            let value: Json = serde_yaml::from_str(&file.text).expect("settings are YAML");
            let problems = settings.apply(&value, Origin::User);
            assert!(
                problems.is_empty(),
                "{}",
                problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
            );
        }
        settings
    }
}

/// Returns a whole scope as JSON, from `name=value` pairs.
fn scope(certname: &str, variables: &[&str]) -> Json {
    let mut scope = Json::Object(Map::new());
    set(&mut scope, "facts", Json::Object(Map::new()));
    set(&mut scope, "trusted.certname", certname.into());
    for variable in variables {
        let (name, value) =
            variable.split_once('=').unwrap_or_else(|| panic!("`{variable}` is no name=value"));
        set(
            &mut scope,
            name,
            serde_yaml::from_str(value).unwrap_or_else(|error| panic!("`{value}`: {error}")),
        );
    }
    scope
}

/// Sets a part of a hash by its dotted name.
fn set(hash: &mut Json, name: &str, value: Json) {
    let (first, rest) =
        name.split_once('.').map_or((name, None), |(first, rest)| (first, Some(rest)));
    let members =
        hash.as_object_mut().unwrap_or_else(|| panic!("`{name}` is to be set in what is no hash"));
    match rest {
        None => drop(members.insert(first.to_owned(), value)),
        Some(rest) => {
            set(members.entry(first).or_insert_with(|| Json::Object(Map::new())), rest, value)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hiera::scope::Variable;

    #[test]
    fn a_text_alone_is_the_data_of_the_one_level() {
        let fixture = Fixture::new("motd: wel$0come\n");
        let position = fixture.position();
        assert_eq!(fixture.snapshot.path_of(position.file).unwrap().as_str(), "/data/common.yaml");
        assert_eq!(position.offset, 9);
        assert_eq!(fixture.snapshot.environments().all.len(), 1);
        assert_eq!(fixture.rendered_findings(), "");
    }

    #[test]
    fn files_ranges_and_scopes() {
        let fixture = Fixture::new(
            "
#- scope web01 role=web facts.os.family=Debian ports=[80,443]
#- node db01 role=db
#- /hiera.yaml
version: 5
hierarchy: [{name: Role, path: 'roles/%{role}.yaml'}]
#- /data/roles/web.yaml
mo$0t$0d: hello
#- /data/roles/db.yaml latin-1
motd: caf\u{e9}
",
        );
        assert_eq!(fixture.text_at(fixture.range()), "t");
        assert_eq!(fixture.snapshot.selected_node(), Some("web01"));
        let variable = |node: &str, name: &str| match fixture
            .snapshot
            .find_node(node)
            .unwrap()
            .scope
            .get_path(name)
        {
            Variable::Known(value) => value.to_text().into_owned(),
            other => format!("{other:?}"),
        };
        assert_eq!(variable("web01", "facts.os.family"), "Debian");
        assert_eq!(variable("web01", "ports.1"), "443");
        assert_eq!(variable("web01", "trusted.certname"), "web01");
        assert_eq!(variable("db01", "role"), "db");
        assert_eq!(variable("db01", "family"), "Undefined");
        assert!(fixture.fs.read_text("/data/roles/db.yaml").is_none(), "it is not UTF-8");
    }

    #[test]
    fn settings_are_read() {
        let fixture =
            Fixture::new("#- /.hiera-ls.yaml\npuppet: {version: 7}\n#- /data/common.yaml\na: 1\n");
        assert_eq!(fixture.settings.workspace.common.puppet.major, 7);
    }

    #[test]
    #[should_panic(expected = "no line of the fixture language")]
    fn what_is_no_directive_is_refused() {
        Fixture::new("#- nonsense\n");
    }

    impl MemoryFs {
        fn read_text(&self, path: &str) -> Option<String> {
            use crate::disk::FileSystem;
            String::from_utf8(self.read(&FilePath::new(path), 1 << 20).ok()?).ok()
        }
    }
}
