//! The levels of a `hiera.yaml` in its outline, by name, with their locations.

use super::{Outline, Symbol, SymbolKind};
use crate::yaml::{NodeId, NodeKind};

/// The keys that hold a hierarchy, in all versions of `hiera.yaml`.
const HIERARCHIES: [&str; 4] =
    ["hierarchy", ":hierarchy", "default_hierarchy", ":default_hierarchy"];
/// The keys that hold the locations of a level.
const LOCATIONS: [&str; 7] = ["path", "paths", "glob", "globs", "uri", "uris", "mapped_paths"];

impl Outline<'_> {
    /// Returns the levels of an entry of a config that holds a hierarchy.
    pub(super) fn level_symbols(&self, key: NodeId, value: NodeId) -> Option<Vec<Symbol>> {
        let holds_levels = self.tree.scalar(key).is_some_and(|key| HIERARCHIES.contains(&key));
        if !self.is_config || !holds_levels {
            return None;
        }
        Some(match &self.tree.node(value).kind {
            NodeKind::Sequence { items, .. } => {
                items.iter().map(|it| self.level_symbol(*it)).collect()
            }
            _ => self.location_symbols(value),
        })
    }

    /// Returns a level: an entry with a name, or the location alone in version 3.
    fn level_symbol(&self, item: NodeId) -> Symbol {
        if let Some(location) = self.location_symbol(item) {
            return location;
        }
        let span = self.tree.whole_span(item);
        let entries = self.tree.entries(item);
        let name = entries.iter().find(|(name, _)| self.tree.scalar(*name) == Some("name"));
        let name = name.and_then(|(_, value)| Some((self.tree.scalar(*value)?, *value)));
        let locations = entries
            .iter()
            .filter(|(name, _)| self.tree.scalar(*name).is_some_and(|it| LOCATIONS.contains(&it)));
        let children: Vec<Symbol> =
            locations.flat_map(|(_, value)| self.location_symbols(*value)).collect();
        let named: Vec<&str> = children.iter().map(|location| &*location.name).collect();
        let (name, selection) = match name.filter(|(name, _)| !name.trim().is_empty()) {
            Some((name, place)) => (name.to_owned(), self.tree.node(place).span),
            None => ("level without a name".to_owned(), self.first_line(span)),
        };
        Symbol {
            name,
            detail: (!named.is_empty()).then(|| named.join(", ")),
            kind: SymbolKind::Level,
            range: span.offset_by(self.start),
            selection: selection.offset_by(self.start),
            children,
        }
    }

    /// Returns the locations in a value: itself, or the elements of a list.
    fn location_symbols(&self, value: NodeId) -> Vec<Symbol> {
        match &self.tree.node(value).kind {
            NodeKind::Sequence { items, .. } => {
                items.iter().filter_map(|item| self.location_symbol(*item)).collect()
            }
            _ => self.location_symbol(value).into_iter().collect(),
        }
    }

    fn location_symbol(&self, node: NodeId) -> Option<Symbol> {
        let text = self.tree.scalar(node).filter(|text| !text.trim().is_empty())?;
        Some(Symbol {
            name: text.to_owned(),
            detail: None,
            kind: SymbolKind::Location,
            range: self.tree.whole_span(node).offset_by(self.start),
            selection: self.tree.node(node).span.offset_by(self.start),
            children: Vec::new(),
        })
    }
}
