//! The data of files, in each way in which some level reads them.

use std::sync::Arc;

use crate::hiera::data::DataFile;

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
