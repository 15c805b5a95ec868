//! The settings that chose where data comes from before Hiera 5: `environment_data_provider` of
//! environment.conf and `data_provider` of a module's metadata.json. Source: semantics 1.12.

use std::sync::Arc;

use super::default_template;
use super::{
    Backend, BackendKind, ConfigProblem, ConfigProblemKind, ConfigVersion, HieraConfig, Layer,
    Level, Locations,
};
use crate::text::{FileId, FilePath, Span, TextRange};

/// Returns the config of a layer: its `hiera.yaml` at `path` (`None` when there is none), unless
/// `selector`, the older setting, chooses another source. A `hiera.yaml` of version 5 always wins.
///
/// An unknown selector gives a config with a problem, as Puppet fails every lookup for it.
pub fn select(
    written: Option<HieraConfig>,
    selector: Option<&str>,
    layer: &Layer,
    environment: &str,
    path: &FilePath,
) -> Option<HieraConfig> {
    // The selector counts only beside version 4, or without a config. Version 5 wins; version 3 is
    // ignored, or is an error.
    let is_older = written.as_ref().is_none_or(|config| config.version == ConfigVersion::V4);
    let Some(selector) = selector.filter(|_| is_older) else { return written };
    let (setting, scope): (_, Arc<str>) = match layer {
        Layer::Module(name) => ("module_data_provider", name.clone()),
        Layer::Global | Layer::Environment => ("environment_data_provider", "environment".into()),
    };
    match selector {
        "none" => None,
        "hiera" => Some(written.unwrap_or_else(|| HieraConfig::default_at(path))),
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
            Some(HieraConfig::new_failing(message, file, path))
        }
    }
}

impl HieraConfig {
    /// Returns the config at `path` of an environment that Puppet refuses for its environment.conf,
    /// with Puppet's words for that.
    pub fn refused_by(message: String, path: &FilePath) -> HieraConfig {
        HieraConfig::new_failing(message, None, path)
    }

    /// Returns a config without levels for which every lookup fails.
    fn new_failing(message: String, file: Option<FileId>, path: &FilePath) -> HieraConfig {
        let problem = ConfigProblem {
            kind: ConfigProblemKind::Provider,
            message,
            span: Span::in_file(file.unwrap_or(FileId::new(0)), TextRange::new_empty(0)),
            related: None,
            sought: None,
            string: None,
        };
        HieraConfig { problems: vec![problem], ..HieraConfig::new_unwritten(path) }
    }
}
