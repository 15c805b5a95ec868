//! The root keys of a data file: which of its parts each one counts in.

use std::collections::HashSet;
use std::hash::Hash;
use std::sync::Arc;

use indexmap::{Equivalent, IndexMap};

use super::{Part, Parts, Problem, ProblemKind};
use crate::puppet::Member;
use crate::puppet::value::Key;
use crate::text::{PartId, short_hash};

/// The root keys of all parts together. The parts have the keys themselves.
#[derive(Debug, Default)]
pub(super) struct Roots {
    /// Each key once, in the order of their hashes. A search reads a key only where the hashes are
    /// equal: keys lie scattered in memory.
    by_hash: Box<[Root]>,
    /// `None` where no key stands twice: then the keys are in the order of the parts.
    repeats: Option<Box<Repeats>>,
}

/// A root key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Root {
    hash: u32,
    place: MemberPlace,
}

/// A part, and the number of one of its members.
type MemberPlace = (PartId, u32);

/// The root keys of a file in which some stand twice, in a format that knows their places or not.
#[derive(Debug, Default)]
struct Repeats {
    /// Where each key counts: the last of its members, in the place of the first.
    order: Box<[MemberPlace]>,
    /// The members whose keys earlier ones have, too.
    later: Vec<Repeated>,
}

/// A member whose key an earlier one has, too. The values of the two members may change while the
/// members stay.
#[derive(Clone, Debug)]
struct Repeated {
    first: MemberPlace,
    member: MemberPlace,
}

impl Roots {
    pub(super) fn new(parts: &Parts) -> Roots {
        let by_hash = parts.iter().flat_map(hash_members).collect();
        Roots::of_unique(by_hash, parts).unwrap_or_else(|| Roots::with_repeats(parts))
    }

    /// Returns these root keys of all parts; `None` where one stands twice.
    fn of_unique(mut by_hash: Vec<Root>, parts: &Parts) -> Option<Roots> {
        by_hash.sort(); // Stable, as this sort is quick where most are in order.
        let mut groups = by_hash.chunk_by(|one, next| one.hash == next.hash);
        let are_unique = groups.all(|group| group.len() == 1 || has_unique_keys(group, parts));
        are_unique.then(|| Roots { by_hash: by_hash.into(), repeats: None })
    }

    fn with_repeats(parts: &Parts) -> Roots {
        let mut members: IndexMap<&Key, MemberPlace> = IndexMap::new();
        let mut later = Vec::new();
        for part in parts.iter() {
            for ((key, member), index) in part.data.members.iter().zip(0..) {
                let place = (part.id, index);
                if let Some(first) = members.insert(key, place)
                    && member.key_origin.is_some()
                {
                    later.push(Repeated { first, member: place });
                }
            }
        }
        let roots =
            members.iter().map(|(key, place)| Root { hash: short_hash(key), place: *place });
        let mut by_hash: Box<[Root]> = roots.collect();
        by_hash.sort();
        let order = members.into_values().collect();
        Roots { by_hash, repeats: Some(Box::new(Repeats { order, later })) }
    }

    /// Returns whether some keys stand twice.
    pub(super) fn has_repeated(&self) -> bool {
        self.repeats.is_some()
    }

    /// Returns the part in which a key counts, and the number of the member there.
    pub(super) fn find<K>(&self, key: &K, parts: &Parts) -> Option<MemberPlace>
    where
        K: ?Sized + Hash + Equivalent<Key>,
    {
        let hash = short_hash(key);
        let at = self.by_hash.partition_point(|root| root.hash < hash);
        let same = self.by_hash[at..].iter().take_while(|root| root.hash == hash);
        let mut places = same.map(|root| root.place);
        places.find(|place| member_at(*place, parts).is_some_and(|(own, _)| key.equivalent(own)))
    }

    /// Returns the root keys and their members, in order, each key once.
    pub(super) fn members<'a>(
        &'a self,
        parts: &'a Parts,
    ) -> impl Iterator<Item = &'a (Key, Member)> {
        let repeats = self.repeats.as_deref();
        let places = repeats.into_iter().flat_map(|repeats| &repeats.order);
        let in_order = places.filter_map(|place| member_at(*place, parts));
        let all = parts.iter().filter(move |_| repeats.is_none());
        all.flat_map(|part| &part.data.members).chain(in_order)
    }

    /// Returns the problems of keys that stand twice in these parts, in the order of the second
    /// ones.
    pub(super) fn duplicate_problems<'a>(
        &'a self,
        parts: &'a Parts,
    ) -> impl Iterator<Item = Problem> + 'a {
        let later = self.repeats.iter().flat_map(|repeats| &repeats.later);
        later.filter_map(move |repeated| {
            let ((_, first), (key, member)) =
                (member_at(repeated.first, parts)?, member_at(repeated.member, parts)?);
            let key = key.to_text().into_owned();
            let kind = ProblemKind::DuplicateKey { key, is_equal: first.value == member.value };
            Some(Problem { kind, span: member.key_origin?, related: first.key_origin })
        })
    }

    /// Returns the root keys after some parts were read again; `parts` are those of the file now.
    pub(super) fn replace_parts(
        self: &Arc<Roots>,
        old: &[&Part],
        new: &[Part],
        parts: &Parts,
    ) -> Arc<Roots> {
        if old.len() == new.len() && old.iter().zip(new).all(has_same_keys) {
            return self.clone();
        }
        if self.has_repeated() {
            return Arc::new(Roots::new(parts)); // A repeated one may be one of these that went.
        }
        let mut gone: Vec<PartId> = old.iter().map(|part| part.id).collect();
        gone.sort_unstable();
        let stay = self.by_hash.iter().filter(|root| gone.binary_search(&root.place.0).is_err());
        let by_hash = stay.copied().chain(new.iter().flat_map(hash_members)).collect();
        let roots = Roots::of_unique(by_hash, parts).unwrap_or_else(|| Roots::with_repeats(parts));
        Arc::new(roots)
    }
}

fn hash_members(part: &Part) -> impl Iterator<Item = Root> {
    let members = part.data.members.iter().zip(0..);
    members.map(|((key, _), index)| Root { hash: short_hash(key), place: (part.id, index) })
}

/// Returns the member at a place; `None` for a place in a part that these parts do not have.
pub(super) fn member_at((part, member): MemberPlace, parts: &Parts) -> Option<&(Key, Member)> {
    parts.get(part)?.data.members.get(member as usize)
}

fn has_unique_keys(group: &[Root], parts: &Parts) -> bool {
    let keys = group.iter().filter_map(|root| Some(&member_at(root.place, parts)?.0));
    keys.collect::<HashSet<_>>().len() == group.len()
}

/// Returns whether a part has the same keys in both versions.
fn has_same_keys((old, new): (&&Part, &Part)) -> bool {
    let (old_members, new_members) = (&old.data.members, &new.data.members);
    let old_keys = old_members.iter().map(|(key, _)| key);
    old.id == new.id && old_keys.eq(new_members.iter().map(|(key, _)| key))
}
