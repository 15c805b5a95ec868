//! Ruby's case mappings of strings, and its blanks, which are those of ASCII.

/// Returns the text in lower case, each letter mapped alone: a final `Σ` becomes `σ`, where
/// [`str::to_lowercase`] gives `ς`.
pub fn downcase(text: &str) -> String {
    text.chars().flat_map(char::to_lowercase).collect()
}

/// Returns the text in upper case.
pub fn upcase(text: &str) -> String {
    text.to_uppercase()
}

/// Returns the text with its first letter in title case, and the others in lower case. A Greek
/// letter with an iota below becomes two letters, where Ruby gives one.
pub fn capitalize(text: &str) -> String {
    let mut chars = text.chars();
    let Some(first) = chars.next() else { return String::new() };
    let mut out = String::with_capacity(text.len());
    match first {
        'Ǆ' | 'ǅ' | 'ǆ' => out.push('ǅ'),
        'Ǉ' | 'ǈ' | 'ǉ' => out.push('ǈ'),
        'Ǌ' | 'ǋ' | 'ǌ' => out.push('ǋ'),
        'Ǳ' | 'ǲ' | 'ǳ' => out.push('ǲ'),
        // Georgian has upper case for whole words only.
        'ა'..='ჿ' => out.push(first),
        _ => {
            // Only the first cased letter of the mapping is in upper case: `ŉ` is `ʼN`, `ß` is `Ss`.
            let mut is_done = false;
            for c in first.to_uppercase() {
                match is_done {
                    true => out.extend(c.to_lowercase()),
                    false => out.push(c),
                }
                is_done |= c.is_uppercase();
            }
        }
    }
    out.push_str(&downcase(chars.as_str()));
    out
}

/// Whether `\s` matches the letter.
pub fn is_space(c: char) -> bool {
    matches!(c, '\t'..='\r' | ' ')
}

/// Returns the text without blanks and nulls at its start and its end.
pub fn strip(text: &str) -> &str {
    text.trim_matches(is_stripped)
}

/// Returns the text without blanks and nulls at its end.
pub fn rstrip(text: &str) -> &str {
    text.trim_end_matches(is_stripped)
}

/// Whether `strip` removes the letter at an end of a text: a blank or null.
pub fn is_stripped(c: char) -> bool {
    is_space(c) || c == '\0'
}
