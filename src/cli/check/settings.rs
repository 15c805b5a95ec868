//! `check --show-settings`: the settings in force.

use std::io::Write;

use super::CheckArguments;
use crate::cli::{Failure, Opened, Status};
use crate::settings::{GivenSettings, Origin, SettingInForce, SettingSource, settings_in_force};
use crate::text::column_width;
use crate::text::escape::escape_terminal;
use crate::workspace::Snapshot;

/// Prints the settings in force for each environment, with their values and the places that they
/// come from.
pub(super) fn write_settings(
    arguments: &CheckArguments,
    opened: &Opened,
    out: &mut dyn Write,
) -> Result<Status, Failure> {
    let mut given = opened.given.clone();
    let preset = arguments.preset.as_ref().map(|preset| serde_json::json!({ "preset": preset }));
    given.extend(preset.map(|preset| GivenSettings::new(preset, Origin::User)));
    let snapshot = &opened.snapshot;
    for environment in opened.environments()? {
        let root = snapshot.shown_path(&environment.root);
        writeln!(out, "{}", escape_terminal(&format!("{} ({root})", environment.name)))?;
        let settings = settings_in_force(snapshot, environment, &given, &opened.problems);
        let rows: Vec<[String; 3]> =
            settings.iter().map(|setting| describe_setting(setting, snapshot)).collect();
        let [names, sources] =
            [0, 1].map(|column| column_width(rows.iter().map(|row| &*row[column])));
        for [name, source, value] in &rows {
            let line = format!("  {name:<names$}  {source:<sources$}  {value}");
            writeln!(out, "{}", escape_terminal(&line))?;
        }
    }
    Ok(Status::Good)
}

/// Returns the name, the source and the value of a setting in words.
fn describe_setting(setting: &SettingInForce, snapshot: &Snapshot) -> [String; 3] {
    let name = setting.name.clone();
    let value = match &setting.value {
        serde_json::Value::Null => "none".to_owned(),
        serde_json::Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    match &setting.source {
        SettingSource::Default(words) => {
            [name, "default".to_owned(), words.map_or(value, str::to_owned)]
        }
        SettingSource::Given => [name, "command line".to_owned(), value],
        SettingSource::File(path, range) => {
            let text = snapshot.file(path).and_then(|file| file.text());
            let line = text.map_or(0, |text| text.line_of(range.start)) + 1;
            [name, format!("{}:{line}", snapshot.shown_path(path)), value]
        }
    }
}
