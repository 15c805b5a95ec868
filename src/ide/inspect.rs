//! The program's state of a file, as text for its developers: the tree, the data of the entries,
//! the index of the keys, and the scope that the file is read in.
//!
//! Only the kind of a value is shown: the output is meant for bug reports. Encrypted text is shown
//! as a mark, and nothing is decrypted: snapshots decrypt for lookups only.

use std::fmt::Write as _;

use super::phrases::{PlaceNames, layer_name};
use crate::hiera::data::{DataFile, EntryData, ProblemKind, Reference, TokenUse};
use crate::puppet::print::{self, PrintOptions, mask_encrypted};
use crate::puppet::value::{Data, Value};
use crate::text::{Encoding, FilePath, Text, TextRange};
use crate::workspace::Snapshot;
use crate::workspace::environments::Environment;
use crate::workspace::files::file::{File, TextPart};
use crate::yaml::{NodeId, NodeKind};

/// How many characters of a scalar are shown.
const SHORT: usize = 60;
/// How many names of nodes are shown.
const NODES: usize = 10;

/// The part of a file's state to show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aspect {
    /// The nodes of the file's tree, entry by entry, with places and styles.
    Tree,
    /// The data of each entry: keys, tokens, problems.
    Entry,
    /// Each root key of the file with all its definitions, and the keys that ask for it.
    Index,
    /// The environment and the levels that read a file, its scope and its nodes.
    Scope,
}

/// Returns the text of one aspect of the file at `path`. Places are `line:column`, both counted
/// from 1, columns in characters.
///
/// `None` if the snapshot has no such file, or, but for the tree and the entries, if no environment
/// governs it.
pub fn inspect(snapshot: &Snapshot, path: &FilePath, aspect: Aspect) -> Option<String> {
    let file = snapshot.file(path)?;
    let environment = snapshot.environments().governing_environments(path).next();
    let view = match environment {
        Some(environment) => snapshot.view(environment).data_of(path),
        None => Some(file.data_as(file.format())),
    };
    let data = view?;
    let mut writer =
        InspectionWriter { snapshot, file, data: &data, is_secret: false, out: String::new() };
    match aspect {
        Aspect::Tree => writer.write_trees(),
        Aspect::Entry => writer.write_entries(),
        Aspect::Index => writer.write_keys(environment?),
        Aspect::Scope => writer.write_scope(environment?),
    }
    Some(writer.out)
}

/// The depth at which a tree has its root keys.
const ROOT_KEYS: usize = 2;

struct InspectionWriter<'a> {
    snapshot: &'a Snapshot,
    file: &'a File,
    data: &'a DataFile,
    /// Whether the entry that is being written is one of a key whose values may be Sensitive.
    is_secret: bool,
    out: String,
}

