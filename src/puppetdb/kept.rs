//! The answer of a PuppetDB on disk: a file of rows, and a file beside it that states what the rows
//! answer. Both are the user's alone.

use std::io::Write as _;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::PuppetdbConfig;
use super::age::{OldNodes, age_words};
use crate::disk::{FileSystem as _, OsFs, PrivateFile};
use crate::text::{FilePath, count_phrase, hex_digits};

/// The longest statement about an answer that is read, in bytes.
const MAX_STATEMENT: u64 = 1 << 20;

/// The files of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptAnswer {
    folder: FilePath,
    /// The name of both files without their extensions.
    name: String,
    /// The age that facts may have.
    max_age: Option<Duration>,
}

/// The statement beside an answer: the question and the rows.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize)]
struct Statement {
    /// The address of the PuppetDB.
    puppetdb: String,
    /// The fields that the PuppetDB was asked for.
    fields: Vec<String>,
    /// The number of nodes.
    nodes: usize,
    /// The nodes that were left out for the age of their facts.
    #[serde(default)]
    old: OldNodes,
    /// When the PuppetDB was asked, in seconds since 1970.
    time: u64,
    /// The SHA-256 of the rows.
    digest: String,
}

/// The last request that gave no answer.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize)]
struct FailedRequest {
    /// Why the request gave no answer, in words.
    reason: String,
    /// When the request failed, in seconds since 1970.
    time: u64,
}

/// The state of an answer, for people and scripts. It has no secret: names of facts, no value of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptState {
    /// The answer that is kept; `None` where there is none.
    pub answer: Option<AnswerState>,
    /// The age of the last request in words, and why it failed; `None` where it has an answer.
    pub failure: Option<(String, String)>,
}

/// An answer that is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnswerState {
    /// The answer's age in words: `3 h`.
    pub age: String,
    /// The number of the answer's nodes.
    pub nodes: usize,
    /// The nodes that the answer lacks because their facts were too old.
    pub old: OldNodes,
    /// The fields that were asked for.
    pub fields: Vec<String>,
}

impl KeptAnswer {
    /// Names the files for the nodes of a PuppetDB that these settings choose, and the folders whose
    /// data their facts are asked for.
    pub(super) fn new(
        cache: &FilePath,
        url: &str,
        config: &PuppetdbConfig,
        folders: &[FilePath],
    ) -> KeptAnswer {
        let mut digest = Sha256::new();
        digest.update(url);
        if config.query.is_some() || config.max_age.is_some() {
            digest.update(format!("\n{:?}", (&config.query, config.max_age)));
        }
        for folder in folders {
            digest.update("\n");
            digest.update(folder.as_str());
        }
        let host = url.split_once("://").map_or(url, |(_, host)| host);
        let host: String = host
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() || matches!(c, '.' | '-') { c } else { '-' })
            .collect();
        let host = host.trim_matches('-').get(..60).unwrap_or(host.trim_matches('-')).to_owned();
        let number = &hex_digits(&digest.finalize())[..12];
        KeptAnswer {
            folder: cache.join("hiera-ls/puppetdb"),
            name: format!("{host}-{number}"),
            max_age: config.max_age,
        }
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

    fn failure_path(&self) -> FilePath {
        self.folder.join(&format!("{}.failure.json", self.name))
    }

    /// Records why there is no new answer. The caller has reported a disk that refuses the record.
    pub(super) fn record_failure(&self, reason: &str) {
        let failure = FailedRequest { reason: reason.to_owned(), time: seconds_now() };
        let Ok(text) = serde_json::to_vec(&failure) else { return };
        let _ = self.write_private(&self.failure_path(), &text);
    }

    fn write_private(&self, path: &FilePath, text: &[u8]) -> Result<(), String> {
        let mut file = PrivateFile::create(path).map_err(|error| self.refusal(&error))?;
        file.write_all(text).map_err(|error| self.refusal(&error))?;
        file.put_in_place().map_err(|error| self.refusal(&error))
    }

    /// Returns the state of the answer.
    pub fn state(&self) -> KeptState {
        let known = self.statement();
        let failure: Option<FailedRequest> = OsFs
            .read(&self.failure_path(), MAX_STATEMENT)
            .ok()
            .and_then(|text| serde_json::from_slice(&text).ok());
        let failure = failure.map(|it| (age_words(age_of(it.time)), it.reason));
        let answer = known.map(|known| AnswerState {
            age: age_words(age_of(known.time)),
            nodes: known.nodes,
            old: known.old,
            fields: known.fields,
        });
        KeptState { answer, failure }
    }

    /// Returns what the kept rows are about; `None` where there are none. Processes that ask at the
    /// same time replace the two files in any order, so that the statement names its rows by their
    /// digest, and a statement about other rows is none.
    fn statement(&self) -> Option<Statement> {
        let text = OsFs.read(&self.statement_path(), MAX_STATEMENT).ok()?;
        let known: Statement = serde_json::from_slice(&text).ok()?;
        (self.rows_digest()? == known.digest).then_some(known)
    }

    /// Returns the SHA-256 of the kept rows; `None` where there are none.
    fn rows_digest(&self) -> Option<String> {
        let rows = OsFs.read(&self.rows(), u64::MAX).ok()?;
        Some(hex_digits(&Sha256::digest(rows)))
    }

    /// Whether the kept rows have these fields, perhaps among others.
    pub fn has_fields(&self, fields: &[String]) -> bool {
        self.statement()
            .as_ref()
            .is_some_and(|known| fields.iter().all(|field| known.fields.contains(field)))
    }

