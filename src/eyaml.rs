//! The user's own keys for values of eyaml: whether they may be used, the places that they are read
//! from, and the values decrypted with them.
//!
//! Nothing is decrypted unless the *user* switches it on: a repository could name any file as a
//! key, and its values could be anyone's. Links in file names of a repository are resolved before
//! the check whether the file may be read. A repository may name any environment variable, as with
//! hiera-eyaml: its value is used as a key only, and a message reveals at most whether the value is
//! a valid key. Keys and decrypted values are held in memory only, as long as the layers are the
//! same, and no message contains them.

mod pkcs7;

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use crate::disk::{DiskEntry, FileSystem, ReadError, Stamp, environment_variable};
use crate::hiera::eyaml::{Decryptor, KeyPair, KeySource};
use crate::text::FilePath;
use pkcs7::{Certificate, PrivateKey};

/// The user's settings for encrypted values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EyamlConfig {
    /// Whether values are decrypted.
    pub decrypt: bool,
    /// Whether decrypted values are shown.
    pub reveal: bool,
    /// The private key to use in place of those that the options of levels name.
    pub private_key: Option<FilePath>,
    /// The certificate with the public key to use in place of those that the options of levels
    /// name.
    pub public_key: Option<FilePath>,
    /// Folders outside the workspace that options of levels may name keys in; `/` is all of them.
    pub key_folders: Vec<FilePath>,
}

/// The longest key file in bytes: keys are short, and a longer file is none.
const MAX_KEY_FILE: u64 = 64 << 10;
/// The most bytes of decrypted values to remember: each value costs a millisecond to decrypt.
const MAX_REMEMBERED: usize = 8 << 20;

/// Keys that were read, and the values decrypted with them.
pub struct Keys {
    config: EyamlConfig,
    fs: Arc<dyn FileSystem>,
    /// The folders of the workspace, whose files may be keys.
    folders: Arc<Vec<FilePath>>,
    private: KeyCache<PrivateKey>,
    public: KeyCache<Certificate>,
    /// The number of keys that have been read.
    read: AtomicU64,
    plain: Mutex<Plain>,
}

/// The keys of one kind, by the place that they were read from: the last version of each.
type KeyCache<K> = Mutex<HashMap<Source, Arc<CachedKey<K>>>>;

/// The place that a key is read from.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Source {
    File {
        /// The path as messages name it.
        named: FilePath,
        /// The path without links.
        real: FilePath,
    },
    Variable(String),
}

/// The identity of one version of a key. It may hold the key itself: no `Debug`.
#[derive(PartialEq, Eq)]
enum KeyVersion {
    Stamp(Stamp),
    Text(String),
}

/// A key as it was read.
struct CachedKey<K> {
    version: KeyVersion,
    /// The number of the key, which no other key has.
    number: u64,
    key: Result<K, String>,
}

/// Decrypted values by the numbers of their keys and by ciphertexts.
#[derive(Default)]
struct Plain {
    known: HashMap<(u64, Option<u64>, Vec<u8>), Vec<u8>>,
    size: usize,
}

impl std::fmt::Debug for Keys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Keys").field("config", &self.config).finish_non_exhaustive()
    }
}

impl Keys {
    /// Creates the keys that `config` allows to be used; `None` if it allows none.
    pub(super) fn new(
        config: &EyamlConfig,
        folders: &Arc<Vec<FilePath>>,
        fs: Arc<dyn FileSystem>,
    ) -> Option<Keys> {
        config.decrypt.then(|| Keys::new_keys(config, folders, fs))
    }

    fn new_keys(
        config: &EyamlConfig,
        folders: &Arc<Vec<FilePath>>,
        fs: Arc<dyn FileSystem>,
    ) -> Keys {
        let (private, public, read, plain) = Default::default();
        let (config, folders) = (config.clone(), folders.clone());
        Keys { config, fs, folders, private, public, read, plain }
    }

    /// Returns the decryptor for values of the environment in the folder `root`: key files with
    /// relative paths are looked for there.
    pub fn decryptor_in<'a>(&'a self, root: &'a FilePath) -> EnvironmentKeys<'a> {
        EnvironmentKeys { keys: self, root }
    }

    /// Returns the key that the user names, or else the one that the repository does; read again if
    /// there is another version of it.
    fn load_key<K>(
        &self,
        shelf: &KeyCache<K>,
        own: Option<&FilePath>,
        named: &KeySource,
        root: &FilePath,
        from_pem: fn(&str) -> Result<K, String>,
    ) -> Result<Arc<CachedKey<K>>, String> {
        let (source, version) = self.find(own, named, root)?;
        let mut shelf = shelf.lock().expect("no holder panics");
        if let Some(held) = shelf.get(&source).filter(|held| held.version == version) {
            return Ok(held.clone());
        }
        let key = match (&source, &version) {
            (_, KeyVersion::Text(text)) => from_pem(text),
            (Source::File { named, real }, _) => from_pem(&self.read_key_file(named, real)?),
            (Source::Variable(_), _) => unreachable!("a variable's version is its text"),
        };
        let held =
            Arc::new(CachedKey { version, number: self.read.fetch_add(1, Ordering::Relaxed), key });
        if let Some(old) = shelf.insert(source, held.clone()) {
            self.plain.lock().expect("no holder panics").forget(old.number);
        }
        Ok(held)
    }

