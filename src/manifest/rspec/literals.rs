//! Literals of Ruby in specs: values, and the members of hashes that are literal although others are
//! computed.

use crate::manifest::model::Literal;
use crate::manifest::ruby::blocks::end_of;
use crate::manifest::ruby::tokens::Token;

/// The members of a hash that code states. Other members are unknown.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct ReadHash {
    /// The members by key; `None` for one whose value is computed.
    members: Vec<(Literal, Option<Literal>)>,
}

impl ReadHash {
    fn set(&mut self, key: Literal, value: Option<Literal>) {
        match self.members.iter_mut().find(|(known, _)| *known == key) {
            Some((_, known)) => *known = value,
            None => self.members.push((key, value)),
        }
    }

    fn set_all(&mut self, other: ReadHash) {
        other.members.into_iter().for_each(|(key, value)| self.set(key, value));
    }

    /// Returns the members that both state with the same value.
    pub(super) fn agreed_with(self, other: &ReadHash) -> ReadHash {
        ReadHash {
            members: self
                .members
                .into_iter()
                .filter(|(key, value)| {
                    value.is_some() && other.members.iter().any(|(of, it)| of == key && it == value)
                })
                .collect(),
        }
    }

    /// Returns the literal members; `None` where there is none.
    pub(super) fn into_literal(self) -> Option<Literal> {
        let members: Vec<_> = self
            .members
            .into_iter()
            .filter_map(|(key, value)| Option::map(value, |value| (key, value)))
            .collect();
        (!members.is_empty()).then_some(Literal::Hash(members))
    }
}

/// Reads a value that is nothing but a literal.
pub(super) fn read_literal(tokens: &[Token]) -> Option<Literal> {
    let mut reader = LiteralReader { tokens, at: 0 };
    let value = reader.read_value()?;
    reader.skip_lines();
    (reader.at == tokens.len()).then_some(value)
}

/// Reads the stated members of a hash: of a literal, of `super()`, which is `outer`, of any other
/// expression, of which nothing is known, each perhaps with `.merge(…)` behind it.
pub(super) fn read_hash(tokens: &[Token], outer: &ReadHash) -> ReadHash {
    let mut reader = LiteralReader { tokens, at: 0 };
    reader.skip_lines();
    let mut found = match reader.tokens.get(reader.at) {
        Some(Token::Mark('{')) => {
            reader.at += 1;
            match reader.read_members('}', outer) {
                Some(members) => members,
                None => return ReadHash::default(),
            }
        }
        Some(token) if token.is_word("super") => {
            reader.at += 1;
            reader.skip_brackets();
            outer.clone()
        }
        // The word is a name, or begins a call: `os_facts`, `on_supported_os['debian-12-x86_64']`.
        Some(Token::Word(_)) => {
            reader.skip_call();
            ReadHash::default()
        }
        _ => return ReadHash::default(),
    };
    loop {
        reader.skip_lines();
        match reader.tokens.get(reader.at..) {
            None | Some([]) => return found,
            Some([Token::Mark('.'), Token::Word(name), Token::Mark('('), ..])
                if matches!(name.as_str(), "merge" | "merge!" | "update") =>
            {
                reader.at += 3;
                let Some(more) = reader.read_arguments(outer) else { return ReadHash::default() };
                found.set_all(more);
            }
            Some(_) => return ReadHash::default(),
        }
    }
}

/// Reads literal values.
struct LiteralReader<'t> {
    tokens: &'t [Token],
    at: usize,
}

