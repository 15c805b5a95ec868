//! Location patterns read backwards: the files that a template such as
//! `nodes/%{::location}/%{host}.yaml` can name, and the values of its variables when it names a
//! given one.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use foldhash::HashSet;
use memchr::{memchr, memrchr};

use super::interpolation::{TokenKind, parse_tokens};

/// The values of variables for which a pattern names a file: by name, without a leading `::`,
/// dotted where a part is meant.
pub type Bindings = BTreeMap<String, String>;

/// Returns the conditions under which a file would be seen, as a phrase: `role = web and site =
/// oslo`.
pub fn condition_phrase(when: &Bindings) -> String {
    let each: Vec<String> = when.iter().map(|(name, value)| format!("{name} = {value}")).collect();
    each.join(" and ")
}

/// A part of a pattern.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum PatternPiece {
    /// Text that stands for itself.
    Literal(String),
    /// Text in which `*`, `?`, `[…]`, `{…}` and `**/` are wildcards.
    Glob(String),
    /// The value of a variable.
    Variable(String),
    /// Unknown text.
    Any,
}

/// A compiled pattern.
#[derive(Clone, Debug)]
pub struct Pattern {
    pieces: Arc<[PatternPiece]>,
    variables: Vec<String>,
    /// One list of parts for each alternative that braces stand for.
    alternatives: Vec<Vec<PatternPart>>,
}

/// A part of an alternative.
#[derive(Clone, Debug)]
enum PatternPart {
    Literal(String),
    /// The value of the variable with this number.
    Variable(usize),
    /// Any text, slashes included.
    Any,
    /// `*`: any text without a slash.
    Star,
    /// `?`
    One,
    /// `[…]`: ranges of characters, and whether they are those not meant.
    Set(Vec<(char, char)>, bool),
    /// `**/`: any number of folders.
    Folders,
}

/// How many alternatives braces may stand for.
const MAX_ALTERNATIVES: usize = 256;
/// How deep braces may be in each other.
const MAX_DEPTH: usize = 16;
/// How many variables a pattern may name.
const MAX_VARIABLES: usize = 64;
/// How many bytes of text a pattern may have.
const MAX_TEXT: usize = 4096;
/// How many parts an alternative may have: matching goes into each from the one before.
const MAX_PARTS: usize = 1024;

/// How a path matches a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PatternMatch {
    /// The path matches in one way only: these are the variables.
    Bound(Bindings),
    /// The path matches in several ways; these variables are the same in all of them.
    Ambiguous(Bindings),
}

impl PatternMatch {
    /// Returns the variables that are settled.
    pub fn bindings(&self) -> &Bindings {
        match self {
            PatternMatch::Bound(bindings) | PatternMatch::Ambiguous(bindings) => bindings,
        }
    }
}

/// Returns the pieces of a template: its tokens are variables, all else is literal, or a glob when
/// `glob` is set.
pub fn parse_pieces(template: &str, glob: bool) -> Vec<PatternPiece> {
    let mut pieces = Vec::new();
    let mut from = 0;
    for token in parse_tokens(template) {
        let range = token.range.as_usize();
        if range.start > from {
            pieces.push(text_piece(&template[from..range.start], glob));
        }
        from = range.end;
        match token.kind {
            TokenKind::Variable { key, .. } => {
                pieces.push(PatternPiece::Variable(variable_name(&key.text)))
            }
            TokenKind::Empty => {}
            TokenKind::Call { .. } | TokenKind::Malformed => pieces.push(PatternPiece::Any),
        }
    }
    if from < template.len() {
        pieces.push(text_piece(&template[from..], glob));
    }
    pieces
}

fn text_piece(text: &str, glob: bool) -> PatternPiece {
    if glob { PatternPiece::Glob(text.to_owned()) } else { PatternPiece::Literal(text.to_owned()) }
}

/// Returns the name under which a variable is known in bindings: without a leading `::`.
pub fn variable_name(text: &str) -> String {
    text.strip_prefix("::").unwrap_or(text).to_owned()
}

