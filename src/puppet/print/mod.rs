//! Prints values: YAML for people, JSON for programs. Secrets stay hidden unless the caller asks
//! for them.

mod json;
mod scalar;
#[cfg(test)]
mod tests;
mod yaml;

pub use json::{json_string, json_text, print_json};
pub use scalar::{quote_scalar, quote_single};
pub use yaml::{
    FLOW_WIDTH, YamlLine, compact_lines, entry_lines, print_inline, print_yaml, with_comments,
    yaml_lines,
};

use super::value::{Secrecy, Value};
use crate::text::CancelToken;

/// How values are shown.
#[derive(Clone, Copy, Debug, Default)]
pub struct PrintOptions<'a> {
    /// Write the contents of Sensitive values, and values that `convert_to` may make Sensitive.
    pub reveal_sensitive: bool,
    /// Write values that `convert_to` may make Sensitive, as long as they are not: explanations of
    /// Puppet show these, and redact Sensitive values.
    pub reveal_marked: bool,
    /// Write decrypted texts.
    pub reveal_decrypted: bool,
    /// Write a mark in place of encrypted text.
    pub mask_encrypted: bool,
    /// Stop after so many lines; one more line then marks the cut.
    pub max_lines: Option<usize>,
    /// Stop writing JSON once it is longer than so many bytes, for callers that show its beginning
    /// only.
    pub max_json: Option<usize>,
    /// Cancels the printing; `None` for never.
    pub cancel: Option<&'a CancelToken>,
}

/// The text shown for a Sensitive value, as in Puppet.
pub const REDACTED: &str = "Sensitive [value redacted]";
/// The text shown for a decrypted text, or for a text made of one.
pub const DECRYPTED: &str = "ENC[decrypted]";

impl PrintOptions<'_> {
    /// Returns the error message with marks in place of encrypted texts, if these are masked.
    pub fn mask_message(&self, message: String) -> String {
        if self.mask_encrypted { mask_encrypted(&message) } else { message }
    }

    /// Whether a mark takes the place of an encrypted part of this text.
    fn masks_parts_of(&self, text: &str) -> bool {
        self.mask_encrypted && text.contains("ENC[")
    }

    fn is_enough_json(&self, out: &str) -> bool {
        self.max_json.is_some_and(|max| out.len() > max) || self.is_cancelled()
    }

    fn is_cancelled(&self) -> bool {
        self.cancel.is_some_and(CancelToken::is_cancelled)
    }

    /// Returns the text written in place of a value with these marks; `None` where it may be shown.
    pub fn mark_for(&self, secrecy: Secrecy) -> Option<&'static str> {
        if secrecy.decrypted && !self.reveal_decrypted {
            Some(DECRYPTED)
        } else if secrecy.sensitive && !self.reveal_sensitive && !self.reveal_marked {
            Some(REDACTED)
        } else {
            None
        }
    }

    /// Whether a mark takes the place of this value, parts and all.
    fn is_hidden(&self, value: &Value) -> bool {
        self.mark_for(value.secrecy()).is_some()
    }
}

/// Returns the value as the text that it has within a string, or a mark if that text is a secret.
pub fn print_text(value: &Value, options: &PrintOptions<'_>) -> String {
    match options.mark_for(value.secrecy_of_parts()) {
        Some(mark) => mark.to_owned(),
        None => value.to_text().into_owned(),
    }
}

/// Returns the text with each encrypted part replaced by a mark.
pub fn mask_encrypted(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(start) = rest.find("ENC[") {
        out.push_str(&rest[..start]);
        out.push_str("ENC[encrypted]");
        rest = rest[start..].find(']').map_or("", |end| &rest[start + end + 1..]);
    }
    out.push_str(rest);
    out
}
