//! A memo: answers that are kept for the next question, up to a number.

use std::hash::Hash;
use std::sync::{PoisonError, RwLock};

use foldhash::HashMap;

/// Answers by question, for several threads.
#[derive(Debug)]
pub struct Memo<K, V> {
    answers: RwLock<HashMap<K, V>>,
    capacity: usize,
}

impl<K: Clone + Eq + Hash, V: Clone> Default for Memo<K, V> {
    /// Creates an empty memo for questions of which there are few.
    fn default() -> Memo<K, V> {
        Memo::new(1024)
    }
}

impl<K: Clone + Eq + Hash, V: Clone> Memo<K, V> {
    /// Creates an empty memo of at most `capacity` answers.
    pub fn new(capacity: usize) -> Memo<K, V> {
        Memo { answers: RwLock::default(), capacity }
    }

    /// Returns the answer that was kept for a question.
    pub fn get(&self, question: &K) -> Option<V> {
        self.answers.read().unwrap_or_else(PoisonError::into_inner).get(question).cloned()
    }

    /// Keeps an answer.
    pub fn insert(&self, question: K, answer: V) {
        let mut answers = self.answers.write().unwrap_or_else(PoisonError::into_inner);
        if answers.len() >= self.capacity && !answers.contains_key(&question) {
            answers.clear();
        }
        answers.insert(question, answer);
    }

    /// Drops all answers.
    pub fn clear(&self) {
        self.answers.write().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// Returns the cached answer, or else caches and returns the result of `compute`. Two threads
    /// may compute the same answer at once.
    pub fn get_or(&self, question: &K, compute: impl FnOnce() -> V) -> V {
        self.get_or_if(question, compute, |_| true)
    }

    /// Works as `get_or`, but keeps only answers that `is_kept` accepts.
    pub fn get_or_if(
        &self,
        question: &K,
        compute: impl FnOnce() -> V,
        is_kept: impl FnOnce(&V) -> bool,
    ) -> V {
        if let Some(known) = self.get(question) {
            return known;
        }
        let answer = compute();
        if is_kept(&answer) {
            self.insert(question.clone(), answer.clone());
        }
        answer
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_memo_is_emptied_before_the_next_answer() {
        let memo = Memo::new(2);
        assert_eq!((memo.get_or(&1, || 10), memo.get_or(&2, || 20)), (10, 20));
        assert_eq!(memo.get_or(&1, || unreachable!("the answer was kept")), 10);
        memo.insert(2, 21);
        assert_eq!((memo.get(&1), memo.get(&2)), (Some(10), Some(21)), "an update evicts nothing");
        memo.insert(3, 30);
        assert_eq!((memo.get(&1), memo.get(&2), memo.get(&3)), (None, None, Some(30)));
        memo.get_or_if(&4, || 40, |_| false);
        assert_eq!(memo.get(&4), None);
    }
}
