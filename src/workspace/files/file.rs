//! One version of one file. Its trees, data and declarations are computed once, on first use, and
//! shared by all snapshots.

mod parts;
mod words;

pub use parts::{PartReader, TextPart};

use std::sync::{Arc, OnceLock};

use self::words::KnownWords;
use super::kinds::{CodeLanguage, code_language, is_short_yaml};
use crate::disk::{ReadError, Stamp};
use crate::hiera::config::formats::format_of_name;
use crate::hiera::config::{CONFIG_WORDS, ConfigVersion, version_by_content};
use crate::hiera::data::{DataFile, DataFormat, Edited, FileRefusal};
use crate::manifest::{self, Manifest};
use crate::text::{FileId, FilePath, PartId, Span, Text, TextRange};
use crate::yaml::Tree;
use crate::yaml::document::Document;

/// A version of a file.
#[derive(Debug)]
pub struct File {
    /// The file's number, the same for all versions.
    pub id: FileId,
    /// The file's path.
    pub path: FilePath,
    /// The file's content.
    pub content: Content,
    /// The version on disk; `None` for a text that an editor holds.
    pub stamp: Option<Stamp>,
    reading: ParsedVersions,
    read: Arc<Read>,
}

/// The results of reading a text, shared with other versions that have the same text.
#[derive(Debug, Default)]
struct Read {
    /// The tree of the whole text, once it was looked into.
    tree: OnceLock<Arc<Tree>>,
    /// The data of the text, read in each format.
    data: [OnceLock<Arc<DataFile>>; DataFormat::COUNT],
    /// The declarations and reads of the code in the text, as a file of this module.
    code: OnceLock<(Option<Arc<str>>, Arc<Manifest>)>,
    /// The version of the config that the text is by its content.
    config_version: OnceLock<Option<ConfigVersion>>,
    /// The places of words.
    words: KnownWords,
}

impl Read {
    /// Returns where the data of the text in a format is kept, once it is read.
    fn data_slot(&self, format: DataFormat) -> &OnceLock<Arc<DataFile>> {
        &self.data[format as usize]
    }

    /// Returns the results that outlive a scan: the data name their file by its number, and the places
    /// of words are kept for versions that are edited.
    fn scan_results(&self) -> Read {
        Read {
            tree: self.tree.clone(),
            code: self.code.clone(),
            config_version: self.config_version.clone(),
            ..Read::default()
        }
    }
}

/// A version is equal to itself alone.
impl PartialEq for File {
    fn eq(&self, other: &File) -> bool {
        std::ptr::eq(self, other)
    }
}

/// From how many bytes on a file on disk is read in parts, in case an editor opens it with other
/// content.
const LONG: u32 = 8 << 10;

/// The number of bytes that are read in a millisecond or two.
const SOON: u32 = 64 << 10;

/// The way in which a file's data is read.
#[derive(Debug)]
enum ParsedVersions {
    /// The data is read all at once.
    Whole,
    /// The data is read in parts where it can be, as edits will come.
    InParts,
    /// The data is read as that of an earlier version with the edits since.
    Edited(Arc<DataFile>, Edited),
}

/// The content of a file.
#[derive(Clone, Debug)]
pub enum Content {
    /// A text.
    Text(Text),
    /// Bytes that are no UTF-8, from this offset on.
    NotUtf8(usize),
    /// The file could not be read.
    Unreadable(ReadError),
}

impl Content {
    /// Creates the content of bytes as read, or of the failure to read them.
    pub fn new(read: Result<Vec<u8>, ReadError>) -> Content {
        match read.map(String::from_utf8) {
            Ok(Ok(text)) => Content::Text(Text::new(&text)),
            Ok(Err(error)) => Content::NotUtf8(error.utf8_error().valid_up_to()),
            Err(error) => Content::Unreadable(error),
        }
    }
}

impl File {
    /// Creates a version of the file at `path`, as it is on disk.
    pub fn new(id: FileId, path: FilePath, content: Content, stamp: Option<Stamp>) -> File {
        let is_long = matches!(&content, Content::Text(text) if text.len() >= LONG);
        let reading = if is_long { ParsedVersions::InParts } else { ParsedVersions::Whole };
        File { id, path, content, stamp, reading, read: Arc::default() }
    }

    /// Returns the version, as it is on disk, under another number. Shares the tree, the declarations
    /// and the version of the config.
    pub fn with_id(&self, id: FileId) -> File {
        File {
            read: Arc::new(self.read.scan_results()),
            ..File::new(id, self.path.clone(), self.content.clone(), self.stamp)
        }
    }

    /// Creates a version with a text that an editor holds and is about to edit.
    pub fn open_version(id: FileId, path: FilePath, text: Text) -> File {
        File { reading: ParsedVersions::InParts, ..File::new(id, path, Content::Text(text), None) }
    }

