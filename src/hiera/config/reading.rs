//! Reading a `hiera.yaml`: its version, and the problems that are found on the way.

use std::collections::HashMap;
use std::sync::Arc;

use super::problem::VersionProblem;
use super::templates::{TemplateError, template_error};
use super::{
    BackendKind, ConfigProblem, ConfigProblemKind, ConfigSource, ConfigVersion, Layer, Level,
};
use crate::puppet::value::{Data, Hash, Provenance, Value};
use crate::text::{Span, TextRange};

/// The reader of one `hiera.yaml`; each version has a module of its own for its part of the reader.
pub(super) struct ConfigReader<'a> {
    pub(super) source: ConfigSource<'a>,
    /// The problems that Puppet finds when it reads the file.
    pub(super) problems: Vec<ConfigProblem>,
    /// The problems that Puppet finds when the layer is first asked, if there was none before.
    pub(super) when_used: Vec<ConfigProblem>,
    /// The problems that Puppet finds when a level's function is called, if there was none before.
    pub(super) when_called: Vec<ConfigProblem>,
}

/// The levels of a config, before its problems are put in order.
#[derive(Default)]
pub(super) struct Levels {
    pub(super) hierarchy: Vec<Level>,
    pub(super) default_hierarchy: Vec<Level>,
}

/// The names of levels so far, each with the first level's place.
pub(super) type LevelNames = HashMap<Arc<str>, Option<Span>>;

/// Why a version cannot be used, where it is written, and Puppet's message.
type NoVersion = (VersionProblem, Option<Span>, String);

