//! A problem of a setting, with its file and place, so that the rules can report it.

use crate::diagnostics::WrongSetting;
use crate::text::{FilePath, TextRange};

/// A problem of a setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingProblem {
    /// The settings file that contains the setting; `None` for settings of a client or of the
    /// command line.
    pub file: Option<FilePath>,
    /// The setting, dotted.
    pub key: String,
    /// The member or element of the setting's value that is wrong, as written; `None` for the whole
    /// value.
    pub part: Option<String>,
    /// The problem's place in the settings file.
    pub range: TextRange,
    /// The problem, in words.
    pub message: String,
}

impl SettingProblem {
    /// Converts the problem for the rules; `None` for a setting that no file holds.
    pub(crate) fn as_wrong(&self) -> Option<WrongSetting> {
        let (file, range) = (self.file.clone()?, self.range);
        Some(WrongSetting { file, range, message: self.to_string() })
    }
}

impl std::fmt::Display for SettingProblem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "setting '{}': {}", self.key, self.message)
    }
}
