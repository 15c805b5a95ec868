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
    /// The file whose text it is, or whose place it takes.
    pub(super) from: FilePath,
    /// The values that differ, in words; `None` where it has that of all nodes.
    pub(super) remark: Option<String>,
}

impl RefactorContext<'_> {
    /// Returns the entry with the present value of nodes: the text of the only place that has the
    /// value for all of them, tokens and comments included; the effective value where it is merged
    /// and the same for all; and else the text at the cursor.
    ///
    /// Errors: the reason why no text can be repeated.
    pub(super) fn entry_text(
        &self,
        key: &str,
        nodes: &[usize],
        answers: &Answers,
    ) -> Result<Written, &'static str> {
        let mut groups: Vec<usize> =
            nodes.iter().filter_map(|node| answers.group_of(*node)).collect();
        groups.sort_unstable();
        groups.dedup();
        let found: Vec<&Resolution> =
            groups.iter().map(|group| &answers.groups[*group].resolution).collect();
        let only_place = only_place(&found);
        if let Some(path) = only_place
            && let Some(text) = self.text_at(path, key)
        {
            return Ok(Written { text, from: path.clone(), remark: None });
        }
        let values: Vec<Option<&Value>> = found.iter().map(|it| present_value(it)).collect();
        let is_same = values.windows(2).all(|two| two[0] == two[1]);
        let own = self.wanted.path.clone();
        if is_same && let Some(Some(value)) = values.first() {
            if found.iter().any(|it| it.is_secret()) || value.holds_secret() {
                return Err(secrets::REASON);
            }
            let from = only_place.cloned().unwrap_or(own);
            let text = self.rendered_entry(key, value).ok_or(ANCHORED)?;
            return Ok(Written { text, from, remark: None });
        }
        let text = self.text_at(&own, key).ok_or(ANCHORED)?;
        let remark = match (is_same, only_place.is_some_and(|path| *path == own)) {
            (_, true) => None,
            (true, _) => Some("there is no value now".to_owned()),
            _ => {
                let place = self.short_path(&own);
                let values = count_phrase(distinct_count(&values), "value");
                Some(format!("the nodes have {values} now; the entry has that of {place}"))
            }
        };
        Ok(Written { text, from: own, remark })
    }

    /// Returns the text of an entry of a file; `None` where it means nothing in another file.
    fn text_at(&self, path: &FilePath, key: &str) -> Option<String> {
        let other;
        let document = match path == self.wanted.path {
            true => &self.document,
            false => {
                other = self.snapshot.file(path)?.document()?;
                &other
            }
        };
        let entry = document.find_entry(key)?;
        let is_whole = !document.has_anchors(entry) && document.find_entry("sops").is_none();
        is_whole.then(|| document.text_of(entry))
    }

    /// Returns an entry with an effective value, in which no token is left; `None` for a value that
    /// YAML has no text for.
    fn rendered_entry(&self, key: &str, value: &Value) -> Option<String> {
        let entry = self.document.find_entry(key)?;
        let name = &self.document.text[self.document.tree.node(entry.key).span.as_usize()];
        let text = value::render_value(&without_tokens(value)?, 2);
        Some(format!("{name}:{text}\n"))
    }
}

/// Returns the only place that has the value in all of these answers; `None` where they have several
/// places, or none that is a file.
fn only_place<'r>(found: &[&'r Resolution]) -> Option<&'r FilePath> {
    let mut places = found.iter().map(|resolution| {
        let mut with_key = resolution.steps.iter().filter_map(|step| match &step.outcome {
            Outcome::Found { path, .. } => Some(Some(path)),
            Outcome::Answered { .. } => Some(None),
            _ => None,
        });
        let first = with_key.next().flatten();
        first.filter(|_| with_key.next().is_none())
    });
    let first = places.next()??;
    places.all(|place| place == Some(first)).then_some(first)
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
