//! The version of Puppet that the answers agree with.

/// A version of Puppet or OpenVox, with its setting `strict`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PuppetVersion {
    /// The major version: 7, 8, or 9 for OpenVox 9.
    pub major: u8,
    /// Puppet's setting `strict`.
    pub strict: Strict,
}

/// The values of Puppet's setting `strict`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strict {
    /// Undefined variables are empty texts, without a warning.
    Off,
    /// An undefined variable is an empty text, with a warning.
    Warning,
    /// An undefined variable makes the lookup fail.
    Error,
}

impl PuppetVersion {
    /// Returns the version with its own default of `strict`: `error` since Puppet 8, before it
    /// `warning`.
    pub fn of_major(major: u8) -> PuppetVersion {
        PuppetVersion { major, strict: if major >= 8 { Strict::Error } else { Strict::Warning } }
    }

    /// Returns the product's name in its own messages.
    pub fn vendor_name(self) -> &'static str {
        if self.major >= 9 { "OpenVox" } else { "Puppet" }
    }
}

impl Default for PuppetVersion {
    fn default() -> PuppetVersion {
        PuppetVersion::of_major(8)
    }
}
