//! The settings for functions of levels that run at the user's request. A repository that could
//! switch them on would have its own code run.

use std::time::Duration;

use serde_json::Value;

use super::{Applying, Origin};
use crate::workspace::backends::BackendsConfig;

/// The user's settings for functions of levels in an editor.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunBackends {
    /// Whether an editor offers to run them at all.
    pub enabled: bool,
    ruby: Option<String>,
    functions: Vec<String>,
    pass_env: Vec<String>,
    timeout: Option<Duration>,
}

impl RunBackends {
    /// Returns the settings of the processes that run functions; `None` unless the user has
    /// switched them on.
    pub fn config(&self) -> Option<BackendsConfig> {
        let usual = BackendsConfig::default();
        self.enabled.then(|| BackendsConfig {
            command: self.ruby.clone().map_or(usual.command, |ruby| vec![ruby]),
            environment: self.pass_env.clone(),
            functions: Some(self.functions.clone()).filter(|names| !names.is_empty()),
            deadline: self.timeout.unwrap_or(usual.deadline),
        })
    }
}

impl Applying<'_> {
    /// Reads the settings, which must be the user's own.
    pub(super) fn run_backends(&mut self, value: &Value) {
        let refusal = match self.origin {
            Origin::User => None,
            Origin::Repository => Some(
                "is refused here: only the user may have functions of levels run, no file of the repository",
            ),
            Origin::Editor => Some(
                "is honoured from initializationOptions only: the editor's settings may come from a file of the repository",
            ),
        };
        if let Some(refusal) = refusal {
            return self.report("runBackends", refusal);
        }
        self.members("runBackends", value, |apply, key, value| {
            let name = format!("runBackends.{key}");
            match key {
                "enabled" => match value.as_bool() {
                    Some(flag) => apply.settings.run_backends.enabled = flag,
                    None => apply.report(&name, "must be true or false"),
                },
                "ruby" => {
                    if let Some(ruby) = apply.program(&name, value) {
                        apply.settings.run_backends.ruby = Some(ruby);
                    }
                }
                "functions" => {
                    if let Some(names) = apply.names(&name, value) {
                        apply.settings.run_backends.functions = names;
                    }
                }
                "passEnv" => {
                    if let Some(names) = apply.names(&name, value) {
                        apply.settings.run_backends.pass_env = names;
                    }
                }
                "timeout" => match value.as_u64().filter(|seconds| *seconds > 0) {
                    Some(seconds) => {
                        apply.settings.run_backends.timeout = Some(Duration::from_secs(seconds));
                    }
                    None => apply.report(&name, "must be a number of seconds, 1 or more"),
                },
                _ => return false,
            }
            true
        });
    }

    /// Reads a program: its absolute path, or its name without a folder.
    fn program(&mut self, key: &str, value: &Value) -> Option<String> {
        let text = self.text(key, value)?;
        let is_name = !text.is_empty() && !text.contains(['/', '\\']);
        if !is_name && !std::path::Path::new(&text).is_absolute() {
            self.report(key, "must be an absolute path, or a name without a folder");
            return None;
        }
        Some(text)
    }

    /// Reads a list of names.
    fn names(&mut self, key: &str, value: &Value) -> Option<Vec<String>> {
        let names = value.as_array().and_then(|items| {
            items.iter().map(|item| item.as_str().map(str::to_owned)).collect::<Option<Vec<_>>>()
        });
        if names.is_none() {
            self.report(key, "must be a list of names");
        }
        names
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::settings::Settings;

    #[test]
    fn the_user_alone_switches_functions_on() {
        let given = json!({"runBackends": {"enabled": true, "ruby": "/opt/ruby", "functions": ["t::fn"], "passEnv": ["VAULT_TOKEN"], "timeout": 3}});
        for origin in [Origin::Editor, Origin::Repository] {
            let mut settings = Settings::default();
            let problems = settings.apply(&given, origin);
            assert_eq!((problems.len(), settings.run_backends.config()), (1, None));
        }
        let mut settings = Settings::default();
        assert_eq!(settings.run_backends.config(), None, "off by default");
        assert_eq!(settings.apply(&given, Origin::User), []);
        let config = settings.run_backends.config().expect("it is on");
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
