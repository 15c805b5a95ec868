//! Settings as written, in any of the three places, to the configs of the workspace and the rules.
//!
//! `.hiera-ls.yaml`, `initializationOptions` and `workspace/configuration` have one schema:
//! [`schema`]. Unknown keys and wrong types are reported, and all other settings are still applied.

mod effects;
mod gather;
mod places;
mod run_backends;
pub mod schema;

use regex::Regex;
use serde_json::Value;

use crate::diagnostics::{RulesConfig, Severity, WrongSetting, catalogue};
use crate::hiera::config::{DescribedBackends, why_not_described};
use crate::hiera::scope::DeriveRule;
use crate::ide::code_lens::LensConfig;
use crate::ide::inlay_hints::HintConfig;
use crate::puppet::{PuppetVersion, Strict};
use crate::text::{FilePath, TextRange};
use crate::workspace::WorkspaceConfig;
use crate::workspace::mapping::PathMappings;
use crate::workspace::nodes::{Step, Steps};

pub(crate) use effects::{SettingsFile, without_effect};
pub(crate) use gather::READINGS;
pub use gather::{Opened, gather, of_environments, open};

pub use run_backends::RunBackends;

pub use crate::workspace::kinds::SETTINGS_FILE as FILE_NAME;

/// All settings.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settings {
    /// The settings of the workspace.
    pub workspace: WorkspaceConfig,
    /// The settings of the rules.
    pub rules: RulesConfig,
    /// When an editor is told of findings.
    pub run: Run,
    /// The hints that an editor shows beside the text.
    pub hints: HintConfig,
    /// The lenses that an editor shows above keys.
    pub lenses: LensConfig,
    /// Functions of levels that run at the user's request.
    pub run_backends: RunBackends,
    strict: Option<Strict>,
}

/// When an editor is told of findings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Run {
    /// At each change.
    #[default]
    OnType,
    /// When a file is opened or saved; text that is not saved yet is left out.
    OnSave,
    /// Never.
    Off,
}

/// The origin of settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A file of the repository, which anyone may have written: it may not make hiera-ls read
    /// outside the workspace.
    Repository,
    /// The editor's settings. They are the user's, but an editor may mix in what a file of the
    /// repository says (`.vscode/settings.json`).
    Editor,
    /// The user's own, for certain: how the server was started, or the command line.
    User,
}

/// Something wrong with a setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingProblem {
    /// The settings file that contains it; `None` for settings of a client or of the command line.
    pub file: Option<FilePath>,
    /// The setting, dotted.
    pub key: String,
    /// The member or element of its value that is wrong, as written; `None` for all of it.
    pub part: Option<String>,
    /// Its place in the settings file.
    pub range: TextRange,
    /// The problem, in words.
    pub message: String,
}

impl SettingProblem {
    /// Converts the problem for the rules; `None` for a setting that no file holds.
    pub(crate) fn as_wrong(&self) -> Option<WrongSetting> {
        let (file, range) = (self.file.clone()?, self.range);
        Some(WrongSetting { file, range, message: self.to_string() })
    }
}

impl std::fmt::Display for SettingProblem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "setting '{}': {}", self.key, self.message)
    }
}

impl Settings {
    /// Applies the text of the settings file in `folder` over the settings so far. Paths may lead
    /// to anywhere in the folders of the `workspace`.
    pub fn apply_file(
        &mut self,
        text: &str,
        folder: &FilePath,
        workspace: &[FilePath],
    ) -> Vec<SettingProblem> {
        let mut problems = match crate::yaml::deserialize::<Value>(text) {
            Ok(Value::Null) => Vec::new(),
            Ok(value) => self.apply_within(&value, Origin::Repository, Some((folder, workspace))),
            Err(error) => {
                let at = error.location().map_or(0, |place| place.index() as u32);
                return vec![SettingProblem {
                    file: Some(folder.join(FILE_NAME)),
                    key: FILE_NAME.into(),
                    part: None,
                    range: TextRange::empty(at.min(text.len() as u32)),
                    message: error.to_string(),
                }];
            }
        };
        places::locate_all(text, &mut problems);
        problems
    }

