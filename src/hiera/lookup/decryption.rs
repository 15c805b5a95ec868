//! The lookup's half of eyaml: which texts are decrypted with which keys, and how that can fail.

use super::Resolver;
use crate::hiera::config::Level;
use crate::hiera::error::{LookupError, LookupErrorKind, Undecryptable};
use crate::hiera::eyaml::{Decryptor, EncryptedPart, KeyPair, encrypted_parts, is_attempted};
use crate::hiera::hierarchy::options_of;
use crate::puppet::ruby::base64;
use crate::puppet::value::{Data, Hash, Member, Provenance, Value};
use crate::text::FilePath;

/// Where the value being decrypted was found; errors name it.
pub(super) struct DecryptionSite<'a> {
    /// The level.
    pub level: &'a Level,
    /// The file.
    pub path: &'a FilePath,
    /// The root key.
    pub root: &'a str,
}

impl Resolver<'_> {
    /// Returns the value with its encrypted strings decrypted; as it is where nothing may be
    /// decrypted. Keys of hashes stay.
    ///
    /// Errors: [`LookupErrorKind::Decryption`], and Ruby's error for a scheme whose plug-in is not
    /// there. For an editor such a part stays as it is: the fleet may have the plug-in.
    pub(super) fn decrypt_value(
        &self,
        value: &Value,
        found: &DecryptionSite<'_>,
    ) -> Result<Value, LookupError> {
        match self.ctx.decryptor {
            Some(decryptor) => self.decrypted_by(decryptor, value, found),
            None => Ok(value.clone()),
        }
    }

    fn decrypted_by(
        &self,
        decryptor: &dyn Decryptor,
        value: &Value,
        found: &DecryptionSite<'_>,
    ) -> Result<Value, LookupError> {
        match value.data() {
            Data::String(text) if is_attempted(text) => {
                self.decrypted_text(decryptor, text, value.provenance(), found)
            }
            Data::Array(items) => {
                let items: Result<Vec<Value>, LookupError> =
                    items.iter().map(|item| self.decrypted_by(decryptor, item, found)).collect();
                Ok(Value::new_array(items?, value.provenance()))
            }
            Data::Hash(hash) => {
                let members: Result<Hash, LookupError> = hash
                    .iter()
                    .map(|(key, member)| {
                        let value = self.decrypted_by(decryptor, &member.value, found)?;
                        Ok((key.clone(), Member { key_origin: member.key_origin, value }))
                    })
                    .collect();
                Ok(Value::hash(members?, value.provenance()))
            }
            _ => Ok(value.clone()),
        }
    }

    fn decrypted_text(
        &self,
        decryptor: &dyn Decryptor,
        text: &str,
        from_file: Provenance,
        found: &DecryptionSite<'_>,
    ) -> Result<Value, LookupError> {
        let origin = from_file.origin();
        let encrypted = encrypted_parts(text);
        let mut plain: Vec<u8> = Vec::with_capacity(text.len());
        let mut from = 0;
        let mut any = false;
        for part in &encrypted {
            plain.extend_from_slice(&text.as_bytes()[from..part.range.start]);
            from = part.range.end;
            if !part.is_pkcs7() && self.ctx.tolerant {
                plain.extend_from_slice(&text.as_bytes()[part.range.clone()]);
                continue;
            }
            plain.extend(self.decrypted_part(decryptor, part, found, &|reason| {
                let (key, path) = (found.root.to_owned(), found.path.clone());
                let what = Undecryptable { text: text.to_owned(), key, path, reason };
                LookupError::new(LookupErrorKind::Decryption(what), origin)
            })?);
            any = true;
        }
        plain.extend_from_slice(&text.as_bytes()[from..]);
        plain.truncate(without_line_end(&plain));
        let data = match String::from_utf8(plain) {
            Ok(text) => Data::String(text.into()),
            Err(error) => Data::Binary(error.into_bytes().into()),
        };
        let from = if any { Provenance::from_decrypted(origin) } else { from_file };
        Ok(Value::new(data, from))
    }

    fn decrypted_part(
        &self,
        decryptor: &dyn Decryptor,
        part: &EncryptedPart<'_>,
        found: &DecryptionSite<'_>,
        error: &dyn Fn(String) -> LookupError,
    ) -> Result<Vec<u8>, LookupError> {
        if part.body.trim().is_empty() {
            return Err(error("undefined method `[]' for nil:NilClass".into())); // a bug of the gem
        }
        if let Some(scheme) = part.scheme.filter(|_| !part.is_pkcs7()) {
            let file = format!("hiera/backend/eyaml/encryptors/{}", scheme.to_ascii_lowercase());
            return Err(LookupError::crash(format!("cannot load such file -- {file}")));
        }
        let puppet = (!self.ctx.tolerant).then_some(self.ctx.puppet);
        let options = options_of(found.level, self.ctx.scope, puppet)?;
        let keys = KeyPair::from_options(&options).map_err(error)?;
        decryptor.decrypt(&base64::decode(part.body), &keys).map_err(error)
    }
}

/// Returns how many bytes are left without one line end, as Ruby's `chomp` takes it.
fn without_line_end(bytes: &[u8]) -> usize {
    match bytes {
        [.., b'\r', b'\n'] => bytes.len() - 2,
        [.., b'\n' | b'\r'] => bytes.len() - 1,
        _ => bytes.len(),
    }
}
