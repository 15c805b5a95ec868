//! The settings in force, each with the place that it comes from: for people who wonder why a
//! setting has no effect.

use serde_json::Value;

use super::places::locate_name;
use super::schema::{SCHEMA, Setting, SettingType};
use super::{FILE_NAME, GivenSettings, SettingProblem};
use crate::text::{FilePath, TextRange};
use crate::workspace::Snapshot;
use crate::workspace::environments::Environment;

/// A setting in force.
#[derive(Debug, PartialEq)]
pub struct SettingInForce {
    /// The setting's dotted name; that of a severity ends with the rule's code.
    pub name: String,
    /// The setting's value; `null` for a default that JSON cannot express.
    pub value: Value,
    /// The place that the setting comes from.
    pub source: SettingSource,
}

/// The place that a setting comes from.
#[derive(Debug, PartialEq)]
pub enum SettingSource {
    /// The setting is not written; its default in words, where JSON cannot express it.
    Default(Option<&'static str>),
    /// A settings file, and the place of the setting's name in it.
    File(FilePath, TextRange),
    /// A client, or the arguments of a command.
    Given,
}

/// Settings as written in one place.
struct WrittenSettings<'a> {
    value: Value,
    /// The file, and its text; `None` for settings of a client or of a command.
    file: Option<(FilePath, String)>,
    problems: &'a [SettingProblem],
}

/// Returns the settings in force for an environment, in the order of the schema. `given` and
/// `problems` are those of [`super::gather`]: a setting that was refused is not in force.
pub fn settings_in_force(
    snapshot: &Snapshot,
    environment: &Environment,
    given: &[GivenSettings],
    problems: &[SettingProblem],
) -> Vec<SettingInForce> {
    let root = &environment.root;
    let above = snapshot.folders().iter().filter(|folder| root.is_within(folder));
    let folder = above.max_by_key(|folder| folder.as_str().len());
    let own = Some(root).filter(|root| folder != Some(*root));
    let of_given = given
        .iter()
        .filter(|given| given.folder.is_none() || given.folder.as_ref() == folder)
        .map(|given| WrittenSettings { value: given.value.clone(), file: None, problems });
    let written: Vec<WrittenSettings<'_>> = folder
        .into_iter()
        .chain(own)
        .filter_map(|folder| {
            let path = folder.join(FILE_NAME);
            let text = snapshot.file_text(&path)?;
            let value = crate::yaml::deserialize::<Value>(&text).ok()?;
            Some(WrittenSettings { value, file: Some((path, text)), problems })
        })
        .chain(of_given)
        .collect();
    let mut all = Vec::new();
    for setting in SCHEMA {
        match setting.kind {
            SettingType::Severities => all.extend(severities(setting, &written)),
            _ => all.push(find_last(setting.name, &written).unwrap_or_else(|| setting.in_force())),
        }
    }
    all
}

/// Returns the severities that are written, by the codes of their rules.
fn severities(setting: &Setting, written: &[WrittenSettings<'_>]) -> Vec<SettingInForce> {
    let members = written.iter().filter_map(|one| one.find(setting.name)?.as_object());
    let mut codes: Vec<&String> = members.flat_map(serde_json::Map::keys).collect();
    codes.sort();
    codes.dedup();
    let names = codes.iter().map(|code| format!("{}.{code}", setting.name));
    names.filter_map(|name| find_last(&name, written)).collect()
}

/// Returns a setting as the last place has it that has it and was not refused.
fn find_last(name: &str, written: &[WrittenSettings<'_>]) -> Option<SettingInForce> {
    written.iter().rev().find_map(|one| {
        let value = one.find(name)?.clone();
        let source = match &one.file {
            Some((path, text)) => SettingSource::File(path.clone(), locate_name(text, name)),
            None => SettingSource::Given,
        };
        Some(SettingInForce { name: name.to_owned(), value, source })
    })
}

impl WrittenSettings<'_> {
    /// Returns the value of a dotted name; `None` where it is not written, `null` or refused.
    fn find(&self, name: &str) -> Option<&Value> {
        let file = self.file.as_ref().map(|(path, _)| path);
        let is_refused = self.problems.iter().any(|problem| {
            problem.file.as_ref() == file
                && is_setting_of(&problem.key, name)
                && problem.part.is_none()
        });
        let mut parts = name.split('.');
        let value = parts.try_fold(&self.value, |value, part| value.get(part))?;
        (!is_refused && !value.is_null()).then_some(value)
    }
}

/// A refused hash refuses all of its members.
fn is_setting_of(key: &str, name: &str) -> bool {
    let rest = name.strip_prefix(key);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

impl Setting {
    /// Returns the setting with its default.
    fn in_force(&self) -> SettingInForce {
        SettingInForce {
            name: self.name.to_owned(),
            value: serde_json::from_str(self.default).unwrap_or_default(),
            source: SettingSource::Default(self.otherwise),
        }
    }
}
