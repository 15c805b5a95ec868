//! The disk, behind a trait of few methods; the only user of `std::fs`.

mod watcher;

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::SystemTime;

use crate::text::FilePath;

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
    /// Its path; bytes that are no UTF-8 are replaced.
    pub path: FilePath,
    /// The reason.
    pub reason: UnlistedReason,
}

/// The reason why a walk passed over a file or a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UnlistedReason {
    /// The operating system refused, in its words.
    Io(String),
    /// It is a folder at the greatest depth that is walked.
    TooDeep,
    /// Its name is not UTF-8.
    NotUtf8,
    /// It is a link out of the folders that links may lead into.
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
        /// Whether it was reached through a link.
        linked: bool,
    },
}

/// The identity of one version of a file on disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Stamp {
    /// The time of its last change, if the file system records it.
    pub modified: Option<SystemTime>,
    /// The time of the last change to anything about it, in seconds and nanoseconds, on systems
    /// that know it: another file in its place may have its time and length, and the permission to
    /// read it is no part of its content.
    pub touched: Option<(i64, i64)>,
    /// Its length in bytes.
    pub size: u64,
}

/// The reason why a file was not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReadError {
    /// It is longer than allowed: its length in bytes.
    TooLarge(u64),
    /// It is a folder.
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

/// A folder that only the user may look into, removed with all that is in it when this is dropped.
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

    /// Returns its name, which is random and cannot be guessed.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Creates a folder in it.
    pub fn create_folder(&self, name: &str) -> std::io::Result<PathBuf> {
        let path = self.path.join(name);
        create_private(&path).map(|()| path)
    }

    /// Writes a file in it.
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

/// Whether a file's mode lets users read it that are not its owner. Unknown modes do not.
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

/// Returns the user's processes that were started with this environment variable, where the system
/// lists them (Linux).
#[cfg(unix)]
pub fn processes_with(name: &str, value: &str) -> Vec<i32> {
    let wanted = format!("{name}={value}");
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    let numbers = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<i32>().ok());
    numbers
        .filter(|number| {
            let environment = std::fs::read(format!("/proc/{number}/environ")).unwrap_or_default();
            environment.split(|byte| *byte == 0).any(|one| one == wanted.as_bytes())
        })
        .collect()
}

/// A process of this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg(unix)]
pub struct ProcessEntry {
    /// Its number.
    pub number: i32,
    /// The number of its parent.
    pub parent: i32,
}

/// Returns the processes of this machine, where the system lists them (Linux).
#[cfg(unix)]
pub fn processes() -> Vec<ProcessEntry> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    let numbers = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<i32>().ok());
    numbers
        .filter_map(|number| {
            let status = std::fs::read_to_string(format!("/proc/{number}/stat")).ok()?;
            // The program's name stands in brackets and may hold some; the state is behind it.
            let parent = status.rsplit_once(')')?.1.split(' ').nth(2)?.parse().ok()?;
            Some(ProcessEntry { number, parent })
        })
        .collect()
}

/// Files in memory, for tests and for work that needs no disk.
#[derive(Debug, Default)]
pub struct MemoryFs {
    files: Mutex<BTreeMap<FilePath, Vec<u8>>>,
}

