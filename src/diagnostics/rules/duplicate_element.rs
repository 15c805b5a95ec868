//! `duplicate-element`

use foldhash::HashSet;

use crate::diagnostics::rule::{
    Check, Dependence, EntryContext, Finding, Needs, Rule, RuleGroup, Severity,
};
use crate::hiera::lookup::LOOKUP_OPTIONS;
use crate::puppet::value::{Data, Value};
use crate::text::Span;

/// The rule.
pub(crate) static RULE: Rule = Rule {
    code: "duplicate-element",
    severity: Severity::Hint,
    group: RuleGroup::Style,
    tag: None,
    summary: "a word that stands twice in a list",
    docs: include_str!("duplicate_element.md"),
    depends_on: Dependence::Keys,
    needs: Needs::Index,
    check: Check::Entry(check),
};

fn check(context: &EntryContext<'_>, findings: &mut Vec<Finding>) {
    for (key, member) in context.root_members() {
        let Some(key) = key.as_str().filter(|key| *key != LOOKUP_OPTIONS) else { continue };
        let mut duplicates = Vec::new();
        find_duplicates(&member.value, &mut duplicates);
        if duplicates.is_empty() || context.file.snapshot.may_be_sensitive(key) {
            continue;
        }
        for (word, span, first) in duplicates {
            let message = format!("'{word}' stands in this list already");
            findings
                .push(Finding::new(&RULE, span, message).with_related(first, "it is here, too"));
        }
    }
}

/// Adds the words that stand twice in a list of plain words, each with its places.
fn find_duplicates<'v>(value: &'v Value, found: &mut Vec<(&'v str, Span, Option<Span>)>) {
    match value.data() {
        Data::Array(items) => {
            let words: Option<Vec<&str>> = items.iter().map(plain_word).collect();
            let Some(words) = words else {
                return items.iter().for_each(|item| find_duplicates(item, found));
            };
            let mut seen = HashSet::default();
            for (word, item) in words.iter().zip(items.iter()) {
                let Some(span) = item.origin.filter(|_| !seen.insert(*word)) else { continue };
                let first = words.iter().position(|one| one == word);
                found.push((*word, span, first.and_then(|first| items[first].origin)));
            }
        }
        Data::Hash(hash) => {
            // Lists of the same length beside each other may belong together, element by element.
            let lengths: Vec<usize> = hash
                .values()
                .filter_map(|member| match member.value.data() {
                    Data::Array(items) => Some(items.len()),
                    _ => None,
                })
                .collect();
            for member in hash.values() {
                let is_parallel = matches!(member.value.data(), Data::Array(items)
                    if lengths.iter().filter(|length| **length == items.len()).count() > 1);
                if !is_parallel {
                    find_duplicates(&member.value, found);
                }
            }
        }
        _ => {}
    }
}

/// Returns a text that names something: it has no blank, no token, and is no option of a command.
fn plain_word(value: &Value) -> Option<&str> {
    let word = value.as_str().filter(|_| !value.is_live())?;
    let is_plain = !word.is_empty()
        && !word.starts_with(['-', '+'])
        && !word.chars().any(char::is_whitespace)
        && word.chars().any(char::is_alphabetic);
    is_plain.then_some(word)
}
