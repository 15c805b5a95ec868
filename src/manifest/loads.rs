//! The code that a text loads by its name: libraries of Ruby, functions, types and templates, as far
//! as the names are literals. Nothing is run. A name may be listed that the text only mentions.

use super::lexer::{Language, lex_text};
use super::ruby::tokens::{Token, lex_tokens};
use super::token::{Bracket, Code, Kind, StringSegment};

/// Code that a text loads.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Load {
    /// A library on Ruby's load path, without its extension: `a/b` for `require 'a/b'`.
    Library(String),
    /// A file by its path from the folder of the text's own file, with or without extension.
    Relative(String),
    /// A function, by its name in Puppet's language.
    Function(String),
    /// A type, by its name in Puppet's language.
    Type(String),
    /// A template, as the functions `template` and `epp` take it: `module/path`.
    Template(String),
}

/// Returns the code that Ruby code, or a template with Ruby code, loads.
pub fn find_ruby_loads(text: &str) -> Vec<Load> {
    let tokens = lex_tokens(text);
    let mut loads = Vec::new();
    for statement in statements(&tokens) {
        loads.extend(required(statement));
        for (at, token) in statement.iter().enumerate() {
            match token {
                Token::Word(word) if matches!(&**word, "call_function" | "function") => {
                    let behind = statement[at + 1..].iter().find(|it| **it != Token::Mark('('));
                    if let Some(Token::Text(name) | Token::Symbol(name)) = behind {
                        loads.push(Load::Function(name.clone()));
                    }
                }
                Token::Word(word) => {
                    let name = word.strip_prefix("function_");
                    loads.extend(name.map(|name| Load::Function(name.to_owned())));
                }
                Token::Text(text) => named_in_text(text, &mut loads),
                _ => {}
            }
        }
    }
    loads
}

/// Returns the code that a manifest, or a template in Puppet's language, loads.
pub fn find_manifest_loads(text: &str, language: Language) -> Vec<Load> {
    let mut loads = Vec::new();
    named_in_code(&lex_text(text, 0, language).code, text, &mut loads);
    loads
}

/// Cuts tokens at the ends of statements: lines that end outside of brackets, and semicolons.
fn statements(tokens: &[Token]) -> Vec<&[Token]> {
    let mut depth = 0_usize;
    tokens.split(|token| ends_statement(token, &mut depth)).collect()
}

fn ends_statement(token: &Token, depth: &mut usize) -> bool {
    match token {
        Token::Mark('(' | '[') => *depth += 1,
        Token::Mark(')' | ']') => *depth = depth.saturating_sub(1),
        Token::Mark(';') => return true,
        Token::Line => return *depth == 0,
        _ => {}
    }
    false
}

/// Returns the file that a statement with `require` or one of its kind loads.
fn required(statement: &[Token]) -> Option<Load> {
    const WORDS: [&str; 4] = ["autoload", "load", "require", "require_relative"];
    let at = statement.iter().position(|token| WORDS.iter().any(|word| token.is_word(word)))?;
    let rest = &statement[at + 1..];
    let texts: Vec<String> = rest
        .iter()
        .filter_map(|token| match token {
            Token::Text(text) => Some(text.clone()),
            _ => None,
        })
        .collect();
    let is_from_file = has_word("__FILE__", rest) && !has_word("dirname", rest);
    if statement[at].is_word("require_relative")
        || has_word("__dir__", rest)
        || has_word("dirname", rest)
    {
        return (!texts.is_empty()).then(|| Load::Relative(texts.join("/")));
    }
    if is_from_file {
        // In a path from `__FILE__` the file itself stands for a folder.
        return Some(Load::Relative(texts.first()?.strip_prefix("../")?.to_owned()));
    }
    let name = texts.last()?;
    Some(Load::Library(name.strip_suffix(".rb").unwrap_or(name).to_owned()))
}

fn has_word(word: &str, rest: &[Token]) -> bool {
    rest.iter().any(|token| token.is_word(word))
}

/// Notes the types and the template that a string may name.
fn named_in_text(text: &str, loads: &mut Vec<Load>) {
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == ':'));
    let types = words.map(|word| word.trim_matches(':'));
    let types = types.filter(|word| word.starts_with(|c: char| c.is_ascii_uppercase()));
    loads.extend(types.map(|word| Load::Type(word.to_owned())));
    if text.contains('/') && !text.contains(char::is_whitespace) {
        loads.push(Load::Template(text.to_owned()));
    }
}

