//! The disk, behind a trait of few methods; the only user of `std::fs`.

mod memory;
mod private;
#[cfg(unix)]
mod processes;
#[cfg(test)]
mod tests;
mod watcher;

use std::collections::{BTreeMap, HashSet};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::text::FilePath;

pub use memory::MemoryFs;
pub use private::{PrivateFile, PrivateFolder, is_readable_by_others};
#[cfg(unix)]
pub use processes::{ProcessEntry, processes, processes_with};
pub use watcher::Watcher;

/// A file system: a disk, or files in memory.
pub trait FileSystem: Send + Sync {
    /// Lists all entries below `root`, with `root` itself when it is a file. A folder that cannot
    /// be read is treated as empty.
    fn walk(&self, root: &FilePath, limits: &WalkLimits) -> Walk;

    /// Reads the bytes of a file; files longer than `max_size` are not read.
    fn read(&self, path: &FilePath, max_size: u64) -> Result<Vec<u8>, ReadError>;

    /// Returns the file or folder at a path; `None` when nothing is there.
    fn entry(&self, path: &FilePath) -> Option<DiskEntry>;

    /// Returns the path of the file or folder at a path, with all links resolved; `None` when
    /// nothing is there.
    fn real_path(&self, path: &FilePath) -> Option<FilePath>;
}

/// The limits of a walk.
#[derive(Clone, Debug)]
pub struct WalkLimits {
    /// Names of folders that are passed over.
    pub skipped_folders: Vec<String>,
    /// The folders that links may lead into, as [`FileSystem::real_path`] gives them; a link that
    /// leads elsewhere is treated as missing. The folder that is walked is one of them.
    pub trusted: Vec<FilePath>,
    /// The most files and folders to list.
    pub max_entries: usize,
    /// The greatest depth in folders.
    pub max_depth: usize,
}

/// The result of a walk: the entries below a folder.
#[derive(Clone, Debug, Default)]
pub struct Walk {
    /// Files and folders, by path.
    pub entries: BTreeMap<FilePath, DiskEntry>,
    /// Whether there was more than the limits allow.
    pub cut_short: bool,
    /// The entries that were passed over, in the order of the walk.
    pub unlisted: Vec<Unlisted>,
}

/// A file or folder that a walk passed over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unlisted {
    /// The path of the file or folder; bytes that are no UTF-8 are replaced.
    pub path: FilePath,
    /// The reason.
    pub reason: UnlistedReason,
}

/// The reason why a walk passed over a file or a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UnlistedReason {
    /// The operating system refused, in its words.
    Io(String),
    /// The entry is a folder at the greatest depth that is walked.
    TooDeep,
    /// The entry's name is not UTF-8.
    NotUtf8,
    /// The entry is a link out of the folders that links may lead into.
    LeadsOut,
}

impl std::fmt::Display for Unlisted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.path, self.reason)
    }
}

impl std::fmt::Display for UnlistedReason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            UnlistedReason::Io(error) => write!(f, "cannot be listed: {error}"),
            UnlistedReason::TooDeep => f.write_str("nested too deeply, its files are not read"),
            UnlistedReason::NotUtf8 => f.write_str("not read, as its name is not UTF-8"),
            UnlistedReason::LeadsOut => {
                f.write_str("not read, as this link leads out of the repository")
            }
        }
    }
}

/// A file or a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiskEntry {
    /// A file as it was when listed.
    File(Stamp),
    /// A folder.
    Folder {
        /// Whether the folder was reached through a link.
        linked: bool,
    },
}

impl DiskEntry {
    /// Returns the version of the file; `None` for a folder.
    pub fn stamp(self) -> Option<Stamp> {
        match self {
            DiskEntry::File(stamp) => Some(stamp),
            DiskEntry::Folder { .. } => None,
        }
    }
}

/// The identity of one version of a file on disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Stamp {
    /// The time of the file's last change, if the file system records it.
    pub modified: Option<SystemTime>,
    /// The time of the last change to anything about the file, in seconds and nanoseconds, on
    /// systems that know it: another file in its place may have its time and length, and the
    /// permission to read the file is no part of its content.
    pub touched: Option<(i64, i64)>,
    /// The file's length in bytes.
    pub size: u64,
}

/// The reason why a file was not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReadError {
    /// The file is longer than allowed: its length in bytes.
    TooLarge(u64),
    /// The path is a folder.
    IsFolder,
    /// The operating system's words.
    Other(String),
}

