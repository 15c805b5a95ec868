//! The settings of an editor's features: `diagnostics`, `inlayHints` and `codeLens`.

use serde_json::Value;

use crate::ide::code_lens::LensConfig;
use crate::ide::inlay_hints::HintConfig;
use crate::settings::reader::{Reader, set};

/// When the server publishes findings to an editor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Run {
    /// At each change.
    #[default]
    OnType,
    /// When a file is opened or saved; text that is not saved yet is left out.
    OnSave,
    /// Never.
    Off,
}

/// Reads `diagnostics`.
pub(super) fn diagnostics(reader: &mut Reader, value: &Value, run: &mut Run) {
    reader.members("diagnostics", value, |reader, key, value| {
        if key != "run" {
            return false;
        }
        match value.as_str() {
            Some("onType") => *run = Run::OnType,
            Some("onSave") => *run = Run::OnSave,
            Some("off") => *run = Run::Off,
            _ => reader.report("diagnostics.run", "must be onType, onSave or off"),
        }
        true
    });
}

/// Reads `inlayHints`.
pub(super) fn hints(reader: &mut Reader, value: &Value, hints: &mut HintConfig) {
    reader.members("inlayHints", value, |reader, key, value| {
        let switch = match key {
            "tokenValues" => &mut hints.token_values,
            "parameterTypes" => &mut hints.parameter_types,
            _ => return false,
        };
        set(switch, reader.flag(&format!("inlayHints.{key}"), value));
        true
    });
}

/// Reads `codeLens`.
pub(super) fn lenses(reader: &mut Reader, value: &Value, lenses: &mut LensConfig) {
    reader.members("codeLens", value, |reader, key, value| {
        let switch = match key {
            "overrides" => &mut lenses.overrides,
            "readers" => &mut lenses.readers,
            "nodes" => &mut lenses.nodes,
            _ => return false,
        };
        set(switch, reader.flag(&format!("codeLens.{key}"), value));
        true
    });
}
