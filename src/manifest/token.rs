//! Tokens of Puppet's language, and the brackets among them.

use crate::text::TextRange;

/// A token with its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Token {
    pub kind: Kind,
    pub range: TextRange,
}

/// The kind of a token. Keywords are names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A bare word in lower case: `a::b`, `::a`, `a-b`, a keyword.
    Name,
    /// A word in upper case: `Integer`, `M::T`.
    Reference,
    /// `$name`; the name may be missing in half-typed text.
    Variable,
    Number,
    /// A string without escapes and interpolation: its value is the text between the quotes.
    Plain,
    /// A string in single quotes that has a backslash.
    Single,
    /// A string in double quotes; the number is an index of [`Code::strings`].
    Double(u32),
    /// A heredoc's tag; the number as for `Double`.
    Heredoc(u32),
    Regex,
    Open(Bracket),
    Close(Bracket),
    Comma,
    Dot,
    Colon,
    Semicolon,
    /// `|`
    Pipe,
    /// `=`
    Assign,
    /// `=>`
    Arrow,
    /// `+>`
    PlusArrow,
    /// `>>`
    ShiftRight,
    Star,
    /// Ends a collector: `|>`, `|>>`.
    CollectorEnd,
    /// Any other operator or character.
    Operator,
    /// Text between the tags of a template.
    Rendered,
}

/// The three pairs of brackets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bracket {
    Round,
    Square,
    Curly,
}

/// A part of a string with interpolation.
#[derive(Clone, Debug)]
pub(super) enum StringSegment {
    /// Text, with escapes resolved.
    Text(String),
    /// `$name`.
    Variable {
        /// The name without the sign.
        name: String,
        /// The name's bytes, without the sign.
        range: TextRange,
    },
    /// The tokens of `${ … }`.
    Code(Code),
}

/// Tokens with the partner of each bracket.
#[derive(Clone, Debug, Default)]
pub(super) struct Code {
    pub tokens: Vec<Token>,
    /// For each token the index of the bracket that it opens or closes with; [`NONE`] for others.
    partners: Vec<u32>,
    /// The segments of the strings and heredocs among the tokens.
    pub strings: Vec<Vec<StringSegment>>,
    /// Whether every bracket has its partner.
    pub balanced: bool,
}

/// No index.
const NONE: u32 = u32::MAX;

impl Code {
    pub(super) fn new(tokens: Vec<Token>, strings: Vec<Vec<StringSegment>>) -> Code {
        let (partners, balanced) = pair_brackets(&tokens);
        Code { tokens, partners, strings, balanced }
    }

    pub(super) fn kind_at(&self, at: usize) -> Option<Kind> {
        self.tokens.get(at).map(|token| token.kind)
    }

    pub(super) fn len(&self) -> usize {
        self.tokens.len()
    }

    /// Returns the index of the bracket that belongs to the one at `at`; `None` for other tokens
    /// and for brackets without a partner.
    pub(super) fn partner_bracket(&self, at: usize) -> Option<usize> {
        self.partners.get(at).filter(|partner| **partner != NONE).map(|partner| *partner as usize)
    }

    /// Returns the index behind the token at `at`, or behind the bracketed group that it opens.
    pub(super) fn index_behind(&self, at: usize) -> usize {
        match self.kind_at(at) {
            Some(Kind::Open(_)) => self.partner_bracket(at).map_or(at + 1, |close| close + 1),
            _ => at + 1,
        }
    }

    /// Returns the bytes from the first to the last of some tokens; `None` for no tokens.
    pub(super) fn token_range(&self, tokens: std::ops::Range<usize>) -> Option<TextRange> {
        let (first, last) = (self.tokens.get(tokens.start)?, self.tokens.get(tokens.end - 1)?);
        (tokens.start < tokens.end).then(|| first.range.cover(last.range))
    }
}

/// Pairs brackets. A closing bracket that fits none of the open ones is ignored; one that fits an
/// outer one leaves those within without partner.
fn pair_brackets(tokens: &[Token]) -> (Vec<u32>, bool) {
    let mut partners = vec![NONE; tokens.len()];
    let mut open: Vec<(Bracket, usize)> = Vec::new();
    let mut balanced = true;
    for (at, token) in tokens.iter().enumerate() {
        match token.kind {
            Kind::Open(bracket) => open.push((bracket, at)),
            Kind::Close(bracket) => {
                let Some(depth) = open.iter().rposition(|(other, _)| *other == bracket) else {
                    balanced = false;
                    continue;
                };
                balanced &= depth + 1 == open.len();
                partners[open[depth].1] = at as u32;
                partners[at] = open[depth].1 as u32;
                open.truncate(depth);
            }
            _ => {}
        }
    }
    (partners, balanced && open.is_empty())
}
