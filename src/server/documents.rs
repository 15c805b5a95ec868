//! The open documents, each with the spellings of its address that the client uses.

use tower_lsp::lsp_types as lsp;

use crate::text::FilePath;

/// An open document as the client speaks of it.
#[derive(Clone, Debug)]
pub(super) struct Document {
    /// The document's address in the client's own spelling.
    pub(super) uri: lsp::Url,
    /// Other spellings under which the document is open as well.
    pub(super) others: Vec<lsp::Url>,
    /// The version of the document's text.
    pub(super) version: i32,
    /// Whether the document's text is the one that was opened or last saved.
    pub(super) is_saved: bool,
}

/// The open documents. Copies are cheap: every round of findings takes one.
#[derive(Clone, Default)]
pub(super) struct Documents(
    imbl::GenericHashMap<
        FilePath,
        Document,
        foldhash::fast::RandomState,
        imbl::shared_ptr::DefaultSharedPtr,
    >,
);

impl Documents {
    /// Returns a document; `None` when it is not open.
    pub(super) fn get(&self, path: &FilePath) -> Option<&Document> {
        self.0.get(path)
    }

    /// Whether a document is open.
    pub(super) fn is_open(&self, path: &FilePath) -> bool {
        self.0.contains_key(path)
    }

    /// Returns the documents with their paths.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&FilePath, &Document)> {
        self.0.iter()
    }

    /// Records a document that is opened.
    pub(super) fn note_open(&mut self, path: &FilePath, uri: &lsp::Url, version: i32) {
        let others = self.other_spellings(path, uri, true);
        let document = Document { uri: uri.clone(), others, version, is_saved: true };
        self.0.insert(path.clone(), document);
    }

    /// Records a document's new version, and the current spelling of its address.
    pub(super) fn note_edit(&mut self, path: &FilePath, uri: &lsp::Url, version: i32) {
        let others = self.other_spellings(path, uri, false);
        let document = Document { uri: uri.clone(), others, version, is_saved: false };
        self.0.insert(path.clone(), document);
    }

    /// Returns the other spellings under which a document is open when `uri` becomes the one in
    /// use. The one that was in use stays open where `uri` is `opened`, or was open already;
    /// otherwise the client spells the same document anew.
    fn other_spellings(&self, path: &FilePath, uri: &lsp::Url, opened: bool) -> Vec<lsp::Url> {
        let Some(document) = self.0.get(path) else { return Vec::new() };
        let mut others = document.others.clone();
        others.retain(|other| other != uri);
        let is_open_twice = opened || others.len() < document.others.len();
        if is_open_twice && document.uri != *uri {
            others.push(document.uri.clone());
        }
        others
    }

    /// Records that a document is saved as it is here.
    pub(super) fn note_save(&mut self, path: &FilePath) {
        if let Some(document) = self.0.get_mut(path) {
            document.is_saved = true;
        }
    }

    /// Closes a document under one spelling of its address. Returns whether that was the last one:
    /// two spellings of one file are one document, which stays open for the other.
    pub(super) fn close_document(&mut self, path: &FilePath, uri: &lsp::Url) -> bool {
        let Some(document) = self.0.get_mut(path) else { return true };
        if let Some(at) = document.others.iter().position(|other| other == uri) {
            document.others.remove(at);
            return false;
        }
        match document.others.pop() {
            Some(other) => document.uri = other,
            None => drop(self.0.remove(path)),
        }
        !self.0.contains_key(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_is_open_until_its_last_spelling_is_closed() {
        let mut documents = Documents::default();
        let path = FilePath::new("/data/a.yaml");
        let [plain, encoded, other] = ["a", "%61", "%61%2Eyaml#"]
            .map(|name| lsp::Url::parse(&format!("file:///data/{name}.yaml")).expect("an address"));
        documents.note_open(&path, &plain, 1);
        assert!(
            documents.close_document(&path, &encoded),
            "a client may close it in another spelling"
        );
        documents.note_open(&path, &plain, 1);
        documents.note_open(&path, &encoded, 1);
        documents.note_open(&path, &encoded, 2);
        assert!(!documents.close_document(&path, &encoded));
        assert_eq!(documents.0[&path].uri, plain);
        documents.note_open(&path, &encoded, 1);
        documents.note_edit(&path, &plain, 2);
        assert!(!documents.close_document(&path, &encoded));
        documents.note_edit(&path, &other, 3);
        assert_eq!(
            (documents.get(&path).map(|document| document.version), &documents.0[&path].uri),
            (Some(3), &other)
        );
        assert!(documents.close_document(&path, &other) && documents.0.is_empty());
    }
}
