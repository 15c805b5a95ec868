//! The settings for functions of levels that run at the user's request. A repository that could
//! switch them on would have its own code run.

use std::time::Duration;

use serde_json::Value;

use crate::backends::BackendsConfig;
use crate::settings::reader::{SettingsReader, set_if_read};

/// The user's settings for functions of levels in an editor.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunBackends {
    /// Whether an editor offers to run functions at all.
    pub enabled: bool,
    ruby: Option<String>,
    functions: Vec<String>,
    pass_env: Vec<String>,
    timeout: Option<Duration>,
}

impl RunBackends {
    /// Returns the settings of the processes that run functions; `None` unless the user has
    /// switched them on.
    pub fn process_config(&self) -> Option<BackendsConfig> {
        let usual = BackendsConfig::default();
        self.enabled.then(|| BackendsConfig {
            command: self.ruby.clone().map_or(usual.command, |ruby| vec![ruby]),
            environment: self.pass_env.clone(),
            functions: Some(self.functions.clone()).filter(|names| !names.is_empty()),
            deadline: self.timeout.unwrap_or(usual.deadline),
        })
    }
}

/// The problem of the setting in a file of the repository: the setting makes hiera-ls run code.
const REFUSAL: &str =
    "is refused here: only the user may have functions of levels run, no file of the repository";

/// Applies the settings, which must be the user's own.
pub(super) fn apply(reader: &mut SettingsReader, value: &Value, settings: &mut RunBackends) {
    if !reader.is_users("runBackends", REFUSAL) {
        return;
    }
    reader.read_members("runBackends", value, |reader, key, value| {
        let name = format!("runBackends.{key}");
        match key {
            "enabled" => set_if_read(&mut settings.enabled, reader.read_flag(&name, value)),
            "ruby" => set_if_read(&mut settings.ruby, read_program(reader, &name, value).map(Some)),
            "functions" => set_if_read(&mut settings.functions, read_names(reader, &name, value)),
            "passEnv" => set_if_read(&mut settings.pass_env, read_names(reader, &name, value)),
            "timeout" => match value.as_u64().filter(|seconds| *seconds > 0) {
                Some(seconds) => settings.timeout = Some(Duration::from_secs(seconds)),
                None => reader.report(&name, "must be a number of seconds, 1 or more"),
            },
            _ => return false,
        }
        true
    });
}

/// Reads a program: its absolute path, or its name without a folder.
fn read_program(reader: &mut SettingsReader, key: &str, value: &Value) -> Option<String> {
    let text = reader.read_text(key, value)?;
    let is_name = !text.is_empty() && !text.contains(['/', '\\']);
    if !is_name && !std::path::Path::new(&text).is_absolute() {
        reader.report(key, "must be an absolute path, or a name without a folder");
        return None;
    }
    Some(text)
}

/// Reads a list of names.
fn read_names(reader: &mut SettingsReader, key: &str, value: &Value) -> Option<Vec<String>> {
    let names = value.as_array().and_then(|items| {
        items.iter().map(|item| item.as_str().map(str::to_owned)).collect::<Option<Vec<_>>>()
    });
    if names.is_none() {
        reader.report(key, "must be a list of names");
    }
    names
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::settings::{Origin, Settings};

    #[test]
    fn the_user_alone_switches_functions_on() {
        let given = json!({"runBackends": {"enabled": true, "ruby": "/opt/ruby", "functions": ["t::fn"], "passEnv": ["VAULT_TOKEN"], "timeout": 3}});
        for origin in [Origin::Editor, Origin::Repository] {
            let mut settings = Settings::default();
            let problems = settings.apply(&given, origin);
            assert_eq!((problems.len(), settings.run_backends.process_config()), (1, None));
        }
        let mut settings = Settings::default();
        assert_eq!(settings.run_backends.process_config(), None, "off by default");
        assert_eq!(settings.apply(&given, Origin::User), []);
        let config = settings.run_backends.process_config().expect("it is on");
        assert_eq!(config.command, ["/opt/ruby"]);
        assert_eq!(config.functions, Some(vec!["t::fn".to_owned()]));
        assert_eq!(config.environment, ["VAULT_TOKEN"]);
        assert_eq!(config.deadline, Duration::from_secs(3));
    }

    #[test]
    fn wrong_settings_are_told_and_change_nothing() {
        let given = json!({"runBackends": {"enabled": "yes", "ruby": "./ruby", "functions": "t::fn", "passEnv": [1], "timeout": 0, "colour": 1}});
        let mut settings = Settings::default();
        let keys: Vec<String> =
            settings.apply(&given, Origin::User).into_iter().map(|one| one.key).collect();
        let names = ["enabled", "ruby", "functions", "passEnv", "timeout", "colour"];
        assert_eq!(keys, names.map(|name| format!("runBackends.{name}")));
        assert_eq!(settings, Settings::default());
    }
}
