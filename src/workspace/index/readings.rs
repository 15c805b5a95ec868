//! The data of files, in each way in which some level reads them.

use std::sync::Arc;

use crate::hiera::data::DataFile;
use crate::text::FilePath;
use crate::workspace::parallel::on_all_cores;
use crate::workspace::snapshot::Snapshot;

/// The data of one file, in each way in which some level reads it. Equal to another when it is the
/// very same data.
#[derive(Clone, Debug, Default)]
pub(super) struct Readings(pub(super) Arc<[Arc<DataFile>]>);

impl PartialEq for Readings {
    fn eq(&self, other: &Readings) -> bool {
        self.0.len() == other.0.len()
            && self.0.iter().zip(&*other.0).all(|(a, b)| Arc::ptr_eq(a, b))
    }
}

/// Returns the data of all files.
pub(super) fn all_readings(snapshot: &Snapshot) -> Vec<(&FilePath, Readings)> {
    let files: Vec<&FilePath> = snapshot.files().map(|file| &file.path).collect();
    let readings = on_all_cores(&files, |path| readings(snapshot, path));
    files.into_iter().zip(readings).collect()
}

/// Returns the data of a file, in each way in which an environment's levels read it.
pub(super) fn readings(snapshot: &Snapshot, path: &FilePath) -> Readings {
    let environments = &snapshot.environments().all;
    let governing = environments.iter().filter(|environment| environment.reaches(path));
    let mut data: Vec<_> =
        governing.filter_map(|environment| snapshot.view(environment).data_of(path)).collect();
    // Environments that read the file in the same way share its data: parsed once, counted once.
    data.dedup_by(|a, b| Arc::ptr_eq(a, b));
    Readings(data.into())
}
