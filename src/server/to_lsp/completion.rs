//! Completion: items with their edits, and the data that a client sends back to resolve one.

use serde::Serialize;
use serde_json::{Value, json};
use tower_lsp::lsp_types as lsp;

use super::convert_span;
use crate::ide::completion::{Completions, Item, ItemKind, Topic};
use crate::server::capabilities::{Features, TextFormat};
use crate::text::{FileId, Span};
use crate::workspace::Snapshot;

/// An answer of completion. The lists of lsp-types 0.94 have no defaults for items, and its items
/// lack the members that go with these.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::server) struct List {
    is_incomplete: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    item_defaults: Option<Defaults>,
    items: Vec<ListItem>,
}

/// The members that items have if they have none of their own.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Defaults {
    edit_range: lsp::Range,
}

#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct ListItem {
    label: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<lsp::CompletionItemKind>,
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    documentation: Option<lsp::Documentation>,
    sort_text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    filter_text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    insert_text_format: Option<lsp::InsertTextFormat>,
    #[serde(skip_serializing_if = "Option::is_none")]
    insert_text_mode: Option<lsp::InsertTextMode>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text_edit: Option<lsp::TextEdit>,
    /// The text that replaces the default range.
    #[serde(skip_serializing_if = "Option::is_none")]
    text_edit_text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<Value>,
}

/// Converts the words that fit in a file.
pub(in crate::server) fn completion_list(
    snapshot: &Snapshot,
    file: FileId,
    found: Completions,
    features: &Features,
) -> List {
    let convert = |bytes| convert_span(snapshot, Span::in_file(file, bytes), features.encoding);
    // Nearly all items replace the same bytes.
    let usual = found.items.first().map(|item| (item.edit.range, convert(item.edit.range)));
    let has_defaults = features.completion.default_range;
    let items = found.items.into_iter().enumerate().map(|(rank, one)| {
        let place = match usual {
            Some((bytes, place)) if bytes == one.edit.range => place,
            _ => convert(one.edit.range),
        };
        let is_default = has_defaults && usual.is_some_and(|(_, usual)| usual == place);
        completion_item(file, (rank, one), place, is_default, features)
    });
    List {
        is_incomplete: found.is_incomplete,
        items: items.collect(),
        item_defaults: usual
            .filter(|_| has_defaults)
            .map(|(_, edit_range)| Defaults { edit_range }),
    }
}

fn completion_item(
    file: FileId,
    (rank, item): (usize, Item),
    place: lsp::Range,
    is_default: bool,
    features: &Features,
) -> ListItem {
    let client = &features.completion;
    let snippet = item.snippet.filter(|_| client.snippets);
    let format = snippet.is_some().then_some(lsp::InsertTextFormat::SNIPPET);
    let new_text = snippet.unwrap_or(item.edit.text);
    // The lines of the text already have their indentation.
    let as_is = client.as_is && new_text.contains('\n');
    let mut converted = ListItem {
        filter_text: (item.filter != item.label).then_some(item.filter),
        kind: Some(item_kind(item.kind)),
        detail: item.detail,
        documentation: item.documentation.map(|text| item_documentation(text.to_owned(), features)),
        sort_text: format!("{rank:02}"),
        insert_text_format: format,
        insert_text_mode: as_is.then_some(lsp::InsertTextMode::AS_IS),
        data: item.topic.map(|topic| topic_data(file, &topic)),
        ..ListItem::default()
    };
    match is_default {
        // Without `text_edit_text` a client is to insert the label, but Neovim 0.10 and 0.11 insert
        // nothing then.
        true => converted.text_edit_text = Some(new_text),
        false => converted.text_edit = Some(lsp::TextEdit { range: place, new_text }),
    }
    converted.label = item.label;
    converted
}

fn item_kind(kind: ItemKind) -> lsp::CompletionItemKind {
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
pub(in crate::server) fn item_documentation(
    text: String,
    features: &Features,
) -> lsp::Documentation {
    match features.completion.format {
        TextFormat::Markdown => markup_documentation(lsp::MarkupKind::Markdown, &text),
        TextFormat::Plain => markup_documentation(lsp::MarkupKind::PlainText, &text),
        TextFormat::Unmarked => lsp::Documentation::String(text),
    }
}

fn markup_documentation(kind: lsp::MarkupKind, text: &str) -> lsp::Documentation {
    lsp::Documentation::MarkupContent(lsp::MarkupContent { kind, value: text.to_owned() })
}

/// Returns the data with which a client asks for the explanation of an item: the number of the file,
/// and the topic. It comes with each item, and is short for that.
fn topic_data(file: FileId, topic: &Topic) -> Value {
    match topic {
        Topic::Key(key) => json!({"f": file.number(), "k": key}),
        Topic::Variable(name) => json!({"f": file.number(), "v": name}),
    }
}

/// Returns the file and the topic of data by [`topic_data`]; `None` for data of others.
pub(in crate::server) fn parse_topic(data: &Value) -> Option<(FileId, Topic)> {
    let number = u32::try_from(data["f"].as_u64()?).ok()?;
    let key = data["k"].as_str().map(|key| Topic::Key(key.to_owned()));
    Some((
        FileId::new(number),
        key.or_else(|| data["v"].as_str().map(|name| Topic::Variable(name.to_owned())))?,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_topic_comes_back_as_it_was_sent() {
        let file = FileId::new(7);
        for sent in [Topic::Key("a.b".into()), Topic::Variable("facts.os".into())] {
            assert_eq!(parse_topic(&topic_data(file, &sent)), Some((file, sent)));
        }
        assert_eq!(parse_topic(&json!({"f": 1, "other": 1})), None);
        assert_eq!(parse_topic(&json!({"f": -1, "k": "a"})), None);
        assert_eq!(parse_topic(&json!(3)), None);
    }
}
