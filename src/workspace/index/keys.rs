//! Root keys: the files that define each, the keys that each asks for, and the keys that ask for each.

use std::sync::Arc;

use super::siblings::SortedKeys;
use crate::text::FilePath;

/// Root keys with their definitions and their questions, in both directions.
#[derive(Clone, Debug, Default)]
pub(super) struct Keys {
    uses: Shared<Uses>,
    /// The root keys that some file defines.
    pub(super) defined: SortedKeys,
    /// The root keys whose values ask for a root key, in the order of their bytes. No list is
    /// empty.
    asked_by: Shared<Vec<Arc<str>>>,
    /// An identity that changes when a definition is added or removed.
    pub(super) definitions_id: Arc<()>,
}

/// Values of root keys. Found by a quicker hash than the usual one: rules ask for keys all the
/// time. A value is shared by maps whose other values differ.
type Shared<T> = imbl::GenericHashMap<
    Arc<str>,
    Arc<T>,
    foldhash::fast::RandomState,
    imbl::shared_ptr::DefaultSharedPtr,
>;

/// The definitions and questions of a root key.
#[derive(Clone, Debug, Default)]
struct Uses {
    /// The files that define the root key, in the order of their paths.
    definitions: Vec<FilePath>,
    /// The root keys that tokens in the root key's values ask for, and how many tokens do.
    asks_for: Vec<(Arc<str>, u32)>,
}

/// Collects [`Keys`] of many files, in the order of their paths.
#[derive(Default)]
pub(super) struct KeysBuilder {
    uses: foldhash::HashMap<Arc<str>, Uses>,
}

impl KeysBuilder {
    /// Adds a file that defines a root key.
    pub(super) fn add_definition(&mut self, key: &str, path: &FilePath) {
        let files = &mut self.uses_of(key).definitions;
        if files.last() != Some(path) {
            files.push(path.clone());
        }
    }

    /// Adds a token in the value of a root key that asks for another one.
    pub(super) fn add_question(&mut self, root: &str, target: &Arc<str>) {
        count_token(&mut self.uses_of(root).asks_for, target, true);
    }

    fn uses_of(&mut self, key: &str) -> &mut Uses {
        if !self.uses.contains_key(key) {
            self.uses.insert(key.into(), Uses::default());
        }
        self.uses.get_mut(key).expect("just inserted")
    }

    pub(super) fn build(mut self) -> Keys {
        self.uses.values_mut().for_each(|uses| uses.definitions.shrink_to_fit());
        let defined = self
            .uses
            .iter()
            .filter(|(_, uses)| !uses.definitions.is_empty())
            .map(|(key, _)| key.clone())
            .collect();
        let mut asked_by: foldhash::HashMap<Arc<str>, Vec<Arc<str>>> = foldhash::HashMap::default();
        for (key, uses) in &self.uses {
            for (target, _) in &uses.asks_for {
                asked_by.entry(target.clone()).or_default().push(key.clone());
            }
        }
        asked_by.values_mut().for_each(|askers| askers.sort_unstable());
        let (uses, asked_by) = (share_all(self.uses), share_all(asked_by));
        Keys { uses, defined, asked_by, definitions_id: Arc::default() }
    }
}

fn share_all<T>(all: foldhash::HashMap<Arc<str>, T>) -> Shared<T> {
    all.into_iter().map(|(key, value)| (key, Arc::new(value))).collect()
}

impl Keys {
    /// Returns the files that define a root key, in the order of their paths.
    pub(super) fn definitions(&self, key: &str) -> &[FilePath] {
        self.uses.get(key).map_or(&[], |uses| &uses.definitions)
    }

    /// Returns the root keys that the values of a root key ask for, each once, in no order.
    pub(super) fn asks_for(&self, key: &str) -> impl ExactSizeIterator<Item = &Arc<str>> {
        let asks_for = self.uses.get(key).map_or(&[][..], |uses| &uses.asks_for);
        asks_for.iter().map(|(target, _)| target)
    }

