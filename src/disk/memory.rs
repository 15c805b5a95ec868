//! A file system in memory.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::time::SystemTime;

use super::{DiskEntry, FileSystem, ReadError, Stamp, Walk, WalkLimits};
use crate::text::FilePath;

/// Files in memory, for tests and for work that needs no disk.
#[derive(Debug, Default)]
pub struct MemoryFs {
    files: Mutex<BTreeMap<FilePath, Vec<u8>>>,
}

impl MemoryFs {
    /// Returns a file system without files.
    pub fn new() -> MemoryFs {
        MemoryFs::default()
    }

    /// Writes a file.
    pub fn write(&self, path: &str, content: impl Into<Vec<u8>>) {
        self.files.lock().expect("no holder panics").insert(FilePath::new(path), content.into());
    }

    /// Removes a file.
    pub fn remove(&self, path: &str) {
        self.files.lock().expect("no holder panics").remove(&FilePath::new(path));
    }
}

impl FileSystem for MemoryFs {
    fn walk(&self, root: &FilePath, _: &WalkLimits) -> Walk {
        let files = self.files.lock().expect("no holder panics");
        let mut walk = Walk::default();
        let mut folders = BTreeSet::new();
        for (path, content) in files.iter().filter(|(path, _)| path.is_within(root)) {
            walk.entries.insert(path.clone(), DiskEntry::File(memory_stamp(content)));
            folders.extend(path.ancestors().take_while(|folder| folder.is_within(root)));
        }
        walk.entries.extend(
            folders.into_iter().map(|folder| (folder, DiskEntry::Folder { linked: false })),
        );
        walk
    }

    fn read(&self, path: &FilePath, max_size: u64) -> Result<Vec<u8>, ReadError> {
        match self.files.lock().expect("no holder panics").get(path) {
            Some(content) if content.len() as u64 > max_size => {
                Err(ReadError::TooLarge(content.len() as u64))
            }
            Some(content) => Ok(content.clone()),
            None => Err(ReadError::Other("no such file".into())),
        }
    }

    fn entry(&self, path: &FilePath) -> Option<DiskEntry> {
        let files = self.files.lock().expect("no holder panics");
        if let Some(content) = files.get(path) {
            return Some(DiskEntry::File(memory_stamp(content)));
        }
        files.keys().any(|file| file.is_within(path)).then_some(DiskEntry::Folder { linked: false })
    }

    fn real_path(&self, path: &FilePath) -> Option<FilePath> {
        self.entry(path).map(|_| path.clone())
    }
}

// There is no clock in memory: the content itself identifies a version.
fn memory_stamp(content: &[u8]) -> Stamp {
    use std::hash::{DefaultHasher, Hash, Hasher};
    let mut hasher = DefaultHasher::new();
    content.hash(&mut hasher);
    let modified =
        SystemTime::UNIX_EPOCH.checked_add(std::time::Duration::from_millis(hasher.finish() >> 20));
    Stamp { modified, touched: None, size: content.len() as u64 }
}
