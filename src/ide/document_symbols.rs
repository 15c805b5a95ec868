//! The outline of a file: the keys of data with the kinds of their values, the levels of a
//! `hiera.yaml` with their locations, the definitions of a manifest. It shows no values, as some are secret.

mod code;
mod levels;

use super::by_run::{RunItems, by_run};
use crate::text::{FilePath, TextRange};
use crate::workspace::Snapshot;
use crate::workspace::files::file::{File, TextPart};
use crate::workspace::files::kinds::{CodeLanguage, code_language};
use crate::yaml::{NodeId, NodeKind, Resolved, ScalarStyle, Tree, resolve_plain};

/// The deepest nesting of symbols. A client gets them as nested objects, and some read these
/// recursively.
const MAX_DEPTH: usize = 64;

/// A key, an element of a list, a level, a location, or a definition in code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// The name of the symbol, never empty.
    pub name: String,
    /// More about the symbol in a few words.
    pub detail: Option<String>,
    /// The kind of the symbol.
    pub kind: SymbolKind,
    /// The bytes of the whole symbol, counted from the start of its run of entries.
    pub range: TextRange,
    /// The bytes of the name, within `range`.
    pub selection: TextRange,
    /// The inner symbols, in the order of the text.
    pub children: Vec<Symbol>,
}

/// The kinds of symbols: those of values, and the parts of a hierarchy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SymbolKind {
    /// A hash.
    Hash,
    /// A list.
    List,
    /// A string.
    Text,
    /// A number.
    Number,
    /// A boolean.
    Boolean,
    /// No value.
    Null,
    /// An alias. Its anchor may be in another entry, which is parsed separately.
    Alias,
    /// A level of a hierarchy.
    Level,
    /// A location of a level.
    Location,
    /// A class.
    Class,
    /// A defined type.
    DefinedType,
    /// A function or a plan.
    Function,
    /// A parameter of a class, a defined type, a function or a plan.
    Parameter,
    /// An alias of a type.
    TypeAlias,
}

/// The symbols of a file, run by run of its entries.
#[derive(Clone, Debug)]
pub struct FileSymbols {
    /// The runs in the order of the text. The places of symbols are counted from the start of
    /// their run.
    pub runs: Vec<RunItems<Symbol>>,
    /// Whether the file is the `hiera.yaml` of a layer.
    is_config: bool,
}

/// Returns the symbols of the file at `path`: for a broken file, those of the entries that can be
/// parsed. Runs of entries that have not changed since `before` keep their symbols. `None` for a
/// file that no environment governs, for code that is no manifest, and when cancelled.
pub fn document_symbols(
    snapshot: &Snapshot,
    path: &FilePath,
    before: Option<&FileSymbols>,
) -> Option<FileSymbols> {
    let file = snapshot.file(path)?;
    if let Some(language) = code_language(path) {
        let environments = snapshot.environments().all.iter();
        let indexes = environments.map(|environment| snapshot.manifests(environment));
        let manifest = indexes
            .filter(|_| language == CodeLanguage::Puppet)
            .find_map(|index| Some(index.file(path)?.manifest.clone()))?;
        return Some(whole_symbols(code::manifest_symbols(&manifest), false, file));
    }
    let environment = snapshot.environments().governing_environments(path).next()?;
    let is_config = environment.config_at(path).is_some();
    let before = before.filter(|before| before.is_config == is_config);
    let before = before.map_or(&[][..], |before| &before.runs);
    let (cancel, data) = (snapshot.cancel_token(), file.data_as(file.format()));
    let length = file.text().map_or(0, |text| text.len());
    let symbols_in = |run: TextRange| {
        let mut symbols = Vec::new();
        for part in file.text_parts_in(run, cancel) {
            let start = part.range().start - run.start;
            symbols
                .extend(Outline { part: &part, start, tree: &part.tree, is_config }.root_symbols());
        }
        (!cancel.is_cancelled()).then_some(symbols)
    };
    if data.parts().is_empty() {
        return Some(whole_symbols(symbols_in(TextRange::new(0, length))?, is_config, file));
    }
    let runs = by_run(&data, length, before, |run, _| symbols_in(run))?;
    Some(FileSymbols { runs, is_config })
}

fn whole_symbols(symbols: Vec<Symbol>, is_config: bool, file: &File) -> FileSymbols {
    let length = file.text().map_or(0, |text| text.len());
    let run = RunItems::without_entries(TextRange::new(0, length), symbols);
    FileSymbols { runs: vec![run], is_config }
}

/// The outline of one part of a file.
struct Outline<'a> {
    part: &'a TextPart<'a>,
    /// The first byte of the part, counted from the start of its run.
    start: u32,
    tree: &'a Tree,
    is_config: bool,
}

