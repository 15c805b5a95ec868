//! The cycles of any length that lookups of one scope run into: the strongly connected keys among
//! those that tokens ask for, each hop confirmed by a lookup that follows no token.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use super::TokensOf;
use crate::diagnostics::rule::DataContext;
use crate::hiera::data::TokenUse;
use crate::hiera::key::LookupKey;
use crate::hiera::lookup::Resolver;
use crate::hiera::resolution::Outcome;
use crate::text::{FilePath, Span};

/// A root key that lookups reach.
struct CycleNode {
    root: Arc<str>,
    hops: Vec<Hop>,
    /// The number of the key's component; `None` while it is not known, and for a key on no cycle.
    circle: Option<usize>,
}

/// A token that a lookup interpolates.
pub(super) struct Hop {
    /// The key that the token asks for, as it is written.
    pub(super) text: Arc<str>,
    /// The place of the token.
    pub(super) span: Span,
    to: usize,
}

/// The cycles that were found in one scope.
pub(super) struct CycleGraph<'a> {
    context: &'a DataContext<'a>,
    resolver: &'a Resolver<'a>,
    nodes: Vec<CycleNode>,
    numbers: HashMap<Arc<str>, usize>,
    /// How many keys may still be looked up.
    left: usize,
}

impl<'a> CycleGraph<'a> {
    /// Returns the cycles that lookups of these root keys reach; `left` bounds how many keys are
    /// looked up.
    pub(super) fn new(
        context: &'a DataContext<'a>,
        resolver: &'a Resolver<'a>,
        tokens: &mut TokensOf<'_>,
        roots: impl Iterator<Item = Arc<str>>,
        left: usize,
    ) -> CycleGraph<'a> {
        let (nodes, numbers) = Default::default();
        let mut circles = CycleGraph { context, resolver, nodes, numbers, left };
        let mut open: VecDeque<usize> = roots.filter_map(|root| circles.add(root)).collect();
        while let Some(number) = open.pop_front() {
            if context.file.snapshot.cancel_token().is_cancelled() {
                break;
            }
            circles.follow(number, tokens, &mut open);
        }
        circles.connect();
        circles
    }

    /// Whether there were more keys than may be looked up.
    pub(super) fn is_cut_short(&self) -> bool {
        self.left == 0
    }

    /// Adds a node and returns its number; `None` for a key that has one.
    fn add(&mut self, root: Arc<str>) -> Option<usize> {
        if self.numbers.contains_key(&root) {
            return None;
        }
        let number = self.nodes.len();
        self.numbers.insert(root.clone(), number);
        self.nodes.push(CycleNode { root, hops: Vec::new(), circle: None });
        Some(number)
    }

    /// Looks a key up, and records the tokens that its lookup interpolates.
    fn follow(&mut self, number: usize, tokens: &mut TokensOf<'_>, open: &mut VecDeque<usize>) {
        let Some(left) = self.left.checked_sub(1) else { return };
        self.left = left;
        let file = &self.context.file;
        let root = self.nodes[number].root.clone();
        let resolution = self.resolver.lookup_shallowly(&LookupKey::of_root(&root));
        let found_in = resolution.steps.iter().filter_map(|step| match &step.outcome {
            Outcome::Found { path, .. } => Some(path),
            _ => None,
        });
        let found_in: Vec<&FilePath> = found_in.collect();
        let index = file.snapshot.keys();
        let mut hops = Vec::new();
        for path in found_in {
            for token in tokens.tokens_of(path, &root).iter() {
                let Some(key) = token.reference.key() else { continue };
                let target = key.root_text();
                if !resolution.reads.keys.contains(&*key.text)
                    || !index.in_one_cycle(&root, &target)
                {
                    continue;
                }
                open.extend(self.add(target.clone()));
                let to = self.numbers[&target];
                hops.push(Hop { text: key.text.clone(), span: token.span(), to });
            }
        }
        self.nodes[number].hops = hops;
    }

    /// Numbers the components: Tarjan's algorithm, without recursion.
    fn connect(&mut self) {
        let count = self.nodes.len();
        let (mut order, mut low) = (vec![usize::MAX; count], vec![0; count]);
        let (mut stack, mut on_stack, mut clock) = (Vec::new(), vec![false; count], 0);
        for start in 0..count {
            let mut calls = if order[start] == usize::MAX { vec![(start, 0)] } else { Vec::new() };
            while let Some((node, next)) = calls.pop() {
                if next == 0 {
                    (order[node], low[node]) = (clock, clock);
                    clock += 1;
                    stack.push(node);
                    on_stack[node] = true;
                }
                if let Some(Hop { to, .. }) = self.nodes[node].hops.get(next) {
                    calls.push((node, next + 1));
                    if order[*to] == usize::MAX {
                        calls.push((*to, 0));
                    } else if on_stack[*to] {
                        low[node] = low[node].min(order[*to]);
                    }
                    continue;
                }
                if let Some((above, _)) = calls.last() {
                    low[*above] = low[*above].min(low[node]);
                }
                if low[node] == order[node] {
                    self.close(node, &mut stack, &mut on_stack);
                }
            }
        }
    }

    /// Takes a component from the stack.
    fn close(&mut self, first: usize, stack: &mut Vec<usize>, on_stack: &mut [bool]) {
        let is_alone = stack.last() == Some(&first);
        let asks_itself = self.nodes[first].hops.iter().any(|hop| hop.to == first);
        while let Some(member) = stack.pop() {
            on_stack[member] = false;
            self.nodes[member].circle = (!is_alone || asks_itself).then_some(first);
            if member == first {
                break;
            }
        }
    }

    /// Whether a token of the file is part of a cycle.
    pub(super) fn closes_cycle(&self, token: &TokenUse) -> bool {
        let Some(node) = self.find_node(&token.root) else { return false };
        let (Some(circle), Some(hop)) =
            (node.circle, node.hops.iter().find(|hop| hop.span == token.span()))
        else {
            return false;
        };
        self.nodes[hop.to].circle == Some(circle)
    }

    fn find_node(&self, root: &str) -> Option<&CycleNode> {
        self.numbers.get(root).map(|number| &self.nodes[*number])
    }

    /// Returns the hops of a shortest cycle through a token, the first one being its own. `most`
    /// bounds the number of hops, and of visited keys: beyond it the search ends, and the last hop
    /// does not lead back to the token's key.
    pub(super) fn way_round(&self, token: &TokenUse, most: usize) -> Vec<&Hop> {
        let Some(start) = self.numbers.get(&token.root) else { return Vec::new() };
        let own = self.nodes[*start].hops.iter().find(|hop| hop.span == token.span());
        let Some(own) = own else { return Vec::new() };
        // The search is breadth-first, and begins at the token.
        let mut came_by: HashMap<usize, (usize, &Hop)> = HashMap::new();
        let mut open = VecDeque::from([(own.to, 1)]);
        let mut last = own.to;
        while let Some((number, length)) = open.pop_front() {
            last = number;
            if number == *start || length >= most || came_by.len() > 4 * most {
                break;
            }
            for hop in &self.nodes[number].hops {
                let is_on = self.nodes[hop.to].circle == self.nodes[*start].circle;
                if is_on && hop.to != own.to && !came_by.contains_key(&hop.to) {
                    came_by.insert(hop.to, (number, hop));
                    open.push_back((hop.to, length + 1));
                }
            }
        }
        let mut way = Vec::new();
        while let Some((before, hop)) = came_by.get(&last).filter(|_| last != own.to) {
            way.push(*hop);
            last = *before;
        }
        way.push(own);
        way.reverse();
        way
    }

    /// Whether the last hop leads back to the token's key.
    pub(super) fn comes_back(&self, token: &TokenUse, way: &[&Hop]) -> bool {
        way.last().is_some_and(|hop| *self.nodes[hop.to].root == *token.root)
    }
}
