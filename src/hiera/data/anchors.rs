//! Anchors that entries of one file share: which parts define each name, and which use it.
//!
//! An alias means the anchor of its name that was last defined above it. A part that is read by
//! itself keeps its anchors with their nodes, and the names that its aliases take from parts above.
//! After an edit, only parts whose aliases mean something else are read again.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use indexmap::{IndexMap, IndexSet};

use super::parts::PartOffset;
use super::{Part, Parts};
use crate::puppet::value::{Data, Value};
use crate::text::{PartId, Span};

/// The anchors of a part that others may use, and those of other parts that it uses.
#[derive(Clone, Debug, Default)]
pub(super) struct PartAnchors {
    /// The last anchor of each name in the part, with the node that it stands for.
    pub(super) defined: IndexMap<Arc<str>, Anchored, foldhash::fast::RandomState>,
    /// The places of the anchors that have a later one of the same name in the part, with their names.
    pub(super) hidden: Vec<(Arc<str>, Span)>,
    /// The names of the part's anchors that its own aliases stand for.
    pub(super) aliased: BTreeSet<Arc<str>>,
    /// The names that the part's aliases take from parts above, each once.
    pub(super) used: IndexSet<Arc<str>, foldhash::fast::RandomState>,
}

/// An anchor and the node that it stands for.
#[derive(Clone, Debug)]
pub(super) struct Anchored {
    /// The place of the anchor itself, from the `&` on.
    pub(super) span: Span,
    /// The value of the anchor's node; `None` where the node was not read.
    pub(super) value: Option<Value>,
    /// The root keys that tokens in the value ask for.
    pub(super) asks: Arc<[Arc<str>]>,
    /// Whether the value may be encrypted.
    pub(super) may_be_encrypted: bool,
}

impl Anchored {
    /// Returns whether an alias of either anchor reads the same, down to the places of its parts.
    fn is_same(&self, other: &Anchored) -> bool {
        self.span == other.span
            && self.may_be_encrypted == other.may_be_encrypted
            && self.asks == other.asks
            && match (&self.value, &other.value) {
                (Some(one), Some(other)) => are_same(one, other),
                (one, other) => one.is_none() && other.is_none(),
            }
    }
}

/// Returns whether two values are equal and were written in the same places.
fn are_same(one: &Value, other: &Value) -> bool {
    one.origin == other.origin
        && match (one.data(), other.data()) {
            (Data::Array(a), Data::Array(b)) => {
                Arc::ptr_eq(a, b)
                    || a.len() == b.len() && a.iter().zip(&**b).all(|(a, b)| are_same(a, b))
            }
            (Data::Hash(a), Data::Hash(b)) => {
                Arc::ptr_eq(a, b)
                    || a.len() == b.len()
                        && a.iter().zip(&**b).all(|((key, member), (other_key, other))| {
                            key == other_key
                                && member.key_origin == other.key_origin
                                && are_same(&member.value, &other.value)
                        })
            }
            _ => one == other,
        }
}

/// The parts of a file that define and use each anchor.
#[derive(Clone, Debug, Default)]
pub(super) struct Anchors {
    /// The uses of each name, behind a pointer: a node of the map has room for 32 entries, and most
    /// files have few names.
    names: imbl::HashMap<Arc<str>, Arc<Uses>>,
    /// The names that are defined, and that no alias of the file has.
    unused: imbl::HashSet<Arc<str>>,
}

/// The parts that have a name, in the order of their places.
#[derive(Clone, Debug, Default)]
struct Uses {
    defined_in: Vec<PartId>,
    aliased_in: Vec<PartId>,
    used_in: Vec<PartId>,
}

/// The use of an anchor's name in a part.
#[derive(Clone, Copy, PartialEq)]
enum NameUse {
    /// An anchor of the part has the name.
    Defined,
    /// An alias stands for an anchor of the part.
    Aliased,
    /// An alias stands for an anchor of a part above.
    Used,
}

/// Returns the names in a part's anchors and aliases.
fn anchor_names(part: &Part) -> impl Iterator<Item = (&Arc<str>, NameUse)> {
    part.data.rare().anchors.iter().flat_map(|anchors| {
        let defined = anchors.defined.keys().map(|name| (name, NameUse::Defined));
        let aliased = anchors.aliased.iter().map(|name| (name, NameUse::Aliased));
        let used = anchors.used.iter().map(|name| (name, NameUse::Used));
        defined.chain(aliased).chain(used)
    })
}

impl Anchors {
    pub(super) fn new(parts: &Parts) -> Anchors {
        let mut anchors = Anchors::default();
        for part in parts.iter() {
            for (name, role) in anchor_names(part) {
                anchors.name_uses(name, role).push(part.id);
            }
        }
        let alone = anchors.names.iter().filter(|(_, uses)| uses.is_unused());
        anchors.unused = alone.map(|(name, _)| name.clone()).collect();
        anchors
    }