impl Outline<'_> {
    fn root_symbols(&self) -> Vec<Symbol> {
        let Some(root) = self.tree.root else { return Vec::new() };
        match &self.tree.node(root).kind {
            NodeKind::Mapping { entries, .. } => entries
                .iter()
                .map(|(key, value)| match self.level_symbols(*key, *value) {
                    Some(children) => Symbol {
                        children,
                        detail: None,
                        ..self.entry_symbol(*key, *value, MAX_DEPTH)
                    },
                    None => self.entry_symbol(*key, *value, 0),
                })
                .collect(),
            _ => self.child_symbols(root, 0),
        }
    }

    /// Returns the symbol of an entry that is nested `depth` deep.
    fn entry_symbol(&self, key: NodeId, value: NodeId, depth: usize) -> Symbol {
        let key_span = self.tree.whole_span(key);
        let span = if self.is_copy(value) {
            key_span
        } else {
            key_span.cover(self.tree.whole_span(value))
        };
        self.new_symbol(self.key_name(key), value, (span, self.tree.node(key).span), depth)
    }

    fn new_symbol(
        &self,
        name: String,
        value: NodeId,
        (range, selection): (TextRange, TextRange),
        depth: usize,
    ) -> Symbol {
        let children =
            if self.is_copy(value) { Vec::new() } else { self.child_symbols(value, depth) };
        Symbol {
            name: if name.trim().is_empty() { format!("'{name}'") } else { name },
            detail: self.value_detail(value, depth),
            kind: self.value_kind(value),
            range: range.offset_by(self.start),
            selection: selection.offset_by(self.start),
            children,
        }
    }

    /// Returns the symbols within a value: the entries of a hash, and the elements of a list that
    /// have parts themselves.
    fn child_symbols(&self, value: NodeId, depth: usize) -> Vec<Symbol> {
        if depth >= MAX_DEPTH {
            return Vec::new();
        }
        match &self.tree.node(value).kind {
            NodeKind::Mapping { entries, .. } => entries
                .iter()
                .map(|(key, value)| self.entry_symbol(*key, *value, depth + 1))
                .collect(),
            NodeKind::Sequence { items, .. } => {
                let parts = items.iter().enumerate().filter(|(_, item)| self.has_parts(**item));
                parts.map(|(n, item)| self.element_symbol(n, *item, depth + 1)).collect()
            }
            _ => Vec::new(),
        }
    }

    fn element_symbol(&self, number: usize, item: NodeId, depth: usize) -> Symbol {
        let span = self.tree.whole_span(item);
        let first = self.first_line(span);
        self.new_symbol(number.to_string(), item, (span, first), depth)
    }

    /// Returns the first line of a place.
    fn first_line(&self, span: TextRange) -> TextRange {
        let text = &self.part.text[span.as_usize()];
        let end = text.find(['\r', '\n']).unwrap_or(text.len()) as u32;
        TextRange::new(span.start, span.start + end)
    }

    fn key_name(&self, key: NodeId) -> String {
        match self.tree.scalar(key) {
            Some(text) => text.to_owned(),
            None => self.part.text[self.first_line(self.tree.node(key).span).as_usize()].to_owned(),
        }
    }

    fn value_detail(&self, value: NodeId, depth: usize) -> Option<String> {
        if depth >= MAX_DEPTH && self.has_parts(value) {
            return Some("…".to_owned());
        }
        match &self.tree.node(value).kind {
            NodeKind::Sequence { items, .. } => Some(match items.len() {
                1 => "1 element".to_owned(),
                count => format!("{count} elements"),
            }),
            NodeKind::Alias { name, .. } => Some(format!("*{name}")),
            _ => None,
        }
    }

    fn value_kind(&self, value: NodeId) -> SymbolKind {
        match &self.tree.node(value).kind {
            NodeKind::Alias { .. } => SymbolKind::Alias,
            NodeKind::Mapping { .. } => SymbolKind::Hash,
            NodeKind::Sequence { .. } => SymbolKind::List,
            NodeKind::Scalar { style: ScalarStyle::Plain | ScalarStyle::JsonLiteral, text } => {
                match resolve_plain(text) {
                    Resolved::Null => SymbolKind::Null,
                    Resolved::Bool(_) => SymbolKind::Boolean,
                    Resolved::Integer(_) | Resolved::BigInteger(_) | Resolved::Float(_) => {
                        SymbolKind::Number
                    }
                    _ => SymbolKind::Text,
                }
            }
            _ => SymbolKind::Text,
        }
    }

    fn has_parts(&self, value: NodeId) -> bool {
        match &self.tree.node(value).kind {
            NodeKind::Mapping { entries, .. } => !entries.is_empty(),
            NodeKind::Sequence { items, .. } => !items.is_empty(),
            _ => false,
        }
    }

    /// Whether a node stands for a substitution of HOCON, and is written elsewhere.
    fn is_copy(&self, node: NodeId) -> bool {
        self.tree.copies.binary_search(&node).is_ok()
    }
}

#[cfg(test)]
mod tests;
