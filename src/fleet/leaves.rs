//! The parts in which two values differ.

use std::collections::HashMap;
use std::fmt::Write as _;

use crate::puppet::value::{Data, Hash, Key, Value};

/// A step from a value to one of its parts.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum PathStep {
    /// The member of a hash.
    Member(Key),
    /// The element of a list, counted from 0: in the list after the change, or in the list before
    /// it for an element that only that list has.
    Element(usize),
}

/// A part in which two values differ; one side is `None` where only the other one has the part.
/// Both sides of a part of no further parts differ as a whole.
#[derive(Clone, Debug)]
pub struct LeafDifference<'v> {
    /// The steps to the part; empty for the whole values.
    pub path: Vec<PathStep>,
    /// The part before.
    pub before: Option<&'v Value>,
    /// The part after.
    pub after: Option<&'v Value>,
}

/// Returns the path as people write it: `a.b[2]`, with quotes around a key that holds a dot.
pub fn path_text(path: &[PathStep]) -> String {
    let mut text = String::new();
    for step in path {
        match step {
            PathStep::Member(key) => {
                let key = key.to_text();
                text.push_str(if text.is_empty() { "" } else { "." });
                if key.contains(['.', '\'', '"', '[', ' ']) || key.is_empty() {
                    write!(text, "'{key}'").expect("writing to a string")
                } else {
                    text.push_str(&key)
                }
            }
            PathStep::Element(number) => {
                write!(text, "[{number}]").expect("writing to a string");
            }
        }
    }
    text
}

/// Returns the parts in which two values differ, in the order of the value after the change; empty
/// for equal values. The order of a hash's members does not count, as in Puppet.
pub fn leaf_differences<'v>(before: &'v Value, after: &'v Value) -> Vec<LeafDifference<'v>> {
    let mut found = Vec::new();
    compare_parts(before, after, &mut Vec::new(), &mut found);
    found
}

/// Whether two equal values have the members of all their hashes in the same order.
pub fn is_same_order(one: &Value, other: &Value) -> bool {
    have_alike_parts(one, other, &|_, _| true)
}

/// Whether two equal values have the members of all their hashes in the same order, and `is_alike` is
/// true of each part of one and the same part of the other.
pub(super) fn have_alike_parts(
    one: &Value,
    other: &Value,
    is_alike: &dyn Fn(&Value, &Value) -> bool,
) -> bool {
    is_alike(one, other)
        && match (one.data(), other.data()) {
            (Data::Hash(a), Data::Hash(b)) => {
                a.len() == b.len()
                    && a.iter().zip(b.iter()).all(|(one, other)| {
                        one.0 == other.0 && have_alike_parts(&one.1.value, &other.1.value, is_alike)
                    })
            }
            (Data::Array(a), Data::Array(b)) => {
                a.len() == b.len()
                    && a.iter().zip(b.iter()).all(|(a, b)| have_alike_parts(a, b, is_alike))
            }
            _ => true,
        }
}

fn compare_parts<'v>(
    before: &'v Value,
    after: &'v Value,
    path: &mut Vec<PathStep>,
    found: &mut Vec<LeafDifference<'v>>,
) {
    if before == after {
        return;
    }
    match (before.data(), after.data()) {
        (Data::Hash(a), Data::Hash(b)) if !a.is_empty() && !b.is_empty() => {
            compare_hashes(a, b, path, found);
        }
        (Data::Array(a), Data::Array(b)) if !a.is_empty() && !b.is_empty() => {
            compare_lists(a, b, path, found);
        }
        _ => found.push(LeafDifference {
            path: path.clone(),
            before: Some(before),
            after: Some(after),
        }),
    }
}

fn compare_hashes<'v>(
    before: &'v Hash,
    after: &'v Hash,
    path: &mut Vec<PathStep>,
    found: &mut Vec<LeafDifference<'v>>,
) {
    let gone = before.iter().filter(|(key, _)| !after.contains_key(*key));
    let gone: Vec<_> = gone.map(|(key, member)| (key, Some(&member.value), None)).collect();
    let kept = after.iter().map(|(key, member)| {
        (key, before.get(key).map(|before| &before.value), Some(&member.value))
    });
    for (key, before, after) in kept.chain(gone) {
        path.push(PathStep::Member(key.clone()));
        match (before, after) {
            (Some(before), Some(after)) => compare_parts(before, after, path, found),
            (before, after) => found.push(LeafDifference { path: path.clone(), before, after }),
        }
        path.pop();
    }
}

