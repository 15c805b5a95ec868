//! A list whose items are found by name in logarithmic time: a class may have hundreds of parameters,
//! and each key of data asks for one.

use std::ops::{Deref, DerefMut};

use crate::text::short_hash;
use crate::text::work::{Work, count_work};

/// An item of a [`NamedList`].
pub trait HasName {
    /// Returns the item's name.
    fn name(&self) -> &str;
}

/// Items in the order of the text.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedList<T> {
    items: Vec<T>,
    /// The hashes of the names of the items in order, each with the number of its item. A search
    /// reads a name only where the hashes are equal: names lie scattered in memory.
    by_hash: Box<[(u32, u32)]>,
}

impl<T: HasName> NamedList<T> {
    /// Returns the item of this name: the first, where the text has several.
    pub fn find(&self, name: &str) -> Option<&T> {
        let hash = short_hash(name);
        let at = self.by_hash.partition_point(|(other, _)| {
            count_work(Work::Step);
            *other < hash
        });
        let same = self.by_hash[at..].iter().take_while(|(other, _)| *other == hash);
        let mut found = same.map(|(_, number)| &self.items[*number as usize]);
        found.find(|item| item.name() == name)
    }
}

impl<T> Default for NamedList<T> {
    fn default() -> NamedList<T> {
        NamedList { items: Vec::new(), by_hash: Box::default() }
    }
}

impl<T: HasName> From<Vec<T>> for NamedList<T> {
    fn from(items: Vec<T>) -> NamedList<T> {
        let hashed = items.iter().zip(0..).map(|(item, number)| (short_hash(item.name()), number));
        let mut by_hash: Box<[(u32, u32)]> = hashed.collect();
        by_hash.sort_unstable();
        NamedList { items, by_hash }
    }
}

impl<T> Deref for NamedList<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.items
    }
}

/// Callers complete items, and change no name.
impl<T> DerefMut for NamedList<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.items
    }
}

impl<'a, T> IntoIterator for &'a NamedList<T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.items.iter()
    }
}

#[cfg(test)]
mod tests {
    use crate::manifest::parse;
    use crate::text::work;

    #[test]
    fn a_parameter_is_found_by_its_name_without_asking_all() {
        let names: Vec<String> = (0..500).map(|n| format!("$p{}", n * 7 % 500)).collect();
        let text = format!("class many({}, $p3 = twice) {{}}", names.join(", "));
        let manifest = parse(&text, None);
        let parameters = &manifest.definitions[0].parameters;
        assert_eq!(parameters.len(), 501);
        work::take();
        for one in parameters.iter().take(500) {
            assert_eq!(parameters.find(&one.name), Some(one), "the first of its name");
        }
        let steps = work::take().steps;
        assert!(steps <= 500 * 10, "{steps} names compared");
        for absent in ["", "p", "p500", "q"] {
            assert_eq!(parameters.find(absent), None);
        }
    }
}
