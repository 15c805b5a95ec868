//! Patterns of `Dir.glob`: split at slashes into parts that match names, with braces expanded.

use std::str::Chars;

/// How many patterns the braces of one pattern may stand for. `walk` ignores all further ones;
/// lookups refuse such a glob.
pub(super) const MAX_ALTERNATIVES: usize = 10_000;

/// How long the texts may be in total that the expansion of braces goes through.
const MAX_EXPANDED_BYTES: usize = 1 << 24;

/// How many names a pattern may have; no path of any system has more.
const MAX_PARTS: usize = 4_096;

/// A pattern between two slashes.
pub(super) struct GlobPart {
    /// The pattern as written. Names are matched against this text, and braces can only be expanded
    /// in the whole rest of a pattern.
    pub(super) text: String,
    pub(super) matcher: Matcher,
}

pub(super) enum Matcher {
    /// `**/`: any number of folders.
    Recursive,
    /// A name without special characters.
    Plain(String),
    /// A name with special characters.
    Magical,
    /// A name with braces, and the patterns it stands for.
    Braces(Vec<String>),
}

/// Whether a name fits a pattern without braces. Quadratic at worst: only the last star is tried
/// again.
pub(super) fn matches_name(pattern: &str, name: &str) -> bool {
    if name.starts_with('.') && !pattern.starts_with('.') && !pattern.starts_with("\\.") {
        return false;
    }
    let (mut pattern, mut name) = (pattern, name);
    let mut star = None;
    loop {
        if let Some(behind) = pattern.strip_prefix('*') {
            star = Some((behind, name));
            pattern = behind;
            continue;
        }
        let mut chars = name.chars();
        let Some(own) = chars.next() else {
            // A backslash at the end stands for nothing.
            return matches!(pattern, "" | "\\");
        };
        if let Some(behind) = match_char(pattern, own) {
            (pattern, name) = (behind, chars.as_str());
        } else if let Some((behind, start)) = star {
            let mut chars = start.chars();
            chars.next();
            star = Some((behind, chars.as_str()));
            (pattern, name) = (behind, chars.as_str());
        } else {
            return false;
        }
    }
}

/// Returns the pattern behind its first character or set, where `own` fits these; `None` where it
/// does not, or where the pattern is at its end.
fn match_char(pattern: &str, own: char) -> Option<&str> {
    let mut chars = pattern.chars();
    let fits = match chars.next()? {
        '?' => true,
        '[' => match_set(&mut chars, own)?,
        '\\' => chars.next()? == own,
        c => c == own,
    };
    fits.then_some(chars.as_str())
}

/// Whether `own` fits the set that `chars` begin with, behind its bracket; takes the set from
/// `chars`. `None` where the set does not end, and so fits nothing.
fn match_set(chars: &mut Chars<'_>, own: char) -> Option<bool> {
    let negated = chars.as_str().starts_with(['!', '^']);
    if negated {
        chars.next();
    }
    let mut contains = false;
    while !chars.as_str().starts_with(']') {
        let from = next_in_set(chars)?;
        let to = match chars.as_str().strip_prefix('-') {
            Some(behind) if !behind.starts_with(']') => {
                chars.next();
                next_in_set(chars)?
            }
            _ => from,
        };
        // A range that runs backwards holds its two ends.
        contains |= own == from || own == to || (from..=to).contains(&own);
    }
    chars.next();
    Some(contains != negated)
}

fn next_in_set(chars: &mut Chars<'_>) -> Option<char> {
    match chars.next()? {
        '\\' => chars.next(),
        c => Some(c),
    }
}

/// Whether a pattern is too large to be walked as a whole.
pub(super) fn is_too_large(pattern: &str) -> bool {
    let slashes = pattern.bytes().filter(|byte| *byte == b'/').count();
    let mut expansion = expand_braces(pattern);
    expansion.by_ref().for_each(drop);
    slashes > MAX_PARTS || expansion.is_cut
}

/// Returns the patterns that one with braces stands for, none when a brace is not closed.
pub(super) fn expand_braces(pattern: &str) -> Expansion {
    Expansion { left: vec![pattern.to_owned()], bytes: 0, found: 0, is_cut: false }
}

