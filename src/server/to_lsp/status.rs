//! `hiera/status`: the server's view of the workspace, sent to clients that announce
//! `experimental.hiera.status`, and to those that request it.

use serde::{Deserialize, Serialize};
use tower_lsp::lsp_types::{self as lsp, notification::Notification};

use super::file_uri;
use crate::ide::reach::Reach;
use crate::text::FilePath;
use crate::workspace::Snapshot;
use crate::workspace::environments::overview::Overview;
use crate::workspace::files::kinds::SETTINGS_FILE;
use crate::workspace::queries::ungoverned::WithoutConfig;

/// The notification.
pub(in crate::server) enum StatusNotification {}

impl Notification for StatusNotification {
    type Params = Status;
    const METHOD: &'static str = "hiera/status";
}

/// The parameters of the notification.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::server) struct Status {
    state: State,
    environments: usize,
    /// The files that are read: data of all levels, and every `hiera.yaml`.
    files: usize,
    /// The root keys in the files that are read, each once.
    keys: usize,
    /// The nodes that are known.
    nodes: usize,
    /// The node whose values are shown.
    selected: Option<String>,
    /// A line for each environment: its `hiera.yaml`, its data files, and the sources of its nodes.
    governing: Vec<String>,
    /// The keys and nodes that the texts of the client change, in words; `None` where no entry is
    /// edited, and where `codeLens.reach` is off.
    reach: Option<String>,
    /// The open files that look like Hiera data and that no `hiera.yaml` governs, where there is a
    /// config that could.
    without_config: Vec<FileWithoutConfig>,
}

/// An open file that no `hiera.yaml` governs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct FileWithoutConfig {
    uri: lsp::Url,
    /// The settings file that may name the config.
    settings: lsp::Url,
    /// The candidates: those that read the file first, then in the order of their rank.
    candidates: Vec<ConfigCandidate>,
}

/// A config that may be chosen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ConfigCandidate {
    uri: lsp::Url,
    /// The value for the setting `hieraConfig`: the path below the folder of the settings file.
    hiera_config: String,
    /// How many existing files the config reads.
    data_files: usize,
    /// Whether the config reads the open file.
    reads_file: bool,
}

impl FileWithoutConfig {
    /// `None` where a path has no address.
    fn from_found(found: &WithoutConfig) -> Option<FileWithoutConfig> {
        Some(FileWithoutConfig {
            uri: file_uri(&found.path)?,
            settings: file_uri(&found.folder.join(SETTINGS_FILE))?,
            candidates: found
                .candidates
                .iter()
                .filter_map(|config| {
                    Some(ConfigCandidate {
                        uri: file_uri(&config.path)?,
                        hiera_config: config.path.relative_to(&found.folder)?.to_owned(),
                        data_files: config.data_files,
                        reads_file: config.reads_file,
                    })
                })
                .collect(),
        })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum State {
    /// The folders are being read for the first time: other files may be missing.
    Reading,
    Ready,
}

impl Status {
    /// Returns the status with this reach of the edits.
    pub(in crate::server) fn with_reach(self, reach: &Reach) -> Status {
        Status { reach: reach.total.clone(), ..self }
    }

    /// Returns the status of a snapshot, without the reach of the edits. Reads all data, as the findings
    /// do.
    pub(in crate::server) fn from_snapshot(snapshot: &Snapshot) -> Status {
        let configs = snapshot
            .environments()
            .all
            .iter()
            .map(|environment| environment.all_configs().count())
            .sum::<usize>();
        Status {
            state: if snapshot.complete { State::Ready } else { State::Reading },
            environments: snapshot.environments().all.len(),
            files: snapshot.keys().file_count() + configs,
            keys: snapshot.keys().key_count(),
            nodes: snapshot.distinct_nodes().len(),
            selected: snapshot.chosen_node().map(|node| node.name.to_string()),
            governing: snapshot
                .overviews()
                .iter()
                .map(|one| one.status_line(&folder_of_overview(one, snapshot)))
                .collect(),
            reach: None,
            without_config: snapshot
                .files_without_config()
                .iter()
                .filter_map(FileWithoutConfig::from_found)
                .collect(),
        }
    }
}

fn folder_of_overview(one: &Overview, snapshot: &Snapshot) -> FilePath {
    let folders = snapshot.folders();
    folders.iter().find(|folder| one.root.is_within(folder)).unwrap_or(&one.root).clone()
}
