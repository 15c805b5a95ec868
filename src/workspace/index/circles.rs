//! Cycles among keys whose values ask for each other.

use std::collections::HashMap;
use std::sync::Arc;

use super::keys::Keys;

/// Returns the strongly connected components with a loop in them: for each key in one, its number
/// (Tarjan's algorithm, without recursion).
pub(super) fn find_cycles(keys: &Keys) -> HashMap<Arc<str>, usize> {
    let asking: Vec<&Arc<str>> = keys.asking_keys().collect();
    let number: HashMap<&str, usize> =
        asking.iter().enumerate().map(|(n, key)| (&***key, n)).collect();
    let targets: Vec<Vec<usize>> = asking
        .iter()
        .map(|key| keys.asks_for(key).filter_map(|target| number.get(&**target).copied()).collect())
        .collect();
    let mut order = vec![usize::MAX; asking.len()];
    let mut low = vec![0; asking.len()];
    let mut on_stack = vec![false; asking.len()];
    let (mut stack, mut clock, mut found) = (Vec::new(), 0, HashMap::new());
    for start in 0..asking.len() {
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
                let at = stack
                    .iter()
                    .rposition(|member| *member == node)
                    .expect("a component's root is on the stack");
                let members = stack.split_off(at);
                members.iter().for_each(|member| on_stack[*member] = false);
                if members.len() > 1 || targets[node].contains(&node) {
                    found.extend(members.into_iter().map(|member| (asking[member].clone(), node)));
                }
            }
        }
    }
    found
}
