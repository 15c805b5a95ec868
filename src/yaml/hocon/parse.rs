//! Tokens as values: fields are merged in place; substitutions, and the values joined with them,
//! are left for later. Source: `ConfigDocumentParser` and `ConfigParser` of hocon 1.3.1.

use std::rc::Rc;

use indexmap::IndexMap;

use super::path::{PathError, parse_segments};
use super::token::{Kind, PathSegment, Token};
use super::{MAX_DEPTH, Problem, new_problem, resolve_hocon};
use crate::text::TextRange;
use crate::yaml::psych::Resolved;
use crate::yaml::tree::SyntaxErrorKind;

/// A value as written.
#[derive(Debug)]
pub(super) struct Node {
    pub kind: NodeKind,
    pub range: TextRange,
    /// Whether there is no substitution in the value.
    pub resolved: bool,
    /// Whether the value took the place of a substitution.
    pub copied: bool,
}

#[derive(Clone, Debug)]
pub(super) enum NodeKind {
    Scalar(ScalarKind, String),
    Object(ObjectMembers),
    List(Vec<Rc<Node>>),
    /// `${path}`
    Substitution {
        path: Vec<PathSegment>,
        optional: bool,
    },
    /// Values beside each other, some of them not resolved yet.
    Joined(Vec<Rc<Node>>),
    /// Values for one key, the last one written first, some of them not resolved yet.
    Merged(Vec<Rc<Node>>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ScalarKind {
    /// In quotes, or joined: a string.
    Quoted,
    /// Without quotes: a string that is passed over behind a list or an object.
    Unquoted,
    /// A number, `true`, `false`, `null`.
    Literal,
}

/// The members of an object, with the places of the keys.
pub(super) type ObjectMembers = IndexMap<String, (TextRange, Rc<Node>)>;

impl Node {
    /// Returns the node's name in the library's messages: the class, and the contents.
    fn describe_node(&self) -> String {
        let class = match &self.kind {
            NodeKind::Scalar(ScalarKind::Quoted, _) => "Quoted",
            NodeKind::Scalar(ScalarKind::Unquoted, _) => "Unquoted",
            NodeKind::Scalar(ScalarKind::Literal, text) => match resolve_hocon(text) {
                Resolved::Integer(_) | Resolved::BigInteger(_) => "ConfigInt",
                Resolved::Float(_) => "ConfigDouble",
                Resolved::Bool(_) => "ConfigBoolean",
                _ => "ConfigNull",
            },
            NodeKind::Object(_) => "SimpleConfigObject",
            NodeKind::List(_) => "SimpleConfigList",
            NodeKind::Substitution { .. } | NodeKind::Joined(_) | NodeKind::Merged(_) => {
                "ConfigReference"
            }
        };
        format!("{class}({})", self.render_node())
    }

    fn render_node(&self) -> String {
        match &self.kind {
            NodeKind::Scalar(ScalarKind::Literal, text) => text.clone(),
            NodeKind::Scalar(_, text) => format!("{text:?}"),
            NodeKind::Object(members) => {
                format!(
                    "{{{}}}",
                    members
                        .iter()
                        .map(|(key, (_, value)): (&String, &(TextRange, Rc<Node>))| {
                            format!("{key:?}:{}", value.render_node())
                        })
                        .collect::<Vec<_>>()
                        .join(",")
                )
            }
            NodeKind::List(items) => {
                format!(
                    "[{}]",
                    items.iter().map(|item| item.render_node()).collect::<Vec<_>>().join(",")
                )
            }
            NodeKind::Substitution { path, .. } => {
                format!(
                    "${{{}}}",
                    path.iter().map(|segment| segment.text.as_str()).collect::<Vec<_>>().join(".")
                )
            }
            NodeKind::Joined(parts) | NodeKind::Merged(parts) => {
                parts.iter().map(|part| part.render_node()).collect()
            }
        }
    }

    pub(super) fn new(kind: NodeKind, range: TextRange) -> Rc<Node> {
        let resolved = match &kind {
            NodeKind::Scalar(..) => true,
            NodeKind::Object(members) => members.values().all(|(_, value)| value.resolved),
            NodeKind::List(items) => items.iter().all(|item| item.resolved),
            NodeKind::Substitution { .. } | NodeKind::Joined(_) | NodeKind::Merged(_) => false,
        };
        Rc::new(Node { kind, range, resolved, copied: false })
    }
}

/// Returns the value of a key that is written again: objects are merged, the keys of the later one
/// first; anything else replaces the earlier value.
pub(super) fn merge_nodes(new: &Rc<Node>, old: &Rc<Node>) -> Rc<Node> {
    match (&new.kind, &old.kind) {
        (NodeKind::Object(members), NodeKind::Object(older)) => {
            let mut all: ObjectMembers = members.clone();
            for (key, (range, value)) in older {
                match all.get_mut(key) {
                    Some((_, own)) => *own = merge_nodes(own, value),
                    None => drop(all.insert(key.clone(), (*range, value.clone()))),
                }
            }
            Node::new(NodeKind::Object(all), new.range)
        }
        (NodeKind::Scalar(..) | NodeKind::List(_), _) if new.resolved => new.clone(),
        (NodeKind::Object(_), NodeKind::Scalar(..) | NodeKind::List(_)) if new.resolved => {
            new.clone()
        }
        _ => {
            let stack = [new, old].into_iter().flat_map(|node| match &node.kind {
                NodeKind::Merged(stack) => stack.clone(),
                _ => vec![node.clone()],
            });
            Node::new(NodeKind::Merged(stack.collect()), new.range)
        }
    }
}

/// Returns the concatenation of two values; `None` when that is not known yet.
///
/// Errors: the two cannot be concatenated.
pub(super) fn concatenate(
    left: &Rc<Node>,
    right: &Rc<Node>,
    range: TextRange,
) -> Result<Option<Rc<Node>>, Problem> {
    let unknown = |node: &Node| {
        matches!(
            node.kind,
            NodeKind::Substitution { .. } | NodeKind::Joined(_) | NodeKind::Merged(_)
        )
    };
    Ok(Some(match (&left.kind, &right.kind) {
        _ if unknown(left) || unknown(right) => return Ok(None),
        (NodeKind::Object(_), NodeKind::Object(_)) => merge_nodes(right, left),
        (NodeKind::List(first), NodeKind::List(second)) => {
            Node::new(NodeKind::List(first.iter().chain(second).cloned().collect()), range)
        }
        (NodeKind::Object(_) | NodeKind::List(_), NodeKind::Scalar(ScalarKind::Unquoted, _)) => {
            left.clone()
        }
        (NodeKind::Scalar(_, first), NodeKind::Scalar(_, second)) => {
            Node::new(NodeKind::Scalar(ScalarKind::Quoted, format!("{first}{second}")), range)
        }
        _ => {
            let message = "Cannot concatenate object or list with a non-object-or-list";
            let words = format!(
                "{message}, {} and {} are not compatible",
                left.describe_node(),
                right.describe_node()
            );
            return Err(new_problem(message, range).in_words(words));
        }
    }))
}

/// Returns the root object, and the syntax error, if any; then the object holds the members read
/// before it.
pub(super) fn parse(text: &str, tokens: &[Token]) -> (ObjectMembers, Option<Problem>) {
    let mut parser = Parser { text, tokens, at: 0, depth: 0, lists: 0, path: Vec::new() };
    let mut members = ObjectMembers::new();
    let result = parser.parse_document(&mut members);
    (members, result.err())
}

/// The library's name for the end of the text.
const END: &str = "end of file";

/// Returns the library's suggestion for a token that it did not expect.
fn in_quotes(token: &str) -> String {
    if token == END {
        return String::new();
    }
    format!(
        " (if you intended {token} to be part of a key or string value, try enclosing the key or value in double quotes"
    )
}

struct Parser<'a> {
    text: &'a str,
    tokens: &'a [Token],
    at: usize,
    depth: usize,
    /// How many lists are open.
    lists: usize,
    /// The keys that lead to the value being read.
    path: Vec<PathSegment>,
}

type Parsed<T> = Result<T, Problem>;

impl<'a> Parser<'a> {
    fn peek(&self) -> &'a Token {
        &self.tokens[self.at]
    }

