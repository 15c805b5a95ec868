//! The settings of an editor's features: `diagnostics`, `inlayHints`, `codeLens` and `reach`.

use serde_json::Value;

use crate::ide::code_lens::LensConfig;
use crate::ide::inlay_hints::HintConfig;
use crate::settings::reader::{SettingsReader, set_if_read};

/// The word for the texts on disk, in place of a revision.
const SAVED: &str = "saved";

/// When the server publishes findings to an editor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PublishTime {
    /// At each change.
    #[default]
    OnType,
    /// When a file is opened or saved; text that is not saved yet is left out.
    OnSave,
    /// Never.
    Off,
}

/// Reads `diagnostics`.
pub(super) fn apply_diagnostics(reader: &mut SettingsReader, value: &Value, run: &mut PublishTime) {
    reader.read_members("diagnostics", value, |reader, key, value| {
        if key != "run" {
            return false;
        }
        match value.as_str() {
            Some("onType") => *run = PublishTime::OnType,
            Some("onSave") => *run = PublishTime::OnSave,
            Some("off") => *run = PublishTime::Off,
            _ => reader.report("diagnostics.run", "must be onType, onSave or off"),
        }
        true
    });
}

/// Reads `inlayHints`.
pub(super) fn apply_hints(reader: &mut SettingsReader, value: &Value, hints: &mut HintConfig) {
    reader.read_members("inlayHints", value, |reader, key, value| {
        let switch = match key {
            "tokenValues" => &mut hints.token_values,
            "parameterTypes" => &mut hints.parameter_types,
            _ => return false,
        };
        set_if_read(switch, reader.read_flag(&format!("inlayHints.{key}"), value));
        true
    });
}

/// Reads `codeLens`.
pub(super) fn apply_lenses(reader: &mut SettingsReader, value: &Value, lenses: &mut LensConfig) {
    reader.read_members("codeLens", value, |reader, key, value| {
        let switch = match key {
            "overrides" => &mut lenses.overrides,
            "allOverrides" => &mut lenses.all_overrides,
            "readers" => &mut lenses.readers,
            "nodes" => &mut lenses.nodes,
            "reach" => &mut lenses.reach,
            _ => return false,
        };
        set_if_read(switch, reader.read_flag(&format!("codeLens.{key}"), value));
        true
    });
}

/// Reads `reach`.
pub(super) fn apply_reach(reader: &mut SettingsReader, value: &Value, base: &mut Option<String>) {
    reader.read_members("reach", value, |reader, key, value| {
        if key != "base" {
            return false;
        }
        if let Some(name) = reader.read_text("reach.base", value) {
            *base = (name != SAVED).then_some(name);
        }
        true
    });
}
