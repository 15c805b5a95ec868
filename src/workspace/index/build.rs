//! Computes the index of keys from a snapshot: from all files, or from an index before it.

use std::sync::Arc;

use super::key_index::KeyIndex;
use super::readings::Readings;
use crate::text::FilePath;
use crate::workspace::files::parallel::on_all_cores;
use crate::workspace::lazy_index::{Changed, LazyIndex};
use crate::workspace::snapshot::Snapshot;

/// With fewer changed files an index is brought up to them by the way.
const LITTLE: usize = 64;
/// Up to how many bytes of data files are read in so little time that findings can wait for it.
/// Tests use a small limit.
const SMALL: u64 = if cfg!(test) { 400 } else { 256 << 10 };

impl Snapshot {
    /// Whether [`keys`](Snapshot::keys) need not read much first, as they must where files or
    /// layers are others than before, or a long file is.
    pub fn is_indexed(&self) -> bool {
        self.key_index.is_near(self)
    }

    /// Whether the index of keys takes little time: it is ready, can be patched, or is that of a
    /// small workspace.
    pub fn is_soon_indexed(&self) -> bool {
        self.is_indexed()
            || self.files().map(|file| u64::from(file.bytes_to_read())).sum::<u64>() <= SMALL
    }

    /// Returns the index of keys and of the files that define them.
    pub fn keys(&self) -> &KeyIndex {
        self.key_index.get(self)
    }
}

impl KeyIndex {
    /// Reads all data files of a snapshot that some level can reach.
    pub fn new(snapshot: &Snapshot) -> KeyIndex {
        KeyIndex::from_files(all_readings(snapshot))
    }

    /// Returns the index after these changes.
    fn patch_changes(&self, snapshot: &Snapshot, changed: &Changed) -> KeyIndex {
        let files = match changed {
            Changed::Files(changed) => {
                let paths: Vec<&FilePath> = changed.iter().collect();
                let new = on_all_cores(&paths, |path| file_readings(snapshot, path));
                paths.into_iter().zip(new).collect()
            }
            Changed::Layout => {
                let all = all_readings(snapshot);
                let others =
                    all.iter().filter(|(path, new)| self.is_other_reading(path, new)).count();
                if others > all.len() / 2 {
                    return KeyIndex::from_files(all);
                }
                let gone = self.readings.keys().filter(|path| snapshot.file(path).is_none());
                let gone = gone.map(|path| (path, Readings::default()));
                all.into_iter()
                    .filter(|(path, new)| self.is_other_reading(path, new))
                    .chain(gone)
                    .collect::<Vec<_>>()
            }
        };
        let mut index = self.clone();
        if matches!(changed, Changed::Layout) {
            index.candidates = Arc::default();
        }
        for (path, new) in files {
            let old = index.put_readings(path, new.clone());
            index.replace_file(path, &old, &new);
        }
        index
    }

    fn is_other_reading(&self, path: &FilePath, new: &Readings) -> bool {
        self.readings.get(path).map_or(!new.0.is_empty(), |old| old != new)
    }
}

impl Changed {
    /// Whether bringing an index up to the changes is a matter of some files that take little to
    /// read.
    fn is_little(&self, snapshot: &Snapshot) -> bool {
        matches!(self, Changed::Files(files) if files.len() < LITTLE && files.iter().all(|path| snapshot.file(path).is_none_or(|file| file.is_soon_read())))
    }
}

impl LazyIndex<KeyIndex> {
    /// Whether no more than a little has to be read for the index.
    pub(in crate::workspace) fn is_near(&self, snapshot: &Snapshot) -> bool {
        self.finished().is_some()
            || self.nearest_done().is_some_and(|(_, changed)| changed.is_little(snapshot))
    }

    /// Returns the index of the snapshot that the lazy index belongs to.
    pub(in crate::workspace) fn get(&self, snapshot: &Snapshot) -> &KeyIndex {
        self.get_or_compute(|nearest| match nearest {
            Some((before, changed)) => before.patch_changes(snapshot, &changed),
            None => KeyIndex::new(snapshot),
        })
    }
}

/// Returns the data of all files.
fn all_readings(snapshot: &Snapshot) -> Vec<(&FilePath, Readings)> {
    let files: Vec<&FilePath> = snapshot.files().map(|file| &file.path).collect();
    let readings = on_all_cores(&files, |path| file_readings(snapshot, path));
    files.into_iter().zip(readings).collect()
}

/// Returns the data of a file, in each way in which an environment's levels read it.
fn file_readings(snapshot: &Snapshot, path: &FilePath) -> Readings {
    let environments = &snapshot.environments().all;
    let governing = environments.iter().filter(|environment| environment.reaches_file(path));
    let mut data: Vec<_> =
        governing.filter_map(|environment| snapshot.view(environment).data_of(path)).collect();
    // Environments that read the file in the same way share its data, which is parsed once and
    // counted once.
    data.dedup_by(|a, b| Arc::ptr_eq(a, b));
    Readings(data.into())
}
