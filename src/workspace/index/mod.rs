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
    use std::sync::Arc;

    use crate::fixture::Fixture;
    use crate::text::{FilePath, SourceChange, TextEdit, TextRange};

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

    #[test]
    fn options_that_share_an_entry_with_other_keys_are_replaced() {
        let fixture = Fixture::new("{lookup_options: {a: {merge: deep}}, a: 1}\n");
        assert_eq!(fixture.snapshot.keys().options_of("a").count(), 1);
        let mut change = SourceChange::default();
        let edit = TextEdit::new(TextRange::new(18, 19), "b");
        change.push(&FilePath::new("/data/common.yaml"), edit);
        let after = fixture.snapshot.after_change(&change).expect("the file can change");
        assert_eq!(["a", "b"].map(|key| after.keys().options_of(key).count()), [0, 1]);
    }

    #[test]
    fn candidates_are_kept_until_a_definition_or_the_layout_changes() {
        let fixture = Fixture::new(
            "#- levels Role Common\n#- /data/common.yaml\na: 1\n#- /data/roles/web.yaml\na: 2\n",
        );
        let root = &fixture.snapshot.environments().all[0].root;
        let is_kept = |path: &str, range, insert: &str| {
            let mut change = SourceChange::default();
            change.push(&FilePath::new(path), TextEdit::new(range, insert));
            let after = fixture.snapshot.after_change(&change).expect("the file can change");
            let [before, after] =
                [&fixture.snapshot, &after].map(|it| it.keys().shared_candidates(root));
            Arc::ptr_eq(&before, &after)
        };
        assert!(is_kept("/data/roles/web.yaml", TextRange::new(3, 4), "3"));
        assert!(!is_kept("/data/roles/web.yaml", TextRange::new(0, 1), "b"));
        assert!(!is_kept("/hiera.yaml", TextRange::new_empty(0), "# other\n"));
    }
}
