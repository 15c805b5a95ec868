//! `.hiera-ls.yaml`: the settings by their places, and the words that they can have.

use super::item::{Item, ItemKind, Items};
use super::place::{CursorContext, Spot};
use crate::text::TextEdit;

/// A setting that the file can have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingWord {
    /// The dotted name of the setting.
    pub name: &'static str,
    /// The values that the setting can have, where these are few.
    pub values: Vec<String>,
    /// The default of the setting, in words.
    pub default: String,
    /// The meaning of the setting, in Markdown.
    pub meaning: &'static str,
}

/// Adds the words that fit in a settings file.
pub(super) fn complete(place: &CursorContext, all: &[SettingWord], items: &mut Items) {
    let keys = place.key_names();
    let outer: String = keys.iter().map(|key| format!("{key}.")).collect();
    match place.spot {
        Spot::Key => {
            for setting in all {
                if let Some(rest) = setting.name.strip_prefix(&outer) {
                    add_key(place, setting, rest, items);
                }
            }
        }
        Spot::Value => {
            let name = outer.trim_end_matches('.');
            let setting = all.iter().find(|setting| setting.name == name);
            for value in setting.iter().flat_map(|setting| &setting.values) {
                let word = place.word_behind(|c| c.is_alphanumeric() || c == '-');
                let edit = TextEdit::new(place.typed_range(word), value);
                items.push(Item::new(ItemKind::EnumMember, value, edit));
            }
        }
        Spot::Text => {}
    }
}

/// Adds the next part of a setting's name.
fn add_key(place: &CursorContext, setting: &SettingWord, rest: &str, items: &mut Items) {
    let (name, below) = rest.split_once('.').map_or((rest, false), |(name, _)| (name, true));
    if place.others.iter().any(|other| other == name) {
        return;
    }
    let word = place.word_behind(|c| c.is_alphanumeric() || c == '-');
    let has_colon = place.behind[word..].starts_with(':');
    let end = match (has_colon, below) {
        (true, _) => "",
        (false, true) => ":",
        (false, false) => ": ",
    };
    let edit = TextEdit::new(place.typed_range(word), format!("{name}{end}"));
    let mut item = Item::new(ItemKind::Keyword, name, edit);
    if below {
        let lines = format!("{name}:\n{}", " ".repeat(place.column + 2));
        item.snippet = (!has_colon).then_some(lines);
    } else {
        item = item.with_detail(format!("default: {}", setting.default));
        item.documentation = Some(setting.meaning);
    }
    items.push(item);
}
