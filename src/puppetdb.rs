//! PuppetDB as a source of nodes: a query for the facts that data and hierarchies read, and the file
//! that keeps its answer. The only room that opens connections.
//!
//! The answer is a file of JSON lines in the user's cache folder, which is read as any other file of
//! nodes. A request fills it anew; a request that fails leaves the previous answer in its place.

mod age;
mod client;
mod connector;
mod fields;
mod kept;

use std::time::Duration;

use crate::disk;
use crate::text::{FilePath, count_phrase};
use age::AgeFilter;

pub use age::{OldNodes, parse_age};
pub use fields::fields_for;
pub use kept::{AnswerState, KeptAnswer, KeptState};

/// How long PuppetDB may send nothing, unless a setting says otherwise.
const USUAL_TIMEOUT: Duration = Duration::from_secs(30);

/// The user's settings for PuppetDB.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PuppetdbConfig {
    /// PuppetDB's address, without the path of a query; `None` asks no PuppetDB.
    pub url: Option<String>,
    /// The certificate of the CA that signs PuppetDB's certificate, a PEM file.
    pub ca: Option<FilePath>,
    /// The certificate that names the client, a PEM file.
    pub cert: Option<FilePath>,
    /// The private key of the client's certificate, a PEM file.
    pub key: Option<FilePath>,
    /// A file with a token that names the client; `None` sends none.
    pub token_file: Option<FilePath>,
    /// A condition that the nodes must meet, in PQL or as a list in JSON; `None` for all active nodes.
    pub query: Option<String>,
    /// The age that the facts of a node may have; `None` for any.
    pub max_age: Option<Duration>,
    /// How long PuppetDB may send nothing; `None` for the usual time.
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
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refreshed {
    /// The number of nodes in the answer.
    pub nodes: usize,
    /// Sentences about what the user should know of the answer: the nodes that it lacks.
    pub notes: Vec<String>,
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
        let kept = KeptAnswer::new(&cache, &url, self, folders);
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
            let query = fields::query_for(fields, &self.config)?;
            let mut ages = self.config.max_age.map(AgeFilter::new);
            let token_note = client::ask(&self.url, &self.config, &query, max_size, &mut |row| {
                match &mut ages {
                    None => writer.write_row(row)?,
                    Some(ages) => ages.take(row)?.map_or(Ok(()), |row| writer.write_row(&row))?,
                }
                progress(writer.count());
                Ok(())
            })?;
            let old = ages.map(|ages| ages.old).unwrap_or_default();
            let notes = token_note.into_iter().chain(self.kept.old_sentence(&old)).collect();
            let nodes = writer.finish(&self.url, fields, old)?;
            Ok(Refreshed { nodes, notes })
        })();
        asked.map_err(|reason: String| {
            self.kept.record_failure(&reason);
            format!("{reason}; {}", self.kept.describe())
        })
    }

    /// Returns the condition that the nodes must meet; `None` for all active nodes.
    pub fn query(&self) -> Option<&str> {
        self.config.query.as_deref()
    }

    /// Returns PuppetDB's address.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Returns PuppetDB's state as a page, for people: the address, the condition, the answer that
    /// is kept with its age, its nodes, those left out, the facts that were asked for, and the last
    /// failure.
    pub fn page(&self) -> String {
        let KeptState { answer, failure } = self.kept.state();
        let mut lines = vec![format!("PuppetDB at {}", self.url)];
        lines.extend(
            self.config.query.iter().map(|query| format!("  asked for nodes with {query}")),
        );
        match answer {
            Some(AnswerState { age, nodes, old, fields }) => {
                let nodes = count_phrase(nodes, "node");
                lines.push(format!("  its answer of {age} ago has {nodes}"));
                lines.extend(self.kept.old_sentence(&old).map(|old| format!("  {old}")));
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
