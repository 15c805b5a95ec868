//! Expressions as far as data needs them: the ends of arguments, literal values, and texts that are
//! known in part.

use std::borrow::Cow;
use std::ops::Range;

use super::lexer::is_keyword;
use super::model::{Excerpt, Literal, TextPattern, TextPiece};
use super::strings;
use super::token::{Bracket, Code, Kind, StringSegment};
use crate::text::TextRange;

/// Indices of tokens, half-open.
pub(super) type Tokens = Range<usize>;

/// The greatest depth of lists and hashes that are read; deeper ones are no literals.
const MAX_DEPTH: usize = 40;

/// Tokens with the text that contains them.
#[derive(Clone, Copy)]
pub(super) struct View<'a> {
    pub text: &'a str,
    pub code: &'a Code,
}

/// An argument of a call.
#[derive(Clone, Debug)]
pub(super) enum CallArgument {
    Expression(Tokens),
    /// `a => 1, b => 2` without braces: one hash.
    Pairs(Vec<(Tokens, Tokens)>),
}

/// The names that a string may use for parts of the place that contains it.
#[derive(Clone, Copy, Default)]
pub(super) struct Surroundings<'a> {
    /// The class around the string: its `$title` and `$name`.
    pub class: Option<&'a str>,
    /// The module that the file belongs to: its `$module_name`.
    pub module: Option<&'a str>,
}

impl<'a> View<'a> {
    pub(super) fn kind(&self, at: usize) -> Option<Kind> {
        self.code.kind_at(at)
    }