/// Compares two lists: where the part between the common beginning and the common end is as long in
/// both, element by element; else each element that only one list has is a difference. Lists with
/// the same elements in another order differ as a whole.
fn compare_lists<'v>(
    before: &'v [Value],
    after: &'v [Value],
    path: &mut Vec<PathStep>,
    found: &mut Vec<LeafDifference<'v>>,
) {
    let start = before.iter().zip(after).take_while(|(a, b)| a == b).count();
    let rest = before.len().min(after.len()) - start;
    let ends = before.iter().rev().zip(after.iter().rev()).take(rest);
    let end = ends.take_while(|(a, b)| a == b).count();
    let (old, new) = (&before[start..before.len() - end], &after[start..after.len() - end]);
    if old.len() == new.len() && !holds_same(old, new) {
        for (number, (before, after)) in old.iter().zip(new).enumerate() {
            path.push(PathStep::Element(start + number));
            compare_parts(before, after, path, found);
            path.pop();
        }
        return;
    }
    let (mut in_old, mut in_new) = (counts(old), counts(new));
    let gone = old.iter().enumerate().filter(|(_, value)| !takes_one(&mut in_new, value));
    let gone: Vec<_> = gone.map(|(at, value)| (start + at, Some(value), None)).collect();
    let come = new.iter().enumerate().filter(|(_, value)| !takes_one(&mut in_old, value));
    let come: Vec<_> = come.map(|(at, value)| (start + at, None, Some(value))).collect();
    if gone.is_empty() && come.is_empty() {
        for (number, (before, after)) in old.iter().zip(new).enumerate() {
            if before != after {
                path.push(PathStep::Element(start + number));
                let (before, after) = (Some(before), Some(after));
                found.push(LeafDifference { path: path.clone(), before, after });
                path.pop();
            }
        }
    }
    for (number, before, after) in gone.into_iter().chain(come) {
        path.push(PathStep::Element(number));
        found.push(LeafDifference { path: path.clone(), before, after });
        path.pop();
    }
}

/// Whether both lists hold the same elements as often, in any order.
fn holds_same(one: &[Value], other: &[Value]) -> bool {
    one.len() == other.len() && counts(one) == counts(other)
}

/// Returns how often each value is in a list.
fn counts(list: &[Value]) -> HashMap<&Value, usize> {
    let mut counts = HashMap::new();
    list.iter().for_each(|value| *counts.entry(value).or_default() += 1);
    counts
}

/// Takes one of the values that are left; `false` where none is.
fn takes_one(left: &mut HashMap<&Value, usize>, value: &Value) -> bool {
    match left.get_mut(value) {
        Some(count) if *count > 0 => {
            *count -= 1;
            true
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::puppet::print::{PrintOptions, print_inline};
    use crate::workspace::nodes::from_json;

    fn value(json: &str) -> Value {
        from_json(&serde_json::from_str(json).expect("it is JSON"))
    }

    fn differences(before: &str, after: &str) -> Vec<String> {
        let (before, after) = (value(before), value(after));
        let text = |value: Option<&Value>| {
            value.map_or("-".to_owned(), |value| print_inline(value, &PrintOptions::default()))
        };
        let found = leaf_differences(&before, &after);
        let line = |one: &LeafDifference<'_>| {
            format!("{}: {} -> {}", path_text(&one.path), text(one.before), text(one.after))
        };
        found.iter().map(line).collect()
    }

    #[test]
    fn only_the_parts_that_differ_are_named() {
        assert_eq!(
            differences(
                r#"{"a": 1, "b": {"c": "x", "d.e": [1]}, "gone": 0}"#,
                r#"{"b": {"d.e": [2], "c": "x"}, "a": 1, "new": {"k": 1}}"#
            ),
            ["b.'d.e'[0]: 1 -> 2", "new: - -> {k: 1}", "gone: 0 -> -"]
        );
        assert_eq!(differences("4", "\"4\""), [": 4 -> '4'"]);
        assert_eq!(differences(r#"{"a": 1}"#, r#"{"a": 1}"#), Vec::<String>::new());
    }

    #[test]
    fn elements_that_come_go_or_move_are_told_apart() {
        assert_eq!(differences("[1, 2, 3, 4]", "[1, 3, 4]"), ["[1]: 2 -> -"]);
        assert_eq!(differences("[1, 4]", "[1, 2, 3, 4]"), ["[1]: - -> 2", "[2]: - -> 3"]);
        assert_eq!(differences("[1, 2, 3]", "[1, 9, 3]"), ["[1]: 2 -> 9"]);
        assert_eq!(differences("[1, 2, 3]", "[3, 2, 1]"), ["[0]: 1 -> 3", "[2]: 3 -> 1"]);
        assert_eq!(differences("[1]", "[]"), [": [1] -> []"]);
    }

    #[test]
    fn the_order_of_members_is_told_apart_from_their_values() {
        let (one, other) = (value(r#"[{"a": 1, "b": 2}]"#), value(r#"[{"b": 2, "a": 1}]"#));
        assert!(one == other && !is_same_order(&one, &other) && is_same_order(&one, &one));
    }
}
