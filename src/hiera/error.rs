//! Why lookups fail. `Display` gives Puppet's message; the kinds hold spans and keys, for callers
//! that use other words.

use std::fmt;
use std::sync::Arc;

use super::merge::{MergeError, StrategyError};
use crate::puppet::print::PrintOptions;
use crate::puppet::ruby::regex::RegexError;
use crate::puppet::value::{Secrecy, Value};
use crate::text::{FilePath, Limit, Span};

/// Why a lookup failed. `Display` gives Puppet's message, unless that could reveal a secret.
#[derive(Clone, Debug, PartialEq)]
pub struct LookupError {
    /// The kind of failure. Boxed, as every lookup returns a place for an error and few have one.
    pub kind: Box<LookupErrorKind>,
    /// The place in the data or in a config that caused the failure.
    pub span: Option<Span>,
    /// The keys for which the global layer was being searched, innermost first. Puppet puts a text
    /// before the message for each.
    pub global_keys: Box<[Arc<str>]>,
    class: Class,
}

/// The class of the error that Puppet raises. Puppet reports lookup errors as part of an
/// explanation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    /// `Puppet::DataBinding::LookupError`.
    Lookup,
    /// Another `Puppet::Error`.
    Puppet,
    /// An error of Ruby's own.
    Ruby,
}

/// The ways in which a lookup fails.
#[derive(Clone, Debug, PartialEq)]
pub enum LookupErrorKind {
    /// The text is no key.
    KeySyntax(String),
    /// A token is malformed; the whole string.
    TokenSyntax(String),
    /// A key needs itself: the keys in progress, and the strings whose tokens led from one to the
    /// next.
    Recursion {
        /// The lookups in progress, the first one first.
        frames: Vec<LookupFrame>,
        /// The lookup that would begin again: its text is that of one of the `frames`.
        again: LookupFrame,
    },
    /// A subkey of something that is no hash.
    DigMismatch {
        /// The class that was found.
        class: &'static str,
        /// The subkey.
        segment: String,
        /// The whole key.
        key: String,
    },
    /// Values that cannot be merged.
    Merge(MergeError),
    /// A strategy or `lookup_options` that make no sense.
    Options(OptionsError),
    /// A token calls a function that is no interpolation function.
    UnknownMethod(String),
    /// An `alias` shares its string with other text.
    AliasNotWhole,
    /// A variable is undefined, in a strict Puppet.
    UndefinedVariable(String),
    /// A variable that cannot be asked for.
    Variable(String),
    /// A file cannot be read as data.
    File {
        /// The file.
        path: FilePath,
        /// Puppet's message.
        message: String,
    },
    /// A value that is not data.
    IllegalValue {
        /// The root key.
        key: String,
        /// The path or the URI; `None` for a level without a location.
        location: Option<String>,
        /// The function that gave the value, as Puppet calls it: `data_hash function 'yaml_data'`.
        function: String,
        /// Whether the function gave the value in a hash.
        in_hash: bool,
        /// The type of the value.
        got: String,
    },
    /// A value that `convert_to` cannot convert.
    Conversion(String),
    /// A value that does not have the type that was asked for.
    WrongType(String),
    /// An encrypted part of a string that cannot be decrypted.
    Decryption(Undecryptable),
    /// Any of the other failures where Puppet's message may quote a value that must not be shown:
    /// `Display` keeps the message back, [`LookupError::revealed_message`] does not.
    Secret(Box<LookupErrorKind>, Secrecy),
    /// A config that cannot be used.
    Config(String),
    /// A config that is no YAML.
    ConfigSyntax(String),
    /// A config whose parts have wrong types.
    ConfigType(String),
    /// A config asks for a library or a data provider that is not there.
    Missing(String),
    /// A Ruby error that makes Puppet itself fail.
    Crash(String),
    /// The function of a level failed when it was called.
    Function {
        /// The message of the error that the function raised.
        message: String,
        /// The class of the error that the function raised.
        raised: Raised,
    },
    /// The lookup would exceed the work or the size that one lookup may take. Puppet has no such
    /// limit.
    Exhausted(Limit),
    /// The lookup was cancelled, as no caller waits for it any more.
    Cancelled,
}

