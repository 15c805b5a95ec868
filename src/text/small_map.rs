//! A map in the order of its keys' arrival. Most maps in data, and the variables of most nodes, have
//! few members, and a fleet has many such maps.

use std::fmt;
use std::hash::Hash;

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use indexmap::Equivalent;

use super::quick_hash;

/// Up to how many members are searched one by one.
const FEW: usize = 8;

/// A map in which an overwritten key keeps its place. Equal to another with equal members in any
/// order.
#[derive(Clone)]
pub struct SmallMap<K, V> {
    members: Vec<(K, V)>,
    /// The numbers of the members by the hashes of their keys, where there are more than a few.
    index: Option<Box<HashTable<u32>>>,
}

impl<K: Hash + Eq, V> SmallMap<K, V> {
    /// Returns an empty map with memory for so many members.
    pub fn with_capacity(count: usize) -> SmallMap<K, V> {
        SmallMap { members: Vec::with_capacity(count), index: None }
    }

    /// Returns how many members the map has.
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// Returns whether the map has no member.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// Returns the map's members, in order.
    pub fn iter(&self) -> Members<'_, K, V> {
        Members(self.members.iter())
    }

    /// Returns the map's keys, in order.
    pub fn keys(&self) -> impl DoubleEndedIterator<Item = &K> + ExactSizeIterator + Clone {
        self.members.iter().map(|(key, _)| key)
    }

    /// Returns the map's values, in order.
    pub fn values(&self) -> impl DoubleEndedIterator<Item = &V> + ExactSizeIterator + Clone {
        self.members.iter().map(|(_, value)| value)
    }

    /// Returns the map's members, in order, with values to be changed.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (&K, &mut V)> {
        self.members.iter_mut().map(|(key, value)| (&*key, value))
    }

    /// Returns the member with this number, counted from 0.
    pub fn get_index(&self, number: usize) -> Option<(&K, &V)> {
        self.members.get(number).map(|(key, value)| (key, value))
    }

    /// Returns the number of the member with a key.
    pub fn get_index_of<Q: ?Sized + Hash + Equivalent<K>>(&self, key: &Q) -> Option<usize> {
        let members = &self.members;
        let Some(index) = &self.index else {
            return members.iter().position(|(own, _)| key.equivalent(own));
        };
        let hash = quick_hash(key);
        let found = index.find(hash, |number| key.equivalent(&members[*number as usize].0));
        found.map(|number| *number as usize)
    }

    /// Returns the value of a key.
    pub fn get<Q: ?Sized + Hash + Equivalent<K>>(&self, key: &Q) -> Option<&V> {
        self.get_index_of(key).map(|number| &self.members[number].1)
    }

    /// Returns the value of a key, to be changed.
    pub fn get_mut<Q: ?Sized + Hash + Equivalent<K>>(&mut self, key: &Q) -> Option<&mut V> {
        self.get_index_of(key).map(|number| &mut self.members[number].1)
    }

    /// Returns whether the map has a key.
    pub fn contains_key<Q: ?Sized + Hash + Equivalent<K>>(&self, key: &Q) -> bool {
        self.get_index_of(key).is_some()
    }

    /// Gives a key a value; returns the value before. A new key is the last.
    pub fn insert(&mut self, key: K, value: V) -> Option<V> {
        let members = &mut self.members;
        let Some(index) = &mut self.index else {
            if let Some((_, known)) = members.iter_mut().find(|(own, _)| *own == key) {
                return Some(std::mem::replace(known, value));
            }
            members.push((key, value));
            self.index_many();
            return None;
        };
        let entry = index.entry(
            quick_hash(&key),
            |number| members[*number as usize].0 == key,
            |number| hash_at(members, *number),
        );
        match entry {
            Entry::Occupied(known) => {
                let number = *known.get() as usize;
                Some(std::mem::replace(&mut members[number].1, value))
            }
            Entry::Vacant(free) => {
                free.insert(members.len() as u32);
                members.push((key, value));
                None
            }
        }
    }

    /// Removes a key, and returns its value; the members behind it keep their order.
    pub fn shift_remove<Q: ?Sized + Hash + Equivalent<K>>(&mut self, key: &Q) -> Option<V> {
        let (_, value) = self.members.remove(self.get_index_of(key)?);
        self.index_many();
        Some(value)
    }

    /// Removes the members for which the function is not true.
    pub fn retain(&mut self, mut is_kept: impl FnMut(&K, &V) -> bool) {
        self.members.retain(|(key, value)| is_kept(key, value));
        self.index_many();
    }

    /// Drops the memory for further members.
    pub fn shrink_to_fit(&mut self) {
        self.members.shrink_to_fit();
    }

    /// Makes the index anew, if there are more than a few members.
    fn index_many(&mut self) {
        let members = &self.members;
        self.index = (members.len() > FEW).then(|| {
            let mut index = HashTable::with_capacity(members.capacity());
            for number in 0..members.len() as u32 {
                let hash = hash_at(members, number);
                index.insert_unique(hash, number, |other| hash_at(members, *other));
            }
            Box::new(index)
        });
    }
}