/// The patterns that one with braces stands for, in written order. One at a time: together, they
/// may take ten thousand times the memory of the pattern.
pub(super) struct Expansion {
    /// The patterns that are not expanded yet; `next` takes the last one.
    left: Vec<String>,
    /// The length of the texts so far. Unbalanced patterns give nothing however often they branch,
    /// so the branches are counted as well.
    bytes: usize,
    found: usize,
    /// Whether a limit ended the expansion.
    is_cut: bool,
}

#[cfg(test)]
impl Expansion {
    pub(super) fn held_bytes(&self) -> usize {
        self.left.iter().map(String::len).sum()
    }
}

impl Iterator for Expansion {
    type Item = String;

    fn next(&mut self) -> Option<String> {
        while let Some(pattern) = self.left.pop() {
            self.bytes += pattern.len();
            if self.bytes > MAX_EXPANDED_BYTES || self.found >= MAX_ALTERNATIVES {
                self.left.clear();
                self.is_cut = true;
                return None;
            }
            match outer_braces(&pattern) {
                (None, _) => {
                    self.found += 1;
                    return Some(pattern);
                }
                (Some(_), None) => {}
                (Some(open), Some(close)) => {
                    let inner = split_at_commas(&pattern[open + 1..close]);
                    self.left.extend(inner.iter().rev().map(|inner| {
                        format!("{}{inner}{}", &pattern[..open], &pattern[close + 1..])
                    }));
                }
            }
        }
        None
    }
}

/// Returns the place where the first brace opens, and where it closes.
fn outer_braces(pattern: &str) -> (Option<usize>, Option<usize>) {
    let mut open = None;
    let mut depth = 0;
    let mut chars = pattern.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '{' => {
                if depth == 0 {
                    open = Some(at);
                }
                depth += 1;
            }
            '}' if open.is_some() => {
                depth -= 1;
                if depth == 0 {
                    return (open, Some(at));
                }
            }
            '\\' => drop(chars.next()),
            _ => {}
        }
    }
    (open, None)
}

fn split_at_commas(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut start = 0;
    let mut depth = 0;
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            '\\' => drop(chars.next()),
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

/// Returns the parts of a pattern behind a root or a folder; `None` when it matches folders only.
pub(super) fn compile_parts(pattern: &str) -> Option<Vec<GlobPart>> {
    let mut rest = pattern;
    let mut parts: Vec<GlobPart> = Vec::new();
    if rest.is_empty() {
        return Some(parts);
    }
    loop {
        if let Some(behind) = rest.strip_prefix("**/") {
            if !matches!(parts.last(), Some(GlobPart { matcher: Matcher::Recursive, .. })) {
                parts.push(GlobPart { text: "**".into(), matcher: Matcher::Recursive });
            }
            rest = behind.trim_start_matches('/');
        } else {
            let (text, behind) = rest.split_at(find_separator(rest));
            parts.push(GlobPart { text: text.into(), matcher: compile_name(text) });
            match behind.strip_prefix('/') {
                Some(behind) => rest = behind,
                None => return Some(parts),
            }
        }
        if rest.is_empty() || parts.len() > MAX_PARTS {
            return None;
        }
    }
}

/// Returns the place of the first slash that separates names; one within brackets or braces does
/// not.
fn find_separator(pattern: &str) -> usize {
    let mut open = false;
    let mut chars = pattern.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '[' | '{' => open = true,
            ']' | '}' => open = false,
            '/' if !open => return at,
            '\\' => drop(chars.next()),
            _ => {}
        }
    }
    pattern.len()
}

fn compile_name(text: &str) -> Matcher {
    let mut chars = text.chars();
    let mut plain = String::new();
    let mut magical = false;
    while let Some(c) = chars.next() {
        match c {
            '{' => return Matcher::Braces(expand_braces(text).collect()),
            '*' | '?' | '[' => magical = true,
            '\\' => plain.extend(chars.next()),
            c => plain.push(c),
        }
    }
    if magical { Matcher::Magical } else { Matcher::Plain(plain) }
}
