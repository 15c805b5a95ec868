//! The one walk over a tree: from the written text to values, tokens and problems.

use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use indexmap::{IndexMap, IndexSet};

use super::anchors::{Anchored, PartAnchors};
use super::{Borrowed, EntryData, Format, Problem, ProblemKind, Reference, Refusal, TokenUse};
use crate::hiera::interpolation::{Method, TokenKind, tokens, unclosed};
use crate::hiera::key::{LookupKey, Segment};
use crate::hiera::shared::shared;
use crate::puppet::ruby::base64;
use crate::puppet::ruby::inspect::inspect;
use crate::puppet::value::{Data, Hash, Key, Member, Provenance, Value};
use crate::text::work::{Work, count};
use crate::text::{Budget, FileId, Limit, PartId, Span, TextRange};
use crate::yaml::psych::{Resolved, TagMeaning, resolve_plain, tag_meaning};
use crate::yaml::scalar::Written;
use crate::yaml::{self, NodeId, NodeKind, ScalarStyle, SyntaxError, SyntaxErrorKind, Tree};
use crate::yaml::{resolve_hocon, resolve_json};

/// The deepest value that an alias may stand for: each alias could add as much again, and every
/// walk needs a stack for all of it.
const MAX_ALIASED_DEPTH: u16 = 1_000;
/// The most keys of ignored documents that a problem names.
pub(super) const MAX_IGNORED_KEYS: usize = 5;
/// How many bytes of ignored documents are read to name their keys.
const MAX_IGNORED_BYTES: usize = 64 << 10;

/// Reads the tree of a part. `text` is the text that the tree was made from; places are counted
/// from its start. `above` returns the anchors of parts above.
pub(super) fn entry(
    tree: &Tree,
    text: &str,
    (file, part): (FileId, PartId),
    format: Format,
    above: &dyn Fn(&str) -> Option<Anchored>,
    budget: &Budget,
) -> EntryData {
    count(Work::Read);
    let may_be_encrypted = format == Format::Hocon || text.contains("ENC[") || text.contains('\\');
    let mut load = Loading {
        tree,
        text,
        file,
        part,
        format,
        out: EntryData { may_be_encrypted, ..EntryData::default() },
        above,
        used: IndexSet::default(),
        done: HashMap::new(),
        open: Vec::new(),
        budget,
        is_bounded: false,
        root_key: "".into(),
    };
    for problem in &tree.problems {
        let kind = ProblemKind::Syntax {
            message: problem.message.clone(),
            context: problem.context.as_ref().map(|(text, _)| text.clone()),
        };
        let related = problem
            .context
            .as_ref()
            .map(|(_, range)| load.span(*range))
            .filter(|span| span.range.start != problem.span.start);
        load.problem(kind, problem.span, related);
    }
    if let Some(error) =
        tree.verdict.as_ref().or(tree.problems.first()).filter(|_| tree.lone_scalar.is_none())
    {
        load.out.refused = Some(Refusal::Syntax(refusal(text, error, format)));
    }
    load.ignored_documents();
    load.file();
    load.keep_anchors();
    // They stay for long, and most are few.
    load.out.members.shrink_to_fit();
    load.out.tokens.shrink_to_fit();
    load.out.borrowed.shrink_to_fit();
    load.out.problems.shrink_to_fit();
    load.out.problems.sort_by_key(|problem| (problem.span.range.start, problem.span.range.end));
    load.out.tokens.sort_by_key(|token| (token.span.range.start, token.span.range.end));
    load.out
}

/// Reads the text behind the first document, from its marker on, as a part of its own: no data, and
/// a problem if there are keys or values in it. Source: semantics 4.1, Psych reads one document.
pub(super) fn behind_document(
    tree: &Tree,
    text: &str,
    (file, part): (FileId, PartId),
) -> EntryData {
    let mut data = EntryData { is_behind_document: true, ..EntryData::default() };
    let found = tree.second_document.and_then(|marker| Some((marker, ignored(text, marker)?)));
    data.problems.extend(found.map(|(range, kind)| Problem {
        kind,
        span: Span { file, part, range },
        related: None,
    }));
    data
}

