//! Answers of nodes without their places, so that those of two snapshots can be compared.

use std::sync::Arc;

use super::ComparedSide;
use super::shadowed::FirstFound;
use crate::hiera::pattern::Bindings;
use crate::hiera::resolution::Resolution;
use crate::puppet::value::{Data, Hash, Key, Value};
use crate::text::FilePath;

/// The beginning of a token, which stays in a text where its variable is unknown.
const TOKEN: &str = "%{";
/// The beginning of a text that may become a value of any type.
const ALIAS: &str = "%{alias";

/// The answers of nodes.
#[derive(Debug, Default)]
pub(super) struct NodeAnswers {
    all: Vec<ComparedAnswer>,
    /// The number of the answer of each node; [`UNKNOWN`] as far as it is not known.
    of: Vec<u32>,
}

/// The number in place of that of an answer that is not known.
const UNKNOWN: u32 = u32::MAX;

impl NodeAnswers {
    /// Whether the answer of a node is known.
    pub(super) fn has(&self, node: usize) -> bool {
        self.number(node).is_some()
    }

    /// Adds the answer that these nodes have in common.
    pub(super) fn add(&mut self, nodes: impl IntoIterator<Item = usize>, answer: ComparedAnswer) {
        let number = self.all.len() as u32;
        for node in nodes {
            self.of.resize(self.of.len().max(node + 1), UNKNOWN);
            self.of[node] = number;
        }
        self.all.push(answer);
    }

    /// Returns the number of answers.
    pub(super) fn count(&self) -> usize {
        self.all.len()
    }

    /// Returns how many bytes the answers take, about: a value shares most of its parts with the
    /// data.
    pub(super) fn bytes(&self) -> usize {
        /// The bytes of a lookup without its steps: names, dependencies, a small value.
        const LOOKUP: usize = 2048;
        self.of.len() * size_of::<u32>() + self.all.len() * LOOKUP
    }

    /// Returns answers of so many nodes, all unknown.
    #[cfg(test)]
    pub(super) fn with_nodes(count: usize) -> NodeAnswers {
        NodeAnswers { all: Vec::new(), of: vec![UNKNOWN; count] }
    }

    /// Returns the number of the answer of a node.
    pub(super) fn number(&self, node: usize) -> Option<usize> {
        self.of.get(node).filter(|number| **number != UNKNOWN).map(|number| *number as usize)
    }

    /// Returns the answer of a number.
    pub(super) fn answer(&self, number: usize) -> &ComparedAnswer {
        &self.all[number]
    }
}

/// An answer without its places.
#[derive(Debug)]
pub(super) struct ComparedAnswer {
    /// The value. All errors are equal, as their messages name places.
    value: Result<Option<Value>, ()>,
    conversions: usize,
    /// The files that may change the value under conditions that are unknown. A file that itself
    /// changes is looked up in the scope of its own path.
    unsettled: Vec<(Arc<str>, Bindings, FilePath)>,
    /// Whether tokens of unknown variables stand in the value.
    has_unknown: bool,
    /// Where the lookup ended, if it ends at the first value.
    pub(super) found: Option<FirstFound>,
    /// The lookup, for callers that show it.
    pub(super) lookup: Option<Arc<Resolution>>,
}

impl ComparedAnswer {
    /// Creates the answer of a lookup on one side, without some files that the node may read or not.
    pub(super) fn new(
        resolution: &Resolution,
        side: ComparedSide<'_>,
        without: &[&FilePath],
    ) -> ComparedAnswer {
        let view = side.snapshot.view(side.environment);
        let value = resolution.value.clone().map_err(|_| ());
        let unsettled = || resolution.unsettled.iter().filter(|one| !without.contains(&&one.path));
        // Whichever of the unsettled files a node reads, it finds the same value.
        let is_settled = resolution.merge.stops_at_first()
            && unsettled().all(|one| {
                let data =
                    view.data_of(&one.path).filter(|_| *one.key == *resolution.key.root_text());
                let other = data.as_ref().and_then(|data| data.get(&one.key)).map(|it| &it.value);
                other.is_some() && other == value.as_ref().ok().and_then(Option::as_ref)
            });
        let unsettled = unsettled().filter(|_| !is_settled);
        let unsettled =
            unsettled.map(|one| (one.key.clone(), one.when.clone(), one.path.clone())).collect();
        ComparedAnswer {
            value,
            conversions: resolution.unapplied_conversions.len(),
            unsettled,
            has_unknown: !resolution.reads.unknown.is_empty(),
            found: FirstFound::of_lookup(resolution, side),
            lookup: None,
        }
    }

    /// Returns the answer with its lookup, for callers that show it.
    pub(super) fn with_lookup(self, resolution: Resolution) -> ComparedAnswer {
        ComparedAnswer { lookup: Some(Arc::new(resolution)), ..self }
    }

