//! The settings `puppet`: the version of Puppet whose results hiera-ls gives, its `strict`, and
//! whether its agents send legacy facts.

use serde_json::Value;

use crate::puppet::{LegacyFacts, PuppetVersion, Strict};
use crate::settings::reader::SettingsReader;

/// Applies the version, and Puppet's setting `strict` to `strict` if it is set; see [`settle`].
pub(super) fn apply(
    reader: &mut SettingsReader,
    value: &Value,
    puppet: &mut PuppetVersion,
    strict: &mut Option<Strict>,
) {
    reader.read_members("puppet", value, |reader, key, value| {
        match key {
            "version" => match value.as_u64() {
                Some(version @ 7..=9) => puppet.major = version as u8,
                _ => reader.report("puppet.version", "must be 7, 8 or 9"),
            },
            "strict" => match value.as_str().and_then(strict_from_name) {
                Some(set) => *strict = Some(set),
                None => reader.report("puppet.strict", "must be off, warning or error"),
            },
            "includeLegacyFacts" => {
                if let Some(is_on) = reader.read_flag("puppet.includeLegacyFacts", value) {
                    puppet.legacy_facts =
                        if is_on { LegacyFacts::Included } else { LegacyFacts::LeftOut };
                }
            }
            _ => return false,
        }
        true
    });
}

/// Sets `puppet.strict` to the setting, or without one to the default of the version.
pub(super) fn settle(puppet: &mut PuppetVersion, strict: Option<Strict>) {
    puppet.strict = strict.unwrap_or(PuppetVersion::of_major(puppet.major).strict);
}

/// Returns the value of Puppet's setting `strict` with this name.
fn strict_from_name(name: &str) -> Option<Strict> {
    match name {
        "off" => Some(Strict::Off),
        "warning" => Some(Strict::Warning),
        "error" => Some(Strict::Error),
        _ => None,
    }
}
