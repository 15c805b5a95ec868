//! The settings `rules`: the severities of findings.

use serde_json::Value;

use crate::diagnostics::{Severities, Severity, catalogue};
use crate::settings::reader::SettingsReader;

/// Applies severities by the codes of rules.
pub(super) fn apply(reader: &mut SettingsReader, value: &Value, severities: &mut Severities) {
    reader.read_members("rules", value, |reader, code, value| {
        if catalogue::find(code).is_none() {
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