/// The classes of errors that Puppet treats alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Raised {
    /// A lookup error.
    Lookup {
        /// Whether the error has an issue code, and so keeps its message in the global layer.
        has_issue: bool,
    },
    /// Another error of Puppet's.
    Puppet,
    /// Any other error of Ruby's.
    Ruby,
}

/// Why options make lookups fail.
#[derive(Clone, Debug, PartialEq)]
pub enum OptionsError {
    /// The value of `lookup_options` is no hash.
    NotAHash(Option<Span>),
    /// A key of an entry is no string.
    BadKey {
        /// The key as Ruby shows it.
        key: String,
        /// The class of the key.
        class: &'static str,
        /// The place of the key.
        span: Option<Span>,
    },
    /// A pattern is no regular expression.
    BadRegex(RegexError, Option<Span>),
    /// An entry of a module's data is not about that module.
    ForeignKey {
        /// The module.
        module: Arc<str>,
        /// Whether the key of the entry is a pattern.
        pattern: bool,
        /// The place of the key.
        span: Option<Span>,
    },
    /// An entry is no hash where one is needed.
    BadEntry(String, Option<Span>),
    /// The `merge` of an entry is no merge strategy.
    Strategy(StrategyError),
}

impl OptionsError {
    /// Returns the place of the offending part.
    pub fn problem_span(&self) -> Option<Span> {
        match self {
            OptionsError::NotAHash(span)
            | OptionsError::BadRegex(_, span)
            | OptionsError::BadEntry(_, span) => *span,
            OptionsError::BadKey { span, .. } | OptionsError::ForeignKey { span, .. } => *span,
            OptionsError::Strategy(error) => error.origin(),
        }
    }
}

impl fmt::Display for OptionsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OptionsError::NotAHash(_) => f.write_str("value of lookup_options must be a hash"),
            OptionsError::BadKey { key, class, .. } => {
                write!(f, "undefined method `start_with?' for {key}:{class}")
            }
            OptionsError::BadRegex(error, _) => error.fmt(f),
            OptionsError::ForeignKey { module, pattern: false, .. } => {
                write!(f, "all lookup_options keys must start with module name '{module}'")
            }
            OptionsError::ForeignKey { module, pattern: true, .. } => {
                write!(
                    f,
                    "all lookup_options patterns must match a key starting with module name '{module}'"
                )
            }
            OptionsError::BadEntry(message, _) => f.write_str(message),
            OptionsError::Strategy(error) => error.fmt(f),
        }
    }
}

/// A string with an encrypted part that cannot be decrypted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Undecryptable {
    /// The whole string, encrypted.
    pub text: String,
    /// The root key.
    pub key: String,
    /// The file.
    pub path: FilePath,
    /// Why the part cannot be decrypted.
    pub reason: String,
}

/// A lookup in progress, as the recursion check sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LookupFrame {
    /// The key, or the name in a token.
    pub text: Arc<str>,
    /// The string whose token asked for the key; `None` for the first lookup.
    pub asked_by: Option<Span>,
}

impl LookupError {
    pub(super) fn new(kind: LookupErrorKind, span: Option<Span>) -> LookupError {
        let class = kind.ruby_class();
        LookupError { kind: Box::new(kind), span, global_keys: Box::default(), class }
    }

    /// Returns the error of a limit that was reached at a place.
    pub(super) fn limit_reached(limit: Limit, span: Option<Span>) -> LookupError {
        LookupError::new(LookupErrorKind::Exhausted(limit), span)
    }

    /// Returns a Ruby error within Puppet.
    pub fn crash(message: String) -> LookupError {
        LookupError::new(LookupErrorKind::Crash(message), None)
    }

    /// Returns an error of a function that was called.
    pub fn function_failed(message: String, raised: Raised) -> LookupError {
        LookupError::new(LookupErrorKind::Function { message, raised }, None)
    }

    /// Returns the class of the error that Puppet raises.
    pub fn raised(&self) -> Raised {
        match self.class {
            Class::Lookup => Raised::Lookup { has_issue: !self.kind.is_renamed() },
            Class::Puppet => Raised::Puppet,
            Class::Ruby => Raised::Ruby,
        }
    }

    /// Returns the error of a token for a part of a variable whose name is a number, which Puppet
    /// refuses in any version.
    pub(super) fn number_as_variable(number: i64) -> LookupError {
        let message = format!("Scope variable name {number} is a Integer, not a string");
        LookupError::new(LookupErrorKind::Variable(message), None)
    }