    /// Returns the names of anchors that no alias of the file has, each with the places of the anchors.
    pub(super) fn unused_names<'a>(
        &'a self,
        parts: &'a Parts,
    ) -> impl Iterator<Item = (&'a str, Vec<Span>)> {
        self.unused.iter().filter_map(|name| {
            let mut places = Vec::new();
            for part in self.names.get(name)?.defined_in.iter().filter_map(|id| parts.get(*id)) {
                let Some(anchors) = &part.data.rare().anchors else { continue };
                let hidden = anchors.hidden.iter().filter(|(hidden, _)| hidden == name);
                places.extend(hidden.map(|(_, place)| *place));
                places.extend(anchors.defined.get(name).map(|anchor| anchor.span));
            }
            Some((&**name, places))
        })
    }

    /// Returns the last part before a place that defines this name.
    pub(super) fn find_definition(
        &self,
        name: &str,
        parts: &Parts,
        before: PartOffset,
    ) -> Option<PartOffset> {
        let defined_in = &self.names.get(name)?.defined_in;
        let count = defined_in.partition_point(|id| parts.place_of_part(*id) < Some(before));
        parts.place_of_part(*defined_in.get(count.checked_sub(1)?)?)
    }

    /// Returns the parts behind a place whose aliases of this name take the anchor that is defined
    /// there: up to the next part that defines it, which may use it first.
    pub(super) fn find_users(
        &self,
        name: &str,
        parts: &Parts,
        behind: PartOffset,
    ) -> Vec<PartOffset> {
        let Some(uses) = self.names.get(name) else { return Vec::new() };
        let next = uses
            .defined_in
            .get(uses.defined_in.partition_point(|id| is_above_offset(id, behind, parts)));
        let next = next.and_then(|id| parts.place_of_part(*id));
        let used_in =
            &uses.used_in[uses.used_in.partition_point(|id| is_above_offset(id, behind, parts))..];
        let places = used_in.iter().filter_map(|id| parts.place_of_part(*id));
        places.take_while(|place| next.is_none_or(|next| *place <= next)).collect()
    }

    /// Returns the anchors after some parts took the places of others; `parts` are those of the
    /// file now.
    pub(super) fn replace_parts(&self, old: &[&Part], new: &[Part], parts: &Parts) -> Anchors {
        let mut anchors = self.clone();
        if old.len() == new.len() && old.iter().zip(new).all(has_same_anchors) {
            return anchors;
        }
        for part in old {
            for (name, role) in anchor_names(part) {
                anchors.name_uses(name, role).retain(|id| *id != part.id);
            }
        }
        for part in new {
            for (name, role) in anchor_names(part) {
                let ids = anchors.name_uses(name, role);
                let at = ids
                    .partition_point(|id| parts.place_of_part(*id) < parts.place_of_part(part.id));
                ids.insert(at, part.id);
            }
        }
        for (name, _) in old.iter().copied().chain(new).flat_map(anchor_names) {
            anchors.settle_name(name);
        }
        anchors
    }

    /// Updates what is known of a name after its uses changed.
    fn settle_name(&mut self, name: &Arc<str>) {
        let uses = self.names.get(name);
        if uses.is_some_and(|uses| uses.is_unused()) {
            self.unused.insert(name.clone());
        } else {
            self.unused.remove(name);
        }
        if uses.is_some_and(|uses| uses.is_empty()) {
            self.names.remove(name);
        }
    }

    fn name_uses(&mut self, name: &Arc<str>, role: NameUse) -> &mut Vec<PartId> {
        let uses = Arc::make_mut(self.names.entry(name.clone()).or_default());
        match role {
            NameUse::Defined => &mut uses.defined_in,
            NameUse::Aliased => &mut uses.aliased_in,
            NameUse::Used => &mut uses.used_in,
        }
    }
}

fn is_above_offset(id: &PartId, behind: PartOffset, parts: &Parts) -> bool {
    parts.place_of_part(*id) <= Some(behind)
}

fn has_same_anchors((old, new): (&&Part, &Part)) -> bool {
    old.id == new.id && anchor_names(old).eq(anchor_names(new))
}

impl Uses {
    fn is_empty(&self) -> bool {
        self.defined_in.is_empty() && self.aliased_in.is_empty() && self.used_in.is_empty()
    }

    /// Whether there are anchors of the name, and no aliases.
    fn is_unused(&self) -> bool {
        !self.defined_in.is_empty() && self.aliased_in.is_empty() && self.used_in.is_empty()
    }
}

/// Returns the names whose meaning behind some parts is another when others take their places.
pub(super) fn changed_names<'p>(
    old: impl Iterator<Item = &'p Part>,
    new: impl Iterator<Item = &'p Part>,
) -> Vec<Arc<str>> {
    let (old, new) = (last_definitions(old), last_definitions(new));
    let all: BTreeSet<&Arc<str>> = old.keys().chain(new.keys()).copied().collect();
    all.into_iter().filter(|name| !has_same_anchor(name, &old, &new)).cloned().collect()
}

fn has_same_anchor(
    name: &Arc<str>,
    old: &BTreeMap<&Arc<str>, &Anchored>,
    new: &BTreeMap<&Arc<str>, &Anchored>,
) -> bool {
    match (old.get(name), new.get(name)) {
        (Some(one), Some(other)) => one.is_same(other),
        _ => false,
    }
}

/// The anchor that each name stands for behind some parts.
type Definitions<'p> = BTreeMap<&'p Arc<str>, &'p Anchored>;

fn last_definitions<'p>(parts: impl Iterator<Item = &'p Part>) -> Definitions<'p> {
    let anchors = parts.filter_map(|part| part.data.rare().anchors.as_ref());
    anchors.flat_map(|anchors| &anchors.defined).collect()
}
