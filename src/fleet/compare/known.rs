//! The answers in a snapshot as it is, which comparisons of several changes share: those that one
//! request makes, or those of an editor's text after each keystroke.

use std::collections::HashMap;
use std::sync::Arc;

use super::answer::NodeAnswers;
use super::{ComparedSide, Comparer};
use crate::fleet::ways::{ReadWay, WayIdentity};
use crate::workspace::nodes::Node;

/// A key that is read in a way, in the environment with this number.
type KnownQuestion = (usize, Arc<str>, WayIdentity);

/// Answers by question, as far as there is room for them. All belong to one snapshot.
#[derive(Debug)]
pub struct KnownAnswers {
    answers: HashMap<KnownQuestion, Kept>,
    /// The bytes that the answers may take, about.
    room: usize,
    taken: usize,
    /// The number of the comparison that is made.
    round: u64,
    /// The comparison that made room last.
    cleared: u64,
}

#[derive(Debug)]
struct Kept {
    answers: NodeAnswers,
    bytes: usize,
    /// The last comparison that asked for the answers.
    round: u64,
}

impl Default for KnownAnswers {
    /// Returns an empty store with room for all answers.
    fn default() -> KnownAnswers {
        KnownAnswers::new(usize::MAX)
    }
}

impl KnownAnswers {
    /// Returns an empty store with room for about so many bytes.
    pub fn new(room: usize) -> KnownAnswers {
        KnownAnswers { answers: HashMap::new(), room, taken: 0, round: 0, cleared: 0 }
    }

    /// Begins another comparison: answers that no later one asks for make room for others.
    pub(super) fn begin_round(&mut self) {
        self.round += 1;
    }

    /// Returns the answers to a question, which the caller completes and puts back. Empty where none
    /// is known.
    pub(super) fn take(&mut self, question: &KnownQuestion) -> NodeAnswers {
        let Some(kept) = self.answers.remove(question) else { return NodeAnswers::default() };
        self.taken -= kept.bytes;
        kept.answers
    }

    /// Keeps the answers to a question. Where there is no room, the answers that this comparison did
    /// not ask for are forgotten; these ones, where that is not enough.
    pub(super) fn put(&mut self, question: KnownQuestion, answers: NodeAnswers) {
        let (bytes, round) = (answers.bytes(), self.round);
        if self.taken.saturating_add(bytes) > self.room && self.cleared != round {
            self.cleared = round;
            self.answers.retain(|_, kept| kept.round == round);
            self.taken = self.answers.values().map(|kept| kept.bytes).sum();
        }
        if self.taken.saturating_add(bytes) <= self.room {
            self.taken += bytes;
            self.answers.insert(question, Kept { answers, bytes, round });
        }
    }
}

impl Comparer<'_> {
    /// Returns the answers of the nodes, or of these kinds of nodes, with these numbers before the
    /// change, as far as the effort reaches: those that are known, and the others. The caller gives
    /// them to [`Comparer::keep_answers`].
    pub(super) fn known_answers(
        &self,
        (before, kinds): (ComparedSide<'_>, Option<&[Arc<Node>]>),
        (key, way): (&Arc<str>, &ReadWay<'_>),
        numbers: &[usize],
    ) -> NodeAnswers {
        let mut answers = self.take_answers(before, (key, way));
        self.add_answers((before, kinds), (key, way), numbers, &mut answers);
        answers
    }

    /// Returns the answers before the change that are known. The caller gives them to
    /// [`Comparer::keep_answers`].
    pub(super) fn take_answers(
        &self,
        before: ComparedSide<'_>,
        (key, way): (&Arc<str>, &ReadWay<'_>),
    ) -> NodeAnswers {
        self.known.borrow_mut().take(&known_question(before, key, way))
    }

    /// Keeps answers before the change for the next one. A cancelled lookup is no answer.
    pub(super) fn keep_answers(
        &self,
        before: ComparedSide<'_>,
        (key, way): (&Arc<str>, &ReadWay<'_>),
        answers: NodeAnswers,
    ) {
        if !self.before.cancel_token().is_cancelled() {
            self.put_answers(before, (key, way), answers);
        }
    }

    /// Keeps answers before the change, none of which is of a cancelled lookup.
    pub(super) fn put_answers(
        &self,
        before: ComparedSide<'_>,
        (key, way): (&Arc<str>, &ReadWay<'_>),
        answers: NodeAnswers,
    ) {
        self.known.borrow_mut().put(known_question(before, key, way), answers);
    }
}

/// Returns the question of a key that is read in a way before a change.
fn known_question(before: ComparedSide<'_>, key: &Arc<str>, way: &ReadWay<'_>) -> KnownQuestion {
    let mut all = before.snapshot.environments().all.iter();
    let number = all.position(|one| std::ptr::eq(&**one, before.environment));
    (number.unwrap_or_default(), key.clone(), way.identity())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Answers of so many nodes, which take four bytes each.
    fn answers_of(nodes: usize) -> NodeAnswers {
        NodeAnswers::with_nodes(nodes)
    }

    fn question(key: &str) -> KnownQuestion {
        (0, key.into(), WayIdentity::default())
    }

    #[test]
    fn answers_that_a_comparison_does_not_ask_for_make_room() {
        let mut known = KnownAnswers::new(100);
        let held = |known: &KnownAnswers| {
            let mut keys: Vec<&str> = known.answers.keys().map(|(_, key, _)| &**key).collect();
            keys.sort_unstable();
            keys.join(" ")
        };
        known.begin_round();
        known.put(question("a"), answers_of(10));
        known.put(question("b"), answers_of(10));
        known.put(question("c"), answers_of(10));
        assert_eq!((held(&known).as_str(), known.taken), ("a b", 80), "c has no room");
        known.begin_round();
        let again = known.take(&question("b"));
        assert_eq!((again.bytes(), known.taken), (40, 40));
        known.put(question("b"), again);
        known.put(question("c"), answers_of(10));
        assert_eq!((held(&known).as_str(), known.taken), ("b c", 80), "a was not asked for");
        known.put(question("d"), answers_of(30));
        assert_eq!((held(&known).as_str(), known.taken), ("b c", 80), "d is too large");
        assert_eq!(known.take(&question("d")).bytes(), 0);
    }
}