    /// Applies settings over the settings so far; `null` members are treated as absent.
    pub fn apply(&mut self, value: &Value, origin: Origin) -> Vec<SettingProblem> {
        self.apply_within(value, origin, None)
    }

    fn apply_within(
        &mut self,
        value: &Value,
        origin: Origin,
        file: Option<(&FilePath, &[FilePath])>,
    ) -> Vec<SettingProblem> {
        let (folder, workspace) = file.unzip();
        let workspace = workspace.unwrap_or_default();
        let problems = Vec::new();
        let mut apply = Applying { settings: self, origin, folder, workspace, problems };
        apply.all(value);
        let problems = apply.problems;
        let version = self.workspace.common.puppet.major;
        self.workspace.common.puppet.strict =
            self.strict.unwrap_or(PuppetVersion::of_major(version).strict);
        problems
    }
}

/// Parses the text of a settings file; `None` for a text that is no YAML.
fn parsed(text: &str) -> Option<Value> {
    crate::yaml::deserialize(text).ok()
}

/// Returns the settings of a client: its section `hiera`, or the bare settings; `None` for a hash
/// that has neither, which is some other server's.
pub fn section(settings: &Value) -> Option<&Value> {
    let members = settings.as_object()?;
    let known = |name: &String| schema::knows(name) || CLIENT_KEYS.contains(&name.as_str());
    match members.get("hiera") {
        Some(section) => Some(section),
        None => members.keys().any(known).then_some(settings),
    }
}

/// Keys that editors use for themselves beside the settings.
const CLIENT_KEYS: [&str; 3] = ["server", "trace", "enable"];

struct Applying<'a> {
    settings: &'a mut Settings,
    origin: Origin,
    /// The folder of the settings file; `None` for settings that are in none.
    folder: Option<&'a FilePath>,
    /// The folders of the workspace that the settings file is in.
    workspace: &'a [FilePath],
    problems: Vec<SettingProblem>,
}

