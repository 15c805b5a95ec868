//! `node` blocks: the names that they match, and the parts that they give their nodes.

use super::expression::{CallArgument, Tokens, View};
use super::model::{NodeBlock, NodeCall, NodeName, ReaderFunction};
use super::readers::arguments_at;
use super::token::{Bracket, Kind};
use super::walk::Walker;
use crate::text::TextRange;

impl Walker<'_> {
    /// Begins the node block whose keyword is at `at`.
    pub(super) fn node_block(&mut self, view: &View<'_>, at: usize) {
        let Some((names, body)) = parse_names(view, at + 1) else { return };
        let keyword = view.code.tokens[at].range;
        let index = self.found.nodes.len();
        self.found.nodes.push(NodeBlock {
            names,
            range: keyword.cover(view.code.tokens[body].range),
            calls: Vec::new(),
            variables: Vec::new(),
        });
        self.enter_node(index, body);
    }

    /// Notes the call of another function in a node block.
    pub(super) fn node_call(&mut self, view: &View<'_>, at: usize) {
        let Some(node) = self.current_node() else { return };
        let function = view.word_text(at);
        let is_other = ReaderFunction::from_name(function).is_none()
            && !matches!(function, "include" | "contain" | "require");
        let Some((arguments, end)) = arguments_at(view, at + 1).filter(|_| is_other) else {
            return;
        };
        let arguments: Vec<_> = arguments
            .iter()
            .map(|argument: &CallArgument| view.argument_literal(argument))
            .collect();
        let Some(range) = view.code.token_range(at..end) else { return };
        if arguments.iter().flatten().any(|argument| argument.as_str().is_some()) {
            let function = function.to_owned();
            self.found.nodes[node].calls.push(NodeCall { function, arguments, range });
        }
    }
}

/// Reads the names of a node block that begin at `at`, and the index of the brace that opens its
/// body.
fn parse_names(view: &View<'_>, at: usize) -> Option<(Vec<(NodeName, TextRange)>, usize)> {
    let body = (at..view.code.len().min(at + 2_000))
        .find(|at| view.kind(*at) == Some(Kind::Open(Bracket::Curly)))?;
    let inherits = (at..body).find(|at| view.is_word(*at, "inherits"));
    let parts = view.split(at..inherits.unwrap_or(body), Kind::Comma);
    if parts.is_empty() {
        return None;
    }
    Some((
        parts
            .into_iter()
            .map(|part| Some((parse_name(view, part.clone())?, view.code.token_range(part)?)))
            .collect::<Option<_>>()?,
        body,
    ))
}

fn parse_name(view: &View<'_>, tokens: Tokens) -> Option<NodeName> {
    if tokens.len() == 1 {
        match view.kind(tokens.start)? {
            Kind::Name if view.word_text(tokens.start) == "default" => {
                return Some(NodeName::Default);
            }
            Kind::Regex => {
                let text = view.word_text(tokens.start);
                return Some(NodeName::Regex(text[1..text.len() - 1].replace("\\/", "/")));
            }
            Kind::Name | Kind::Number => {}
            _ => {
                return view
                    .string_value(tokens.start)
                    .map(|text| NodeName::Literal(text.into_owned()));
            }
        }
    }
    // The name may be written without quotes: `a.example.net`.
    let dotted = tokens
        .clone()
        .all(|at| matches!(view.kind(at), Some(Kind::Name | Kind::Number | Kind::Dot)));
    let range = view.code.token_range(tokens).filter(|_| dotted)?;
    Some(NodeName::Literal(view.text[range.as_usize()].to_owned()))
}
