//! The index of keys, for rules and features across files: the files that define each key, the keys
//! that each key asks for and those that ask for it, and the entries of `lookup_options`.
//!
//! An index is patched, not rebuilt: entries of a file's parts are removed and added as the parts
//! go and come, and all other entries are shared with the index before it. It has files and keys;
//! places within the files come from the data of their entries (`hiera::data::EntryData`).

mod build;
mod changes;
mod circles;
mod defined;
mod dependents;
mod key_changes;
mod key_index;
mod keys;
mod options;
mod options_memo;
mod readings;
mod siblings;

pub use defined::DefinedKeys;
pub use key_changes::KeyChanges;
pub use key_index::KeyIndex;
pub use options_memo::OptionsPlace;
pub use siblings::{Siblings, key_prefix};

#[cfg(test)]
mod tests {
    use crate::fixture::Fixture;

    fn keys<'a>(keys: impl Iterator<Item = &'a std::sync::Arc<str>>) -> Vec<&'a str> {
        keys.map(|key| &**key).collect()
    }

    #[test]
    fn keys_are_found_by_their_prefix() {
        let fixture = Fixture::new("a::b: 1\na::bc: 1\na: 1\nb: 1\n");
        let index = fixture.snapshot.keys();
        assert_eq!(keys(index.keys_with_prefix("a::")), ["a::b", "a::bc"]);
        assert_eq!(keys(index.keys_with_prefix("c")), [""; 0]);
    }

    #[test]
    fn options_are_found_by_name_and_by_pattern() {
        let text = "lookup_options:\n  a::b: {merge: deep}\n  '^a::': {merge: first}\na::b: 1\n";
        let fixture = Fixture::new(text);
        let index = fixture.snapshot.keys();
        let written = |key| {
            let places = index.options_of(key).map(|it| fixture.snapshot.span_bytes(it.span));
            places.map(|range| &text[range.as_usize()]).collect::<Vec<_>>()
        };
        assert_eq!(written("a::b"), ["a::b", "'^a::'"]);
        assert_eq!(written("a::c"), ["'^a::'"]);
        assert_eq!(written("b"), [""; 0]);
    }
}
