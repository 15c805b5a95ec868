//! Folders and files that only the user may read.

use std::path::{Path, PathBuf};

use crate::text::FilePath;

/// A folder that only the user may look into. It is removed with all that is in it when the value
/// is dropped.
#[derive(Debug)]
pub struct PrivateFolder {
    path: PathBuf,
    name: String,
}

impl PrivateFolder {
    /// Creates a folder among the temporary ones, whose name begins with `prefix`.
    pub fn new(prefix: &str) -> std::io::Result<PrivateFolder> {
        use std::hash::{BuildHasher, RandomState};
        const TRIES: u64 = 16;
        for number in 0..TRIES {
            let name = format!("{prefix}-{:016x}", RandomState::new().hash_one(number));
            let path = std::env::temp_dir().join(&name);
            match create_private(&path) {
                Ok(()) => return Ok(PrivateFolder { path, name }),
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(std::io::ErrorKind::AlreadyExists.into())
    }

    /// Returns the folder's name, which is random and cannot be guessed.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Creates a folder in the private folder.
    pub fn create_folder(&self, name: &str) -> std::io::Result<PathBuf> {
        let path = self.path.join(name);
        create_private(&path).map(|()| path)
    }

    /// Writes a file in the private folder.
    pub fn write(&self, name: &str, content: &[u8]) -> std::io::Result<PathBuf> {
        let path = self.path.join(name);
        std::fs::write(&path, content).map(|()| path)
    }
}

impl Drop for PrivateFolder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.path);
    }
}

fn create_private(path: &Path) -> std::io::Result<()> {
    #[allow(unused_mut)]
    let mut builder = std::fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// Returns whether the mode of a file lets users read it that are not its owner; `false` where the mode is
/// not known.
pub fn is_readable_by_others(path: &FilePath) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        std::fs::metadata(path.as_str()).is_ok_and(|file| file.permissions().mode() & 0o044 != 0)
    }
    #[cfg(not(unix))]
    {
        let _ = path;
        false
    }
}

/// A file that the user alone may read, in a folder likewise. It takes its place when it is
/// complete; before that it has another name, and is removed when it is dropped.
#[derive(Debug)]
pub struct PrivateFile {
    path: PathBuf,
    unfinished: PathBuf,
    out: std::io::BufWriter<std::fs::File>,
}

impl PrivateFile {
    /// Begins a file, and creates the folders that are missing. Errors: the disk's.
    pub fn create(path: &FilePath) -> std::io::Result<PrivateFile> {
        use std::hash::{BuildHasher, RandomState};
        let path = PathBuf::from(path.as_str());
        if let Some(folder) = path.parent() {
            let mut builder = std::fs::DirBuilder::new();
            builder.recursive(true);
            #[cfg(unix)]
            std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
            builder.create(folder)?;
        }
        let unfinished =
            path.with_extension(format!("{:016x}.new", RandomState::new().hash_one(0)));
        let mut options = std::fs::OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(&unfinished)?;
        Ok(PrivateFile { path, unfinished, out: std::io::BufWriter::new(file) })
    }

    /// Gives the file its name. Errors: the disk's.
    pub fn put_in_place(mut self) -> std::io::Result<()> {
        std::io::Write::flush(&mut self.out)?;
        std::fs::rename(&self.unfinished, &self.path)
    }
}

impl std::io::Write for PrivateFile {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.out.write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.out.flush()
    }
}

impl Drop for PrivateFile {
    fn drop(&mut self) {
        // After `put_in_place` there is no file of this name.
        let _ = std::fs::remove_file(&self.unfinished);
    }
}
