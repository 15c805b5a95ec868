//! Patterns of `Dir.glob`: split at slashes into parts that match names, with braces expanded.

/// How many patterns the braces of one pattern may stand for. `walk` ignores all further ones;
/// lookups refuse such a glob.
pub(super) const MAX_ALTERNATIVES: usize = 10_000;

/// How long the texts may be in total that the expansion of braces goes through.
const MAX_EXPANDED_BYTES: usize = 1 << 24;

/// How many names a pattern may have; no path of any system has more.
const MAX_PARTS: usize = 4_096;

/// A pattern between two slashes.
pub(super) struct GlobPart {
    /// As written; braces can only be expanded in the whole rest of a pattern.
    pub(super) text: String,
    pub(super) matcher: Matcher,
}

pub(super) enum Matcher {
    /// `**/`: any number of folders.
    Recursive,
    /// A name without special characters.
    Plain(String),
    /// A name with some.
    Magical(Vec<GlobToken>),
    /// A name with braces, and the patterns it stands for.
    Braces(Vec<Vec<GlobToken>>),
}

pub(super) enum GlobToken {
    Char(char),
    /// `?`
    Any,
    /// `*`
    Star,
    /// `[...]`
    Set {
        negated: bool,
        ranges: Vec<(char, char)>,
    },
    /// An unclosed `[`.
    Never,
}

/// Whether a name fits. Quadratic at worst: only the last star is tried again.
pub(super) fn matches_name(tokens: &[GlobToken], name: &str) -> bool {
    let name: Vec<char> = name.chars().collect();
    if name.first() == Some(&'.') && !matches!(tokens.first(), Some(GlobToken::Char('.'))) {
        return false;
    }
    let (mut token, mut at) = (0, 0);
    let mut star = None;
    loop {
        let fits = match (tokens.get(token), name.get(at)) {
            (None, None) => return true,
            (Some(GlobToken::Star), _) => {
                star = Some((token + 1, at));
                token += 1;
                continue;
            }
            (Some(_), None) => return false,
            (None, Some(_)) | (Some(GlobToken::Never), Some(_)) => false,
            (Some(GlobToken::Any), Some(_)) => true,
            (Some(GlobToken::Char(c)), Some(own)) => c == own,
            (Some(GlobToken::Set { negated, ranges }), Some(own)) => {
                // A range that runs backwards holds its two ends.
                ranges
                    .iter()
                    .any(|(from, to)| own == from || own == to || (from..=to).contains(&own))
                    != *negated
            }
        };
        if fits {
            (token, at) = (token + 1, at + 1);
        } else if let Some((behind, start)) = star {
            star = Some((behind, start + 1));
            (token, at) = (behind, start + 1);
        } else {
            return false;
        }
    }
}

/// Whether a pattern is too large to be walked as a whole.
pub(super) fn is_too_large(pattern: &str) -> bool {
    let slashes = pattern.bytes().filter(|byte| *byte == b'/').count();
    slashes > MAX_PARTS || pattern.contains('{') && !expand(pattern).1
}

/// Returns the patterns that one with braces stands for, none when a brace is not closed.
pub(super) fn expand_braces(pattern: &str) -> Vec<String> {
    expand(pattern).0
}

/// Returns the patterns that one with braces stands for, and whether these are all.
fn expand(pattern: &str) -> (Vec<String>, bool) {
    let mut found = Vec::new();
    // Unbalanced patterns give nothing however often they branch, so the branches are counted as
    // well.
    let mut bytes = 0;
    let mut left = vec![pattern.to_owned()];
    while let Some(pattern) = left.pop() {
        bytes += pattern.len();
        if bytes > MAX_EXPANDED_BYTES || found.len() >= MAX_ALTERNATIVES {
            return (found, false);
        }
        match outer_braces(&pattern) {
            (None, _) => found.push(pattern),
            (Some(_), None) => {}
            (Some(open), Some(close)) => {
                let inner = split_at_commas(&pattern[open + 1..close]);
                left.extend(
                    inner.iter().rev().map(|inner| {
                        format!("{}{inner}{}", &pattern[..open], &pattern[close + 1..])
                    }),
                );
            }
        }
    }
    (found, true)
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
            '{' => {
                return Matcher::Braces(
                    expand_braces(text)
                        .iter()
                        .map(|alternative| compile_tokens(alternative))
                        .collect(),
                );
            }
            '*' | '?' | '[' => magical = true,
            '\\' => plain.extend(chars.next()),
            c => plain.push(c),
        }
    }
    if magical { Matcher::Magical(compile_tokens(text)) } else { Matcher::Plain(plain) }
}

fn compile_tokens(part: &str) -> Vec<GlobToken> {
    let chars: Vec<char> = part.chars().collect();
    let mut tokens = Vec::new();
    let mut at = 0;
    while at < chars.len() {
        at += 1;
        tokens.push(match chars[at - 1] {
            '*' if matches!(tokens.last(), Some(GlobToken::Star)) => continue,
            '*' => GlobToken::Star,
            '?' => GlobToken::Any,
            '[' => match compile_set(&chars[at..]) {
                Some((set, len)) => {
                    at += len;
                    set
                }
                None => GlobToken::Never,
            },
            '\\' => match chars.get(at) {
                Some(c) => {
                    at += 1;
                    GlobToken::Char(*c)
                }
                // One at the end stands for nothing.
                None => continue,
            },
            c => GlobToken::Char(c),
        });
    }
    tokens
}

/// Returns the set that `chars` begin with, behind its bracket, and how many of them it takes;
/// `None` when it does not end.
fn compile_set(chars: &[char]) -> Option<(GlobToken, usize)> {
    let negated = matches!(chars.first(), Some('!' | '^'));
    let mut at = usize::from(negated);
    let mut ranges = Vec::new();
    loop {
        if *chars.get(at)? == ']' {
            return Some((GlobToken::Set { negated, ranges }, at + 1));
        }
        let (from, next) = set_char(chars, at)?;
        at = next;
        if *chars.get(at)? != '-' || chars.get(at + 1) == Some(&']') {
            ranges.push((from, from));
            continue;
        }
        let (to, next) = set_char(chars, at + 1)?;
        at = next;
        ranges.push((from, to));
    }
}

fn set_char(chars: &[char], at: usize) -> Option<(char, usize)> {
    let at = if *chars.get(at)? == '\\' { at + 1 } else { at };
    Some((*chars.get(at)?, at + 1))
}