/// Returns the problem of documents that follow the first one, the marker of the second one being
/// there; `None` if nothing stands in them.
fn ignored(text: &str, marker: TextRange) -> Option<ProblemKind> {
    let rest = &text[marker.start as usize..];
    let cut = yaml::char_floor(rest, MAX_IGNORED_BYTES.min(rest.len()));
    let mut rest = &rest[..cut];
    let (mut keys, mut has_data) = (Vec::new(), false);
    loop {
        let tree = yaml::parse(rest);
        let is_data = |root: &NodeId| !matches!(tree.scalar(*root), Some("" | "~" | "null"));
        has_data |= tree.root.as_ref().is_some_and(is_data) || !tree.problems.is_empty();
        let entries = tree.root.map(|root| tree.entries(root)).unwrap_or_default();
        keys.extend(entries.iter().filter_map(|(key, _)| tree.scalar(*key).map(str::to_owned)));
        match tree.second_document {
            Some(next) if next.start > 0 && keys.len() <= MAX_IGNORED_KEYS => {
                rest = &rest[next.start as usize..];
            }
            _ => break,
        }
    }
    let has_more = keys.len() > MAX_IGNORED_KEYS;
    keys.truncate(MAX_IGNORED_KEYS);
    has_data.then_some(ProblemKind::IgnoredDocuments { keys, has_more })
}

/// Returns the message of Ruby's reader for a syntax error. The reader of characters knows no
/// place.
fn refusal(text: &str, problem: &SyntaxError, format: Format) -> String {
    let is_control = problem.kind == SyntaxErrorKind::ControlCharacter;
    let start = if is_control { 0 } else { blamed(problem) };
    let before = &text[..(start as usize).min(text.len())];
    let line = before.matches('\n').count() + 1;
    if format == Format::Yaml {
        let (line, column) = libyaml_place(before);
        return said(problem, line, column);
    }
    // Where a key stands that is no path, the library does not know.
    if format == Format::Hocon && problem.kind == SyntaxErrorKind::EmptyKeyElement {
        return problem.message.clone();
    }
    if format == Format::Hocon {
        return format!("String: {line}: {}", problem.message); // Puppet hands the text over as a string without a name
    }
    let (line, column) = json_place(before);
    said(problem, line, column)
}

/// Returns the line and column that Ruby's JSON names for a place behind this text, counted from 1.
pub(super) fn json_place(before: &str) -> (usize, usize) {
    let line = before.rsplit('\n').next().unwrap_or_default();
    (before.matches('\n').count() + 1, line.chars().count() + 1)
}

/// Returns the line and column that libyaml names for a place behind this text, counted from 1.
fn libyaml_place(before: &str) -> (usize, usize) {
    let (mut line, mut column) = (1, 1);
    let mut chars = before.chars().peekable();
    while let Some(c) = chars.next() {
        let ends_line = match c {
            '\r' => chars.peek() != Some(&'\n'),
            c => matches!(c, '\n' | '\u{85}' | '\u{2028}' | '\u{2029}'),
        };
        (line, column) = if ends_line { (line + 1, 1) } else { (line, column + 1) };
    }
    (line, column)
}

/// Returns the place that the message names: the start of the construct that was being read, if the
/// reader says it.
pub(super) fn blamed(problem: &SyntaxError) -> u32 {
    problem.context.as_ref().map_or(problem.span.start, |(_, range)| range.start)
}

/// Returns the message for a syntax error there, counted from 1.
pub(super) fn said(problem: &SyntaxError, line: usize, column: usize) -> String {
    let context =
        problem.context.as_ref().map(|(context, _)| format!(" {context}")).unwrap_or_default();
    format!("{}{context} at line {line} column {column}", problem.message)
}

struct Loading<'a> {
    tree: &'a Tree,
    text: &'a str,
    file: FileId,
    part: PartId,
    format: Format,
    out: EntryData,
    /// The anchor of a name in the parts above.
    above: &'a dyn Fn(&str) -> Option<Anchored>,
    /// The names that aliases take from there.
    used: IndexSet<Arc<str>, foldhash::fast::RandomState>,
    /// The anchored nodes that were read, which aliases share.
    done: HashMap<NodeId, Anchored>,
    /// Anchored nodes being read: an alias to one of them contains itself.
    open: Vec<NodeId>,
    /// The budget that is left to the file's aliases and merge keys.
    budget: &'a Budget,
    /// Whether it was said that they may add no more.
    is_bounded: bool,
    /// The root key whose value is being read.
    root_key: Arc<str>,
}