impl MemoryFs {
    /// No files.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_walk_goes_as_deep_as_it_may() {
        let root = std::env::temp_dir().join(format!("hiera-ls-depth-{}", std::process::id()));
        std::fs::create_dir_all(root.join("a/b")).unwrap();
        for file in ["1", "a/2", "a/b/3"] {
            std::fs::write(root.join(file), "").unwrap();
        }
        let path = FilePath::new(root.to_str().unwrap());
        let found = |max_depth| {
            let limits = WalkLimits {
                skipped_folders: Vec::new(),
                trusted: Vec::new(),
                max_entries: 1000,
                max_depth,
            };
            let walk = OsFs.walk(&path, &limits);
            walk.entries
                .keys()
                .filter_map(|found| found.relative_to(&path).map(str::to_owned))
                .collect::<Vec<_>>()
        };
        let all = [found(0), found(1), found(2), found(3)];
        std::fs::remove_dir_all(&root).unwrap();
        assert_eq!(all[0], [""]);
        assert_eq!(all[1], ["", "1", "a"]);
        assert_eq!(all[2], ["", "1", "a", "a/2", "a/b"]);
        assert_eq!(all[3], ["", "1", "a", "a/2", "a/b", "a/b/3"]);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_file_longer_than_its_metadata_is_read_up_to_the_limit() {
        // Their length is 0 to the system. The second one's content is as long as the address
        // space, is read in steps of eight bytes only, and not every system lets a process read it.
        for (name, limit) in [("status", 63), ("pagemap", 4095)] {
            let path = FilePath::new(&format!("/proc/self/{name}"));
            if name == "pagemap" && std::fs::File::open(path.as_str()).is_err() {
                continue;
            }
            let Some(DiskEntry::File(stamp)) = OsFs.entry(&path) else { panic!("it is a file") };
            assert_eq!(stamp.size, 0);
            assert_eq!(OsFs.read(&path, limit), Err(ReadError::TooLarge(limit + 1)), "{name}");
        }
        let status = OsFs.read(&FilePath::new("/proc/self/status"), 1 << 20);
        assert!(status.is_ok_and(|bytes| bytes.len() > 64), "below the limit it is read");
    }

    #[cfg(unix)]
    #[test]
    fn a_file_in_anothers_place_is_another_version() {
        let root = std::env::temp_dir().join(format!("hiera-ls-stamp-{}", std::process::id()));
        std::fs::create_dir_all(&root).unwrap();
        let [one, other] = ["one.yaml", "other.yaml"].map(|name| root.join(name));
        std::fs::write(&one, "a: 1").unwrap();
        std::fs::write(&other, "d: 1").unwrap();
        let time = std::fs::metadata(&one).unwrap().modified().unwrap();
        let other_file = std::fs::File::options().write(true).open(&other).unwrap();
        other_file.set_modified(time).unwrap();
        let entry = || OsFs.entry(&FilePath::new(one.to_str().unwrap()));
        let before = entry();
        let still = entry();
        // The clock of a disk is coarse.
        std::thread::sleep(std::time::Duration::from_millis(50));
        std::fs::rename(&other, &one).unwrap();
        let after = entry();
        std::fs::remove_dir_all(&root).unwrap();
        assert!(before == still && matches!(before, Some(DiskEntry::File(_))));
        assert_ne!(before, after, "it has the time and the length of the one before");
    }

    #[cfg(unix)]
    #[test]
    fn links_are_followed_within_the_root_only_and_never_for_ever() {
        use std::os::unix::fs::symlink;
        let root = std::env::temp_dir().join(format!("hiera-ls-walk-{}", std::process::id()));
        let outside = root.join("outside");
        let inside = root.join("repo");
        std::fs::create_dir_all(inside.join("data")).unwrap();
        std::fs::create_dir_all(&outside).unwrap();
        std::fs::write(outside.join("secret.yaml"), "a: 1").unwrap();
        std::fs::write(inside.join("data/common.yaml"), "a: 1").unwrap();
        symlink(&inside, inside.join("data/loop")).unwrap();
        symlink(&outside, inside.join("data/out")).unwrap();
        symlink(inside.join("data"), inside.join("linked")).unwrap();
        symlink(inside.join("nowhere"), inside.join("dangling.yaml")).unwrap();
        let path = FilePath::new(inside.to_str().unwrap());
        let limits = WalkLimits {
            skipped_folders: Vec::new(),
            trusted: Vec::new(),
            max_entries: 1000,
            max_depth: 64,
        };
        let walk = OsFs.walk(&path, &limits);
        let found: Vec<&str> =
            walk.entries.keys().filter_map(|found| found.relative_to(&path)).collect();
        std::fs::remove_dir_all(&root).unwrap();
        assert_eq!(found, ["", "data", "data/common.yaml", "linked", "linked/common.yaml"]);
    }
}
