//! The user's own keys for values of eyaml: whether they may be used, where they are read from, and what was decrypted with them.
//!
//! Nothing here happens unless the *user* switches it on: a repository could name any file as a key, and its values could be anyone's.
//! Keys and decrypted values are held in memory only, and no message tells them.

mod pkcs7;

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use super::fs::{Entry, FileSystem, ReadError, Stamp, environment_variable};
use crate::hiera::eyaml::{Decryptor, KeyPair, KeySource};
use crate::text::FilePath;
use pkcs7::{Certificate, PrivateKey};

/// What the user says about encrypted values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EyamlConfig {
    /// Whether values are decrypted.
    pub decrypt: bool,
    /// Whether decrypted values are shown.
    pub reveal: bool,
    /// The private key to use in place of those that the options of levels name.
    pub private_key: Option<FilePath>,
    /// The same for the certificate with the public key.
    pub public_key: Option<FilePath>,
    /// Folders outside the workspace that options of levels may name keys in; `/` is all of them.
    pub key_folders: Vec<FilePath>,
}

/// Keys are short; what is longer is none.
const MAX_KEY_FILE: u64 = 64 << 10;
/// How many bytes of decrypted values are remembered: each costs a millisecond to decrypt.
const MAX_REMEMBERED: usize = 8 << 20;

/// Keys that were read, and what was decrypted with them.
pub struct Keys {
    config: EyamlConfig,
    fs: Arc<dyn FileSystem>,
    /// The folders of the workspace, whose files may be keys.
    folders: Arc<Vec<FilePath>>,
    private: Shelf<PrivateKey>,
    public: Shelf<Certificate>,
    plain: Mutex<Plain>,
}

/// What was read of one kind of key, by the place that it was read from.
type Shelf<K> = Mutex<HashMap<Place, Arc<Result<K, String>>>>;

/// Where a key was read from, and which version of it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Place {
    File(FilePath, Option<Stamp>),
    Variable(String, String),
}

/// Decrypted values by their keys and ciphertexts.
#[derive(Default)]
struct Plain {
    known: HashMap<(Place, Option<Place>, Vec<u8>), Vec<u8>>,
    size: usize,
}

impl std::fmt::Debug for Keys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Keys").field("config", &self.config).finish_non_exhaustive()
    }
}

impl Keys {
    /// The keys that `config` allows to be used; `None` if it allows none.
    pub(super) fn new(config: &EyamlConfig, folders: &Arc<Vec<FilePath>>, fs: Arc<dyn FileSystem>) -> Option<Keys> {
        let (private, public, plain) = Default::default();
        config.decrypt.then(|| Keys { config: config.clone(), fs, folders: folders.clone(), private, public, plain })
    }

    /// What decrypts values of the environment in the folder `root`: key files with relative paths are looked for there.
    pub fn decryptor<'a>(&'a self, root: &'a FilePath) -> EnvironmentKeys<'a> {
        EnvironmentKeys { keys: self, root }
    }

    /// Where a key is, with its text.
    fn find(&self, own: Option<&FilePath>, named: &KeySource, root: &FilePath) -> Result<(Place, String), String> {
        if own.is_none()
            && let Some(variable) = &named.variable
            && let Some(text) = environment_variable(variable)
        {
            return Ok((Place::Variable(variable.clone(), text.clone()), text));
        }
        let path = match (own, &named.file) {
            (Some(path), _) => path.clone(),
            (None, Some(file)) => self.permitted(root.join(file))?,
            (None, None) => return Err("no implicit conversion of nil into String".into()),
        };
        let stamp = match self.fs.entry(&path) {
            Some(Entry::File(stamp)) => stamp,
            Some(Entry::Folder { .. }) => return Err(format!("Is a directory @ io_fread - {path}")),
            None => return Err(format!("No such file or directory @ rb_sysopen - {path}")),
        };
        let bytes = self.fs.read(&path, MAX_KEY_FILE).map_err(|error| match error {
            ReadError::TooLarge(size) => format!("{path} is no key: it has {size} bytes"),
            ReadError::IsFolder => format!("Is a directory @ io_fread - {path}"),
            ReadError::Other(message) => format!("{path}: {message}"),
        })?;
        Ok((Place::File(path, Some(stamp)), String::from_utf8_lossy(&bytes).into_owned()))
    }

    fn permitted(&self, path: FilePath) -> Result<FilePath, String> {
        let mut allowed = self.folders.iter().chain(&self.config.key_folders);
        if allowed.any(|folder| path.is_within(folder)) {
            return Ok(path);
        }
        Err(format!(
            "hiera-ls does not read {path}, which lies outside the workspace: name it in eyaml.privateKey and eyaml.publicKey, or its folder in eyaml.keyFolders"
        ))
    }
}

/// The key at a place, read once.
fn read<K>(shelf: &Shelf<K>, place: &Place, read: impl FnOnce() -> Result<K, String>) -> Arc<Result<K, String>> {
    let mut shelf = shelf.lock().expect("no holder panics");
    shelf.entry(place.clone()).or_insert_with(|| Arc::new(read())).clone()
}

/// The keys as the values of one environment are decrypted with them.
#[derive(Clone, Copy, Debug)]
pub struct EnvironmentKeys<'a> {
    keys: &'a Keys,
    root: &'a FilePath,
}

impl Decryptor for EnvironmentKeys<'_> {
    fn decrypt(&self, ciphertext: &[u8], pair: &KeyPair) -> Result<Vec<u8>, String> {
        let Keys { config, private, public, plain, .. } = self.keys;
        let (private_place, text) = self.keys.find(config.private_key.as_ref(), &pair.private, self.root)?;
        let private_key = read(private, &private_place, || PrivateKey::from_pem(&text));
        let private_key = Result::as_ref(&private_key).map_err(Clone::clone)?;
        // A private key of the user's is enough: the certificate only tells whether it is the right one.
        let certificate = match (&config.private_key, &config.public_key) {
            (Some(_), None) => None,
            (_, own) => {
                let (place, text) = self.keys.find(own.as_ref(), &pair.public, self.root)?;
                Some((read(public, &place, || Certificate::from_pem(&text)), place))
            }
        };
        let (certificate, public_place) = certificate.unzip();
        let certificate = certificate.as_deref().map(|known| known.as_ref().map_err(Clone::clone)).transpose()?;
        let question = (private_place, public_place, ciphertext.to_vec());
        if let Some(known) = plain.lock().expect("no holder panics").known.get(&question) {
            return Ok(known.clone());
        }
        let found = pkcs7::decrypt(ciphertext, private_key, certificate)?;
        plain.lock().expect("no holder panics").remember(question, &found);
        Ok(found)
    }
}

impl Plain {
    fn remember(&mut self, question: (Place, Option<Place>, Vec<u8>), found: &[u8]) {
        let size = question.2.len() + found.len();
        if self.size + size > MAX_REMEMBERED {
            *self = Plain::default();
        }
        self.size += size;
        self.known.insert(question, found.to_vec());
    }
}

#[cfg(test)]
mod tests;
