//! `environment.conf` as Puppet reads it: lines of settings. An environment's data needs three of
//! them. Only this module reads the file; `config_version` names a program, and is ignored.
//!
//! Source: `Puppet::Settings::IniFile`, `ConfigFile`, `ValueTranslator` and `EnvironmentConf`.

use crate::text::FilePath;
use crate::workspace::environments::Environment;
use crate::workspace::files::kinds::ENVIRONMENT_CONF;
use crate::workspace::files::names::DiskNames;
use crate::workspace::snapshot::Snapshot;

/// The settings of an environment that concern its data and its code.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct EnvironmentConf {
    module_path: Option<String>,
    manifest: Option<String>,
    data_provider: Option<String>,
}

impl Snapshot {
    /// Returns the environment.conf of an environment and the data provider that it names, if the
    /// version of Puppet regards that: OpenVox 9 has dropped the setting.
    pub fn environment_data_provider(
        &self,
        environment: &Environment,
    ) -> Option<(FilePath, String)> {
        let is_known = self.config_of(environment).puppet.major < 9;
        let path = environment.root.join(ENVIRONMENT_CONF);
        let text = self.file(&path).filter(|_| is_known)?.text()?;
        let conf = EnvironmentConf::read(&text.to_str()).ok()?;
        Some((path, conf.data_provider?))
    }
}

/// The section that Puppet reads; lines before the first section are in it.
const SECTION: &str = "main";
/// The characters that make Puppet take a folder of the module path for a glob.
const GLOB: [char; 4] = ['*', '?', '[', '{'];

impl EnvironmentConf {
    /// Reads the text of a file. Of a setting that stands twice the first counts.
    ///
    /// Errors: Puppet's words for a file for which it refuses the whole environment.
    pub(super) fn read(text: &str) -> Result<EnvironmentConf, String> {
        let mut conf = EnvironmentConf::default();
        let mut section = SECTION;
        for (number, line) in text.lines().enumerate() {
            if let Some(name) = section_name(line) {
                section = name;
            } else if let Some((name, value)) = parse_setting(line) {
                let value = without_file_options(unquote(value))?;
                let slot = match name {
                    _ if section != SECTION => continue,
                    "modulepath" => &mut conf.module_path,
                    "manifest" => &mut conf.manifest,
                    "environment_data_provider" => &mut conf.data_provider,
                    _ => continue,
                };
                slot.get_or_insert(value);
            } else if !line.trim_start().is_empty() && !line.trim_start().starts_with('#') {
                return Err(format!("Could not match line {line} (line: {})", number + 1));
            }
        }
        Ok(conf)
    }

    /// Returns the folders of modules of the environment in `root`, in order; `None` where the file
    /// does not name any. Those that other settings of the server give, such as `$basemodulepath`,
    /// are not part of the repository, and neither are those below a user's home.
    pub(super) fn module_folders(
        &self,
        root: &FilePath,
        names: &DiskNames,
    ) -> Option<Vec<FilePath>> {
        // Nothing is trimmed: `site : modules` names folders that end and start with a space. Ruby
        // drops empty names at the end; any other empty name is the environment's folder.
        let written = self.module_path.as_deref()?.trim_end_matches(':');
        if written.is_empty() {
            return Some(Vec::new());
        }
        let named = written
            .split(':')
            .filter(|folder| !folder.contains('$') && !folder.starts_with('~'))
            .map(|folder| root.join(folder));
        let folders = named.flat_map(|folder| {
            if folder.as_str().contains(GLOB) {
                names.glob_folders(folder.as_str())
            } else {
                vec![folder]
            }
        });
        Some(folders.collect())
    }

    /// Returns the path of the environment's own manifests, if the file sets it.
    pub(super) fn manifest(&self) -> Option<&str> {
        self.manifest.as_deref().filter(|named| !named.is_empty())
    }

    /// Returns the setting that chose an environment's data before Hiera 5.
    pub(super) fn data_provider(&self) -> Option<&str> {
        self.data_provider.as_deref()
    }
}

