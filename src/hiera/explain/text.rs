//! The tree as text, word for word as `puppet lookup --explain` prints it. Source: semantics 8.6.

use super::{Event, Kind, Node, Shown};
use crate::hiera::key::Segment;
use crate::puppet::print::{REDACTED, masked};
use crate::puppet::ruby::inspect::inspect;
use crate::puppet::value::{Data, Hash, Value};

/// Returns the text of a tree, each line with its end.
pub fn text(tree: &Node, shown: Shown<'_>) -> String {
    let mut writer = Writer { shown, out: String::new(), hidden: false };
    writer.node(tree, 0);
    writer.out
}

struct Writer<'a> {
    shown: Shown<'a>,
    out: String,
    /// Whether values are hidden: this is about a key whose value is a secret.
    hidden: bool,
}

impl Writer<'_> {
    fn node(&mut self, node: &Node, depth: usize) {
        if let (Kind::Merge(_), Some(only)) = (&node.kind, node.only_branch()) {
            return self.node(only, depth);
        }
        let inner = depth + 1;
        match &node.kind {
            Kind::Request => {
                self.branches(node, depth);
                self.texts(node, depth);
            }
            Kind::Lookup { key, secret } => {
                self.line(depth, &format!("Searching for \"{key}\""));
                let outer = self.hidden;
                self.hidden |= secret & !self.shown.reveal;
                self.branches(node, inner);
                self.hidden = outer;
            }
            Kind::InvalidKey => self.line(depth, "Invalid key \"lookup_options\""),
            Kind::MergeSource => {
                self.line(depth, "Using merge options from \"lookup_options\" hash")
            }
            Kind::Module(name) => match node.event {
                Some(Event::ModuleNotFound) => {
                    self.line(depth, &format!("Module \"{name}\" not found"))
                }
                _ => self
                    .line(depth, &format!("Module data provider for module \"{name}\" not found")),
            },
            // The lookups within a secret reveal its content.
            Kind::Interpolation { secrecy, .. }
                if self.hidden || self.shown.mark_for(*secrecy).is_some() =>
            {
                let mark = self.shown.mark_for(*secrecy).unwrap_or(REDACTED);
                self.line(depth, &format!("Interpolation on \"{mark}\""));
            }
            Kind::Interpolation { expression, .. } => {
                let masked = if self.shown.mask_encrypted {
                    masked(expression)
                } else {
                    expression.to_string()
                };
                self.line(depth, &format!("Interpolation on \"{masked}\""));
                self.branches(node, inner);
            }
            Kind::Merge(_) if node.branches.is_empty() => {}
            Kind::Merge(strategy) => {
                self.line(depth, &format!("Merge strategy {strategy}"));
                if let Some(options) = strategy.options() {
                    self.start(inner, "Options: ");
                    self.hash(options, inner);
                    self.out.push('\n');
                }
                self.branches(node, inner);
                if let Some(Event::Result(value)) = &node.event {
                    self.start(inner, "Merged result: ");
                    self.value(value, inner);
                    self.out.push('\n');
                }
            }
            Kind::Provider { .. } | Kind::Level(_) | Kind::Scope(_) => {
                self.line(depth, &node.name().unwrap_or_default());
                if let Kind::Provider { config: Some(path), .. } = &node.kind {
                    self.line(inner, &format!("Using configuration \"{path}\""));
                }
                self.branches(node, inner);
                self.outcome(node, inner);
            }
            Kind::Location { uri, original, place } => {
                let (kind, original_kind) = if *uri { ("URI", "uri") } else { ("Path", "path") };
                let line = node.line(self.shown).map(|line| format!(":{line}")).unwrap_or_default();
                self.line(depth, &format!("{kind} \"{place}{line}\""));
                self.line(inner, &format!("Original {original_kind}: \"{original}\""));
                self.branches(node, inner);
                if let Some(Event::LocationNotFound) = node.event {
                    self.line(inner, &format!("{kind} not found"));
                }
                self.outcome(node, inner);
            }
            Kind::SubKey(segments) => {
                let segments: Vec<String> = segments.iter().map(Segment::to_string).collect();
                self.line(depth, &format!("Sub key: \"{}\"", segments.join(".")));
                self.branches(node, inner);
                self.outcome(node, inner);
            }
            Kind::Segment => self.outcome(node, depth),
        }
    }

    fn branches(&mut self, node: &Node, depth: usize) {
        node.branches.iter().for_each(|branch| self.node(branch, depth));
    }

    fn outcome(&mut self, node: &Node, depth: usize) {
        match &node.event {
            Some(Event::NotFound(key)) => self.line(depth, &format!("No such key: \"{key}\"")),
            Some(Event::Found { key, value, .. }) => self.found(key, value, "", depth),
            Some(Event::FoundInOverrides(key, value)) => {
                self.found(key, value, " in overrides", depth)
            }
            Some(Event::FoundInDefaults(key, value)) => {
                self.found(key, value, " in defaults", depth)
            }
            _ => {}
        }
        self.texts(node, depth);
    }

    fn found(&mut self, key: &str, value: &Value, place: &str, depth: usize) {
        self.start(depth, &format!("Found key: \"{key}\" value: "));
        self.value(value, depth);
        self.out.push_str(place);
        self.out.push('\n');
    }

    fn texts(&mut self, node: &Node, depth: usize) {
        node.texts.iter().for_each(|text| self.line(depth, &text.shown(&self.shown)));
    }

    /// A value over several lines: lists and hashes with a line for each element, all else as Ruby
    /// inspects it.
    fn value(&mut self, value: &Value, depth: usize) {
        let shown = self.shown;
        let mark = shown.mark_for(value.secrecy());
        if let Some(mark) = if self.hidden { Some(REDACTED) } else { mark } {
            return self.out.push_str(mark);
        }
        match value.data() {
            Data::Hash(hash) => self.hash(hash, depth),
            Data::Array(items) => {
                self.out.push('[');
                for (n, item) in items.iter().enumerate().take_while(|_| !shown.is_cancelled()) {
                    self.element(n, depth);
                    self.value(item, depth + 1);
                }
                self.close(']', items.is_empty(), depth);
            }
            Data::String(text) if self.shown.mask_encrypted => {
                inspect(&Data::String(masked(text).into()), &mut self.out)
            }
            other => inspect(other, &mut self.out),
        }
    }

    fn hash(&mut self, hash: &Hash, depth: usize) {
        let shown = self.shown;
        self.out.push('{');
        for (n, (key, member)) in hash.iter().enumerate().take_while(|_| !shown.is_cancelled()) {
            self.element(n, depth);
            self.value(&key.to_value(None), depth + 1);
            self.out.push_str(" => ");
            self.value(&member.value, depth + 1);
        }
        self.close('}', hash.is_empty(), depth);
    }

    fn element(&mut self, n: usize, depth: usize) {
        self.out.push_str(if n > 0 { ",\n" } else { "\n" });
        self.pad(depth + 1);
    }

    fn close(&mut self, bracket: char, empty: bool, depth: usize) {
        if !empty {
            self.out.push('\n');
            self.pad(depth);
        }
        self.out.push(bracket);
    }

    fn line(&mut self, depth: usize, text: &str) {
        self.start(depth, text);
        self.out.push('\n');
    }

    fn start(&mut self, depth: usize, text: &str) {
        self.pad(depth);
        self.out.push_str(text);
    }

    fn pad(&mut self, depth: usize) {
        self.out.extend(std::iter::repeat_n("  ", depth));
    }
}
