//! Interpolation tokens, `%{…}`: finding them in a string and parsing each. The lookup evaluates
//! them.

use super::key::LookupKey;
use crate::puppet::ruby::strings::strip;
use crate::text::TextRange;

/// A token in a string.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// The token's bytes in the (decoded) string, from `%{` to `}`.
    pub range: TextRange,
    /// The token's kind.
    pub kind: TokenKind,
}

/// The kinds of token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TokenKind {
    /// `%{}`, `%{::}`, `%{''}`: nothing, always the empty string.
    Empty,
    /// A variable, perhaps a part of it: `%{facts.os.family}`.
    Variable {
        /// The variable's name is the root key.
        key: LookupKey,
        /// The bytes of the name in the string.
        range: TextRange,
    },
    /// `%{method('argument')}`.
    Call {
        /// `lookup`, `hiera`, `alias`, `literal`, `scope`, or a name that Puppet refuses.
        method: String,
        /// The bytes of the method's name.
        method_range: TextRange,
        /// The text between the quotes.
        argument: String,
        /// The bytes between the quotes.
        argument_range: TextRange,
    },
    /// Neither a variable nor a call: Puppet's error is `Syntax error in string`.
    Malformed,
}

/// The interpolation functions that Hiera knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Method {
    /// `lookup` and its older name `hiera`: another key's value as text.
    Lookup,
    /// Another key's value with its type; the token must be the whole string.
    Alias,
    /// The argument itself.
    Literal,
    /// A variable, as without a function.
    Scope,
}

impl Method {
    /// The names of all functions.
    pub const NAMES: [&str; 5] = ["lookup", "hiera", "alias", "literal", "scope"];

    /// Returns the function called `name`; names are case-sensitive.
    pub fn from_name(name: &str) -> Option<Method> {
        match name {
            "lookup" | "hiera" => Some(Method::Lookup),
            "alias" => Some(Method::Alias),
            "literal" => Some(Method::Literal),
            "scope" => Some(Method::Scope),
            _ => None,
        }
    }
}

/// Returns the tokens of a string, in order. A `%{` without a `}` behind it is no token.
///
/// Source: semantics 5.2, compared with Puppet on 40,000 random strings.
pub fn parse_tokens(text: &str) -> Vec<Token> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(start) = text[from..].find("%{").map(|at| from + at) {
        // A token may hold no character: `%{}` is a token.
        let Some(end) = text[start + 2..].find('}').map(|at| start + 2 + at) else { break };
        found.push(Token {
            range: TextRange::from_usize(start..end + 1),
            kind: parse_kind(text, start + 2, end),
        });
        from = end + 1;
    }
    found
}

/// Returns where a `%{` stands that nothing closes, if there is one.
pub fn unclosed_token(text: &str) -> Option<TextRange> {
    let after = text.rfind('}').map_or(0, |at| at + 1);
    let start = text[after..].find("%{").map(|at| after + at)?;
    Some(TextRange::from_usize(start..start + 2))
}

fn parse_kind(text: &str, start: usize, end: usize) -> TokenKind {
    let inner = &text[start..end];
    let trimmed = strip(inner);
    let offset = start + (trimmed.as_ptr() as usize - inner.as_ptr() as usize);
    if matches!(trimmed, "" | "::" | "\"\"" | "''" | "\"::\"" | "'::'") {
        return TokenKind::Empty;
    }
    if let Some(call) = parse_call(trimmed, offset) {
        return call;
    }
    match LookupKey::parse(trimmed) {
        Ok(key) => TokenKind::Variable {
            key,
            range: TextRange::from_usize(offset..offset + trimmed.len()),
        },
        Err(_) => TokenKind::Malformed,
    }
}