impl Pattern {
    /// Returns the pieces that the pattern was compiled from.
    pub fn pieces(&self) -> &Arc<[PatternPiece]> {
        &self.pieces
    }

    /// Compiles the pattern of these pieces; `None` for one too large to be meant.
    pub fn new(pieces: Vec<PatternPiece>) -> Option<Pattern> {
        if text_len(&pieces) > MAX_TEXT || pieces.len() > MAX_PARTS {
            return None;
        }
        let mut variables = Vec::new();
        let mut opaque = Vec::new();
        let mut atoms = Vec::new();
        for piece in &pieces {
            let part = match piece {
                PatternPiece::Glob(text) => {
                    atoms.extend(text.chars().map(Atom::Char));
                    continue;
                }
                PatternPiece::Literal(text) => PatternPart::Literal(text.clone()),
                PatternPiece::Any => PatternPart::Any,
                PatternPiece::Variable(name) => {
                    variables.push(name.clone());
                    PatternPart::Variable(variables.len() - 1)
                }
            };
            atoms.push(Atom::Opaque(opaque.len()));
            opaque.push(part);
        }
        if variables.len() > MAX_VARIABLES || brace_depth(&atoms) > MAX_DEPTH {
            return None;
        }
        let alternatives: Vec<Vec<PatternPart>> =
            expand(&atoms)?.iter().map(|atoms| atom_parts(atoms, &opaque)).collect();
        let fits = alternatives.iter().all(|parts| parts.len() <= MAX_PARTS);
        fits.then_some(Pattern { pieces: pieces.into(), variables, alternatives })
    }

    /// How the path matches when each variable is one non-empty part of a path, or of a part;
    /// `None` when it does not.
    ///
    /// A variable that occurs twice must be the same in both places.
    pub fn bind(&self, path: &str) -> Option<PatternMatch> {
        self.bind_with(path, [MatchManner::Greedy, MatchManner::Lazy])
    }

    /// Whether [`Pattern::bind`] binds the path. Costs less: one way to match is enough, unless a
    /// variable occurs twice.
    pub fn binds(&self, path: &str) -> bool {
        let mut found = self.alternatives.iter();
        found.any(|parts| self.find(parts, path, MatchManner::Greedy).is_some())
            && (!self.repeats_variable() || self.bind(path).is_some())
    }

    fn repeats_variable(&self) -> bool {
        let mut numbered = self.variables.iter().enumerate();
        numbered.any(|(number, name)| self.variables[..number].contains(name))
    }

    /// How the path matches when each variable is a non-empty text, which may have slashes: `web/edge`
    /// is a role of `role/%{role}.yaml`. `None` when it does not.
    pub fn bind_nested(&self, path: &str) -> Option<PatternMatch> {
        self.bind_with(path, [MatchManner::NestedGreedy, MatchManner::NestedLazy])
    }

    /// How the path matches when each variable takes as much and as little as these two manners let
    /// it.
    fn bind_with(&self, path: &str, manners: [MatchManner; 2]) -> Option<PatternMatch> {
        let mut ways =
            self.alternatives.iter().filter_map(|parts| self.bind_parts(parts, path, manners));
        let (mut bindings, mut is_only_way) = ways.next()?;
        for (other, is_settled) in ways {
            is_only_way &= is_settled && other == bindings;
            bindings.retain(|name, value| other.get(name) == Some(value));
        }
        Some(if is_only_way {
            PatternMatch::Bound(bindings)
        } else {
            PatternMatch::Ambiguous(bindings)
        })
    }

    /// Returns the bindings that one alternative settles, and whether these are all of its
    /// variables.
    fn bind_parts(
        &self,
        parts: &[PatternPart],
        path: &str,
        [most, least]: [MatchManner; 2],
    ) -> Option<(Bindings, bool)> {
        let most = self.find(parts, path, most)?;
        let least = self.find(parts, path, least)?;
        let mut bindings = Bindings::new();
        let mut open = Vec::new();
        for part in parts {
            let PatternPart::Variable(n) = part else { continue };
            let (name, most, least) = (&self.variables[*n], most[*n], least[*n]);
            if (most, most.as_ptr()) != (least, least.as_ptr()) {
                open.push(name); // Also equal texts at two places: other bindings may lie between.
            } else if let Some(known) = bindings.insert(name.clone(), most.to_owned())
                && known != most
            {
                return None;
            }
        }
        bindings.retain(|name, _| !open.contains(&name));
        Some((bindings, open.is_empty()))
    }