    /// Describes the answer that is kept, for a message: `its answer of 3 h ago is used`.
    pub(super) fn describe(&self) -> String {
        let Some(known) = self.statement() else {
            return "no earlier answer of it is kept, so that no nodes come from it".to_owned();
        };
        let nodes = count_phrase(known.nodes, "node");
        let old = self.old_sentence(&known.old).map_or_else(String::new, |old| format!("; {old}"));
        format!("its answer of {} ago is used, {nodes}{old}", age_words(age_of(known.time)))
    }

    /// Returns a sentence about the nodes that an answer lacks; `None` where it lacks none.
    pub fn old_sentence(&self, old: &OldNodes) -> Option<String> {
        old.sentence(self.max_age?)
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
    /// are about. Returns the number of rows.
    ///
    /// Errors: the disk's.
    pub(super) fn finish(
        self,
        url: &str,
        fields: &[String],
        old: OldNodes,
    ) -> Result<usize, String> {
        let digest = hex_digits(&self.digest.finalize());
        if self.kept.rows_digest().as_ref() != Some(&digest) {
            self.file.put_in_place().map_err(|error| self.kept.refusal(&error))?;
        }
        let statement = Statement {
            puppetdb: url.to_owned(),
            fields: fields.to_vec(),
            nodes: self.count,
            old,
            time: seconds_now(),
            digest,
        };
        let text = serde_json::to_vec(&statement).map_err(|error| error.to_string())?;
        self.kept.write_private(&self.kept.statement_path(), &text)?;
        // The failure of an earlier request is over, whatever the clock shows.
        if OsFs.entry(&self.kept.failure_path()).is_some() {
            self.kept.write_private(&self.kept.failure_path(), b"null")?;
        }
        Ok(self.count)
    }
}

impl KeptAnswer {
    fn refusal(&self, error: &std::io::Error) -> String {
        format!("its answer cannot be kept in {}: {error}", self.folder)
    }
}

/// Returns the present time in seconds since 1970.
fn seconds_now() -> u64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs()
}

/// Returns the age of a time in seconds since 1970.
fn age_of(time: u64) -> Duration {
    Duration::from_secs(seconds_now().saturating_sub(time))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_kept_once_they_are_complete() {
        let cache = std::env::temp_dir().join(format!("hiera-ls-kept-{}", std::process::id()));
        let cache = FilePath::new(cache.to_str().expect("it is UTF-8"));
        let new = |config: &PuppetdbConfig, folder: &str| {
            KeptAnswer::new(&cache, "https://puppetdb:8081", config, &[FilePath::new(folder)])
        };
        let all = PuppetdbConfig::default();
        let kept = new(&all, "/repo");
        assert_ne!(kept.rows(), new(&all, "/other").rows(), "each folder has its own fields");
        let some = PuppetdbConfig { query: Some("q".into()), ..all.clone() };
        let young = PuppetdbConfig { max_age: Some(Duration::from_secs(60)), ..all };
        let names = [&kept, &new(&some, "/repo"), &new(&young, "/repo")].map(KeptAnswer::rows);
        assert_eq!(names.iter().collect::<std::collections::BTreeSet<_>>().len(), 3, "other nodes");
        let fields = ["facts.os".to_owned()];
        let write = |rows: &[&str], is_finished: bool| {
            let mut writer = kept.begin_writing().expect("the folder can be made");
            rows.iter().for_each(|row| writer.write_row(row).expect("the disk has room"));
            is_finished.then(|| {
                let old = OldNodes::default();
                writer.finish("https://puppetdb:8081", &fields, old).expect("it has")
            })
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
        let before = kept.state();
        kept.record_failure("connection refused");
        let state = kept.state();
        write(&["{}"], true);
        let after = kept.state();
        let (asked, not_asked) =
            (kept.has_fields(&fields), kept.has_fields(&["facts.kernel".to_owned()]));
        std::fs::write(kept.rows().as_str(), "{\"b\": 1}\n").expect("it is there");
        let other_rows = kept.has_fields(&fields);
        write(&["{}"], true);
        let mended = OsFs.read(&kept.rows(), 100);
        let names = std::fs::read_dir(kept.folder().as_str()).expect("it is there").count();
        #[cfg(unix)]
        let mode = {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = |path: &str| std::fs::metadata(path).expect("it is").permissions().mode();
            [mode(kept.rows().as_str()), mode(kept.folder().as_str())].map(|mode| mode & 0o777)
        };
        std::fs::remove_dir_all(cache.as_str()).expect("it is there");
        assert!(none.starts_with("no earlier answer"), "{none}");
        assert_eq!((first, same), (Some(2), Some(2)));
        assert!(untouched, "the same rows are not written again");
        assert_eq!(text, Ok(b"{\"a\": 1}\n{}\n".to_vec()));
        assert!(told.ends_with("is used, 2 nodes"), "{told}");
        assert!(asked && !not_asked);
        assert!(!other_rows, "another process has replaced the rows alone");
        assert_eq!(
            mended,
            Ok(b"{}\n".to_vec()),
            "rows that the statement does not name are replaced"
        );
        assert_eq!(before.failure, None);
        assert_eq!(after.failure, None, "an answer of the same second ends the failure");
        let answer = state.answer.expect("it is kept");
        assert_eq!((answer.nodes, &answer.fields[..]), (2, &fields[..]));
        assert_eq!(state.failure.map(|(_, reason)| reason).as_deref(), Some("connection refused"));
        assert_eq!(names, 3, "nothing is left of rows that were not finished");
        #[cfg(unix)]
        assert_eq!(mode, [0o600, 0o700]);
    }
}