    /// Returns the version with another text, as an editor holds it. Both versions share the common
    /// part of their texts, and the results of reading it.
    pub fn changed_to(&self, text: &str) -> File {
        let Some(old) = self.text() else {
            return File::open_version(self.id, self.path.clone(), Text::new(text));
        };
        match old.find_difference(text) {
            None => File {
                read: self.read.clone(),
                ..File::open_version(self.id, self.path.clone(), old.clone())
            },
            Some((gone, come)) => self.edit_version(
                Edited::new(gone, come.len()),
                old.replace_range(gone, &text[come.as_usize()]),
            ),
        }
    }

    /// Returns the version after an edit that makes `text` of this version's text. Nothing is read
    /// yet.
    pub fn edit_version(&self, edit: Edited, text: Text) -> File {
        let reading = match (self.read.data_slot(self.format()).get(), &self.reading) {
            (Some(data), _) => ParsedVersions::Edited(data.clone(), edit),
            (None, ParsedVersions::Edited(data, earlier)) => {
                ParsedVersions::Edited(data.clone(), earlier.combine(edit))
            }
            (None, _) => ParsedVersions::InParts,
        };
        let read = Arc::new(Read { words: self.read.words.edit_version(edit), ..Read::default() });
        File { reading, read, ..File::open_version(self.id, self.path.clone(), text) }
    }

    /// Whether the other version has the same text and shares the results of reading it.
    pub fn is_read_as(&self, other: &File) -> bool {
        Arc::ptr_eq(&self.read, &other.read)
    }

    /// Whether both versions have a text, and the same one.
    pub(in crate::workspace) fn has_equal_content(&self, other: &File) -> bool {
        self.is_read_as(other) || self.text() == other.text() && self.text().is_some()
    }

    /// Whether the file's data, in the format of its name, is ready or quickly parsed, so that a
    /// caller can wait for it: the text is short, or the parts that an edit touched are. Parsing
    /// may still show that the edit touches more parts.
    pub fn is_soon_read(&self) -> bool {
        self.bytes_to_read() <= SOON
    }

    /// Returns how many bytes are parsed for the file's data in the format of its name; 0 where the
    /// data is ready.
    pub fn bytes_to_read(&self) -> u32 {
        let Some(text) = self.text().filter(|_| self.read.data_slot(self.format()).get().is_none())
        else {
            return 0;
        };
        let to_read = match &self.reading {
            ParsedVersions::Edited(before, edit) => before.to_read(*edit).unwrap_or(text.len()),
            ParsedVersions::Whole | ParsedVersions::InParts => text.len(),
        };
        to_read.min(text.len())
    }

