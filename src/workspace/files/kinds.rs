//! The kinds of files, decided by their paths. Only this module decides about a file's kind.

use crate::hiera::config::formats::has_data_name;
use crate::text::FilePath;
use crate::workspace::config::{HIERA_CONFIG, WorkspaceConfig};

/// The file that names an environment's modules.
pub const ENVIRONMENT_CONF: &str = "environment.conf";
/// The file that lists the modules which a deployment installs into an environment.
pub const PUPPETFILE: &str = "Puppetfile";
/// The file that describes a module.
pub const METADATA: &str = "metadata.json";
/// The name of the settings file of a workspace folder or of an environment.
pub const SETTINGS_FILE: &str = ".hiera-ls.yaml";
/// The folder of modules in an environment whose environment.conf names none. Source:
/// `EnvironmentConf#modulepath`.
pub const DEFAULT_MODULE_FOLDER: &str = "modules";
/// The usual folders of modules, for an environment without an environment.conf: the server's own
/// settings name them then, which are not in the repository.
pub const MODULE_FOLDERS: [&str; 3] = ["modules", "site", "site-modules"];
/// The usual manifests with the nodes of an environment.
pub const MAIN_MANIFESTS: [&str; 3] =
    ["manifests/site.pp", "manifests/nodes.pp", "manifests/default.pp"];
/// Folders of an environment, or of a module, in which a `hiera.yaml` configures nothing: it is a
/// test's, a template's or an example's.
const SAMPLE_FOLDERS: [&str; 6] = ["spec", "fixtures", "files", "templates", "examples", "vendor"];
/// The folders of a module, or of an environment, that hold code which may read data.
pub const CODE_FOLDERS: [&str; 6] =
    ["manifests", "types", "functions", "plans", "templates", "lib/puppet"];
/// The folders of an environment that tools install modules into, regardless of a Puppetfile.
const INSTALLED_FOLDERS: [&str; 4] = ["vendor", "r10k_modules", ".librarian", "vendor_modules"];
/// Folders of modules that no tool installs into.
const OWN_MODULE_FOLDERS: [&str; 4] = ["site", "site-modules", "site_modules", "dist"];
/// Folders whose configs are for tests and development machines.
const TEST_FOLDERS: [&str; 6] = ["spec", "test", "tests", "fixtures", "docker", "examples"];
/// Prefixes of the names of more folders whose configs are for tests and development machines.
const TEST_FOLDER_PREFIXES: [&str; 3] = ["vagrant", ".vagrant", "rake"];
/// The folder that holds environments, whose names say nothing about their configs.
pub const ENVIRONMENTS: &str = "environments";
/// The longest file that is taken for a config by its content, in bytes.
const MAX_CONFIG_SIZE: u64 = 64 << 10;

/// The kind of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// A `hiera.yaml`, or the file that the settings name in its place.
    HieraConfig,
    /// The `environment.conf` of an environment.
    EnvironmentConf,
    /// The `metadata.json` of a module.
    Metadata,
    /// A manifest, a template or Ruby code, by its name.
    Code(CodeLanguage),
    /// A file with the name of a data file. A level reads it, or lies beside it, or neither: the
    /// hierarchy decides.
    Data,
    /// A file that only a level with a path of its own name can read.
    Other,
}

/// The language of code that may read data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CodeLanguage {
    /// A manifest.
    Puppet,
    /// A template in Puppet's language.
    Epp,
    /// Ruby, also within a template.
    Ruby,
}

impl FileKind {
    /// Returns the kind of the file at `path`.
    pub fn of_path(path: &FilePath, config: &WorkspaceConfig) -> FileKind {
        let is_global = || config.global_hiera_config.as_ref() == Some(path);
        match path.name() {
            HIERA_CONFIG => FileKind::HieraConfig,
            _ if is_named(config, path) || is_global() => FileKind::HieraConfig,
            ENVIRONMENT_CONF => FileKind::EnvironmentConf,
            METADATA => FileKind::Metadata,
            _ if has_data_name(path) => FileKind::Data,
            _ => code_language(path).map_or(FileKind::Other, FileKind::Code),
        }
    }

    /// Whether a change of a file of this kind may change which environments there are, or their
    /// levels.
    pub fn shapes_environments(self) -> bool {
        matches!(self, FileKind::HieraConfig | FileKind::EnvironmentConf | FileKind::Metadata)
    }
}

/// Whether the file is the one that the setting `hieraConfig` names. Whole parts of the path are
/// compared: `my-hiera.yaml` is not `hiera.yaml`.
pub fn is_named(config: &WorkspaceConfig, path: &FilePath) -> bool {
    let named = FilePath::new(&config.hiera_config);
    let rest = path.as_str().strip_suffix(named.as_str());
    rest.is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
}

