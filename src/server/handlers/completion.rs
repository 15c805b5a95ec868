//! Completion, and the explanation of one of its items.

use serde_json::Value;
use tower_lsp::jsonrpc::Result;
use tower_lsp::lsp_types as lsp;

use super::Answer;
use crate::ide::completion::{CompletionConfig, SETTINGS_FILE, SettingWord, complete_at, resolve};
use crate::ide::hover::HoverConfig;
use crate::server::capabilities::TextFormat;
use crate::server::session::{ClientView, ServerHandle};
use crate::server::{from_lsp, to_lsp};
use crate::settings::schema::{self, SettingType};
use crate::workspace::Snapshot;

/// Returns the words that fit at a place.
pub(in crate::server) fn completion(
    snapshot: &Snapshot,
    client: &ClientView,
    params: &lsp::CompletionParams,
) -> Answer<to_lsp::completion::List> {
    let (features, place) = (&client.features, &params.text_document_position);
    let trigger = params.context.as_ref().and_then(|context| context.trigger_character.as_ref());
    let trigger = trigger.and_then(|text| text.chars().next());
    let path = from_lsp::path_of_uri(&place.text_document.uri);
    let is_settings = path.is_some_and(|path| path.name() == SETTINGS_FILE);
    let settings = if is_settings { setting_words() } else { Vec::new() };
    let config = CompletionConfig { trigger, settings: &settings };
    let Some(position) = from_lsp::file_position(snapshot, place, features.encoding) else {
        return Ok(None);
    };
    let found = complete_at(snapshot, position, &config);
    Ok(found
        .map(|found| to_lsp::completion::completion_list(snapshot, position.file, found, features)))
}

/// Returns the item as the client has it, with its explanation.
pub(in crate::server) async fn resolve_item(
    server: ServerHandle,
    mut item: Value,
) -> Result<Value> {
    let Some((file, topic)) = to_lsp::completion::parse_topic(&item["data"]) else {
        return Ok(item);
    };
    let path = server.shared.with(|state| state.workspace.snapshot().path_of(file).cloned());
    let Some(path) = path else { return Ok(item) };
    let explained = server.answer(Some(path.clone()), false, move |snapshot, client| {
        let features = &client.features;
        let config = HoverConfig {
            markdown: features.completion.format == TextFormat::Markdown,
            ..HoverConfig::default()
        };
        let text = resolve::resolve(snapshot, &path, &topic, &config)?;
        serde_json::to_value(to_lsp::completion::item_documentation(text, features)).ok()
    });
    if let (Some(documentation), Some(item)) = (explained.await?, item.as_object_mut()) {
        item.insert("documentation".to_owned(), documentation);
    }
    Ok(item)
}

/// Returns the settings as words of a settings file.
fn setting_words() -> Vec<SettingWord> {
    schema::SCHEMA
        .iter()
        .map(|setting| SettingWord {
            name: setting.name,
            values: match setting.kind {
                SettingType::Flag => vec!["true".to_owned(), "false".to_owned()],
                SettingType::Numbers(numbers) => numbers.iter().map(u8::to_string).collect(),
                SettingType::Words(words) | SettingType::ListOf(words) => {
                    words.iter().map(|word| (*word).to_owned()).collect()
                }
                _ => Vec::new(),
            },
            default: setting.default_words(),
            meaning: setting.meaning,
        })
        .collect()
}
