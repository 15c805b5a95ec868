//! The settings for reading a workspace, as the layers below `settings` need them.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::files::mapping::PathMappings;
use super::nodes::steps::Steps;
use crate::eyaml::EyamlConfig;
use crate::hiera::config::DescribedBackends;
use crate::hiera::scope::DeriveRule;
use crate::puppet::PuppetVersion;
use crate::text::FilePath;

/// The name that Puppet gives to the file that configures a layer.
pub(super) const HIERA_CONFIG: &str = "hiera.yaml";

/// The settings for reading a workspace.
#[derive(Clone, Debug, PartialEq)]
pub struct WorkspaceConfig {
    /// The settings of the environments that are not among `environments`.
    pub common: EnvironmentConfig,
    /// The settings of the environments that have settings of their own, by their folders.
    pub environments: BTreeMap<FilePath, EnvironmentConfig>,
    /// The name of the file that configures an environment, relative to its folder.
    pub hiera_config: String,
    /// The global layer's `hiera.yaml`.
    pub global_hiera_config: Option<FilePath>,
    /// The user's settings for encrypted values.
    pub eyaml: EyamlConfig,
    /// The file that keeps the answer of a PuppetDB; `None` where the user names no PuppetDB.
    pub puppetdb_rows: Option<FilePath>,
    /// The longest file that is read, in bytes.
    pub max_file_size: u64,
}

/// The settings for reading an environment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EnvironmentConfig {
    /// The version of Puppet to agree with.
    pub puppet: PuppetVersion,
    /// The environment's name, where its folder does not show it; `None` assumes `production`.
    pub name: Option<String>,
    /// Folders of modules, relative to the environment; `None` reads environment.conf, then takes
    /// Puppet's habit.
    pub module_path: Option<Vec<String>>,
    /// Deployed paths with their paths in the workspace.
    pub path_mappings: PathMappings,
    /// The files that functions of others read.
    pub backends: DescribedBackends,
    /// The sources of nodes.
    pub nodes: NodesConfig,
}

/// The name of an environment's config where no setting names another.
const USUAL_CONFIG: &str = HIERA_CONFIG;

/// The name of an environment that neither its folder nor a setting names.
const USUAL_NAME: &str = "production";

impl EnvironmentConfig {
    /// Returns the name of an environment whose folder does not show it.
    pub fn environment_name(&self) -> &str {
        self.name.as_deref().unwrap_or(USUAL_NAME)
    }
}

impl WorkspaceConfig {
    /// Whether a setting names the config of environments.
    pub fn has_named_config(&self) -> bool {
        self.hiera_config != USUAL_CONFIG
    }

    /// Returns the settings of the environment in this folder.
    pub fn environment_config(&self, environment: &FilePath) -> &EnvironmentConfig {
        self.environments.get(environment).unwrap_or(&self.common)
    }

    /// Returns the settings of the environment that a file lies in.
    pub fn of_file(&self, path: &FilePath) -> &EnvironmentConfig {
        let holding = self.environments.iter().filter(|(root, _)| path.is_within(root));
        let nearest = holding.max_by_key(|(root, _)| root.as_str().len());
        nearest.map_or(&self.common, |(_, config)| config)
    }
}

/// The largest file that is read where no setting names another limit, in bytes.
const MAX_FILE_SIZE: u64 = 64 << 20;

impl Default for WorkspaceConfig {
    fn default() -> WorkspaceConfig {
        WorkspaceConfig {
            common: EnvironmentConfig::default(),
            environments: BTreeMap::new(),
            hiera_config: USUAL_CONFIG.into(),
            global_hiera_config: None,
            eyaml: EyamlConfig::default(),
            puppetdb_rows: None,
            max_file_size: MAX_FILE_SIZE,
        }
    }
}

/// The sources of nodes, as the settings name them.
#[derive(Clone, Debug, PartialEq)]
pub struct NodesConfig {
    /// Globs of files with facts or scopes, relative to the workspace folder unless absolute.
    pub sources: Vec<String>,
    /// Rules that compute variables.
    pub derive: Arc<[DeriveRule]>,
    /// The certname of the node whose values are shown unless another is chosen.
    pub default: Option<String>,
    /// The ways in which nodes become known beyond the files of `sources`.
    pub infer: Steps,
}

impl Default for NodesConfig {
    fn default() -> NodesConfig {
        NodesConfig {
            sources: Vec::new(),
            derive: Arc::default(),
            default: None,
            infer: Steps::ALL,
        }
    }
}