    /// Returns whether some values of the variables, empty ones and ones with slashes included,
    /// give the path.
    pub fn can_name(&self, path: &str) -> bool {
        self.alternatives.iter().any(|parts| self.find(parts, path, MatchManner::Loose).is_some())
    }

    /// Returns whether some values give the path, or one that the system takes for it: where a
    /// folder's name is empty, two slashes are one.
    pub fn can_lead_to(&self, path: &str) -> bool {
        self.alternatives.iter().any(|parts| {
            self.find(parts, path, MatchManner::Loosest).is_some_and(|values| {
                let mut known = BTreeMap::new();
                self.variables
                    .iter()
                    .zip(values)
                    .all(|(name, value)| *known.entry(name).or_insert(value) == value)
            })
        })
    }

    /// Returns the text of each variable when `parts` match the whole of `path`.
    fn find<'p>(
        &self,
        parts: &[PatternPart],
        path: &'p str,
        manner: MatchManner,
    ) -> Option<Vec<&'p str>> {
        if is_other_literal(parts.first(), |path, text| path.starts_with(text), path)
            || is_other_literal(parts.last(), |path, text| path.ends_with(text), path)
        {
            return None;
        }
        let mut matching = PatternMatcher {
            path,
            manner,
            values: vec![""; self.variables.len()],
            dead: HashSet::default(),
        };
        matching.from(parts, 0).then_some(matching.values)
    }

    /// Returns the text before the first piece that is not literal: every file that the pattern
    /// names starts with it.
    pub fn literal_prefix(&self) -> String {
        let mut prefix = String::new();
        for piece in self.pieces.iter() {
            match piece {
                PatternPiece::Literal(text) => prefix.push_str(text),
                PatternPiece::Glob(text) => {
                    prefix.push_str(
                        &text[..text.find(['*', '?', '[', '{', '\\']).unwrap_or(text.len())],
                    );
                    if text.contains(['*', '?', '[', '{', '\\']) {
                        break;
                    }
                }
                PatternPiece::Variable(_) | PatternPiece::Any => break,
            }
        }
        prefix
    }

    /// Returns how many bytes of the pattern are literal. Of two patterns that match, the one with
    /// more literal bytes is the more specific one.
    pub fn literal_len(&self) -> usize {
        text_len(&self.pieces)
    }

    /// Returns the pattern with these values in place of their variables; `None` where it gets too
    /// large.
    pub fn fill_variables(&self, values: &Bindings) -> Option<Pattern> {
        Pattern::new(
            self.pieces
                .iter()
                .map(|piece| match piece {
                    PatternPiece::Variable(name) => match values.get(name) {
                        Some(value) => PatternPiece::Literal(value.clone()),
                        None => piece.clone(),
                    },
                    _ => piece.clone(),
                })
                .collect(),
        )
    }

    /// Returns the pattern with variables that follow each other without anything between them as
    /// one, which is called `%{a}%{b}`. `None` where there are none.
    pub fn join_variables(&self) -> Option<Pattern> {
        let mut pieces: Vec<PatternPiece> = Vec::new();
        for piece in self.pieces.iter() {
            match (pieces.last_mut(), piece) {
                (Some(PatternPiece::Variable(before)), PatternPiece::Variable(name)) => {
                    let first = if before.starts_with("%{") {
                        std::mem::take(before)
                    } else {
                        format!("%{{{before}}}")
                    };
                    *before = format!("{first}%{{{name}}}");
                }
                _ => pieces.push(piece.clone()),
            }
        }
        if pieces.len() == self.pieces.len() { None } else { Pattern::new(pieces) }
    }

    /// Returns the variables that the pattern names.
    pub fn variables(&self) -> &[String] {
        &self.variables
    }
}

