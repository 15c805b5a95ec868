//! Reads the values of settings of one origin: checks their types, and refuses values that the
//! origin may not set. `apply` decides which setting each value is for.

use serde_json::Value;

use super::problem::SettingProblem;
use super::schema::{self, CLIENT_KEYS};
use crate::text::{FilePath, TextRange};
use crate::workspace::files::kinds::SETTINGS_FILE as FILE_NAME;

/// The origin of settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A file of the repository, which anyone may have written: it may not make hiera-ls read
    /// outside the workspace.
    Repository,
    /// The editor's settings. They are the user's, but an editor may mix in what a file of the
    /// repository says (`.vscode/settings.json`).
    Editor,
    /// The user's own, for certain: how the server was started, or the command line.
    User,
}

/// Settings that a client or the command line gives.
#[derive(Clone, Debug, PartialEq)]
pub struct GivenSettings {
    /// The settings, a hash.
    pub value: Value,
    /// The origin of the settings.
    pub origin: Origin,
    /// The folder of the workspace that the settings hold for; `None` for all folders.
    pub folder: Option<FilePath>,
}

impl GivenSettings {
    /// Returns settings that hold for all folders.
    pub fn new(value: Value, origin: Origin) -> GivenSettings {
        GivenSettings { value, origin, folder: None }
    }
}

/// Reads the settings of one origin, and collects their problems.
pub(super) struct SettingsReader<'a> {
    origin: Origin,
    /// The folder of the settings file; `None` for settings that are in none.
    folder: Option<&'a FilePath>,
    /// The folders of the workspace that the settings file is in.
    workspace: &'a [FilePath],
    problems: Vec<SettingProblem>,
}

