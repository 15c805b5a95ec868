//! The pages that a client shows as documents whose texts it requests from the server: their
//! addresses, which `docs/protocol.md` describes, and the task that makes clients request them again.

use std::time::Duration;

use tower_lsp::lsp_types as lsp;

use super::capabilities::PAGE_SCHEME;
use super::from_lsp::path_of_uri;
use super::lsp318::{TextDocumentContentParams, TextDocumentContentRefresh};
use super::session::ServerHandle;
use super::to_lsp::file_uri;
use super::transport::wait_answer;
use crate::text::FilePath;
use crate::text::escape::percent_encode;

/// After a change the client is asked to request pages again when nothing has changed for so long.
const PAUSE: Duration = Duration::from_millis(300);
/// The longest time that the server waits for a client's answer.
const PATIENCE: Duration = Duration::from_secs(5);

/// The subject of a page. `file` is the file whose nodes have the values; `None`: the `hiera.yaml` of
/// the first environment, which stands for any node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Page {
    /// The explanation of a key.
    Explanation { key: String, file: Option<FilePath> },
    /// The hierarchy, and the levels that have a key.
    Hierarchy { key: Option<String>, file: Option<FilePath> },
    /// All keys with the values of a file's nodes.
    FileData { file: Option<FilePath> },
    /// All keys with the values of a node or a kind of nodes.
    NodeData { name: String },
    /// The report about edits.
    Reach,
    /// The configs that govern.
    Governing,
    /// The documentation of the refactorings.
    Refactorings,
    /// The documentation of the quick fixes.
    QuickFixes,
}

impl Page {
    /// Returns the subject of an address; `None` where it is not one of a page.
    pub(super) fn from_address(address: &lsp::Url) -> Option<Page> {
        if address.scheme() != PAGE_SCHEME {
            return None;
        }
        let file = match address.query() {
            None | Some("") => None,
            Some(query) => Some(path_of_uri(&lsp::Url::parse(&decode(query)?).ok()?)?),
        };
        let path = decode(address.path())?;
        match &*path {
            "/hierarchy.txt" => return Some(Page::Hierarchy { key: None, file }),
            "/effective.yaml" => return Some(Page::FileData { file }),
            "/reach.txt" => return Some(Page::Reach),
            "/governing.txt" => return Some(Page::Governing),
            "/refactorings.md" => return Some(Page::Refactorings),
            "/quick-fixes.md" => return Some(Page::QuickFixes),
            _ => {}
        }
        if let Some(key) = page_name("/explain/", ".txt", &path) {
            return Some(Page::Explanation { key, file });
        }
        if let Some(key) = page_name("/hierarchy/", ".txt", &path) {
            return Some(Page::Hierarchy { key: Some(key), file });
        }
        Some(Page::NodeData { name: page_name("/effective/", ".yaml", &path)? })
    }

    /// Returns the address of the page.
    pub(super) fn to_address(&self) -> String {
        let (path, file) = match self {
            Page::Explanation { key, file } => (format!("explain/{}.txt", encode(key)), file),
            Page::Hierarchy { key: Some(key), file } => {
                (format!("hierarchy/{}.txt", encode(key)), file)
            }
            Page::Hierarchy { key: None, file } => ("hierarchy.txt".to_owned(), file),
            Page::FileData { file } => ("effective.yaml".to_owned(), file),
            Page::NodeData { name } => (format!("effective/{}.yaml", encode(name)), &None),
            Page::Reach => ("reach.txt".to_owned(), &None),
            Page::Governing => ("governing.txt".to_owned(), &None),
            Page::Refactorings => ("refactorings.md".to_owned(), &None),
            Page::QuickFixes => ("quick-fixes.md".to_owned(), &None),
        };
        let file = file.as_ref().and_then(file_uri);
        let query = file.map_or_else(String::new, |uri| format!("?{}", encode(uri.as_str())));
        format!("{PAGE_SCHEME}:/{path}{query}")
    }
}

