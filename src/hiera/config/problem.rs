//! The problems that Puppet finds in a `hiera.yaml`, and which of them make lookups fail.

use super::HieraConfig;
use crate::hiera::error::{LookupError, LookupErrorKind};
use crate::puppet::types::report;
use crate::puppet::{PuppetVersion, Strict};
use crate::text::Span;

/// Something that Puppet finds wrong with a `hiera.yaml`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigProblem {
    /// The kind of the problem.
    pub kind: ConfigProblemKind,
    /// Puppet's words for the problem, without the file.
    pub message: String,
    /// The place of the problem.
    pub span: Span,
    /// A place that explains the problem, such as the first of two levels of one name.
    pub related: Option<Span>,
    /// The regular expression with which Puppet searches the file for the line that the problem's
    /// message names, if the message names one.
    pub(super) sought: Option<String>,
    /// The whole string whose token cannot be read, of a [`ConfigProblemKind::Token`].
    pub(super) string: Option<String>,
}

/// The kinds of problem in a `hiera.yaml`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ConfigProblemKind {
    /// The file is no hash, where a config of version 3, for which Puppet takes it, may not stand.
    Unreadable,
    /// A version that Puppet reads and warns of.
    Deprecated,
    /// An older setting, which chooses where data comes from, names no valid choice.
    Provider,
    /// A version that cannot be used here.
    Version(VersionProblem),
    /// Unknown keys, missing keys, wrong types. Puppet reports all of these together.
    Structure,
    /// Keys that exclude each other, reserved options.
    Conflict,
    /// A level's name that another has.
    Duplicate,
    /// A level that lacks something that its function needs; Puppet notices only where the function
    /// is called.
    Call,
    /// A token that calls a function.
    FunctionInConfig,
    /// A token that cannot be read.
    Token,
    /// A `uri` that is none.
    Uri,
    /// A backend that the version does not know, or that cannot be used as it is configured.
    Backend,
    /// A part that needs a library that this Puppet does not come with.
    Library,
}

/// Why a version cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum VersionProblem {
    /// There is no such version, or it may not stand in this layer.
    Unusable,
    /// The version is written as another type than an Integer.
    WrongType,
    /// The version is nothing that Ruby makes a number of: Puppet fails with Ruby's error.
    NoNumber,
}

impl ConfigProblemKind {
    /// Returns the rank in the order of Puppet's checks of a problem that Puppet finds while it
    /// loads a config. `None` for one that it finds later.
    fn rank_at_load(self) -> Option<u8> {
        match self {
            ConfigProblemKind::Provider => Some(0),
            ConfigProblemKind::Unreadable => Some(1),
            ConfigProblemKind::Structure => Some(2),
            ConfigProblemKind::Version(_) => Some(3),
            ConfigProblemKind::Conflict => Some(4),
            ConfigProblemKind::Deprecated
            | ConfigProblemKind::Duplicate
            | ConfigProblemKind::Call
            | ConfigProblemKind::FunctionInConfig
            | ConfigProblemKind::Token
            | ConfigProblemKind::Uri
            | ConfigProblemKind::Backend
            | ConfigProblemKind::Library => None,
        }
    }
}

impl HieraConfig {
    /// Returns the problem that makes lookups in this layer fail, if there is one: the first that
    /// Puppet sees. Puppet checks the structure, then the version and keys that exclude each other,
    /// and looks at tokens when it needs the levels.
    pub fn fatal_problem(&self) -> Option<&ConfigProblem> {
        use ConfigProblemKind::{Backend, Duplicate, FunctionInConfig, Library, Token, Uri};
        let when_used = [Duplicate, FunctionInConfig, Token, Uri, Backend, Library];
        let at_load = self
            .problems
            .iter()
            .filter_map(|problem| Some((problem.kind.rank_at_load()?, problem)))
            .min_by_key(|(rank, _)| *rank)
            .map(|(_, problem)| problem);
        at_load.or_else(|| self.problems.iter().find(|problem| when_used.contains(&problem.kind)))
    }

    /// Returns whether the config is one of version 3 where none may stand, and nothing else is
    /// wrong with it: unless Puppet is strict, Puppet passes over the config with a warning.
    pub fn is_passed_over(&self, puppet: PuppetVersion) -> bool {
        let kind = self.fatal_problem().map(|problem| problem.kind);
        puppet.strict != Strict::Error
            && self.version == super::ConfigVersion::V3
            && matches!(kind, Some(ConfigProblemKind::Unreadable | ConfigProblemKind::Version(_)))
    }

    /// Returns whether Puppet gets so far as to have this config: its problems then show when its
    /// levels are needed.
    pub(in crate::hiera) fn is_loaded(&self) -> bool {
        self.refused.is_none()
            && !self.problems.iter().any(|problem| problem.kind.rank_at_load().is_some())
    }

    /// Returns the error of a token in this config. For an undefined variable Puppet names the file
    /// and the line.
    pub(in crate::hiera) fn token_error(&self, error: LookupError) -> LookupError {
        match &*error.kind {
            LookupErrorKind::UndefinedVariable(name) => {
                let sought = format!(r#"%\{{['"]?{name}['"]?}}"#);
                self.error_at(&format!("Undefined variable '{name}'"), &sought).or_at(error.span)
            }
            _ => error,
        }
    }

    /// Returns the error of lookups that need this config, for its fatal problem.
    pub fn lookup_error(&self, problem: &ConfigProblem) -> LookupError {
        let error = match problem.kind {
            ConfigProblemKind::Structure => {
                let structure = self
                    .problems
                    .iter()
                    .filter(|problem| problem.kind == ConfigProblemKind::Structure);
                let subject =
                    format!("The Lookup Configuration at '{}' has wrong type,", self.path);
                let lines: Vec<String> =
                    structure.map(|problem| format!("{subject} {}", problem.message)).collect();
                LookupError::new(LookupErrorKind::ConfigType(report(&lines)), None)
            }
            ConfigProblemKind::Version(VersionProblem::WrongType) => {
                let message = format!(
                    "The Lookup Configuration at '{}' has wrong type, {}",
                    self.path, problem.message
                );
                LookupError::new(LookupErrorKind::ConfigType(message), None)
            }
            ConfigProblemKind::Token => {
                let string = problem.string.clone().unwrap_or_default();
                LookupError::new(LookupErrorKind::TokenSyntax(string), None)
            }
            ConfigProblemKind::Version(VersionProblem::NoNumber) | ConfigProblemKind::Uri => {
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
