//! Ruby's `Dir.glob`, as `glob` and `globs` of hiera.yaml use it, over any listing of folders. Asks nothing of the operating system.
//!
//! Follows `dir.c` of Ruby 3.1, where results are sorted; `tests/glob_oracle.rs` compares both on random trees.

use crate::text::FilePath;

/// What lies under a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    /// A file, a link to one, or a link to nothing, which Ruby's glob keeps too.
    File,
    /// A folder.
    Folder,
    /// A link to a folder: `*/` goes through it, `**/` does not.
    LinkedFolder,
}

/// Folders and what is in them.
pub trait Listing {
    /// The names directly in `folder`, sorted by bytes, without `.` and `..`; empty when it is no folder. Links are followed.
    fn list(&self, folder: &FilePath) -> Vec<(String, EntryKind)>;

    /// What lies at `path`; `None` when nothing does.
    fn kind(&self, path: &FilePath) -> Option<EntryKind> {
        let entries = self.list(&path.parent()?);
        let at = entries.binary_search_by(|(name, _)| name.as_str().cmp(path.name())).ok()?;
        Some(entries[at].1)
    }
}

/// How many patterns the braces of one pattern may stand for; what follows in a pattern of more is ignored.
const MAX_ALTERNATIVES: usize = 10_000;

/// How long the texts may be in total that the expansion of braces goes through.
const MAX_EXPANDED_BYTES: usize = 1 << 24;

/// How many names a pattern may have; no path of any system has more.
const MAX_PARTS: usize = 4_096;

/// The files that an absolute pattern matches, in the order and as often as Ruby's `Dir.glob` names them; folders are left out.
///
/// Sorted by bytes within each folder, an entry before what lies in it; alternatives in braces follow one another in written
/// order, without regard to what was found before. Names from the start of the pattern that hold no special character are not
/// looked up, so `listing` need not know the folders above. The pattern should have no `..`, which would be folded as text.
/// Source: `ruby_brace_expand`, `glob_make_pattern` and `glob_helper` in `dir.c` of Ruby 3.1.
pub fn glob(pattern: &str, listing: &dyn Listing) -> Vec<FilePath> {
    let mut found = Vec::new();
    for pattern in alternatives(pattern) {
        if let Some(parts) = compile(&pattern) {
            Walk { parts: &parts, listing, found: &mut found }.visit(&FilePath::new("/"), None, &[0]);
        }
    }
    found
}

/// Whether a pattern would match a file at `path`, were there one. Both are absolute.
///
/// No folder on the way counts as a link.
pub fn matches(pattern: &str, path: &FilePath) -> bool {
    let names: Vec<&str> = path.as_str().split('/').filter(|name| !name.is_empty()).collect();
    alternatives(pattern).iter().filter_map(|pattern| compile(pattern)).any(|parts| {
        let mut states = vec![0];
        for (n, name) in names.iter().enumerate() {
            let kind = if n + 1 < names.len() { EntryKind::Folder } else { EntryKind::File };
            skip_empty(&parts, &mut states);
            states = step(&parts, &states, name, kind);
        }
        states.contains(&parts.len())
    })
}

/// A pattern between two slashes.
enum Part {
    /// `**/`: any number of folders.
    Recursive,
    /// A name without special characters.
    Plain(String),
    /// Anything else.
    Magical(Vec<Token>),
}

enum Token {
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

struct Walk<'w> {
    parts: &'w [Part],
    listing: &'w dyn Listing,
    found: &'w mut Vec<FilePath>,
}