    /// Returns the place of a key, and its version there.
    fn find(
        &self,
        own: Option<&FilePath>,
        named: &KeySource,
        root: &FilePath,
    ) -> Result<(Source, KeyVersion), String> {
        if own.is_none()
            && let Some(variable) = &named.variable
            && let Some(text) = environment_variable(variable)
        {
            return Ok((Source::Variable(variable.clone()), KeyVersion::Text(text)));
        }
        let (named, may_be_anywhere) = match (own, &named.file) {
            (Some(path), _) => (path.clone(), true),
            (None, Some(file)) => (root.join(file), false),
            (None, None) => return Err("no implicit conversion of nil into String".into()),
        };
        let real = self.fs.real_path(&named);
        if !may_be_anywhere && !self.is_permitted(&named, real.as_ref()) {
            let leads = real
                .filter(|real| *real != named)
                .map_or_else(String::new, |real| format!(" leads to {real} and"));
            return Err(format!(
                "hiera-ls does not read {named}, which{leads} lies outside the workspace: name it in eyaml.privateKey and \
                 eyaml.publicKey, or its folder in eyaml.keyFolders"
            ));
        }
        let real = real.ok_or_else(|| missing_message(&named))?;
        match self.fs.entry(&real).ok_or_else(|| missing_message(&named))? {
            DiskEntry::File(stamp) => Ok((Source::File { named, real }, KeyVersion::Stamp(stamp))),
            DiskEntry::Folder { .. } => Err(format!("Is a directory @ io_fread - {named}")),
        }
    }

    fn read_key_file(&self, named: &FilePath, real: &FilePath) -> Result<String, String> {
        let bytes = self.fs.read(real, MAX_KEY_FILE).map_err(|error| match error {
            ReadError::TooLarge(size) => format!("{named} is no key: it has {size} bytes"),
            ReadError::IsFolder => format!("Is a directory @ io_fread - {named}"),
            ReadError::Other(message) => format!("{named}: {message}"),
        })?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Whether the repository may name this file, which is really that one, if it is there at all.
    fn is_permitted(&self, named: &FilePath, real: Option<&FilePath>) -> bool {
        self.folders.iter().chain(&self.config.key_folders).any(|folder| match real {
            Some(real) => self.fs.real_path(folder).is_some_and(|folder| real.is_within(&folder)),
            None => named.is_within(folder),
        })
    }
}

fn missing_message(named: &FilePath) -> String {
    format!("No such file or directory @ rb_sysopen - {named}")
}

/// Encrypts a text for the owner of a public key, where the user asks for that: the user's own
/// certificate, or else the one that a level's options name, in a folder that they may name. No
/// private key is read. Returns the message in DER.
///
/// Errors: why not, as [`Decryptor::decrypt`].
pub(super) fn encrypt(
    plain: &[u8],
    named: &KeySource,
    root: &FilePath,
    (config, folders, fs): (&EyamlConfig, &Arc<Vec<FilePath>>, Arc<dyn FileSystem>),
) -> Result<Vec<u8>, String> {
    let keys = Keys::new_keys(config, folders, fs);
    let own = config.public_key.as_ref();
    let held = keys.load_key(&keys.public, own, named, root, Certificate::from_pem)?;
    pkcs7::encrypt(plain, held.key.as_ref().map_err(Clone::clone)?)
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
        let private = self.keys.load_key(
            private,
            config.private_key.as_ref(),
            &pair.private,
            self.root,
            PrivateKey::from_pem,
        )?;
        let private_key = private.key.as_ref().map_err(Clone::clone)?;
        // A private key of the user's is enough: the certificate only shows whether it is the right
        // one.
        let public = match (&config.private_key, &config.public_key) {
            (Some(_), None) => None,
            (_, own) => Some(self.keys.load_key(
                public,
                own.as_ref(),
                &pair.public,
                self.root,
                Certificate::from_pem,
            )?),
        };
        let certificate =
            public.as_ref().map(|held| held.key.as_ref().map_err(Clone::clone)).transpose()?;
        let question =
            (private.number, public.as_ref().map(|held| held.number), ciphertext.to_vec());
        if let Some(known) = plain.lock().expect("no holder panics").known.get(&question) {
            return Ok(known.clone());
        }
        let found = pkcs7::decrypt(ciphertext, private_key, certificate)?;
        plain.lock().expect("no holder panics").remember_answer(question, &found);
        Ok(found)
    }
}

impl Plain {
    fn remember_answer(&mut self, question: (u64, Option<u64>, Vec<u8>), found: &[u8]) {
        let size = question.2.len() + found.len();
        if self.size + size > MAX_REMEMBERED {
            *self = Plain::default();
        }
        self.size += size;
        self.known.insert(question, found.to_vec());
    }

    /// Drops the values decrypted with a key.
    fn forget(&mut self, key: u64) {
        self.known.retain(|(private, public, _), _| *private != key && *public != Some(key));
        self.size = self
            .known
            .iter()
            .map(|((_, _, ciphertext), plain)| ciphertext.len() + plain.len())
            .sum();
    }
}

#[cfg(test)]
mod tests;