/// Most paths differ from the literal parts already, at one end or the other.
fn is_other_literal(part: Option<&PatternPart>, fits: fn(&str, &str) -> bool, path: &str) -> bool {
    matches!(part, Some(PatternPart::Literal(text)) if !fits(path, text))
}

/// How much a variable takes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum MatchManner {
    /// As much as possible, at least one character, no slash.
    Greedy,
    /// As little as possible, at least one character, no slash.
    Lazy,
    /// As much as possible, at least one character, slashes included.
    NestedGreedy,
    /// As little as possible, at least one character, slashes included.
    NestedLazy,
    /// Anything, or nothing.
    Loose,
    /// Anything, or nothing; an empty text between two slashes removes one of them.
    Loosest,
}

struct PatternMatcher<'p> {
    path: &'p str,
    manner: MatchManner,
    values: Vec<&'p str>,
    /// Places from which the rest is known not to match: how many parts were left, and the offset.
    dead: HashSet<(usize, usize)>,
}

impl<'p> PatternMatcher<'p> {
    fn from(&mut self, parts: &[PatternPart], at: usize) -> bool {
        let Some((part, rest)) = parts.split_first() else { return at == self.path.len() };
        let path = self.path;
        let text = &path[at..];
        match part {
            PatternPart::Literal(literal) => {
                return text.starts_with(literal.as_str()) && self.from(rest, at + literal.len());
            }
            PatternPart::One | PatternPart::Set(..) => {
                let Some(c) = text.chars().next().filter(|c| *c != '/') else { return false };
                let fits = match part {
                    PatternPart::Set(ranges, negated) => {
                        ranges.iter().any(|(from, to)| (*from..=*to).contains(&c)) != *negated
                    }
                    _ => true,
                };
                return fits && self.from(rest, at + c.len_utf8());
            }
            PatternPart::Variable(_)
            | PatternPart::Any
            | PatternPart::Star
            | PatternPart::Folders => {}
        }
        if self.dead.contains(&(parts.len(), at)) {
            return false;
        }
        let mut ends = PartEnds::new(part, rest.first(), text, self.manner);
        let found = ends.any(|len| {
            let found = self.from(rest, at + len);
            if let (true, PatternPart::Variable(number)) = (found, part) {
                self.values[*number] = &text[..len];
            }
            found
        });
        let found = found
            || (matches!(part, PatternPart::Variable(_) | PatternPart::Any)
                && self.without_slash(rest, at));
        if !found {
            self.dead.insert((parts.len(), at));
        }
        found
    }

    /// Matches the rest behind an empty variable that follows a slash, with one slash less.
    fn without_slash(&mut self, parts: &[PatternPart], at: usize) -> bool {
        let may_be = self.manner == MatchManner::Loosest && self.path[..at].ends_with('/');
        let Some((PatternPart::Literal(literal), rest)) = parts.split_first().filter(|_| may_be)
        else {
            return false;
        };
        let second = literal.strip_prefix('/').filter(|second| self.path[at..].starts_with(second));
        second.is_some_and(|second| self.from(rest, at + second.len()))
    }
}

/// The start of the part that follows another one.
#[derive(Clone, Copy)]
enum NextStart {
    /// The next part begins with this byte.
    Byte(u8),
    /// No part follows: the path ends.
    PathEnd,
    /// The next part may begin with any byte.
    Anywhere,
}

/// The lengths that a part may take of a text, in the order in which they are tried. Leaves out each
/// length behind which the next part cannot begin.
struct PartEnds<'t> {
    text: &'t str,
    /// Whether each length ends behind a slash, or is 0.
    is_folders: bool,
    next: NextStart,
    /// The lengths that were not tried yet.
    untried: Range<usize>,
    is_descending: bool,
}

