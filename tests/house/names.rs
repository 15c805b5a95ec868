//! A type's name has one meaning, or two where two layers use a word of the field.

use std::collections::BTreeMap;

use regex::Regex;

use crate::architecture::sources;

/// The most meanings of a type's name.
const MOST: usize = 2;

/// Names of the field that each parser or state machine has for itself, with the number of their
/// meanings: a list that may only shrink.
const REPEATED: [(&str, usize); 4] = [("Kind", 3), ("Node", 4), ("State", 3), ("Token", 5)];

#[test]
fn a_name_of_a_type_has_few_meanings() {
    let declared =
        Regex::new(r"(?m)^\s*(?:pub(?:\([^)]*\))? )?(?:struct|enum|trait|type|union) (\w+)")
            .expect("a regular expression");
    let mut meanings = BTreeMap::<String, usize>::new();
    for source in sources() {
        for name in declared.captures_iter(&source.code) {
            *meanings.entry(name[1].to_owned()).or_default() += 1;
        }
    }
    assert!(meanings.len() > 500, "the types are where this test looks for them");
    // An associated type has the name that its trait gives it.
    for associated in ["IntoIter", "Item", "Output", "Value"] {
        meanings.remove(associated);
    }
    let repeated = meanings.iter().filter(|(_, count)| **count > MOST);
    let repeated: Vec<(&str, usize)> = repeated.map(|(name, count)| (&**name, *count)).collect();
    assert_eq!(repeated, REPEATED);
}