    /// Whether two answers are the same; `None` where unknown variables decide that.
    pub(super) fn is_same(&self, other: &ComparedAnswer) -> Option<bool> {
        if self.value == other.value && self.conversions == other.conversions {
            return (self.unsettled == other.unsettled).then_some(true);
        }
        if self.value == other.value {
            return Some(false);
        }
        let are_open = self.has_unknown && other.has_unknown;
        let differ = !are_open
            || matches!((&self.value, &other.value), (Ok(one), Ok(other)) if values_differ(one, other));
        differ.then_some(false)
    }
}

/// Whether two values differ whatever the unknown variables are whose tokens stand in them.
fn values_differ(one: &Option<Value>, other: &Option<Value>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => parts_differ(one, other),
        (one, other) => one.is_some() != other.is_some(),
    }
}

fn parts_differ(one: &Value, other: &Value) -> bool {
    match (one.data(), other.data()) {
        (Data::Hash(a), Data::Hash(b)) => {
            a.keys().chain(b.keys()).any(|key| match (a.get(key), b.get(key)) {
                _ if may_become(a, key) || may_become(b, key) => false,
                (Some(one), Some(other)) => parts_differ(&one.value, &other.value),
                _ => true,
            })
        }
        (Data::String(a), Data::String(b)) => texts_differ(a, b),
        // Elements of lists may be united, and an alias may become anything.
        _ => one != other && !has_token(one) && !has_token(other),
    }
}

/// Whether a key with a token in it may become this key, or is it.
fn may_become(hash: &Hash, key: &Key) -> bool {
    let text = key.to_text();
    hash.keys().any(|other| {
        let other = other.to_text();
        other.contains(TOKEN) && !texts_differ(&other, &text)
    })
}

/// Whether two texts differ whatever the tokens in them become: before their first token, or behind
/// their last one.
fn texts_differ(one: &str, other: &str) -> bool {
    let ends = |text: &str| match (text.find(TOKEN), text.rfind('}')) {
        (Some(start), Some(end)) if start < end => Some((start, end + 1)),
        _ => None,
    };
    if one.starts_with(ALIAS) || other.starts_with(ALIAS) {
        return false;
    }
    let whole = |text: &str| (text.len(), 0);
    let (a, b) = (ends(one), ends(other));
    if a.is_none() && b.is_none() {
        return one != other;
    }
    let ((a_start, a_end), (b_start, b_end)) =
        (a.unwrap_or_else(|| whole(one)), b.unwrap_or_else(|| whole(other)));
    let start = a_start.min(b_start);
    let end = (one.len() - a_end).min(other.len() - b_end);
    one.as_bytes()[..start] != other.as_bytes()[..start]
        || one.as_bytes()[one.len() - end..] != other.as_bytes()[other.len() - end..]
}

fn has_token(value: &Value) -> bool {
    match value.data() {
        Data::String(text) => text.contains(TOKEN),
        Data::Array(items) => items.iter().any(has_token),
        Data::Hash(hash) => hash
            .iter()
            .any(|(key, member)| key.to_text().contains(TOKEN) || has_token(&member.value)),
        Data::Sensitive(inner) => has_token(inner),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::puppet::value::Value;
    use crate::workspace::nodes::from_json;

    fn value(json: &str) -> Option<Value> {
        Some(from_json(&serde_json::from_str(json).expect("it is JSON")))
    }

    #[test]
    fn values_with_tokens_differ_where_no_variable_makes_them_equal() {
        for (one, other) in [
            (r#""a%{x}""#, r#""b%{x}""#),
            (r#""%{x}a""#, r#""%{x}b""#),
            (r#""a%{x}b""#, r#""ac""#),
            (r#"{"k": "%{x}"}"#, r#"{"k": "%{x}", "l": 1}"#),
            (r#"{"k": "%{x}", "l": 1}"#, r#"{"k": "%{x}", "l": 2}"#),
            (r#"{"k": {"a": "%{x}.a"}}"#, r#"{"k": {"a": "%{x}.b"}}"#),
            (r#"{"k%{x}": 1}"#, r#"{"k%{x}": 1, "other": 1}"#),
        ] {
            assert!(values_differ(&value(one), &value(other)), "{one} {other}");
            assert!(values_differ(&value(other), &value(one)), "{other} {one}");
        }
        assert!(values_differ(&value("1"), &None));
    }

    #[test]
    fn values_that_a_variable_may_make_equal_are_not_called_different() {
        for (one, other) in [
            (r#""a%{x}""#, r#""a%{y}""#),
            (r#""a%{x}""#, r#""abc""#),
            (r#""a%{x}b""#, r#""ab""#),
            (r#""%{x}b%{y}""#, r#""cb%{y}""#),
            (r#"["%{x}"]"#, r#"["a", "b"]"#),
            (r#"{"%{x}": 1}"#, r#"{"a": 1}"#),
            (r#""%{alias('a.%{x}')}""#, "1"),
            (r#""%{alias('a.%{x}')}""#, r#""b""#),
        ] {
            assert!(!values_differ(&value(one), &value(other)), "{one} {other}");
            assert!(!values_differ(&value(other), &value(one)), "{other} {one}");
        }
        assert!(!values_differ(&None, &None));
    }
}
