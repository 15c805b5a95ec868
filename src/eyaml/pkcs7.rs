//! PKCS#7 enveloped data, read and written as hiera-eyaml does: the key of the content encrypted with RSA, the
//! content with AES or triple DES in CBC mode. This module reads no files: its input are bytes and
//! PEM texts, its output plain bytes.
//!
//! Errors are OpenSSL's words, which hiera-eyaml passes on, wherever OpenSSL would fail, too.

use aes::cipher::{BlockDecryptMut, BlockEncryptMut, KeyIvInit, block_padding::Pkcs7};
use cms::cert::IssuerAndSerialNumber;
use cms::content_info::{CmsVersion, ContentInfo};
use cms::enveloped_data::{
    EncryptedContentInfo, EnvelopedData, KeyTransRecipientInfo, RecipientIdentifier, RecipientInfo,
    RecipientInfos,
};
use rsa::pkcs1::{DecodeRsaPrivateKey, DecodeRsaPublicKey};
use rsa::pkcs8::DecodePrivateKey;
use rsa::rand_core::{OsRng, RngCore};
use rsa::traits::PublicKeyParts;
use rsa::{Pkcs1v15Encrypt, RsaPrivateKey, RsaPublicKey};
use x509_cert::der::asn1::{Any, OctetString, SetOfVec};
use x509_cert::der::oid::ObjectIdentifier;
use x509_cert::der::{Decode, Encode, SliceReader};
use x509_cert::spki::AlgorithmIdentifierOwned;

use crate::puppet::ruby::base64;

const DATA: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.7.1");
const ENVELOPED_DATA: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.7.3");
const RSA: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.1");
const AES_128: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.16.840.1.101.3.4.1.2");
const AES_192: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.16.840.1.101.3.4.1.22");
const AES_256: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.16.840.1.101.3.4.1.42");
const TRIPLE_DES: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.3.7");

/// Longer keys take seconds for each value, and are not in use.
const MAX_KEY_BITS: usize = 8192;

/// OpenSSL's message for a wrong key and for damaged content alike.
const BAD_DECRYPT: &str = "bad decrypt";

/// A private key.
pub(super) struct PrivateKey(RsaPrivateKey);

impl PrivateKey {
    /// Reads a key in PEM, as `eyaml createkeys` writes it or in PKCS#8. Keys with a passphrase are
    /// not read.
    pub(super) fn from_pem(text: &str) -> Result<PrivateKey, String> {
        let key = match pem_block(text, &["RSA PRIVATE KEY", "PRIVATE KEY"]) {
            Some(("RSA PRIVATE KEY", der)) => RsaPrivateKey::from_pkcs1_der(&der).ok(),
            Some((_, der)) => RsaPrivateKey::from_pkcs8_der(&der).ok(),
            None => None,
        };
        let key = key.ok_or_else(|| "Neither PUB key nor PRIV key: unsupported".to_owned())?;
        if key.n().bits() > MAX_KEY_BITS {
            return Err(format!("hiera-ls reads no RSA key of more than {MAX_KEY_BITS} bits"));
        }
        Ok(PrivateKey(key))
    }
}

/// A certificate, with the parts that identify the ciphertexts for its owner.
pub(super) struct Certificate {
    certificate: x509_cert::Certificate,
    key: RsaPublicKey,
}

impl Certificate {
    /// Reads a certificate in PEM.
    pub(super) fn from_pem(text: &str) -> Result<Certificate, String> {
        let Some((_, der)) =
            pem_block(text, &["CERTIFICATE", "X509 CERTIFICATE", "TRUSTED CERTIFICATE"])
        else {
            return Err("PEM_read_bio_X509: no start line".into());
        };
        // A trusted certificate has more behind it.
        let read = SliceReader::new(&der)
            .and_then(|mut reader| x509_cert::Certificate::decode(&mut reader));
        let certificate = read.map_err(|_| "PEM_read_bio_X509: nested asn1 error".to_owned())?;
        let key =
            certificate.tbs_certificate.subject_public_key_info.subject_public_key.raw_bytes();
        let key = RsaPublicKey::from_pkcs1_der(key)
            .map_err(|_| "the certificate has no RSA key".to_owned())?;
        Ok(Certificate { certificate, key })
    }

