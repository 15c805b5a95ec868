//! The places of words in a file's text. After an edit only the text around the edit is searched: a
//! press of a key must not cost a search of a long text.

use std::sync::{Arc, Mutex, PoisonError};

use crate::hiera::data::Edited;
use crate::text::{Text, TextRange};

/// The first bytes of the places of a word, in order.
type WordPlaces = Arc<[u32]>;

/// The places that are known in a text, and in the texts of earlier versions.
#[derive(Debug, Default)]
pub(super) struct KnownWords {
    found: Mutex<Vec<(&'static str, WordPlaces)>>,
    /// Each word with its places in an earlier version, and the edits since.
    earlier: Vec<(&'static str, WordPlaces, Edited)>,
}

impl KnownWords {
    /// Returns what is known of the version after an edit. Nothing is searched yet.
    pub(super) fn edit_version(&self, edit: Edited) -> KnownWords {
        let found = self.found.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let mut earlier: Vec<_> =
            found.into_iter().map(|(word, places)| (word, places, edit)).collect();
        for (word, places, before) in &self.earlier {
            if !earlier.iter().any(|(known, ..)| known == word) {
                earlier.push((*word, places.clone(), before.combine(edit)));
            }
        }
        KnownWords { found: Mutex::default(), earlier }
    }

    /// Returns the first byte of each place where a word stands in the text, in order. The word must
    /// not begin with one of its own ends, so that no two places overlap.
    pub(super) fn find(&self, word: &'static str, text: &Text) -> WordPlaces {
        debug_assert!((1..word.len()).all(|at| !word.starts_with(&word[at..])), "{word} overlaps");
        if let Some(places) = self.known_places(word) {
            return places;
        }
        // An edit must not wait for the search of a long text.
        let places = match self.earlier.iter().find(|(known, ..)| *known == word) {
            Some((_, before, edit)) => find_around(word, text, before, *edit),
            None => text.find_all(word).into(),
        };
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        found.retain(|(known, _)| *known != word);
        found.push((word, places.clone()));
        places
    }

    fn known_places(&self, word: &str) -> Option<WordPlaces> {
        let found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        found.iter().find(|(known, _)| *known == word).map(|(_, places)| places.clone())
    }
}

/// Returns the places of a word after an edit of a text in which it stood at the places before.
fn find_around(word: &str, text: &Text, before: &[u32], edit: Edited) -> WordPlaces {
    let length = word.len() as u32;
    let above = before.partition_point(|at| at + length <= edit.start);
    let below = before.partition_point(|at| *at < edit.old_end);
    let window = text.clamp_range(TextRange::new(
        edit.start.saturating_sub(length),
        edit.new_end.saturating_add(length),
    ));
    let window_text = text.slice(window);
    let around = window_text.match_indices(word).map(|(at, _)| window.start + at as u32);
    // The window may hold whole words of the unchanged text.
    let touched = around.filter(|at| at + length > edit.start && *at < edit.new_end);
    let moved = before[below..].iter().map(|at| at + edit.new_end - edit.old_end);
    before[..above].iter().copied().chain(touched).chain(moved).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::edits::Random;

    #[test]
    fn only_the_text_around_an_edit_is_searched() {
        let text = Text::new(&"k: 1 # ab: c\n".repeat(9));
        let length = text.len();
        // No word stands at the last place: a search of the whole text would not find it.
        let found = Mutex::new(vec![("ab:", Arc::from([7, length - 1]))]);
        let words = KnownWords { found, earlier: Vec::new() };
        let gone = TextRange::new_empty(60);
        let text = text.replace_range(gone, "ab:");
        let words = words.edit_version(Edited::new(gone, 3));
        // A version in which only another word was searched keeps the places.
        words.find("k:", &text);
        let again = TextRange::new_empty(0);
        let words = words.edit_version(Edited::new(again, 1));
        let places = words.find("ab:", &text.replace_range(again, "\n"));
        assert_eq!(*places, [8, 21, 34, 47, 61, length + 3]);
    }

    #[test]
    fn places_after_random_edits_are_those_of_a_new_search() {
        const WORD: &str = "ab:";
        let mut random = Random::new(7);
        for _ in 0..300 {
            let mut text = Text::new("");
            let mut words = KnownWords::default();
            for _ in 0..40 {
                let (from, to) =
                    (random.below(text.len() as usize + 1), random.below(text.len() as usize + 1));
                let gone = text.clamp_range(TextRange::from_usize(from.min(to)..from.max(to)));
                let gone = TextRange::new(gone.start, gone.end.min(gone.start + 4));
                let gone = text.clamp_range(gone);
                let count = random.below(5);
                let come: String =
                    (0..count).map(|_| random.pick(&["a", "b", ":", "ab", "ab:", "ä"])).collect();
                text = text.replace_range(gone, &come);
                words = words.edit_version(Edited::new(gone, come.len() as u32));
                // Not each version is asked, as the versions of a burst are not.
                if random.below(3) > 0 {
                    let expected = text.find_all(WORD);
                    assert_eq!(*words.find(WORD, &text), *expected, "{text:?}");
                }
            }
        }
    }
}
