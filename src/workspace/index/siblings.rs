//! Root keys in their order, and those that share a prefix with a key.

use std::ops::Bound;
use std::sync::Arc;

use crate::text::similar::nearest_name;

/// Root keys in the order of their bytes. Copies share equal parts.
pub(super) type SortedKeys = imbl::OrdSet<Arc<str>>;

/// Defined root keys that share the prefix of another key.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Siblings {
    /// The first siblings in the order of their names, [`Siblings::SHOWN`] at most.
    pub first: Vec<Arc<str>>,
    /// How many siblings there are, up to [`Siblings::MOST`].
    pub count: usize,
}

impl Siblings {
    /// How many siblings are named.
    pub const SHOWN: usize = 2;
    /// How many siblings are counted.
    pub const MOST: usize = 1_000;

    /// Returns the name with the prefix of a key that was probably meant by it.
    pub(super) fn nearest_name(names: &SortedKeys, key: &str) -> Option<Arc<str>> {
        let prefix = key_prefix(key)?;
        let from = (Bound::Included(prefix), Bound::Unbounded);
        let all = names.range::<(Bound<&str>, Bound<&str>), str>(from);
        let of_prefix = all.take_while(|name| name.starts_with(prefix)).take(Siblings::MOST);
        let below: Vec<&str> = of_prefix.map(|name| &name[prefix.len()..]).collect();
        nearest_name(&key[prefix.len()..], below).map(|near| format!("{prefix}{near}").into())
    }

    /// Returns the siblings of a key among these names.
    pub(super) fn find_siblings(names: &SortedKeys, key: &str) -> Siblings {
        let Some(prefix) = key_prefix(key) else { return Siblings::default() };
        let all = names
            .range::<(Bound<&str>, Bound<&str>), str>((Bound::Included(prefix), Bound::Unbounded));
        let of_prefix =
            all.take_while(|name| name.starts_with(prefix)).filter(|name| &***name != key);
        let mut found = Siblings::default();
        for name in of_prefix.take(Siblings::MOST) {
            if found.count < Siblings::SHOWN {
                found.first.push(name.clone());
            }
            found.count += 1;
        }
        found
    }
}

/// Returns the part of a key that its siblings have, too: its class or module with the separator,
/// or, in a name without `::`, the text before the first underscores, and these. `None` for a
/// single word.
pub fn key_prefix(key: &str) -> Option<&str> {
    if let Some(end) = key.rfind("::") {
        return Some(&key[..end + 2]);
    }
    let word = key.find('_').filter(|at| *at > 0)?;
    let rest = key[word..].trim_start_matches('_');
    Some(&key[..key.len() - rest.len()]).filter(|_| !rest.is_empty())
}

/// Returns the name that represents all keys with the prefix of a key where dependencies are
/// recorded. No key is called like it.
pub(super) fn group(key: &str) -> Option<Arc<str>> {
    key_prefix(key).map(|prefix| format!("{prefix}\u{1}").into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes() {
        assert_eq!(key_prefix("netcfg_dns_server1"), Some("netcfg_"));
        assert_eq!(key_prefix("service__address__db"), Some("service__"));
        assert_eq!(key_prefix("profile::web::port_a"), Some("profile::web::"));
        assert_eq!(key_prefix("motd"), None);
        assert_eq!(key_prefix("_x"), None);
        assert_eq!(key_prefix("x_"), None);
    }

    #[test]
    fn siblings_are_the_names_with_the_prefix() {
        let names: SortedKeys =
            ["a_1", "a_2", "a_3", "a", "ab_1", "a::b", "b_1"].into_iter().map(Arc::from).collect();
        let found = Siblings::find_siblings(&names, "a_2");
        assert_eq!(found, Siblings { first: vec!["a_1".into(), "a_3".into()], count: 2 });
        assert_eq!(Siblings::find_siblings(&names, "c_1"), Siblings::default());
    }
}