impl ConfigReader<'_> {
    /// Reads a config of any version. A file that is no hash counts as an empty config of version
    /// 3; Puppet logs a warning and continues.
    pub(super) fn read_config(&mut self, root: Option<&Value>) -> (ConfigVersion, Levels) {
        let Some((root, hash)) = root.and_then(|root| Some((root, root.as_hash()?))) else {
            let span = root.and_then(|root| root.origin);
            if *self.source.layer == Layer::Global {
                let message = "File exists but does not contain a valid YAML hash. Falling back to Hiera version 3 default config";
                self.report(ConfigProblemKind::Deprecated, span, message.into());
                return (ConfigVersion::V3, self.version_3(&Hash::default()));
            }
            self.report(
                ConfigProblemKind::Unreadable,
                span,
                self.misplaced_message(ConfigVersion::V3),
            );
            return (ConfigVersion::V3, Levels::default());
        };
        let (version, span) = match self.read_version(root, hash) {
            Ok(version) => version,
            Err((kind, span, message)) => {
                self.report(ConfigProblemKind::Version(kind), span, message);
                return (ConfigVersion::V5, Levels::default());
            }
        };
        let levels = match version {
            ConfigVersion::V3 => self.version_3(hash),
            ConfigVersion::V4 => self.version_4(hash),
            ConfigVersion::V5 => self.version_5(hash),
        };
        let has_its_place = match version {
            ConfigVersion::V3 => *self.source.layer == Layer::Global,
            ConfigVersion::V4 => *self.source.layer != Layer::Global,
            ConfigVersion::V5 => return (version, levels),
        };
        if has_its_place {
            let message = format!(
                "Use of 'hiera.yaml' version {version} is deprecated. It should be converted to version 5"
            );
            self.report(ConfigProblemKind::Deprecated, span, message);
            return (version, levels);
        }
        // Puppet checks the structure of the config before it reports the version, and uses nothing
        // of the config.
        self.when_used.clear();
        let kind = ConfigProblemKind::Version(VersionProblem::Unusable);
        self.report(kind, span, self.misplaced_message(version));
        (version, Levels::default())
    }

    /// Returns the version and where it is written. Errors: Puppet's message for a version that it
    /// does not know.
    fn read_version(
        &self,
        root: &Value,
        hash: &Hash,
    ) -> Result<(ConfigVersion, Option<Span>), NoVersion> {
        let member = hash.get("version");
        let span = member
            .and_then(|member| member.value.origin.or(member.key_origin))
            .or_else(|| first_key(hash))
            .or(root.origin);
        let given = member.map(|member| member.value.data()).unwrap_or(&Data::Null);
        let number = match given {
            Data::Null => 3,
            Data::Integer(version) => *version,
            Data::Float(version) => *version as i64,
            Data::String(text) => leading_integer(text),
            other => {
                let value = Value::new(other.clone(), Provenance::from_source(None));
                return Err((
                    VersionProblem::NoNumber,
                    span,
                    format!(
                        "undefined method `to_i' for {}:{}",
                        value.to_text(),
                        value.class_name()
                    ),
                ));
            }
        };
        let version = match number {
            3 => ConfigVersion::V3,
            4 => ConfigVersion::V4,
            5 => ConfigVersion::V5,
            other => {
                return Err((
                    VersionProblem::Unusable,
                    span,
                    format!("This runtime does not support hiera.yaml version {other}"),
                ));
            }
        };
        if !matches!(given, Data::Integer(_) | Data::Null) {
            let found = Value::new(given.clone(), Provenance::from_source(None)).type_name();
            let message = format!("entry 'version' expects an Integer value, got {found}");
            return Err((VersionProblem::WrongType, span, message));
        }
        Ok((version, span))
    }

    /// Returns Puppet's message for a version that may not stand here.
    fn misplaced_message(&self, version: ConfigVersion) -> String {
        let place = match self.source.layer {
            Layer::Global => "the global layer",
            Layer::Environment => "an environment",
            Layer::Module(_) => "a module",
        };
        format!("hiera.yaml version {version} cannot be used in {place}")
    }

    pub(super) fn report(&mut self, kind: ConfigProblemKind, span: Option<Span>, message: String) {
        let problem = self.new_problem(kind, span, message);
        self.problems.push(problem);
    }

    pub(super) fn new_problem(
        &self,
        kind: ConfigProblemKind,
        span: Option<Span>,
        message: String,
    ) -> ConfigProblem {
        let span = span.unwrap_or(Span::in_file(self.source.file, TextRange::new_empty(0)));
        ConfigProblem { kind, message, span, related: None, sought: None, string: None }
    }

    /// Returns the problem of a string with a token that cannot be read.
    pub(super) fn malformed_token(&self, string: &str, span: Option<Span>) -> ConfigProblem {
        let error = TemplateError::Malformed(string.to_owned());
        let problem = self.new_problem(ConfigProblemKind::Token, span, error.to_string());
        ConfigProblem { string: Some(string.to_owned()), ..problem }
    }

    /// Reports a level whose name another level has.
    pub(super) fn name_is_new(&mut self, level: &Level, place: Option<Span>, others: &LevelNames) {
        if let Some(first) = others.get(&level.name) {
            let message = format!("Hierarchy name '{}' defined more than once", level.name);
            let sought = Some(format!(r#"\s+name:\s+['"]?{}(?:[^\w]|$)"#, level.name));
            let problem = self.new_problem(ConfigProblemKind::Duplicate, place, message);
            self.when_used.push(ConfigProblem { related: *first, sought, ..problem });
        }
    }

    /// Tokens in hiera.yaml may name variables and nothing else.
    pub(super) fn tokens_of(&mut self, texts: impl IntoIterator<Item = (Arc<str>, Option<Span>)>) {
        for (text, span) in texts {
            let Some(error) = template_error(&text) else { continue };
            let problem = match &error {
                TemplateError::Call => {
                    self.new_problem(ConfigProblemKind::FunctionInConfig, span, error.to_string())
                }
                TemplateError::Malformed(string) => self.malformed_token(string, span),
            };
            if !self
                .when_used
                .iter()
                .any(|known| Some(known.span) == span && known.kind == problem.kind)
            {
                self.when_used.push(problem);
            }
        }
    }

    /// Puppet 7 comes with the library of Hiera 3, later ones do not.
    pub(super) fn check_library(&mut self, level: &Level) {
        if level.backend.kind != BackendKind::Hiera3 || self.source.puppet.major < 8 {
            return; // as with most
        }
        let is_refused = self.problems.iter().any(|known| Some(known.span) == level.backend.span);
        if !is_refused {
            let problem = self.new_problem(
                ConfigProblemKind::Library,
                level.backend.span,
                "Hiera 3 is not installed".into(),
            );
            self.when_used.push(problem);
        }
    }

    /// Reports a conflict. Puppet stops at the first one.
    pub(super) fn report_first(&mut self, span: Option<Span>, message: String) {
        self.report(ConfigProblemKind::Conflict, span, message);
    }

    /// Reports a conflict whose line Puppet finds by a search in the file.
    pub(super) fn report_sought(&mut self, span: Option<Span>, message: String, sought: String) {
        let problem = self.new_problem(ConfigProblemKind::Conflict, span, message);
        self.problems.push(ConfigProblem { sought: Some(sought), ..problem });
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
