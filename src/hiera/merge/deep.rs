//! Strategy `deep`: the algorithm of the deep_merge gem, including its effects when it merges an
//! object with itself.
//!
//! Ruby merges *into* the lower value and changes the higher one while it reads it. Most of that
//! cannot be seen, but a value that the lower side lacks is merged with a shallow copy of itself,
//! so that its parts are merged with themselves as one shared object. [`DeepMerge::merge`],
//! [`merge_with_copy`](DeepMerge::merge_with_copy) and
//! [`merge_with_itself`](DeepMerge::merge_with_itself) are the three cases that exist.

use std::cell::OnceCell;
use std::collections::HashSet;
use std::sync::Arc;

use super::strategy::DeepOptions;
use super::{MergeError, new_member, order};
use crate::puppet::ruby::regex::RubyRegex;
use crate::puppet::value::{Data, Hash, Member, Provenance, Value};
use crate::text::CancelToken;

/// A merge with strategy `deep`: of hashes by key and recursively, of lists as `lower` followed by
/// the elements that only `higher` has, of anything else as `higher`. For `reverse_deep`, swap the
/// two.
///
/// A `null` and an empty hash in `higher` never hide a value of `lower`. Knockouts act on lists and
/// strings of `lower` only. Every part keeps its origin; a merged hash or list has that of
/// `higher`, and a string blanked by a knockout that of its marker. The type of a value is never an
/// error; an empty knockout prefix is one, or one that is no regular expression, and elements to be
/// sorted that have no order.
/// Source: `DeepMerge.deep_merge!` of deep_merge 1.1.1 as Puppet's `DeepMergeStrategy` calls it.
pub(super) struct DeepMerge<'m> {
    options: &'m DeepOptions,
    knockout: &'m OnceCell<Result<Knockout, MergeError>>,
    cancel: &'m CancelToken,
}

/// A compiled knockout prefix.
pub(super) enum Knockout {
    /// A prefix that means itself as a regular expression, as nearly all do.
    Literal(Box<str>),
    /// Any other prefix.
    Regex(Box<RubyRegex>),
}

/// A string that knocks out.
struct Marker {
    text: Arc<str>,
    /// The string that the marker knocks out, beside itself.
    target: Arc<str>,
}