impl std::fmt::Display for ReadError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ReadError::TooLarge(bytes) => write!(f, "{bytes} bytes are too many"),
            ReadError::IsFolder => f.write_str("it is a folder"),
            ReadError::Other(words) => f.write_str(words),
        }
    }
}

/// A file that is always empty. As `hiera_config`, it means that the global layer has no config.
const NULL_DEVICE: &str = "/dev/null";

/// The real disk.
#[derive(Clone, Copy, Debug, Default)]
pub struct OsFs;

impl FileSystem for OsFs {
    fn walk(&self, root: &FilePath, limits: &WalkLimits) -> Walk {
        let mut walking =
            Walking { limits, out: Walk::default(), seen: HashSet::new(), root: None };
        walking.root = std::fs::canonicalize(root.as_str()).ok();
        walking.add(root, Path::new(root.as_str()), 0, false);
        walking.out
    }

    fn read(&self, path: &FilePath, max_size: u64) -> Result<Vec<u8>, ReadError> {
        // A pipe is not opened, as that would wait for a writer.
        let metadata = std::fs::metadata(path.as_str()).map_err(other_error)?;
        if metadata.is_dir() {
            return Err(ReadError::IsFolder);
        }
        if path.as_str() == NULL_DEVICE {
            return Ok(Vec::new());
        }
        if !metadata.is_file() {
            return Err(ReadError::Other("it is no regular file".into())); // a pipe would never end
        }
        if metadata.len() > max_size {
            return Err(ReadError::TooLarge(metadata.len()));
        }
        // A file may be longer than its metadata, or never end, like some special files of Linux.
        let mut bytes = Vec::with_capacity(usize::try_from(metadata.len()).unwrap_or_default());
        let file = std::fs::File::open(path.as_str()).map_err(other_error)?;
        file.take(max_size.saturating_add(1)).read_to_end(&mut bytes).map_err(other_error)?;
        match bytes.len() as u64 {
            length if length > max_size => Err(ReadError::TooLarge(length)),
            _ => Ok(bytes),
        }
    }

    fn entry(&self, path: &FilePath) -> Option<DiskEntry> {
        let metadata = std::fs::metadata(path.as_str()).ok()?;
        Some(entry_of(&metadata, false))
    }

    fn real_path(&self, path: &FilePath) -> Option<FilePath> {
        std::fs::canonicalize(path.as_str()).ok()?.to_str().map(FilePath::new)
    }
}

fn other_error(error: std::io::Error) -> ReadError {
    ReadError::Other(error.to_string())
}

fn entry_of(metadata: &std::fs::Metadata, linked: bool) -> DiskEntry {
    if metadata.is_dir() {
        DiskEntry::Folder { linked }
    } else {
        DiskEntry::File(Stamp {
            modified: metadata.modified().ok(),
            touched: change_time(metadata),
            size: metadata.len(),
        })
    }
}

#[cfg(unix)]
fn change_time(metadata: &std::fs::Metadata) -> Option<(i64, i64)> {
    use std::os::unix::fs::MetadataExt;
    Some((metadata.ctime(), metadata.ctime_nsec()))
}

#[cfg(not(unix))]
fn change_time(_: &std::fs::Metadata) -> Option<(i64, i64)> {
    None
}

struct Walking<'a> {
    limits: &'a WalkLimits,
    out: Walk,
    /// Folders on disk that were listed: a link back to one of them would be for ever.
    seen: HashSet<PathBuf>,
    /// The folder that is walked, without links.
    root: Option<PathBuf>,
}

