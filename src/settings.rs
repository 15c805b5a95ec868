//! Settings as written, in any of the three places, to the configs of the workspace and the rules.
//!
//! `.hiera-ls.yaml`, `initializationOptions` and `workspace/configuration` have one schema:
//! [`schema`]. Unknown keys and wrong types are reported, and all other settings are still applied.
//! [`gather`] puts those of folders, environments and users together.

mod apply;
mod effects;
mod gather;
mod in_force;
mod places;
mod problem;
mod reader;
pub mod schema;

use serde_json::Value;

use crate::diagnostics::RulesConfig;
use crate::ide::code_lens::LensConfig;
use crate::ide::inlay_hints::HintConfig;
use crate::puppet::Strict;
use crate::puppetdb::PuppetdbConfig;
use crate::workspace::WorkspaceConfig;
use schema::CLIENT_KEYS;

pub use apply::{PublishTime, RunBackends};
#[cfg(test)]
pub(crate) use effects::{SettingsFile, without_effect};
pub(crate) use gather::READINGS;
pub use gather::{
    FolderReading, Opened, OpenedTwice, gather, is_other_answer_kept, of_environments, open,
    open_revisions, open_versions, read_fields,
};
pub use in_force::{SettingInForce, SettingSource, settings_in_force};
pub use problem::SettingProblem;
pub use reader::{GivenSettings, Origin};

pub use crate::workspace::files::kinds::SETTINGS_FILE as FILE_NAME;

/// All settings.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settings {
    /// The settings of the workspace.
    pub workspace: WorkspaceConfig,
    /// The settings of the rules.
    pub rules: RulesConfig,
    /// When the server publishes findings to an editor.
    pub run: PublishTime,
    /// The hints that an editor shows beside the text.
    pub hints: HintConfig,
    /// The lenses that an editor shows above keys.
    pub lenses: LensConfig,
    /// The git revision that the texts of an editor are compared with; `None` for the texts on disk.
    pub reach_base: Option<String>,
    /// The PuppetDB that nodes come from.
    pub puppetdb: PuppetdbConfig,
    /// Functions of levels that run at the user's request.
    pub run_backends: RunBackends,
    strict: Option<Strict>,
}

/// Returns the settings of a client: its section `hiera`, or the bare settings; `None` for a hash
/// that has neither, which is some other server's.
pub fn client_section(settings: &Value) -> Option<&Value> {
    let members = settings.as_object()?;
    match members.get("hiera") {
        Some(section) => Some(section),
        None => members
            .keys()
            .any(|name| schema::is_known(name) || CLIENT_KEYS.contains(&name.as_str()))
            .then_some(settings),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clients_settings_are_found() {
        let rules = serde_json::json!({"rules": {}});
        assert_eq!(client_section(&rules), Some(&rules));
        assert_eq!(
            client_section(&serde_json::json!({"hiera": {"rules": {}}, "puppet": {}})),
            Some(&rules)
        );
        assert_eq!(client_section(&serde_json::json!({"hiera": null})), Some(&Value::Null));
        for other in [
            serde_json::json!({"yaml": {"schemas": {}}}),
            serde_json::json!({}),
            serde_json::json!([]),
        ] {
            assert_eq!(client_section(&other), None);
        }
    }
}