impl Applying<'_> {
    fn all(&mut self, value: &Value) {
        self.members("", value, |apply, key, value| {
            let workspace = &mut apply.settings.workspace;
            match key {
                "puppet" => apply.puppet(value),
                "environment" => {
                    if let Some(text) = apply.text(key, value) {
                        apply.settings.workspace.common.name = Some(text);
                    }
                }
                "hieraConfig" => {
                    if let Some(path) = apply.path(key, value) {
                        apply.settings.workspace.hiera_config = path;
                    }
                }
                "globalHieraConfig" => match apply.origin {
                    Origin::User | Origin::Editor => {
                        if let Some(text) = apply.text(key, value) {
                            apply.settings.workspace.global_hiera_config =
                                Some(FilePath::new(&text));
                        }
                    }
                    Origin::Repository => {
                        apply.report(key, "is honoured from the editor's user settings only")
                    }
                },
                "modulePath" => {
                    if let Some(paths) = apply.paths(key, value) {
                        apply.settings.workspace.common.module_path = Some(paths);
                    }
                }
                "pathMappings" => apply.path_mappings(value),
                "backends" => apply.backends(value),
                "nodes" => apply.nodes(value),
                "rules" => apply.rules(value),
                "checkThirdPartyModules" => match value.as_bool() {
                    Some(flag) => apply.settings.rules.third_party = flag,
                    None => apply.report(key, "must be true or false"),
                },
                "diagnostics" => apply.diagnostics(value),
                "inlayHints" => apply.hints(value),
                "codeLens" => apply.lenses(value),
                "eyaml" => apply.eyaml(value),
                "runBackends" => apply.run_backends(value),
                "maxFileSize" => match value.as_u64() {
                    // The user decides how much of a repository is read, not the repository.
                    Some(size)
                        if apply.origin == Origin::Repository && size > workspace.max_file_size =>
                    {
                        let most = workspace.max_file_size;
                        let message = format!(
                            "is more than {most}, and a repository may only lower the limit; the user's settings may raise it"
                        );
                        apply.report(key, &message);
                    }
                    Some(size) => workspace.max_file_size = size,
                    None => apply.report(key, "must be a number of bytes"),
                },
                _ => return apply.origin != Origin::Repository && CLIENT_KEYS.contains(&key),
            }
            true
        });
    }

    /// Calls `each` for the members of a hash that are not `null` and in the schema; it says
    /// whether it knows the member.
    fn members(
        &mut self,
        key: &str,
        value: &Value,
        each: impl Fn(&mut Self, &str, &Value) -> bool,
    ) {
        let Some(members) = value.as_object() else {
            self.report(key, "must be a hash");
            return;
        };
        for (name, value) in members.iter().filter(|(_, value)| !value.is_null()) {
            let full = if key.is_empty() { name.clone() } else { format!("{key}.{name}") };
            let is_known =
                schema::knows(&full) || (key.is_empty() && CLIENT_KEYS.contains(&name.as_str()));
            if !is_known || !each(self, name, value) {
                match schema::nearest_to(&full) {
                    Some(meant) => self.report(&full, &format!("is not known; '{meant}' is")),
                    None => self.report(&full, "is not known"),
                }
            }
        }
    }

    fn report(&mut self, key: &str, message: &str) {
        self.report_part(key, None, message);
    }

    fn report_part(&mut self, key: &str, part: Option<&str>, message: &str) {
        self.problems.push(SettingProblem {
            file: self.folder.map(|folder| folder.join(FILE_NAME)),
            key: key.to_owned(),
            part: part.map(str::to_owned),
            range: TextRange::empty(0),
            message: message.to_owned(),
        });
    }

    fn text(&mut self, key: &str, value: &Value) -> Option<String> {
        let text = value.as_str().map(str::to_owned);
        if text.is_none() {
            self.report(key, "must be a string");
        }
        text
    }

    fn path(&mut self, key: &str, value: &Value) -> Option<String> {
        let text = self.text(key, value)?;
        if self.origin == Origin::Repository && leaves_workspace(&text) {
            self.report_leaving(key, &text);
            return None;
        }
        Some(text)
    }

    fn report_leaving(&mut self, key: &str, text: &str) {
        let message = "leads out of the workspace, which only the editor's user settings may";
        self.report_part(key, Some(text), message);
    }

    /// Reads a path that is relative to the folder of the settings file. A path in a file of the
    /// repository must lie in the workspace.
    fn path_from_file(&mut self, key: &str, value: &Value) -> Option<String> {
        let Some(folder) = self.folder else { return self.path(key, value) };
        let text = self.text(key, value)?;
        let path = folder.join(&text);
        let mut folders = self.workspace.iter().chain([folder]);
        if text.starts_with('~') || !folders.any(|workspace| path.is_within(workspace)) {
            self.report_leaving(key, &text);
            return None;
        }
        Some(path.to_string())
    }

    fn paths(&mut self, key: &str, value: &Value) -> Option<Vec<String>> {
        let Some(items) = value.as_array() else {
            self.report(key, "must be a list of paths");
            return None;
        };
        Some(items.iter().filter_map(|item| self.path(key, item)).collect())
    }

    fn puppet(&mut self, value: &Value) {
        self.members("puppet", value, |apply, key, value| {
            match key {
                "version" => match value.as_u64() {
                    Some(version @ 7..=9) => {
                        apply.settings.workspace.common.puppet.major = version as u8
                    }
                    _ => apply.report("puppet.version", "must be 7, 8 or 9"),
                },
                "strict" => match value.as_str().and_then(strict_from_name) {
                    Some(strict) => apply.settings.strict = Some(strict),
                    None => apply.report("puppet.strict", "must be off, warning or error"),
                },
                _ => return false,
            }
            true
        });
    }

    fn diagnostics(&mut self, value: &Value) {
        self.members("diagnostics", value, |apply, key, value| {
            if key != "run" {
                return false;
            }
            match value.as_str() {
                Some("onType") => apply.settings.run = Run::OnType,
                Some("onSave") => apply.settings.run = Run::OnSave,
                Some("off") => apply.settings.run = Run::Off,
                _ => apply.report("diagnostics.run", "must be onType, onSave or off"),
            }
            true
        });
    }

    fn hints(&mut self, value: &Value) {
        self.members("inlayHints", value, |apply, key, value| {
            let hints = &mut apply.settings.hints;
            let switch = match key {
                "tokenValues" => &mut hints.token_values,
                "parameterTypes" => &mut hints.parameter_types,
                _ => return false,
            };
            match value.as_bool() {
                Some(flag) => *switch = flag,
                None => apply.report(&format!("inlayHints.{key}"), "must be true or false"),
            }
            true
        });
    }

    fn lenses(&mut self, value: &Value) {
        self.members("codeLens", value, |apply, key, value| {
            let lenses = &mut apply.settings.lenses;
            let switch = match key {
                "overrides" => &mut lenses.overrides,
                "readers" => &mut lenses.readers,
                "nodes" => &mut lenses.nodes,
                _ => return false,
            };
            match value.as_bool() {
                Some(flag) => *switch = flag,
                None => apply.report(&format!("codeLens.{key}"), "must be true or false"),
            }
            true
        });
    }

    /// Decryption is the user's to switch on: a repository that could would have its own values
    /// decrypted with the user's keys.
    fn eyaml(&mut self, value: &Value) {
        match self.origin {
            Origin::User => {}
            Origin::Repository => {
                return self
                    .report("eyaml", "is refused here: only the user may switch decryption on, no file of the repository");
            }
            Origin::Editor => {
                return self.report(
                    "eyaml",
                    "is honoured from initializationOptions only: the editor's settings may come from a file of the repository",
                );
            }
        }
        self.members("eyaml", value, |apply, key, value| {
            let name = format!("eyaml.{key}");
            match key {
                "decrypt" | "reveal" => match value.as_bool() {
                    Some(flag) if key == "decrypt" => apply.settings.workspace.eyaml.decrypt = flag,
                    Some(flag) => apply.settings.workspace.eyaml.reveal = flag,
                    None => apply.report(&name, "must be true or false"),
                },
                "privateKey" => {
                    if let Some(path) = apply.absolute_path(&name, value) {
                        apply.settings.workspace.eyaml.private_key = Some(path);
                    }
                }
                "publicKey" => {
                    if let Some(path) = apply.absolute_path(&name, value) {
                        apply.settings.workspace.eyaml.public_key = Some(path);
                    }
                }
                "keyFolders" => match value.as_array() {
                    Some(folders) => {
                        let folders = folders
                            .iter()
                            .filter_map(|folder| apply.absolute_path(&name, folder))
                            .collect();
                        apply.settings.workspace.eyaml.key_folders = folders;
                    }
                    None => apply.report(&name, "must be a list of paths"),
                },
                _ => return false,
            }
            true
        });
    }

    fn absolute_path(&mut self, key: &str, value: &Value) -> Option<FilePath> {
        let text = self.text(key, value)?;
        if !std::path::Path::new(&text).is_absolute() {
            self.report(key, "must be an absolute path");
            return None;
        }
        Some(FilePath::new(&text))
    }

    fn path_mappings(&mut self, value: &Value) {
        let Some(members) = value.as_object() else {
            self.report("pathMappings", "must be a hash of deployed paths and paths here");
            return;
        };
        let mut mappings = PathMappings::default();
        for (deployed, here) in members {
            if let Some(here) = self.path_from_file("pathMappings", here)
                && let Err(problem) = mappings.add(deployed, &here)
            {
                self.report_part("pathMappings", Some(deployed), &problem);
            }
        }
        self.settings.workspace.common.path_mappings = mappings;
    }

    /// Sets the files that functions read: hashes with `files`, by the names of the functions.
    fn backends(&mut self, value: &Value) {
        let Some(members) = value.as_object() else {
            return self.report("backends", "must be a hash of functions and what they read");
        };
        let mut described = DescribedBackends::new();
        for (function, description) in members {
            let names = description.as_object().into_iter().flat_map(|members| members.keys());
            for name in names.filter(|name| *name != "files") {
                self.report_part("backends", Some(function), &format!("'{name}' is not known"));
            }
            let Some(files) = description["files"].as_array() else {
                let message = "a function must have `files`, a list of paths";
                self.report_part("backends", Some(function), message);
                continue;
            };
            let files = files.iter().filter_map(|file| self.described_file(function, file));
            described.insert(function.clone(), files.collect());
        }
        self.settings.workspace.common.backends = described;
    }

    fn described_file(&mut self, function: &str, file: &Value) -> Option<String> {
        let text = self.text("backends", file)?;
        let problem = match leaves_workspace(&text) || text.split('/').any(|part| part == "..") {
            true => Some("must lie below the datadir of the level"),
            false => why_not_described(&text),
        };
        if let Some(problem) = problem {
            self.report_part("backends", Some(function), &format!("'{text}': {problem}"));
            return None;
        }
        Some(text)
    }

    fn nodes(&mut self, value: &Value) {
        self.members("nodes", value, |apply, key, value| {
            match key {
                "sources" => {
                    if let Some(mut sources) = apply.paths("nodes.sources", value) {
                        // Those of a file lie below its folder; the client's may lie below any.
                        if let Some(folder) = apply.folder {
                            sources
                                .iter_mut()
                                .for_each(|source| *source = folder.join(source).to_string());
                        }
                        apply.settings.workspace.common.nodes.sources = sources;
                    }
                }
                "default" => {
                    if let Some(name) = apply.text("nodes.default", value) {
                        apply.settings.workspace.common.nodes.default = Some(name);
                    }
                }
                "infer" => apply.infer(value),
                "derive" => match value.as_array() {
                    Some(rules) => {
                        let rules: Vec<DeriveRule> =
                            rules.iter().filter_map(|rule| apply.derive_rule(rule)).collect();
                        apply.settings.workspace.common.nodes.derive = rules.into();
                    }
                    None => apply.report("nodes.derive", "must be a list of rules"),
                },
                _ => return false,
            }
            true
        });
    }

    fn infer(&mut self, value: &Value) {
        let Some(words) = value.as_array() else {
            return self.report("nodes.infer", "must be a list of steps");
        };
        let mut steps = Steps::NONE;
        for word in words {
            match word.as_str().and_then(Step::named) {
                Some(step) => steps = steps.with(step),
                None => {
                    let known = Step::WORDS.join(", ");
                    self.report("nodes.infer", &format!("{word} is none of {known}"));
                }
            }
        }
        self.settings.workspace.common.nodes.infer = steps;
    }

    fn derive_rule(&mut self, value: &Value) -> Option<DeriveRule> {
        let (Some(from), Some(pattern)) = (value["from"].as_str(), value["match"].as_str()) else {
            self.report(
                "nodes.derive",
                "a rule must have `from`, a variable, and `match`, a regular expression",
            );
            return None;
        };
        for name in value.as_object().into_iter().flat_map(|members| members.keys()) {
            if !matches!(name.as_str(), "from" | "match") {
                self.report(&format!("nodes.derive.{name}"), "is not known");
            }
        }
        match Regex::new(pattern) {
            Ok(regex) if regex.capture_names().flatten().next().is_none() => {
                self.report(
                    "nodes.derive",
                    &format!("'{pattern}' has no named group, so it derives nothing"),
                );
                None
            }
            Ok(pattern) => Some(DeriveRule { from: from.to_owned(), pattern }),
            Err(error) => {
                self.report(
                    "nodes.derive",
                    &format!("'{pattern}' is no regular expression: {error}"),
                );
                None
            }
        }
    }

    fn rules(&mut self, value: &Value) {
        self.members("rules", value, |apply, code, value| {
            if catalogue::find(code).is_none() {
                return false;
            }
            // YAML reads a bare `off` as false.
            let severity = if value == &Value::Bool(false) {
                Some(Severity::Off)
            } else {
                value.as_str().and_then(Severity::from_name)
            };
            match severity {
                Some(severity) => {
                    apply.settings.rules.severities.insert(code.to_owned(), severity);
                }
                None => apply
                    .report(&format!("rules.{code}"), "must be off, hint, info, warning or error"),
            }
            true
        });
    }
}