impl<'m> DeepMerge<'m> {
    pub(super) fn new(
        options: &'m DeepOptions,
        knockout: &'m OnceCell<Result<Knockout, MergeError>>,
        cancel: &'m CancelToken,
    ) -> Result<DeepMerge<'m>, MergeError> {
        match &options.knockout_prefix {
            Some(prefix) if prefix.is_empty() => Err(MergeError::EmptyKnockout),
            Some(_) if options.preserve_unmergeables => Err(MergeError::KnockoutPreserves),
            _ => Ok(DeepMerge { options, knockout, cancel }),
        }
    }

    /// Merges two values that share nothing.
    pub(super) fn merge(&self, higher: Value, lower: Value) -> Result<Value, MergeError> {
        if matches!(higher.data(), Data::Null) {
            return Ok(lower);
        }
        if is_falsy(&lower) && !self.options.preserve_unmergeables {
            return Ok(higher);
        }
        let (higher, from) = higher.into_parts();
        let (lower, lower_from) = lower.into_parts();
        let both = from.with_marks(lower_from);
        match (higher, lower) {
            (Data::Hash(higher), lower) if higher.is_empty() => Ok(Value::new(lower, lower_from)),
            (Data::Hash(higher), Data::Hash(lower)) => {
                let merged = self.merge_hashes(&higher, Arc::unwrap_or_clone(lower))?;
                Ok(Value::hash(merged, both))
            }
            (Data::Hash(higher), Data::Array(lower)) if self.options.extend_existing_arrays => {
                let copies = higher.len();
                let higher = Value::new(Data::Hash(higher), from);
                Ok(append_items(lower, std::iter::repeat_n(higher, copies), lower_from))
            }
            (Data::Hash(_), lower) if self.options.preserve_unmergeables => {
                Ok(Value::new(lower, lower_from))
            }
            (Data::Hash(higher), _) => {
                Ok(Value::hash(self.replacing_hash(Arc::unwrap_or_clone(higher))?, from))
            }
            (Data::Array(items), _) if self.options.overwrite_arrays => {
                Ok(Value::new(Data::Array(items), from))
            }
            (Data::Array(items), Data::Array(lower)) => {
                let items =
                    self.merge_arrays(Arc::unwrap_or_clone(items), Arc::unwrap_or_clone(lower))?;
                Ok(Value::new_array(items, both))
            }
            (Data::Array(_), lower) if self.options.preserve_unmergeables => {
                Ok(Value::new(lower, lower_from))
            }
            (Data::Array(items), _) => {
                let mut items = self.unpack_items(Arc::unwrap_or_clone(items));
                if self.holds_bare_prefix(&items) {
                    items.retain(|item| !self.is_bare_prefix(item));
                }
                Ok(Value::new_array(self.replacing_array(items)?, from))
            }
            (scalar, Data::Array(lower)) if self.options.extend_existing_arrays => {
                Ok(append_items(lower, std::iter::once(Value::new(scalar, from)), lower_from))
            }
            (_, lower) if self.options.preserve_unmergeables => Ok(Value::new(lower, lower_from)),
            (scalar, _) => self.blank_marker(Value::new(scalar, from)),
        }
    }

    /// Merges a value with a shallow copy of itself: the rule for a member that the lower hash has
    /// not, or has as null or false.
    fn merge_with_copy(&self, value: Value) -> Result<Value, MergeError> {
        match value.data() {
            Data::Array(items) if !self.options.overwrite_arrays => {
                if self.keeps_as_it_is(items) {
                    return Ok(value);
                }
                let items = self.unpack_items(items.to_vec());
                let mut higher = items.clone();
                let mut lower = items;
                self.knock_out(&mut higher, &mut lower)?;
                // Only a bare prefix knocks out hashes, and it empties `lower`. Without a bare
                // prefix the hashes of both lists still stand side by side.
                let merged = if self.merges_hashes(&higher, &lower) {
                    if lower.is_empty() { higher } else { self.merge_each_with_itself(lower)? }
                } else {
                    merge_unique(lower, higher)
                };
                Ok(Value::new_array(self.sort_items(merged)?, value.provenance()))
            }
            _ => self.merge_with_itself(value),
        }
    }

    /// Merges a value with itself as one shared object: the rule for the parts of a value that was
    /// merged with a shallow copy.
    fn merge_with_itself(&self, value: Value) -> Result<Value, MergeError> {
        Ok(self.changed_by_itself(&value)?.unwrap_or(value))
    }

    /// Merges a value with itself; `None` when the value does not change. Most parts do not, and
    /// the merged value shares them.
    fn changed_by_itself(&self, value: &Value) -> Result<Option<Value>, MergeError> {
        let from = value.provenance();
        match value.data() {
            Data::Hash(hash) => {
                if self.cancel.is_cancelled() {
                    return Err(MergeError::Cancelled);
                }
                let mut changed: Option<Hash> = None;
                for (key, member) in &**hash {
                    if is_falsy(&member.value) {
                        continue;
                    }
                    if let Some(new) = self.changed_by_itself(&member.value)? {
                        let member = Member { key_origin: member.key_origin, value: new };
                        let changed = changed.get_or_insert_with(|| (**hash).clone());
                        changed.insert(key.clone(), member);
                    }
                }
                Ok(changed.map(|hash| Value::hash(hash, from)))
            }
            Data::Array(_) if self.options.overwrite_arrays => Ok(None),
            Data::Array(items) if self.keeps_as_it_is(items) => Ok(None),
            // Option `unpack_arrays` joins and splits the list, which makes two lists of it.
            Data::Array(_) if self.options.unpack_arrays.is_some() => {
                self.merge_with_copy(value.clone()).map(Some)
            }
            Data::Array(items) => {
                let mut items = items.to_vec();
                if self.holds_bare_prefix(&items) {
                    items.clear();
                }
                if self.options.knockout_prefix.is_some() {
                    self.knock_out_shared(&mut items)?;
                }
                let merged = if self.merges_hashes(&items, &items) {
                    self.merge_each_with_itself(items)?
                } else {
                    order::without_duplicates(items)
                };
                Ok(Some(Value::new_array(self.sort_items(merged)?, from)))
            }
            Data::Null | Data::Bool(false) => Ok(None),
            _ if self.options.preserve_unmergeables || self.options.knockout_prefix.is_none() => {
                Ok(None)
            }
            _ => self.blank_marker(value.clone()).map(Some),
        }
    }

    /// Returns whether a list that is merged with itself does not change, as far as is seen at a
    /// glance.
    fn keeps_as_it_is(&self, items: &[Value]) -> bool {
        let options = self.options;
        let is_plain = options.knockout_prefix.is_none() && options.unpack_arrays.is_none();
        is_plain
            && !options.sort_merged_arrays
            && !options.merge_hash_arrays
            && order::are_few_and_distinct(items)
    }

    fn merge_hashes(&self, higher: &Hash, mut lower: Hash) -> Result<Hash, MergeError> {
        for (key, new) in higher {
            if self.cancel.is_cancelled() {
                return Err(MergeError::Cancelled);
            }
            match lower.get_mut(key) {
                Some(old) if !is_falsy(&old.value) => {
                    if !changes_nothing(&new.value) {
                        old.key_origin = new.key_origin;
                    }
                    let lower_value = std::mem::replace(&mut old.value, Value::new_null(None));
                    old.value = self.merge(new.value.clone(), lower_value)?;
                }
                _ => {
                    let value = self.merge_with_copy(new.value.clone())?;
                    lower.insert(key.clone(), new_member(new.key_origin, value));
                }
            }
        }
        Ok(lower)
    }

    // Ruby makes the higher hash the target at the first entry of that hash. Thus Ruby merges each
    // further entry with itself.
    fn replacing_hash(&self, mut higher: Hash) -> Result<Hash, MergeError> {
        for (_, member) in higher.iter_mut().skip(1) {
            self.update_with_itself(&mut member.value)?;
        }
        Ok(higher)
    }

    fn update_with_itself(&self, value: &mut Value) -> Result<(), MergeError> {
        if !is_falsy(value) {
            let old = std::mem::replace(value, Value::new_null(None));
            *value = self.merge_with_itself(old)?;
        }
        Ok(())
    }

    fn merge_arrays(
        &self,
        higher: Vec<Value>,
        lower: Vec<Value>,
    ) -> Result<Vec<Value>, MergeError> {
        let (mut higher, mut lower) = (self.unpack_items(higher), self.unpack_items(lower));
        self.knock_out(&mut higher, &mut lower)?;
        if !self.merges_hashes(&higher, &lower) {
            return self.sort_items(merge_unique(lower, higher));
        }
        let mut merged = Vec::with_capacity(higher.len().max(lower.len()));
        let mut higher = higher.into_iter();
        for lower in lower {
            merged.push(match higher.next() {
                Some(higher) => self.merge(higher, lower)?,
                None => lower,
            });
        }
        merged.extend(higher);
        self.sort_items(merged)
    }

    fn merges_hashes(&self, higher: &[Value], lower: &[Value]) -> bool {
        self.options.merge_hash_arrays
            && higher.iter().chain(lower).all(|item| matches!(item.data(), Data::Hash(_)))
    }

    fn merge_each_with_itself(&self, items: Vec<Value>) -> Result<Vec<Value>, MergeError> {
        items.into_iter().map(|item| self.merge_with_itself(item)).collect()
    }

    fn sort_items(&self, items: Vec<Value>) -> Result<Vec<Value>, MergeError> {
        if self.options.sort_merged_arrays { order::sort(items) } else { Ok(items) }
    }

    /// Lets the markers of `higher` act on `lower` and removes them, where both are lists of their
    /// own.
    fn knock_out(&self, higher: &mut Vec<Value>, lower: &mut Vec<Value>) -> Result<(), MergeError> {
        if self.options.knockout_prefix.is_none() {
            return Ok(());
        }
        if self.holds_bare_prefix(higher) {
            lower.clear();
            higher.retain(|item| !self.is_bare_prefix(item));
        }
        let mut knocked_out: HashSet<Arc<str>> = HashSet::new();
        let mut kept = Vec::with_capacity(higher.len());
        for item in higher.drain(..) {
            match self.find_marker(&item)? {
                Some(marker) => knocked_out.extend([marker.text, marker.target]),
                None if is_nan(&item) => lower.retain(|item| !is_nan(item)),
                None => kept.push(item),
            }
        }
        *higher = kept;
        if !knocked_out.is_empty() {
            lower.retain(|item| item.as_str().is_none_or(|text| !knocked_out.contains(text)));
        }
        Ok(())
    }

    /// Applies the knockouts of a list to the list itself: elements are removed while Ruby's
    /// `delete_if` iterates over them, and others with them.
    fn knock_out_shared(&self, items: &mut Vec<Value>) -> Result<(), MergeError> {
        let (mut read, mut write) = (0, 0);
        while read < items.len() {
            match self.find_marker(&items[read])? {
                Some(marker) => {
                    items.retain(|item| {
                        item.as_str()
                            .is_none_or(|text| *text != *marker.text && *text != *marker.target)
                    });
                }
                None if is_nan(&items[read]) => items.retain(|item| !is_nan(item)),
                None => {
                    items[write] = items[read].clone();
                    write += 1;
                }
            }
            read += 1;
        }
        if write < items.len() && write < read {
            items.drain(write..read.min(items.len()));
        }
        Ok(())
    }

    /// Returns the rest of a list that takes the place of something else: the elements that are no
    /// markers.
    fn replacing_array(&self, items: Vec<Value>) -> Result<Vec<Value>, MergeError> {
        if self.options.knockout_prefix.is_none() {
            return Ok(items);
        }
        let mut kept = Vec::with_capacity(items.len());
        for item in items {
            match item.as_str() {
                Some(text) if self.knockout_rule()?.is_match(text) => {}
                _ => kept.push(item),
            }
        }
        Ok(kept)
    }

    /// A scalar that takes the place of something else: a marker leaves an empty string.
    fn blank_marker(&self, scalar: Value) -> Result<Value, MergeError> {
        let marked = self.options.knockout_prefix.is_some()
            && (is_nan(&scalar) || self.find_marker(&scalar)?.is_some());
        Ok(if marked { Value::new_string("", scalar.provenance()) } else { scalar })
    }

    /// Returns the marker that a value is, if it is one.
    fn find_marker(&self, value: &Value) -> Result<Option<Marker>, MergeError> {
        let Data::String(text) = value.data() else { return Ok(None) };
        let target = self.knockout_rule()?.strip_prefix(text);
        Ok(target.map(|target| Marker { text: text.clone(), target: target.into() }))
    }

    fn holds_bare_prefix(&self, items: &[Value]) -> bool {
        self.options.knockout_prefix.is_some() && items.iter().any(|item| self.is_bare_prefix(item))
    }

    fn is_bare_prefix(&self, value: &Value) -> bool {
        value.as_str().is_some_and(|text| self.options.knockout_prefix.as_deref() == Some(text))
    }

    // Ruby compiles the expression for the first string that it is matched with: a bad prefix fails
    // only then.
    fn knockout_rule(&self) -> Result<&Knockout, MergeError> {
        let prefix = self.options.knockout_prefix.as_deref().unwrap_or_default();
        self.knockout.get_or_init(|| Knockout::new(prefix)).as_ref().map_err(MergeError::clone)
    }

    /// Returns the list joined and split again, where option `unpack_arrays` asks for it. Each part
    /// may hold text of any element, so that all are secret if one is.
    fn unpack_items(&self, items: Vec<Value>) -> Vec<Value> {
        let Some(separator) = self.options.unpack_arrays.as_deref() else { return items };
        let mut texts = Vec::new();
        join_texts(&items, &mut texts);
        let joined = texts.join(separator);
        let mut parts: Vec<&str> = match separator {
            " " => joined.split_ascii_whitespace().collect(),
            "" => joined.char_indices().map(|(at, c)| &joined[at..at + c.len_utf8()]).collect(),
            separator => joined.split(separator).collect(),
        };
        while parts.last().is_some_and(|part| part.is_empty()) {
            parts.pop();
        }
        let from = Provenance::of_all(&items);
        let origin_of = |n: usize| {
            if items.len() == parts.len() {
                items[n].origin
            } else {
                from.origin().or_else(|| items.get(n)?.origin)
            }
        };
        parts
            .iter()
            .enumerate()
            .map(|(n, part)| Value::new_string(part, from.with_origin(origin_of(n))))
            .collect()
    }
}

