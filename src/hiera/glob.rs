//! Ruby's `Dir.glob`, as `glob` and `globs` of hiera.yaml use it, over any listing of folders. Asks nothing of the operating system.
//!
//! Follows `dir.c` of Ruby 3.1, where results are sorted; `tests/glob_oracle.rs` compares both on random trees.

use std::borrow::Cow;
use std::collections::HashMap;
use std::rc::Rc;

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
    fn list(&self, folder: &FilePath) -> Cow<'_, [(String, EntryKind)]>;

    /// What lies at `path`; `None` when nothing does.
    fn kind(&self, path: &FilePath) -> Option<EntryKind> {
        let entries = self.list(&path.parent()?);
        let at = entries.binary_search_by(|(name, _)| name.as_str().cmp(path.name())).ok()?;
        Some(entries[at].1)
    }
}

/// How many patterns the braces of one pattern may stand for; all further ones are ignored.
const MAX_ALTERNATIVES: usize = 10_000;

/// How long the texts may be in total that the expansion of braces goes through.
const MAX_EXPANDED_BYTES: usize = 1 << 24;

/// How many names a pattern may have; no path of any system has more.
const MAX_PARTS: usize = 4_096;

/// The files that an absolute pattern matches, in the order and as often as Ruby's `Dir.glob` names them; folders are left out.
///
/// Sorted by bytes within each folder, an entry before what lies in it. Alternatives in braces follow one another in written
/// order and repeat what both match, below each folder where the braces are reached (`*/{b,a}`: `d/b`, `d/a`, `e/b`, `e/a`). Right
/// behind `**/`, though, braces are one more way to match a name: no order, no repetition, and no `/` in them.
///
/// Names at the start of the pattern that hold no special character are not looked up, so `listing` need not know the folders
/// above. `..` should have been folded by the caller; one that is left is folded as text, without regard to links.
/// Source: `glob_make_pattern`, `glob_helper` and `ruby_brace_expand` in `dir.c` of Ruby 3.1.
pub fn glob(pattern: &str, listing: &dyn Listing) -> Vec<FilePath> {
    let Some(parts) = compile(pattern.strip_prefix('/').unwrap_or(pattern)) else { return Vec::new() };
    let mut walk = Walk { listing, expanded: HashMap::new(), found: Vec::new() };
    walk.visit(&parts, &[0], &Place { path: FilePath::new("/"), kind: None, skip_dot: false });
    walk.found
}

/// Whether a pattern matches a file at `path`, were there one and nothing else. Both are absolute.
///
/// No folder on the way counts as a link.
pub fn matches(pattern: &str, path: &FilePath) -> bool {
    !glob(pattern, &OnlyFile(path)).is_empty()
}

/// A world with one file.
struct OnlyFile<'p>(&'p FilePath);

impl Listing for OnlyFile<'_> {
    fn list(&self, folder: &FilePath) -> Cow<'_, [(String, EntryKind)]> {
        Cow::Owned(match self.0.relative_to(folder) {
            None | Some("") => Vec::new(),
            Some(rest) => match rest.split_once('/') {
                Some((name, _)) => vec![(name.into(), EntryKind::Folder)],
                None => vec![(rest.into(), EntryKind::File)],
            },
        })
    }
}

/// A pattern between two slashes.
struct Part {
    /// As written; braces can only be expanded in the whole rest of a pattern.
    text: String,
    matcher: Matcher,
}

enum Matcher {
    /// `**/`: any number of folders.
    Recursive,
    /// A name without special characters.
    Plain(String),
    /// A name with some.
    Magical(Vec<Token>),
    /// A name with braces, and the patterns it stands for.
    Braces(Vec<Vec<Token>>),
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
    listing: &'w dyn Listing,
    /// What the rest of a pattern with braces stands for.
    expanded: HashMap<String, Rc<Vec<Vec<Part>>>>,
    found: Vec<FilePath>,
}

/// Where a walk has come to.
struct Place {
    path: FilePath,
    /// `None` where nobody has looked.
    kind: Option<EntryKind>,
    /// Whether `.` is no name to match any more; it is one in the first folder that is read.
    skip_dot: bool,
}

