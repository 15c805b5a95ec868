//! The tree as text, word for word as `puppet lookup --explain` prints it. Source: semantics 8.6.

use super::{Event, ExplainOptions, Kind, Node};
use crate::hiera::key::KeySegment;
use crate::puppet::print::{REDACTED, mask_encrypted};
use crate::puppet::ruby::inspect::inspect;
use crate::puppet::value::{Data, Hash, Value};

/// Returns the text of a tree, each line with its end.
pub fn render_text(tree: &Node, shown: ExplainOptions<'_>) -> String {
    let mut writer = TextWriter { shown, out: String::new(), hidden: false };
    writer.write_node(tree, 0);
    writer.out
}

struct TextWriter<'a> {
    shown: ExplainOptions<'a>,
    out: String,
    /// Whether values are hidden: the text is about a key whose value is a secret.
    hidden: bool,
}

impl TextWriter<'_> {
    fn write_node(&mut self, node: &Node, depth: usize) {
        if let (Kind::Merge(_), Some(only)) = (&node.kind, node.only_branch()) {
            return self.write_node(only, depth);
        }
        let inner = depth + 1;
        match &node.kind {
            Kind::Request => {
                self.write_branches(node, depth);
                self.write_texts(node, depth);
            }
            Kind::Lookup { key, secret } => {
                self.write_line(depth, &format!("Searching for \"{key}\""));
                let outer = self.hidden;
                self.hidden |= secret & !self.shown.reveal;
                self.write_branches(node, inner);
                self.hidden = outer;
            }
            Kind::InvalidKey => self.write_line(depth, "Invalid key \"lookup_options\""),
            Kind::MergeSource => {
                self.write_line(depth, "Using merge options from \"lookup_options\" hash")
            }
            Kind::Module(name) => match node.event {
                Some(Event::ModuleNotFound) => {
                    self.write_line(depth, &format!("Module \"{name}\" not found"))
                }
                _ => self.write_line(
                    depth,
                    &format!("Module data provider for module \"{name}\" not found"),
                ),
            },
            // The lookups within a secret reveal its content.
            Kind::Interpolation { secrecy, .. }
                if self.hidden || self.shown.mark_for(*secrecy).is_some() =>
            {
                let mark = self.shown.mark_for(*secrecy).unwrap_or(REDACTED);
                self.write_line(depth, &format!("Interpolation on \"{mark}\""));
            }
            Kind::Interpolation { expression, .. } => {
                let masked = if self.shown.mask_encrypted {
                    mask_encrypted(expression)
                } else {
                    expression.to_string()
                };
                self.write_line(depth, &format!("Interpolation on \"{masked}\""));
                self.write_branches(node, inner);
            }
            Kind::Merge(_) if node.branches.is_empty() => {}
            Kind::Merge(strategy) => {
                self.write_line(depth, &format!("Merge strategy {strategy}"));
                if let Some(options) = strategy.options() {
                    self.start(inner, "Options: ");
                    self.hash(options, inner);
                    self.out.push('\n');
                }
                self.write_branches(node, inner);
                if let Some(Event::Result(value)) = &node.event {
                    self.start(inner, "Merged result: ");
                    self.write_value(value, inner);
                    self.out.push('\n');
                }
            }
            Kind::Provider { .. } | Kind::Level(_) | Kind::Scope(_) => {
                self.write_line(depth, &node.name().unwrap_or_default());
                if let Kind::Provider { config: Some(path), .. } = &node.kind {
                    self.write_line(inner, &format!("Using configuration \"{path}\""));
                }
                self.write_branches(node, inner);
                self.write_outcome(node, inner);
            }
            Kind::Location { uri, original, place } => {
                let (kind, original_kind) = if *uri { ("URI", "uri") } else { ("Path", "path") };
                let line =
                    node.found_line(self.shown).map(|line| format!(":{line}")).unwrap_or_default();
                self.write_line(depth, &format!("{kind} \"{place}{line}\""));
                self.write_line(inner, &format!("Original {original_kind}: \"{original}\""));
                self.write_branches(node, inner);
                if let Some(Event::LocationNotFound) = node.event {
                    self.write_line(inner, &format!("{kind} not found"));
                }
                self.write_outcome(node, inner);
            }
            Kind::SubKey(segments) => {
                let segments: Vec<String> = segments.iter().map(KeySegment::to_string).collect();
                self.write_line(depth, &format!("Sub key: \"{}\"", segments.join(".")));
                self.write_branches(node, inner);
                self.write_outcome(node, inner);
            }
            Kind::Segment => self.write_outcome(node, depth),
        }
    }

    fn write_branches(&mut self, node: &Node, depth: usize) {
        node.branches.iter().for_each(|branch| self.write_node(branch, depth));
    }

    fn write_outcome(&mut self, node: &Node, depth: usize) {
        match &node.event {
            Some(Event::NotFound(key)) => {
                self.write_line(depth, &format!("No such key: \"{key}\""))
            }
            Some(Event::Found { key, value, .. }) => self.write_found(key, value, "", depth),
            Some(Event::FoundInOverrides(key, value)) => {
                self.write_found(key, value, " in overrides", depth)
            }
            Some(Event::FoundInDefaults(key, value)) => {
                self.write_found(key, value, " in defaults", depth)
            }
            _ => {}
        }
        self.write_texts(node, depth);
    }

    fn write_found(&mut self, key: &str, value: &Value, place: &str, depth: usize) {
        self.start(depth, &format!("Found key: \"{key}\" value: "));
        self.write_value(value, depth);
        self.out.push_str(place);
        self.out.push('\n');
    }

    fn write_texts(&mut self, node: &Node, depth: usize) {
        node.texts.iter().for_each(|text| self.write_line(depth, &text.render(&self.shown)));
    }

    /// A value over several lines: lists and hashes with a line for each element, all else as Ruby
    /// inspects it.
    fn write_value(&mut self, value: &Value, depth: usize) {
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
                    self.write_element(n, depth);
                    self.write_value(item, depth + 1);
                }
                self.close(']', items.is_empty(), depth);
            }
            Data::String(text) if self.shown.mask_encrypted => {
                inspect(&Data::String(mask_encrypted(text).into()), &mut self.out)
            }
            other => inspect(other, &mut self.out),
        }
    }

    fn hash(&mut self, hash: &Hash, depth: usize) {
        let shown = self.shown;
        self.out.push('{');
        for (n, (key, member)) in hash.iter().enumerate().take_while(|_| !shown.is_cancelled()) {
            self.write_element(n, depth);
            self.write_value(&key.to_value(None), depth + 1);
            self.out.push_str(" => ");
            self.write_value(&member.value, depth + 1);
        }
        self.close('}', hash.is_empty(), depth);
    }

    fn write_element(&mut self, n: usize, depth: usize) {
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

    fn write_line(&mut self, depth: usize, text: &str) {
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
