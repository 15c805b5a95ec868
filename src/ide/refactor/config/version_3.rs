//! Version 3 to 5: a level for each backend, with all paths of the hierarchy. One level for each
//! path would be merged in another way where values are looked up by `unique` or `deep`.

use std::fmt::Write;
use std::sync::Arc;

use super::{ConfigFile, Converted};
use crate::hiera::config::{Backend, BackendKind, Layer, Level, Template};
use crate::hiera::data::Reference;
use crate::hiera::interpolation::{TokenKind, parse_tokens};
use crate::hiera::key::LookupKey;
use crate::hiera::scope::OF_CALLER;
use crate::ide::refactor::value;
use crate::text::{TextEdit, TextRange};
use crate::workspace::environments::Environment;

/// Settings of a backend that are no options of its function.
const OF_LEVEL: [&str; 2] = ["datadir", "extension"];
/// Variables that are hashes for every node; those of top scope may be written with colons.
const OF_HASHES: [&str; 6] =
    ["facts", "trusted", "server_facts", "::facts", "::trusted", "::server_facts"];

/// Returns the whole file in version 5, with all comments.
///
/// Errors: a setting that version 5 cannot express.
pub(super) fn convert(file: &ConfigFile<'_>) -> Result<Converted, String> {
    let config = file.config;
    let readings = file.read_variables();
    if let Some(VariableRead { key, place }) =
        readings.iter().find(|one| OF_CALLER.contains(&&*one.key.root_text()))
    {
        return Err(format!("`{place}` reads `{}`, which version 5 does not have", key.text));
    }
    let mut remark = String::new();
    let comments = Comments::from_config(file);
    let mut text = file.head_text();
    text.push_str("version: 5\n");
    comments.rest.iter().for_each(|one| _ = writeln!(text, "{}", &file.text[one.as_usize()]));
    let levels: Vec<&Level> = config.hierarchy.iter().map(|level| &**level).collect();
    let has_paths = levels.iter().any(|level| !level.locations.templates().is_empty());
    text.push_str(if has_paths { "hierarchy:\n" } else { "hierarchy: []\n" });
    for (number, level) in levels.iter().enumerate().filter(|_| has_paths) {
        write_level(level, &mut text)?;
        text.push_str("    paths:\n");
        for (item, template) in level.locations.templates().iter().enumerate() {
            // Each comment is written once, with the first level.
            let (above, beside) = match number {
                0 => (&*comments.above[item], comments.beside[item]),
                _ => (&[][..], None),
            };
            for one in above {
                _ = writeln!(text, "      {}", &file.text[one.as_usize()]);
            }
            let beside =
                beside.map_or_else(String::new, |one| format!(" {}", &file.text[one.as_usize()]));
            let path = value::render_string(&with_extension(level, template));
            _ = writeln!(text, "      - {path}{beside}");
        }
        let datadir = &level.datadir.text;
        if !datadir.starts_with('/') {
            remark = format!(", with `{datadir}` below the folder of hiera.yaml");
        }
    }
    if let Some(VariableRead { key, .. }) = readings.iter().find(|one| may_be_empty(one)) {
        let root = key.root_text();
        remark.push_str(&format!(", where `{}` fails if `{root}` is an empty text", key.text));
    }
    if let Some(behavior) = file.merge_behavior() {
        remark.push_str(&format!(
            ", without `merge_behavior: {behavior}`: hiera_hash() in manifests merges by hash then"
        ));
    }
    let whole = TextRange::from_usize(0..file.text.len());
    Ok(Converted { edits: vec![TextEdit::new(whole, text)], remark })
}

/// Hiera 3 treats a variable with an empty text as undefined.
fn may_be_empty(one: &VariableRead) -> bool {
    !one.key.subkeys.is_empty() && !OF_HASHES.contains(&&*one.key.root_text())
}

/// Errors: a backend that is no function, or a folder that version 5 takes for another one.
fn write_level(level: &Level, text: &mut String) -> Result<(), String> {
    let Backend { kind, name, .. } = &level.backend;
    if *kind == BackendKind::Hiera3 {
        return Err(format!(
            "`{name}` is a backend of Hiera 3; the function that reads its data in version 5 is not known"
        ));
    }
    let datadir = &level.datadir.text;
    if datadir.starts_with("%{") {
        return Err(format!(
            "version 5 takes the datadir `{datadir}` for a relative one, whatever its token stands for"
        ));
    }
    _ = writeln!(text, "  - name: {}", value::render_string(&level.name));
    _ = writeln!(text, "    {}: {name}", kind.key());
    _ = writeln!(text, "    datadir: {}", value::render_string(datadir));
    let Some(own) = level.options.as_ref().filter(|_| *kind == BackendKind::LookupKey) else {
        return Ok(());
    };
    let own = own.as_hash().into_iter().flatten();
    let mut options = own.filter(|(key, _)| !OF_LEVEL.contains(&&*key.to_text())).peekable();
    if options.peek().is_some() {
        text.push_str("    options:\n");
    }
    for (key, member) in options {
        let key = value::render_string(&key.to_text());
        _ = writeln!(text, "      {key}:{}", value::render_value(&member.value, 8));
    }
    Ok(())
}

