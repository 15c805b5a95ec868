//! Counts of things in words, and of characters.

/// Returns a count with its noun, which is given in the singular: `1 file`, `3 data files`, `2 kinds
/// of nodes`, `4 entries`.
pub fn count_phrase(count: usize, noun: &str) -> String {
    let (noun, rest) = noun.find(" of ").map_or((noun, ""), |end| noun.split_at(end));
    let stem = noun.strip_suffix('y').filter(|stem| !stem.ends_with(['a', 'e', 'o', 'u']));
    match (count, stem) {
        (1, _) => format!("1 {noun}{rest}"),
        (_, Some(stem)) => format!("{count} {stem}ies{rest}"),
        (_, None) => format!("{count} {noun}s{rest}"),
    }
}

/// Returns the width of a column in characters: that of its longest text, zero without texts.
pub fn column_width<'t>(texts: impl IntoIterator<Item = &'t str>) -> usize {
    texts.into_iter().map(|text| text.chars().count()).max().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_noun_of_any_count_but_one_is_a_plural() {
        let phrases = [(0, "node"), (1, "entry"), (2, "entry"), (3, "key"), (4, "data file")]
            .map(|(count, noun)| count_phrase(count, noun));
        assert_eq!(phrases, ["0 nodes", "1 entry", "2 entries", "3 keys", "4 data files"]);
        assert_eq!(count_phrase(1, "kind of nodes"), "1 kind of nodes");
        assert_eq!(count_phrase(2, "kind of nodes"), "2 kinds of nodes");
    }
}