impl LiteralReader<'_> {
    fn skip_lines(&mut self) {
        while self.tokens.get(self.at) == Some(&Token::Line) {
            self.at += 1;
        }
    }

    fn skip(&mut self, mark: char) -> bool {
        self.skip_lines();
        let is_it = self.tokens.get(self.at) == Some(&Token::Mark(mark));
        self.at += usize::from(is_it);
        is_it
    }

    fn read_value(&mut self) -> Option<Literal> {
        self.skip_lines();
        let token = self.tokens.get(self.at)?;
        self.at += 1;
        Some(match token {
            Token::Text(text) | Token::Symbol(text) => Literal::String(text.clone()),
            Token::Number(literal) => literal.clone(),
            Token::Word(word) => match word.as_str() {
                "true" => Literal::Boolean(true),
                "false" => Literal::Boolean(false),
                "nil" => Literal::Undef,
                _ => return None,
            },
            Token::Mark('[') => {
                let mut items = Vec::new();
                while !self.skip(']') {
                    items.push(self.read_value()?);
                    if !self.skip(',') && !self.skip(']') {
                        return None;
                    } else if self.tokens[self.at - 1] == Token::Mark(']') {
                        break;
                    }
                }
                Literal::List(items)
            }
            Token::Mark('{') => {
                let found = self.read_members('}', &ReadHash::default())?;
                let pairs: Option<Vec<_>> = found
                    .members
                    .into_iter()
                    .map(|(key, value)| Some((key, Option::<Literal>::clone(&value)?)))
                    .collect();
                Literal::Hash(pairs?)
            }
            _ => return None,
        })
    }

    /// Reads the arguments of `merge` behind its bracket: a hash, or members without braces.
    fn read_arguments(&mut self, outer: &ReadHash) -> Option<ReadHash> {
        self.skip_lines();
        if self.tokens.get(self.at) != Some(&Token::Mark('{')) {
            return self.read_members(')', outer);
        }
        self.at += 1;
        let found = self.read_members('}', outer)?;
        self.skip(',');
        self.skip(')').then_some(found)
    }

    /// Reads members up to a closing mark. A computed value makes its member unknown. `**name`, a
    /// computed key and a computed argument may be any key, so that the members before are unknown.
    fn read_members(&mut self, close: char, outer: &ReadHash) -> Option<ReadHash> {
        let mut found = ReadHash::default();
        loop {
            if self.skip(close) {
                return Some(found);
            }
            self.skip_lines();
            if let Some(Token::Label(label)) = self.tokens.get(self.at) {
                self.at += 1;
                let value = self.read_member_value(close);
                found.set(Literal::String(label.clone()), value);
            } else if matches!(self.tokens.get(self.at), Some(Token::Other | Token::Word(_))) {
                let start = self.at;
                self.skip_to_comma(close);
                let splat = &self.tokens[start..self.at];
                found.members.iter_mut().for_each(|(_, value)| *value = None);
                if splat.iter().any(|token| token.is_word("super")) {
                    found.set_all(outer.clone());
                }
            } else {
                let key = self.read_value()?;
                self.skip_lines();
                if self.tokens.get(self.at) != Some(&Token::Arrow) {
                    return None;
                }
                self.at += 1;
                let value = self.read_member_value(close);
                found.set(key, value);
            }
            if !self.skip(',') {
                return self.skip(close).then_some(found);
            }
        }
    }

    /// Reads the value of a member; `None`, behind it, where it is computed.
    fn read_member_value(&mut self, close: char) -> Option<Literal> {
        let start = self.at;
        let value = self.read_value();
        let after = self.at;
        self.skip_lines();
        let is_whole = match self.tokens.get(self.at) {
            Some(Token::Mark(mark)) => *mark == ',' || *mark == close,
            _ => false,
        };
        self.at = after;
        if value.is_some() && is_whole {
            return value;
        }
        self.at = start;
        self.skip_to_comma(close);
        None
    }

    /// Skips an expression up to the comma or the closing mark behind it.
    fn skip_to_comma(&mut self, close: char) {
        while let Some(token) = self.tokens.get(self.at) {
            match token {
                Token::Mark(',') => return,
                Token::Mark(mark) if *mark == close => return,
                Token::Mark('{' | '(' | '[') => match end_of(self.tokens, self.at) {
                    Some(end) => self.at = end + 1,
                    None => return,
                },
                _ => self.at += 1,
            }
        }
    }

    /// Skips the brackets of a call, if there are any.
    fn skip_brackets(&mut self) {
        if matches!(self.tokens.get(self.at), Some(Token::Mark('(' | '['))) {
            self.at = end_of(self.tokens, self.at).map_or(self.tokens.len(), |end| end + 1);
        }
    }

    /// Skips a name with its brackets, and the methods called on it but `merge`.
    fn skip_call(&mut self) {
        self.at += 1;
        loop {
            self.skip_brackets();
            match self.tokens.get(self.at..) {
                Some([Token::Mark('['), ..]) => {}
                Some([Token::Mark('.'), Token::Word(name), ..])
                    if !matches!(name.as_str(), "merge" | "merge!" | "update") =>
                {
                    self.at += 2;
                }
                _ => return,
            }
        }
    }
}
