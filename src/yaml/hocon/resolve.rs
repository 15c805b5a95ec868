//! Substitutions replaced, and the tree that comes of it. Source: `ResolveSource`,
//! `ConfigDelayedMerge` and `ConfigConcatenation` of hocon 1.3.1.

use std::collections::HashMap;
use std::rc::Rc;

use super::parse::{Node, NodeKind, ObjectMembers, ScalarKind, join, merge_nodes};
use super::token::PathSegment;
use super::{MAX_DEPTH, Problem, new_problem};
use crate::text::TextRange;
use crate::yaml::tree::{self, NodeId, ScalarStyle, Tree};

/// The most nodes that substitutions may make of a file, and the longest text.
const MAX_NODES: usize = 200_000;
const MAX_TEXT: usize = 16 << 20;

/// Returns the tree of a root object. `broken` for one that was not read to its end: missing keys
/// may stand in the rest.
pub(super) fn resolve(root: ObjectMembers, broken: bool) -> Tree {
    let end = root.values().map(|(_, value)| value.range.end).max().unwrap_or(0);
    let range = TextRange::new(0, end);
    let root = Node::new(NodeKind::Object(root), range);
    let mut resolver = Resolver {
        root: &root,
        open: Vec::new(),
        below: HashMap::new(),
        depth: 0,
        nodes: 0,
        text: 0,
    };
    let mut tree = Tree::default();
    let mut members = ObjectMembers::new();
    let NodeKind::Object(all) = &root.kind else { return tree };
    for (key, (range, value)) in all {
        match resolver.resolve_value(value) {
            Ok(Some(value)) => drop(members.insert(key.clone(), (*range, value))),
            Ok(None) => {}
            Err(Stop::Problem(error)) if !broken && tree.problems.is_empty() => {
                error.note_in(&mut tree)
            }
            Err(_) => {} // a cycle ends in the substitution that it began with
        }
    }
    let entries = members
        .into_iter()
        .map(|(key, (range, value))| (add_key(&mut tree, key, range), add(&mut tree, &value)))
        .collect();
    tree.root = Some(push(&mut tree, tree::NodeKind::Mapping { flow: true, entries }, range));
    tree
}

struct Resolver<'a> {
    root: &'a Rc<Node>,
    /// Substitutions being replaced, and how they are written.
    open: Vec<(*const Node, String)>,
    /// Where merged values are seen from one of them, only those below it count.
    below: HashMap<*const Node, usize>,
    depth: usize,
    nodes: usize,
    text: usize,
}

type ResolveResult = Result<Option<Rc<Node>>, Stop>;

/// Why a value is unknown.
enum Stop {
    /// The value needs a substitution that is being replaced: the substitution that asked for the
    /// value is the one that cannot be replaced. With the way there.
    Cycle(String),
    Problem(Problem),
}

impl From<Problem> for Stop {
    fn from(error: Problem) -> Stop {
        Stop::Problem(error)
    }
}