    /// Returns the text of a token; empty behind the last.
    pub(super) fn word_text(&self, at: usize) -> &'a str {
        self.code.tokens.get(at).map_or("", |token| &self.text[token.range.as_usize()])
    }

    pub(super) fn is_word(&self, at: usize, word: &str) -> bool {
        self.kind(at) == Some(Kind::Name) && self.word_text(at) == word
    }

    pub(super) fn excerpt_tokens(&self, tokens: Tokens) -> Option<Excerpt> {
        self.code.token_range(tokens).map(|range| self.excerpt_of(range))
    }

    pub(super) fn excerpt_of(&self, range: TextRange) -> Excerpt {
        Excerpt { range, text: self.text[range.as_usize()].to_owned() }
    }

    /// Returns the variable's name without `$`; `None` for other tokens.
    pub(super) fn variable_name(&self, at: usize) -> Option<&'a str> {
        (self.kind(at) == Some(Kind::Variable)).then(|| &self.word_text(at)[1..])
    }

    /// Cuts tokens at `separator`, but not within brackets, nor between the bars of a lambda (M33).
    /// An empty part behind a last separator is left out.
    pub(super) fn split(&self, tokens: Tokens, separator: Kind) -> Vec<Tokens> {
        let mut parts = Vec::new();
        let (mut start, mut at, mut in_bars) = (tokens.start, tokens.start, false);
        while at < tokens.end {
            match self.kind(at) {
                Some(Kind::Pipe) => in_bars = !in_bars,
                Some(kind) if kind == separator && !in_bars => {
                    parts.push(start..at);
                    start = at + 1;
                }
                _ => {}
            }
            at = self.code.index_behind(at).min(tokens.end.max(at + 1));
        }
        if start < tokens.end {
            parts.push(start..tokens.end);
        }
        parts
    }

    /// Returns the first token of a kind that stands in no brackets.
    pub(super) fn find(&self, tokens: Tokens, kind: Kind) -> Option<usize> {
        let mut at = tokens.start;
        while at < tokens.end {
            if self.kind(at) == Some(kind) {
                return Some(at);
            }
            at = self.code.index_behind(at);
        }
        None
    }

    /// Returns the tokens between the brackets, if the tokens are one bracketed group.
    pub(super) fn group(&self, tokens: &Tokens, bracket: Bracket) -> Option<Tokens> {
        let is_group = self.kind(tokens.start) == Some(Kind::Open(bracket))
            && self.code.partner_bracket(tokens.start) == tokens.end.checked_sub(1);
        is_group.then(|| tokens.start + 1..tokens.end - 1)
    }

    /// Returns the tokens without round brackets around all of them.
    pub(super) fn strip_brackets(&self, mut tokens: Tokens) -> Tokens {
        while let Some(inner) =
            self.group(&tokens, Bracket::Round).filter(|inner| !inner.is_empty())
        {
            tokens = inner;
        }
        tokens
    }

    /// Returns the arguments between the brackets of a call.
    pub(super) fn parse_arguments(&self, tokens: Tokens) -> Vec<CallArgument> {
        let mut arguments: Vec<CallArgument> = Vec::new();
        for part in self.split(tokens, Kind::Comma) {
            let Some(arrow) = self.find(part.clone(), Kind::Arrow) else {
                arguments.push(CallArgument::Expression(self.strip_brackets(part)));
                continue;
            };
            let pair = (part.start..arrow, arrow + 1..part.end);
            match arguments.last_mut() {
                Some(CallArgument::Pairs(pairs)) => pairs.push(pair),
                _ => arguments.push(CallArgument::Pairs(vec![pair])),
            }
        }
        arguments
    }

    /// Returns the members of a hash, as written in braces or as arguments.
    pub(super) fn parse_pairs(&self, argument: &CallArgument) -> Option<Vec<(Tokens, Tokens)>> {
        match argument {
            CallArgument::Pairs(pairs) => Some(pairs.clone()),
            CallArgument::Expression(tokens) => {
                let inner = self.group(tokens, Bracket::Curly)?;
                let parts = self.split(inner, Kind::Comma);
                parts
                    .into_iter()
                    .map(|part| {
                        let arrow = self.find(part.clone(), Kind::Arrow)?;
                        Some((part.start..arrow, arrow + 1..part.end))
                    })
                    .collect()
            }
        }
    }

    pub(super) fn argument_range(&self, argument: &CallArgument) -> Option<TextRange> {
        match argument {
            CallArgument::Expression(tokens) => self.code.token_range(tokens.clone()),
            CallArgument::Pairs(pairs) => {
                self.code.token_range(pairs.first()?.0.start..pairs.last()?.1.end)
            }
        }
    }

    pub(super) fn argument_literal(&self, argument: &CallArgument) -> Option<Literal> {
        match argument {
            CallArgument::Expression(tokens) => self.literal_value(tokens.clone()),
            CallArgument::Pairs(pairs) => self.literal_pairs(pairs, MAX_DEPTH),
        }
    }

    /// Returns the value of an expression; `None` if the text alone does not determine it.
    pub(super) fn literal_value(&self, tokens: Tokens) -> Option<Literal> {
        self.literal_within(tokens, MAX_DEPTH)
    }

    fn literal_within(&self, tokens: Tokens, depth: usize) -> Option<Literal> {
        let tokens = self.strip_brackets(tokens);
        let depth = depth.checked_sub(1)?;
        if let Some(inner) = self.group(&tokens, Bracket::Square) {
            let elements = self.split(inner, Kind::Comma);
            return elements
                .into_iter()
                .map(|part| self.literal_within(part, depth))
                .collect::<Option<_>>()
                .map(Literal::List);
        }
        if self.group(&tokens, Bracket::Curly).is_some() {
            let pairs = self.parse_pairs(&CallArgument::Expression(tokens))?;
            return self.literal_pairs(&pairs, depth);
        }
        match tokens.len() {
            1 => self.literal_token(tokens.start),
            2 if self.word_text(tokens.start) == "-" => {
                match self.literal_token(tokens.start + 1)? {
                    Literal::Integer(number) => Some(Literal::Integer(-number)),
                    Literal::Float(number) => Some(Literal::Float(-number)),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    fn literal_pairs(&self, pairs: &[(Tokens, Tokens)], depth: usize) -> Option<Literal> {
        pairs
            .iter()
            .map(|(key, value)| {
                let key = self.literal_within(key.clone(), depth)?;
                Some((key, self.literal_within(value.clone(), depth)?))
            })
            .collect::<Option<_>>()
            .map(Literal::Hash)
    }

    fn literal_token(&self, at: usize) -> Option<Literal> {
        match self.kind(at)? {
            Kind::Name => Some(match self.word_text(at) {
                "undef" => Literal::Undef,
                "default" => Literal::Default,
                "true" => Literal::Boolean(true),
                "false" => Literal::Boolean(false),
                word if is_keyword(word) => return None,
                word => Literal::String(word.to_owned()),
            }),
            Kind::Number => parse_number(self.word_text(at)),
            _ => self.string_value(at).map(|text| Literal::String(text.into_owned())),
        }
    }

    /// Returns the value of a string without interpolation.
    pub(super) fn string_value(&self, at: usize) -> Option<Cow<'a, str>> {
        strings::string_value(self.text, *self.code.tokens.get(at)?, &self.code.strings)
    }

    /// Returns the known parts of a string or a bare word; `None` for other expressions.
    pub(super) fn parse_pattern(
        &self,
        tokens: Tokens,
        at: Surroundings<'_>,
    ) -> Option<TextPattern> {
        let tokens = self.strip_brackets(tokens);
        let range = self.code.token_range(tokens.clone())?;
        if tokens.len() != 1 {
            return None;
        }
        match self.kind(tokens.start)? {
            Kind::Name if !is_keyword(self.word_text(tokens.start)) => {
                Some(known_pattern(self.word_text(tokens.start), range))
            }
            Kind::Double(index) => {
                Some(self.segment_pattern(range, self.code.strings.get(index as usize)?, at))
            }
            _ => self.string_value(tokens.start).map(|text| known_pattern(&text, range)),
        }
    }

    fn segment_pattern(
        &self,
        range: TextRange,
        segments: &[StringSegment],
        at: Surroundings<'_>,
    ) -> TextPattern {
        let mut pattern = TextPattern { range, pieces: Vec::new(), resolved: false };
        for segment in segments {
            let name = match segment {
                StringSegment::Text(text) => {
                    push_text(&mut pattern.pieces, text);
                    continue;
                }
                StringSegment::Variable { name, .. } => Some(name.as_str()),
                StringSegment::Code(code) => View { text: self.text, code }.only_variable(),
            };
            let known = match name {
                Some("title" | "name") => at.class,
                Some("module_name") => at.module,
                _ => None,
            };
            match known {
                Some(text) => {
                    pattern.resolved = true;
                    push_text(&mut pattern.pieces, text);
                }
                None => pattern.pieces.push(TextPiece::Hole(name.map(str::to_owned))),
            }
        }
        pattern
    }

    /// Returns the variable that the code of `${ … }` is: `${x}` and `${$x}` are the same.
    fn only_variable(&self) -> Option<&'a str> {
        let tokens = self.strip_brackets(0..self.code.len());
        if tokens.len() != 1 {
            return None;
        }
        match self.kind(tokens.start)? {
            Kind::Variable => self.variable_name(tokens.start),
            Kind::Name | Kind::Number => Some(self.word_text(tokens.start)),
            _ => None,
        }
    }

    /// Returns the index behind the operand that begins at `at`, with its accesses, calls and
    /// lambdas: `$a['x'].f(1) |$y| { … }`.
    pub(super) fn operand_end(&self, at: usize) -> usize {
        let mut end = self.code.index_behind(at);
        loop {
            end = match self.kind(end) {
                Some(Kind::Open(Bracket::Square)) if self.is_adjacent(end) => {
                    self.code.index_behind(end)
                }
                Some(Kind::Open(Bracket::Round))
                    if matches!(self.kind(end - 1), Some(Kind::Name | Kind::Reference)) =>
                {
                    self.code.index_behind(end)
                }
                Some(Kind::Dot) => end + 2,
                Some(Kind::Pipe) => match self.lambda_end(end) {
                    Some(end) => end,
                    None => return end,
                },
                _ => return end.min(self.code.len()),
            };
        }
    }

    /// Returns the index behind the lambda whose first bar is at `at`.
    pub(super) fn lambda_end(&self, at: usize) -> Option<usize> {
        let bar = self.find(at + 1..self.code.len(), Kind::Pipe)?;
        let body = bar + 1;
        (self.kind(body) == Some(Kind::Open(Bracket::Curly))).then(|| self.code.index_behind(body))
    }

    /// Whether nothing stands between a token and the one before it.
    fn is_adjacent(&self, at: usize) -> bool {
        self.code.tokens[at - 1].range.end == self.code.tokens[at].range.start
    }

    /// Returns the index of the first token of the operand that ends before `end`: of a string, a
    /// word, a variable or a list, with the operand before its brackets.
    pub(super) fn operand_start(&self, end: usize) -> usize {
        let mut at = end - 1;
        loop {
            let Some(Kind::Close(bracket)) = self.kind(at) else { return at };
            let Some(open) = self.code.partner_bracket(at) else { return at };
            let takes_more = match (bracket, open.checked_sub(1).and_then(|at| self.kind(at))) {
                (Bracket::Square, Some(Kind::Reference | Kind::Variable | Kind::Close(_))) => {
                    self.is_adjacent(open)
                }
                (Bracket::Round, Some(Kind::Name | Kind::Reference)) => true,
                _ => false,
            };
            if !takes_more {
                return open;
            }
            at = open - 1;
            // `a.b(…)`: the operand begins before the dot.
            while at > 1 && self.kind(at - 1) == Some(Kind::Dot) {
                at -= 2;
            }
        }
    }
}

fn known_pattern(text: &str, range: TextRange) -> TextPattern {
    TextPattern { range, pieces: vec![TextPiece::Text(text.to_owned())], resolved: false }
}

fn push_text(pieces: &mut Vec<TextPiece>, text: &str) {
    match pieces.last_mut() {
        Some(TextPiece::Text(before)) => before.push_str(text),
        _ => pieces.push(TextPiece::Text(text.to_owned())),
    }
}

/// Reads a number as Puppet writes it: decimal, octal, hexadecimal or a float.
fn parse_number(text: &str) -> Option<Literal> {
    if let Some(digits) = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        return i128::from_str_radix(digits, 16).ok().map(Literal::Integer);
    }
    if text.bytes().all(|byte| byte.is_ascii_digit()) {
        let radix = if text.len() > 1 && text.starts_with('0') { 8 } else { 10 };
        return i128::from_str_radix(text, radix).ok().map(Literal::Integer);
    }
    text.parse().ok().map(Literal::Float)
}
