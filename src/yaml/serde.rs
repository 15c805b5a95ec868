//! Text that is not data of Hiera: settings, facts, nodes. serde_yaml reads it, behind a bound.
//!
//! serde_yaml refuses texts that nest deeper than [`MAX_NESTING`], but needs time quadratic in the
//! depth to find out. The reader of this crate does not, so it checks first.

use serde::de::{DeserializeOwned, Error as _};

use super::run::TOO_DEEP;
use super::{NodeId, NodeKind, Tree, parse};

/// The deepest nesting that serde_yaml reads.
const MAX_NESTING: usize = 127;

/// Reads a text of one document. Errors: serde_yaml's, with the place where it knows one.
pub fn deserialize<T: DeserializeOwned>(text: &str) -> Result<T, serde_yaml::Error> {
    if nests_too_deeply(text) {
        let message = format!("nested more than {MAX_NESTING} deep");
        return Err(serde_yaml::Error::custom(message));
    }
    serde_yaml::from_str(text)
}

/// Whether brackets and indentation nest deeper than serde_yaml reads. A text that is refused half
/// way is as deep as the part before.
fn nests_too_deeply(text: &str) -> bool {
    if text.matches(['[', '{', ':', '-', '?']).nth(MAX_NESTING).is_none() {
        return false; // as with most
    }
    let tree = parse(text);
    let mut errors = tree.problems.iter().chain(&tree.verdict);
    errors.any(|error| error.message == TOO_DEEP)
        || tree.root.is_some_and(|root| depth_of(&tree, root) > MAX_NESTING)
}

fn depth_of(tree: &Tree, root: NodeId) -> usize {
    let mut deepest = 0;
    let mut open = vec![(root, 1)];
    while let Some((id, depth)) = open.pop() {
        deepest = deepest.max(depth);
        match &tree.node(id).kind {
            NodeKind::Sequence { items, .. } => {
                open.extend(items.iter().map(|item| (*item, depth + 1)));
            }
            NodeKind::Mapping { entries, .. } => {
                open.extend(entries.iter().flat_map(|(k, v)| [(*k, depth + 1), (*v, depth + 1)]));
            }
            NodeKind::Scalar { .. } | NodeKind::Alias { .. } => {}
        }
    }
    deepest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nests_deeply_is_refused_without_asking_serde_yaml() {
        let read = |text: &str| deserialize::<serde_json::Value>(text).map_err(|_| ());
        let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
        assert!(read(&nested(127)).is_ok(), "as deep as serde_yaml reads");
        for text in
            [nested(128), "[".repeat(1_000_000), "a: {".repeat(200_000), "- ".repeat(200_000)]
        {
            assert!(nests_too_deeply(&text) && read(&text).is_err());
        }
        let flat: String = (0..1000).map(|n| format!("k{n}: [a-b, '[[[[']\n")).collect();
        assert!(!nests_too_deeply(&flat) && read(&flat).is_ok());
    }
}
