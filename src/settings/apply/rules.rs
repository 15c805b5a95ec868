//! The settings `rules`, the severities of findings, and `ignore`, the files in which findings are
//! accepted.

use serde_json::Value;

use crate::diagnostics::{IgnoredPaths, Preset, Severities, Severity, rules};
use crate::settings::reader::SettingsReader;

/// Applies severities by the codes of rules.
pub(super) fn apply(reader: &mut SettingsReader, value: &Value, severities: &mut Severities) {
    reader.read_members("rules", value, |reader, code, value| {
        if rules::find(code).is_none() {
            return false;
        }
        // YAML reads a bare `off` as false.
        let severity = if value == &Value::Bool(false) {
            Some(Severity::Off)
        } else {
            value.as_str().and_then(Severity::from_name)
        };
        match severity {
            Some(severity) => {
                severities.insert(code.to_owned(), severity);
            }
            None => {
                reader.report(&format!("rules.{code}"), "must be off, hint, info, warning or error")
            }
        }
        true
    });
}

/// Reads the name of a preset; `None` after a report.
pub(super) fn read_preset(reader: &mut SettingsReader, value: &Value) -> Option<Preset> {
    let preset = value.as_str().and_then(Preset::from_name);
    if preset.is_none() {
        reader.report("preset", "must be minimal, recommended or strict");
    }
    preset
}

/// Reads the codes of rules by globs; `None` after a report. A code that no rule has is reported, and
/// the others count.
pub(super) fn read_ignored(
    reader: &mut SettingsReader,
    value: &Value,
) -> Option<Vec<IgnoredPaths>> {
    let Some(members) = value.as_object() else {
        reader.report("ignore", "must be a hash of globs, each with the codes of rules");
        return None;
    };
    let mut ignored = Vec::new();
    for (pattern, codes) in members {
        let Some(codes) = codes.as_str() else {
            let message = "must be the codes of rules, with commas between them";
            reader.report_part("ignore", Some(pattern), message);
            continue;
        };
        let (known, unknown): (Vec<&str>, Vec<&str>) =
            codes.split(',').map(str::trim).partition(|code| rules::find(code).is_some());
        for code in unknown {
            reader.report_part("ignore", Some(pattern), &format!("names no rule with '{code}'"));
        }
        let codes = known.into_iter().map(str::to_owned).collect();
        ignored.push(IgnoredPaths { pattern: pattern.clone(), codes });
    }
    Some(ignored)
}
