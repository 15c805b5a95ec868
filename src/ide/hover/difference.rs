//! How a long value of some nodes differs from the value that is shown in full above it: the parts
//! of a hash, or the elements of a list.

use std::collections::HashMap;

use super::answer::{ShownPart, cut_text};
use super::{HoverQuestion, HoverWriter};
use crate::hiera::resolution::Resolution;
use crate::ide::cursor::dotted_member;
use crate::ide::value_sources::ValueSource;
use crate::puppet::value::{Data, Hash, Value};
use crate::text::{FilePath, Span, count_phrase};

/// The most parts of one kind, such as those that are added, to name.
const MAX_PARTS: usize = 3;

/// A part in which two values differ.
#[derive(Debug)]
struct DifferingPart<'v> {
    name: Name<'v>,
    /// Where the part is written; `None` for a part that the value does not have.
    place: Option<Span>,
}

#[derive(Debug)]
enum Name<'v> {
    /// The keys that lead to the part, as they are dotted.
    Path(String),
    /// A scalar element of a list.
    Element(&'v Value),
    /// A list or a hash in a list.
    Collection,
}

/// The differences between a value and another one of its kind.
#[derive(Debug, Default)]
struct Difference<'v> {
    other: Vec<DifferingPart<'v>>,
    lacking: Vec<DifferingPart<'v>>,
    added: Vec<DifferingPart<'v>>,
    /// Whether elements that both lists have are in another order.
    is_reordered: bool,
}

impl HoverWriter<'_> {
    /// `differs in a.b; adds d; lacks c ← Role role/web.yaml:12`: how a long value differs from the
    /// one of its kind that `base` is; `the same value` where it does not. `None` where the value is
    /// short, where it and `base` are of different kinds, or where all of `base` is hidden.
    pub(super) fn describe_difference(
        &self,
        base: Option<&ShownPart>,
        shown: &ShownPart,
        resolutions: &[&Resolution],
        asked: &HoverQuestion<'_>,
    ) -> Option<String> {
        let (Some(ShownPart::Value(base)), ShownPart::Value(value)) = (base, shown) else {
            return None;
        };
        if base.is_secret() || value.is_secret() || !self.inline_value(value).ends_with('…') {
            return None;
        }
        if base == value {
            return Some("the same value".to_owned() + &self.other_source(resolutions, asked));
        }
        let difference = match (base.data(), value.data()) {
            (Data::Hash(base), Data::Hash(hash)) => of_hashes(base, hash),
            (Data::Array(base), Data::Array(items)) => of_lists(base, items),
            _ => return None,
        };
        let kinds = [
            ("differs in", &difference.other),
            ("adds", &difference.added),
            ("lacks", &difference.lacking),
        ];
        let kinds = kinds.iter().filter(|(_, parts)| !parts.is_empty());
        let mut kinds: Vec<String> =
            kinds.map(|(verb, parts)| self.describe_parts(verb, parts)).collect();
        if difference.is_reordered {
            let elements = if kinds.is_empty() { "the same elements" } else { "the others" };
            kinds.push(format!("{elements} in another order"));
        }
        if kinds.is_empty() {
            return None;
        }
        let what = kinds.join("; ");
        Some(what + &self.place_of_difference(&difference, resolutions, asked))
    }

    /// Returns `adds x, y and 3 more`, `adds 2 elements`.
    fn describe_parts(&self, verb: &str, parts: &[DifferingPart<'_>]) -> String {
        let names: Option<Vec<String>> = parts
            .iter()
            .take(MAX_PARTS)
            .map(|part| match &part.name {
                Name::Path(path) => Some(
                    self.markup
                        .render_code(&cut_text(&self.print_options().mask_message(path.clone()))),
                ),
                Name::Element(element) => {
                    Some(self.markup.render_code(&self.inline_value(element)))
                }
                Name::Collection => None,
            })
            .collect();
        let Some(names) = names else {
            return format!("{verb} {}", count_phrase(parts.len(), "element"));
        };
        let more = parts.len() - names.len();
        let end = if more == 0 { String::new() } else { format!(" and {more} more") };
        format!("{verb} {}{end}", names.join(", "))
    }

    /// Returns the first place outside of the file of the hover where the difference is written.
    /// Where there is none, the first file of the value.
    fn place_of_difference(
        &self,
        difference: &Difference<'_>,
        resolutions: &[&Resolution],
        asked: &HoverQuestion<'_>,
    ) -> String {
        let mut places: Vec<(&FilePath, Span)> = Vec::new();
        for place in difference.other.iter().chain(&difference.added).filter_map(|it| it.place) {
            let Some(path) = self.snapshot.path_of(place.file) else { continue };
            let is_known = places.iter().any(|(known, _)| *known == path);
            if !is_known && *path != self.subject.path {
                places.push((path, place));
            }
        }
        let Some((path, place)) = places.first() else {
            return self.other_source(resolutions, asked);
        };
        let mut sources = resolutions.iter().flat_map(|it| self.part_sources(it, asked.narrow));
        let written = match sources.find(|source| source.path == **path) {
            Some(source) => self.source_with_path(&ValueSource { place: Some(*place), ..source }),
            None => self.markup.render_place(*place),
        };
        match places.len() {
            1 => format!(" ← {written}"),
            count => format!(" ← {written} and {} more", count - 1),
        }
    }
}

