//! The pages that the client has, see `server::pages`.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use tower_lsp::lsp_types as lsp;

use super::debounce::Debounce;

/// The most pages that are kept for a client: those that it requested last.
const MAX_PAGES: usize = 64;

/// The pages that the client requested, each with the revision of the workspace that it is from.
#[derive(Default)]
pub(in crate::server) struct PageStore {
    /// Something changed that pages depend on.
    pub(in crate::server) due: Debounce,
    shown: Mutex<VecDeque<(lsp::Url, u64)>>,
}

impl PageStore {
    /// Records that the client requested a page, which is answered from this revision.
    pub(in crate::server) fn note_request(&self, uri: &lsp::Url, revision: u64) {
        let mut shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        shown.retain(|(other, _)| other != uri);
        shown.push_back((uri.clone(), revision));
        if shown.len() > MAX_PAGES {
            shown.pop_front();
        }
    }

    /// Takes the pages that are from another revision than this one. A client that still shows one
    /// requests it again; there is no message for one that was closed.
    pub(in crate::server) fn take_outdated(&self, revision: u64) -> Vec<lsp::Url> {
        let mut shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        let (outdated, current): (VecDeque<_>, _) =
            shown.drain(..).partition(|(_, from)| *from != revision);
        *shown = current;
        outdated.into_iter().map(|(uri, _)| uri).collect()
    }

    /// Makes all pages outdated: they show more than the workspace's files.
    pub(in crate::server) fn expire_all(&self) {
        let mut shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        for (_, from) in shown.iter_mut() {
            *from = u64::MAX;
        }
        self.due.note_change();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(number: usize) -> lsp::Url {
        lsp::Url::parse(&format!("hiera:/explain/{number}.txt")).expect("an address")
    }

    #[test]
    fn a_page_is_outdated_once() {
        let store = PageStore::default();
        store.note_request(&address(1), 7);
        store.note_request(&address(2), 7);
        assert_eq!(store.take_outdated(7), []);
        store.note_request(&address(2), 8);
        assert_eq!(store.take_outdated(8), [address(1)]);
        assert_eq!(store.take_outdated(8), []);
        store.expire_all();
        assert_eq!(store.take_outdated(8), [address(2)]);
    }

    #[test]
    fn the_pages_that_were_requested_last_are_kept() {
        let store = PageStore::default();
        for number in 0..=MAX_PAGES {
            store.note_request(&address(number), 1);
        }
        let expected: Vec<_> = (1..=MAX_PAGES).map(address).collect();
        assert_eq!(store.take_outdated(2), expected);
    }
}