impl PartEnds<'_> {
    fn new<'t>(
        part: &PatternPart,
        next: Option<&PatternPart>,
        text: &'t str,
        manner: MatchManner,
    ) -> PartEnds<'t> {
        let (first, ends_at_slash) = match (part, manner) {
            (PatternPart::Variable(_), MatchManner::Greedy | MatchManner::Lazy) => (1, true),
            (PatternPart::Variable(_), MatchManner::NestedGreedy | MatchManner::NestedLazy) => {
                (1, false)
            }
            (PatternPart::Star, _) => (0, true),
            _ => (0, false),
        };
        let slash = if ends_at_slash { memchr(b'/', text.as_bytes()) } else { None };
        let next = match next {
            None => NextStart::PathEnd,
            Some(PatternPart::Literal(literal)) => {
                literal.bytes().next().map_or(NextStart::Anywhere, NextStart::Byte)
            }
            Some(_) => NextStart::Anywhere,
        };
        PartEnds {
            text,
            is_folders: matches!(part, PatternPart::Folders),
            next,
            untried: first..slash.unwrap_or(text.len()) + 1,
            // The manner holds for wildcards, too: a wildcard beside a variable leaves the variable
            // less or more.
            is_descending: matches!(manner, MatchManner::Greedy | MatchManner::NestedGreedy),
        }
    }

    /// Returns the next length behind which the next part can begin, as its first byte tells.
    fn next_len(&mut self) -> Option<usize> {
        let Range { start, end } = self.untried;
        let bytes = self.text.as_bytes();
        let len = match self.next {
            _ if start >= end => return None,
            NextStart::Byte(byte) => {
                let between = &bytes[start..end.min(bytes.len())];
                let find = if self.is_descending { memrchr } else { memchr };
                start + find(byte, between)?
            }
            NextStart::PathEnd => Some(bytes.len()).filter(|len| self.untried.contains(len))?,
            NextStart::Anywhere if self.is_descending => end - 1,
            NextStart::Anywhere => start,
        };
        self.untried = if self.is_descending { start..len } else { len + 1..end };
        Some(len)
    }
}

impl Iterator for PartEnds<'_> {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        loop {
            let len = self.next_len()?;
            let is_folder_end = len == 0 || self.text.as_bytes()[len - 1] == b'/';
            if self.text.is_char_boundary(len) && (is_folder_end || !self.is_folders) {
                return Some(len);
            }
        }
    }
}

fn text_len(pieces: &[PatternPiece]) -> usize {
    pieces
        .iter()
        .map(|piece| match piece {
            PatternPiece::Literal(text) | PatternPiece::Glob(text) => text.len(),
            PatternPiece::Variable(_) | PatternPiece::Any => 0,
        })
        .sum()
}

/// The units in which braces are searched: tokens may stand within them, as in `{%{a},%{b}}.yaml`.
#[derive(Clone, Copy)]
enum Atom {
    /// A character of a glob.
    Char(char),
    /// A part with this number that no brace can be in.
    Opaque(usize),
}

