//! The one walk over a tree: from the written text to values, tokens and problems.

mod aliases;
mod members;
mod merge;
mod scalar;
mod tagged;
mod tokens;

use std::sync::Arc;

use super::anchors::Anchored;
use super::{
    Borrowed, DataFormat, EntryData, FileRefusal, Problem, ProblemKind, RareData, TokenUse,
    documents, message,
};
use crate::hiera::shared::share;
use crate::puppet::value::{Data, Hash, Key, Member, Provenance, Value};
use crate::text::work::{Work, count_work};
use crate::text::{Budget, FileId, Limit, PartId, Span, TextRange};
use crate::yaml::psych::{TagMeaning, tag_meaning};
use crate::yaml::{Node, NodeId, NodeKind, ScalarStyle, Tree};
use aliases::Aliases;
use members::MappingMembers;
use merge::Merge;
use scalar::Scalar;
use tokens::WrittenString;

/// The deepest value that an alias may stand for: each alias could add as much again, and every
/// walk needs a stack for all of it.
const MAX_ALIASED_DEPTH: u16 = 1_000;

/// Reads the tree of a part. `text` is the text that the tree was made from; places are counted
/// from its start. `above` returns the anchors of parts above.
pub(super) fn load_entry(
    tree: &Tree,
    text: &str,
    (file, part): (FileId, PartId),
    format: DataFormat,
    above: &dyn Fn(&str) -> Option<Anchored>,
    budget: &Budget,
) -> EntryData {
    count_work(Work::Read);
    let may_be_encrypted =
        format == DataFormat::Hocon || text.contains("ENC[") || text.contains('\\');
    let mut load = EntryLoader {
        tree,
        text,
        file,
        part,
        format,
        members: Vec::new(),
        tokens: Vec::new(),
        rare: RareData::EMPTY,
        may_be_encrypted,
        has_hash: false,
        aliases: Aliases::new(above),
        budget,
        is_bounded: false,
        root_key: "".into(),
    };
    load.syntax_problems();
    load.ignored_documents();
    load.load_file();
    load.keep_anchors();
    load.into_data()
}

struct EntryLoader<'a> {
    tree: &'a Tree,
    text: &'a str,
    file: FileId,
    part: PartId,
    format: DataFormat,
    members: Vec<(Key, Member)>,
    tokens: Vec<TokenUse>,
    rare: RareData,
    may_be_encrypted: bool,
    has_hash: bool,
    aliases: Aliases<'a>,
    /// The budget that is left to the file's aliases and merge keys.
    budget: &'a Budget,
    /// Whether the problem of an exhausted budget was recorded.
    is_bounded: bool,
    /// The root key whose value is being read.
    root_key: Arc<str>,
}

