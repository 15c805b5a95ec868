//! The properties that a derived value inherits from its source values: the place where it was
//! written, and the marks of secrets.

use super::Value;
use crate::text::Span;

/// Why a value must not be shown: a set of marks, empty for a value that may be shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Secrecy {
    /// The value was made of decrypted text.
    pub decrypted: bool,
    /// The value belongs to a key whose `convert_to` may make it Sensitive, and it is not wrapped
    /// in `Data::Sensitive`.
    pub sensitive: bool,
}

impl Secrecy {
    /// No mark.
    pub const NONE: Secrecy = Secrecy { decrypted: false, sensitive: false };
    /// The mark of decrypted text.
    pub const DECRYPTED: Secrecy = Secrecy { decrypted: true, sensitive: false };
    /// The mark of values that `convert_to` may make Sensitive.
    pub const SENSITIVE: Secrecy = Secrecy { decrypted: false, sensitive: true };

    /// Returns the marks of this set and of `other`.
    pub fn union(self, other: Secrecy) -> Secrecy {
        Secrecy {
            decrypted: self.decrypted || other.decrypted,
            sensitive: self.sensitive || other.sensitive,
        }
    }

    /// Returns the two marks as the two lowest bits of a number.
    pub(super) fn bits(self) -> u8 {
        u8::from(self.decrypted) | u8::from(self.sensitive) << 1
    }

    /// Returns the marks that are the two lowest bits of a number.
    pub(super) fn from_bits(bits: u8) -> Secrecy {
        Secrecy { decrypted: bits & 1 != 0, sensitive: bits & 2 != 0 }
    }

    /// Whether there is any mark.
    pub fn is_any(self) -> bool {
        self != Secrecy::NONE
    }
}

/// The place where a value was written, and the marks of secrets: a derived value inherits both
/// from the values that it is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Provenance {
    origin: Option<Span>,
    secrecy: Secrecy,
}

impl Provenance {
    pub(super) fn new(origin: Option<Span>, secrecy: Secrecy) -> Provenance {
        Provenance { origin, secrecy }
    }

    /// Returns the provenance of a value that was not decrypted and is not made of other values.
    ///
    /// `origin` is the place in a file; `None` when no file holds the value.
    pub fn from_source(origin: Option<Span>) -> Provenance {
        Provenance { origin, secrecy: Secrecy::NONE }
    }

    /// Returns the provenance of a value that is made of decrypted text.
    pub fn from_decrypted(origin: Option<Span>) -> Provenance {
        Provenance { origin, secrecy: Secrecy::DECRYPTED }
    }

    /// Returns the provenance of a value that is computed from several others and holds none of
    /// them as a part. It has the marks of all of them, and the origin of the first.
    pub fn of_all(values: &[Value]) -> Provenance {
        Provenance {
            origin: values.first().and_then(|value| value.origin),
            secrecy: values.iter().map(Value::secrecy_of_parts).fold(Secrecy::NONE, Secrecy::union),
        }
    }

    /// Returns this origin, with the marks of this provenance and of `other`.
    pub fn with_marks(self, other: Provenance) -> Provenance {
        Provenance { origin: self.origin, secrecy: self.secrecy.union(other.secrecy) }
    }

    /// Returns this secrecy with another origin.
    pub fn with_origin(self, origin: Option<Span>) -> Provenance {
        Provenance { origin, ..self }
    }

    /// Whether the value must not be shown.
    pub fn is_secret(self) -> bool {
        self.secrecy.is_any()
    }

    /// Returns the reason why the value must not be shown.
    pub fn secrecy(self) -> Secrecy {
        self.secrecy
    }

    /// Returns the place in a file.
    pub fn origin(self) -> Option<Span> {
        self.origin
    }
}
