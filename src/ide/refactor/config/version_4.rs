//! Version 4 to 5: the keys of each level are renamed in their places.

use super::{ConfigFile, Converted};
use crate::hiera::config::BackendKind;
use crate::hiera::config::formats::hiera3_built_in;
use crate::ide::refactor::value;
use crate::text::{TextEdit, TextRange};
use crate::yaml::{NodeId, NodeKind};

/// Returns the edits that make version 5 of the file.
///
/// Errors: a setting that version 5 cannot express.
pub(super) fn convert(file: &ConfigFile<'_>) -> Result<Converted, String> {
    let root = file.tree.root.ok_or("the file has no content")?;
    let mut edits = Vec::new();
    let (_, version) = file.find_entry(root, "version").ok_or("the file has no version")?;
    edits.push(TextEdit::new(file.node_span(version), "5"));
    if let Some(entry) = file.find_entry(root, "datadir") {
        edits.push(datadir_edit(file, root, entry)?);
    }
    let levels = file.find_entry(root, "hierarchy").map(|(_, levels)| &file.tree.node(levels).kind);
    if let Some(NodeKind::Sequence { items, .. }) = levels {
        for item in items {
            convert_level(file, *item, &mut edits)?;
        }
    }
    Ok(Converted { edits, remark: String::new() })
}

/// Returns the edit that makes defaults of the datadir of the whole file.
fn datadir_edit(
    file: &ConfigFile<'_>,
    root: NodeId,
    (key, node): (NodeId, NodeId),
) -> Result<TextEdit, String> {
    let text = value::render_string(literal_datadir(file, node)?.unwrap_or("data"));
    let new = match file.tree.node(root).kind {
        NodeKind::Mapping { flow: true, .. } => {
            format!("defaults: {{datadir: {text}, data_hash: yaml_data}}")
        }
        _ => format!("defaults:\n  datadir: {text}\n  data_hash: yaml_data"),
    };
    Ok(TextEdit::new(TextRange::new(file.node_span(key).start, file.node_span(node).end), new))
}

/// Returns a datadir; `None` for one that is not given.
///
/// Errors: version 4 takes a token in it literally, version 5 does not.
fn literal_datadir<'f>(file: &'f ConfigFile<'_>, node: NodeId) -> Result<Option<&'f str>, String> {
    let text = file.tree.scalar(node).unwrap_or_default();
    if text.contains("%{") {
        return Err(format!(
            "version 4 takes `{text}` for the name of a folder, version 5 for one with a token"
        ));
    }
    let is_null = matches!(text, "" | "~" | "null" | "Null" | "NULL");
    Ok((!is_null).then_some(text))
}

fn convert_level(
    file: &ConfigFile<'_>,
    level: NodeId,
    edits: &mut Vec<TextEdit>,
) -> Result<(), String> {
    let (Some(name), Some(backend)) =
        (file.find_entry(level, "name"), file.find_entry(level, "backend"))
    else {
        return Err("a level has no name, or no backend".to_owned());
    };
    let built_in = file.tree.scalar(backend.1).and_then(hiera3_built_in);
    let Some(built_in) = built_in.filter(|own| own.kind == BackendKind::DataHash) else {
        return Err("a level has an unknown backend".to_owned());
    };
    let (function, extension) = (built_in.name, built_in.dotted_extension());
    let extension = extension.as_str();
    edits.push(TextEdit::new(file.node_span(backend.0), "data_hash"));
    edits.push(TextEdit::new(file.node_span(backend.1), function));
    if let Some((_, node)) = file.find_entry(level, "datadir") {
        literal_datadir(file, node)?;
    }
    let mut extend = |node: NodeId| {
        let text = file.tree.scalar(node).unwrap_or_default();
        if !text.ends_with(extension) {
            let new = value::render_string(&format!("{text}{extension}"));
            edits.push(TextEdit::new(file.node_span(node), new));
        }
    };
    match (file.find_entry(level, "path"), file.find_entry(level, "paths")) {
        (Some(_), Some(_)) => {
            return Err("a level has both `path` and `paths`; version 4 reads `paths`".to_owned());
        }
        (Some((_, path)), None) => extend(path),
        (None, Some((_, paths))) => match &file.tree.node(paths).kind {
            NodeKind::Sequence { items, .. } if !items.is_empty() => {
                items.iter().for_each(|path| extend(*path));
            }
            _ => return Err("a level has no paths".to_owned()),
        },
        (None, None) => {
            let text = file.tree.scalar(name.1).unwrap_or_default();
            let path = if text.ends_with(extension) {
                value::render_string(text)
            } else {
                value::render_string(&format!("{text}{extension}"))
            };
            edits.push(path_after(file, level, name, &path));
        }
    }
    Ok(())
}

/// Returns the edit that adds a path to a level that is read from the file of its name.
fn path_after(
    file: &ConfigFile<'_>,
    level: NodeId,
    (key, name): (NodeId, NodeId),
    path: &str,
) -> TextEdit {
    let (start, end) = (file.node_span(key).start as usize, file.node_span(name).end as usize);
    if matches!(file.tree.node(level).kind, NodeKind::Mapping { flow: true, .. }) {
        return TextEdit::new(TextRange::new_empty(end as u32), format!(", path: {path}"));
    }
    let line = file.text[..start].rfind('\n').map_or(0, |at| at + 1);
    let indent = " ".repeat(start - line);
    // The path goes behind the comment of the line.
    let end = file.text[end..].find(['\r', '\n']).map_or(file.text.len(), |at| end + at);
    TextEdit::new(TextRange::new_empty(end as u32), format!("\n{indent}path: {path}"))
}
