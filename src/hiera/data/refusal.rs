//! Why Puppet refuses a data file.

use std::fmt;

use crate::text::Limit;

/// Why Puppet refuses a whole data file. `Display` gives its message, without the file's name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileRefusal {
    /// Puppet cannot read the file.
    Unreadable(String),
    /// hiera-ls may not read the file, or it is too large to be read here.
    Unread(String),
    /// The text is no YAML, JSON or HOCON: the reader's message with the place.
    Syntax(String),
    /// A value of a Ruby class that the reader does not load.
    Class(String),
    /// An alias without an anchor before it.
    UnknownAlias(String),
    /// An alias within the value of its own anchor.
    Cycle,
    /// Ruby fails while it makes a value: its message.
    Ruby(String),
    /// hiera-ls reads no further, though Puppet would.
    Bound(Limit),
}

impl FileRefusal {
    /// Returns whether it is hiera-ls that does not read the file, which Puppet may be able to
    /// read.
    pub fn is_ours(&self) -> bool {
        matches!(self, FileRefusal::Unread(_) | FileRefusal::Bound(_))
    }

    /// Returns whether Puppet names the file before the message: only for messages of the reader
    /// itself.
    pub fn names_file(&self) -> bool {
        match self {
            FileRefusal::Unreadable(_)
            | FileRefusal::Unread(_)
            | FileRefusal::Syntax(_)
            | FileRefusal::Class(_)
            | FileRefusal::Bound(_) => true,
            FileRefusal::UnknownAlias(_) | FileRefusal::Cycle | FileRefusal::Ruby(_) => false,
        }
    }

    /// Returns whether the message quotes a part of a value: a tag, an alias, or text that Ruby refuses.
    pub fn may_quote_value(&self) -> bool {
        match self {
            FileRefusal::Class(_) => !self.is_for_a_time(),
            FileRefusal::UnknownAlias(_) | FileRefusal::Ruby(_) => true,
            FileRefusal::Unreadable(_)
            | FileRefusal::Unread(_)
            | FileRefusal::Syntax(_)
            | FileRefusal::Cycle
            | FileRefusal::Bound(_) => false,
        }
    }

    /// Returns the message for the value of a secret, without its parts.
    pub fn masked_message(&self) -> String {
        match self {
            FileRefusal::UnknownAlias(_) => "an unknown alias".to_owned(),
            _ if self.may_quote_value() => "a tag that it does not load".to_owned(),
            _ => self.to_string(),
        }
    }

    /// Returns whether the refusal is for a plain scalar that YAML takes for a date or a time.
    pub fn is_for_a_time(&self) -> bool {
        matches!(self, FileRefusal::Class(class) if class == "Date" || class == "Time")
    }
}

impl fmt::Display for FileRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FileRefusal::Unreadable(message)
            | FileRefusal::Unread(message)
            | FileRefusal::Syntax(message)
            | FileRefusal::Ruby(message) => f.write_str(message),
            FileRefusal::Bound(limit) => write!(f, "{limit}, and hiera-ls reads no further"),
            FileRefusal::Class(class) => write!(f, "Tried to load unspecified class: {class}"),
            FileRefusal::UnknownAlias(name) => write!(f, "Unknown alias: {name}"),
            FileRefusal::Cycle => f.write_str("stack level too deep"),
        }
    }
}
