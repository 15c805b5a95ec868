//! One version of one file. What is derived from it is computed once, on first use, and shared by all snapshots.

use std::sync::{Arc, OnceLock};

use super::fs::{ReadError, Stamp};
use crate::hiera::data::{DataFile, Format, Problem, ProblemKind};
use crate::text::{FileId, FilePath, Span, Text, TextRange};
use crate::yaml::{self, Tree};

/// A version of a file.
#[derive(Debug)]
pub struct File {
    /// Its number, the same for all versions.
    pub id: FileId,
    /// Its path.
    pub path: FilePath,
    /// What is in it.
    pub content: Content,
    /// Which version on disk this is; `None` for a text that an editor holds.
    pub stamp: Option<Stamp>,
    tree: OnceLock<Arc<Tree>>,
    yaml: OnceLock<Arc<DataFile>>,
    json: OnceLock<Arc<DataFile>>,
}

/// What is in a file.
#[derive(Clone, Debug)]
pub enum Content {
    /// A text.
    Text(Text),
    /// Bytes that are no UTF-8, from this offset on.
    NotUtf8(usize),
    /// It could not be read.
    Unreadable(ReadError),
}

impl Content {
    /// The content of bytes as read, or of the failure to read them.
    pub fn new(read: Result<Vec<u8>, ReadError>) -> Content {
        match read.map(String::from_utf8) {
            Ok(Ok(text)) => Content::Text(Text::new(&text)),
            Ok(Err(error)) => Content::NotUtf8(error.utf8_error().valid_up_to()),
            Err(error) => Content::Unreadable(error),
        }
    }
}

impl File {
    /// A version of the file at `path`.
    pub fn new(id: FileId, path: FilePath, content: Content, stamp: Option<Stamp>) -> File {
        File { id, path, content, stamp, tree: OnceLock::new(), yaml: OnceLock::new(), json: OnceLock::new() }
    }

    /// Its text, if it is one.
    pub fn text(&self) -> Option<&Text> {
        match &self.content {
            Content::Text(text) => Some(text),
            _ => None,
        }
    }

    /// How its name says that it is read; JSON is YAML to `yaml_data`, so the level that reads it may decide otherwise.
    pub fn format(&self) -> Format {
        if self.path.extension() == Some("json") { Format::Json } else { Format::Yaml }
    }

    /// Its tree, as its name says that it is read; empty for what is no text.
    pub fn tree(&self) -> Arc<Tree> {
        let parse = || match self.text() {
            Some(text) => Arc::new(parse(&text.to_str(), self.format())),
            None => Arc::default(),
        };
        self.tree.get_or_init(parse).clone()
    }

    /// Its data, read in the given way. The tree is not kept for it: only files that are looked into need one.
    pub fn data(&self, format: Format) -> Arc<DataFile> {
        let slot = match format {
            Format::Yaml => &self.yaml,
            Format::Json => &self.json,
        };
        slot.get_or_init(|| Arc::new(self.read_data(format))).clone()
    }

    fn read_data(&self, format: Format) -> DataFile {
        let message = match &self.content {
            Content::Text(text) => {
                let text = text.to_str();
                if let Some(tree) = self.tree.get().filter(|_| format == self.format()) {
                    return DataFile::new(tree, &text, self.id, format);
                }
                return DataFile::new(&parse(&text, format), &text, self.id, format);
            }
            Content::NotUtf8(at) => format!("invalid UTF-8 at byte {at}: Puppet reads UTF-8 only"),
            Content::Unreadable(ReadError::TooLarge(size)) => {
                format!("the file is too large to be read here: {} MB", size / 1_000_000)
            }
            Content::Unreadable(ReadError::IsFolder) => "Is a directory".to_owned(),
            Content::Unreadable(ReadError::Other(message)) => message.clone(),
        };
        let span = Span { file: self.id, range: TextRange::empty(0) };
        let problem = Problem { kind: ProblemKind::Unreadable(message.clone()), span, related: None };
        DataFile { problems: vec![problem], refused: Some(message), ..DataFile::default() }
    }
}

fn parse(text: &str, format: Format) -> Tree {
    match format {
        Format::Yaml => yaml::parse_for_editing(text),
        Format::Json => yaml::parse_json(text),
    }
}