fn with_extension(level: &Level, template: &Template) -> String {
    let extension = level.extension.as_deref().unwrap_or_default();
    if template.text.ends_with(extension) {
        template.text.to_string()
    } else {
        format!("{}{extension}", template.text)
    }
}

/// A variable that a path or data of the layer reads.
struct VariableRead {
    key: LookupKey,
    /// The text, or the file, that reads the variable.
    place: String,
}

impl ConfigFile<'_> {
    /// Returns the variables that the tokens of the config, and of its data, read.
    fn read_variables(&self) -> Vec<VariableRead> {
        let levels = self.config.hierarchy.iter();
        let texts = levels.flat_map(|level| {
            level.locations.templates().iter().chain([&level.datadir]).map(|it| &*it.text)
        });
        let mut found: Vec<VariableRead> = texts
            .flat_map(|text| parse_tokens(text).into_iter().map(move |token| (text, token)))
            .filter_map(|(text, token)| match token.kind {
                TokenKind::Variable { key, .. } => {
                    Some(VariableRead { key, place: text.to_owned() })
                }
                _ => None,
            })
            .collect();
        for environment in
            self.snapshot.environments().all.iter().filter(|one| self.is_own_config(one))
        {
            let view = self.snapshot.view(environment);
            let files = self.snapshot.files().map(|file| &file.path);
            for path in files.filter(|path| environment.layer_of(path) == Some(&Layer::Global)) {
                let place = path.relative_to(&environment.root).unwrap_or(path.as_str());
                let Some(data) = view.data_of(path) else { continue };
                found.extend(data.tokens().filter_map(|token| match &token.reference {
                    Reference::Variable(key) => {
                        Some(VariableRead { key: key.clone(), place: place.to_owned() })
                    }
                    _ => None,
                }));
            }
        }
        found
    }

    fn is_own_config(&self, one: &Arc<Environment>) -> bool {
        one.global.as_ref().is_some_and(|it| it.path == *self.wanted.path)
    }

    /// Returns how calls of `hiera_hash()` merge, where that is not by `hash`.
    fn merge_behavior(&self) -> Option<&str> {
        let (_, node) = self.find_entry(self.tree.root?, "merge_behavior")?;
        self.tree.scalar(node).filter(|text| matches!(*text, "deep" | "deeper"))
    }

    /// Returns the text before the first key, with a line break at its end.
    fn head_text(&self) -> String {
        let start =
            self.tree.root.map_or(self.text.len(), |root| self.node_span(root).start as usize);
        let head = self.text[..start].trim_end_matches([' ', '\t']);
        let is_whole = head.is_empty() || head.ends_with('\n');
        if is_whole { head.to_owned() } else { format!("{head}\n") }
    }
}

/// The comments below the first key: those of the paths, and all others.
struct Comments {
    /// For each path the comments above it.
    above: Vec<Vec<TextRange>>,
    /// For each path the comment at the end of its line.
    beside: Vec<Option<TextRange>>,
    rest: Vec<TextRange>,
}

impl Comments {
    fn from_config(file: &ConfigFile<'_>) -> Comments {
        let hierarchy = file.tree.root.and_then(|root| file.find_entry(root, "hierarchy"));
        let items: Vec<TextRange> = match file.config.hierarchy.first() {
            Some(level) => {
                let templates = level.locations.templates().iter();
                templates.filter_map(|it| Some(file.snapshot.span_bytes(it.span?))).collect()
            }
            None => Vec::new(),
        };
        let start = file.tree.root.map_or(0, |root| file.node_span(root).start);
        let list = hierarchy.map_or(start, |(key, _)| file.node_span(key).end);
        let count = file.config.hierarchy.first();
        let count = count.map_or(0, |level| level.locations.templates().len());
        let mut found = Comments {
            above: vec![Vec::new(); count],
            beside: vec![None; count],
            rest: Vec::new(),
        };
        for comment in file.tree.comments.iter().filter(|one| one.start >= start) {
            let next = items.iter().position(|item| item.start > comment.start);
            let beside = items.iter().rposition(|item| {
                item.end <= comment.start
                    && !file.text[item.end as usize..comment.start as usize].contains('\n')
            });
            match (beside, next) {
                (Some(item), _) => found.beside[item] = Some(*comment),
                (None, Some(item)) if comment.start >= list => found.above[item].push(*comment),
                _ => found.rest.push(*comment),
            }
        }
        found
    }
}