fn named_in_code(code: &Code, text: &str, loads: &mut Vec<Load>) {
    for at in 0..code.len() {
        match code.kind_at(at) {
            Some(Kind::Name) => {
                let is_call = code.kind_at(at + 1) == Some(Kind::Open(Bracket::Round));
                if is_call || at > 0 && code.kind_at(at - 1) == Some(Kind::Dot) {
                    loads.push(Load::Function(token_text(at, text, code).to_owned()));
                }
            }
            Some(Kind::Reference) => loads.push(Load::Type(token_text(at, text, code).to_owned())),
            Some(Kind::Plain | Kind::Single) => {
                let content = token_text(at, text, code).trim_matches(['\'', '"']);
                let is_called =
                    at > 1 && matches!(token_text(at - 2, text, code), "call" | "Deferred");
                if is_called {
                    loads.push(Load::Function(content.to_owned()));
                }
                named_in_text(content, loads);
            }
            _ => {}
        }
    }
    for segment in code.strings.iter().flatten() {
        if let StringSegment::Code(inner) = segment {
            named_in_code(inner, text, loads);
        }
    }
}

fn token_text<'a>(at: usize, text: &'a str, code: &Code) -> &'a str {
    &text[code.tokens[at].range.as_usize()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(loads: Vec<Load>) -> Vec<String> {
        loads.iter().map(|load| format!("{load:?}")).collect()
    }

    #[test]
    fn ruby_names_libraries_functions_types_and_templates() {
        let text = r##"
require 'puppet_x/t/help'
require "json.rb"
require_relative '../../x/beside'
require File.expand_path('../../y/other', __FILE__)
require File.join(File.dirname(__FILE__), '..', 'joined')
load(
  File.join(__dir__, 'over_lines.rb')
)
autoload :Late, 'puppet_x/t/late'
require name
require File.join(folder, "#{name}")
# require 'commented'
Puppet::Functions.create_function(:'t::fn') do
  dispatch :go do
    param 'Optional[Stdlib::Port]', :port
  end
  def go(port)
    call_function('t::other', port); scope.function_old([1])
    call_function(:sum)
    call_function('template', 't/page.erb')
  end
end
"##;
        let found = words(find_ruby_loads(text));
        assert_eq!(
            found,
            [
                r#"Library("puppet_x/t/help")"#,
                r#"Template("puppet_x/t/help")"#,
                r#"Library("json")"#,
                r#"Relative("../../x/beside")"#,
                r#"Template("../../x/beside")"#,
                r#"Relative("../y/other")"#,
                r#"Template("../../y/other")"#,
                r#"Relative("../joined")"#,
                r#"Relative("over_lines.rb")"#,
                r#"Library("puppet_x/t/late")"#,
                r#"Template("puppet_x/t/late")"#,
                r#"Type("Optional")"#,
                r#"Type("Stdlib::Port")"#,
                r#"Function("t::other")"#,
                r#"Function("old")"#,
                r#"Function("sum")"#,
                r#"Function("template")"#,
                r#"Template("t/page.erb")"#,
            ]
        );
    }

    #[test]
    fn puppets_language_names_functions_types_and_templates() {
        let text = r#"
function t::fn(Stdlib::Port $port, Hash $options, $context) >> Data {
  $page = epp('t/page.epp')
  $list = [1].t::doubled.map |$x| { call('t::called', $x) }
  "a ${t::inner($list)} b"
}
"#;
        let found = words(find_manifest_loads(text, Language::Manifest));
        assert_eq!(
            found,
            [
                r#"Function("t::fn")"#,
                r#"Type("Stdlib::Port")"#,
                r#"Type("Hash")"#,
                r#"Type("Data")"#,
                r#"Function("epp")"#,
                r#"Template("t/page.epp")"#,
                r#"Function("t::doubled")"#,
                r#"Function("map")"#,
                r#"Function("call")"#,
                r#"Function("t::called")"#,
                r#"Function("t::inner")"#,
            ]
        );
    }
}