fn page_name(folder: &str, extension: &str, path: &str) -> Option<String> {
    let name = path.strip_prefix(folder)?.strip_suffix(extension)?;
    (!name.is_empty()).then(|| name.to_owned())
}

/// Asks the client to request the pages again that changes have made outdated, until the server ends.
pub(super) async fn run(ServerHandle { client, shared, .. }: ServerHandle) {
    loop {
        // Pages are large: between two keystrokes there is no time to read one.
        shared.pages.due.wait_pause(PAUSE).await;
        let revision = shared.with(|state| state.workspace.revision());
        for uri in shared.pages.take_outdated(revision) {
            let client = client.clone();
            let params = TextDocumentContentParams { uri };
            let asking =
                async move { client.send_request::<TextDocumentContentRefresh>(params).await };
            let _ = wait_answer(asking, PATIENCE).await;
        }
    }
}

/// Writes a text so that it is one part of an address.
fn encode(text: &str) -> String {
    percent_encode(text, "-_.~:")
}

/// Reads a part of an address; `None` where it is no text.
fn decode(part: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(part.len());
    let mut rest = part.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let code = after.get(..2).filter(|_| *first == b'%');
        let code =
            code.and_then(|code| u8::from_str_radix(std::str::from_utf8(code).ok()?, 16).ok());
        bytes.push(code.unwrap_or(*first));
        rest = if code.is_some() { &after[2..] } else { after };
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(address: &str) -> Option<Page> {
        Page::from_address(&lsp::Url::parse(address).expect("an address"))
    }

    #[test]
    #[cfg(unix)]
    fn the_address_of_a_page_leads_to_it() {
        let key = || "a b::c/d.'e?f#g'.%{x}".to_owned();
        for file in [None, Some(FilePath::new("/repo/data/ä b%20c?.yaml"))] {
            let pages = [
                Page::Explanation { key: key(), file: file.clone() },
                Page::Hierarchy { key: Some(key()), file: file.clone() },
                Page::Hierarchy { key: None, file: file.clone() },
                Page::FileData { file },
                Page::NodeData { name: "role = web, os.family = Debian".to_owned() },
                Page::Reach,
                Page::Governing,
                Page::Refactorings,
                Page::QuickFixes,
            ];
            for one in pages {
                assert_eq!(page(&one.to_address()).as_ref(), Some(&one), "{}", one.to_address());
            }
        }
    }

    #[test]
    #[cfg(unix)]
    fn addresses_may_be_spelt_otherwise() {
        // The address is spelt as users type it, and as VS Code spells it.
        let (key, file) = ("app::port".to_owned(), Some(FilePath::new("/a b/c.yaml")));
        let expected = Some(Page::Explanation { key, file });
        assert_eq!(page("hiera:/explain/app::port.txt?file:///a%20b/c.yaml"), expected);
        let spelt = "hiera:/explain/app%3A%3Aport.txt?file%3A///a%2520b/c.yaml";
        assert_eq!(page(spelt), expected);
        let short = Page::NodeData { name: "web01.example.net".to_owned() };
        assert_eq!(page("hiera:/effective/web01.example.net.yaml"), Some(short));
    }

    #[test]
    fn documented_kinds_of_actions_have_a_page() {
        for (kind, _, address) in crate::server::capabilities::DOCUMENTED_KINDS {
            assert!(page(address).is_some(), "{}", kind.as_str());
        }
    }

    #[test]
    fn other_addresses_have_no_page() {
        for other in [
            "file:///reach.txt",
            "hiera:/",
            "hiera:/reach",
            "hiera:reach.txt",
            "hiera:/explain/.txt",
            "hiera:/explain/%FF.txt",
            "hiera:/hierarchy.txt?https://example.net/",
            "hiera:/hierarchy.txt?common.yaml",
        ] {
            assert_eq!(page(other), None, "{other}");
        }
    }
}