impl<'a> SettingsReader<'a> {
    /// Returns a reader of settings of this origin; `file` is the folder of the settings file and
    /// the folders of the workspace that the file is in.
    pub(super) fn new(
        origin: Origin,
        file: Option<(&'a FilePath, &'a [FilePath])>,
    ) -> SettingsReader<'a> {
        let (folder, workspace) = file.unzip();
        let workspace = workspace.unwrap_or_default();
        SettingsReader { origin, folder, workspace, problems: Vec::new() }
    }

    /// Returns the problems of the values that were read.
    pub(super) fn into_problems(self) -> Vec<SettingProblem> {
        self.problems
    }

    /// Returns the origin of the settings.
    pub(super) fn origin(&self) -> Origin {
        self.origin
    }

    /// Whether the settings are in the file of an environment below the opened folder.
    fn is_of_environment(&self) -> bool {
        self.folder.is_some_and(|folder| !self.workspace.contains(folder))
    }

    /// Calls `each` for the members of a hash that are in the schema, and reports the others, as
    /// well as those for which `each` returns `false`, and those of the whole workspace in the file
    /// of an environment. Members that are `null` are skipped.
    pub(super) fn read_members(
        &mut self,
        key: &str,
        value: &Value,
        mut each: impl FnMut(&mut Self, &str, &Value) -> bool,
    ) {
        let Some(members) = value.as_object() else {
            self.report(key, "must be a hash");
            return;
        };
        for (name, value) in members.iter().filter(|(_, value)| !value.is_null()) {
            let full = if key.is_empty() { name.clone() } else { format!("{key}.{name}") };
            if self.is_of_environment() && schema::is_of_workspace(&full) {
                self.report(&full, "holds for all environments: only the settings file of the opened folder may have it");
                continue;
            }
            let is_known =
                schema::is_known(&full) || (key.is_empty() && CLIENT_KEYS.contains(&name.as_str()));
            if !is_known || !each(self, name, value) {
                match schema::nearest_to(&full) {
                    Some(meant) => self.report(&full, &format!("is not known; '{meant}' is")),
                    None => self.report(&full, "is not known"),
                }
            }
        }
    }

    /// Records a problem of a setting.
    pub(super) fn report(&mut self, key: &str, message: &str) {
        self.report_part(key, None, message);
    }

    /// Records a problem of a setting, or of a part of its value.
    pub(super) fn report_part(&mut self, key: &str, part: Option<&str>, message: &str) {
        self.problems.push(SettingProblem {
            file: self.folder.map(|folder| folder.join(FILE_NAME)),
            key: key.to_owned(),
            part: part.map(str::to_owned),
            range: TextRange::new_empty(0),
            message: message.to_owned(),
        });
    }

    /// Reads a string; `None` after a report.
    pub(super) fn read_text(&mut self, key: &str, value: &Value) -> Option<String> {
        let text = value.as_str().map(str::to_owned);
        if text.is_none() {
            self.report(key, "must be a string");
        }
        text
    }

    /// Reads a path. A path in a file of the repository must not lead out of the workspace. `None`
    /// after a report.
    pub(super) fn read_path(&mut self, key: &str, value: &Value) -> Option<String> {
        let text = self.read_text(key, value)?;
        if self.origin == Origin::Repository && leaves_workspace(&text) {
            self.report_leaving(key, &text);
            return None;
        }
        Some(text)
    }

    fn report_leaving(&mut self, key: &str, text: &str) {
        let message = "leads out of the workspace, which only the editor's user settings may";
        self.report_part(key, Some(text), message);
    }

    /// Reads a path that is relative to the folder of the settings file. A path in a file of the
    /// repository must lie in the workspace. `None` after a report.
    pub(super) fn path_from_file(&mut self, key: &str, value: &Value) -> Option<String> {
        let Some(folder) = self.folder else { return self.read_path(key, value) };
        let text = self.read_text(key, value)?;
        let path = folder.join(&text);
        let mut folders = self.workspace.iter().chain([folder]);
        if text.starts_with('~') || !folders.any(|workspace| path.is_within(workspace)) {
            self.report_leaving(key, &text);
            return None;
        }
        Some(path.to_string())
    }

    /// Reads a list of paths, without those that were reported; `None` for a value that is no list.
    pub(super) fn read_paths(&mut self, key: &str, value: &Value) -> Option<Vec<String>> {
        let Some(items) = value.as_array() else {
            self.report(key, "must be a list of paths");
            return None;
        };
        Some(items.iter().filter_map(|item| self.read_path(key, item)).collect())
    }

    /// Reads an absolute path; `None` after a report.
    pub(super) fn absolute_path(&mut self, key: &str, value: &Value) -> Option<FilePath> {
        let text = self.read_text(key, value)?;
        if !std::path::Path::new(&text).is_absolute() {
            self.report(key, "must be an absolute path");
            return None;
        }
        Some(FilePath::new(&text))
    }

    /// Returns a path joined to the folder of the settings file; unchanged for settings that are in
    /// no file, as these may apply to any folder.
    pub(super) fn below_folder(&self, path: String) -> String {
        self.folder.map_or_else(|| path.clone(), |folder| folder.join(&path).to_string())
    }

    /// Reads a flag; `None` after a report.
    pub(super) fn read_flag(&mut self, key: &str, value: &Value) -> Option<bool> {
        let flag = value.as_bool();
        if flag.is_none() {
            self.report(key, "must be true or false");
        }
        flag
    }

    /// Whether the settings are the user's own. If not, this is reported: `refusal` is the problem
    /// of a setting in a file of the repository.
    pub(super) fn is_users(&mut self, key: &str, refusal: &str) -> bool {
        let refusal = match self.origin {
            Origin::User => return true,
            Origin::Repository => refusal,
            Origin::Editor => {
                "is honoured from initializationOptions only: the editor's settings may come from a file of the repository"
            }
        };
        self.report(key, refusal);
        false
    }
}

/// Sets a setting to the value that was read; leaves it unchanged for `None`, after a report.
pub(super) fn set_if_read<T>(setting: &mut T, read: Option<T>) {
    if let Some(value) = read {
        *setting = value;
    }
}

/// Whether a path may lead out of the folder that it is relative to.
pub(super) fn leaves_workspace(path: &str) -> bool {
    path.starts_with(['/', '~']) || FilePath::new(path).as_str().starts_with("..")
}
