//! Location patterns read backwards: which files a template such as `nodes/%{::location}/%{host}.yaml` can name, and
//! what its variables are when it names a given one.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use regex::Regex;

use super::interpolation::{TokenKind, tokens};

/// What variables must be for a pattern to name a file: names without a leading `::`, dotted where a part is meant.
pub type Bindings = BTreeMap<String, String>;

/// A part of a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// Text that is what it is.
    Literal(String),
    /// Text in which `*`, `?`, `[…]`, `{…}` and `**/` are wildcards.
    Glob(String),
    /// The value of a variable.
    Variable(String),
    /// Text of which nothing is known.
    Any,
}

/// A compiled pattern.
#[derive(Clone, Debug)]
pub struct Pattern {
    pieces: Vec<Piece>,
    variables: Vec<String>,
    greedy: Regex,
    lazy: Regex,
    loose: Regex,
}

/// How a path matches a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PatternMatch {
    /// In one way only: these are the variables.
    Bound(Bindings),
    /// In several ways; these variables are the same in all of them.
    Ambiguous(Bindings),
}

impl PatternMatch {
    /// The variables that are settled.
    pub fn bindings(&self) -> &Bindings {
        match self {
            PatternMatch::Bound(bindings) | PatternMatch::Ambiguous(bindings) => bindings,
        }
    }
}

/// The pieces of a template: its tokens are variables, all else is literal, or a glob when `glob` is set.
pub fn pieces(template: &str, glob: bool) -> Vec<Piece> {
    let text = |text: &str| if glob { Piece::Glob(text.to_owned()) } else { Piece::Literal(text.to_owned()) };
    let mut pieces = Vec::new();
    let mut from = 0;
    for token in tokens(template) {
        let range = token.range.as_usize();
        if range.start > from {
            pieces.push(text(&template[from..range.start]));
        }
        from = range.end;
        match token.kind {
            TokenKind::Variable { key, .. } => pieces.push(Piece::Variable(variable_name(&key.text))),
            TokenKind::Empty => {}
            TokenKind::Call { .. } | TokenKind::Malformed => pieces.push(Piece::Any),
        }
    }
    if from < template.len() {
        pieces.push(text(&template[from..]));
    }
    pieces
}

/// The name under which a variable is known in bindings: without a leading `::`.
pub fn variable_name(text: &str) -> String {
    text.strip_prefix("::").unwrap_or(text).to_owned()
}

impl Pattern {
    /// Compiles the pattern of these pieces; `None` for one too large to be meant.
    pub fn new(pieces: Vec<Piece>) -> Option<Pattern> {
        let mut variables: Vec<String> = Vec::new();
        for piece in &pieces {
            if let Piece::Variable(name) = piece {
                variables.push(name.clone());
            }
        }
        let compile = |variable: &str, any: &str| {
            let mut source = String::from("(?s)\\A");
            for piece in &pieces {
                match piece {
                    Piece::Literal(text) => source.push_str(&regex::escape(text)),
                    Piece::Glob(text) => glob_regex(text, &mut source),
                    Piece::Variable(_) => write!(source, "({variable})").expect("writing to a string"),
                    Piece::Any => source.push_str(any),
                }
            }
            source.push_str("\\z");
            regex::RegexBuilder::new(&source).size_limit(1 << 20).build().ok()
        };
        let greedy = compile("[^/]+", ".*")?;
        let lazy = compile("[^/]+?", ".*?")?;
        let loose = compile(".*", ".*")?;
        Some(Pattern { pieces, variables, greedy, lazy, loose })
    }

    /// How the path matches when each variable is one non-empty part of a path, or of a part; `None` when it does not.
    ///
    /// A variable that occurs twice must be the same in both places.
    pub fn bind(&self, path: &str) -> Option<PatternMatch> {
        let most = self.greedy.captures(path)?;
        let least = self.lazy.captures(path)?;
        let mut bindings = Bindings::new();
        let mut open = Vec::new();
        for (n, name) in self.variables.iter().enumerate() {
            let (most, least) = (&most[n + 1], &least[n + 1]);
            if most != least {
                open.push(name.clone());
            } else if let Some(known) = bindings.insert(name.clone(), most.to_owned())
                && known != most
            {
                return None;
            }
        }
        if open.is_empty() {
            return Some(PatternMatch::Bound(bindings));
        }
        bindings.retain(|name, _| !open.contains(name));
        Some(PatternMatch::Ambiguous(bindings))
    }