impl Walk<'_> {
    /// Collects what matches at and below `path`. Each of `states` is the number of the part that comes next.
    /// `kind` is `None` where nobody has looked.
    fn visit(&mut self, path: &FilePath, kind: Option<EntryKind>, states: &[usize]) {
        if states.contains(&self.parts.len()) && kind.or_else(|| self.listing.kind(path)) == Some(EntryKind::File) {
            self.found.push(path.clone());
        }
        let next: Vec<usize> = states.iter().copied().filter(|state| *state < self.parts.len()).collect();
        if next.is_empty() || kind == Some(EntryKind::File) {
            return;
        }
        if next.iter().all(|state| matches!(self.parts[*state], Part::Plain(_))) {
            self.join(path, &next)
        } else {
            self.list(path, &next)
        }
    }

    // Ruby does not read a folder only to find names that it knows.
    fn join(&mut self, path: &FilePath, states: &[usize]) {
        let name_of = |state: usize| match &self.parts[state] {
            Part::Plain(name) => name.as_str(),
            _ => "",
        };
        let mut left = states.to_vec();
        while let Some(first) = left.first().copied() {
            let name = name_of(first);
            let (same, others): (Vec<usize>, Vec<usize>) = left.iter().partition(|state| name_of(**state) == name);
            let next: Vec<usize> = same.iter().map(|state| state + 1).collect();
            let stays = name.is_empty() || name == ".";
            self.visit(&path.join(&format!("./{name}")), stays.then_some(EntryKind::Folder), &next);
            left = others;
        }
    }

    fn list(&mut self, path: &FilePath, states: &[usize]) {
        for (name, kind) in self.listing.list(path) {
            let next = step(self.parts, states, &name, kind);
            if !next.is_empty() {
                self.visit(&path.join(&format!("./{name}")), Some(kind), &next);
            }
        }
    }
}

/// The states behind an entry of a folder.
fn step(parts: &[Part], states: &[usize], name: &str, kind: EntryKind) -> Vec<usize> {
    let mut next = Vec::new();
    let mut push = |state: usize| {
        if !next.contains(&state) {
            next.push(state);
        }
    };
    for &state in states {
        let mut state = state;
        if matches!(parts.get(state), Some(Part::Recursive)) {
            if kind == EntryKind::Folder && !name.starts_with('.') {
                push(state);
            }
            state += 1;
        }
        let fits = match parts.get(state) {
            Some(Part::Plain(plain)) => plain == name,
            Some(Part::Magical(tokens)) => fits(tokens, name),
            Some(Part::Recursive) | None => false,
        };
        if fits {
            push(state + 1);
        }
    }
    next
}

/// Moves over the empty names of `a//b`.
fn skip_empty(parts: &[Part], states: &mut [usize]) {
    for state in states {
        while matches!(parts.get(*state), Some(Part::Plain(name)) if name.is_empty() || name == ".") {
            *state += 1;
        }
    }
}