    /// Returns an error of a config.
    pub fn invalid_config(message: impl Into<String>) -> LookupError {
        LookupError::new(LookupErrorKind::Config(message.into()), None)
    }

    /// Returns the error of an undefined variable. Puppet's message has a qualified name
    /// without a leading `::`, and a name such as `::x` with it.
    pub(super) fn undefined_variable(name: &str, span: Option<Span>) -> LookupError {
        let name = name.strip_prefix("::").filter(|rest| class_of(rest).is_some()).unwrap_or(name);
        LookupError::new(LookupErrorKind::UndefinedVariable(name.to_owned()), span)
    }

    /// Returns the error as the search of the global layer for `key` passes it on.
    ///
    /// Source: `LookupAdapter#lookup_global`, which renames a `Puppet::Error` without an issue
    /// code.
    pub(super) fn passed_on_for(mut self, key: &str) -> LookupError {
        if self.kind.is_renamed() {
            self.global_keys = self.global_keys.iter().cloned().chain([key.into()]).collect();
            self.class = Class::Puppet;
        }
        self
    }

    /// Returns the error as it leaves the check for recursion, which makes lookup errors of all of
    /// Puppet's. Source: `Invocation#check`.
    pub(super) fn leave_recursion(mut self) -> LookupError {
        if self.class == Class::Puppet {
            self.class = Class::Lookup;
        }
        self
    }

    /// Returns the error as one whose message may quote a value with these marks.
    pub(super) fn into_secret(mut self, marks: Secrecy) -> LookupError {
        if let LookupErrorKind::Secret(_, secrecy) = &mut *self.kind {
            *secrecy = secrecy.union(marks);
        } else if marks.is_any() {
            self.kind = Box::new(LookupErrorKind::Secret(self.kind, marks));
        }
        self
    }

    /// Returns the error as one whose message may quote `value`.
    pub fn mark_quoting(self, value: &Value) -> LookupError {
        self.into_secret(value.secrecy_of_parts())
    }

    /// Returns Puppet's message, also where it quotes a value that must not be shown.
    pub fn revealed_message(&self) -> String {
        match &*self.kind {
            LookupErrorKind::Secret(kind, _) => {
                LookupError { kind: kind.clone(), ..self.clone() }.to_string()
            }
            _ => self.to_string(),
        }
    }

    /// Returns the message as the print options allow it: one that may quote a hidden value is
    /// replaced unless that is revealed.
    pub fn print_message(&self, options: &PrintOptions<'_>) -> String {
        let message = match *self.kind {
            LookupErrorKind::Secret(_, secrecy) if options.mark_for(secrecy).is_none() => {
                self.revealed_message()
            }
            _ => self.to_string(),
        };
        options.mask_message(message)
    }

    /// Returns whether the error is a lookup error to Puppet, which explains these and stops at all
    /// others.
    pub fn is_lookup_error(&self) -> bool {
        self.class == Class::Lookup
    }

    pub(super) fn or_at(mut self, span: Option<Span>) -> LookupError {
        self.span = self.span.or(span);
        self
    }
}

impl LookupErrorKind {
    fn ruby_class(&self) -> Class {
        match self {
            LookupErrorKind::Merge(MergeError::WrongType(_))
            | LookupErrorKind::Options(OptionsError::Strategy(StrategyError::Options(_)))
            | LookupErrorKind::IllegalValue { .. }
            | LookupErrorKind::ConfigType(_)
            | LookupErrorKind::ConfigSyntax(_)
            | LookupErrorKind::Variable(_)
            | LookupErrorKind::Missing(_)
            | LookupErrorKind::WrongType(_) => Class::Puppet,
            LookupErrorKind::Options(
                OptionsError::NotAHash(_) | OptionsError::ForeignKey { .. },
            ) => Class::Lookup,
            LookupErrorKind::Merge(_)
            | LookupErrorKind::Options(_)
            | LookupErrorKind::UndefinedVariable(_)
            | LookupErrorKind::Crash(_) => Class::Ruby,
            LookupErrorKind::Function { raised, .. } => match raised {
                Raised::Lookup { .. } => Class::Lookup,
                Raised::Puppet => Class::Puppet,
                Raised::Ruby => Class::Ruby,
            },
            LookupErrorKind::KeySyntax(_)
            | LookupErrorKind::TokenSyntax(_)
            | LookupErrorKind::Recursion { .. }
            | LookupErrorKind::DigMismatch { .. }
            | LookupErrorKind::UnknownMethod(_)
            | LookupErrorKind::AliasNotWhole
            | LookupErrorKind::File { .. }
            | LookupErrorKind::Conversion(_)
            | LookupErrorKind::Config(_)
            | LookupErrorKind::Decryption(_)
            | LookupErrorKind::Exhausted(_)
            | LookupErrorKind::Cancelled => Class::Lookup,
            LookupErrorKind::Secret(within, _) => within.ruby_class(),
        }
    }

