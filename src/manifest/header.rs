//! Headers of definitions: parameters with their types and defaults.
//!
//! A header is read by the grammar. If it does not parse, as while it is typed, it is read once
//! more line by line ([`by_lines`]), so that its other parameters stay known.

use super::expression::{Tokens, View};
use super::lexer::is_keyword;
use super::model::{DefinitionKind, Excerpt, Parameter};
use super::token::{Bracket, Kind};
use crate::text::TextRange;

mod by_lines;

pub(super) use by_lines::by_lines;

/// The header of a definition: the part between its name and its body.
#[derive(Debug, Default)]
pub(super) struct Header {
    pub parameters: Vec<Parameter>,
    /// The parent class.
    pub inherits: Option<Excerpt>,
    /// The type behind `>>`.
    pub return_type: Option<Excerpt>,
    /// The index of the body's opening brace; `None` if there is none.
    pub body: Option<usize>,
}

/// The reason why a header does not parse.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Broken {
    /// There is no parameter list, and no body.
    NoBody,
    /// The parameter list, whose bracket has this index.
    List(usize),
}

/// Reads the header behind the name, which has the index `at - 1`.
pub(super) fn parse(view: &View<'_>, at: usize, kind: DefinitionKind) -> Result<Header, Broken> {
    let mut header = Header::default();
    let open = (view.kind(at) == Some(Kind::Open(Bracket::Round))).then_some(at);
    let broken = || open.map_or(Broken::NoBody, Broken::List);
    let mut at = at;
    if let Some(open) = open {
        let (parameters, close) = parse_parameters(view, open).ok_or_else(broken)?;
        header.parameters = parameters;
        at = close + 1;
    }
    if kind == DefinitionKind::Class && view.is_word(at, "inherits") {
        let name = view.code.tokens.get(at + 1).filter(|token| token.kind == Kind::Name);
        header.inherits = name.map(|token| {
            let mut parent = view.excerpt_of(token.range);
            parent.text = plain_name(&parent.text);
            parent
        });
        at += 1 + usize::from(header.inherits.is_some());
    }
    if view.kind(at) == Some(Kind::ShiftRight) {
        let end = type_end(view, at + 1).ok_or_else(broken)?;
        header.return_type = view.excerpt_tokens(at + 1..end);
        at = end;
    }
    if view.kind(at) != Some(Kind::Open(Bracket::Curly)) {
        return Err(broken());
    }
    header.body = Some(at);
    Ok(header)
}

/// Returns the name of a class as Puppet keeps it.
pub(super) fn plain_name(name: &str) -> String {
    name.strip_prefix("::").unwrap_or(name).to_ascii_lowercase()
}

/// Returns the index behind a type that begins at `at`; `None` where there is no type.
pub(super) fn type_end(view: &View<'_>, at: usize) -> Option<usize> {
    if view.kind(at) != Some(Kind::Reference) {
        return None;
    }
    match view.kind(at + 1) {
        Some(Kind::Open(Bracket::Square)) => {
            view.code.partner_bracket(at + 1).map(|close| close + 1)
        }
        _ => Some(at + 1),
    }
}

/// Reads the parameters of the list that opens at `open`, and the index of its closing bracket.
fn parse_parameters(view: &View<'_>, open: usize) -> Option<(Vec<Parameter>, usize)> {
    let close = view.code.partner_bracket(open)?;
    let parts = view.split(open + 1..close, Kind::Comma);
    let parameters = parts.into_iter().map(|part| parse_parameter(view, part));
    Some((parameters.collect::<Option<_>>()?, close))
}

fn parse_parameter(view: &View<'_>, tokens: Tokens) -> Option<Parameter> {
    let mut at = tokens.start;
    let mut data_type = None;
    if view.kind(at) == Some(Kind::Reference) {
        let end = type_end(view, at)?;
        data_type = view.excerpt_tokens(at..end);
        at = end;
    }
    let captures_rest = view.kind(at) == Some(Kind::Star);
    at += usize::from(captures_rest);
    let name = view.variable_name(at).filter(|name| !name.is_empty() && at < tokens.end)?;
    let mut parameter = Parameter {
        name: name.to_owned(),
        range: view.code.tokens[at].range,
        data_type,
        default: None,
        value: None,
        captures_rest,
        documentation: None,
    };
    if at + 1 == tokens.end {
        return Some(parameter);
    }
    let default = at + 2..tokens.end;
    if view.kind(at + 1) != Some(Kind::Assign) || !is_expression(view, default.clone()) {
        return None;
    }
    parameter.value = view.literal_value(default.clone());
    parameter.default = view.excerpt_tokens(default);
    Some(parameter)
}

/// Whether tokens can be one expression: no two operands stand side by side, as they do where a
/// comma or a quote is missing.
fn is_expression(view: &View<'_>, tokens: Tokens) -> bool {
    let mut at = tokens.start;
    let mut after_operand = false;
    while at < tokens.end {
        let Some(kind) = view.kind(at) else { return false };
        match kind {
            Kind::Name if matches!(view.word_text(at), "and" | "or" | "in") => {
                after_operand = false
            }
            // The tokens are a statement with blocks of other statements.
            Kind::Name if matches!(view.word_text(at), "if" | "unless" | "case") => return true,
            Kind::Name
            | Kind::Reference
            | Kind::Variable
            | Kind::Number
            | Kind::Plain
            | Kind::Single
            | Kind::Double(_)
            | Kind::Heredoc(_)
            | Kind::Regex => {
                let is_keyword = kind == Kind::Name && is_keyword(view.word_text(at));
                if after_operand || (is_keyword && !is_value(view.word_text(at))) {
                    return false;
                }
                after_operand = true;
            }
            Kind::Open(bracket) => {
                let Some(close) = view.code.partner_bracket(at).filter(|close| *close < tokens.end)
                else {
                    return false;
                };
                if bracket == Bracket::Curly {
                    if after_operand {
                        return false;
                    }
                } else if !is_list(view, at + 1..close) {
                    return false;
                }
                after_operand = true;
                at = close;
            }
            Kind::Pipe => {
                let Some(bar) = view.find(at + 1..tokens.end, Kind::Pipe) else { return false };
                after_operand = false;
                at = bar;
            }
            Kind::Assign | Kind::Close(_) | Kind::Semicolon | Kind::Rendered => return false,
            _ => after_operand = false,
        }
        at += 1;
    }
    after_operand
}

/// Whether a reserved word may stand where a value is expected.
fn is_value(word: &str) -> bool {
    matches!(word, "default" | "undef" | "true" | "false" | "type" | "function" | "class")
}

/// Whether tokens can be expressions with commas between them; pairs of a hash are among them.
fn is_list(view: &View<'_>, tokens: Tokens) -> bool {
    view.split(tokens, Kind::Comma).into_iter().all(|part| {
        let has_assignment = view.find(part.clone(), Kind::Assign).is_some();
        has_assignment || is_expression(view, part)
    })
}

/// Returns the bytes of a list's opening bracket.
pub(super) fn bracket_range(view: &View<'_>, open: usize) -> TextRange {
    view.code.tokens[open].range
}