/// Returns the name in a line `[name]`.
fn section_name(line: &str) -> Option<&str> {
    let name = line.trim().strip_prefix('[')?.strip_suffix(']')?;
    is_word(name).then_some(name)
}

/// Returns the name and the value in a line `name = value`.
fn parse_setting(line: &str) -> Option<(&str, &str)> {
    let (name, value) = line.split_once('=')?;
    let name = name.trim();
    is_word(name).then_some((name, value.trim()))
}

fn is_word(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_')
}

/// Returns a value without one quote at its start and one at its end; the two may be of different
/// kinds.
fn unquote(value: &str) -> &str {
    let value = value.strip_prefix(['"', '\'']).unwrap_or(value);
    value.strip_suffix(['"', '\'']).unwrap_or(value).trim_end()
}

/// Returns a value without the owner and the mode that a file of the server's may be given in
/// braces.
///
/// Errors: Puppet's words for braces that hold anything else, as those of a glob do.
fn without_file_options(value: &str) -> Result<String, String> {
    let braces = value.match_indices('{').find_map(|(open, _)| {
        let len = value[open + 1..].find('}').filter(|len| *len > 0)?;
        Some((open, open + 1 + len))
    });
    let Some((open, close)) = braces else { return Ok(value.to_owned()) };
    for option in value[open + 1..close].trim_end_matches(',').split(',') {
        let (name, given) = option
            .split_once('=')
            .map(|(name, given)| (name.trim(), given.trim()))
            .filter(|(name, given)| is_word(name) && is_word(given))
            .ok_or_else(|| format!("Could not parse '{value}'"))?;
        if !matches!(name, "owner" | "mode" | "group") {
            return Err(format!("Invalid file option '{name}'"));
        }
        if name == "mode" && !given.bytes().all(|c| c.is_ascii_digit()) {
            return Err("File modes must be numbers".into());
        }
    }
    Ok(format!("{}{}", &value[..open], &value[close + 1..]).trim_end().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn module_path(text: &str) -> Result<Option<String>, String> {
        EnvironmentConf::read(text).map(|conf| conf.module_path)
    }

    /// Each was asked of Puppet 7.23: `EnvironmentConf.load_from(…).raw_setting(:modulepath)`.
    #[test]
    fn values_are_read_as_puppet_does() {
        for (text, expected) in [
            ("modulepath = \"local:modules\"", "local:modules"),
            ("modulepath='a' ", "a"),
            ("modulepath = 'a", "a"),
            ("modulepath = a : b ", "a : b"),
            ("  modulepath=a\nmodulepath=b", "a"),
            ("# modulepath = x\n\n[main]\nmodulepath = a", "a"),
            ("[other]\nmodulepath = x\n[main]\nmodulepath = a", "a"),
            ("modulepath = a # b", "a # b"),
            ("modulepath = {owner = root, mode = 640}a", "a"),
            ("modulepath = {owner = root,}a", "a"),
            ("modulepath = a={}", "a={}"),
            ("modulepath == a", "= a"),
            ("modulepath =", ""),
        ] {
            assert_eq!(module_path(text), Ok(Some(expected.into())), "{text}");
        }
        assert_eq!(module_path("[other]\nmodulepath = x"), Ok(None));
    }

    #[test]
    fn a_file_that_puppet_refuses_has_its_reason() {
        for (text, expected) in [
            ("modulepath = {a,b}", "Could not parse '{a,b}'"),
            ("modulepath = { }a", "Could not parse '{ }a'"),
            ("modulepath = {user = a}", "Invalid file option 'user'"),
            ("manifest = {mode = x}", "File modes must be numbers"),
            ("\nfoo bar", "Could not match line foo bar (line: 2)"),
            ("my-setting = 1", "Could not match line my-setting = 1 (line: 1)"),
        ] {
            assert_eq!(module_path(text), Err(expected.into()), "{text}");
        }
    }
}
