//! Sets of nodes.

use roaring::RoaringBitmap;

/// A set of nodes of an environment, by their numbers; at most 2^32 nodes. A set of many nodes takes
/// about one bit for each node of the fleet, a set of few nodes two bytes for each of them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NodeSet(RoaringBitmap);

impl NodeSet {
    /// Returns the number of nodes.
    pub fn len(&self) -> usize {
        self.0.len() as usize
    }

    /// Whether there is no node.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a node is in the set.
    pub fn contains(&self, node: usize) -> bool {
        self.0.contains(node as u32)
    }

    /// Returns the node with the lowest number; `None` where the set is empty.
    pub fn first(&self) -> Option<usize> {
        self.0.min().map(|node| node as usize)
    }

    /// Returns the nodes in the order of their numbers.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.0.iter().map(|node| node as usize)
    }

    /// Whether no node is in both sets.
    pub fn is_disjoint(&self, other: &NodeSet) -> bool {
        self.0.is_disjoint(&other.0)
    }

    /// Returns the nodes that both sets have.
    pub fn intersection(&self, other: &NodeSet) -> NodeSet {
        NodeSet(&self.0 & &other.0)
    }

    /// Adds the nodes of another set.
    pub fn insert_all(&mut self, other: &NodeSet) {
        self.0 |= &other.0;
    }

    /// Removes the nodes of another set.
    pub fn remove_all(&mut self, other: &NodeSet) {
        self.0 -= &other.0;
    }

    /// Returns the nodes of all sets.
    pub fn union<'s>(sets: impl IntoIterator<Item = &'s NodeSet>) -> NodeSet {
        let mut all = NodeSet::default();
        sets.into_iter().for_each(|set| all.insert_all(set));
        all
    }
}

impl FromIterator<usize> for NodeSet {
    fn from_iter<I: IntoIterator<Item = usize>>(nodes: I) -> NodeSet {
        NodeSet(nodes.into_iter().map(|node| node as u32).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(nodes: &[usize]) -> NodeSet {
        nodes.iter().copied().collect()
    }

    #[test]
    fn nodes_come_in_order_and_once() {
        let nodes = set(&[70_000, 3, 1, 3]);
        assert_eq!(nodes.iter().collect::<Vec<_>>(), [1, 3, 70_000]);
        assert_eq!((nodes.len(), nodes.first()), (3, Some(1)));
        assert!(nodes.contains(3) && !nodes.contains(2));
        assert_eq!(NodeSet::default().first(), None);
    }

    #[test]
    fn sets_are_equal_however_they_are_made() {
        let all: NodeSet = (0..10_000).collect();
        let mut odd: NodeSet = (0..10_000).rev().filter(|node| node % 2 == 1).collect();
        assert_eq!(all.intersection(&odd), odd);
        assert_ne!(all, odd);
        odd.insert_all(&(0..10_000).step_by(2).collect());
        assert_eq!(all, odd);
        odd.remove_all(&(3..10_000).collect());
        assert_eq!(odd, set(&[0, 1, 2]));
        assert!(odd.is_disjoint(&set(&[3])) && !odd.is_disjoint(&set(&[2])));
        assert_eq!(NodeSet::union([&odd, &set(&[9])]), set(&[0, 1, 2, 9]));
    }
}
