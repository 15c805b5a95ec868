//! How well the name of a key fits the typed text.

/// The typed text, in lower case and without blanks.
pub(super) struct Query {
    letters: Vec<u8>,
}

/// The points of a key; more are better.
pub(super) type Rank = i32;

/// For a letter right behind the one before it.
const RUN: Rank = 4;
/// For a letter at the start of a word: behind `_`, `-` or `.`.
const WORD: Rank = 6;
/// For a letter at the start of a segment: behind `::`, or the first of the key.
const SEGMENT: Rank = 10;
/// For a key that begins with the whole query, and for a segment that does.
const PREFIX: Rank = 60;
const SEGMENT_PREFIX: Rank = 40;
/// For a key, or its last segment, that is the query.
const WHOLE: Rank = 10;

impl Query {
    pub(super) fn new(text: &str) -> Query {
        let letters = text.bytes().filter(|byte| !byte.is_ascii_whitespace());
        Query { letters: letters.map(|byte| byte.to_ascii_lowercase()).collect() }
    }

    /// Returns the points of a key; `None` if it does not have the letters in their order. Letters
    /// are taken at the start of a segment or word where the rest still fits behind, or else at
    /// their first place. Of keys with equally many, the shorter one has more points.
    pub(super) fn rank_key(&self, key: &str) -> Option<Rank> {
        let key = key.as_bytes();
        if !is_subsequence(&self.letters, key) {
            return None;
        }
        let length = Rank::try_from(key.len()).unwrap_or(Rank::MAX / 2);
        Some((self.rank_prefix(key) + self.rank_starts(key)).saturating_sub(length / 8))
    }

    fn rank_prefix(&self, key: &[u8]) -> Rank {
        if self.letters.is_empty() {
            return 0;
        }
        let mut starts = (0..key.len()).filter(|at| start(key, *at) == Some(SEGMENT));
        let found = starts.find(|at| {
            let rest = &key[*at..];
            rest.len() >= self.letters.len()
                && rest[..self.letters.len()].eq_ignore_ascii_case(&self.letters)
        });
        match found {
            None => 0,
            Some(at) => {
                let is_whole = key.len() - at == self.letters.len();
                let points = if at == 0 { PREFIX } else { SEGMENT_PREFIX };
                points + if is_whole { WHOLE } else { 0 }
            }
        }
    }

    /// Returns the points for where each letter is found.
    fn rank_starts(&self, key: &[u8]) -> Rank {
        let (mut points, mut from) = (0, 0);
        for (number, letter) in self.letters.iter().enumerate() {
            let rest = &self.letters[number + 1..];
            let follows = from > 0 && from < key.len() && is_letter_at(&from, letter, key);
            let at_start = (from..key.len())
                .filter(|at| is_letter_at(at, letter, key))
                .find(|at| start(key, *at).is_some() && is_subsequence(rest, &key[at + 1..]));
            let Some(at) = at_start
                .filter(|_| !follows)
                .or_else(|| (from..key.len()).find(|at| is_letter_at(at, letter, key)))
            else {
                break;
            };
            points += start(key, at).unwrap_or(0);
            points += if from > 0 && at == from { RUN } else { 0 };
            from = at + 1;
        }
        points
    }
}

fn is_letter_at(at: &usize, letter: &u8, key: &[u8]) -> bool {
    key[*at].eq_ignore_ascii_case(letter)
}

/// Returns the points for a letter at this place, if a word or a segment starts there.
fn start(key: &[u8], at: usize) -> Option<Rank> {
    match at.checked_sub(1).map(|before| key[before]) {
        None | Some(b':') => Some(SEGMENT),
        Some(b'_' | b'-' | b'.') => Some(WORD),
        _ => None,
    }
}

fn is_subsequence(letters: &[u8], key: &[u8]) -> bool {
    let mut key = key.iter();
    letters.iter().all(|letter| key.any(|byte| byte.eq_ignore_ascii_case(letter)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the keys that fit, the best first.
    fn ranked<'k>(query: &str, keys: &[&'k str]) -> Vec<&'k str> {
        let query = Query::new(query);
        let mut found: Vec<(Rank, &str)> =
            keys.iter().filter_map(|key| Some((query.rank_key(key)?, *key))).collect();
        found.sort_by_key(|(rank, key)| (std::cmp::Reverse(*rank), *key));
        found.into_iter().map(|(_, key)| key).collect()
    }

    #[test]
    fn prefixes_before_segments_before_words_before_the_rest() {
        let keys = ["a::xweb", "web::a", "a::web", "a::b_web", "w::e::b", "wobble"];
        assert_eq!(ranked("web", &keys), ["web::a", "a::web", "w::e::b", "a::b_web", "a::xweb"]);
    }

    #[test]
    fn the_starts_of_segments_stand_for_the_segments() {
        let keys = ["profile::web::port", "prowlport", "puppet::weeping"];
        assert_eq!(ranked("pwp", &keys)[0], "profile::web::port");
        assert_eq!(ranked("pro::po", &keys), ["profile::web::port"]);
    }

    #[test]
    fn blanks_and_case_do_not_matter_and_other_scripts_fit_as_written() {
        assert_eq!(ranked("Pro Web", &["profile::web"]), ["profile::web"]);
        assert_eq!(ranked("brød", &["brød", "brod"]), ["brød"]);
    }
}