fn of_hashes<'v>(base: &'v Hash, hash: &'v Hash) -> Difference<'v> {
    let mut difference = Difference::default();
    compare(base, hash, "", &mut difference);
    difference
}

/// Records how the members of two hashes below `above` differ. Parts of a hash that is hidden as a
/// whole are not compared, so that no key of it is named.
fn compare(base: &Hash, hash: &Hash, above: &str, difference: &mut Difference<'_>) {
    for (key, member) in hash {
        let path = format!("{above}{}", dotted_member(key));
        let value = &member.value;
        let known = match base.get(key) {
            Some(known) if known.value == *value => continue,
            Some(known) => &known.value,
            None => {
                let place = member.key_origin.or(value.origin);
                difference.added.push(DifferingPart { name: Name::Path(path), place });
                continue;
            }
        };
        let is_hidden = known.is_secret() || value.is_secret();
        match (known.data(), value.data()) {
            (Data::Hash(known), Data::Hash(inner)) if !is_hidden => {
                compare(known, inner, &format!("{path}."), difference);
            }
            _ => {
                let place = place_of_other(known, value).or(member.key_origin);
                difference.other.push(DifferingPart { name: Name::Path(path), place });
            }
        }
    }
    for key in base.keys().filter(|key| !hash.contains_key(*key)) {
        let path = format!("{above}{}", dotted_member(key));
        difference.lacking.push(DifferingPart { name: Name::Path(path), place: None });
    }
}

/// Returns the place where a value differs from another one: of a list, the first element that the
/// other one lacks.
fn place_of_other(known: &Value, value: &Value) -> Option<Span> {
    let (Some(known), Some(items)) = (known.as_array(), value.as_array()) else {
        return value.origin;
    };
    split(items, known).1.first().and_then(|element| element.origin).or(value.origin)
}

fn of_lists<'v>(base: &'v [Value], items: &'v [Value]) -> Difference<'v> {
    let is_flat =
        base.iter().chain(items).all(|it| it.as_array().is_none() && it.as_hash().is_none());
    let part = |element: &'v Value, place| {
        let name = if is_flat { Name::Element(element) } else { Name::Collection };
        DifferingPart { name, place }
    };
    let (kept, added) = split(items, base);
    let (known, lacking) = split(base, items);
    Difference {
        other: Vec::new(),
        lacking: lacking.into_iter().map(|element| part(element, None)).collect(),
        added: added.into_iter().map(|element| part(element, element.origin)).collect(),
        is_reordered: kept != known,
    }
}

/// Returns the elements that others have as well, and those that they do not have, or not as often.
fn split<'v>(items: &'v [Value], others: &[Value]) -> (Vec<&'v Value>, Vec<&'v Value>) {
    let mut left: HashMap<&Value, usize> = HashMap::new();
    for other in others {
        *left.entry(other).or_default() += 1;
    }
    items.iter().partition(|item| match left.get_mut(*item) {
        Some(count) if *count > 0 => {
            *count -= 1;
            true
        }
        _ => false,
    })
}
