//! Reasons to refuse a rename. Places are `path:line`, the path relative to the environment and the
//! line from 1; of a place that is a whole file, the path alone.

use std::fmt;
use std::sync::Arc;

/// The reason why a rename is refused. `Display` is the message for the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RenameError {
    /// There is no name of a key at the place.
    NoName,
    /// The request was cancelled.
    Cancelled,
    /// The name is a variable, which facts or code set.
    Variable,
    /// `lookup_options` is Hiera's own key.
    Reserved,
    /// An element of a list has a number, and no name.
    Element,
    /// The name is a pattern of `lookup_options`.
    Pattern(Arc<str>),
    /// The new name is none that can be written at all places. The reason.
    Invalid(&'static str),
    /// The new name is in use: the place.
    Taken(String, String),
    /// The code of the module that may read the key is not in the workspace.
    AbsentModule(String),
    /// A manifest of the module could not be read in full.
    UnreadModule(String),
    /// The place is in a module that a tool installed.
    ThirdParty(String),
    /// Code at this place computes a key, which may be the key to rename.
    Computed(String),
    /// The file cannot be read, or Puppet refuses it, so that it may name the key.
    Unreadable(String),
    /// The file of this place has a checksum over its content.
    Sealed(String),
    /// A pattern of `lookup_options` matches only one of both names.
    Options(String),
    /// Tokens decide which keys entries of `lookup_options` are for.
    OpenOptions(String),
    /// A level reads only one of both names: the name of the level.
    Level(String),
    /// Data of a module would have to move to another module: the name of the first one.
    Module(String),
    /// The key is a parameter of this class, and the new name is not.
    OtherClass(String),
    /// Another class or file may use the parameter, or the class may use the new name. The reason.
    Parameter(String),
    /// The name is written with escapes, or is shared by an anchor, at this place.
    Written(String),
    /// The value is asked for as a whole at this place.
    Whole(String),
    /// The file lies outside the opened folders, or behind a link that leads out of them.
    Outside(String),
    /// A member of a value whose readers are not known. The reason.
    Member(&'static str),
}

impl fmt::Display for RenameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use RenameError as Error;
        if !matches!(self, Error::NoName | Error::Cancelled) {
            f.write_str("not renamed: ")?;
        }
        match self {
            Error::NoName => f.write_str("there is no key here that could be renamed"),
            Error::Cancelled => f.write_str("the request was cancelled"),
            Error::Variable => {
                f.write_str("facts or code set this variable: only keys of data can be renamed")
            }
            Error::Reserved => f.write_str("`lookup_options` is a key of Hiera itself"),
            Error::Element => f.write_str("an element of a list has no name"),
            Error::Pattern(pattern) => {
                write!(f, "`{pattern}` is a pattern, which may match several keys")
            }
            Error::Invalid(reason) => write!(f, "this is no name for a key: {reason}"),
            Error::Taken(name, place) => write!(f, "`{name}` is already used in {place}"),
            Error::AbsentModule(module) => {
                write!(
                    f,
                    "the code of the module `{module}`, which may read the key, is not in the workspace"
                )
            }
            Error::UnreadModule(module) => {
                write!(
                    f,
                    "a manifest of the module `{module}`, which may read the key, cannot be read in full"
                )
            }
            Error::Outside(path) => {
                write!(f, "{path} lies outside the opened folders")
            }
            Error::ThirdParty(place) => {
                write!(f, "{place} names the key and belongs to an installed module")
            }
            Error::Computed(place) => write!(f, "{place} computes a name that may be this one"),
            Error::Unreadable(path) => write!(f, "{path} cannot be read, and may name the key"),
            Error::Sealed(place) => {
                write!(f, "the file of {place} is sealed with a checksum by SOPS")
            }
            Error::Options(pattern) => {
                write!(
                    f,
                    "the pattern `{pattern}` of lookup_options matches only one of both names"
                )
            }
            Error::OpenOptions(path) => {
                write!(f, "tokens decide the entries of lookup_options in {path}")
            }
            Error::Level(level) => write!(f, "the level `{level}` reads only one of both names"),
            Error::Module(module) => {
                write!(f, "the data of the module `{module}` may only have keys of this module")
            }
            Error::OtherClass(class) => {
                write!(f, "the key is a parameter of `{class}`: its new name must be one, too")
            }
            Error::Parameter(reason) => f.write_str(reason),
            Error::Written(place) => {
                write!(f, "the name at {place} is written with escapes, or an anchor shares it")
            }
            Error::Whole(place) => {
                write!(f, "{place} asks for the whole value, whose members it may use")
            }
            Error::Member(reason) => write!(f, "not all uses of this member are known: {reason}"),
        }
    }
}
