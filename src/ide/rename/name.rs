//! Names for keys: those that can be written at all places, and those that YAML wants in quotes.

use super::RenameError;
use crate::hiera::lookup::LOOKUP_OPTIONS;
use crate::yaml::psych::{Resolved, resolve_plain};

/// Characters of names besides letters and digits: none of them ends a token, a string of code or
/// a scalar of YAML, and none begins an escape.
const OTHERS: &str = "_:-/+@*&!?=~|<>";

/// Checks that a name can be written in data, tokens and code as it is.
pub(super) fn check(name: &str) -> Result<(), RenameError> {
    if name.is_empty() {
        return Err(RenameError::Invalid("it is empty"));
    }
    if name == LOOKUP_OPTIONS {
        return Err(RenameError::Invalid("`lookup_options` is a key of Hiera itself"));
    }
    if name.contains('.') {
        return Err(RenameError::Invalid("a dot separates the parts of a key"));
    }
    if !name.chars().all(|c| c.is_alphanumeric() || OTHERS.contains(c)) {
        return Err(RenameError::Invalid("blanks, quotes and brackets would end it"));
    }
    if name.starts_with(':') || name.ends_with(':') {
        return Err(RenameError::Invalid(
            "a colon at its beginning or end has a meaning of its own",
        ));
    }
    if name.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(RenameError::Invalid("digits alone are the number of an element"));
    }
    Ok(())
}

/// Whether YAML reads a plain scalar of this text as the text, as a key of any mapping.
pub(super) fn is_plain(name: &str) -> bool {
    let begins_plainly = name.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '/'));
    begins_plainly && resolve_plain(name) == Resolved::String
}

/// Whether HOCON reads an unquoted key of this text as the text.
pub(super) fn is_plain_in_hocon(name: &str) -> bool {
    name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}