impl Loading<'_> {
    fn ignored_documents(&mut self) {
        if let Some(marker) = self.tree.second_document
            && let Some(kind) = ignored(self.text, marker)
        {
            self.problem(kind, marker, None);
        }
    }

    fn file(&mut self) {
        let root = self.tree.root;
        let found = root.map(|id| self.value(id, true));
        if let Some(range) = self.tree.lone_scalar {
            let kind = ProblemKind::NotAHash { found: "String", empty: false, is_followed: false };
            self.problem(kind, range, None);
        }
        if let Some(hash) = found.as_ref().and_then(Value::as_hash) {
            self.out.has_hash = true;
            // Unless they were pushed one by one.
            self.out.members.extend(hash.iter().map(|(key, member)| (key.clone(), member.clone())));
            return;
        }
        self.out.other_root.clone_from(&found);
        if self.tree.lone_scalar.is_some() || !self.tree.problems.is_empty() && found.is_none() {
            return;
        }
        let empty = found
            .as_ref()
            .is_none_or(|value| matches!(value.data(), Data::Null | Data::Bool(false)));
        let type_name = found.as_ref().map_or("Undef", Value::type_name);
        let range =
            root.filter(|_| !empty).map_or(TextRange::empty(0), |id| self.tree.node(id).span);
        if self.tree.problems.is_empty() {
            let is_ignored =
                |problem: &Problem| matches!(problem.kind, ProblemKind::IgnoredDocuments { .. });
            let is_followed = self.out.problems.iter().any(is_ignored);
            let kind = ProblemKind::NotAHash { found: type_name, empty, is_followed };
            self.problem(kind, range, None);
        }
    }

    fn span(&self, range: TextRange) -> Span {
        Span { file: self.file, part: self.part, range }
    }

    fn problem(&mut self, kind: ProblemKind, range: TextRange, related: Option<Span>) {
        let span = self.span(range);
        self.out.problems.push(Problem { kind, span, related });
    }

    fn refuse(&mut self, refusal: Refusal, range: TextRange) {
        self.out.refused.get_or_insert_with(|| refusal.clone());
        self.problem(ProblemKind::Unloadable(refusal), range, None);
    }

    /// Pays for parts that an alias or a merge key adds to the file; whether it could. The first
    /// that cannot be paid is the file's problem.
    fn pay(&mut self, parts: u64, range: TextRange) -> bool {
        self.out.added_parts = self.out.added_parts.saturating_add(parts);
        match self.budget.parts(parts) {
            Ok(()) => true,
            Err(limit) => {
                self.exhausted(limit, range);
                false
            }
        }
    }

    fn exhausted(&mut self, limit: Limit, range: TextRange) {
        if !std::mem::replace(&mut self.is_bounded, true) {
            self.refuse(Refusal::Bound(limit), range);
        }
    }

    fn value(&mut self, id: NodeId, is_root: bool) -> Value {
        let node = self.tree.node(id);
        let origin = Some(self.span(node.span));
        match &node.kind {
            NodeKind::Alias { name, target } => self.alias(id, name, *target),
            _ => match &node.anchor {
                Some(anchor) => self.anchored(id, anchor.span, origin, is_root),
                None => self.plain_value(id, origin, is_root),
            },
        }
    }

    fn anchored(
        &mut self,
        id: NodeId,
        anchor: TextRange,
        origin: Option<Span>,
        is_root: bool,
    ) -> Value {
        let before = (self.out.tokens.len(), self.out.borrowed.len());
        self.open.push(id);
        let value = self.plain_value(id, origin, is_root);
        self.open.pop();
        let anchored = Anchored {
            span: self.span(anchor),
            value: Some(value.clone()),
            asks: self.asked_since(before),
            may_be_encrypted: self.out.may_be_encrypted,
        };
        self.done.insert(id, anchored);
        value
    }

    /// Returns the root keys that tokens ask for, of so many on, and of so many borrowed ones on.
    fn asked_since(&self, (tokens, borrowed): (usize, usize)) -> Arc<[Arc<str>]> {
        let (tokens, borrowed) = (&self.out.tokens[tokens..], &self.out.borrowed[borrowed..]);
        let mut asked: IndexSet<Arc<str>, foldhash::fast::RandomState> =
            tokens.iter().filter_map(|token| Some(token.reference.key()?.root_text())).collect();
        let mut seen = HashSet::new();
        for Borrowed { asks, .. } in borrowed {
            if seen.insert(Arc::as_ptr(asks)) {
                asked.extend(asks.iter().cloned());
            }
        }
        asked.into_iter().collect()
    }

    /// Keeps the anchors that other parts may use.
    fn keep_anchors(&mut self) {
        if self.part == PartId::WHOLE {
            return;
        }
        let mut defined = IndexMap::default();
        for (node, id) in self.tree.nodes.iter().zip(0..) {
            let Some(anchor) = &node.anchor else { continue };
            let unread = || Anchored {
                span: self.span(anchor.span),
                value: None,
                asks: Arc::default(),
                may_be_encrypted: false,
            };
            let anchored = self.done.get(&NodeId(id)).cloned().unwrap_or_else(unread);
            defined.insert(Arc::from(anchor.name.as_str()), anchored);
        }
        if !defined.is_empty() || !self.used.is_empty() {
            let used = std::mem::take(&mut self.used);
            self.out.anchors = Some(Box::new(PartAnchors { defined, used }));
        }
    }

    fn alias(&mut self, id: NodeId, name: &str, target: Option<NodeId>) -> Value {
        let range = self.tree.node(id).span;
        let found = match target {
            Some(target) if self.open.contains(&target) => {
                self.refuse(Refusal::Cycle, range);
                return Value::null(Some(self.span(range)));
            }
            Some(target) => self.done.get(&target).cloned(),
            None => {
                if !self.used.contains(name) {
                    self.used.insert(name.into());
                }
                let found = (self.above)(name);
                if found.is_none() {
                    self.refuse(Refusal::UnknownAlias(name.to_owned()), range);
                }
                self.out.may_be_encrypted |=
                    found.as_ref().is_some_and(|found| found.may_be_encrypted);
                found
            }
        };
        let Some(Anchored { value: Some(value), asks, .. }) = found else {
            return Value::null(Some(self.span(range)));
        };
        let nested = value.depth() > MAX_ALIASED_DEPTH;
        if nested {
            self.exhausted(Limit::Nesting(MAX_ALIASED_DEPTH), range);
        }
        if nested || !self.pay(u64::from(value.weight()), range) {
            return Value::null(Some(self.span(range)));
        }
        if !asks.is_empty() {
            self.out.borrowed.push(Borrowed { root: self.root_key.clone(), asks });
        }
        value
    }

    fn plain_value(&mut self, id: NodeId, origin: Option<Span>, is_root: bool) -> Value {
        let node = self.tree.node(id);
        let tag = node.tag.as_ref().map(|tag| tag_meaning(&tag.name, &node.kind));
        let refused = match (&tag, &node.kind) {
            (Some(TagMeaning::Refused { class }), _) => Some(class.as_str()),
            (Some(TagMeaning::RefusedByText), NodeKind::Scalar { text, .. }) => {
                Some(&**text).filter(|text| !text.is_empty())
            }
            _ => None,
        };
        if let Some(class) = refused {
            let tag = node.tag.as_ref().map_or(node.span, |tag| tag.span);
            self.refuse(Refusal::Class(class.to_owned()), tag);
        }
        match &node.kind {
            NodeKind::Scalar { style, text } => self.scalar(id, *style, text, tag, origin),
            NodeKind::Sequence { items, .. } => {
                let values: Vec<Value> =
                    items.iter().map(|item| self.value(*item, false)).collect();
                if matches!(tag, Some(TagMeaning::OrderedHash)) {
                    return self.ordered_hash(id, &values);
                }
                Value::array(values, Provenance::written(origin))
            }
            NodeKind::Mapping { entries, .. } => {
                let hash = self.mapping(entries, is_root);
                if matches!(tag, Some(TagMeaning::Text)) {
                    let root: Hash = self.out.members.iter().filter(|_| is_root).cloned().collect();
                    return self.text_of_mapping(id, if root.is_empty() { &hash } else { &root });
                }
                Value::hash(hash, Provenance::written(origin))
            }
            NodeKind::Alias { .. } => Value::null(origin),
        }
    }

    /// An `!!omap`: of each item Psych takes the first thing for a key and the last for its value,
    /// be it a mapping or a list.
    fn ordered_hash(&mut self, id: NodeId, items: &[Value]) -> Value {
        let range = self.tree.node(id).span;
        let mut hash = Hash::with_capacity_and_hasher(items.len(), Default::default());
        for item in items {
            let ends = match item.data() {
                Data::Hash(members) => {
                    members.first().zip(members.last()).map(|((key, first), (_, last))| {
                        (
                            key.clone(),
                            Member { key_origin: first.key_origin, value: last.value.clone() },
                        )
                    })
                }
                Data::Array(items) => items.first().zip(items.last()).map(|(key, value)| {
                    (
                        Key::from(key.clone()),
                        Member { key_origin: key.origin, value: value.clone() },
                    )
                }),
                _ => None,
            };
            match ends {
                Some((key, member)) => drop(hash.insert(key, member)),
                None => self.refuse(
                    Refusal::Ruby("undefined method `first' for nil:NilClass".to_owned()),
                    range,
                ),
            }
        }
        Value::hash(hash, Provenance::written(Some(self.span(range))))
    }

    /// A mapping tagged as a string: Psych takes the member `str` for the string, and all others
    /// for variables of that object.
    fn text_of_mapping(&mut self, id: NodeId, hash: &Hash) -> Value {
        let range = self.tree.node(id).span;
        let value = hash
            .get("str")
            .map_or(Value::null(Some(self.span(range))), |member| member.value.clone());
        let first = hash.keys().find(|key| key.as_str() != Some("str"));
        if let Some(key) = first {
            let name = key.to_text();
            let name = name.strip_prefix('@').unwrap_or(&name);
            let is_name = name
                .starts_with(|c: char| c.is_alphabetic() || c == '_' || !c.is_ascii())
                && name.chars().all(|c| c.is_alphanumeric() || c == '_' || !c.is_ascii());
            if !is_name {
                let message = format!("`@{name}' is not allowed as an instance variable name");
                self.refuse(Refusal::Ruby(message), range);
            } else if !matches!(value.data(), Data::String(_) | Data::Array(_) | Data::Hash(_)) {
                let mut message = format!("can't modify frozen {}: ", value.class_name());
                inspect(value.data(), &mut message);
                self.refuse(Refusal::Ruby(message), range);
            }
        }
        value
    }

    fn scalar(
        &mut self,
        id: NodeId,
        style: ScalarStyle,
        text: &str,
        tag: Option<TagMeaning>,
        origin: Option<Span>,
    ) -> Value {
        let resolved = match (tag, style) {
            (Some(TagMeaning::Text), _) => Resolved::String,
            (Some(TagMeaning::Binary), _) => {
                return Value::new(binary(text), Provenance::written(origin));
            }
            (Some(TagMeaning::Symbol), _) => Resolved::Symbol(text.to_owned()),
            (Some(TagMeaning::Float), _) => as_float(text),
            (Some(TagMeaning::RefusedByText), _) if text.is_empty() => Resolved::Null,
            (Some(TagMeaning::NormalRules), _) | (None, ScalarStyle::Plain) => resolve_plain(text),
            (_, ScalarStyle::JsonLiteral) if self.format == Format::Hocon => resolve_hocon(text),
            (_, ScalarStyle::JsonLiteral) => resolve_json(text),
            _ => Resolved::String,
        };
        let data = match resolved {
            Resolved::Null => Data::Null,
            Resolved::Bool(value) => Data::Bool(value),
            Resolved::Integer(value) => Data::Integer(value),
            Resolved::BigInteger(digits) => Data::BigInteger(digits.into()),
            Resolved::Float(value) => Data::Float(value),
            Resolved::Symbol(name) => Data::Symbol(name.into()),
            Resolved::String => {
                if text.contains("%{") {
                    self.tokens_of(id, text);
                }
                Data::String(shared(text))
            }
            Resolved::Date => {
                self.refuse(Refusal::Class("Date".into()), self.tree.node(id).span);
                Data::String(text.into())
            }
            Resolved::Time => {
                self.refuse(Refusal::Class("Time".into()), self.tree.node(id).span);
                Data::String(text.into())
            }
            Resolved::BadNumber(message) => {
                self.refuse(Refusal::Ruby(message), self.tree.node(id).span);
                Data::String(text.into())
            }
        };
        Value::new(data, Provenance::written(origin))
    }

    /// Returns a mapping's hash. The members of the root are kept as they are written, each by
    /// itself, unless a merge key mixes them with others.
    fn mapping(&mut self, entries: &[(NodeId, NodeId)], is_root: bool) -> Hash {
        let as_written =
            is_root && !entries.iter().any(|(key, _)| self.tree.scalar(*key) == Some("<<"));
        let mut hash = Hash::with_capacity_and_hasher(entries.len(), Default::default());
        let mut written: HashMap<Key, TextRange, foldhash::fast::RandomState> =
            HashMap::with_capacity_and_hasher(entries.len(), Default::default());
        for (key_id, value_id) in entries {
            let key_node = self.tree.node(*key_id);
            let key_span = self.span(key_node.span);
            let key_value =
                if is_root { self.root_key_value(*key_id) } else { self.value(*key_id, false) };
            let is_text_tag = key_node.tag.as_ref().is_some_and(|tag| {
                matches!(tag_meaning(&tag.name, &key_node.kind), TagMeaning::Text)
            });
            if is_root {
                self.root_key = match key_value.data() {
                    Data::String(name) => name.clone(),
                    other => {
                        Key::new(other.clone(), Provenance::written(None)).to_text().as_ref().into()
                    }
                };
            }
            let value = self.value(*value_id, false);
            if self.format == Format::Yaml
                && !is_text_tag
                && key_value.as_str() == Some("<<")
                && self.merge(*value_id, &value, &mut hash)
            {
                continue;
            }
            let (key, key_from) = key_value.into_parts();
            let key = match (key, self.format) {
                (Data::Symbol(name), Format::Yaml) => Data::String(name),
                (data, _) => data,
            };
            let key = Key::new(key, key_from);
            if is_root && key.as_str().is_none() {
                self.problem(
                    ProblemKind::UnreachableKey(key.to_text().into_owned()),
                    key_span.range,
                    None,
                );
            }
            if as_written {
                self.out.members.push((key, Member { key_origin: Some(key_span), value }));
                continue;
            }
            if let Some(first) = written.insert(key.clone(), key_span.range) {
                let related = Some(self.span(first));
                let kind = ProblemKind::DuplicateKey {
                    key: key.to_text().into_owned(),
                    is_equal: hash.get(&key).is_some_and(|first| first.value == value),
                };
                self.problem(kind, key_span.range, related);
            }
            hash.insert(key, Member { key_origin: Some(key_span), value });
        }
        hash
    }

    /// A root key's tokens are never replaced, so they are none.
    fn root_key_value(&mut self, id: NodeId) -> Value {
        let before = (self.out.tokens.len(), self.out.problems.len());
        let borrowed = self.out.borrowed.len();
        let value = self.value(id, false);
        let is_token_problem = |kind: &ProblemKind| {
            matches!(
                kind,
                ProblemKind::UnclosedToken
                    | ProblemKind::MalformedToken
                    | ProblemKind::UnknownFunction(_)
                    | ProblemKind::BadArgument { .. }
                    | ProblemKind::AliasNotWhole
            )
        };
        self.out.tokens.truncate(before.0);
        self.out.borrowed.truncate(borrowed);
        let added = self.out.problems.split_off(before.1);
        self.out
            .problems
            .extend(added.into_iter().filter(|problem| !is_token_problem(&problem.kind)));
        value
    }

    /// Applies a merge key; whether it was one. Entries keep the places where they were written.
    ///
    /// Source: semantics 4.2: entries before it are overwritten, those after it overwrite; of a
    /// list, earlier maps win.
    fn merge(&mut self, node: NodeId, value: &Value, into: &mut Hash) -> bool {
        match (&self.tree.node(node).kind, value.data()) {
            (NodeKind::Sequence { .. }, Data::Array(items)) => {
                if !items.iter().all(|item| item.as_hash().is_some()) {
                    return false;
                }
                let copied = items.iter().filter_map(Value::as_hash).map(|hash| hash.len() as u64);
                if !self.pay(copied.sum(), self.tree.node(node).span) {
                    return true;
                }
                let mut merged = Hash::default();
                items
                    .iter()
                    .rev()
                    .filter_map(Value::as_hash)
                    .for_each(|hash| merged.extend(hash.clone()));
                into.extend(merged);
                true
            }
            // A list that is a hash is an `!!omap`; Psych merges an empty one, and keeps any other
            // under the key.
            (NodeKind::Sequence { .. }, Data::Hash(hash)) => hash.is_empty(),
            (NodeKind::Mapping { .. } | NodeKind::Alias { .. }, Data::Hash(hash)) => {
                if !self.pay(hash.len() as u64, self.tree.node(node).span) {
                    return true;
                }
                into.extend((**hash).clone());
                true
            }
            _ => false,
        }
    }

    fn tokens_of(&mut self, id: NodeId, text: &str) {
        let node = self.tree.node(id);
        let string_span = self.span(node.span);
        let written = OnceCell::new();
        let source = |range: TextRange| {
            let written = written.get_or_init(|| Written::of(self.text, node));
            let start = written.offset(range.start as usize);
            // The end is that of the last byte: behind it a line may be folded.
            let end = written.offset((range.end as usize).saturating_sub(1)) + 1;
            TextRange::new(start, end.max(start))
        };
        let mut problems: Vec<(ProblemKind, TextRange)> = Vec::new();
        for token in tokens(text) {
            let range = source(token.range);
            let (name_range, reference) = match token.kind {
                TokenKind::Empty => continue,
                TokenKind::Malformed => {
                    problems.push((ProblemKind::MalformedToken, range));
                    continue;
                }
                TokenKind::Variable { key, range } => {
                    (source(range), Reference::Variable(kept(key)))
                }
                TokenKind::Call { method, method_range, argument, argument_range } => {
                    let Some(function) = Method::from_name(&method) else {
                        problems.push((ProblemKind::UnknownFunction(method), source(method_range)));
                        continue;
                    };
                    if function == Method::Alias && token.range.as_usize() != (0..text.len()) {
                        problems.push((ProblemKind::AliasNotWhole, range));
                    }
                    let key = match (function, LookupKey::parse(&argument)) {
                        (Method::Literal, _) => continue,
                        (_, Ok(key)) => kept(key),
                        (_, Err(_)) => {
                            problems.push((
                                ProblemKind::BadArgument { function: method, argument },
                                source(argument_range),
                            ));
                            continue;
                        }
                    };
                    let reference = match function {
                        Method::Scope => Reference::Variable(key),
                        _ => Reference::Key { key, alias: function == Method::Alias },
                    };
                    (source(argument_range), reference)
                }
            };
            let (span, name_span) = (self.span(range), self.span(name_range));
            self.out.tokens.push(TokenUse {
                root: self.root_key.clone(),
                span,
                name_span,
                reference,
                string_span,
            });
        }
        if let Some(range) = unclosed(text) {
            problems.push((ProblemKind::UnclosedToken, source(range)));
        }
        for (kind, range) in problems {
            self.problem(kind, range, None);
        }
    }
}

