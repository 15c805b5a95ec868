//! What Puppet finds wrong with a `hiera.yaml`, and which of it makes lookups fail.

use super::HieraConfig;
use crate::hiera::error::{LookupError, LookupErrorKind};
use crate::hiera::types::report;
use crate::text::Span;

/// Something that Puppet finds wrong with a `hiera.yaml`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigProblem {
    /// What kind of problem it is.
    pub kind: ConfigProblemKind,
    /// Puppet's words for it, without the file.
    pub message: String,
    /// Its place.
    pub span: Span,
    /// A place that explains it, such as the first of two levels of one name.
    pub related: Option<Span>,
    /// The regular expression with which Puppet searches the file for the line that its message names, if it names one.
    pub(super) sought: Option<String>,
}

/// The kinds of problem in a `hiera.yaml`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ConfigProblemKind {
    /// The file is no hash, where a config of version 3, for which Puppet takes it, may not stand.
    Unreadable,
    /// A version that Puppet reads and warns of.
    Deprecated,
    /// An older setting, which chooses where data comes from, names what is no choice.
    Provider,
    /// A version that cannot be used here.
    Version,
    /// Unknown keys, missing keys, wrong types. Puppet reports all of these together.
    Structure,
    /// Keys that exclude each other, reserved options.
    Conflict,
    /// A level's name that another has.
    Duplicate,
    /// A level that lacks what its function needs; only where the function is called, Puppet notices.
    Call,
    /// A token that calls a function.
    FunctionInConfig,
    /// A token that cannot be read.
    Token,
    /// A backend that the version does not know, or that cannot be used as it is configured.
    Backend,
    /// What needs a library that this Puppet does not come with.
    Library,
}

/// What Puppet finds while it loads a config, in this order.
const AT_LOAD: [ConfigProblemKind; 5] = [
    ConfigProblemKind::Provider,
    ConfigProblemKind::Unreadable,
    ConfigProblemKind::Structure,
    ConfigProblemKind::Version,
    ConfigProblemKind::Conflict,
];

impl HieraConfig {
    /// The problem that makes lookups in this layer fail, if there is one: the first to be seen by Puppet, which checks the structure,
    /// then the version and what excludes each other, and looks at tokens when it needs the levels.
    pub fn fatal(&self) -> Option<&ConfigProblem> {
        use ConfigProblemKind::{Backend, Duplicate, FunctionInConfig, Library, Token};
        let of_kind = |kind| self.problems.iter().find(move |problem| problem.kind == kind);
        let when_used = [Duplicate, FunctionInConfig, Token, Backend, Library];
        let at_load = AT_LOAD.into_iter().find_map(of_kind);
        at_load.or_else(|| self.problems.iter().find(|problem| when_used.contains(&problem.kind)))
    }

    /// Whether this is a config of version 3 where none may stand, and nothing else is wrong with it: unless Puppet is strict, it passes
    /// over it with a warning.
    pub(in crate::hiera) fn may_be_passed_over(&self) -> bool {
        let kind = self.fatal().map(|problem| problem.kind);
        self.version == super::Version::V3 && matches!(kind, Some(ConfigProblemKind::Unreadable | ConfigProblemKind::Version))
    }

    /// Whether Puppet gets so far as to have this config: what is wrong then shows when its levels are needed.
    pub(in crate::hiera) fn loads(&self) -> bool {
        let refused = |problem: &ConfigProblem| AT_LOAD.contains(&problem.kind);
        self.refused.is_none() && !self.problems.iter().any(refused)
    }

    /// The error of lookups that need this config, for its fatal problem.
    pub(in crate::hiera) fn refusal(&self, problem: &ConfigProblem) -> LookupError {
        let error = match problem.kind {
            ConfigProblemKind::Structure => {
                let structure = self.problems.iter().filter(|problem| problem.kind == ConfigProblemKind::Structure);
                let subject = format!("The Lookup Configuration at '{}' has wrong type,", self.path);
                let lines: Vec<String> = structure.map(|problem| format!("{subject} {}", problem.message)).collect();
                LookupError::new(LookupErrorKind::ConfigType(report(&lines)), None)
            }
            ConfigProblemKind::Version if problem.message.starts_with("entry 'version'") => {
                let message = format!("The Lookup Configuration at '{}' has wrong type, {}", self.path, problem.message);
                LookupError::new(LookupErrorKind::ConfigType(message), None)
            }
            ConfigProblemKind::Token => {
                let text = problem.message.strip_prefix("Syntax error in string: ").unwrap_or(&problem.message);
                LookupError::new(LookupErrorKind::TokenSyntax(text.to_owned()), None)
            }
            ConfigProblemKind::Version if problem.message.starts_with("undefined method") => {
                LookupError::crash(problem.message.clone())
            }
            ConfigProblemKind::Library | ConfigProblemKind::Provider => {
                LookupError::new(LookupErrorKind::Missing(problem.message.clone()), None)
            }
            _ => self.error_of(problem),
        };
        error.or_at(Some(problem.span))
    }
}
