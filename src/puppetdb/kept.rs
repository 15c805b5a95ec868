//! The answer of a PuppetDB on disk: a file of rows, and a file beside it that states what the rows
//! answer. Both are the user's alone.

use std::io::Write as _;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::Refreshed;
use crate::disk::{FileSystem as _, OsFs, PrivateFile};
use crate::text::{FilePath, hex_digits};

/// The longest statement about an answer that is read, in bytes.
const MAX_STATEMENT: u64 = 1 << 20;

/// The files of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptAnswer {
    folder: FilePath,
    /// The name of both files without their extensions.
    name: String,
}

/// The statement beside an answer: the question and the rows.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize)]
struct Statement {
    /// The address of the PuppetDB.
    puppetdb: String,
    /// The fields that it was asked for.
    fields: Vec<String>,
    /// The number of nodes.
    nodes: usize,
    /// When it was asked, in seconds since 1970.
    time: u64,
    /// The SHA-256 of the rows.
    digest: String,
}

impl KeptAnswer {
    /// Names the files for a PuppetDB and the folders whose data its facts are asked for.
    pub(super) fn new(cache: &FilePath, url: &str, folders: &[FilePath]) -> KeptAnswer {
        let mut digest = Sha256::new();
        digest.update(url);
        for folder in folders {
            digest.update("\n");
            digest.update(folder.as_str());
        }
        let host = url.split_once("://").map_or(url, |(_, host)| host);
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-');
        let host: String = host.chars().map(|c| if is_plain(c) { c } else { '-' }).collect();
        let host = host.trim_matches('-').get(..60).unwrap_or(host.trim_matches('-')).to_owned();
        let number = &hex_digits(&digest.finalize())[..12];
        KeptAnswer { folder: cache.join("hiera-ls/puppetdb"), name: format!("{host}-{number}") }
    }

    /// Returns the folder of the files.
    pub(super) fn folder(&self) -> &FilePath {
        &self.folder
    }

    /// Returns the file of the rows: JSON lines, each a node.
    pub fn rows(&self) -> FilePath {
        self.folder.join(&format!("{}.jsonl", self.name))
    }

    fn statement_path(&self) -> FilePath {
        self.folder.join(&format!("{}.json", self.name))
    }

    /// Returns what the kept rows are about; `None` where there are none.
    fn statement(&self) -> Option<Statement> {
        OsFs.entry(&self.rows())?;
        let text = OsFs.read(&self.statement_path(), MAX_STATEMENT).ok()?;
        serde_json::from_slice(&text).ok()
    }

    /// Whether the kept rows have these fields, perhaps among others.
    pub fn has_fields(&self, fields: &[String]) -> bool {
        let has = |known: &Statement| fields.iter().all(|field| known.fields.contains(field));
        self.statement().as_ref().is_some_and(has)
    }

    /// Describes the answer that is kept, for a message: `its answer of 3 h ago is used`.
    pub(super) fn describe(&self) -> String {
        let Some(known) = self.statement() else {
            return "no earlier answer of it is kept, so that no nodes come from it".to_owned();
        };
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(known.time);
        let age = SystemTime::now().duration_since(time).unwrap_or_default();
        let plural = if known.nodes == 1 { "" } else { "s" };
        format!("its answer of {} ago is used, {} node{plural}", age_words(age), known.nodes)
    }

    /// Begins to write other rows beside the kept ones.
    pub(super) fn begin_writing(&self) -> std::io::Result<RowWriter<'_>> {
        let file = PrivateFile::create(&self.rows())?;
        Ok(RowWriter { kept: self, file, digest: Sha256::new(), count: 0 })
    }
}

/// Writes the rows of an answer. Rows that are not finished are removed.
pub(super) struct RowWriter<'a> {
    kept: &'a KeptAnswer,
    file: PrivateFile,
    digest: Sha256,
    count: usize,
}