impl Walk<'_> {
    /// Collects what matches at a place and below. Each of `states` is the number of the part of the pattern that comes next.
    fn visit(&mut self, parts: &[Part], states: &[usize], place: &Place) {
        let mut recursive = false;
        let mut listed = false;
        for &state in states {
            let is_recursive = matches!(parts.get(state), Some(Part { matcher: Matcher::Recursive, .. }));
            recursive |= is_recursive;
            match parts.get(state + usize::from(is_recursive)).map(|part| &part.matcher) {
                // All other states are lost here, in Ruby too.
                Some(Matcher::Braces(_)) if !recursive => return self.expand(&parts[states[0]..], place),
                Some(Matcher::Magical(_)) => listed = true,
                _ => {}
            }
        }
        if states.contains(&parts.len()) && place.kind.or_else(|| self.listing.kind(&place.path)) == Some(EntryKind::File) {
            self.found.push(place.path.clone());
        }
        if place.kind == Some(EntryKind::File) {
            return;
        }
        if recursive || listed { self.list(parts, states, place, recursive) } else { self.join(parts, states, place) }
    }

    fn expand(&mut self, rest: &[Part], place: &Place) {
        let texts: Vec<&str> = rest.iter().map(|part| part.text.as_str()).collect();
        let expanded = self.expanded.entry(texts.join("/")).or_insert_with_key(|text| {
            Rc::new(alternatives(text).iter().filter_map(|alternative| compile(alternative)).collect())
        });
        for parts in expanded.clone().iter() {
            self.visit(parts, &[0], place);
        }
    }

    // Ruby does not read a folder only to find names that it knows.
    fn join(&mut self, parts: &[Part], states: &[usize], place: &Place) {
        let name_of = |state: usize| match parts.get(state).map(|part| &part.matcher) {
            Some(Matcher::Plain(name)) => Some(name.as_str()),
            _ => None,
        };
        let mut left: Vec<usize> = states.iter().copied().filter(|state| name_of(*state).is_some()).collect();
        while let Some(name) = left.first().and_then(|state| name_of(*state)) {
            let (same, others): (Vec<usize>, Vec<usize>) = left.iter().partition(|state| name_of(**state) == Some(name));
            let next: Vec<usize> = same.iter().map(|state| state + 1).collect();
            if name != ".." || self.is_folder(place) {
                // An escaped slash does not separate, but leads on.
                let last = name.rsplit('/').next();
                let kind = matches!(last, Some("" | "." | "..")).then_some(EntryKind::Folder);
                let path = place.path.join(&format!("./{name}"));
                self.visit(parts, &next, &Place { path, kind, skip_dot: place.skip_dot });
            }
            left = others;
        }
    }

    fn list(&mut self, parts: &[Part], states: &[usize], place: &Place, recursive: bool) {
        let listing = self.listing;
        let entries = listing.list(&place.path);
        let has_dot = !recursive && !place.skip_dot && !entries.is_empty();
        let (before, behind) = entries.split_at(entries.partition_point(|(name, _)| name.as_str() < "."));
        let dot = has_dot.then_some((".", EntryKind::Folder));
        for (name, kind) in before.iter().map(named).chain(dot).chain(behind.iter().map(named)) {
            let next = step(parts, states, name, kind);
            if !next.is_empty() {
                self.visit(
                    parts,
                    &next,
                    &Place { path: place.path.join(&format!("./{name}")), kind: Some(kind), skip_dot: true },
                );
            }
        }
    }

    fn is_folder(&self, place: &Place) -> bool {
        matches!(place.kind.or_else(|| self.listing.kind(&place.path)), Some(EntryKind::Folder | EntryKind::LinkedFolder))
    }
}

fn named((name, kind): &(String, EntryKind)) -> (&str, EntryKind) {
    (name, *kind)
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
        if matches!(parts.get(state), Some(Part { matcher: Matcher::Recursive, .. })) {
            if kind == EntryKind::Folder && !name.starts_with('.') {
                push(state);
            }
            state += 1;
        }
        let fits = match parts.get(state).map(|part| &part.matcher) {
            Some(Matcher::Plain(plain)) => plain == name,
            Some(Matcher::Magical(tokens)) => fits(tokens, name),
            Some(Matcher::Braces(alternatives)) => alternatives.iter().any(|tokens| fits(tokens, name)),
            Some(Matcher::Recursive) | None => false,
        };
        if fits {
            push(state + 1);
        }
    }
    next
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

/// The parts of a pattern behind a root or a folder; `None` when it matches folders only.
fn compile(pattern: &str) -> Option<Vec<Part>> {
    let mut rest = pattern;
    let mut parts: Vec<Part> = Vec::new();
    if rest.is_empty() {
        return Some(parts);
    }
    loop {
        if let Some(behind) = rest.strip_prefix("**/") {
            if !matches!(parts.last(), Some(Part { matcher: Matcher::Recursive, .. })) {
                parts.push(Part { text: "**".into(), matcher: Matcher::Recursive });
            }
            rest = behind.trim_start_matches('/');
        } else {
            let (text, behind) = rest.split_at(separator(rest));
            parts.push(Part { text: text.into(), matcher: compile_name(text) });
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

/// Where the first slash is that separates; one within brackets or braces does not.
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

fn compile_name(text: &str) -> Matcher {
    let mut chars = text.chars();
    let mut plain = String::new();
    let mut magical = false;
    while let Some(c) = chars.next() {
        match c {
            '{' => return Matcher::Braces(alternatives(text).iter().map(|alternative| compile_tokens(alternative)).collect()),
            '*' | '?' | '[' => magical = true,
            '\\' => plain.extend(chars.next()),
            c => plain.push(c),
        }
    }
    if magical { Matcher::Magical(compile_tokens(text)) } else { Matcher::Plain(plain) }
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
            '\\' => match chars.get(at) {
                Some(c) => {
                    at += 1;
                    Token::Char(*c)
                }
                // One at the end stands for nothing.
                None => continue,
            },
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
        fn list(&self, folder: &FilePath) -> Cow<'_, [(String, EntryKind)]> {
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
        check(&files, "**/{b,b,a}.yaml", &["a.yaml", "b.yaml"]);
        check(&files, "**/{c/d,b}.yaml", &["b.yaml"]);
        check(&["d/a", "d/b", "e/a", "e/b"], "*/{b,a}", &["d/b", "d/a", "e/b", "e/a"]);
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
        let name = "a".repeat(2_000);
        check(&[&name], &format!("{}b", "*a".repeat(200)), &[]);
        check(&[&name], &"{a,a}".repeat(64), &[]);
        check(&[&name], &format!("{}{{", "{a,a}".repeat(64)), &[]);
        check(&[&name], &"{".repeat(100_000), &[]);
        check(&["b"], &format!("{}{}", "{".repeat(50_000), "}".repeat(50_000)), &[]);
        check(&["b"], &"**/*/".repeat(500), &[]);
        check(&["b"], &"a/".repeat(100_000), &[]);
    }
}