    /// Whether some values of the variables, empty ones and ones with slashes included, give the path.
    pub fn can_name(&self, path: &str) -> bool {
        self.loose.is_match(path)
    }

    /// The text before the first piece that is not literal: every file that the pattern names starts with it.
    pub fn literal_prefix(&self) -> String {
        let mut prefix = String::new();
        for piece in &self.pieces {
            match piece {
                Piece::Literal(text) => prefix.push_str(text),
                Piece::Glob(text) => {
                    prefix.push_str(&text[..text.find(['*', '?', '[', '{', '\\']).unwrap_or(text.len())]);
                    if text.contains(['*', '?', '[', '{', '\\']) {
                        break;
                    }
                }
                Piece::Variable(_) | Piece::Any => break,
            }
        }
        prefix
    }

    /// How many bytes of it are literal: of two patterns that match, the one with more says more.
    pub fn literal_len(&self) -> usize {
        let len = |piece: &Piece| match piece {
            Piece::Literal(text) | Piece::Glob(text) => text.len(),
            Piece::Variable(_) | Piece::Any => 0,
        };
        self.pieces.iter().map(len).sum()
    }

    /// The variables that it names.
    pub fn variables(&self) -> &[String] {
        &self.variables
    }
}

/// Writes Ruby's glob syntax as a regular expression. What is not balanced is taken literally.
fn glob_regex(glob: &str, out: &mut String) {
    let chars: Vec<char> = glob.chars().collect();
    let mut braces = 0;
    let mut at = 0;
    while at < chars.len() {
        match chars[at] {
            '*' if chars[at..].starts_with(&['*', '*', '/']) && (at == 0 || chars[at - 1] == '/') => {
                out.push_str("(?:[^/]+/)*");
                at += 2;
            }
            '*' => out.push_str("[^/]*"),
            '?' => out.push_str("[^/]"),
            '[' => match chars[at + 1..].iter().position(|c| *c == ']') {
                Some(len) if len > 0 => {
                    let set: String = chars[at + 1..at + 1 + len].iter().collect();
                    let (negated, set) = set.strip_prefix(['^', '!']).map_or((false, set.as_str()), |rest| (true, rest));
                    let escaped = set.replace('\\', "\\\\").replace('[', "\\[").replace('&', "\\&").replace('~', "\\~");
                    write!(out, "[{}{escaped}]", if negated { "^/" } else { "" }).expect("writing to a string");
                    at += len + 1;
                }
                _ => out.push_str("\\["),
            },
            '{' if chars[at..].contains(&'}') => {
                braces += 1;
                out.push_str("(?:");
            }
            '}' if braces > 0 => {
                braces -= 1;
                out.push(')');
            }
            ',' if braces > 0 => out.push('|'),
            '\\' if at + 1 < chars.len() => {
                at += 1;
                out.push_str(&regex::escape(&chars[at].to_string()));
            }
            c => out.push_str(&regex::escape(&c.to_string())),
        }
        at += 1;
    }
    (0..braces).for_each(|_| out.push(')'));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pattern(template: &str) -> Pattern {
        Pattern::new(pieces(template, false)).unwrap()
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
    fn several_ways_settle_what_they_agree_on() {
        let pattern = pattern("%{loc}/platform/%{os}%{version}.yaml");
        assert_eq!(pattern.bind("bgo/platform/el8.yaml"), Some(PatternMatch::Ambiguous(bound(&[("loc", "bgo")]))));
    }

    #[test]
    fn a_variable_is_the_same_everywhere() {
        let pattern = pattern("%{a}/%{a}.yaml");
        assert_eq!(pattern.bind("x/x.yaml"), Some(PatternMatch::Bound(bound(&[("a", "x")]))));
        assert_eq!(pattern.bind("x/y.yaml"), None);
    }

    #[test]
    fn globs_bind_too() {
        let pattern = Pattern::new(pieces("%{::location}/modules/*.yaml", true)).unwrap();
        assert_eq!(pattern.bind("bgo/modules/x.yaml"), Some(PatternMatch::Bound(bound(&[("location", "bgo")]))));
        let pattern = Pattern::new(pieces("d/**/{a,b}[0-9].y?ml", true)).unwrap();
        for (path, matches) in [("d/a1.yaml", true), ("d/x/y/b2.yxml", true), ("d/c1.yaml", false)] {
            assert_eq!(pattern.bind(path).is_some(), matches, "{path}");
        }
    }
}
