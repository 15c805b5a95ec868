//! Recognizes configs by their content, not by their file names.

use super::ConfigVersion;
use crate::puppet::value::{Data, Value};

/// The words of which each config has one: a text without them need not be read as YAML.
pub const CONFIG_WORDS: [&str; 2] = ["hierarchy", ":backends"];

/// Returns the version of a `hiera.yaml` with this text; `None` for the text of any other file.
///
/// `root` is the value of the whole text. Version 5 has `version: 5` and a hierarchy of hashes.
/// Version 3 has a hierarchy or backends, and either has `version: 3` or writes these keys as
/// symbols, as Hiera 3 does. A hash that lacks both may be a config whose version was forgotten.
pub fn version_by_content(text: &str, root: &Value) -> Option<ConfigVersion> {
    let hash = root.as_hash()?;
    let version = hash.get("version").map(|member| member.value.data());
    let hierarchy = root.get("hierarchy");
    match version {
        Some(Data::Integer(5)) => are_all_levels(&|level| level.as_hash().is_some(), hierarchy)
            .then_some(ConfigVersion::V5),
        None | Some(Data::Integer(3)) => {
            let is_hierarchy = hierarchy.is_none_or(|value| value.as_str().is_some())
                || are_all_levels(&|value: &Value| value.as_str().is_some(), hierarchy);
            let says_so = version.is_some() || has_symbol_keys(text);
            let has_keys = hierarchy.is_some() || root.get("backends").is_some();
            (is_hierarchy && has_keys && says_so).then_some(ConfigVersion::V3)
        }
        Some(_) => None,
    }
}

fn are_all_levels(is_level: &dyn Fn(&Value) -> bool, hierarchy: Option<&Value>) -> bool {
    hierarchy.and_then(Value::as_array).is_some_and(|levels| levels.iter().all(is_level))
}

fn has_symbol_keys(text: &str) -> bool {
    text.lines().any(|line| line.starts_with(":backends:") || line.starts_with(":hierarchy:"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hiera::data::{DataFile, DataFormat};
    use crate::text::FileId;
    use crate::yaml;

    fn version(text: &str) -> Option<ConfigVersion> {
        let tree = yaml::parse(text);
        let data = DataFile::read_whole(&tree, text, FileId::new(0), DataFormat::Yaml);
        version_by_content(text, &data.root_value()?)
    }

    #[test]
    fn a_config_is_known_by_its_keys() {
        for (text, expected) in [
            ("version: 5\nhierarchy: [{name: A, path: a.yaml}]\n", Some(ConfigVersion::V5)),
            ("version: 5\nhierarchy: []\n", Some(ConfigVersion::V5)),
            ("---\n:backends: [yaml]\n", Some(ConfigVersion::V3)),
            (":hierarchy:\n  - common\n", Some(ConfigVersion::V3)),
            (":hierarchy: common\n", Some(ConfigVersion::V3)),
            ("version: 3\nbackends: [yaml]\nhierarchy: [common]\n", Some(ConfigVersion::V3)),
            ("version: 3\n", None),
            ("hierarchy: [a]\n", None),
            ("hierarchy: [{name: A, path: a.yaml}]\n", None),
            (":version: 5\n:hierarchy: [{:name: a, :path: a.yaml}]\n", Some(ConfigVersion::V5)),
            ("version: 5\nhierarchy: [a, b]\n", None),
            ("version: 5\n", None),
            ("version: 4\nhierarchy: [{name: a}]\n", None),
            ("nginx::hierarchy: [a]\n", None),
            ("- version: 5\n", None),
        ] {
            assert_eq!(version(text), expected, "{text}");
            let has_word = CONFIG_WORDS.iter().any(|word| text.contains(word));
            assert!(expected.is_none() || has_word, "{text}");
        }
    }
}
