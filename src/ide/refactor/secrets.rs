//! Secrets in refactorings: text that moves is sent to the editor, so Sensitive values stay in
//! their place.

use super::{DocumentEntry, RefactorContext};
use crate::puppet::types;

/// The reason against a change that would repeat a secret.
pub(super) const REASON: &str = "the value is Sensitive, and the change would repeat it";

impl RefactorContext<'_> {
    /// Whether options or the type of a parameter make the values of a root key Sensitive.
    pub(super) fn is_sensitive(&self, root: &str) -> bool {
        let index = self.snapshot.manifests(self.environment);
        let wants_sensitive = || {
            let text = &index.asking_parameter(root)?.parameter.data_type.as_ref()?.text;
            let data_type = index
                .judged_type(text)
                .or_else(|| types::parse(text).ok().map(std::sync::Arc::new));
            data_type.map(|data_type| data_type.holds_sensitive())
        };
        self.snapshot.keys().may_be_sensitive(root) || wants_sensitive() == Some(true)
    }

    /// Whether text of an entry is encrypted.
    pub(super) fn is_encrypted(&self, entry: &DocumentEntry) -> bool {
        self.document.text_of(entry).contains("ENC[")
    }
}