impl Walking<'_> {
    fn add(&mut self, path: &FilePath, os_path: &Path, depth: usize, linked: bool) {
        if self.out.entries.len() >= self.limits.max_entries {
            self.out.cut_short = true;
            return;
        }
        let metadata = match std::fs::metadata(os_path) {
            Ok(metadata) => metadata,
            Err(error) => return self.note_refusal(path, &error),
        };
        self.out.entries.insert(path.clone(), entry_of(&metadata, linked));
        if !metadata.is_dir() {
            return;
        }
        if depth >= self.limits.max_depth {
            return self.pass_over(path.clone(), UnlistedReason::TooDeep);
        }
        if linked || depth == 0 {
            let Ok(real) = std::fs::canonicalize(os_path) else { return };
            if !self.seen.insert(real) {
                return;
            }
        }
        for child in self.list_children(path, os_path) {
            let name = child.file_name();
            let Some(name) = name.to_str() else {
                self.pass_over(path.join(&name.to_string_lossy()), UnlistedReason::NotUtf8);
                continue;
            };
            let kind = match child.file_type() {
                Ok(kind) => kind,
                Err(error) => {
                    self.note_refusal(&path.join(name), &error);
                    continue;
                }
            };
            if kind.is_dir() && self.limits.skipped_folders.iter().any(|skipped| skipped == name) {
                continue;
            }
            let child_path = path.join(name);
            let link = kind.is_symlink();
            if link && !self.may_follow(&child_path, &child.path(), os_path) {
                continue;
            }
            self.add(&child_path, &child.path(), depth + 1, linked || link);
        }
    }

    /// Returns the entries of a folder, by name, as far as the disk lists them.
    fn list_children(&mut self, path: &FilePath, os_path: &Path) -> Vec<std::fs::DirEntry> {
        let listing = match std::fs::read_dir(os_path) {
            Ok(listing) => listing,
            Err(error) => {
                self.note_refusal(path, &error);
                return Vec::new();
            }
        };
        let mut children = Vec::new();
        for child in listing {
            match child {
                Ok(child) => children.push(child),
                Err(error) => self.note_refusal(path, &error),
            }
        }
        children.sort_by_key(std::fs::DirEntry::file_name);
        children
    }

    /// Notes that the disk refused. A file that is not there any more is not reported.
    fn note_refusal(&mut self, path: &FilePath, error: &std::io::Error) {
        if error.kind() != std::io::ErrorKind::NotFound {
            self.pass_over(path.clone(), UnlistedReason::Io(error.to_string()));
        }
    }

    fn pass_over(&mut self, path: FilePath, reason: UnlistedReason) {
        self.out.unlisted.push(Unlisted { path, reason });
    }

    /// Whether a link may be followed: to a file or folder within the trusted ones, and not to a
    /// folder that holds the link.
    fn may_follow(&mut self, path: &FilePath, link: &Path, folder: &Path) -> bool {
        let Ok(real) = std::fs::canonicalize(link) else { return false };
        let mut trusted = self.limits.trusted.iter().map(|folder| Path::new(folder.as_str()));
        if !self.root.as_deref().into_iter().chain(&mut trusted).any(|it| real.starts_with(it)) {
            self.pass_over(path.clone(), UnlistedReason::LeadsOut);
            return false;
        }
        !std::fs::canonicalize(folder).is_ok_and(|folder| folder.starts_with(&real))
    }
}

/// Writes the text of a file that has the text `before` on disk. Errors: the disk's, and one that
/// says so where the file has another text by now.
pub fn replace_text(path: &FilePath, before: &str, after: &str) -> std::io::Result<()> {
    if std::fs::read(path.as_str())? != before.as_bytes() {
        return Err(std::io::Error::other("it has changed since it was read"));
    }
    std::fs::write(path.as_str(), after)
}

/// Removes a file that has the text `before` on disk. Errors: as those of [`replace_text`].
pub fn remove_text(path: &FilePath, before: &str) -> std::io::Result<()> {
    if std::fs::read(path.as_str())? != before.as_bytes() {
        return Err(std::io::Error::other("it has changed since it was read"));
    }
    std::fs::remove_file(path.as_str())
}

/// Writes a file, a new one among them. Errors: the disk's.
pub fn write_text(path: &FilePath, text: &str) -> std::io::Result<()> {
    std::fs::write(path.as_str(), text)
}

/// Returns the path of the current folder; `None` when it is gone or no text.
pub fn current_dir() -> Option<FilePath> {
    std::env::current_dir().ok()?.to_str().map(FilePath::new)
}

/// Returns the value of an environment variable; `None` when it is not set or no text.
pub fn environment_variable(name: &str) -> Option<String> {
    // Names that no variable can have make the system's call fail.
    if name.is_empty() || name.contains(['=', '\0']) { None } else { std::env::var(name).ok() }
}

/// Returns the folder for what the user's programs can make again: that of `XDG_CACHE_HOME`, else
/// the system's habit below the home; `None` where the user has no home.
pub fn cache_folder() -> Option<FilePath> {
    folder_of_variable("XDG_CACHE_HOME").or_else(|| {
        if cfg!(windows) {
            return folder_of_variable("LOCALAPPDATA");
        }
        let below = if cfg!(target_os = "macos") { "Library/Caches" } else { ".cache" };
        Some(folder_of_variable("HOME")?.join(below))
    })
}

fn folder_of_variable(name: &str) -> Option<FilePath> {
    let text = environment_variable(name)?;
    Path::new(&text).is_absolute().then(|| FilePath::new(&text))
}
