//! Reading a `hiera.yaml`: which version it is, and what is wrong with it so far.

use super::{ConfigProblem, ConfigProblemKind, ConfigSource, Layer};
use crate::hiera::value::{Data, Hash, Value};
use crate::text::{Span, TextRange};

pub(super) struct Reading<'a> {
    pub(super) source: ConfigSource<'a>,
    /// What Puppet finds when it reads the file.
    pub(super) problems: Vec<ConfigProblem>,
    /// What it finds when the layer is first asked, if there was nothing before.
    pub(super) when_used: Vec<ConfigProblem>,
    /// What it finds when a level's function is called, if there was nothing before.
    pub(super) when_called: Vec<ConfigProblem>,
}

impl Reading<'_> {
    /// Whether the file can be read as version 5.
    pub(super) fn version(&mut self, root: &Value, hash: &Hash) -> bool {
        let member = hash.get("version");
        let span =
            member.and_then(|member| member.value.origin.or(member.key_origin)).or_else(|| first_key(hash)).or(root.origin);
        let given = member.map(|member| &member.value.data).unwrap_or(&Data::Null);
        let version = match given {
            Data::Null => 3,
            Data::Integer(version) => *version,
            Data::Float(version) => *version as i64,
            Data::String(text) => leading_integer(text),
            other => {
                let value = Value::new(other.clone(), None);
                let message = format!("undefined method `to_i' for {}:{}", value.to_text(), value.class_name());
                self.report(ConfigProblemKind::Version, span, message);
                return false;
            }
        };
        let message = match version {
            5 if matches!(given, Data::Integer(_)) => return true,
            3..=5 if !matches!(given, Data::Integer(_) | Data::Null) => {
                format!("entry 'version' expects an Integer value, got {}", Value::new(given.clone(), None).type_name())
            }
            3 | 4 => self.old_version(version),
            other => format!("This runtime does not support hiera.yaml version {other}"),
        };
        self.report(ConfigProblemKind::Version, span, message);
        false
    }

    /// What is said of version 3 or 4: where Puppet still reads it, that hiera-ls does not.
    pub(super) fn old_version(&self, version: i64) -> String {
        match (version, self.source.layer) {
            (4, Layer::Global) => "hiera.yaml version 4 cannot be used in the global layer".into(),
            (3, Layer::Environment) => "hiera.yaml version 3 cannot be used in an environment".into(),
            (3, Layer::Module(_)) => "hiera.yaml version 3 cannot be used in a module".into(),
            _ => format!("hiera.yaml version {version} is deprecated, and not read by hiera-ls"),
        }
    }

    pub(super) fn report(&mut self, kind: ConfigProblemKind, span: Option<Span>, message: String) {
        let problem = self.problem(kind, span, message);
        self.problems.push(problem);
    }

    pub(super) fn problem(&self, kind: ConfigProblemKind, span: Option<Span>, message: String) -> ConfigProblem {
        let span = span.unwrap_or(Span::in_file(self.source.file, TextRange::empty(0)));
        ConfigProblem { kind, message, span, related: None }
    }

    /// The same, unless something was reported before: from here on Puppet stops at the first.
    pub(super) fn report_first(&mut self, span: Option<Span>, message: String) {
        self.report(ConfigProblemKind::Conflict, span, message);
    }
}

pub(super) fn first_key(hash: &Hash) -> Option<Span> {
    hash.values().find_map(|member| member.key_origin)
}

/// Ruby's `to_i`: the digits at the start, or 0.
fn leading_integer(text: &str) -> i64 {
    let text = text.trim_start();
    let end = text
        .char_indices()
        .find(|(at, c)| !(c.is_ascii_digit() || (*at == 0 && matches!(c, '+' | '-'))))
        .map_or(text.len(), |(at, _)| at);
    text[..end].parse().unwrap_or(0)
}
