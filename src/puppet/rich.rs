//! Values that YAML cannot express and that `convert_to` makes: times, versions, regular
//! expressions, URIs, bytes and types.

use std::fmt;

use super::ruby::base64;
use super::types::DataType;
use std::sync::Arc;

pub(super) mod pattern;
pub(super) mod semver;
mod time;

pub use pattern::RegexPattern;
pub use semver::{SemanticVersion, VersionRange};
pub use time::{NANOS_PER_SECOND, civil_from_days, days_from_civil, timespan_text, timestamp_text};

/// A value that YAML cannot express and that `convert_to` makes.
#[derive(Clone, Debug, PartialEq)]
pub enum Rich {
    /// A point in time, in nanoseconds since 1970 (UTC).
    Timestamp(i128),
    /// A duration in nanoseconds.
    Timespan(i128),
    /// A version.
    SemVer(SemanticVersion),
    /// A range of versions.
    SemVerRange(VersionRange),
    /// A regular expression.
    Regexp(Arc<RegexPattern>),
    /// A URI, as written.
    Uri(String),
    /// Bytes.
    Binary(Vec<u8>),
    /// A data type.
    Type(DataType),
}

impl Rich {
    /// Returns the name of the value's type.
    pub fn type_name(&self) -> &'static str {
        match self {
            Rich::Timestamp(_) => "Timestamp",
            Rich::Timespan(_) => "Timespan",
            Rich::SemVer(_) => "SemVer",
            Rich::SemVerRange(_) => "SemVerRange",
            Rich::Regexp(_) => "Regexp",
            Rich::Uri(_) => "URI",
            Rich::Binary(_) => "Binary",
            Rich::Type(_) => "Type",
        }
    }

    /// Ruby's name for the value's class.
    pub fn class_name(&self) -> &'static str {
        match self {
            Rich::Timestamp(_) => "Puppet::Pops::Time::Timestamp",
            Rich::Timespan(_) => "Puppet::Pops::Time::Timespan",
            Rich::SemVer(_) => "SemanticPuppet::Version",
            Rich::SemVerRange(_) => "SemanticPuppet::VersionRange",
            Rich::Regexp(_) => "Regexp",
            Rich::Uri(_) => "URI::Generic",
            Rich::Binary(_) => "Puppet::Pops::Types::PBinaryType::Binary",
            Rich::Type(_) => "Puppet::Pops::Types::PAnyType",
        }
    }

    /// Returns the value's text beside the name of its type in JSON: Puppet's `String.new` of the
    /// value.
    pub fn to_text(&self) -> String {
        match self {
            // With letters beyond ASCII a regular expression has an option, and Puppet shows all
            // options.
            Rich::Regexp(pattern) if pattern.has_encoding() => {
                format!("(?-imx:{})", pattern.source())
            }
            Rich::Regexp(pattern) => pattern.source().to_owned(),
            other => other.to_string(),
        }
    }
}

/// Ruby's `to_s`.
impl fmt::Display for Rich {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Rich::Timestamp(nanos) => f.write_str(&timestamp_text(*nanos)),
            Rich::Timespan(nanos) => f.write_str(&timespan_text(*nanos)),
            Rich::SemVer(version) => version.fmt(f),
            Rich::SemVerRange(range) => range.fmt(f),
            Rich::Regexp(pattern) => f.write_str(&pattern.with_options()),
            Rich::Uri(text) => f.write_str(text),
            Rich::Binary(bytes) => f.write_str(&base64::encode(bytes)),
            Rich::Type(data_type) => data_type.fmt(f),
        }
    }
}
