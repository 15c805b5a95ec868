//! The formats of data files, in one table: Puppet's own functions that read them, the names of
//! these functions in older versions of `hiera.yaml`, the extensions of the files, and words for
//! users.

use super::{BackendKind, DataReader};
use crate::hiera::data::DataFormat;
use crate::text::FilePath;

/// One of Puppet's own functions that read data files.
#[derive(Debug)]
pub struct BuiltIn {
    /// The function.
    pub name: &'static str,
    /// The kind of the function.
    pub kind: BackendKind,
    /// The name of the backend in versions 3 and 4 of `hiera.yaml`.
    pub hiera3: &'static str,
    /// The extensions of the files that the function reads, without a dot. Versions 3 and 4 add the
    /// first one.
    pub extensions: &'static [&'static str],
    /// The reader of the data.
    pub reader: DataReader,
    /// The data that the function reads, as a phrase.
    pub reads: &'static str,
    /// The files that the function reads, as a phrase.
    pub reads_files: &'static str,
}

impl BuiltIn {
    /// Returns the extension that versions 3 and 4 add to a path, with its dot.
    pub fn dotted_extension(&self) -> String {
        format!(".{}", self.extensions[0])
    }
}

/// Puppet's own functions that read data files.
pub const BUILT_INS: [BuiltIn; 4] = [
    BuiltIn {
        name: "yaml_data",
        kind: BackendKind::DataHash,
        hiera3: "yaml",
        extensions: &["yaml", "yml"],
        reader: DataReader::YAML,
        reads: "reads YAML",
        reads_files: "reads .yaml",
    },
    BuiltIn {
        name: "json_data",
        kind: BackendKind::DataHash,
        hiera3: "json",
        extensions: &["json"],
        reader: DataReader { format: DataFormat::Json, decrypts: false },
        reads: "reads JSON",
        reads_files: "reads .json",
    },
    BuiltIn {
        name: "hocon_data",
        kind: BackendKind::DataHash,
        hiera3: "hocon",
        extensions: &["conf", "hocon"],
        reader: DataReader { format: DataFormat::Hocon, decrypts: false },
        reads: "reads HOCON",
        reads_files: "reads .conf",
    },
    BuiltIn {
        name: "eyaml_lookup_key",
        kind: BackendKind::LookupKey,
        hiera3: "eyaml",
        extensions: &["eyaml"],
        reader: DataReader { decrypts: true, ..DataReader::YAML },
        reads: "reads YAML and decrypts values of eyaml",
        reads_files: "reads .eyaml with encrypted values",
    },
];

/// The extension that files of other programs have more often than data.
const SHARED_EXTENSION: &str = "conf";

/// Returns the function with this name.
pub fn built_in(name: &str) -> Option<&'static BuiltIn> {
    BUILT_INS.iter().find(|one| one.name == name)
}

/// Returns the function that a backend of versions 3 and 4 stands for; `None` for a backend that
/// Puppet does not have itself.
pub fn hiera3_built_in(backend: &str) -> Option<&'static BuiltIn> {
    BUILT_INS.iter().find(|one| one.hiera3 == backend)
}

/// Returns the format of the file's extension; `None` for any other file.
pub fn format_of_name(path: &FilePath) -> Option<DataFormat> {
    let extension = path.extension()?;
    BUILT_INS.iter().find(|one| one.extensions.contains(&extension)).map(|one| one.reader.format)
}

/// Whether the file has an extension of a data file. `.conf` is none, as most such files belong to
/// other programs.
pub fn has_data_name(path: &FilePath) -> bool {
    format_of_name(path).is_some() && path.extension() != Some(SHARED_EXTENSION)
}
