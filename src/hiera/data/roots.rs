//! The root keys of a data file: which of its parts each one counts in.

use std::sync::Arc;

use indexmap::IndexMap;

use super::{Part, Parts, Problem, ProblemKind};
use crate::puppet::Member;
use crate::puppet::value::Key;
use crate::text::PartId;

/// The root keys of all parts together.
#[derive(Clone, Debug, Default)]
pub(super) struct Roots {
    /// In which part a key counts, and which of its members it is: the last one, in the place of
    /// the first.
    pub(super) members: IndexMap<Key, (PartId, u32), foldhash::fast::RandomState>,
    /// Keys that stand twice.
    repeated: Vec<Repeated>,
    /// Whether some do, in a format that knows their places or not.
    pub(super) has_repeated: bool,
}

/// A member whose key an earlier one has, too. Their values may change while they stay.
#[derive(Clone, Debug)]
struct Repeated {
    first: (PartId, u32),
    member: (PartId, u32),
}

impl Roots {
    pub(super) fn new(parts: &Parts) -> Roots {
        let mut roots = Roots::default();
        roots.members.reserve(parts.iter().map(|part| part.data.members.len()).sum());
        for part in parts.iter() {
            for (index, (key, member)) in part.data.members.iter().enumerate() {
                let Some((earlier, at)) =
                    roots.members.insert(key.clone(), (part.id, index as u32))
                else {
                    continue;
                };
                roots.has_repeated = true;
                if member.key_origin.is_some() {
                    let (first, member) = ((earlier, at), (part.id, index as u32));
                    roots.repeated.push(Repeated { first, member });
                }
            }
        }
        roots
    }

    /// Returns the problems of keys that stand twice in these parts, in the order of the second
    /// ones.
    pub(super) fn duplicate_problems<'a>(
        &'a self,
        parts: &'a Parts,
    ) -> impl Iterator<Item = Problem> + 'a {
        self.repeated.iter().filter_map(move |repeated| {
            let ((_, first), (key, member)) =
                (member_at(repeated.first, parts)?, member_at(repeated.member, parts)?);
            let key = key.to_text().into_owned();
            let kind = ProblemKind::DuplicateKey { key, is_equal: first.value == member.value };
            Some(Problem { kind, span: member.key_origin?, related: first.key_origin })
        })
    }

    /// Returns the root keys after some parts were read again; `None` when all must be collected
    /// again.
    pub(super) fn replace_parts(
        self: &Arc<Roots>,
        old: &[&Part],
        new: &[Part],
    ) -> Option<Arc<Roots>> {
        if old.len() != new.len() || !old.iter().zip(new).all(has_as_many_members) {
            return self.remove_members(old, new).map(Arc::new);
        }
        let mut renamed = Vec::new();
        let (old, new) = (
            old.iter().flat_map(|part| &part.data.members),
            new.iter().flat_map(|part| &part.data.members),
        );
        for ((old_key, old), (new_key, new)) in old.zip(new) {
            if old_key != new_key {
                renamed.push((old_key, new_key));
            } else if old.key_origin != new.key_origin && self.has_repeated {
                return None;
            }
        }
        if renamed.is_empty() {
            return Some(self.clone());
        }
        if self.has_repeated {
            return None; // It may be one of these that went.
        }
        let mut roots = Roots::clone(self);
        for (old, new) in renamed {
            let place = roots.members.get_index_of(old)?;
            roots.members.replace_index(place, new.clone()).ok()?;
        }
        Some(Arc::new(roots))
    }

    /// Returns the root keys after some members were removed from the old parts and the others stayed
    /// in their order; `None` for any other change.
    fn remove_members(&self, old: &[&Part], new: &[Part]) -> Option<Roots> {
        if self.has_repeated {
            return None;
        }
        let places = new.iter().flat_map(|part| {
            let members = part.data.members.iter().enumerate();
            members.map(|(index, (key, _))| (key, (part.id, index as u32)))
        });
        let mut stay = places.peekable();
        let mut roots = self.clone();
        for (key, _) in old.iter().flat_map(|part| &part.data.members) {
            match stay.next_if(|(name, _)| *name == key) {
                Some((_, place)) => *roots.members.get_mut(key)? = place,
                None => drop(roots.members.shift_remove(key)?),
            }
        }
        stay.next().is_none().then_some(roots)
    }
}

fn member_at((part, index): (PartId, u32), parts: &Parts) -> Option<&(Key, Member)> {
    parts.get(part).and_then(|part| part.data.members.get(index as usize))
}

fn has_as_many_members((old, new): (&&Part, &Part)) -> bool {
    old.id == new.id && old.data.members.len() == new.data.members.len()
}
