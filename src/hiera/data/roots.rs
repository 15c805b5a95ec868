//! The root keys of a data file: which of its parts each one counts in.

use std::collections::HashSet;
use std::hash::Hash;
use std::sync::Arc;

use foldhash::fast::RandomState;
use indexmap::{Equivalent, IndexMap};

use super::{Part, Parts, Problem, ProblemKind};
use crate::puppet::Member;
use crate::puppet::value::Key;
use crate::text::work::{Work, count_work};
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
        let by_hash = sorted_roots(parts.iter());
        let mut groups = by_hash.chunk_by(|one, next| one.hash == next.hash);
        if groups.all(|group| group.len() == 1 || has_unique_keys(group, parts)) {
            return Roots { by_hash: by_hash.into(), repeats: None };
        }
        Roots::collect_roots(parts)
    }

    /// Returns the root keys of all parts. Slower than [`new`](Roots::new) where no key stands twice.
    fn collect_roots(parts: &Parts) -> Roots {
        let count = parts.iter().map(|part| part.data.members.len()).sum();
        let mut members: IndexMap<&Key, MemberPlace, RandomState> =
            IndexMap::with_capacity_and_hasher(count, RandomState::default());
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
        by_hash.sort_unstable();
        let has_repeated = members.len() < count;
        let repeats = has_repeated
            .then(|| Box::new(Repeats { order: members.into_values().collect(), later }));
        Roots { by_hash, repeats }
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
            // A repeated one may be one of these that went.
            return Arc::new(Roots::collect_roots(parts));
        }
        let gone = sorted_roots(old.iter().copied());
        let come = sorted_roots(new);
        let by_hash = replace_roots(&self.by_hash, &gone, &come);
        let are_unique = come.iter().all(|root| has_unique_keys(same_hash(&by_hash, root), parts));
        Arc::new(match are_unique {
            true => Roots { by_hash, repeats: None },
            false => Roots::collect_roots(parts),
        })
    }
}

/// Returns the roots of some parts, in the order of their hashes.
fn sorted_roots<'a>(parts: impl IntoIterator<Item = &'a Part>) -> Vec<Root> {
    let mut roots: Vec<Root> = parts.into_iter().flat_map(hash_members).collect();
    roots.sort_unstable();
    roots
}

/// Returns roots without some of them and with others, all in the order of their hashes. Copies the
/// roots between two changed ones as one slice.
fn replace_roots(roots: &[Root], gone: &[Root], come: &[Root]) -> Box<[Root]> {
    let mut replaced = Vec::with_capacity(roots.len() + come.len() - gone.len());
    let (mut rest, mut gone, mut come) = (roots, gone, come);
    while let Some(next) = gone.first().into_iter().chain(come.first()).min().copied() {
        count_work(Work::Step);
        let (before, behind) = rest.split_at(rest.partition_point(|root| *root < next));
        replaced.extend_from_slice(before);
        rest = behind;
        if gone.first() == Some(&next) {
            gone = &gone[1..];
            rest = &rest[1..];
        }
        if come.first() == Some(&next) {
            come = &come[1..];
            replaced.push(next);
        }
    }
    replaced.extend_from_slice(rest);
    replaced.into()
}

/// Returns the roots with the hash of another.
fn same_hash<'a>(by_hash: &'a [Root], root: &Root) -> &'a [Root] {
    let from = by_hash.partition_point(|other| other.hash < root.hash);
    let count = by_hash[from..].iter().take_while(|other| other.hash == root.hash).count();
    &by_hash[from..from + count]
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hiera::data::{DataFile, DataFormat};
    use crate::tests::edits::Random;
    use crate::text::FileId;
    use crate::text::work;

    /// The parts of a file with these root keys.
    fn parts(keys: &[String]) -> Parts {
        let text: String = keys.iter().map(|key| format!("{key}: 1\n")).collect();
        let file = DataFile::in_parts(&text, FileId::new(0), DataFormat::Yaml);
        file.expect("it is cut").parts().clone()
    }

    #[test]
    fn root_keys_are_replaced_as_they_are_collected() {
        let mut random = Random::new(11);
        let mut keys: Vec<String> = (0..60).map(|n| format!("k{n}")).collect();
        let mut roots = Arc::new(Roots::new(&parts(&keys)));
        let mut was_repeated = 0;
        for _ in 0..400 {
            let before = parts(&keys);
            let at = random.below(keys.len());
            // Some keys stand twice for a while.
            let most = if random.below(20) == 0 { 60 } else { 9_000 };
            keys[at] = format!("k{}", random.below(most));
            let after = parts(&keys);
            let part = |parts: &Parts| parts.iter().nth(at).expect("it is there").clone();
            roots = roots.replace_parts(&[&part(&before)], &[part(&after)], &after);
            let collected = Roots::new(&after);
            assert_eq!(roots.by_hash, collected.by_hash);
            let order = |roots: &Roots| roots.repeats.as_ref().map(|it| it.order.clone());
            assert_eq!(order(&roots), order(&collected));
            was_repeated += usize::from(roots.has_repeated());
        }
        assert!((20..380).contains(&was_repeated), "{was_repeated} of 400");
    }

    #[test]
    fn a_changed_root_key_costs_no_look_at_the_others() {
        let steps = |count: usize| {
            let keys: Vec<String> = (0..count).map(|n| format!("k{n}")).collect();
            let renamed: Vec<String> =
                keys.iter().map(|key| key.replace("k7", "other7")).take(8).collect();
            let all = [&renamed[..], &keys[8..]].concat();
            let (before, after) = (parts(&keys), parts(&all));
            let roots = Arc::new(Roots::new(&before));
            let part = |parts: &Parts| parts.iter().nth(7).expect("it is there").clone();
            work::take();
            roots.replace_parts(&[&part(&before)], &[part(&after)], &after);
            work::take().steps
        };
        assert!(steps(10) > 0);
        assert_eq!(steps(10_000), steps(10));
    }
}
