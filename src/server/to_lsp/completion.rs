//! Completion: items with their edits, and what a client sends back to have one explained.

use serde_json::{Value, json};
use tower_lsp::lsp_types as lsp;

use super::range;
use crate::ide::completion::{Completions, Item, ItemKind, TRIGGERS, Topic};
use crate::server::state::{Features, TextFormat};
use crate::text::{FileId, Span};
use crate::workspace::Snapshot;

/// Returns the capability.
pub(super) fn options() -> lsp::CompletionOptions {
    lsp::CompletionOptions {
        resolve_provider: Some(true),
        trigger_characters: Some(TRIGGERS.iter().map(char::to_string).collect()),
        ..lsp::CompletionOptions::default()
    }
}

/// Converts the words that fit in a file, which the client knows as `uri`.
pub(in crate::server) fn list(
    snapshot: &Snapshot,
    file: FileId,
    found: Completions,
    uri: &lsp::Url,
    features: &Features,
) -> lsp::CompletionResponse {
    let items = found.items.into_iter().enumerate();
    let items = items.map(|(rank, one)| item(snapshot, file, (rank, one), uri, features));
    lsp::CompletionResponse::List(lsp::CompletionList {
        is_incomplete: found.is_incomplete,
        items: items.collect(),
    })
}

fn item(
    snapshot: &Snapshot,
    file: FileId,
    (rank, item): (usize, Item),
    uri: &lsp::Url,
    features: &Features,
) -> lsp::CompletionItem {
    let client = &features.completion;
    let snippet = item.snippet.filter(|_| client.snippets);
    let format = snippet.is_some().then_some(lsp::InsertTextFormat::SNIPPET);
    let new_text = snippet.unwrap_or(item.edit.text);
    // The lines have their indentation.
    let as_is = client.as_is && new_text.contains('\n');
    let place = range(snapshot, Span::in_file(file, item.edit.range), features.encoding);
    lsp::CompletionItem {
        filter_text: (item.filter != item.label).then_some(item.filter),
        label: item.label,
        kind: Some(kind(item.kind)),
        detail: item.detail,
        documentation: item.documentation.map(|text| documentation(text.to_owned(), features)),
        sort_text: Some(format!("{rank:03}")),
        insert_text_format: format,
        insert_text_mode: as_is.then_some(lsp::InsertTextMode::AS_IS),
        text_edit: Some(lsp::CompletionTextEdit::Edit(lsp::TextEdit { range: place, new_text })),
        data: item.topic.map(|topic| data(uri, &topic)),
        ..lsp::CompletionItem::default()
    }
}

fn kind(kind: ItemKind) -> lsp::CompletionItemKind {
    match kind {
        ItemKind::Key | ItemKind::Parameter => lsp::CompletionItemKind::PROPERTY,
        ItemKind::Member => lsp::CompletionItemKind::FIELD,
        ItemKind::Function => lsp::CompletionItemKind::FUNCTION,
        ItemKind::Variable => lsp::CompletionItemKind::VARIABLE,
        ItemKind::Value => lsp::CompletionItemKind::VALUE,
        ItemKind::EnumMember => lsp::CompletionItemKind::ENUM_MEMBER,
        ItemKind::Keyword => lsp::CompletionItemKind::KEYWORD,
        ItemKind::File => lsp::CompletionItemKind::FILE,
    }
}

/// Converts an explanation.
pub(in crate::server) fn documentation(text: String, features: &Features) -> lsp::Documentation {
    let markup =
        |kind| lsp::Documentation::MarkupContent(lsp::MarkupContent { kind, value: text.clone() });
    match features.completion.format {
        TextFormat::Markdown => markup(lsp::MarkupKind::Markdown),
        TextFormat::Plain => markup(lsp::MarkupKind::PlainText),
        TextFormat::Unmarked => lsp::Documentation::String(text),
    }
}

/// Returns the data with which a client asks for the explanation of an item.
fn data(uri: &lsp::Url, topic: &Topic) -> Value {
    match topic {
        Topic::Key(key) => json!({"uri": uri, "key": key}),
        Topic::Variable(name) => json!({"uri": uri, "variable": name}),
    }
}

/// Returns the file and the topic of such data; `None` for data of others.
pub(in crate::server) fn topic(data: &Value) -> Option<(lsp::Url, Topic)> {
    let uri = lsp::Url::parse(data["uri"].as_str()?).ok()?;
    let key = data["key"].as_str().map(|key| Topic::Key(key.to_owned()));
    let variable = || data["variable"].as_str().map(|name| Topic::Variable(name.to_owned()));
    Some((uri, key.or_else(variable)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_topic_comes_back_as_it_was_sent() {
        let uri = lsp::Url::parse("file:///a%20b.yaml").unwrap();
        for sent in [Topic::Key("a.b".into()), Topic::Variable("facts.os".into())] {
            assert_eq!(topic(&data(&uri, &sent)), Some((uri.clone(), sent)));
        }
        assert_eq!(topic(&json!({"uri": "file:///a", "other": 1})), None);
        assert_eq!(topic(&json!(3)), None);
    }
}