    /// Returns the file's text, if its content is a text.
    pub fn text(&self) -> Option<&Text> {
        match &self.content {
            Content::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the first byte of each place where a word stands in the file's text, in order. After
    /// edits only the text around them is searched. The word must not begin with one of its own ends,
    /// so that no two places overlap.
    pub fn find_word(&self, word: &'static str) -> Arc<[u32]> {
        self.text().map_or_else(Arc::default, |text| self.read.words.find(word, text))
    }

    /// Returns the file's entries, for edits that move or remove them; `None` for a file that is
    /// read otherwise than as YAML, that Puppet refuses, or that is no block mapping.
    pub(crate) fn document(&self) -> Option<Document> {
        let text = self.text().filter(|_| self.format() == DataFormat::Yaml)?;
        Document::parse(text.to_str().into_owned())
    }

    /// Returns the version of the config that the file is by its content; `None` for any other
    /// file.
    pub fn config_version(&self) -> Option<ConfigVersion> {
        *self.read.config_version.get_or_init(|| {
            let text = self.text().filter(|text| is_short_yaml(&self.path, text.len()))?;
            if CONFIG_WORDS.iter().all(|word| self.find_word(word).is_empty()) {
                return None;
            }
            version_by_content(&text.to_str(), &self.data_as(DataFormat::Yaml).root_value()?)
        })
    }

    /// Returns the format by the file's name; JSON is YAML to `yaml_data`, so the level that reads
    /// the file may decide otherwise.
    pub fn format(&self) -> DataFormat {
        format_of_name(&self.path).unwrap_or(DataFormat::Yaml)
    }

    /// Returns the declarations and reads of the file's code, as a file of this module; an empty
    /// manifest for a file that is no code. The text is parsed once, as a file of the module that
    /// asks first.
    pub fn manifest(&self, module: Option<&Arc<str>>) -> Arc<Manifest> {
        let (known_as, manifest) = self.read.code.get_or_init(|| self.read_manifest(module));
        if known_as.as_ref() == module { manifest.clone() } else { self.read_manifest(module).1 }
    }

    fn read_manifest(&self, module: Option<&Arc<str>>) -> (Option<Arc<str>>, Arc<Manifest>) {
        (module.cloned(), Arc::new(self.read_code(module.map(|name| &**name))))
    }

    fn read_code(&self, module: Option<&str>) -> Manifest {
        let Some(text) = self.text().map(Text::to_str) else { return Manifest::default() };
        match code_language(&self.path) {
            Some(CodeLanguage::Puppet) => manifest::parse(&text, module),
            Some(CodeLanguage::Epp) => manifest::parse_epp(&text, module),
            Some(CodeLanguage::Ruby) => {
                let readers = manifest::parse_ruby_calls(&text);
                let function = manifest::parse_ruby_function(&text);
                Manifest { readers, function, complete: true, ..Manifest::default() }
            }
            None => Manifest::default(),
        }
    }

    /// Returns the file's data, read in the given way.
    pub fn data_as(&self, format: DataFormat) -> Arc<DataFile> {
        self.read.data_slot(format).get_or_init(|| Arc::new(self.read_data(format))).clone()
    }

    /// Returns the bytes of a place in the file.
    pub fn part_bytes(&self, span: Span) -> Option<TextRange> {
        match span.part {
            PartId::WHOLE => Some(span.range),
            _ => self.data_as(self.format()).part_bytes(span),
        }
    }

    fn read_data(&self, format: DataFormat) -> DataFile {
        let refusal = match &self.content {
            Content::Text(text) => return self.read_text(text, format),
            Content::NotUtf8(at) => FileRefusal::Unreadable(format!(
                "invalid UTF-8 at byte {at}: Puppet reads UTF-8 only"
            )),
            Content::Unreadable(ReadError::TooLarge(size)) => FileRefusal::Unread(format!(
                "the file is too large to be read here: {} MB",
                size / 1_000_000
            )),
            Content::Unreadable(ReadError::IsFolder) => {
                FileRefusal::Unreadable("Is a directory".to_owned())
            }
            Content::Unreadable(ReadError::Other(message)) => FileRefusal::Unread(message.clone()),
        };
        DataFile::new_unreadable(self.id, refusal)
    }

    fn read_text(&self, text: &Text, format: DataFormat) -> DataFile {
        // Only the data in the format of the file's name is read in parts. A level may read the
        // file in another format: that data is one part, so that a part's number identifies its
        // data.
        let is_in_parts = format == self.format();
        if is_in_parts
            && let ParsedVersions::Edited(before, edit) = &self.reading
            && let Some(data) = before.apply_edit(*edit, text, self.id)
        {
            return data;
        }
        let text = text.to_str();
        let in_parts = match &self.reading {
            ParsedVersions::InParts | ParsedVersions::Edited(..) if is_in_parts => {
                DataFile::in_parts(&text, self.id, format)
            }
            _ => None,
        };
        in_parts
            .unwrap_or_else(|| DataFile::read_whole(&parse(&text, format), &text, self.id, format))
    }
}

fn parse(text: &str, format: DataFormat) -> Tree {
    format.parse_while(text, &|| true).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::work;

    #[test]
    fn an_edit_makes_a_config_and_none() {
        let path = FilePath::new("/live.yaml");
        let lines = "# nothing\n".repeat(1_000);
        let text = format!("{lines}version: 5\nhierarch: [{{name: A, path: a.yaml}}]\n{lines}");
        let at = text.find("hierarch").expect("it is there") as u32;
        let before = File::open_version(FileId::new(0), path, Text::new(&text));
        assert_eq!(before.config_version(), None);
        let edit = |file: &File, range: TextRange, insert: &str| {
            let text = file.text().expect("a text").replace_range(range, insert);
            file.edit_version(Edited::new(range, insert.len() as u32), text)
        };
        let config = edit(&before, TextRange::new(at + 8, at + 8), "y");
        assert_eq!(config.config_version(), Some(ConfigVersion::V5));
        let above = edit(&config, TextRange::new(0, 2), "");
        assert_eq!(above.config_version(), Some(ConfigVersion::V5));
        let none = edit(&above, TextRange::new(at, at + 1), "");
        assert_eq!(none.config_version(), None);
    }

    #[test]
    fn a_version_under_another_number_keeps_its_config_version() {
        let text = "version: 5\nhierarchy: [{name: A, path: a.yaml}]\n";
        let path = FilePath::new("/live.yaml");
        let content = Content::Text(Text::new(text));
        let scanned = File::new(FileId::new(0), path, content, None);
        assert_eq!(scanned.config_version(), Some(ConfigVersion::V5));
        let numbered = scanned.with_id(FileId::new(7));
        work::take();
        assert_eq!(numbered.config_version(), Some(ConfigVersion::V5));
        assert_eq!(work::take().parsed, 0);
        let data = numbered.data_as(DataFormat::Yaml);
        assert_eq!(work::take().parsed, text.len());
        let key = data.parts().iter().next().expect("a part");
        assert_eq!(key.data.members.len(), 2);
    }
}