impl EntryLoader<'_> {
    /// Returns all that was read, with problems and tokens in the order of their places, and without
    /// memory for more: data is kept for long.
    fn into_data(mut self) -> EntryData {
        self.rare.problems.sort_by_key(|problem| problem.span.range);
        self.tokens.sort_by_key(|token| token.range);
        EntryData {
            members: self.members.into(),
            tokens: self.tokens.into(),
            rare: self.rare.into_box(),
            may_be_encrypted: self.may_be_encrypted,
            has_hash: self.has_hash,
            is_behind_document: false,
        }
    }

    fn syntax_problems(&mut self) {
        for problem in &self.tree.problems {
            let kind = ProblemKind::Syntax {
                message: problem.message.clone(),
                context: problem.context.as_ref().map(|(text, _)| text.clone()),
            };
            let related = problem
                .context
                .as_ref()
                .map(|(_, range)| self.new_span(*range))
                .filter(|span| span.range.start != problem.span.start);
            self.add_problem(kind, problem.span, related);
        }
        let verdict = self.tree.verdict.as_ref().or(self.tree.problems.first());
        if let Some(error) = verdict.filter(|_| self.tree.lone_scalar.is_none()) {
            let message = message::refusal_message(self.text, error, self.format);
            self.rare.refused = Some(FileRefusal::Syntax(message));
        }
    }

    fn ignored_documents(&mut self) {
        if let Some(marker) = self.tree.second_document
            && let Some(kind) = documents::ignored_problem(self.text, marker)
        {
            self.add_problem(kind, marker, None);
        }
    }

    fn load_file(&mut self) {
        let root = self.tree.root;
        let found = root.map(|id| self.load_value(id, true));
        if let Some(range) = self.tree.lone_scalar {
            let kind = ProblemKind::NotAHash { found: "String", empty: false, is_followed: false };
            self.add_problem(kind, range, None);
        }
        if let Some(hash) = found.as_ref().and_then(Value::as_hash) {
            self.has_hash = true;
            // The hash is empty where `load_mapping` has pushed the members one by one.
            self.members.extend(hash.iter().map(|(key, member)| (key.clone(), member.clone())));
            return;
        }
        self.rare.other_root = found.clone();
        if self.tree.lone_scalar.is_some() || !self.tree.problems.is_empty() && found.is_none() {
            return;
        }
        let empty = found
            .as_ref()
            .is_none_or(|value| matches!(value.data(), Data::Null | Data::Bool(false)));
        let type_name = found.as_ref().map_or("Undef", Value::type_name);
        let range =
            root.filter(|_| !empty).map_or(TextRange::new_empty(0), |id| self.tree.node(id).span);
        if self.tree.problems.is_empty() {
            let is_followed = self
                .rare
                .problems
                .iter()
                .any(|problem| matches!(problem.kind, ProblemKind::IgnoredDocuments { .. }));
            let kind = ProblemKind::NotAHash { found: type_name, empty, is_followed };
            self.add_problem(kind, range, None);
        }
    }

    fn new_span(&self, range: TextRange) -> Span {
        Span { file: self.file, part: self.part, range }
    }

    fn add_problem(&mut self, kind: ProblemKind, range: TextRange, related: Option<Span>) {
        let span = self.new_span(range);
        self.rare.problems.push(Problem { kind, span, related });
    }

    fn refuse(&mut self, refusal: FileRefusal, range: TextRange) {
        self.rare.refused.get_or_insert_with(|| refusal.clone());
        self.add_problem(ProblemKind::Unloadable(refusal), range, None);
    }

    /// Takes the parts that an alias or a merge key adds to the file from the budget; `false` if
    /// the budget does not suffice. The file gets a problem for the first one only.
    fn pay_parts(&mut self, parts: u64, range: TextRange) -> bool {
        self.rare.added_parts = self.rare.added_parts.saturating_add(parts);
        match self.budget.pay_parts(parts) {
            Ok(()) => true,
            Err(limit) => {
                self.report_exhausted(limit, range);
                false
            }
        }
    }

    fn report_exhausted(&mut self, limit: Limit, range: TextRange) {
        if !std::mem::replace(&mut self.is_bounded, true) {
            self.refuse(FileRefusal::Bound(limit), range);
        }
    }

    fn load_value(&mut self, id: NodeId, is_root: bool) -> Value {
        let node = self.tree.node(id);
        let origin = Some(self.new_span(node.span));
        match &node.kind {
            NodeKind::Alias { name, target } => self.load_alias(id, name, *target),
            _ => match &node.anchor {
                Some(anchor) => self.load_anchored(id, anchor.span, origin, is_root),
                None => self.plain_value(id, origin, is_root),
            },
        }
    }

    fn load_anchored(
        &mut self,
        id: NodeId,
        anchor: TextRange,
        origin: Option<Span>,
        is_root: bool,
    ) -> Value {
        let before = (self.tokens.len(), self.rare.borrowed.len());
        self.aliases.begin_node(id);
        let value = self.plain_value(id, origin, is_root);
        let anchored = Anchored {
            span: self.new_span(anchor),
            value: Some(value.clone()),
            asks: aliases::asked_keys(&self.tokens[before.0..], &self.rare.borrowed[before.1..]),
            may_be_encrypted: self.may_be_encrypted,
        };
        self.aliases.end_node(anchored);
        value
    }

    /// Stores the anchors of the part, and those that it uses.
    fn keep_anchors(&mut self) {
        let (file, part) = (self.file, self.part);
        self.rare.anchors = self.aliases.take(self.tree, |range| Span { file, part, range });
    }

    fn load_alias(&mut self, id: NodeId, name: &str, target: Option<NodeId>) -> Value {
        let range = self.tree.node(id).span;
        let found = self.aliases.resolve(name, target).unwrap_or_else(|refusal| {
            self.refuse(refusal, range);
            None
        });
        self.may_be_encrypted |= found.as_ref().is_some_and(|found| found.may_be_encrypted);
        let Some(Anchored { value: Some(value), asks, .. }) = found else {
            return Value::new_null(Some(self.new_span(range)));
        };
        let nested = value.depth() > MAX_ALIASED_DEPTH;
        if nested {
            self.report_exhausted(Limit::Nesting(MAX_ALIASED_DEPTH), range);
        }
        if nested || !self.pay_parts(u64::from(value.weight()), range) {
            return Value::new_null(Some(self.new_span(range)));
        }
        if !asks.is_empty() {
            self.rare.borrowed.push(Borrowed { root: self.root_key.clone(), asks });
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
            self.refuse(FileRefusal::Class(class.to_owned()), tag);
        }
        match &node.kind {
            NodeKind::Scalar { style, text } => self.load_scalar(node, *style, text, tag, origin),
            NodeKind::Sequence { items, .. } => {
                let values: Vec<Value> =
                    items.iter().map(|item| self.load_value(*item, false)).collect();
                if matches!(tag, Some(TagMeaning::OrderedHash)) {
                    return self.ordered_hash(id, &values);
                }
                Value::new_array(values, Provenance::from_source(origin))
            }
            NodeKind::Mapping { entries, .. } => {
                let hash = self.load_mapping(entries, is_root);
                if matches!(tag, Some(TagMeaning::Text)) {
                    let root: Hash = self.members.iter().filter(|_| is_root).cloned().collect();
                    return self.text_of_mapping(id, if root.is_empty() { &hash } else { &root });
                }
                Value::hash(hash, Provenance::from_source(origin))
            }
            NodeKind::Alias { .. } => Value::new_null(origin),
        }
    }

    fn ordered_hash(&mut self, id: NodeId, items: &[Value]) -> Value {
        let range = self.tree.node(id).span;
        let mut hash = Hash::with_capacity(items.len());
        for item in items {
            match tagged::member_of_omap(item) {
                Some((key, member)) => drop(hash.insert(key, member)),
                None => self.refuse(tagged::no_member(), range),
            }
        }
        Value::hash(hash, Provenance::from_source(Some(self.new_span(range))))
    }

    /// Returns the value of a mapping that is tagged as a string.
    fn text_of_mapping(&mut self, id: NodeId, hash: &Hash) -> Value {
        let range = self.tree.node(id).span;
        let value = hash
            .get("str")
            .map_or(Value::new_null(Some(self.new_span(range))), |member| member.value.clone());
        if let Some(refusal) = tagged::refusal_of_text(hash, &value) {
            self.refuse(refusal, range);
        }
        value
    }

    fn load_scalar(
        &mut self,
        node: &Node,
        style: ScalarStyle,
        text: &str,
        tag: Option<TagMeaning>,
        origin: Option<Span>,
    ) -> Value {
        let data = match scalar::read(style, text, tag, self.format) {
            Scalar::Text => {
                if text.contains("%{") {
                    self.load_tokens(node, text);
                }
                Data::String(share(text))
            }
            Scalar::Data(data) => data,
            Scalar::Refused(refusal) => {
                self.refuse(refusal, node.span);
                Data::String(text.into())
            }
        };
        Value::new(data, Provenance::from_source(origin))
    }

    fn load_tokens(&mut self, node: &Node, value: &str) {
        let (text, root) = (self.text, &self.root_key);
        let string = WrittenString { value, text, node, span: self.new_span(node.span), root };
        for (kind, range) in tokens::collect(&string, &mut self.tokens) {
            self.add_problem(kind, range, None);
        }
    }

    /// Returns a mapping's hash. The members of the root are kept as they are written, each by
    /// itself, unless a merge key mixes them with others.
    fn load_mapping(&mut self, entries: &[(NodeId, NodeId)], is_root: bool) -> Hash {
        let as_written =
            is_root && !entries.iter().any(|(key, _)| self.tree.scalar(*key) == Some("<<"));
        let mut members = MappingMembers::with_capacity(entries.len());
        for (key_id, value_id) in entries {
            let key_node = self.tree.node(*key_id);
            let key_value =
                if is_root { self.root_key(*key_id) } else { self.load_value(*key_id, false) };
            let value = self.load_value(*value_id, false);
            if self.format == DataFormat::Yaml
                && merge::is_key(key_node, &key_value)
                && self.merge(*value_id, &value, &mut members.hash)
            {
                continue;
            }
            let key = members::mapping_key(key_value, self.format);
            if is_root && key.as_str().is_none() {
                let kind = ProblemKind::UnreachableKey(key.to_text().into_owned());
                self.add_problem(kind, key_node.span, None);
            }
            let member = Member { key_origin: Some(self.new_span(key_node.span)), value };
            if as_written {
                self.members.push((key, member));
            } else if let Some((kind, first)) = members.add(key, member) {
                self.add_problem(kind, key_node.span, first);
            }
        }
        members.hash
    }

    /// Reads a root key. Puppet never replaces tokens in it, so none are recorded.
    fn root_key(&mut self, id: NodeId) -> Value {
        let before = (self.tokens.len(), self.rare.problems.len());
        let borrowed = self.rare.borrowed.len();
        let value = self.load_value(id, false);
        self.tokens.truncate(before.0);
        self.rare.borrowed.truncate(borrowed);
        let added = self.rare.problems.split_off(before.1);
        self.rare.problems.extend(added.into_iter().filter(|one| !tokens::is_problem(&one.kind)));
        self.root_key = members::key_text(&value);
        value
    }

    /// Merges the value of a key `<<` into a hash; `false` if the key is an ordinary one.
    fn merge(&mut self, node: NodeId, value: &Value, into: &mut Hash) -> bool {
        let node = self.tree.node(node);
        match Merge::merge_content(&node.kind, value) {
            None => return false,
            Some(Merge::Nothing) => {}
            Some(Merge::Hashes(hashes)) => {
                let parts = hashes.iter().map(|hash| hash.len() as u64).sum();
                if self.pay_parts(parts, node.span) {
                    merge::add(&hashes, into);
                }
            }
        }
        true
    }
}
