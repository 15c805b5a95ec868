//! The version of Puppet that the answers agree with.

/// A version of Puppet or OpenVox, with its setting `strict`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PuppetVersion {
    /// The major version: 7, 8, or 9 for OpenVox 9.
    pub major: u8,
    /// Puppet's setting `strict`.
    pub strict: Strict,
    /// The legacy facts of nodes.
    pub legacy_facts: LegacyFacts,
}

/// Whether nodes have legacy facts, such as `osfamily`. Since Puppet 8 the agents leave them out
/// unless their setting `include_legacy_facts` is on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LegacyFacts {
    /// The legacy facts that the sources of nodes have.
    #[default]
    AsGiven,
    /// The legacy facts that the sources of nodes have, also after an upgrade of Puppet.
    Included,
    /// No legacy facts, whatever the sources of nodes have.
    LeftOut,
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
        PuppetVersion {
            major,
            strict: if major >= 8 { Strict::Error } else { Strict::Warning },
            legacy_facts: LegacyFacts::AsGiven,
        }
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