impl InspectionWriter<'_> {
    fn write_line(&mut self, depth: usize, text: &str) {
        // Encrypted text may also stand in names and in messages.
        let _ = writeln!(self.out, "{:1$}{2}", "", 2 * depth, mask_encrypted(text));
    }

    /// Returns a range of bytes of the file as `line:column-line:column`.
    fn range_text(&self, range: TextRange) -> String {
        let Some(text) = self.file.text() else { return String::new() };
        format!("{}-{}", place_text(range.start, text), place_text(range.end, text))
    }

    fn write_trees(&mut self) {
        let length = self.file.text().map_or(0, |text| text.len());
        let data = self.data.clone();
        for (range, entry) in data.parts().placed_parts(length) {
            self.write_line(0, &format!("entry {}", self.range_text(range)));
            let Some(part) = self.file.part_at(range.start, self.snapshot.cancel_token()) else {
                continue;
            };
            let mut keys = entry.data.members.iter().filter_map(|(key, _)| key.as_str());
            self.is_secret = keys.any(|key| self.snapshot.may_be_sensitive(key));
            if let Some(root) = part.tree.root {
                self.write_node(&part, root, false, 1);
            }
            for problem in &part.tree.problems {
                let place = self.range_text(part.file_range(problem.span));
                self.write_line(1, &format!("problem {place} {}", problem.message));
            }
        }
    }

    fn write_node(&mut self, part: &TextPart<'_>, id: NodeId, is_key: bool, depth: usize) {
        let Some(node) = part.tree.nodes.get(id.0 as usize) else { return };
        let mut line = self.range_text(part.file_range(node.span));
        let is_withheld = self.is_secret && depth > ROOT_KEYS;
        let (kind, children): (String, Vec<(NodeId, bool)>) = match &node.kind {
            NodeKind::Scalar { style, text } if is_key && !is_withheld => {
                (format!("{style:?} {}", short_text(text)), Vec::new())
            }
            NodeKind::Scalar { style, text } => {
                (format!("{style:?} of {} characters", text.chars().count()), Vec::new())
            }
            NodeKind::Sequence { flow, items } => {
                let children = items.iter().map(|item| (*item, false));
                (collection_name("sequence", *flow), children.collect())
            }
            NodeKind::Mapping { flow, entries } => {
                let children =
                    entries.iter().flat_map(|(key, value)| [(*key, true), (*value, false)]);
                (collection_name("mapping", *flow), children.collect())
            }
            NodeKind::Alias { name, target } => {
                // An asterisk may begin a secret that lacks its quotes: the name of an alias
                // without an anchor is not shown.
                let alias = match target {
                    Some(_) => format!("alias *{name}"),
                    None => "alias (no such anchor)".to_owned(),
                };
                (alias, Vec::new())
            }
        };
        let _ = write!(line, " {kind}");
        if let Some(anchor) = &node.anchor {
            let _ = write!(line, " &{}", anchor.name);
        }
        if let Some(tag) = node.tag.as_ref().filter(|_| !self.is_secret) {
            let _ = write!(line, " !<{}>", tag.name);
        }
        self.write_line(depth, &line);
        for (child, is_key) in children {
            self.write_node(part, child, is_key, depth + 1);
        }
    }

    fn write_entries(&mut self) {
        let length = self.file.text().map_or(0, |text| text.len());
        let data = self.data.clone();
        for (range, part) in data.parts().placed_parts(length) {
            self.write_line(0, &format!("entry {}", self.range_text(range)));
            self.write_entry(&part.data);
        }
        if let Some(refusal) = self.data.refusal() {
            let reason = refusal.masked_message();
            self.write_line(0, &format!("Puppet refuses the file: {reason}"));
        }
    }

    fn write_entry(&mut self, entry: &EntryData) {
        for (key, member) in &entry.members {
            let kind = kind_of(&member.value);
            self.write_line(1, &format!("key {} ({kind})", short_text(&key.to_text())));
        }
        for token in &entry.tokens {
            let place = self.range_text(self.snapshot.span_bytes(token.span()));
            self.write_line(1, &format!("token {place} {}", describe_token(token)));
        }
        for borrowed in entry.borrowed() {
            self.write_line(1, &format!("through aliases: {}", borrowed.asks.join(", ")));
        }
        for problem in entry.problems() {
            let place = self.range_text(self.snapshot.span_bytes(problem.span));
            let kind = match &problem.kind {
                ProblemKind::Unloadable(refusal) => refusal.masked_message(),
                kind => format!("{kind:?}"),
            };
            self.write_line(1, &format!("problem {place} {kind}"));
        }
        if entry.may_be_encrypted {
            self.write_line(1, "may be encrypted");
        }
    }

    fn write_keys(&mut self, environment: &Environment) {
        let view = self.snapshot.view(environment);
        let names = PlaceNames { snapshot: self.snapshot, root: &environment.root };
        let files = self.snapshot.files().filter(|file| environment.reaches_file(&file.path));
        let files: Vec<_> = files.filter_map(|file| view.data_of(&file.path)).collect();
        for key in self.data.keys().filter_map(|key| key.as_str()) {
            self.write_line(0, key);
            for member in view.root_members(key) {
                let place =
                    member.key_origin.map(|span| names.place_name(span)).unwrap_or_default();
                self.write_line(1, &format!("defined {place}"));
            }
            let uses = files.iter().flat_map(|data| data.tokens());
            for token in uses.filter(|token| asks_for(token, key)) {
                self.write_line(
                    1,
                    &format!("asked for {} by {}", names.place_name(token.span()), token.root),
                );
            }
        }
    }

    fn write_scope(&mut self, environment: &Environment) {
        let path = &self.file.path;
        let names = PlaceNames { snapshot: self.snapshot, root: &environment.root };
        self.write_line(0, &format!("environment {} in {}", environment.name, environment.root));
        match environment.layer_of(path) {
            Some(layer) => self.write_line(0, &format!("layer {}", layer_name(layer))),
            None => self.write_line(0, "no level reads it"),
        }
        for reach in environment.reach.iter().filter(|reach| reach.pattern.can_name(path.as_str()))
        {
            self.write_line(0, &format!("level {}: {}", reach.level.name, reach.template.text));
        }
        let scope = self.snapshot.scope_for(environment, path);
        let kind = if scope.is_node { "a node" } else { "any node with these variables" };
        let others = if scope.open { "unknown" } else { "undefined" };
        self.write_line(0, &format!("scope {}: {kind}; other variables are {others}", scope.name));
        let options = PrintOptions { mask_encrypted: true, ..PrintOptions::default() };
        for (name, value) in scope.known_variables() {
            self.write_line(
                1,
                &format!("{name} = {}", short_json(&print::print_json(value, &options))),
            );
        }
        let readers = self.snapshot.readers_of(environment, path);
        let nodes = self.snapshot.nodes_of(environment);
        for (how, numbers) in
            [("read for", &readers.certainly), ("perhaps read for", &readers.possibly)]
        {
            let shown = numbers.iter().take(NODES).filter_map(|number| nodes.get(*number));
            let shown: String = shown.map(|node| format!(" {}", node.name)).collect();
            let rest = if numbers.len() > NODES { " …" } else { "" };
            let (count, all) = (numbers.len(), nodes.len());
            self.write_line(0, &format!("{how} {count} of {all} nodes{shown}{rest}"));
        }
        for (layer, config) in environment.all_configs() {
            self.write_line(
                0,
                &format!("config of {}: {}", layer_name(&layer), names.short_path(&config.path)),
            );
        }
    }
}