/// Parses a call on a line of its own within the token: `word('arg')` or `word("arg")` and nothing
/// else on that line.
fn parse_call(text: &str, offset: usize) -> Option<TokenKind> {
    let mut start = offset;
    for line in text.split('\n') {
        if let Some((method, argument)) = call_parts(line) {
            let argument_start = start + method.len() + 2;
            return Some(TokenKind::Call {
                method: method.to_owned(),
                method_range: TextRange::from_usize(start..start + method.len()),
                argument: argument.to_owned(),
                argument_range: TextRange::from_usize(
                    argument_start..argument_start + argument.len(),
                ),
            });
        }
        start += line.len() + 1;
    }
    None
}

fn call_parts(line: &str) -> Option<(&str, &str)> {
    let open =
        line.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).filter(|at| *at > 0)?;
    let inner = line[open..].strip_prefix('(')?.strip_suffix(')')?;
    let quote = inner.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let argument = inner.strip_prefix(quote)?.strip_suffix(quote)?;
    (!argument.is_empty() && !argument.contains(quote)).then_some((&line[..open], argument))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        let show = |token: Token| match token.kind {
            TokenKind::Empty => "empty".to_owned(),
            TokenKind::Variable { key, .. } => format!("${key}"),
            TokenKind::Call { method, argument, .. } => format!("{method}({argument})"),
            TokenKind::Malformed => "malformed".to_owned(),
        };
        parse_tokens(text).into_iter().map(show).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn variables() {
        for (text, expected) in [
            ("a%{hn}b%{::os}", "$hn $::os"),
            ("%{ facts.os.family }", "$facts.os.family"),
            ("%{\tfacts.os\n}", "$facts.os"),
            ("%{'facts.os'}", "$'facts.os'"),
            ("%{{hn}}", "${hn"),
            ("%{%{hn}}", "$%{hn"),
            ("%{scope(hn)}", "$scope(hn)"),
            ("%{foo()}", "$foo()"),
            ("%{SERVER_NAME}s", "$SERVER_NAME"),
        ] {
            assert_eq!(shown(text), expected, "{text}");
        }
    }

    #[test]
    fn nothing_and_no_tokens() {
        assert_eq!(
            shown("%{} %{ } %{\"\"} %{''} %{::} %{\"::\"}"),
            "empty empty empty empty empty empty"
        );
        for text in ["%{facts.os", "facts}", "% {hn}", "100%", "%h"] {
            assert_eq!(shown(text), "", "{text}");
        }
    }

    #[test]
    fn calls() {
        for (text, expected) in [
            ("%{lookup('a.b')}", "lookup(a.b)"),
            ("%{ scope(\"hn\") }", "scope(hn)"),
            ("%{lookup('h.\"a.b\"')}", "lookup(h.\"a.b\")"),
            ("%{foo\nlookup('z')}", "lookup(z)"),
            ("%{env('HOME')}", "env(HOME)"),
        ] {
            assert_eq!(shown(text), expected, "{text}");
        }
    }

    #[test]
    fn what_puppet_calls_a_syntax_error() {
        for text in [
            "%{scope( 'hn' )}",
            "%{scope ('hn')}",
            "%{scope('hn')x}",
            "%{lookup('a','b')}",
            "%{scope('')}",
            "%{foo(\"bar')}",
            "%{.}",
            "%{hn.}",
            "%{facts..os}",
            "%{\"facts}",
            "%{lookup('%{hn}')}",
        ] {
            assert_eq!(shown(text), "malformed", "{text}");
        }
    }

    #[test]
    fn places() {
        let text = "x %{ lookup('é.b') }";
        let TokenKind::Call { method_range, argument_range, .. } =
            parse_tokens(text)[0].kind.clone()
        else {
            panic!("a call")
        };
        assert_eq!(
            (&text[method_range.as_usize()], &text[argument_range.as_usize()]),
            ("lookup", "é.b")
        );
        assert_eq!(unclosed_token("%{a} %{b"), Some(TextRange::new(5, 7)));
        assert_eq!(unclosed_token("%{a}"), None);
    }
}
