//! `hiera/status`: what the server knows of the workspace, told to clients that announce
//! `experimental.hiera.status`.

use serde::{Deserialize, Serialize};
use tower_lsp::lsp_types::notification::Notification;

use crate::workspace::Snapshot;
use crate::workspace::overview::Overview;

/// The notification.
pub(super) enum StatusNotification {}

impl Notification for StatusNotification {
    type Params = Status;
    const METHOD: &'static str = "hiera/status";
}

/// What is told.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Status {
    state: State,
    environments: usize,
    /// The files that are read: data of all levels, and every `hiera.yaml`.
    files: usize,
    /// The root keys in them, each once.
    keys: usize,
    /// The nodes that are known.
    nodes: usize,
    /// The node whose values are shown.
    selected: Option<String>,
    /// A line for each environment: its `hiera.yaml`, its data files, and the sources of its nodes.
    governing: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum State {
    /// The folders are being read for the first time: other files may be missing.
    Reading,
    Ready,
}

impl Status {
    /// The status of a snapshot. Reads all data, as the findings do.
    pub(super) fn of(snapshot: &Snapshot) -> Status {
        let folder_of = |one: &Overview| {
            let folders = snapshot.folders();
            folders.iter().find(|folder| one.root.is_within(folder)).unwrap_or(&one.root).clone()
        };
        let configs = snapshot
            .environments()
            .all
            .iter()
            .map(|environment| environment.configs().count())
            .sum::<usize>();
        Status {
            state: if snapshot.complete { State::Ready } else { State::Reading },
            environments: snapshot.environments().all.len(),
            files: snapshot.keys().file_count() + configs,
            keys: snapshot.keys().key_count(),
            nodes: snapshot.distinct_nodes().len(),
            selected: snapshot.selected().map(|node| node.name.to_string()),
            governing: snapshot.overviews().iter().map(|one| one.line(&folder_of(one))).collect(),
        }
    }
}
