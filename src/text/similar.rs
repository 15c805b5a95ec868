//! Finds the name that is most similar to a misspelt one.

use super::work::{Work, count_work};

/// Returns the name that is nearest to `word`, if it is near enough for `word` to be a misspelling.
/// Of several equally near ones, returns the first.
pub fn nearest_name<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    nearest_within(word, names, (word.chars().count() / 3).clamp(1, 3))
}

/// Returns the end of a message about a name that is not known: a question with the nearest known
/// name; empty where no name is near.
pub fn suggestion<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> String {
    nearest_name(word, names).map_or_else(String::new, |near| format!("; did you mean '{near}'?"))
}

/// Returns the name that is nearest to `word`, with at most so many wrong letters.
pub fn nearest_within<'a>(
    word: &str,
    names: impl IntoIterator<Item = &'a str>,
    most: usize,
) -> Option<&'a str> {
    let word: Vec<char> = word.chars().collect();
    let (mut nearest, mut most) = (None, most);
    for name in names {
        if most == 0 {
            break; // No other name can be nearer.
        }
        if let Some(distance) = edit_distance(&word, name, most) {
            (nearest, most) = (Some(name), distance - 1);
        }
    }
    nearest
}

/// Returns how many letters are to be inserted, removed, replaced or swapped with their neighbour;
/// `None` for more than `most`, and for none.
fn edit_distance(a: &[char], b: &str, most: usize) -> Option<usize> {
    if a.len().abs_diff(b.chars().count()) > most {
        return None;
    }
    // Equal letters at the start and at the end need no edit. Most names that a word is compared
    // with share a prefix with it.
    let prefix = a.iter().zip(b.chars()).take_while(|(one, other)| *one == other).count();
    let (a, b) = (&a[prefix..], b.chars().skip(prefix).collect::<Vec<char>>());
    let suffix = a.iter().rev().zip(b.iter().rev()).take_while(|(one, other)| one == other).count();
    let (a, b) = (&a[..a.len() - suffix], &b[..b.len() - suffix]);
    let mut before = vec![0; b.len() + 1];
    let mut row: Vec<usize> = (0..=b.len()).collect();
    let mut next = vec![0; b.len() + 1];
    for i in 1..=a.len() {
        count_work(Work::Step);
        next[0] = i;
        for j in 1..=b.len() {
            let replaced = row[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            next[j] = replaced.min(row[j] + 1).min(next[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                next[j] = next[j].min(before[j - 2] + 1);
            }
        }
        std::mem::swap(&mut before, &mut row);
        std::mem::swap(&mut row, &mut next);
        // Each later number is at least as large as one of these two rows.
        if row.iter().chain(&before).all(|number| *number > most) {
            return None;
        }
    }
    Some(row[b.len()]).filter(|found| (1..=most).contains(found))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::work;

    #[test]
    fn slips_are_found_and_other_words_are_not() {
        let names = ["servers", "server_list", "ensure", "port", "ports"];
        for (word, expected) in [
            ("server", Some("servers")),
            ("sevrers", Some("servers")),
            ("ensrue", Some("ensure")),
            ("prot", Some("port")),
            ("port", Some("ports")),
            ("driftfile", None),
            ("x", None),
        ] {
            assert_eq!(nearest_name(word, names), expected, "{word}");
        }
    }

    #[test]
    fn names_of_a_series_are_compared_by_the_letters_that_differ() {
        let names: Vec<String> = (100..400).map(|n| format!("setting_with_prefix_{n}")).collect();
        let names = || names.iter().map(String::as_str);
        work::take();
        assert_eq!(
            nearest_name("setting_with_prefix_999", names()),
            Some("setting_with_prefix_199")
        );
        let steps = work::take().steps;
        assert!(steps <= 3 * 100, "{steps} letters of 300 names compared");
    }

    #[test]
    fn a_search_that_ends_early_finds_the_same_distances() {
        let mut words = vec![String::new()];
        for length in 0..5 {
            let longest: Vec<String> =
                words.iter().filter(|word| word.len() == length).cloned().collect();
            words.extend(longest.iter().flat_map(|word| ["a", "b"].map(|c| format!("{word}{c}"))));
        }
        for one in &words {
            let letters: Vec<char> = one.chars().collect();
            for other in &words {
                let whole = edit_distance(&letters, other, 9);
                for most in 1..4 {
                    let expected = whole.filter(|found| *found <= most);
                    assert_eq!(edit_distance(&letters, other, most), expected, "{one} {other}");
                }
            }
        }
    }
}