    /// Returns whether the message may quote a string of the data as it is written, or a part of a
    /// value.
    pub(super) fn may_quote_data(&self) -> bool {
        self.may_quote_values() || matches!(self, LookupErrorKind::TokenSyntax(_))
    }

    /// Returns whether the message may quote a part of a value: all others quote only names, tokens
    /// and text that stands in a file, and the tokens of decrypted text are withheld where they are
    /// replaced.
    pub(super) fn may_quote_values(&self) -> bool {
        match self {
            LookupErrorKind::Merge(_)
            | LookupErrorKind::Options(_)
            | LookupErrorKind::IllegalValue { .. }
            | LookupErrorKind::Conversion(_)
            | LookupErrorKind::WrongType(_)
            | LookupErrorKind::Function { .. }
            | LookupErrorKind::Crash(_) => true,
            LookupErrorKind::KeySyntax(_)
            | LookupErrorKind::TokenSyntax(_)
            | LookupErrorKind::Recursion { .. }
            | LookupErrorKind::DigMismatch { .. }
            | LookupErrorKind::UnknownMethod(_)
            | LookupErrorKind::AliasNotWhole
            | LookupErrorKind::UndefinedVariable(_)
            | LookupErrorKind::File { .. }
            | LookupErrorKind::Decryption(_)
            | LookupErrorKind::Secret(..)
            | LookupErrorKind::Config(_)
            | LookupErrorKind::ConfigSyntax(_)
            | LookupErrorKind::ConfigType(_)
            | LookupErrorKind::Variable(_)
            | LookupErrorKind::Missing(_)
            | LookupErrorKind::Exhausted(_)
            | LookupErrorKind::Cancelled => false,
        }
    }

    /// Returns whether the global layer puts its own text before the message: not for errors of
    /// Ruby's, nor for those with an issue code.
    fn is_renamed(&self) -> bool {
        match self {
            LookupErrorKind::KeySyntax(_)
            | LookupErrorKind::TokenSyntax(_)
            | LookupErrorKind::Recursion { .. }
            | LookupErrorKind::DigMismatch { .. }
            | LookupErrorKind::File { .. }
            | LookupErrorKind::IllegalValue { .. }
            | LookupErrorKind::Decryption(_)
            | LookupErrorKind::Conversion(_)
            | LookupErrorKind::ConfigSyntax(_)
            | LookupErrorKind::ConfigType(_)
            | LookupErrorKind::Variable(_)
            | LookupErrorKind::Missing(_) => true,
            LookupErrorKind::Secret(kind, _) => kind.is_renamed(),
            LookupErrorKind::Function { raised, .. } => {
                matches!(raised, Raised::Lookup { has_issue: false } | Raised::Puppet)
            }
            LookupErrorKind::Merge(error) => matches!(error, MergeError::WrongType(_)),
            LookupErrorKind::Options(error) => match error {
                OptionsError::NotAHash(_) | OptionsError::ForeignKey { .. } => true,
                OptionsError::Strategy(error) => matches!(error, StrategyError::Options(_)),
                OptionsError::BadKey { .. }
                | OptionsError::BadRegex(..)
                | OptionsError::BadEntry(..) => false,
            },
            LookupErrorKind::WrongType(_)
            | LookupErrorKind::UnknownMethod(_)
            | LookupErrorKind::AliasNotWhole
            | LookupErrorKind::UndefinedVariable(_)
            | LookupErrorKind::Config(_)
            | LookupErrorKind::Crash(_)
            | LookupErrorKind::Exhausted(_)
            | LookupErrorKind::Cancelled => false,
        }
    }
}

