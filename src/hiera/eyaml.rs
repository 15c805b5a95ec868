//! Encrypted parts of strings, `ENC[…]`: finding them as hiera-eyaml does, and the interface for
//! decrypting one.
//!
//! This module decrypts nothing: a [`Decryptor`] does. Source of the rules: semantics 9.4 and
//! hiera-eyaml 3.3.

use std::ops::Range;

use crate::puppet::value::{Data, Hash, Provenance, Value};

/// A decryptor with the user's own keys, where the user allowed their use.
pub trait Decryptor {
    /// Returns the plain bytes of a ciphertext, for the keys that a level's options name.
    ///
    /// Errors: why not, in the words that hiera-eyaml would use where it would fail, too.
    fn decrypt(&self, ciphertext: &[u8], keys: &KeyPair) -> Result<Vec<u8>, String>;
}

/// The keys that the options of a level name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyPair {
    /// The private key.
    pub private: KeySource,
    /// The certificate with the public key; hiera-eyaml wants it for decrypting, too.
    pub public: KeySource,
}

/// Where a key is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeySource {
    /// The name of the environment variable that holds the key; the variable counts where it is
    /// set.
    pub variable: Option<String>,
    /// The file that holds the key.
    pub file: Option<String>,
}

/// A part of a string that hiera-eyaml would decrypt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EncryptedPart<'t> {
    /// The bytes of the encrypted part in the string, from `ENC[` to `]`.
    pub range: Range<usize>,
    /// The scheme as written; PKCS7 if there is none.
    pub scheme: Option<&'t str>,
    /// The base64 text, blanks and line ends included.
    pub body: &'t str,
}

impl EncryptedPart<'_> {
    /// Returns whether the part is encrypted with PKCS7, the one scheme that needs no plug-in.
    pub fn is_pkcs7(&self) -> bool {
        self.scheme.is_none_or(|scheme| scheme.eq_ignore_ascii_case("PKCS7"))
    }
}

/// Returns whether hiera-eyaml looks for encrypted parts in a string at all: `ENC[` and a `]`
/// behind it must stand on one line.
pub fn is_attempted(text: &str) -> bool {
    text.split('\n').any(|line| line.find("ENC[").is_some_and(|at| line[at..].contains(']')))
}

/// Returns whether a string in the value is one that hiera-eyaml would decrypt. Keys of hashes are
/// not.
pub(super) fn has_encrypted_text(value: &Value) -> bool {
    match value.data() {
        Data::String(text) => is_attempted(text),
        Data::Array(items) => items.iter().any(has_encrypted_text),
        Data::Hash(hash) => hash.iter().any(|(_, member)| has_encrypted_text(&member.value)),
        Data::Sensitive(inner) => has_encrypted_text(inner),
        _ => false,
    }
}

/// Returns the parts of a string that hiera-eyaml decrypts if it decrypts any, in order.
pub fn encrypted_parts(text: &str) -> Vec<EncryptedPart<'_>> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(start) = text[from..].find("ENC[").map(|at| from + at) {
        from = start + 4;
        if let Some(part) = parse_part(text, start) {
            from = part.range.end;
            found.push(part);
        }
    }
    found
}

fn parse_part(text: &str, start: usize) -> Option<EncryptedPart<'_>> {
    let inner = &text[start + 4..];
    let word =
        inner.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
    let scheme = (word > 0 && inner[word..].starts_with(',')).then(|| &inner[..word]);
    let body = &inner[scheme.map_or(0, |scheme| scheme.len() + 1)..];
    let len = body
        .bytes()
        .take_while(|byte| {
            byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b' ' | b'=' | b'\n')
        })
        .count();
    let end = start + 4 + (inner.len() - body.len()) + len;
    (len > 0 && body[len..].starts_with(']')).then_some(EncryptedPart {
        range: start..end + 1,
        scheme,
        body: &body[..len],
    })
}

impl KeyPair {
    /// Returns the keys that a level's options name; their tokens have been replaced.
    ///
    /// Errors: hiera-eyaml's words for an option that is missing or no string.
    pub fn from_options(options: &Hash) -> Result<KeyPair, String> {
        let public = KeySource::public_of(options)?;
        Ok(KeyPair { private: KeySource::from_options(options, "private_key")?, public })
    }
}

impl KeySource {
    /// Returns the public key that a level's options name; it is all that encrypting needs.
    ///
    /// Errors: as those of [`KeyPair::from_options`].
    pub fn public_of(options: &Hash) -> Result<KeySource, String> {
        KeySource::from_options(options, "public_key")
    }

    fn from_options(options: &Hash, name: &str) -> Result<KeySource, String> {
        let source = KeySource {
            variable: read_option(&format!("pkcs7_{name}_env_var"), options)?,
            file: read_option(&format!("pkcs7_{name}"), options)?,
        };
        match &source {
            KeySource { variable: None, file: None } => Err(format!("pkcs7_{name} is not defined")),
            _ => Ok(source),
        }
    }
}

fn read_option(name: &str, options: &Hash) -> Result<Option<String>, String> {
    match options.get(name).map(|member| member.value.data()) {
        None | Some(Data::Null | Data::Bool(false)) => Ok(None),
        Some(Data::String(text)) => Ok(Some(text.to_string())),
        Some(other) => {
            let class = Value::new(other.clone(), Provenance::from_source(None)).class_name();
            Err(format!("no implicit conversion of {class} into String"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::puppet::value::Provenance;

    fn shown(text: &str) -> Vec<(Option<&str>, &str)> {
        encrypted_parts(text).into_iter().map(|part| (part.scheme, part.body)).collect()
    }

    #[test]
    fn parts_are_what_the_gem_s_pattern_finds() {
        assert_eq!(shown("é ENC[PKCS7,aa==] ENC[bb]x"), [(Some("PKCS7"), "aa=="), (None, "bb")]);
        assert_eq!(shown("ENC[PKCS7,a\n b]"), [(Some("PKCS7"), "a\n b")]);
        for none in [
            "ENC[PKCS7,not base64!]",
            "xENC[nope",
            "DEC::PKCS7[foo]!",
            "ENC[]",
            "ENC[PKCS7,]",
            "ENC[a-b,cc]",
        ] {
            assert_eq!(shown(none), [], "{none}");
        }
        // The search goes on behind an `ENC[` that begins no encrypted part.
        assert_eq!(shown("ENC[ENC[aa]"), [(None, "aa")]);
    }

    #[test]
    fn one_encrypted_text_of_a_list_or_a_hash_suffices() {
        let text = |text: &str| Value::new_string(text, Provenance::from_source(None));
        let list = |items: &[&str]| {
            let items = items.iter().map(|item| text(item)).collect();
            Value::new_array(items, Provenance::from_source(None))
        };
        assert!(has_encrypted_text(&list(&["plain", "ENC[PKCS7,aa==]"])));
        assert!(!has_encrypted_text(&list(&["plain", "]ENC["])));
        let nested = vec![text("plain"), list(&["ENC[PKCS7,aa==]", "plain"])];
        assert!(has_encrypted_text(&Value::new_array(nested, Provenance::from_source(None))));
    }

    #[test]
    fn a_string_is_left_alone_unless_a_line_holds_both_ends() {
        assert!(is_attempted("x\nENC[nothing] y"));
        assert!(!is_attempted("ENC[PKCS7,aa\nbb]"));
        assert!(!is_attempted("]ENC["));
    }
}