/// Returns the language of the file's extension, if it is one of code.
pub fn code_language(path: &FilePath) -> Option<CodeLanguage> {
    match path.extension()? {
        "pp" => Some(CodeLanguage::Puppet),
        "epp" => Some(CodeLanguage::Epp),
        "rb" | "erb" => Some(CodeLanguage::Ruby),
        _ => None,
    }
}

/// Whether a path relative to an environment lies in a folder that only tools write to.
pub fn is_below_installed(relative: &str) -> bool {
    relative.split('/').any(|folder| INSTALLED_FOLDERS.contains(&folder))
}

/// Whether a Puppetfile may install a module into this folder: r10k and similar tools do not touch
/// the folders of an environment's own modules.
pub fn may_be_installed(module_root: &FilePath) -> bool {
    let parent = module_root.parent();
    parent.is_none_or(|folder| !OWN_MODULE_FOLDERS.contains(&folder.name()))
}

/// Whether the file lists modules that a deployment installs: `Puppetfile`, or
/// `production.Puppetfile`.
pub fn is_puppetfile(path: &FilePath) -> bool {
    path.name().strip_suffix(PUPPETFILE).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
}

/// Whether a folder can be a module, by its name alone.
pub fn is_module_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.bytes().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'_')
}

/// Whether a folder below an environment holds samples: tests, templates, examples or code that a
/// tool installs. `below` is the folder's path relative to the environment.
pub fn is_sample(below: &str) -> bool {
    is_test(below)
        || is_below_installed(below)
        || relative_folders(below).any(|folder| SAMPLE_FOLDERS.contains(&folder))
}

/// Whether a folder belongs to tests, examples or development machines. `below` is the folder's
/// path relative to the workspace or to an environment.
pub fn is_test(below: &str) -> bool {
    relative_folders(below).any(|folder| {
        TEST_FOLDERS.contains(&folder)
            || TEST_FOLDER_PREFIXES.iter().any(|prefix| folder.starts_with(prefix))
    })
}

/// Returns the folders of a relative path, without the names of environments.
fn relative_folders(below: &str) -> impl Iterator<Item = &str> {
    let mut above = "";
    below.split('/').filter(move |folder| std::mem::replace(&mut above, folder) != ENVIRONMENTS)
}

/// Whether a file of this size may be a config under another name, so that its content is checked:
/// its own name or that of its folder contains `hiera`.
pub fn may_be_config(path: &FilePath, size: u64) -> bool {
    let is_yaml = matches!(path.extension(), Some("yaml" | "yml"));
    is_yaml
        && size <= MAX_CONFIG_SIZE
        && (names_hiera(path.name()) || path.parent().is_some_and(|it| names_hiera(it.name())))
}

fn names_hiera(name: &str) -> bool {
    name.to_ascii_lowercase().contains("hiera")
}

/// Whether a file may be a config, judged by its length and name.
pub fn is_short_yaml(path: &FilePath, len: u32) -> bool {
    matches!(path.extension(), Some("yaml" | "yml")) && u64::from(len) <= MAX_CONFIG_SIZE
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(path: &str) -> FileKind {
        let config = WorkspaceConfig {
            hiera_config: "conf/live.yaml".into(),
            global_hiera_config: Some(FilePath::new("/etc/puppet/global.yaml")),
            ..WorkspaceConfig::default()
        };
        FileKind::of_path(&FilePath::new(path), &config)
    }

    #[test]
    fn the_kind_follows_from_name_and_settings() {
        for path in ["/r/hiera.yaml", "/r/conf/live.yaml", "/etc/puppet/global.yaml"] {
            assert_eq!(kind(path), FileKind::HieraConfig, "{path}");
        }
        for path in ["/r/live.yaml", "/r/x-conf/live.yaml", "/r/my-hiera.yaml", "/r/d/a.json"] {
            assert_eq!(kind(path), FileKind::Data, "{path}");
        }
        assert_eq!(kind("/r/environment.conf"), FileKind::EnvironmentConf);
        assert_eq!(kind("/r/modules/ntp/metadata.json"), FileKind::Metadata);
        assert_eq!(kind("/r/manifests/site.pp"), FileKind::Code(CodeLanguage::Puppet));
        assert_eq!(kind("/r/m/templates/a.epp"), FileKind::Code(CodeLanguage::Epp));
        assert_eq!(kind("/r/m/templates/a.erb"), FileKind::Code(CodeLanguage::Ruby));
        assert_eq!(kind("/r/README.md"), FileKind::Other);
    }

    #[test]
    fn puppetfiles_and_modules_are_recognized_by_name() {
        let is_it = |path: &str| is_puppetfile(&FilePath::new(path));
        assert!(is_it("/r/Puppetfile") && is_it("/r/puppetfiles/zed.Puppetfile"));
        assert!(!is_it("/r/Puppetfile.lock") && !is_it("/r/MyPuppetfile"));
        assert!(is_module_name("apache_2") && !is_module_name("my-m") && !is_module_name("Mm"));
    }
}