/// Whether a name fits. Quadratic at worst: only the last star is tried again.
fn fits(tokens: &[Token], name: &str) -> bool {
    let name: Vec<char> = name.chars().collect();
    if name.first() == Some(&'.') && !matches!(tokens.first(), Some(Token::Char('.'))) {
        return false;
    }
    let (mut token, mut at) = (0, 0);
    let mut star = None;
    loop {
        let fits = match (tokens.get(token), name.get(at)) {
            (None, None) => return true,
            (Some(Token::Star), _) => {
                star = Some((token + 1, at));
                token += 1;
                continue;
            }
            (Some(_), None) => return false,
            (None, Some(_)) | (Some(Token::Never), Some(_)) => false,
            (Some(Token::Any), Some(_)) => true,
            (Some(Token::Char(c)), Some(own)) => c == own,
            (Some(Token::Set { negated, ranges }), Some(own)) => {
                // A range that runs backwards holds its two ends.
                ranges.iter().any(|(from, to)| own == from || own == to || (from..=to).contains(&own)) != *negated
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

/// The patterns that one with braces stands for, none when a brace is not closed.
fn alternatives(pattern: &str) -> Vec<String> {
    let mut found = Vec::new();
    // Unbalanced patterns give nothing however often they branch, so the branches are counted as well.
    let mut bytes = 0;
    let mut left = vec![pattern.to_owned()];
    while let Some(pattern) = left.pop() {
        bytes += pattern.len();
        if bytes > MAX_EXPANDED_BYTES || found.len() >= MAX_ALTERNATIVES {
            break;
        }
        match outer_braces(&pattern) {
            (None, _) => found.push(pattern),
            (Some(_), None) => {}
            (Some(open), Some(close)) => {
                let inner = split_at_commas(&pattern[open + 1..close]);
                left.extend(inner.iter().rev().map(|inner| format!("{}{inner}{}", &pattern[..open], &pattern[close + 1..])));
            }
        }
    }
    found
}

/// Where the first brace opens, and where it closes.
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

/// The parts of a pattern without braces; `None` when it matches folders only.
fn compile(pattern: &str) -> Option<Vec<Part>> {
    let mut rest = pattern.strip_prefix('/').unwrap_or(pattern);
    let mut parts = Vec::new();
    loop {
        if let Some(behind) = rest.strip_prefix("**/") {
            if !matches!(parts.last(), Some(Part::Recursive)) {
                parts.push(Part::Recursive);
            }
            rest = behind.trim_start_matches('/');
        } else {
            let (part, behind) = rest.split_at(separator(rest));
            parts.push(compile_part(part));
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

/// Where the first slash is that separates; one between `[` and `]` does not.
fn separator(pattern: &str) -> usize {
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

fn compile_part(part: &str) -> Part {
    let mut chars = part.chars();
    let mut plain = String::new();
    while let Some(c) = chars.next() {
        match c {
            '*' | '?' | '[' => return Part::Magical(compile_tokens(part)),
            '\\' => plain.extend(chars.next()),
            c => plain.push(c),
        }
    }
    Part::Plain(plain)
}

fn compile_tokens(part: &str) -> Vec<Token> {
    let chars: Vec<char> = part.chars().collect();
    let mut tokens = Vec::new();
    let mut at = 0;
    while at < chars.len() {
        at += 1;
        tokens.push(match chars[at - 1] {
            '*' if matches!(tokens.last(), Some(Token::Star)) => continue,
            '*' => Token::Star,
            '?' => Token::Any,
            '[' => match compile_set(&chars[at..]) {
                Some((set, len)) => {
                    at += len;
                    set
                }
                None => Token::Never,
            },
            '\\' if at < chars.len() => {
                at += 1;
                Token::Char(chars[at - 1])
            }
            c => Token::Char(c),
        });
    }
    tokens
}

/// The set that `chars` begin with, behind its bracket, and how many of them it takes; `None` when it does not end.
fn compile_set(chars: &[char]) -> Option<(Token, usize)> {
    let negated = matches!(chars.first(), Some('!' | '^'));
    let mut at = usize::from(negated);
    let mut ranges = Vec::new();
    loop {
        if *chars.get(at)? == ']' {
            return Some((Token::Set { negated, ranges }, at + 1));
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    /// Folders by path, with what is in them.
    #[derive(Default)]
    struct Tree(BTreeMap<String, BTreeMap<String, EntryKind>>);

    impl Tree {
        fn new(files: &[&str]) -> Tree {
            let mut tree = Tree::default();
            for file in files {
                let mut folder = String::from("/data");
                let mut names: Vec<&str> = file.split('/').collect();
                let name = names.pop().unwrap();
                for part in names {
                    tree.0.entry(folder.clone()).or_default().insert(part.into(), EntryKind::Folder);
                    folder = format!("{folder}/{part}");
                }
                tree.0.entry(folder).or_default().insert(name.into(), EntryKind::File);
            }
            tree
        }
    }

    impl Listing for Tree {
        fn list(&self, folder: &FilePath) -> Vec<(String, EntryKind)> {
            let entries = self.0.get(folder.as_str());
            entries.map(|names| names.iter().map(|(name, kind)| (name.clone(), *kind)).collect()).unwrap_or_default()
        }
    }

    fn check(files: &[&str], pattern: &str, expected: &[&str]) {
        let tree = Tree::new(files);
        let found = glob(&format!("/data/{pattern}"), &tree);
        let found: Vec<&str> = found.iter().map(|path| path.as_str().strip_prefix("/data/").unwrap()).collect();
        assert_eq!(found, expected, "{pattern}");
        for file in files {
            let path = FilePath::new(&format!("/data/{file}"));
            assert_eq!(matches(&format!("/data/{pattern}"), &path), expected.contains(file), "{pattern} and {file}");
        }
    }

    #[test]
    fn order_is_by_bytes_per_folder() {
        let files = ["a.yaml", "a/z.yaml", "a-b/y.yaml", "b/b.yaml", "b.yaml", "a/sub/q.yaml", "Z.yaml", "a/sub.yaml"];
        let expected = ["Z.yaml", "a/sub/q.yaml", "a/sub.yaml", "a/z.yaml", "a-b/y.yaml", "a.yaml", "b/b.yaml", "b.yaml"];
        check(&files, "**/*.yaml", &expected);
        check(&files, "**/*", &expected);
        let names = ["10.yaml", "9.yaml", "B.yaml", "[x].yaml", "a-b.yaml", "a.yaml", "a_b.yaml", "b.yaml", "é.yaml"];
        check(&names, "*.yaml", &names);
        check(&names, "**.yaml", &names);
    }

    #[test]
    fn stars_do_not_match_a_leading_dot() {
        let files = [".hid.yaml", "a.yaml", ".d/x.yaml"];
        check(&files, "*.yaml", &["a.yaml"]);
        check(&files, "?hid.yaml", &[]);
        check(&files, "[.]hid.yaml", &[]);
        check(&files, ".*.yaml", &[".hid.yaml"]);
        check(&files, "{.hid,a}.yaml", &[".hid.yaml", "a.yaml"]);
        check(&files, "**/*.yaml", &["a.yaml"]);
        check(&files, ".d/*.yaml", &[".d/x.yaml"]);
    }

    #[test]
    fn braces_are_expanded_first_and_keep_duplicates() {
        let files = ["a.yaml", "b.yaml", "c/d.yaml"];
        check(&files, "{b,a}.yaml", &["b.yaml", "a.yaml"]);
        check(&files, "{b.yaml,a.yaml,b.yaml}", &["b.yaml", "a.yaml", "b.yaml"]);
        check(&files, "{c/{d,e},{a}}.yaml", &["c/d.yaml", "a.yaml"]);
        check(&files, "{a.yaml", &[]);
        check(&files, "[a.yaml", &[]);
    }

    #[test]
    fn sets_escapes_and_plain_names() {
        let files = ["[x].yaml", "a.yaml", "b.yaml", "x.yaml"];
        check(&files, r"\[x\].yaml", &["[x].yaml"]);
        check(&files, "[x].yaml", &["x.yaml"]);
        check(&files, "[^ab[].yaml", &["x.yaml"]);
        check(&files, "[!ab].yaml", &["x.yaml"]);
        check(&files, "[a-b].yaml", &["a.yaml", "b.yaml"]);
        check(&files, "[x-a].yaml", &["a.yaml", "x.yaml"]);
        check(&files, "a.yaml", &["a.yaml"]);
        check(&files, "A.yaml", &[]);
        check(&files, "*.YAML", &[]);
        check(&files, "missing.yaml", &[]);
    }

    #[test]
    fn folders_are_no_results() {
        check(&["a/b.yaml"], "*", &[]);
        check(&["a/b.yaml"], "a", &[]);
        check(&["a/b.yaml"], "a/", &[]);
        check(&["a/b.yaml"], "**/", &[]);
        check(&["a/b.yaml"], "a/b.yaml/", &[]);
    }

    #[test]
    fn only_a_star_goes_through_a_linked_folder() {
        let mut tree = Tree::new(&["d/x.yaml", "l/x.yaml"]);
        tree.0.get_mut("/data").unwrap().insert("l".into(), EntryKind::LinkedFolder);
        let found = |pattern| glob(pattern, &tree).iter().map(|path| path.as_str().to_owned()).collect::<Vec<_>>();
        assert_eq!(found("/data/*/x.yaml"), ["/data/d/x.yaml", "/data/l/x.yaml"]);
        assert_eq!(found("/data/**/x.yaml"), ["/data/d/x.yaml"]);
    }

    #[test]
    fn hostile_patterns_end() {
        let name = "a".repeat(10_000);
        check(&[&name], &format!("{}b", "*a".repeat(200)), &[]);
        check(&[&name], &"{a,a}".repeat(64), &[]);
        check(&[&name], &format!("{}{{", "{a,a}".repeat(64)), &[]);
        check(&[&name], &"{".repeat(100_000), &[]);
        check(&["b"], &format!("{}{}", "{".repeat(50_000), "}".repeat(50_000)), &[]);
        check(&["b"], &"**/*/".repeat(500), &[]);
        check(&["b"], &"a/".repeat(100_000), &[]);
    }
}