    fn is_meant_by(&self, recipient: &RecipientIdentifier) -> bool {
        let own = &self.certificate.tbs_certificate;
        match recipient {
            RecipientIdentifier::IssuerAndSerialNumber(named) => {
                named.issuer == own.issuer && named.serial_number == own.serial_number
            }
            RecipientIdentifier::SubjectKeyIdentifier(_) => false,
        }
    }
}

/// Returns the plain bytes of `message`, which is DER; bytes behind it are not read.
///
/// Without a certificate the first recipient counts whose key this private key can decrypt.
pub(super) fn decrypt(
    message: &[u8],
    key: &PrivateKey,
    certificate: Option<&Certificate>,
) -> Result<Vec<u8>, String> {
    let envelope = read_envelope(message)?;
    if let Some(certificate) = certificate
        && (key.0.n(), key.0.e()) != (certificate.key.n(), certificate.key.e())
    {
        return Err("private key does not match certificate".into());
    }
    let recipients = envelope.recip_infos.0.iter().filter_map(|recipient| match recipient {
        RecipientInfo::Ktri(recipient) if recipient.key_enc_alg.oid == RSA => Some(recipient),
        _ => None,
    });
    let meant = recipients
        .filter(|recipient| certificate.is_none_or(|own| own.is_meant_by(&recipient.rid)));
    let mut result = Err("no recipient matches certificate".to_owned());
    for recipient in meant {
        result = match key.0.decrypt(Pkcs1v15Encrypt, recipient.enc_key.as_bytes()) {
            Ok(content_key) => decrypt_content(&envelope.encrypted_content, &content_key),
            Err(_) => Err(BAD_DECRYPT.into()),
        };
        if result.is_ok() {
            break;
        }
    }
    result
}

fn read_envelope(message: &[u8]) -> Result<EnvelopedData, String> {
    let info = SliceReader::new(message)
        .and_then(|mut reader| ContentInfo::decode(&mut reader))
        .map_err(|_| unreadable_message())?;
    if info.content_type != ENVELOPED_DATA {
        return Err("wrong content type".into());
    }
    info.content.decode_as::<EnvelopedData>().map_err(|_| unreadable_message())
}

/// OpenSSL reads a message that is not valid DER as PEM, and then misses PEM's first line.
fn unreadable_message() -> String {
    "Could not parse the PKCS7: no start line".to_owned()
}

fn decrypt_content(content: &EncryptedContentInfo, key: &[u8]) -> Result<Vec<u8>, String> {
    let algorithm = &content.content_enc_alg;
    let iv = algorithm
        .parameters
        .as_ref()
        .and_then(|parameters| parameters.decode_as::<OctetString>().ok());
    let (Some(iv), Some(bytes)) = (iv, &content.encrypted_content) else {
        return Err(BAD_DECRYPT.into());
    };
    let (iv, bytes) = (iv.as_bytes(), bytes.as_bytes());
    match algorithm.oid {
        AES_256 => decrypt_cbc::<cbc::Decryptor<aes::Aes256>>(key, iv, bytes),
        AES_192 => decrypt_cbc::<cbc::Decryptor<aes::Aes192>>(key, iv, bytes),
        AES_128 => decrypt_cbc::<cbc::Decryptor<aes::Aes128>>(key, iv, bytes),
        TRIPLE_DES => decrypt_cbc::<cbc::Decryptor<des::TdesEde3>>(key, iv, bytes),
        other => Err(format!("hiera-ls does not know the cipher {other}")),
    }
}

fn decrypt_cbc<C: KeyIvInit + BlockDecryptMut>(
    key: &[u8],
    iv: &[u8],
    bytes: &[u8],
) -> Result<Vec<u8>, String> {
    let cipher = C::new_from_slices(key, iv).map_err(|_| BAD_DECRYPT.to_owned())?;
    cipher.decrypt_padded_vec_mut::<Pkcs7>(bytes).map_err(|_| BAD_DECRYPT.to_owned())
}