impl Resolver<'_> {
    /// Returns the value without substitutions; `None` for one that is missing and may be.
    fn resolve_value(&mut self, node: &Rc<Node>) -> ResolveResult {
        self.nodes += 1;
        if let NodeKind::Scalar(_, text) = &node.kind {
            self.text += text.len();
        }
        if self.depth >= MAX_DEPTH || self.nodes > MAX_NODES || self.text > MAX_TEXT {
            return Err(new_problem(
                "hiera-ls gives up: the substitutions make too much of this file",
                node.range,
            )
            .into());
        }
        self.depth += 1;
        let result = self.value_within(node);
        self.depth -= 1;
        result
    }

    fn value_within(&mut self, node: &Rc<Node>) -> ResolveResult {
        match &node.kind {
            NodeKind::Scalar(..) => Ok(Some(node.clone())),
            NodeKind::List(items) => {
                let mut out = Vec::with_capacity(items.len());
                for item in items {
                    out.extend(self.resolve_value(item)?);
                }
                Ok(Some(Node::new(NodeKind::List(out), node.range)))
            }
            NodeKind::Object(members) => {
                let mut out = ObjectMembers::new();
                for (key, (range, member)) in members {
                    if let Some(value) = self.resolve_value(member)? {
                        out.insert(key.clone(), (*range, value));
                    }
                }
                Ok(Some(Node::new(NodeKind::Object(out), node.range)))
            }
            NodeKind::Substitution { path, optional } => {
                self.resolve_substitution(node, path, *optional)
            }
            NodeKind::Joined(pieces) => {
                let mut out = Vec::with_capacity(pieces.len());
                for piece in pieces {
                    // A scalar has the place of its substitution, and not of the substitution's
                    // target.
                    if let Some(value) = self.resolve_value(piece)? {
                        out.push(match &value.kind {
                            NodeKind::Scalar(kind, text) => {
                                Node::new(NodeKind::Scalar(*kind, text.clone()), piece.range)
                            }
                            _ => value,
                        });
                    }
                }
                if out.is_empty() { Ok(None) } else { Ok(Some(join(out)?)) }
            }
            NodeKind::Merged(stack) => {
                let id = Rc::as_ptr(node);
                let before = self.below.get(&id).copied();
                let mut out: Option<Rc<Node>> = None;
                for (at, value) in stack.iter().enumerate().skip(before.unwrap_or(0)) {
                    let looks_below =
                        matches!(value.kind, NodeKind::Substitution { .. } | NodeKind::Joined(_));
                    if looks_below {
                        self.below.insert(id, at + 1);
                    }
                    let value = self.resolve_value(value);
                    match before {
                        Some(before) => drop(self.below.insert(id, before)),
                        None => drop(self.below.remove(&id)),
                    }
                    out = match (out, value?) {
                        (Some(higher), Some(lower)) => Some(merge_nodes(&higher, &lower)),
                        (higher, lower) => higher.or(lower),
                    };
                }
                Ok(out)
            }
        }
    }

    fn resolve_substitution(
        &mut self,
        node: &Rc<Node>,
        path: &[PathSegment],
        optional: bool,
    ) -> ResolveResult {
        let written = self.open(node, path)?;
        let found = self
            .find(path)
            .and_then(|found| found.map_or(Ok(None), |found| self.resolve_value(&found)));
        self.open.pop();
        let unresolved = format!("Could not resolve substitution to a value: {written}");
        Err(match found {
            Ok(Some(value)) => {
                let Node { kind, range, resolved, .. } = &*value;
                let copy =
                    Node { kind: kind.clone(), range: *range, resolved: *resolved, copied: true };
                return Ok(Some(Rc::new(copy)));
            }
            Ok(None) | Err(Stop::Cycle(_)) if optional => return Ok(None),
            Ok(None) => new_problem(
                format!("{unresolved} (hiera-ls reads no environment variables)"),
                node.range,
            )
            .in_words(unresolved)
            .into(),
            Err(Stop::Cycle(way)) => {
                let reason = "was part of a cycle of substitutions";
                let words = format!("{unresolved} {reason} involving {way}");
                new_problem(format!("{written} {reason}"), node.range).in_words(words).into()
            }
            Err(problem) => problem,
        })
    }

    /// Begins to replace a substitution; returns its text for messages, `${path}`. Errors: the
    /// substitution is already being replaced.
    fn open(&mut self, node: &Rc<Node>, path: &[PathSegment]) -> Result<String, Stop> {
        let written: Vec<&str> = path.iter().map(|segment| segment.text.as_str()).collect();
        let written = format!("${{{}}}", written.join("."));
        let id = Rc::as_ptr(node);
        if self.open.iter().any(|(open, _)| *open == id) {
            let way: Vec<&str> = self
                .open
                .iter()
                .map(|(_, written)| written.as_str())
                .chain([written.as_str()])
                .collect();
            return Err(Stop::Cycle(way.join(", ")));
        }
        self.open.push((id, written.clone()));
        Ok(written)
    }

    fn find(&mut self, path: &[PathSegment]) -> ResolveResult {
        let mut node = self.root.clone();
        for segment in path {
            match self.find_member(&node, &segment.text)? {
                Some(member) => node = member,
                None => return Ok(None),
            }
        }
        Ok(Some(node))
    }

    /// Returns the member of a value under a key, without resolving the member.
    fn find_member(&mut self, node: &Rc<Node>, key: &str) -> ResolveResult {
        self.nodes += 1;
        if self.depth >= MAX_DEPTH || self.nodes > MAX_NODES {
            return Err(new_problem(
                "hiera-ls gives up: the substitutions make too much of this file",
                node.range,
            )
            .into());
        }
        self.depth += 1;
        let result = self.member_within(node, key);
        self.depth -= 1;
        result
    }

    fn member_within(&mut self, node: &Rc<Node>, key: &str) -> ResolveResult {
        let (parts, skip): (Vec<&Rc<Node>>, usize) = match &node.kind {
            NodeKind::Object(members) => {
                return Ok(members.get(key).map(|(_, value)| value.clone()));
            }
            NodeKind::Scalar(..) | NodeKind::List(_) => return Ok(None),
            NodeKind::Substitution { path, .. } => {
                self.open(node, path)?;
                let found = self.find(path).and_then(|found| {
                    found.map_or(Ok(None), |found| self.find_member(&found, key))
                });
                self.open.pop();
                return found;
            }
            NodeKind::Joined(pieces) => (pieces.iter().rev().collect(), 0),
            NodeKind::Merged(stack) => {
                (stack.iter().collect(), self.below.get(&Rc::as_ptr(node)).copied().unwrap_or(0))
            }
        };
        let mut out: Option<Rc<Node>> = None;
        for part in parts.into_iter().skip(skip) {
            if matches!(part.kind, NodeKind::Scalar(..) | NodeKind::List(_)) {
                break;
            }
            out = match (out, self.find_member(part, key)?) {
                (Some(higher), Some(lower)) => Some(merge_nodes(&higher, &lower)),
                (higher, lower) => higher.or(lower),
            };
        }
        Ok(out)
    }
}