fn hash_at<K: Hash, V>(members: &[(K, V)], number: u32) -> u64 {
    quick_hash(&members[number as usize].0)
}

impl<K, V> Default for SmallMap<K, V> {
    fn default() -> SmallMap<K, V> {
        SmallMap { members: Vec::new(), index: None }
    }
}

/// The members of a map, in order.
pub struct Members<'a, K, V>(std::slice::Iter<'a, (K, V)>);

impl<K, V> Clone for Members<'_, K, V> {
    fn clone(&self) -> Self {
        Members(self.0.clone())
    }
}

impl<'a, K, V> Iterator for Members<'a, K, V> {
    type Item = (&'a K, &'a V);

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next().map(|(key, value)| (key, value))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl<K, V> DoubleEndedIterator for Members<'_, K, V> {
    fn next_back(&mut self) -> Option<Self::Item> {
        self.0.next_back().map(|(key, value)| (key, value))
    }
}

impl<K, V> ExactSizeIterator for Members<'_, K, V> {}

impl<'a, K: Hash + Eq, V> IntoIterator for &'a SmallMap<K, V> {
    type Item = (&'a K, &'a V);
    type IntoIter = Members<'a, K, V>;

    fn into_iter(self) -> Members<'a, K, V> {
        self.iter()
    }
}

impl<K, V> IntoIterator for SmallMap<K, V> {
    type Item = (K, V);
    type IntoIter = std::vec::IntoIter<(K, V)>;

    fn into_iter(self) -> Self::IntoIter {
        self.members.into_iter()
    }
}

impl<K: Hash + Eq, V> Extend<(K, V)> for SmallMap<K, V> {
    fn extend<I: IntoIterator<Item = (K, V)>>(&mut self, more: I) {
        for (key, value) in more {
            self.insert(key, value);
        }
    }
}

impl<K: Hash + Eq, V> FromIterator<(K, V)> for SmallMap<K, V> {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(all: I) -> SmallMap<K, V> {
        let all = all.into_iter();
        let mut map = SmallMap::with_capacity(all.size_hint().0);
        map.extend(all);
        map
    }
}

impl<K: Hash + Eq, V: PartialEq> PartialEq for SmallMap<K, V> {
    fn eq(&self, other: &SmallMap<K, V>) -> bool {
        self.len() == other.len() && self.iter().all(|(key, value)| other.get(key) == Some(value))
    }
}

impl<K: Hash + Eq, V: Eq> Eq for SmallMap<K, V> {}

impl<K: Hash + Eq + fmt::Debug, V: fmt::Debug> fmt::Debug for SmallMap<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self).finish()
    }
}

#[cfg(test)]
mod tests {
    use indexmap::IndexMap;

    use super::*;
    use crate::tests::edits::Random;

    #[test]
    fn it_is_as_a_map_in_the_order_of_arrival() {
        let mut random = Random::new(3);
        for keys in [3, FEW + 1, 5 * FEW] {
            let (mut map, mut known) = (SmallMap::default(), IndexMap::new());
            for step in 0..2_000 {
                let key = random.below(keys).to_string();
                match random.below(8) {
                    0 | 1 => assert_eq!(map.shift_remove(&key), known.shift_remove(&key)),
                    2 if step % 50 == 0 => {
                        map.retain(|_, value| value % 2 == 0);
                        known.retain(|_, value| *value % 2 == 0);
                    }
                    3 => map.iter_mut().zip(&mut known).for_each(|((_, one), (_, other))| {
                        *one += 1;
                        *other += 1;
                    }),
                    _ => assert_eq!(map.insert(key.clone(), step), known.insert(key.clone(), step)),
                }
                assert!(map.iter().eq(&known), "{map:?} {known:?}");
                assert_eq!(map.index.is_some(), map.len() > FEW);
                assert_eq!(map.get(&key), known.get(&key));
                assert_eq!(map.get_mut(&key), known.get_mut(&key));
                let reversed: SmallMap<String, usize> = map.clone().into_iter().rev().collect();
                assert_eq!(map, reversed);
                map.insert("another".to_owned(), step);
                assert_ne!(map, reversed);
                map.shift_remove("another");
            }
        }
    }
}