/// Shares the names of a key with other keys that have them, too.
fn kept(key: LookupKey) -> LookupKey {
    let segment = |segment: Segment| match segment {
        Segment::Name(name) => Segment::Name(shared(&name)),
        index => index,
    };
    LookupKey {
        text: shared(&key.text),
        root: segment(key.root),
        subkeys: key.subkeys.into_iter().map(segment).collect(),
    }
}

/// Decodes a `!!binary` scalar: text when its bytes are UTF-8.
fn binary(text: &str) -> Data {
    match String::from_utf8(base64::decode(text)) {
        Ok(text) => Data::String(text.into()),
        Err(error) => Data::Binary(error.into_bytes().into()),
    }
}

/// Reads a scalar tagged as a float: the result of Ruby's `Float()` for its plain meaning.
fn as_float(text: &str) -> Resolved {
    let nothing = |what: &str| Resolved::BadNumber(format!("can't convert {what} into Float"));
    match resolve_plain(text) {
        Resolved::Integer(value) => Resolved::Float(value as f64),
        Resolved::BigInteger(digits) => digits.parse().map_or(Resolved::String, Resolved::Float),
        Resolved::Null => nothing("nil"),
        Resolved::Bool(value) => nothing(if value { "true" } else { "false" }),
        Resolved::Symbol(_) => nothing("Symbol"),
        Resolved::String => {
            let number = text.trim_matches(|c: char| c.is_ascii_whitespace());
            let is_number = number
                .starts_with(|c: char| c.is_ascii_digit() || matches!(c, '+' | '-'))
                && number.ends_with(|c: char| c.is_ascii_digit())
                && number.bytes().all(|byte| {
                    byte.is_ascii_digit() || matches!(byte, b'+' | b'-' | b'e' | b'E' | b'.')
                });
            match number.parse() {
                Ok(value) if is_number => Resolved::Float(value),
                _ => Resolved::BadNumber(format!("invalid value for Float(): {text:?}")),
            }
        }
        other => other,
    }
}