fn push(tree: &mut Tree, kind: tree::NodeKind, span: TextRange) -> NodeId {
    let id = NodeId(tree.nodes.len() as u32);
    tree.nodes.push(tree::Node { kind, span, anchor: None, tag: None });
    id
}

fn add_key(tree: &mut Tree, key: String, range: TextRange) -> NodeId {
    push(tree, tree::NodeKind::Scalar { style: ScalarStyle::Hocon, text: key.into() }, range)
}

fn add(tree: &mut Tree, node: &Node) -> NodeId {
    let kind = match &node.kind {
        NodeKind::Scalar(kind, text) => {
            let style = if *kind == ScalarKind::Literal {
                ScalarStyle::JsonLiteral
            } else {
                ScalarStyle::Hocon
            };
            tree::NodeKind::Scalar { style, text: text.as_str().into() }
        }
        NodeKind::List(items) => tree::NodeKind::Sequence {
            flow: true,
            items: items.iter().map(|item| add(tree, item)).collect(),
        },
        NodeKind::Object(members) => {
            let entries = members
                .iter()
                .map(|(key, (range, value))| (add_key(tree, key.clone(), *range), add(tree, value)))
                .collect();
            tree::NodeKind::Mapping { flow: true, entries }
        }
        // No substitution is left.
        NodeKind::Substitution { .. } | NodeKind::Joined(_) | NodeKind::Merged(_) => {
            tree::NodeKind::Scalar { style: ScalarStyle::JsonLiteral, text: "".into() }
        }
    };
    let id = push(tree, kind, node.range);
    if node.copied {
        tree.copies.push(id);
    }
    id
}
