//! The client's features that answers depend on.

use std::collections::BTreeMap;

use super::requests::Announced;
use crate::text::Encoding;

/// The client's features that answers depend on.
#[derive(Clone, Debug, Default)]
pub(super) struct Features {
    /// The unit of columns.
    pub(super) encoding: Encoding,
    /// Hovers may be Markdown.
    pub(super) markdown: bool,
    /// Hovers in Markdown may have links.
    pub(super) hover_links: bool,
    /// How users call the actions of hovers, by the actions' names.
    pub(super) hover_actions: BTreeMap<String, String>,
    /// Definitions may say for which range they are.
    pub(super) links: bool,
    /// The client's features of completion.
    pub(super) completion: CompletionFeatures,
    /// Findings may name other places.
    pub(super) related_information: bool,
    /// It shows progress.
    pub(super) progress: bool,
    /// It can be asked for settings.
    pub(super) configuration: bool,
    /// It can be asked to watch files.
    pub(super) watches_files: bool,
    /// It subscribes to the status.
    pub(super) status: bool,
    /// It can be asked to tell of changed settings.
    pub(super) tells_configuration: bool,
    /// Its features that answers about the structure of files depend on.
    pub(super) announced: Announced,
}

/// The format of a text that explains something.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum TextFormat {
    /// A string: the client knows no formats.
    #[default]
    Unmarked,
    /// Plain text, marked as such.
    Plain,
    /// Markdown.
    Markdown,
}

/// The client's features of completion.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct CompletionFeatures {
    /// Texts may have places to fill in.
    pub(super) snippets: bool,
    /// The format of explanations.
    pub(super) format: TextFormat,
    /// Texts may ask for no indentation by the client.
    pub(super) as_is: bool,
    /// A list may have the range that its items replace.
    pub(super) default_range: bool,
    /// Items that the user looks at are asked for their details.
    pub(super) resolves_details: bool,
}
