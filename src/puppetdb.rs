//! PuppetDB as a source of nodes: a query for the facts that data and hierarchies read, and the file
//! that keeps its answer. The only room that opens connections.
//!
//! The answer is a file of JSON lines in the user's cache folder, which is read as any other file of
//! nodes. A request fills it anew; a request that fails leaves the previous answer in its place.

mod client;
mod fields;
mod kept;

use std::time::Duration;

use crate::disk;
use crate::text::{FilePath, count_phrase};

pub use fields::fields_for;
pub use kept::{AnswerState, KeptAnswer, KeptState};

/// How long PuppetDB may send nothing, unless a setting says otherwise.
const USUAL_TIMEOUT: Duration = Duration::from_secs(30);

/// The user's settings for PuppetDB.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PuppetdbConfig {
    /// Its address, without the path of a query; `None` asks no PuppetDB.
    pub url: Option<String>,
    /// The certificate of the CA that signs its certificate, a PEM file.
    pub ca: Option<FilePath>,
    /// The certificate that names the client, a PEM file.
    pub cert: Option<FilePath>,
    /// The private key of that certificate, a PEM file.
    pub key: Option<FilePath>,
    /// How long it may send nothing; `None` for the usual time.
    pub timeout: Option<Duration>,
}

/// A PuppetDB that is asked, and the file that keeps its answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Puppetdb {
    url: String,
    config: PuppetdbConfig,
    kept: KeptAnswer,
}

/// The effect of a request on the kept answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refreshed {
    /// The number of nodes in the answer.
    pub nodes: usize,
    /// Whether the answer is another one than before.
    pub is_other: bool,
}

impl PuppetdbConfig {
    /// Returns the PuppetDB that is asked for the nodes of these folders; `None` where the settings
    /// name none.
    ///
    /// Errors: there is no folder for its answer.
    pub fn source(&self, folders: &[FilePath]) -> Option<Result<Puppetdb, String>> {
        let url = self.url.clone()?;
        let Some(cache) = disk::cache_folder() else {
            return Some(Err("there is no folder for its answer: the user has no home".into()));
        };
        let kept = KeptAnswer::new(&cache, &url, folders);
        Some(Ok(Puppetdb { url, config: self.clone(), kept }))
    }

    fn timeout(&self) -> Duration {
        self.timeout.unwrap_or(USUAL_TIMEOUT)
    }
}

impl Puppetdb {
    /// Returns the file that keeps the answer.
    pub fn kept(&self) -> &KeptAnswer {
        &self.kept
    }

    /// Asks for the nodes with these fields, and keeps the answer, of `max_size` bytes at most.
    /// `progress` is told the number of nodes so far.
    ///
    /// Errors: why there is no new answer, and which one is kept.
    pub fn refresh(
        &self,
        fields: &[String],
        max_size: u64,
        progress: &dyn Fn(usize),
    ) -> Result<Refreshed, String> {
        let asked = (|| {
            let mut writer = self.kept.begin_writing().map_err(|error| {
                format!("its answer cannot be kept in {}: {error}", self.kept.folder())
            })?;
            let query = fields::query_for(fields);
            client::ask(&self.url, &self.config, &query, max_size, &mut |row| {
                writer.write_row(row)?;
                progress(writer.count());
                Ok(())
            })?;
            writer.finish(&self.url, fields)
        })();
        asked.map_err(|reason: String| {
            self.kept.record_failure(&reason);
            format!("{reason}; {}", self.kept.describe())
        })
    }

    /// Returns its address.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Returns its state as a page, for people: the address, the answer that is kept with its age, its
    /// nodes and the facts that were asked for, and the last failure.
    pub fn page(&self) -> String {
        let KeptState { answer, failure } = self.kept.state();
        let mut lines = vec![format!("PuppetDB at {}", self.url)];
        match answer {
            Some(AnswerState { age, nodes, fields }) => {
                let nodes = count_phrase(nodes, "node");
                lines.push(format!("  its answer of {age} ago has {nodes}"));
                lines.push(format!("  with the fields {}", fields.join(", ")));
            }
            None => lines.push("  no answer of it is kept".to_owned()),
        }
        if let Some((age, reason)) = failure {
            lines.push(format!("  the last request, {age} ago, failed: {reason}"));
        }
        lines.join("\n") + "\n"
    }
}

#[cfg(test)]
mod tests;
