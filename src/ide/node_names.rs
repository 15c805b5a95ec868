//! The names of many nodes in few words.

use std::collections::BTreeMap;

/// Returns names in few words: those that differ in one number alone as a range
/// (`web-[01-03,07].example.net`), at most so many parts, the rest counted.
pub(crate) fn name_ranges(names: &[&str], most: usize) -> String {
    let mut series: BTreeMap<(&str, &str, usize), Vec<u64>> = BTreeMap::new();
    let mut parts: Vec<String> = Vec::new();
    for name in names {
        match number_in(name) {
            Some((before, digits, behind)) => {
                let number = digits.parse().unwrap_or_default();
                series.entry((before, behind, digits.len())).or_default().push(number);
            }
            None => parts.push((*name).to_owned()),
        }
    }
    let mut counts: Vec<usize> = vec![1; parts.len()];
    for ((before, behind, width), mut numbers) in series {
        numbers.sort_unstable();
        numbers.dedup();
        counts.push(numbers.len());
        parts.push(match &numbers[..] {
            [number] => format!("{before}{number:0width$}{behind}"),
            numbers => format!("{before}[{}]{behind}", number_ranges(numbers, width)),
        });
    }
    let rest: usize = counts.iter().skip(most).sum();
    parts.truncate(most);
    if rest > 0 {
        parts.push(format!("{rest} more"));
    }
    parts.join(", ")
}

/// Cuts a name at the last number of its first label; `None` without one, or for a number that is
/// too long.
fn number_in(name: &str) -> Option<(&str, &str, &str)> {
    let label = name.split('.').next()?;
    let end = label.rfind(|c: char| c.is_ascii_digit())? + 1;
    let start = label[..end]
        .rfind(|c: char| !c.is_ascii_digit())
        .map_or(0, |at| at + label[at..].chars().next().map_or(1, char::len_utf8));
    (end - start <= 18).then(|| (&name[..start], &name[start..end], &name[end..]))
}

/// Returns sorted numbers as `01-03,07`.
fn number_ranges(numbers: &[u64], width: usize) -> String {
    let mut ranges: Vec<(u64, u64)> = Vec::new();
    for number in numbers {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == *number => *last = *number,
            _ => ranges.push((*number, *number)),
        }
    }
    ranges
        .iter()
        .map(|(first, last)| match last - first {
            0 => format!("{first:0width$}"),
            1 => format!("{first:0width$},{last:0width$}"),
            _ => format!("{first:0width$}-{last:0width$}"),
        })
        .collect::<Vec<_>>()
        .join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_differ_in_a_number_are_ranges() {
        let names =
            ["osl-web-01.x.net", "osl-web-02.x.net", "osl-web-03.x.net", "osl-web-07.x.net"];
        assert_eq!(name_ranges(&names, 10), "osl-web-[01-03,07].x.net");
        assert_eq!(name_ranges(&["web-1", "web-02", "proxy"], 10), "proxy, web-1, web-02");
        assert_eq!(name_ranges(&["a", "b", "c", "d1", "d2"], 2), "a, b, 3 more");
        assert_eq!(name_ranges(&["é7ö", "é8ö"], 9), "é[7,8]ö");
        // A number with more than 18 digits may be too large.
        for number in ["1234567890123456789", "99999999999999999999999"] {
            assert_eq!(number_in(&format!("n{number}")), None);
        }
        assert!(number_in("n123456789012345678").is_some());
    }
}
