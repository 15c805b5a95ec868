//! Finds the name that is most similar to a misspelt one.

/// Returns the name that is nearest to `word`, if it is near enough for `word` to be a misspelling.
/// Of several equally near ones, returns the first.
pub fn nearest_name<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    nearest_within(word, names, (word.chars().count() / 3).clamp(1, 3))
}

/// Returns the name that is nearest to `word`, with at most so many wrong letters.
pub fn nearest_within<'a>(
    word: &str,
    names: impl IntoIterator<Item = &'a str>,
    most: usize,
) -> Option<&'a str> {
    let word: Vec<char> = word.chars().collect();
    let near = |name: &'a str| Some((edit_distance(&word, name, most)?, name));
    let best = names.into_iter().filter_map(near).reduce(|a, b| if b.0 < a.0 { b } else { a });
    best.map(|(_, name)| name)
}

/// Returns how many letters are to be inserted, removed, replaced or swapped with their neighbour;
/// `None` for more than `most`, and for none.
fn edit_distance(a: &[char], b: &str, most: usize) -> Option<usize> {
    let b: Vec<char> = b.chars().collect();
    if a.len().abs_diff(b.len()) > most {
        return None;
    }
    let mut before = vec![0; b.len() + 1];
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut next = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let replaced = row[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            next[j] = replaced.min(row[j] + 1).min(next[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                next[j] = next[j].min(before[j - 2] + 1);
            }
        }
        before = std::mem::replace(&mut row, next);
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