    /// Returns the root keys whose values ask for a root key, in the order of their bytes.
    pub(super) fn asked_by(&self, key: &str) -> &[Arc<str>] {
        self.asked_by.get(key).map_or(&[], |askers| askers)
    }

    /// Returns the root keys that values ask for, defined or not, in no order.
    pub(super) fn asked_keys(&self) -> impl Iterator<Item = &Arc<str>> {
        self.asked_by.keys()
    }

    /// Returns the root keys whose values ask for others, in no order.
    pub(super) fn asking_keys(&self) -> impl Iterator<Item = &Arc<str>> {
        self.uses.iter().filter(|(_, uses)| !uses.asks_for.is_empty()).map(|(key, _)| key)
    }

    /// Records a token in the value of a root key that asks for another one, or its removal.
    pub(super) fn count_question(&mut self, root: &Arc<str>, target: &Arc<str>, is_added: bool) {
        let uses = Arc::make_mut(self.uses.entry(root.clone()).or_default());
        let (before, after) = count_token(&mut uses.asks_for, target, is_added);
        if (before == 0) != (after == 0) {
            self.set_asked_by(target, root, after > 0);
        }
    }

    fn set_asked_by(&mut self, target: &Arc<str>, root: &Arc<str>, asks: bool) {
        let askers = Arc::make_mut(self.asked_by.entry(target.clone()).or_default());
        match askers.binary_search(root) {
            Err(place) if asks => askers.insert(place, root.clone()),
            Ok(place) if !asks => drop(askers.remove(place)),
            _ => {}
        }
        if askers.is_empty() {
            self.asked_by.remove(target);
        }
    }

    /// Records whether a file defines a root key.
    pub(super) fn count_definition(&mut self, key: &str, path: &FilePath, is_defined: bool) {
        self.definitions_id = Arc::default();
        let definitions = &mut Arc::make_mut(self.uses.entry(key.into()).or_default()).definitions;
        match definitions.binary_search(path) {
            Err(place) if is_defined => definitions.insert(place, path.clone()),
            Ok(place) if !is_defined => drop(definitions.remove(place)),
            _ => {}
        }
        if definitions.is_empty() {
            self.defined.remove(key);
        } else {
            self.defined.insert(key.into());
        };
    }

    /// Drops a root key that has neither definitions nor questions any more.
    pub(super) fn forget_unused(&mut self, key: &str) {
        if self
            .uses
            .get(key)
            .is_some_and(|uses| uses.definitions.is_empty() && uses.asks_for.is_empty())
        {
            self.uses.remove(key);
        }
    }
}

/// Counts a token that asks for a key, or its removal; returns the numbers before and after.
fn count_token(
    targets: &mut Vec<(Arc<str>, u32)>,
    target: &Arc<str>,
    is_added: bool,
) -> (u32, u32) {
    match targets.iter().position(|(known, _)| **known == **target) {
        Some(place) => {
            let before = targets[place].1;
            let after = if is_added { before + 1 } else { before - 1 };
            match after {
                0 => drop(targets.swap_remove(place)),
                _ => targets[place].1 = after,
            }
            (before, after)
        }
        None if is_added => {
            targets.push((target.clone(), 1));
            (0, 1)
        }
        None => (0, 0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_asked_by_each_key_that_has_a_token_left() {
        let [a, b, hub] = ["a", "b", "hub"].map(Arc::<str>::from);
        let mut builder = KeysBuilder::default();
        for (root, target) in [(&b, &hub), (&a, &hub), (&a, &hub)] {
            builder.add_question(root, target);
        }
        let mut keys = builder.build();
        assert_eq!(keys.asked_by("hub"), [a.clone(), b.clone()]);
        keys.count_question(&a, &hub, false);
        assert_eq!(keys.asked_by("hub"), [a.clone(), b.clone()]);
        keys.count_question(&a, &hub, false);
        assert_eq!(keys.asked_by("hub"), std::slice::from_ref(&b));
        keys.count_question(&b, &hub, false);
        keys.count_question(&b, &a, true);
        assert!(keys.asked_by("hub").is_empty());
        assert_eq!(keys.asked_by("a"), [b]);
    }
}