/// Puppet's setting `strict` by name.
pub fn strict_from_name(name: &str) -> Option<Strict> {
    match name {
        "off" => Some(Strict::Off),
        "warning" => Some(Strict::Warning),
        "error" => Some(Strict::Error),
        _ => None,
    }
}

fn leaves_workspace(path: &str) -> bool {
    path.starts_with(['/', '~']) || FilePath::new(path).as_str().starts_with("..")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn apply(text: &str) -> (Settings, Vec<String>) {
        let mut settings = Settings::default();
        let problems = settings
            .apply_file(text, &FilePath::new("/repo"), &[])
            .iter()
            .map(ToString::to_string)
            .collect();
        (settings, problems)
    }

    #[test]
    fn what_is_set_counts() {
        let text = "puppet: {version: 7}\nnodes:\n  sources: ['nodes/*.json']\n  derive: [{from: trusted.certname, match: '^(?<role>[a-z]+)'}]\nrules: {unknown-key: off, duplicate-key: warning}\n";
        let (settings, problems) = apply(text);
        assert_eq!(problems, Vec::<String>::new());
        assert_eq!(
            settings.workspace.common.puppet,
            PuppetVersion { major: 7, strict: Strict::Warning }
        );
        assert_eq!(settings.workspace.common.nodes.derive.len(), 1);
        assert_eq!(settings.rules.severities["unknown-key"], Severity::Off);
    }

    #[test]
    fn what_is_wrong_is_said_and_the_rest_counts() {
        let (settings, problems) = apply(
            "puppet: {version: 6, colour: red}\nrules: {nope: off}\nenvironment: 5\nnodes: {derive: [{from: x, match: '('}], infer: [rspec, foo]}\nmaxFileSize: 10\n",
        );
        let keys: Vec<&str> =
            problems.iter().map(|problem| problem.split('\'').nth(1).unwrap()).collect();
        assert_eq!(
            keys,
            [
                "puppet.version",
                "puppet.colour",
                "rules.nope",
                "environment",
                "nodes.derive",
                "nodes.infer"
            ]
        );
        assert_eq!(settings.workspace.max_file_size, 10);
    }

    #[test]
    fn a_mapping_of_a_huge_path_is_said_and_the_others_count() {
        let huge = "x".repeat(5000);
        let (settings, problems) =
            apply(&format!("pathMappings:\n  ? /{huge}\n  : data\n  /srv/data: data\n"));
        assert_eq!(problems, ["setting 'pathMappings': a deployed path of 5001 bytes is too long"]);
        assert_eq!(
            settings.workspace.common.path_mappings.map("/srv/data", None, &|_| false),
            "/repo/data"
        );
    }

    #[test]
    fn a_function_is_described_by_files_below_its_datadir() {
        let (settings, problems) = apply(
            "backends:\n  f: {files: ['%{path}.yaml', '../x.yaml', 'a/%{namespace}/b.yaml', x.conf]}\n  g: {paths: []}\n",
        );
        assert_eq!(settings.workspace.common.backends["f"], ["%{path}.yaml"]);
        assert_eq!(problems.len(), 5, "{problems:#?}");
    }

    #[test]
    fn what_editors_keep_for_themselves_is_passed_over() {
        let value = serde_json::json!({"server": {"path": "x"}, "trace": {"server": "off"}, "enable": true, "colour": "red"});
        let keys = |origin| {
            Settings::default()
                .apply(&value, origin)
                .into_iter()
                .map(|problem| problem.key)
                .collect::<Vec<_>>()
        };
        assert_eq!(keys(Origin::User), ["colour"]);
        assert_eq!(keys(Origin::Repository).len(), 4);
    }

    #[test]
    fn a_clients_settings_are_found() {
        let rules = serde_json::json!({"rules": {}});
        assert_eq!(section(&rules), Some(&rules));
        assert_eq!(
            section(&serde_json::json!({"hiera": {"rules": {}}, "puppet": {}})),
            Some(&rules)
        );
        assert_eq!(section(&serde_json::json!({"hiera": null})), Some(&Value::Null));
        for other in [
            serde_json::json!({"yaml": {"schemas": {}}}),
            serde_json::json!({}),
            serde_json::json!([]),
        ] {
            assert_eq!(section(&other), None);
        }
    }

    #[test]
    fn decryption_is_the_users_to_switch_on() {
        let value = serde_json::json!({"eyaml": {"decrypt": true, "keyFolders": ["/keys"], "privateKey": "/k.pem"}});
        for origin in [Origin::Repository, Origin::Editor] {
            let mut settings = Settings::default();
            let problems = settings.apply(&value, origin);
            assert_eq!(
                problems.iter().map(|problem| problem.key.as_str()).collect::<Vec<_>>(),
                ["eyaml"]
            );
            assert_eq!(settings.workspace.eyaml, Default::default());
        }
        let mut settings = Settings::default();
        assert_eq!(settings.apply(&value, Origin::User), []);
        assert!(settings.workspace.eyaml.decrypt);
        let odd = serde_json::json!({"eyaml": {"decrypt": "yes", "privateKey": "keys/k.pem", "keyFolders": "/", "colour": 1}});
        let keys: Vec<String> =
            settings.apply(&odd, Origin::User).into_iter().map(|problem| problem.key).collect();
        assert_eq!(keys, ["eyaml.decrypt", "eyaml.privateKey", "eyaml.keyFolders", "eyaml.colour"]);
    }

    #[test]
    fn what_the_schema_has_is_applied_and_by_whom_it_may_be_set_is_true() {
        use schema::{Kind, SCHEMA, Who};
        for setting in SCHEMA {
            let value = match setting.kind {
                Kind::Text if setting.name == "environment" => serde_json::json!("production"),
                Kind::Text => serde_json::json!("/outside"),
                Kind::Seconds => 5.into(),
                Kind::Texts => serde_json::json!(["/outside"]),
                Kind::Flag => true.into(),
                Kind::Bytes => 5.into(),
                Kind::Numbers(numbers) => numbers[0].into(),
                Kind::Words(words) => words[0].into(),
                Kind::ListOf(words) => serde_json::json!([words[0]]),
                Kind::TextByText => serde_json::json!({"/srv": "/outside"}),
                Kind::Backends => serde_json::json!({"f": {"files": ["%{path}.yaml"]}}),
                Kind::Derivations => serde_json::json!([{"from": "a", "match": "(?<b>.)"}]),
                Kind::Severities => serde_json::json!({"unknown-key": "off"}),
            };
            let set = |value: &Value, origin| {
                let nested = setting
                    .name
                    .rsplit('.')
                    .fold(value.clone(), |value, name| serde_json::json!({name: value}));
                Settings::default().apply(&nested, origin)
            };
            let refused = [Origin::User, Origin::Editor, Origin::Repository]
                .map(|origin| !set(&value, origin).is_empty());
            let expected = match setting.who {
                Who::Anybody => [false, false, false],
                Who::EditorBeyondTheRepository => [false, false, true],
                Who::User => [false, true, true],
            };
            assert_eq!(refused, expected, "{}", setting.name);
            // A value of a wrong type is reported, so the setting is read; its default is accepted.
            assert_ne!(set(&serde_json::json!([[]]), Origin::User), [], "{}", setting.name);
            let default: Value = serde_json::from_str(setting.default).unwrap();
            assert_eq!(set(&default, Origin::User), [], "{}", setting.name);
        }
        for unknown in ["puppet.colour", "colour", "environment.x", "rulesx", "puppetx"] {
            assert!(!schema::knows(unknown), "{unknown}");
        }
        assert!(schema::knows("nodes") && schema::knows("rules.unknown-key"));
    }

    #[test]
    fn a_repository_may_not_lead_out_of_itself() {
        let text = "globalHieraConfig: /etc/hiera.yaml\nmodulePath: [/opt, modules]\nnodes: {sources: ['../*.json']}\npathMappings: {/srv: /etc}\n";
        let (settings, problems) = apply(text);
        assert_eq!(problems.len(), 4, "{problems:?}");
        assert_eq!(settings.workspace.global_hiera_config, None);
        assert_eq!(settings.workspace.common.module_path, Some(vec!["modules".to_owned()]));
    }
}