/// Returns a message for the owner of a certificate, in DER: AES-256 with a new key, as hiera-eyaml
/// makes it.
///
/// Errors: the certificate's key is too long or too short for a message.
pub(super) fn encrypt(plain: &[u8], certificate: &Certificate) -> Result<Vec<u8>, String> {
    if certificate.key.n().bits() > MAX_KEY_BITS {
        return Err(format!("hiera-ls reads no RSA key of more than {MAX_KEY_BITS} bits"));
    }
    let (mut key, mut iv) = ([0u8; 32], [0u8; 16]);
    OsRng.try_fill_bytes(&mut key).map_err(|error| encryption_failure(&error))?;
    OsRng.try_fill_bytes(&mut iv).map_err(|error| encryption_failure(&error))?;
    let content = cbc::Encryptor::<aes::Aes256>::new(&key.into(), &iv.into())
        .encrypt_padded_vec_mut::<Pkcs7>(plain);
    let sealed = certificate
        .key
        .encrypt(&mut OsRng, Pkcs1v15Encrypt, &key)
        .map_err(|error| encryption_failure(&error))?;
    build_message(certificate, &iv, content, sealed).map_err(|error| encryption_failure(&error))
}

fn encryption_failure(error: &dyn std::fmt::Display) -> String {
    format!("the value cannot be encrypted: {error}")
}

/// Puts an encrypted content and its encrypted key together.
fn build_message(
    certificate: &Certificate,
    iv: &[u8],
    content: Vec<u8>,
    sealed: Vec<u8>,
) -> x509_cert::der::Result<Vec<u8>> {
    let own = &certificate.certificate.tbs_certificate;
    let recipient = KeyTransRecipientInfo {
        version: CmsVersion::V0,
        rid: RecipientIdentifier::IssuerAndSerialNumber(IssuerAndSerialNumber {
            issuer: own.issuer.clone(),
            serial_number: own.serial_number.clone(),
        }),
        key_enc_alg: algorithm_identifier(RSA, Any::null()),
        enc_key: OctetString::new(sealed)?,
    };
    let iv = Any::encode_from(&OctetString::new(iv)?)?;
    let mut recipients = SetOfVec::new();
    recipients.insert(RecipientInfo::Ktri(recipient))?;
    let envelope = EnvelopedData {
        version: CmsVersion::V0,
        originator_info: None,
        recip_infos: RecipientInfos(recipients),
        encrypted_content: EncryptedContentInfo {
            content_type: DATA,
            content_enc_alg: algorithm_identifier(AES_256, iv),
            encrypted_content: Some(OctetString::new(content)?),
        },
        unprotected_attrs: None,
    };
    let content = Any::encode_from(&envelope)?;
    ContentInfo { content_type: ENVELOPED_DATA, content }.to_der()
}

fn algorithm_identifier(
    oid: ObjectIdentifier,
    parameters: Any,
) -> x509_cert::spki::AlgorithmIdentifier<Any> {
    AlgorithmIdentifierOwned { oid, parameters: Some(parameters) }
}

/// Reads the first block of PEM with one of these labels: its label and its bytes. Other text
/// around it is passed over, as OpenSSL does.
fn pem_block<'l>(text: &str, labels: &[&'l str]) -> Option<(&'l str, Vec<u8>)> {
    let mut rest = text;
    while let Some(start) = rest.find("-----BEGIN ") {
        rest = &rest[start + "-----BEGIN ".len()..];
        let label = &rest[..rest.find("-----")?];
        let body = &rest[label.len() + 5..];
        let end = body.find(&format!("-----END {label}-----"))?;
        if let Some(label) = labels.iter().find(|known| **known == label) {
            return Some((label, base64::decode(&body[..end])));
        }
        rest = &body[end..];
    }
    None
}

#[cfg(test)]
mod tests;