impl From<MergeError> for LookupError {
    fn from(error: MergeError) -> LookupError {
        let span = error.origin();
        let kind = match error {
            MergeError::Cancelled => LookupErrorKind::Cancelled,
            MergeError::Exhausted(limit) => LookupErrorKind::Exhausted(limit),
            error => LookupErrorKind::Merge(error),
        };
        LookupError::new(kind, span)
    }
}

impl From<OptionsError> for LookupError {
    fn from(error: OptionsError) -> LookupError {
        let span = error.problem_span();
        LookupError::new(LookupErrorKind::Options(error), span)
    }
}

impl fmt::Display for LookupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let LookupErrorKind::Secret(_, secrecy) = *self.kind {
            let what = if secrecy.decrypted { "decrypted" } else { "Sensitive" };
            return write!(
                f,
                "Puppet's message about a {what} value, which could tell the value, is not shown"
            );
        }
        for key in self.global_keys.iter().rev() {
            write!(f, "Lookup of key '{key}' failed: ")?;
        }
        match &*self.kind {
            LookupErrorKind::KeySyntax(key) => write!(f, "Syntax error in key: '{key}'"),
            LookupErrorKind::TokenSyntax(text) => write!(f, "Syntax error in string: {text}"),
            LookupErrorKind::Recursion { frames, .. } => {
                let texts: Vec<&str> = frames.iter().map(|frame| &*frame.text).collect();
                write!(f, "Recursive lookup detected in [{}]", texts.join(", "))
            }
            LookupErrorKind::DigMismatch { class, segment, key } => {
                write!(
                    f,
                    "Data Provider type mismatch: Got {class} when a hash-like object was expected to access value using '{segment}' from key '{key}'"
                )
            }
            LookupErrorKind::Merge(error) => error.fmt(f),
            LookupErrorKind::Options(error) => error.fmt(f),
            LookupErrorKind::UnknownMethod(name) => write!(f, "Unknown interpolation method '{name}'"),
            LookupErrorKind::AliasNotWhole => {
                f.write_str("'alias' interpolation is only permitted if the expression is equal to the entire string")
            }
            LookupErrorKind::UndefinedVariable(name) => match class_of(name) {
                Some(class) => write!(f, "Undefined variable '{name}'; class {class} could not be found"),
                None => write!(f, "Undefined variable '{name}'; "),
            },
            LookupErrorKind::File { message, .. } => f.write_str(message),
            LookupErrorKind::IllegalValue { key, location, function, in_hash, got } => {
                let source = if *in_hash { "in hash returned" } else { "returned" };
                write!(f, "Value for key '{key}', {source} from {function}")?;
                if let Some(location) = location {
                    write!(f, ", when using location '{location}',")?;
                }
                write!(f, " has wrong type, expects Puppet::LookupValue, got {got}")
            }
            LookupErrorKind::Decryption(what) => {
                let Undecryptable { text, key, path, reason } = what;
                write!(f, "hiera-eyaml backend error decrypting {text} when looking up {key} in {path}. Error was {reason}")
            }
            LookupErrorKind::Config(message)
            | LookupErrorKind::ConfigSyntax(message)
            | LookupErrorKind::ConfigType(message)
            | LookupErrorKind::Variable(message)
            | LookupErrorKind::Missing(message)
            | LookupErrorKind::Conversion(message)
            | LookupErrorKind::WrongType(message)
            | LookupErrorKind::Crash(message)
            | LookupErrorKind::Function { message, .. } => f.write_str(message),
            LookupErrorKind::Secret(..) => Ok(()), // written above
            LookupErrorKind::Exhausted(limit) => {
                write!(f, "given up: the lookup needs {limit}, and hiera-ls goes no further")
            }
            LookupErrorKind::Cancelled => f.write_str("left off: no caller waits for the answer"),
        }
    }
}

impl std::error::Error for LookupError {}

/// Returns the class of a qualified variable, `None` where it is of the top scope.
fn class_of(name: &str) -> Option<&str> {
    let (class, _) = name.rsplit_once("::")?;
    (!class.trim_matches(':').is_empty()).then_some(class)
}