impl Knockout {
    fn new(prefix: &str) -> Result<Knockout, MergeError> {
        if !prefix
            .contains(['.', '*', '?', '+', '^', '$', '|', '\\', '(', ')', '[', ']', '{', '}', '\n'])
        {
            return Ok(Knockout::Literal(prefix.into()));
        }
        if prefix.chars().rev().take_while(|c| *c == '\\').count() % 2 == 1 {
            return Err(MergeError::BadKnockout { message: "too short escape sequence".into() });
        }
        match RubyRegex::new(&format!("^{prefix}")) {
            Ok(regex) => Ok(Knockout::Regex(Box::new(regex))),
            Err(error) => Err(MergeError::BadKnockout { message: error.message }),
        }
    }

    fn is_match(&self, text: &str) -> bool {
        match self {
            Knockout::Literal(prefix) => text.split('\n').any(|line| line.starts_with(&**prefix)),
            // An expression with which the engine gives up knocks nothing out.
            Knockout::Regex(regex) => regex.is_match(text) == Some(true),
        }
    }

    /// Returns the text without the prefix at the start of each line; `None` when that is the text
    /// itself.
    fn strip_prefix(&self, text: &str) -> Option<String> {
        if !self.is_match(text) {
            return None;
        }
        match self {
            Knockout::Literal(prefix) => {
                let lines: Vec<&str> = text
                    .split('\n')
                    .map(|line| line.strip_prefix(&**prefix).unwrap_or(line))
                    .collect();
                Some(lines.join("\n"))
            }
            Knockout::Regex(regex) => {
                regex.without_matches(text).filter(|stripped| stripped != text)
            }
        }
    }
}

