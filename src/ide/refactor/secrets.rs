//! Secrets in refactorings: text that moves is sent to the editor, so Sensitive values stay in
//! their place.

use super::{DocumentEntry, RefactorContext};

/// The reason against a change that would repeat a secret.
pub(super) const REASON: &str = "the value is Sensitive, and the change would repeat it";

/// The reason against text that would leave a file of secrets, or enter one.
pub(super) const MIXED: &str =
    "one of the two files is for secrets, or decrypts them in another way";

/// Words in names of files and levels that hold secrets.
const NAMES: [&str; 7] = ["secret", "eyaml", "vault", "encrypted", "private", "sops", "gpg"];

/// Whether a name of a file or a level says that it holds secrets.
pub(super) fn names_secrets(name: &str) -> bool {
    let name = name.to_lowercase();
    NAMES.iter().any(|word| name.contains(word))
}

/// Whether a part of a text of data is encrypted.
pub(super) fn is_encrypted(text: &str) -> bool {
    text.contains("ENC[")
}

impl RefactorContext<'_> {
    /// Whether the values of a root key may be Sensitive.
    pub(super) fn is_sensitive(&self, root: &str) -> bool {
        self.snapshot.may_be_sensitive(root)
    }

    /// Whether text of an entry is encrypted.
    pub(super) fn is_encrypted(&self, entry: &DocumentEntry) -> bool {
        is_encrypted(&self.document.text_of(entry))
    }
}
