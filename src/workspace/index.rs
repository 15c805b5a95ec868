//! Which files define a key and which keys ask for which: what rules across files need, computed once per snapshot.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::file::File;
use super::snapshot::Snapshot;
use crate::hiera::data::Reference;
use crate::text::FilePath;

/// The index of one snapshot.
#[derive(Debug, Default)]
pub struct KeyIndex {
    definitions: HashMap<Arc<str>, Vec<FilePath>>,
    loops: HashMap<Arc<str>, usize>,
}

impl KeyIndex {
    /// Reads all data files of a snapshot that some level can reach.
    pub fn new(snapshot: &Snapshot) -> KeyIndex {
        let mut definitions: HashMap<Arc<str>, Vec<FilePath>> = HashMap::new();
        let mut edges: HashMap<Arc<str>, HashSet<Arc<str>>> = HashMap::new();
        let environments = &snapshot.layout().environments;
        let readings = |file: &Arc<File>| {
            let governing = environments.iter().filter(|environment| environment.reaches(&file.path));
            let mut data: Vec<_> = governing.filter_map(|environment| snapshot.view(environment).data_of(&file.path)).collect();
            // What is read in the same way is the same: parsed once, counted once.
            data.dedup_by(|a, b| Arc::ptr_eq(a, b));
            data.into_iter().map(|data| (file.path.clone(), data)).collect::<Vec<_>>()
        };
        for (path, data) in snapshot.files().flat_map(readings) {
            for key in data.keys().filter_map(|key| key.as_str()) {
                match definitions.get_mut(key) {
                    Some(files) if files.last() == Some(&path) => {}
                    Some(files) => files.push(path.clone()),
                    None => drop(definitions.insert(key.into(), vec![path.clone()])),
                }
            }
            for token in data.tokens() {
                if let Reference::Key { key, .. } = &token.reference {
                    edges.entry(token.root.clone()).or_default().insert(key.root_text().into());
                }
            }
        }
        KeyIndex { definitions, loops: circles(&edges) }
    }

    /// The files that define a root key, in the order of their paths.
    pub fn definitions(&self, key: &str) -> &[FilePath] {
        self.definitions.get(key).map_or(&[], Vec::as_slice)
    }

    /// All root keys.
    pub fn keys(&self) -> impl Iterator<Item = &Arc<str>> {
        self.definitions.keys()
    }

    /// Whether, levels left aside, tokens lead from each of two root keys to the other.
    pub fn in_one_circle(&self, one: &str, other: &str) -> bool {
        self.loops.get(one).is_some_and(|circle| self.loops.get(other) == Some(circle))
    }
}

/// The strongly connected components with a loop in them: for each key in one, its number (Tarjan's algorithm, without recursion).
fn circles(edges: &HashMap<Arc<str>, HashSet<Arc<str>>>) -> HashMap<Arc<str>, usize> {
    let keys: Vec<&Arc<str>> = edges.keys().collect();
    let number: HashMap<&str, usize> = keys.iter().enumerate().map(|(n, key)| (&***key, n)).collect();
    let targets: Vec<Vec<usize>> =
        keys.iter().map(|key| edges[*key].iter().filter_map(|target| number.get(&**target).copied()).collect()).collect();
    let mut order = vec![usize::MAX; keys.len()];
    let mut low = vec![0; keys.len()];
    let mut on_stack = vec![false; keys.len()];
    let (mut stack, mut clock, mut found) = (Vec::new(), 0, HashMap::new());
    for start in 0..keys.len() {
        if order[start] != usize::MAX {
            continue;
        }
        let mut calls = vec![(start, 0)];
        while let Some((node, next)) = calls.pop() {
            if next == 0 {
                order[node] = clock;
                low[node] = clock;
                clock += 1;
                stack.push(node);
                on_stack[node] = true;
            }
            if let Some(&target) = targets[node].get(next) {
                calls.push((node, next + 1));
                if order[target] == usize::MAX {
                    calls.push((target, 0));
                } else if on_stack[target] {
                    low[node] = low[node].min(order[target]);
                }
                continue;
            }
            if let Some((parent, _)) = calls.last() {
                low[*parent] = low[*parent].min(low[node]);
            }
            if low[node] == order[node] {
                let at = stack.iter().rposition(|member| *member == node).expect("a component's root is on the stack");
                let members = stack.split_off(at);
                members.iter().for_each(|member| on_stack[*member] = false);
                if members.len() > 1 || targets[node].contains(&node) {
                    found.extend(members.into_iter().map(|member| (keys[member].clone(), node)));
                }
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn circles_are_found_and_chains_are_not() {
        let edges = [("a", "b"), ("b", "c"), ("c", "a"), ("c", "d"), ("d", "e"), ("s", "s")];
        let mut map: HashMap<Arc<str>, HashSet<Arc<str>>> = HashMap::new();
        for (from, to) in edges {
            map.entry(from.into()).or_default().insert(to.into());
        }
        let index = KeyIndex { definitions: HashMap::new(), loops: circles(&map) };
        assert!(index.in_one_circle("a", "c") && index.in_one_circle("b", "a") && index.in_one_circle("s", "s"));
        assert!(!index.in_one_circle("c", "d") && !index.in_one_circle("d", "e") && !index.in_one_circle("a", "s"));
    }
}
