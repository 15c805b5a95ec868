//! The text of an entry that repeats the present value of nodes in another file.

use super::super::{RefactorContext, secrets, value};
use super::subjects::Answers;
use crate::hiera::resolution::{Outcome, Resolution};
use crate::puppet::value::{Data, Hash, Member, Value};
use crate::text::{FilePath, count_phrase};

/// The reason against text that depends on other text of its file.
const ANCHORED: &str = "the value has an anchor or an alias, which means nothing in another file";

/// An entry with the present value.
pub(super) struct Written {
    /// The text, a line break at its end.
    pub(super) text: String,
    /// The files that the text comes from.
    pub(super) from: Vec<FilePath>,
    /// The values that differ, in words; `None` where the entry has the value of all nodes.
    pub(super) remark: Option<String>,
}

impl RefactorContext<'_> {
    /// Returns the entries that may have the present value of nodes, the preferred ones first: the
    /// effective value where it is merged and the same for all; the text of the first place that has
    /// the key, tokens and comments included, where it is the same for all; the text at the cursor.
    ///
    /// Errors: the reason why no text can be repeated.
    pub(super) fn entry_texts(
        &self,
        key: &str,
        nodes: &[usize],
        answers: &Answers,
    ) -> Result<Vec<Written>, &'static str> {
        let found = answers.resolutions_of(nodes);
        if found.iter().any(|it| it.is_secret()) {
            return Err(secrets::REASON);
        }
        let values: Vec<Option<&Value>> = found.iter().map(|it| present_value(it)).collect();
        let is_same = values.windows(2).all(|two| two[0] == two[1]);
        let own = self.wanted.path;
        let first_place = first_place(&found);
        // The values of the keys that a value asks for may come from files of secrets.
        let asks = found.iter().any(|it| it.asked_roots().next().is_some());
        let renders = is_same && !asks;
        let rendered = values.first().copied().flatten().filter(|_| renders).and_then(|value| {
            let text = self.rendered_entry(key, value)?;
            let mut from: Vec<FilePath> =
                found.iter().flat_map(|it| places(it)).flatten().cloned().collect();
            from.sort_unstable();
            from.dedup();
            Some(Written { text, from, remark: None })
        });
        let copied = first_place.and_then(|path| {
            let text = self.text_at(path, key)?;
            Some(Written { text, from: vec![path.clone()], remark: None })
        });
        let is_merged = first_place.is_none() || found.iter().any(|it| places(it).count() > 1);
        let mut texts: Vec<Written> = if is_merged {
            rendered.into_iter().chain(copied).collect()
        } else {
            copied.into_iter().chain(rendered).collect()
        };
        if first_place != Some(own)
            && let Some(text) = self.text_at(own, key)
        {
            let remark = match values.first() {
                Some(None) if found.iter().any(|it| it.value.is_err()) => {
                    "lookups fail now".to_owned()
                }
                Some(None) if is_same => "there is no value now".to_owned(),
                _ => {
                    let values = count_phrase(distinct_count(&values), "value");
                    let place = self.short_path(own);
                    format!("the nodes have {values} now; the entry has that of {place}")
                }
            };
            texts.push(Written { text, from: vec![own.clone()], remark: Some(remark) });
        }
        if texts.is_empty() { Err(ANCHORED) } else { Ok(texts) }
    }

    /// Returns the text of an entry of a file; `None` where it means nothing in another file.
    fn text_at(&self, path: &FilePath, key: &str) -> Option<String> {
        let other;
        let document = if path == self.wanted.path {
            &self.document
        } else {
            other = self.snapshot.file(path)?.document()?;
            &other
        };
        let entry = document.find_entry(key)?;
        let is_whole = !document.has_anchors(entry) && document.find_entry("sops").is_none();
        is_whole.then(|| document.text_of(entry))
    }

    /// Returns an entry with an effective value, in which no token is left; `None` for a value that
    /// YAML has no text for, or that holds a secret.
    fn rendered_entry(&self, key: &str, value: &Value) -> Option<String> {
        let entry = self.document.find_entry(key).filter(|_| !value.holds_secret())?;
        let name = &self.document.text[self.document.tree.node(entry.key).span.as_usize()];
        let text = value::render_value(&without_tokens(value)?, 2);
        Some(format!("{name}:{text}\n"))
    }
}

/// Returns the first place that has the key in all of these answers; `None` where they have other
/// first places, or one that is no file.
fn first_place<'r>(found: &[&'r Resolution]) -> Option<&'r FilePath> {
    let mut places = found.iter().map(|it| places(it).next().flatten());
    let first = places.next()??;
    places.all(|place| place == Some(first)).then_some(first)
}

/// Returns the places that give an answer, in order of priority; `None` for one that is no file.
fn places(resolution: &Resolution) -> impl Iterator<Item = Option<&FilePath>> {
    resolution.steps.iter().filter_map(|step| match &step.outcome {
        Outcome::Found { path, .. } => Some(Some(path)),
        Outcome::Answered { .. } => Some(None),
        _ => None,
    })
}

/// Returns the value of an answer; `None` where there is none, or the lookup fails.
fn present_value(resolution: &Resolution) -> Option<&Value> {
    resolution.value.as_ref().ok()?.as_ref()
}

fn distinct_count(values: &[Option<&Value>]) -> usize {
    let mut distinct: Vec<Option<&Value>> = Vec::new();
    for value in values {
        if !distinct.contains(value) {
            distinct.push(*value);
        }
    }
    distinct.len()
}

/// Returns a value whose strings mean themselves in a data file; `None` where it has data that YAML
/// does not have, or text that may be encrypted.
fn without_tokens(value: &Value) -> Option<Value> {
    let from = value.provenance();
    match value.data() {
        Data::String(text) if secrets::is_encrypted(text) => None,
        Data::String(text) => {
            Some(Value::new_string(&text.replace("%{", "%{literal('%')}{"), from))
        }
        Data::Array(items) => {
            let items: Option<Vec<Value>> = items.iter().map(without_tokens).collect();
            Some(Value::new_array(items?, from))
        }
        Data::Hash(hash) => {
            let mut plain = Hash::default();
            for (key, member) in hash.iter() {
                if key.is_live() || key.as_str().is_none() {
                    return None;
                }
                let value = without_tokens(&member.value)?;
                plain.insert(key.clone(), Member { key_origin: member.key_origin, value });
            }
            Some(Value::hash(plain, from))
        }
        Data::Null | Data::Bool(_) | Data::Integer(_) | Data::BigInteger(_) | Data::Float(_) => {
            Some(value.clone())
        }
        _ => None,
    }
}
