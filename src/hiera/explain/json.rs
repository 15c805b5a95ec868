//! The tree as JSON: the members, and their order, that `puppet lookup --explain --render-as json`
//! prints. Source: semantics 8.7.

use super::{Event, ExplainOptions, Kind, Node};
use crate::hiera::config::Layer;
use crate::puppet::print::{self, REDACTED, json_string};
use crate::puppet::value::Value;

/// Returns the tree as one line of JSON, without a line end.
pub fn render_json(tree: &Node, shown: ExplainOptions<'_>) -> String {
    let mut writer = JsonWriter { shown, out: String::new(), hidden: false };
    writer.write_node(tree);
    writer.out
}

struct JsonWriter<'a> {
    shown: ExplainOptions<'a>,
    out: String,
    /// Whether values are hidden: the node is about a key whose value is a secret.
    hidden: bool,
}

impl JsonWriter<'_> {
    fn write_node(&mut self, node: &Node) {
        if let Some(only) = node.only_branch() {
            return self.write_node(only);
        }
        let outer = self.hidden;
        if let Kind::Lookup { secret, .. } = node.kind {
            self.hidden |= secret & !self.shown.reveal;
        }
        self.out.push('{');
        self.write_common(node);
        self.write_own(node);
        self.out.push('}');
        self.hidden = outer;
    }

    /// Writes the members that a node of any kind may have.
    fn write_common(&mut self, node: &Node) {
        // The lookups within a secret reveal its content.
        if !node.branches.is_empty() && !self.is_hidden(node) {
            self.write_member("branches");
            self.out.push('[');
            for (n, branch) in node.branches.iter().enumerate() {
                self.out.push_str(if n > 0 { "," } else { "" });
                self.write_node(branch);
            }
            self.out.push(']');
        }
        let key = match (&node.event, &node.kind) {
            (Some(Event::Found { key, .. } | Event::NotFound(key)), _)
            | (Some(Event::FoundInOverrides(key, _) | Event::FoundInDefaults(key, _)), _)
            | (_, Kind::Lookup { key, .. }) => Some(&**key),
            (_, Kind::InvalidKey) => Some("lookup_options"),
            _ => None,
        };
        if let Some(key) = key {
            self.write_text("key", key);
        }
        if let Some(event) = &node.event
            && let Event::Found { value, .. }
            | Event::Result(value)
            | Event::FoundInOverrides(_, value)
            | Event::FoundInDefaults(_, value) = event
        {
            self.write_member("value");
            self.write_value(value);
        }
        let event = node.event.as_ref().map(|event| match event {
            Event::Found { .. } => "found",
            Event::FoundInOverrides(..) => "found_in_overrides",
            Event::FoundInDefaults(..) => "found_in_defaults",
            Event::NotFound(_) => "not_found",
            Event::LocationNotFound => "location_not_found",
            Event::Result(_) => "result",
            Event::ModuleNotFound => "module_not_found",
            Event::ModuleProviderNotFound => "module_provider_not_found",
        });
        if let Some(event) = event {
            self.write_text("event", event);
        }
        // Puppet loses the texts of a request itself, so they are not written.
        if !node.texts.is_empty() && !matches!(node.kind, Kind::Request) {
            let texts: Vec<String> =
                node.texts.iter().map(|text| text.render(&self.shown)).collect();
            self.write_member("texts");
            self.out.push_str(&serde_json::Value::from(texts).to_string());
        }
    }

    /// Writes the type, and the members that only nodes of that type have.
    fn write_own(&mut self, node: &Node) {
        let kind = match &node.kind {
            Kind::Request => return,
            Kind::Lookup { .. } => "root",
            Kind::InvalidKey => "invalid_key",
            Kind::MergeSource => "merge_source",
            Kind::Module(_) => "module",
            Kind::Interpolation { .. } => "interpolate",
            Kind::Merge(_) => "merge",
            Kind::Provider { .. } | Kind::Level(_) => "data_provider",
            Kind::Location { uri: false, .. } => "path",
            Kind::Location { uri: true, .. } => "uri",
            Kind::SubKey(_) => "sub_key",
            Kind::Segment => "segment",
            Kind::Scope(_) => "scope",
        };
        self.write_text("type", kind);
        if let Some(name) = node.name() {
            self.write_text("name", &name);
        }
        match &node.kind {
            Kind::MergeSource => self.write_text("merge_source", "lookup_options"),
            Kind::Interpolation { secrecy, .. } if self.is_hidden(node) => {
                self.write_text("expression", self.shown.mark_for(*secrecy).unwrap_or(REDACTED));
            }
            Kind::Interpolation { expression, .. } => self.write_text("expression", expression),
            Kind::Merge(strategy) => {
                self.write_text("merge", strategy.name());
                if let Some(options) = strategy.options() {
                    self.write_member("options");
                    self.out.push_str(&print::print_json(
                        &Value::hash_of(options.clone(), None),
                        &self.shown.print_options(),
                    ));
                }
            }
            Kind::Provider { layer, config, .. } => {
                if let Some(path) = config {
                    self.write_text("configuration_path", path.as_str());
                }
                if let Layer::Module(module) = layer {
                    self.write_text("module", module);
                }
            }
            Kind::Location { uri, original, place } => {
                self.write_text(if *uri { "original_uri" } else { "original_path" }, original);
                self.write_text(if *uri { "uri" } else { "path" }, place);
                if let Some(line) = node.found_line(self.shown) {
                    self.write_member("line");
                    self.out.push_str(&line.to_string());
                }
            }
            _ => {}
        }
    }

    fn write_value(&mut self, value: &Value) {
        if self.hidden {
            json_string(REDACTED, &mut self.out)
        } else {
            self.out.push_str(&print::print_json(value, &self.shown.print_options()));
        }
    }

    /// Returns whether the node is about a string that must not be shown.
    fn is_hidden(&self, node: &Node) -> bool {
        match node.kind {
            Kind::Interpolation { secrecy, .. } => {
                self.hidden || self.shown.mark_for(secrecy).is_some()
            }
            _ => false,
        }
    }

    fn write_text(&mut self, name: &str, text: &str) {
        self.write_member(name);
        json_string(text, &mut self.out);
    }

    fn write_member(&mut self, name: &str) {
        if !self.out.ends_with('{') {
            self.out.push(',');
        }
        json_string(name, &mut self.out);
        self.out.push(':');
    }
}