impl RowWriter<'_> {
    /// Returns the number of rows so far.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// Writes a row, a JSON text. Errors: the disk's.
    pub(super) fn write_row(&mut self, row: &str) -> Result<(), String> {
        // Line breaks in JSON are white space.
        let line = row.replace(['\n', '\r'], " ") + "\n";
        self.digest.update(&line);
        self.count += 1;
        self.file.write_all(line.as_bytes()).map_err(|error| self.kept.refusal(&error))
    }

    /// Puts the rows in the place of the kept ones, unless they are the same, and states what they
    /// are about. Errors: the disk's.
    pub(super) fn finish(self, url: &str, fields: &[String]) -> Result<Refreshed, String> {
        let digest = hex_digits(&self.digest.finalize());
        let known = self.kept.statement();
        let is_other = known.is_none_or(|known| known.digest != digest);
        let refusal = |error| self.kept.refusal(&error);
        if is_other {
            self.file.put_in_place().map_err(refusal)?;
        }
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let statement = Statement {
            puppetdb: url.to_owned(),
            fields: fields.to_vec(),
            nodes: self.count,
            time: now.as_secs(),
            digest,
        };
        let text = serde_json::to_vec(&statement).map_err(|error| error.to_string())?;
        let mut file = PrivateFile::create(&self.kept.statement_path()).map_err(refusal)?;
        file.write_all(&text).map_err(refusal)?;
        file.put_in_place().map_err(refusal)?;
        Ok(Refreshed { nodes: self.count, is_other })
    }
}

impl KeptAnswer {
    fn refusal(&self, error: &std::io::Error) -> String {
        format!("its answer cannot be kept in {}: {error}", self.folder)
    }
}

/// Returns an age in its largest unit: `12 s`, `3 h`.
fn age_words(age: Duration) -> String {
    match age.as_secs() {
        seconds @ ..60 => format!("{seconds} s"),
        seconds @ 60..3600 => format!("{} min", seconds / 60),
        seconds @ 3600..86_400 => format!("{} h", seconds / 3600),
        seconds => format!("{} d", seconds / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_age_is_told_in_its_largest_unit() {
        let words = [0, 59, 60, 7199, 86_399, 400_000].map(|it| age_words(Duration::from_secs(it)));
        assert_eq!(words, ["0 s", "59 s", "1 min", "1 h", "23 h", "4 d"]);
    }

    #[test]
    fn rows_are_kept_once_they_are_complete() {
        let cache = std::env::temp_dir().join(format!("hiera-ls-kept-{}", std::process::id()));
        let cache = FilePath::new(cache.to_str().expect("it is UTF-8"));
        let kept = KeptAnswer::new(&cache, "https://puppetdb:8081", &[FilePath::new("/repo")]);
        let other = KeptAnswer::new(&cache, "https://puppetdb:8081", &[FilePath::new("/other")]);
        assert_ne!(kept.rows(), other.rows(), "each folder has its own fields");
        let fields = ["facts.os".to_owned()];
        let write = |rows: &[&str], is_finished: bool| {
            let mut writer = kept.begin_writing().expect("the folder can be made");
            rows.iter().for_each(|row| writer.write_row(row).expect("the disk has room"));
            is_finished.then(|| writer.finish("https://puppetdb:8081", &fields).expect("it has"))
        };
        write(&["{}"], false);
        let none = kept.describe();
        let first = write(&["{\"a\":\n1}", "{}"], true);
        let stamp = OsFs.entry(&kept.rows());
        let same = write(&["{\"a\":\n1}", "{}"], true);
        let untouched = OsFs.entry(&kept.rows()) == stamp;
        write(&["{}"], false);
        let text = OsFs.read(&kept.rows(), 100);
        let told = kept.describe();
        let (asked, not_asked) =
            (kept.has_fields(&fields), kept.has_fields(&["facts.kernel".to_owned()]));
        let names = std::fs::read_dir(kept.folder().as_str()).expect("it is there").count();
        #[cfg(unix)]
        let mode = {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = |path: &str| std::fs::metadata(path).expect("it is").permissions().mode();
            [mode(kept.rows().as_str()), mode(kept.folder().as_str())].map(|mode| mode & 0o777)
        };
        std::fs::remove_dir_all(cache.as_str()).expect("it is there");
        assert!(none.starts_with("no earlier answer"), "{none}");
        assert_eq!(first, Some(Refreshed { nodes: 2, is_other: true }));
        assert_eq!(same, Some(Refreshed { nodes: 2, is_other: false }));
        assert!(untouched, "the same rows are not written again");
        assert_eq!(text, Ok(b"{\"a\": 1}\n{}\n".to_vec()));
        assert!(told.ends_with("is used, 2 nodes"), "{told}");
        assert!(asked && !not_asked);
        assert_eq!(names, 2, "nothing is left of rows that were not finished");
        #[cfg(unix)]
        assert_eq!(mode, [0o600, 0o700]);
    }
}