/// Returns how deep braces go at most.
fn brace_depth(atoms: &[Atom]) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0);
    for atom in atoms {
        match atom {
            Atom::Char('{') => depth += 1,
            Atom::Char('}') => depth = depth.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    deepest
}

/// Returns the patterns that braces stand for; `None` for too many. Braces that are not balanced
/// are taken literally.
fn expand(atoms: &[Atom]) -> Option<Vec<Vec<Atom>>> {
    let mut out = vec![Vec::new()];
    let mut rest = atoms;
    while let Some((open, close)) = outer_braces(rest) {
        out.iter_mut().for_each(|atoms| atoms.extend(&rest[..open]));
        let mut choices = Vec::new();
        for choice in split_choices(&rest[open + 1..close]) {
            choices.extend(expand(choice)?);
            if choices.len() * out.len() > MAX_ALTERNATIVES {
                return None;
            }
        }
        out = out
            .iter()
            .flat_map(|start| choices.iter().map(move |choice| [&start[..], &choice[..]].concat()))
            .collect();
        rest = &rest[close + 1..];
    }
    out.iter_mut().for_each(|atoms| atoms.extend(rest));
    Some(out)
}

/// Returns the parts of an alternative.
fn atom_parts(atoms: &[Atom], opaque: &[PatternPart]) -> Vec<PatternPart> {
    let mut parts = Vec::new();
    let mut glob = String::new();
    for atom in atoms {
        match atom {
            Atom::Char(c) => glob.push(*c),
            Atom::Opaque(number) => {
                parts.append(&mut glob_parts(&std::mem::take(&mut glob)));
                parts.push(opaque[*number].clone());
            }
        }
    }
    parts.append(&mut glob_parts(&glob));
    parts
}

/// Returns the first pair of braces that are not within others.
fn outer_braces(atoms: &[Atom]) -> Option<(usize, usize)> {
    let mut depth = 0;
    let mut open = None;
    for (at, atom) in atoms.iter().enumerate() {
        match atom {
            Atom::Char('{') => {
                depth += 1;
                open.get_or_insert(at);
            }
            Atom::Char('}') if depth > 0 => {
                depth -= 1;
                if depth == 0 {
                    return Some((open?, at));
                }
            }
            _ => {}
        }
    }
    None
}

fn split_choices(atoms: &[Atom]) -> Vec<&[Atom]> {
    let mut depth = 0;
    let mut from = 0;
    let mut choices = Vec::new();
    for (at, atom) in atoms.iter().enumerate() {
        match atom {
            Atom::Char('{') => depth += 1,
            Atom::Char('}') => depth -= 1,
            Atom::Char(',') if depth == 0 => {
                choices.push(&atoms[from..at]);
                from = at + 1;
            }
            _ => {}
        }
    }
    choices.push(&atoms[from..]);
    choices
}

fn glob_parts(glob: &str) -> Vec<PatternPart> {
    let mut parts = Vec::new();
    let mut rest = glob;
    let mut starts_name = true;
    while let Some(c) = rest.chars().next() {
        if let Some(after) = rest.strip_prefix("**/").filter(|_| starts_name) {
            parts.push(PatternPart::Folders);
            rest = after;
            continue;
        }
        let set = if c == '[' { parse_set(rest) } else { None };
        let (part, len) = match (c, set) {
            ('*', _) => (PatternPart::Star, 1),
            ('?', _) => (PatternPart::One, 1),
            (_, Some(set)) => set,
            ('\\', _) => match rest[1..].chars().next() {
                Some(escaped) => {
                    (PatternPart::Literal(escaped.to_string()), 1 + escaped.len_utf8())
                }
                None => (PatternPart::Literal("\\".into()), 1),
            },
            _ => (PatternPart::Literal(c.to_string()), c.len_utf8()),
        };
        match (parts.last_mut(), part) {
            (Some(PatternPart::Literal(text)), PatternPart::Literal(more)) => text.push_str(&more),
            (Some(PatternPart::Star), PatternPart::Star) => {}
            (_, part) => parts.push(part),
        }
        starts_name = c == '/';
        rest = &rest[len..];
    }
    parts
}

/// Returns the part of a `[…]` at the start of `text`, and its length.
fn parse_set(text: &str) -> Option<(PatternPart, usize)> {
    let inner = &text[1..];
    let (negated, inner) =
        inner.strip_prefix(['^', '!']).map_or((false, inner), |rest| (true, rest));
    let end = inner.char_indices().skip(1).find(|(_, c)| *c == ']').map(|(at, _)| at)?;
    let chars: Vec<char> = inner[..end].chars().collect();
    let mut ranges = Vec::new();
    let mut at = 0;
    while at < chars.len() {
        if chars.get(at + 1) == Some(&'-') && at + 2 < chars.len() {
            ranges.push((chars[at], chars[at + 2]));
            at += 3;
        } else {
            ranges.push((chars[at], chars[at]));
            at += 1;
        }
    }
    Some((PatternPart::Set(ranges, negated), text.len() - inner.len() + end + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pattern(template: &str) -> Pattern {
        Pattern::new(parse_pieces(template, false)).unwrap()
    }

    fn bound(pairs: &[(&str, &str)]) -> Bindings {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn a_path_settles_the_variables() {
        let pattern = pattern("nodes/%{::location}/%{facts.host}.yaml");
        let expected = bound(&[("facts.host", "bgo-api-01"), ("location", "bgo")]);
        assert_eq!(pattern.bind("nodes/bgo/bgo-api-01.yaml"), Some(PatternMatch::Bound(expected)));
        assert_eq!(pattern.bind("nodes/bgo.yaml"), None);
        assert_eq!(pattern.bind("nodes/bgo/.yaml"), None);
        assert!(pattern.can_name("nodes/bgo/.yaml"), "an undefined variable is an empty text");
        assert_eq!(pattern.literal_prefix(), "nodes/");
    }

    #[test]
    fn a_path_is_bound_where_its_variables_are_found() {
        let templates = [
            "nodes/%{a}/%{b}.yaml",
            "%{a}/%{a}.yaml",
            "{%{a},x/%{b}}/*.yaml",
            "%{a}%{b}.yaml",
            "d/**/%{a}-?.yaml",
            "%{lookup('k')}/[!x]*.yaml",
            "ä%{a}ö.yaml",
            "",
        ];
        let paths =
            ["nodes/x/y.yaml", "x/x.yaml", "x/y/z.yaml", "d/e/f-g.yaml", "äüö.yaml", "é.yaml"];
        let mut bound = 0;
        for template in templates {
            let pattern = Pattern::new(parse_pieces(template, true)).expect("it is short");
            for path in paths {
                bound += usize::from(pattern.binds(path));
                assert_eq!(pattern.binds(path), pattern.bind(path).is_some(), "{template} {path}");
            }
        }
        assert!(bound > 9, "{bound}");
    }

    #[test]
    fn a_variable_ends_only_where_the_next_part_can_begin() {
        let literal = |text: &str| PatternPart::Literal(text.to_owned());
        let ends = |part, next: Option<&PatternPart>, manner| -> Vec<usize> {
            PartEnds::new(&part, next, "a-b/ä-c", manner).collect()
        };
        let (variable, dash) = (PatternPart::Variable(0), Some(&literal("-")));
        assert_eq!(ends(variable.clone(), dash, MatchManner::Greedy), [1]);
        assert_eq!(ends(variable.clone(), dash, MatchManner::NestedGreedy), [6, 1]);
        assert_eq!(ends(variable.clone(), dash, MatchManner::NestedLazy), [1, 6]);
        assert_eq!(ends(variable.clone(), None, MatchManner::Lazy), [0; 0]);
        assert_eq!(ends(variable.clone(), None, MatchManner::Loose), [8]);
        assert_eq!(ends(variable, Some(&PatternPart::Star), MatchManner::Greedy), [3, 2, 1]);
        assert_eq!(ends(PatternPart::Star, Some(&literal("/")), MatchManner::Loose), [3]);
        assert_eq!(ends(PatternPart::Folders, dash, MatchManner::Lazy), [0; 0]);
        assert_eq!(ends(PatternPart::Folders, Some(&PatternPart::One), MatchManner::Lazy), [0, 4]);
        let all = Some(&PatternPart::One);
        assert_eq!(ends(PatternPart::Any, all, MatchManner::Lazy), [0, 1, 2, 3, 4, 6, 7, 8]);
    }

    #[test]
    fn several_ways_settle_what_they_agree_on() {
        let pattern = pattern("%{loc}/platform/%{os}%{version}.yaml");
        assert_eq!(
            pattern.bind("bgo/platform/el8.yaml"),
            Some(PatternMatch::Ambiguous(bound(&[("loc", "bgo")])))
        );
    }

    #[test]
    fn a_variable_is_the_same_everywhere() {
        let pattern = pattern("%{a}/%{a}.yaml");
        assert_eq!(pattern.bind("x/x.yaml"), Some(PatternMatch::Bound(bound(&[("a", "x")]))));
        assert_eq!(pattern.bind("x/y.yaml"), None);
    }

    #[test]
    fn sets_of_globs_hold_the_characters_between_their_brackets() {
        let names = |template: &str, path: &str| {
            Pattern::new(parse_pieces(template, true)).expect("it is short").can_name(path)
        };
        assert!(names("x[ab].yaml", "xa.yaml") && !names("x[ab].yaml", "x[.yaml"));
        assert!(names("x[!a].yaml", "xb.yaml") && !names("x[!a].yaml", "xa.yaml"));
        assert!(names("x[]a].yaml", "x].yaml") && names("x[0-2].yaml", "x1.yaml"));
    }

    #[test]
    fn globs_bind_too() {
        let pattern = Pattern::new(parse_pieces("%{::location}/modules/*.yaml", true)).unwrap();
        assert_eq!(
            pattern.bind("bgo/modules/x.yaml"),
            Some(PatternMatch::Bound(bound(&[("location", "bgo")])))
        );
        let pattern = Pattern::new(parse_pieces("d/**/{a,b}[0-9].y?ml", true)).unwrap();
        for (path, matches) in [("d/a1.yaml", true), ("d/x/y/b2.yxml", true), ("d/c1.yaml", false)]
        {
            assert_eq!(pattern.bind(path).is_some(), matches, "{path}");
        }
    }

    #[test]
    fn a_wildcard_beside_a_variable_leaves_it_open() {
        for glob in ["*%{a}.yaml", "%{a}*.yaml", "*%{a}*.yaml", "%{lookup('b')}%{a}.yaml"] {
            let pattern = Pattern::new(parse_pieces(glob, true)).unwrap();
            for path in ["1x.yaml", "xx.yaml", "1xx.yaml"] {
                assert_eq!(
                    pattern.bind(path),
                    Some(PatternMatch::Ambiguous(bound(&[]))),
                    "{glob} {path}"
                );
            }
        }
    }

    #[test]
    fn tokens_may_stand_in_braces() {
        let pattern = Pattern::new(parse_pieces("{%{a},x/%{b}}/{c,d}.yaml", true)).unwrap();
        assert_eq!(pattern.bind("v/c.yaml"), Some(PatternMatch::Bound(bound(&[("a", "v")]))));
        assert_eq!(pattern.bind("x/v/d.yaml"), Some(PatternMatch::Bound(bound(&[("b", "v")]))));
        assert_eq!(pattern.bind("v/e.yaml"), None);
        let pattern = Pattern::new(parse_pieces("{%{a},%{b}}.yaml", true)).unwrap();
        assert_eq!(
            pattern.bind("v.yaml"),
            Some(PatternMatch::Ambiguous(bound(&[]))),
            "either may be it"
        );
        assert!(
            Pattern::new(parse_pieces("{%{a}.yaml", true)).unwrap().can_name("{v.yaml"),
            "what is not balanced is itself"
        );
    }

    #[test]
    fn an_empty_folder_takes_its_slash_along() {
        let one = pattern("n/%{x}/common.yaml");
        assert!(!one.can_name("n/common.yaml") && one.can_lead_to("n/common.yaml"));
        assert!(
            one.can_lead_to("n/a/b/common.yaml")
                && !one.can_lead_to("n/other.yaml")
                && !one.can_lead_to("common.yaml")
        );
        let two = pattern("n/%{x}/%{y}/common.yaml");
        assert!(two.can_lead_to("n/common.yaml") && two.can_lead_to("n/a/common.yaml"));
        assert!(
            !pattern("n%{x}/common.yaml").can_lead_to("ncommon.yaml"),
            "there is one slash, and it stays"
        );
        assert!(
            !pattern("%{x}/%{y}/%{x}.yaml").can_lead_to("a/b.yaml"),
            "it is empty here and 'b' there"
        );
        let globbing = Pattern::new(parse_pieces("sites/*/*.yaml", true)).unwrap();
        assert!(!globbing.can_lead_to("sites/b.yaml"), "a wildcard stands for a name");
    }

    #[test]
    fn hostile_patterns_are_none() {
        for text in [
            "%{x}".repeat(100),
            "x".repeat(5000),
            "{".repeat(3000),
            "{a,b}".repeat(50),
            "?".repeat(2000),
        ] {
            assert!(Pattern::new(parse_pieces(&text, true)).is_none(), "{}", &text[..8]);
        }
        assert!(
            Pattern::new(parse_pieces(&"{a}".repeat(300), true))
                .is_some_and(|pattern| pattern.can_name(&"a".repeat(300)))
        );
    }
}
