//! Converts the crate's types to those of the protocol. Columns are counted in the texts of the
//! same snapshot.

pub(super) mod completion;
mod edits;
pub(super) mod status;
pub(super) mod tokens;

use tower_lsp::lsp_types as lsp;

pub(super) use edits::{with_name_to_fill_in, workspace_edit};

use super::capabilities::Features;
use super::documents::Documents;
use crate::diagnostics::{Finding, Severity, Tag};
use crate::hiera::key::LookupKey;
use crate::ide::definition::Definitions;
use crate::ide::hover::{Action, ActionCall, Hover};
use crate::text::escape::percent_encode;
use crate::text::{Encoding, FileId, FilePath, LineCol, Positions, Span, TextRange};
use crate::workspace::Snapshot;

/// Returns the address of a file.
pub(super) fn file_uri(path: &FilePath) -> Option<lsp::Url> {
    lsp::Url::from_file_path(path.as_str()).ok()
}

/// Returns the address of a file, as the client spells it if it has the file open.
pub(super) fn document_uri(path: &FilePath, documents: &Documents) -> Option<lsp::Url> {
    documents.get(path).map(|document| document.uri.clone()).or_else(|| file_uri(path))
}

/// Returns the address of a line (from 1) of a file.
pub(super) fn line_link(path: &FilePath, line: u32) -> String {
    let Some(uri) = file_uri(path) else { return path.to_string() };
    // A file's name must not end the link early, or begin another.
    let mut address = uri.to_string();
    for (c, code) in [('(', "%28"), (')', "%29"), ('[', "%5B"), (']', "%5D"), ('!', "%21")] {
        address = address.replace(c, code);
    }
    format!("{address}#L{line}")
}

/// How a client calls an action on a key, as it announced in `hoverActions`: a `command:` address
/// gets the file and the key as its argument, any other text is a command that users type.
pub(super) fn action_call(
    action: Action,
    path: &FilePath,
    key: &LookupKey,
    features: &Features,
) -> Option<ActionCall> {
    let name = match action {
        Action::Explain => "explain",
        Action::SelectNode => "selectNode",
        Action::Evaluate => "evaluate",
    };
    let call = features.hover_actions.get(name)?;
    if !call.starts_with("command:") {
        return Some(ActionCall::Command(call.clone()));
    }
    let argument = serde_json::json!([{"uri": file_uri(path)?, "key": &*key.text}]).to_string();
    let address = format!("{call}?{}", percent_encode(&argument, "-_.~"));
    Some(ActionCall::Link(address))
}

/// Converts a hover over a file.
pub(super) fn hover(
    snapshot: &Snapshot,
    file: FileId,
    hover: Hover,
    features: &Features,
) -> lsp::Hover {
    let kind =
        if features.markdown { lsp::MarkupKind::Markdown } else { lsp::MarkupKind::PlainText };
    let range = convert_span(snapshot, Span::in_file(file, hover.range), features.encoding);
    lsp::Hover {
        contents: lsp::HoverContents::Markup(lsp::MarkupContent { kind, value: hover.text }),
        range: Some(range),
    }
}

/// Converts the definitions of a subject in a file.
pub(super) fn definition_response(
    snapshot: &Snapshot,
    file: FileId,
    definitions: &Definitions,
    features: &Features,
    documents: &Documents,
) -> lsp::GotoDefinitionResponse {
    let places = definitions.targets.iter().filter_map(|target| {
        let found = snapshot.file(&target.path)?;
        Some((
            document_uri(&target.path, documents)?,
            convert_span(snapshot, Span::in_file(found.id, target.range), features.encoding),
        ))
    });
    if !features.links {
        return lsp::GotoDefinitionResponse::Array(
            places.map(|(uri, range)| lsp::Location { uri, range }).collect(),
        );
    }
    let origin = convert_span(snapshot, Span::in_file(file, definitions.origin), features.encoding);
    lsp::GotoDefinitionResponse::Link(
        places
            .map(|(target_uri, range)| lsp::LocationLink {
                origin_selection_range: Some(origin),
                target_uri,
                target_range: range,
                target_selection_range: range,
            })
            .collect(),
    )
}

/// Converts a finding. Places that explain it go into the message for clients that show no other.
pub(super) fn convert_finding(
    snapshot: &Snapshot,
    finding: &Finding,
    features: &Features,
    documents: &Documents,
) -> lsp::Diagnostic {
    let mut message = finding.message.clone();
    let mut related = Vec::new();
    for place in &finding.related {
        let Some(path) = snapshot.path_of(place.span.file) else { continue };
        let range = convert_span(snapshot, place.span, features.encoding);
        match document_uri(path, documents) {
            Some(uri) if features.related_information => {
                related.push(lsp::DiagnosticRelatedInformation {
                    location: lsp::Location { uri, range },
                    message: place.message.to_string(),
                });
            }
            _ => message.push_str(&format!(
                "\n{}:{}: {}",
                path.name(),
                range.start.line + 1,
                place.message
            )),
        }
    }
    lsp::Diagnostic {
        range: convert_span(snapshot, finding.span, features.encoding),
        severity: Some(convert_severity(finding.severity)),
        code: Some(lsp::NumberOrString::String(finding.rule.code.into())),
        code_description: features.rule_page(finding.rule.code),
        source: Some("hiera-ls".into()),
        message,
        related_information: (!related.is_empty()).then_some(related),
        tags: finding
            .rule
            .tag
            .map(convert_tag)
            .filter(|tag| features.tags.contains(tag))
            .map(|tag| vec![tag]),
        ..lsp::Diagnostic::default()
    }
}

fn convert_tag(tag: Tag) -> lsp::DiagnosticTag {
    match tag {
        Tag::Unnecessary => lsp::DiagnosticTag::UNNECESSARY,
        Tag::Deprecated => lsp::DiagnosticTag::DEPRECATED,
    }
}

fn convert_severity(severity: Severity) -> lsp::DiagnosticSeverity {
    match severity {
        Severity::Error => lsp::DiagnosticSeverity::ERROR,
        Severity::Warning => lsp::DiagnosticSeverity::WARNING,
        Severity::Info => lsp::DiagnosticSeverity::INFORMATION,
        Severity::Hint | Severity::Off => lsp::DiagnosticSeverity::HINT,
    }
}

pub(super) fn convert_span(snapshot: &Snapshot, span: Span, encoding: Encoding) -> lsp::Range {
    let text = snapshot.file_by_id(span.file).and_then(|file| file.text());
    text.map_or_else(lsp::Range::default, |text| {
        range_in(text, snapshot.span_bytes(span), encoding)
    })
}

/// Converts a place in a text.
pub(super) fn range_in(
    text: &(impl Positions + ?Sized),
    range: TextRange,
    encoding: Encoding,
) -> lsp::Range {
    let position = |offset| {
        let LineCol { line, column } = text.line_col(offset, encoding);
        lsp::Position { line, character: column }
    };
    lsp::Range { start: position(range.start), end: position(range.end) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(unix)]
    fn an_open_documents_address_is_the_clients() {
        let path = FilePath::new("/a b.yaml");
        let spelt = lsp::Url::parse("file://localhost/a%20b.yaml").unwrap();
        let mut documents = Documents::default();
        documents.note_open(&path, &spelt, 1);
        assert_eq!(document_uri(&path, &documents), Some(spelt));
        assert_eq!(
            document_uri(&path, &Documents::default()).map(String::from).as_deref(),
            Some("file:///a%20b.yaml")
        );
    }
}
