//! Whether two snapshots define the same root keys, without comparing the keys.

use std::sync::{Arc, Weak};

use crate::workspace::Snapshot;
use crate::workspace::environments::Environments;
use crate::workspace::files::names::DiskNames;

/// The parts of a snapshot that decide whether some level has a root key, or may have it: the
/// definitions, the environments that read them, and the files that functions can be in. Equal ones
/// are of snapshots in which the same root keys are defined; others may be, too.
#[derive(Clone, Debug)]
pub struct DefinedKeys {
    definitions: Arc<()>,
    // A dropped snapshot frees the environments and the names. Their addresses are not used again
    // before these references are dropped.
    environments: Weak<Environments>,
    names: Weak<DiskNames>,
    is_complete: bool,
}

impl PartialEq for DefinedKeys {
    fn eq(&self, other: &DefinedKeys) -> bool {
        Arc::ptr_eq(&self.definitions, &other.definitions)
            && self.environments.ptr_eq(&other.environments)
            && self.names.ptr_eq(&other.names)
            && self.is_complete == other.is_complete
    }
}

impl Snapshot {
    /// Returns the parts of the snapshot that decide which root keys are defined.
    pub fn defined_keys(&self) -> DefinedKeys {
        DefinedKeys {
            definitions: self.keys().definitions_id().clone(),
            environments: Arc::downgrade(&self.environments),
            names: Arc::downgrade(&self.names),
            is_complete: self.complete,
        }
    }
}