fn place_text(offset: u32, text: &Text) -> String {
    let place = text.line_col(offset, Encoding::Utf32);
    format!("{}:{}", place.line + 1, place.column + 1)
}

fn kind_of(value: &Value) -> &'static str {
    match value.data() {
        Data::Null => "null",
        Data::Bool(_) => "boolean",
        Data::Integer(_) | Data::BigInteger(_) => "integer",
        Data::Float(_) => "float",
        Data::String(_) => "string",
        Data::Symbol(_) => "symbol",
        Data::Binary(_) => "bytes",
        Data::Array(_) => "list",
        Data::Hash(_) => "hash",
        Data::Sensitive(_) => "Sensitive",
        Data::Rich(_) => "converted",
    }
}

fn collection_name(kind: &str, flow: bool) -> String {
    format!("{} {kind}", if flow { "flow" } else { "block" })
}

fn describe_token(token: &TokenUse) -> String {
    match &token.reference {
        Reference::Variable(name) => format!("variable {}", name.text),
        Reference::Key { key, alias: true } => format!("alias of {}", key.text),
        Reference::Key { key, .. } => format!("lookup of {}", key.text),
    }
}

fn asks_for(token: &TokenUse, root: &str) -> bool {
    token.reference.key().is_some_and(|key| *key.root_text() == *root)
}

/// Returns a text in quotes, without its encrypted parts, cut when it is long.
fn short_text(text: &str) -> String {
    let text = mask_encrypted(text);
    let cut: String = text.chars().take(SHORT).collect();
    let rest = if cut.len() < text.len() { "…" } else { "" };
    format!("{cut:?}{rest}")
}

fn short_json(text: &str) -> String {
    let cut: String = text.chars().take(SHORT).collect();
    if cut.len() < text.len() { format!("{cut}…") } else { cut }
}