/// Returns whether the value is not a number: the gem asks whether a value differs from itself
/// without the prefix, which such a value does, so that it knocks itself out.
fn is_nan(value: &Value) -> bool {
    matches!(value.data(), Data::Float(value) if value.is_nan())
}

/// Returns whether Ruby takes a value for absent: null or false.
fn is_falsy(value: &Value) -> bool {
    matches!(value.data(), Data::Null | Data::Bool(false))
}

/// Returns whether merging this value over any other leaves the other as it is.
fn changes_nothing(value: &Value) -> bool {
    matches!(value.data(), Data::Null) || value.as_hash().is_some_and(Hash::is_empty)
}

fn merge_unique(lower: Vec<Value>, higher: Vec<Value>) -> Vec<Value> {
    let mut all = lower;
    all.extend(higher);
    order::without_duplicates(all)
}

fn append_items(
    list: Arc<Vec<Value>>,
    more: impl Iterator<Item = Value>,
    from: Provenance,
) -> Value {
    let mut list = Arc::unwrap_or_clone(list);
    list.extend(more);
    Value::new_array(list, from)
}

fn join_texts(items: &[Value], into: &mut Vec<String>) {
    for item in items {
        match item.data() {
            Data::Array(nested) if nested.is_empty() => into.push(String::new()),
            Data::Array(nested) => join_texts(nested, into),
            _ => into.push(item.to_text().into_owned()),
        }
    }
}
