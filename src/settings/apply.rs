//! Applies settings as written over the settings so far. Each group of settings has a file here,
//! which knows its own config only.

mod backends;
mod editor;
mod eyaml;
mod nodes;
mod puppet;
mod puppetdb;
mod rules;
mod run_backends;
mod workspace;

use serde_json::Value;

use super::places;
use super::problem::SettingProblem;
use super::reader::{Origin, SettingsReader, set_if_read};
use super::schema::CLIENT_KEYS;
use super::{FILE_NAME, Settings};
use crate::text::{FilePath, TextRange};

pub use editor::PublishTime;
pub use run_backends::RunBackends;

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
                    range: TextRange::new_empty(at.min(text.len() as u32)),
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
        let mut reader = SettingsReader::new(origin, file);
        reader.read_members("", value, |reader, key, value| self.apply_member(reader, key, value));
        puppet::settle(&mut self.workspace.common.puppet, self.strict);
        reader.into_problems()
    }

    /// Applies a member of the settings; `false` for one that settings of this origin do not have.
    fn apply_member(&mut self, reader: &mut SettingsReader, key: &str, value: &Value) -> bool {
        let Settings { workspace, rules, puppetdb, .. } = self;
        let common = &mut workspace.common;
        match key {
            "puppet" => puppet::apply(reader, value, &mut common.puppet, &mut self.strict),
            "environment" => set_if_read(&mut common.name, reader.read_text(key, value).map(Some)),
            "hieraConfig" => set_if_read(&mut workspace.hiera_config, reader.read_path(key, value)),
            "globalHieraConfig" => {
                let path = workspace::global_config(reader, key, value);
                set_if_read(&mut workspace.global_hiera_config, path.map(Some));
            }
            "modulePath" => {
                set_if_read(&mut common.module_path, reader.read_paths(key, value).map(Some))
            }
            "pathMappings" => {
                set_if_read(&mut common.path_mappings, workspace::path_mappings(reader, value))
            }
            "backends" => set_if_read(&mut common.backends, backends::read_backends(reader, value)),
            "nodes" => nodes::apply(reader, value, &mut common.nodes, puppetdb),
            "rules" => rules::apply(reader, value, &mut rules.severities),
            "preset" => set_if_read(&mut rules.preset, rules::read_preset(reader, value)),
            "ignore" => set_if_read(&mut rules.ignored, rules::read_ignored(reader, value)),
            "checkThirdPartyModules" => {
                set_if_read(&mut rules.third_party, reader.read_flag(key, value))
            }
            "diagnostics" => editor::apply_diagnostics(reader, value, &mut self.run),
            "inlayHints" => editor::apply_hints(reader, value, &mut self.hints),
            "codeLens" => editor::apply_lenses(reader, value, &mut self.lenses),
            "reach" => editor::apply_reach(reader, value, &mut self.reach_base),
            "eyaml" => eyaml::apply(reader, value, &mut workspace.eyaml),
            "runBackends" => run_backends::apply(reader, value, &mut self.run_backends),
            "maxFileSize" => {
                let most = workspace.max_file_size;
                set_if_read(
                    &mut workspace.max_file_size,
                    workspace::max_file_size(reader, key, value, most),
                );
            }
            _ => return reader.origin() != Origin::Repository && CLIENT_KEYS.contains(&key),
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostics::Severity;
    use crate::puppet::{PuppetVersion, Strict};
    use crate::settings::schema;

    /// Returns the settings of a repository with this settings file, and their problems.
    pub(super) fn applied(text: &str) -> (Settings, Vec<String>) {
        let mut settings = Settings::default();
        let problems = settings
            .apply_file(text, &FilePath::new("/repo"), &[FilePath::new("/repo")])
            .iter()
            .map(ToString::to_string)
            .collect();
        (settings, problems)
    }

    #[test]
    fn what_is_set_counts() {
        let text = "puppet: {version: 7}\nnodes:\n  sources: ['nodes/*.json']\n  derive: [{from: trusted.certname, match: '^(?<role>[a-z]+)'}]\nrules: {unknown-key: off, duplicate-key: warning}\n";
        let (settings, problems) = applied(text);
        assert_eq!(problems, Vec::<String>::new());
        assert_eq!(
            settings.workspace.common.puppet,
            PuppetVersion { major: 7, strict: Strict::Warning, ..PuppetVersion::default() }
        );
        assert_eq!(settings.workspace.common.nodes.derive.len(), 1);
        assert_eq!(settings.rules.severities["unknown-key"], Severity::Off);
    }

    #[test]
    fn what_is_wrong_is_said_and_the_rest_counts() {
        let (settings, problems) = applied(
            "puppet: {version: 6, includeLegacyFacts: 1, colour: red}\nrules: {nope: off}\nenvironment: 5\nnodes: {derive: [{from: x, match: '('}], infer: [rspec, foo]}\nmaxFileSize: 10\n",
        );
        let keys: Vec<&str> =
            problems.iter().map(|problem| problem.split('\'').nth(1).unwrap()).collect();
        assert_eq!(
            keys,
            [
                "puppet.version",
                "puppet.includeLegacyFacts",
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
    fn defaults_of_the_schema_are_those_of_the_program() {
        // The defaults of these settings are put in place where the settings are used.
        const LATER: [&str; 3] = ["environment", "nodes.puppetdb.timeout", "runBackends.timeout"];
        let usual = Settings::default();
        let mut applied = 0;
        for setting in schema::SCHEMA {
            let default: Value = serde_json::from_str(setting.default).expect("a default is JSON");
            if default.is_null() || LATER.contains(&setting.name) {
                continue;
            }
            let parts = setting.name.rsplit('.');
            let value = parts.fold(default, |value, name| serde_json::json!({name: value}));
            let mut settings = usual.clone();
            assert_eq!(settings.apply(&value, Origin::User), [], "{}", setting.name);
            assert_eq!(settings, usual, "{}", setting.name);
            applied += 1;
        }
        assert!(applied > 15, "{applied} settings have a default");
    }

    #[test]
    fn an_unknown_member_of_a_group_is_a_problem() {
        let groups = schema::SCHEMA.iter().filter_map(|setting| setting.name.rsplit_once('.'));
        let groups: std::collections::BTreeSet<&str> = groups.map(|(group, _)| group).collect();
        assert!(groups.contains("nodes.puppetdb") && groups.contains("reach"));
        for group in groups {
            let parts = group.rsplit('.');
            let colour = serde_json::json!({"colour": "red"});
            let value = parts.fold(colour, |value, name| serde_json::json!({name: value}));
            let problems = Settings::default().apply(&value, Origin::User);
            let keys: Vec<&str> = problems.iter().map(|problem| problem.key.as_str()).collect();
            assert_eq!(keys, [format!("{group}.colour")]);
        }
    }

    #[test]
    fn what_the_schema_has_is_applied_and_by_whom_it_may_be_set_is_true() {
        use schema::{AllowedOrigins, SCHEMA, SettingType};
        for setting in SCHEMA {
            let value = match setting.kind {
                SettingType::Text if setting.name == "environment" => {
                    serde_json::json!("production")
                }
                SettingType::Text if setting.name == "nodes.puppetdb.url" => {
                    serde_json::json!("https://puppetdb:8081")
                }
                SettingType::Text => serde_json::json!("/outside"),
                SettingType::Seconds => 5.into(),
                SettingType::Age => serde_json::json!("7d"),
                SettingType::Texts => serde_json::json!(["/outside"]),
                SettingType::Flag => true.into(),
                SettingType::Bytes => 5.into(),
                SettingType::Numbers(numbers) => numbers[0].into(),
                SettingType::Words(words) => words[0].into(),
                SettingType::ListOf(words) => serde_json::json!([words[0]]),
                SettingType::TextByText if setting.name == "ignore" => {
                    serde_json::json!({"data/*.yaml": "unread-key"})
                }
                SettingType::TextByText => serde_json::json!({"/srv": "/outside"}),
                SettingType::Backends => serde_json::json!({"f": {"files": ["%{path}.yaml"]}}),
                SettingType::Derivations => serde_json::json!([{"from": "a", "match": "(?<b>.)"}]),
                SettingType::Severities => serde_json::json!({"unknown-key": "off"}),
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
            let expected = match setting.allowed_origins {
                AllowedOrigins::All => [false, false, false],
                AllowedOrigins::EditorBeyondTheRepository => [false, false, true],
                AllowedOrigins::User => [false, true, true],
            };
            assert_eq!(refused, expected, "{}", setting.name);
            // A value of a wrong type is reported, so the setting is read; its default is accepted.
            assert_ne!(set(&serde_json::json!([[]]), Origin::User), [], "{}", setting.name);
            let default: Value = serde_json::from_str(setting.default).unwrap();
            assert_eq!(set(&default, Origin::User), [], "{}", setting.name);
        }
        for unknown in ["puppet.colour", "colour", "environment.x", "rulesx", "puppetx"] {
            assert!(!schema::is_known(unknown), "{unknown}");
        }
        assert!(schema::is_known("nodes") && schema::is_known("rules.unknown-key"));
    }

    #[test]
    fn the_file_of_an_environment_has_the_settings_of_environments_alone() {
        let text = "preset: strict\ninlayHints: {tokenValues: false}\ncodeLens: {overrides: false, allOverrides: true}\nhieraConfig: h.yaml\nmaxFileSize: 10\n\
                    diagnostics: {run: onSave}\ncheckThirdPartyModules: true\nmodulePath: [parts]\nrules: {unknown-key: off}\n";
        let folder = FilePath::new("/code/environments/test");
        let mut settings = Settings::default();
        let problems = settings.apply_file(text, &folder, &[FilePath::new("/code")]);
        let message =
            "holds for all environments: only the settings file of the opened folder may have it";
        assert!(problems.iter().all(|problem| problem.message == message), "{problems:?}");
        let mut keys: Vec<&str> = problems.iter().map(|problem| &*problem.key).collect();
        keys.sort_unstable();
        assert_eq!(
            keys,
            [
                "checkThirdPartyModules",
                "codeLens.allOverrides",
                "codeLens.overrides",
                "diagnostics.run",
                "hieraConfig",
                "inlayHints.tokenValues",
                "maxFileSize",
                "preset"
            ]
        );
        let mut expected = Settings::default();
        expected.workspace.common = settings.workspace.common.clone();
        expected.rules.severities = settings.rules.severities.clone();
        assert_eq!(settings, expected);
        assert_eq!(settings.workspace.common.module_path, Some(vec!["parts".to_owned()]));
        assert!(!settings.rules.severities.is_empty());
    }

    #[test]
    fn a_repository_may_not_lead_out_of_itself() {
        let text = "globalHieraConfig: /etc/hiera.yaml\nmodulePath: [/opt, modules]\nnodes: {sources: ['../*.json']}\npathMappings: {/srv: /etc}\n";
        let (settings, problems) = applied(text);
        assert_eq!(problems.len(), 4, "{problems:?}");
        assert_eq!(settings.workspace.global_hiera_config, None);
        assert_eq!(settings.workspace.common.module_path, Some(vec!["modules".to_owned()]));
    }
}