    fn next(&mut self) -> &'a Token {
        let token = &self.tokens[self.at];
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        token
    }

    fn skip_blank(&mut self) {
        while matches!(self.peek().kind, Kind::Newline | Kind::Comment) {
            self.next();
        }
    }

    fn fail_with<T>(&self, message: &str) -> Parsed<T> {
        self.fail_with_suggestion(message, |_| String::new())
    }

    /// Fails where the library's message suggests quotes. The library does not close the bracket of
    /// that hint.
    fn fail_suggesting<T>(&self, message: &str) -> Parsed<T> {
        self.fail_with_suggestion(message, in_quotes)
    }

    /// Fails in a list, where the library has a message of its own and suggests quotes, too.
    fn fail_in_list<T>(&self, message: &str, words: &str, culprit: &str) -> Parsed<T> {
        self.fail_with_suggestion(message, |token| {
            format!(
                " (if you want {culprit}{token} to be part of a string value, then double-quote it)"
            )
        })
        .map_err(|problem| {
            match problem.words.as_deref().and_then(|given| given.strip_prefix(message)) {
                Some(rest) => Problem { words: Some(format!("{words}{rest}")), ..problem },
                None => problem,
            }
        })
    }

    fn fail_unbalanced<T>(&self) -> Parsed<T> {
        self.fail_with_suggestion("unbalanced close brace", |token| {
            format!(" with no open brace{}", in_quotes(token))
        })
    }

    fn fail_with_suggestion<T>(
        &self,
        message: &str,
        suggestion: impl FnOnce(&str) -> String,
    ) -> Parsed<T> {
        let token = self.peek();
        let written = &self.text[token.range.as_usize()];
        let (shown, named) = match &token.kind {
            Kind::Bad(reason, None) => return Err(new_problem(reason.clone(), token.range)),
            Kind::Bad(reason, Some(words)) => {
                (reason.clone(), format!("'{}' ({})", words.0, words.1))
            }
            Kind::End => (format!("{message} {END}"), END.to_owned()),
            _ => (format!("{message} '{written}'"), format!("'{written}'")),
        };
        Err(new_problem(shown, token.range)
            .in_words(format!("{message} {named}{}", suggestion(&named))))
    }

    fn parse_document(&mut self, members: &mut ObjectMembers) -> Parsed<()> {
        self.skip_blank();
        let open = self.peek();
        if open.is_mark(b'[') {
            self.parse_value()?;
            let message = "has type LIST rather than object at file root";
            return Err(new_problem(message, open.range).in_words(format!(" {message}")));
        }
        let braces = open.is_mark(b'{');
        if braces {
            self.next();
        }
        self.parse_fields(members, braces)?;
        self.skip_blank();
        if self.peek().kind == Kind::End {
            Ok(())
        } else {
            self.fail_with("Document has trailing tokens after first object or array:")
        }
    }

    /// Reads fields up to the closing brace, or to the end.
    fn parse_fields(&mut self, members: &mut ObjectMembers, braces: bool) -> Parsed<()> {
        loop {
            self.skip_blank();
            let token = self.peek();
            match &token.kind {
                Kind::Mark(b'}') if braces => {
                    self.next();
                    return Ok(());
                }
                Kind::End if !braces => return Ok(()),
                Kind::Mark(b'}') => return self.fail_unbalanced(),
                Kind::Unquoted if &self.text[token.range.as_usize()] == "include" => {
                    self.parse_include()?
                }
                _ => self.parse_field(members)?,
            }
            let parted = self.skip_separator();
            let ends =
                if braces { self.peek().is_mark(b'}') } else { self.peek().kind == Kind::End };
            if !parted && !ends {
                if self.peek().is_mark(b'}') {
                    return self.fail_unbalanced();
                }
                return self.fail_suggesting("Expecting close brace } or a comma, got");
            }
        }
    }

    /// Skips the separator of two fields or elements; returns whether there was any.
    fn skip_separator(&mut self) -> bool {
        let mut seen = false;
        loop {
            match self.peek().kind {
                Kind::Comment => {}
                Kind::Newline => seen = true,
                Kind::Mark(b',') => {
                    self.next();
                    return true;
                }
                _ => return seen,
            }
            self.next();
        }
    }

    fn parse_include(&mut self) -> Parsed<()> {
        let start = self.next().range;
        self.skip_blank();
        while self.peek().kind == Kind::Unquoted
            && self.text[self.peek().range.as_usize()].trim().is_empty()
        {
            self.next();
        }
        let token = self.peek();
        match token.kind {
            Kind::Quoted(_) => {
                self.next();
                Ok(())
            }
            Kind::Unquoted
                if matches!(
                    &self.text[token.range.as_usize()],
                    "file(" | "url(" | "classpath("
                ) =>
            {
                Err(new_problem(
                    "hiera-ls does not read include of other files in HOCON",
                    start.cover(token.range),
                ))
            }
            _ => self.fail_with("include keyword is not followed by a quoted string, but by:"),
        }
    }

    fn parse_field(&mut self, members: &mut ObjectMembers) -> Parsed<()> {
        let start = self.at;
        while matches!(self.peek().kind, Kind::Quoted(_) | Kind::Literal | Kind::Unquoted) {
            self.next();
        }
        let key = &self.tokens[start..self.at];
        let (Some(first), Some(last)) = (key.first(), key.last()) else {
            return self.fail_with("expecting a close brace or a field name here, got");
        };
        let key_range = first.range.cover(last.range);
        let path = parse_segments(self.text, key).map_err(|reason| {
            let kind = match reason {
                PathError::EmptyElement => SyntaxErrorKind::EmptyKeyElement,
                PathError::Other(_) => SyntaxErrorKind::Grammar,
            };
            new_problem(reason.to_string(), key_range).of_kind(kind)
        })?;
        self.skip_blank();
        let separator = self.peek();
        let adds = separator.kind == Kind::PlusEquals;
        match separator.kind {
            Kind::Mark(b'{') => {}
            Kind::Mark(b':' | b'=') | Kind::PlusEquals => drop(self.next()),
            _ => {
                return self.fail_suggesting(&format!(
                    "Key '{}' may not be followed by token:",
                    &self.text[key_range.as_usize()]
                ));
            }
        }
        if adds && self.lists > 0 {
            let message = "Due to current limitations of the config parser, += does not work nested inside a list";
            let rest = "+= expands to a ${} substitution and the path in ${} cannot currently refer to list elements. You might be \
                        able to move the += outside of the list and then refer to it from inside the list with ${}.";
            return Err(new_problem(message, key_range).in_words(format!("{message}. {rest}")));
        }
        let known = self.path.len();
        self.path.extend(path.iter().cloned());
        self.lists += usize::from(adds);
        let value = if separator.is_mark(b'{') { self.parse_value() } else { self.parse_values() };
        self.lists -= usize::from(adds);
        let own_path = self.path.clone();
        self.path.truncate(known);
        let mut value = value?;
        if adds {
            let before =
                Node::new(NodeKind::Substitution { path: own_path, optional: true }, value.range);
            let list = Node::new(NodeKind::List(vec![value.clone()]), value.range);
            value = Node::new(NodeKind::Joined(vec![before, list]), value.range);
        }
        for segment in path[1..].iter().rev() {
            let range = segment.range.cover(value.range);
            value = Node::new(
                NodeKind::Object(ObjectMembers::from_iter([(
                    segment.text.clone(),
                    (segment.range, value),
                )])),
                range,
            );
        }
        match members.get_mut(&path[0].text) {
            Some((range, old)) => {
                // A merged object keeps the place of the first object. Any other value has the
                // place of the last definition.
                if !matches!((&value.kind, &old.kind), (NodeKind::Object(_), NodeKind::Object(_))) {
                    *range = path[0].range;
                }
                *old = merge_nodes(&value, old);
            }
            None => drop(members.insert(path[0].text.clone(), (path[0].range, value))),
        }
        Ok(())
    }

    /// Reads a value with all that stands beside it on its line.
    fn parse_values(&mut self) -> Parsed<Rc<Node>> {
        self.skip_blank();
        let first = self.parse_value()?;
        let mut pieces = vec![first];
        while self.peek().is_simple_value()
            || self.peek().is_mark(b'{')
            || self.peek().is_mark(b'[')
        {
            pieces.push(self.parse_value()?);
        }
        join(pieces)
    }

    fn parse_value(&mut self) -> Parsed<Rc<Node>> {
        let token = self.peek();
        let written = || self.text[token.range.as_usize()].to_owned();
        let kind = match &token.kind {
            Kind::Mark(open @ (b'{' | b'[')) => return self.parse_collection(*open),
            Kind::Quoted(text) => NodeKind::Scalar(ScalarKind::Quoted, text.clone()),
            Kind::Unquoted => NodeKind::Scalar(ScalarKind::Unquoted, written()),
            Kind::Literal => NodeKind::Scalar(ScalarKind::Literal, written()),
            Kind::Substitution { path, optional } => {
                NodeKind::Substitution { path: path.clone(), optional: *optional }
            }
            _ => return self.fail_suggesting("Expecting a value but got wrong token:"),
        };
        self.next();
        Ok(Node::new(kind, token.range))
    }

    fn parse_collection(&mut self, open: u8) -> Parsed<Rc<Node>> {
        let start = self.next().range;
        if self.depth + self.path.len() >= MAX_DEPTH {
            return Err(new_problem(
                format!("hiera-ls reads no HOCON nested deeper than {MAX_DEPTH}"),
                start,
            ));
        }
        self.depth += 1;
        let kind = if open == b'{' {
            let mut members = ObjectMembers::new();
            self.parse_fields(&mut members, true)?;
            NodeKind::Object(members)
        } else {
            self.lists += 1;
            let items = self.parse_elements()?;
            self.lists -= 1;
            NodeKind::List(items)
        };
        self.depth -= 1;
        let end = self.tokens[self.at - 1].range;
        Ok(Node::new(kind, start.cover(end)))
    }

    fn parse_elements(&mut self) -> Parsed<Vec<Rc<Node>>> {
        let mut items = Vec::new();
        self.skip_blank();
        while !self.peek().is_mark(b']') {
            let is_value = self.peek().is_simple_value()
                || self.peek().is_mark(b'{')
                || self.peek().is_mark(b'[');
            if !is_value {
                let (words, culprit) = if items.is_empty() {
                    (
                        "List should have ] or a first element after the open [, instead had token:",
                        "",
                    )
                } else {
                    (
                        "List should have had new element after a comma, instead had token:",
                        "the comma or ",
                    )
                };
                return self.fail_in_list("Expecting a value but got wrong token:", words, culprit);
            }
            items.push(self.parse_values()?);
            if !self.skip_separator() && !self.peek().is_mark(b']') {
                let message = "List should have ended with ] or had a comma, instead had token:";
                return self.fail_in_list(message, message, "");
            }
            self.skip_blank();
        }
        self.next();
        Ok(items)
    }
}

/// Values beside each other as one, as far as they are known.
pub(super) fn join(pieces: Vec<Rc<Node>>) -> Parsed<Rc<Node>> {
    let range = pieces
        .iter()
        .map(|piece| piece.range)
        .reduce(TextRange::cover)
        .unwrap_or(TextRange::new_empty(0));
    let mut out: Vec<Rc<Node>> = Vec::new();
    for piece in pieces {
        let together = match out.last() {
            Some(last) => concatenate(last, &piece, range)?,
            None => None,
        };
        match together {
            Some(together) => *out.last_mut().expect("it was joined with") = together,
            None => out.push(piece),
        }
    }
    Ok(match <[Rc<Node>; 1]>::try_from(out) {
        Ok([one]) => one,
        Err(out) => Node::new(NodeKind::Joined(out), range),
    })
}
