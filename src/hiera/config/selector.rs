//! The settings that chose where data comes from before Hiera 5: `environment_data_provider` of
//! environment.conf and `data_provider` of a module's metadata.json. Source: semantics 1.12.

use std::sync::Arc;

use super::default_template;
use super::{
    Backend, BackendKind, ConfigProblem, ConfigProblemKind, ConfigVersion, HieraConfig, Layer,
    Level, Locations,
};
use crate::puppet::PuppetVersion;
use crate::text::{FileId, FilePath, Span, TextRange};

/// Puppet's data provider reads the ignored config once more, and calls a method of nothing. A
/// defect of Puppet.
const NO_CONFIG: &str = "undefined method `configured_data_providers' for nil:NilClass";

/// Returns the config of a layer: its `hiera.yaml` at `path` (`None` when there is none), unless
/// `selector`, the older setting, chooses another source. A `hiera.yaml` of version 5 always wins.
///
/// An unknown selector gives a config with a problem, as Puppet fails every lookup for it. A
/// strict Puppet refuses a `hiera.yaml` of version 3 before the selector counts; otherwise Puppet
/// ignores the file.
pub fn select(
    written: Option<HieraConfig>,
    selector: Option<&str>,
    layer: &Layer,
    environment: &str,
    path: &FilePath,
    puppet: PuppetVersion,
) -> Option<HieraConfig> {
    let is_ignored = |config: &HieraConfig| config.is_passed_over(puppet);
    let counts = written
        .as_ref()
        .is_none_or(|config| config.version == ConfigVersion::V4 || is_ignored(config));
    let Some(selector) = selector.filter(|_| counts) else { return written };
    let (setting, scope): (_, Arc<str>) = match layer {
        Layer::Module(name) => ("module_data_provider", name.clone()),
        Layer::Global | Layer::Environment => ("environment_data_provider", "environment".into()),
    };
    match selector {
        "none" => None,
        "hiera" => match written {
            Some(config) if is_ignored(&config) => Some(config.refuse(NO_CONFIG.to_owned())),
            Some(config) => Some(config),
            None => Some(HieraConfig::default_at(path)),
        },
        "function" => {
            let function: Arc<str> = format!("{scope}::data").into();
            let level = Level {
                name: format!("Legacy function '{function}'").into(),
                span: None,
                backend: Backend::new(BackendKind::LegacyFunction, function, None),
                locations: Locations::None,
                datadir: default_template("data"),
                extension: None,
                options: None,
            };
            Some(HieraConfig {
                hierarchy: vec![Arc::new(level)],
                ..HieraConfig::new_unwritten(path)
            })
        }
        other => {
            let message = format!("Environment '{environment}', cannot find {setting} '{other}'");
            let file = written.and_then(|config| config.file);
            Some(HieraConfig { file, ..HieraConfig::new_unwritten(path) }.refuse(message))
        }
    }
}

impl HieraConfig {
    /// Returns the config at `path` of an environment that Puppet refuses for its environment.conf,
    /// with Puppet's words for that.
    pub fn refused_by(message: String, path: &FilePath) -> HieraConfig {
        HieraConfig::new_unwritten(path).refuse(message)
    }

    /// Makes every lookup with this config fail with `message`.
    fn refuse(mut self, message: String) -> HieraConfig {
        let file = self.file.unwrap_or(FileId::new(0));
        self.problems.push(ConfigProblem {
            kind: ConfigProblemKind::Provider,
            message,
            span: Span::in_file(file, TextRange::new_empty(0)),
            related: None,
            sought: None,
            string: None,
        });
        self
    }
}
