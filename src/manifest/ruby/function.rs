//! Functions in Ruby, read without running them: their names, and their signatures as far as these
//! are written as literals. Code that may change a signature leaves the signatures unknown.
//! Source: `Puppet::Functions` of Puppet 7.23.

use std::ops::Range;

use super::blocks::{after_bracket, block_of, end_of};
use super::tokens::{Token, tokens_with_starts};
use crate::manifest::documentation;
use crate::manifest::model::{FunctionParameter, FunctionSignature, RubyFunction};
use crate::text::TextRange;

/// Words that let code from elsewhere change the declarations of a function.
const OPAQUE_WORDS: [&str; 9] = [
    "class_eval",
    "dispatch",
    "dispatcher",
    "eval",
    "extend",
    "include",
    "instance_eval",
    "require_relative",
    "send",
];

/// Reads the function that a Ruby file defines; `None` for a file without one whose name is
/// literal. Of several functions in a file Puppet keeps the last.
pub fn parse_ruby_function(text: &str) -> Option<RubyFunction> {
    if !text.contains("create_function") {
        return None;
    }
    let (tokens, starts) = tokens_with_starts(text);
    let at = tokens.iter().rposition(|token| token.is_word("create_function"))?;
    let (Token::Symbol(name) | Token::Text(name)) = after_bracket(&tokens, at + 1)? else {
        return None;
    };
    let name_at = at + 1 + usize::from(tokens[at + 1] == Token::Mark('('));
    let name_end = starts.get(name_at + 1).copied().unwrap_or(text.len());
    let written = text[starts[name_at]..name_end].trim_end();
    let written = written.trim_end_matches([',', ')']).trim_end();
    let signatures = block_of(&tokens, at + 1)
        .and_then(|body| read_signatures(&tokens[body], name.rsplit("::").next().unwrap_or(name)));
    Some(RubyFunction {
        name: name.clone(),
        name_range: TextRange::from_usize(starts[name_at]..starts[name_at] + written.len()),
        documentation: documentation::documentation_above(text, starts[at]),
        signatures,
    })
}

/// The methods of a function's block, and the signatures that it declares.
#[derive(Default)]
struct Body {
    dispatched: Vec<FunctionSignature>,
    methods: Vec<(String, FunctionSignature)>,
}

/// Returns the signatures that the block of a function declares; without a `dispatch`, that of the
/// method called `name`.
fn read_signatures(block: &[Token], name: &str) -> Option<Vec<FunctionSignature>> {
    let mut body = Body::default();
    let mut at = 0;
    while at < block.len() {
        at = read_statement(block, at, &mut body)?;
    }
    if !body.dispatched.is_empty() {
        return Some(body.dispatched);
    }
    let method = body.methods.into_iter().rfind(|(method, _)| method == name)?;
    Some(vec![method.1])
}

/// Reads one statement of a function's block, and returns the index behind it. `None` where the
/// statement may do anything.
fn read_statement(block: &[Token], at: usize, body: &mut Body) -> Option<usize> {
    match &block[at] {
        Token::Line | Token::Mark(';') => Some(at + 1),
        Token::Word(word) if word == "dispatch" => {
            let inner = block_of(block, at + 1)?;
            body.dispatched.push(dispatch(&block[inner.clone()])?);
            Some(inner.end + 1)
        }
        Token::Word(word) if word == "def" => {
            let end = end_of(block, at)?;
            body.methods.extend(read_method(&block[at + 1..end]));
            Some(end + 1)
        }
        Token::Word(word) if word == "local_types" => Some(block_of(block, at + 1)?.end + 1),
        // The block deals with a library that is missing here, or with an error for it.
        Token::Word(word) if matches!(word.as_str(), "begin" | "if" | "unless") => {
            let end = end_of(block, at)?;
            (!is_opaque(&block[at..end])).then_some(end + 1)
        }
        Token::Word(word) if matches!(word.as_str(), "require" | "private" | "attr_reader") => {
            let end = line_end(block, at);
            (!is_opaque(&block[at..end])).then_some(end)
        }
        // The word is a constant.
        Token::Word(word) if word.starts_with(char::is_uppercase) => {
            let is_assigned = block.get(at + 1) == Some(&Token::Mark('='));
            let end = statement_end(block, at)?;
            (is_assigned && !is_opaque(&block[at..end])).then_some(end)
        }
        _ => None,
    }
}

fn is_opaque(code: &[Token]) -> bool {
    code.iter().any(|token| OPAQUE_WORDS.iter().any(|word| token.is_word(word)))
}

fn line_end(block: &[Token], at: usize) -> usize {
    (at..block.len()).find(|at| block[*at] == Token::Line).unwrap_or(block.len())
}

/// Returns the index behind a statement whose brackets may span lines.
fn statement_end(block: &[Token], mut at: usize) -> Option<usize> {
    while at < block.len() && block[at] != Token::Line {
        let opens = matches!(block[at], Token::Mark('(' | '[' | '{'));
        at = if opens { end_of(block, at)? + 1 } else { at + 1 };
    }
    Some(at)
}

/// Reads the block of a `dispatch`: one declaration a line. `None` where one is no literal.
fn dispatch(block: &[Token]) -> Option<FunctionSignature> {
    let mut signature = FunctionSignature::default();
    let lines = block.split(|token| matches!(token, Token::Line | Token::Mark(';')));
    for line in join_lines(lines) {
        let Some(Token::Word(word)) = line.first() else { return None };
        let texts: Result<Vec<&str>, ()> =
            line[1..].iter().filter_map(|token| literal_text(token).transpose()).collect();
        let texts = texts.ok()?;
        match word.as_str() {
            "param" | "required_param" => {
                signature.parameters.push(declared_parameter(&texts)?);
                signature.required = signature.parameters.len();
            }
            "optional_param" => signature.parameters.push(declared_parameter(&texts)?),
            "repeated_param" | "optional_repeated_param" => {
                signature.parameters.push(declared_parameter(&texts)?);
                signature.repeats = true;
            }
            "required_repeated_param" => {
                signature.parameters.push(declared_parameter(&texts)?);
                signature.required = signature.parameters.len();
                signature.repeats = true;
            }
            "block_param" | "required_block_param" => signature.needs_block = true,
            // A block that need not be given is no part of the signature, and neither are arguments
            // that Puppet adds itself.
            "optional_block_param" | "scope_param" | "cache_param" | "compiler_param" => {}
            "return_type" => signature.return_type = Some((*texts.first()?).into()),
            _ => return None,
        }
    }
    Some(signature)
}

fn declared_parameter(texts: &[&str]) -> Option<FunctionParameter> {
    let (data_type, name) = (*texts.first()?, *texts.get(1)?);
    Some(FunctionParameter { name: name.into(), data_type: Some(data_type.into()) })
}

/// Puts lines together where one ends with a comma, and leaves out empty ones.
fn join_lines<'t>(lines: impl Iterator<Item = &'t [Token]>) -> Vec<Vec<Token>> {
    let mut all: Vec<Vec<Token>> = Vec::new();
    for line in lines.filter(|line| !line.is_empty()) {
        match all.last_mut().filter(|last| last.last() == Some(&Token::Mark(','))) {
            Some(last) => last.extend_from_slice(line),
            None => all.push(line.to_vec()),
        }
    }
    all
}

/// Returns the text of a literal; `None` for a mark between literals, and an error for a token that
/// is neither.
fn literal_text(token: &Token) -> Result<Option<&str>, ()> {
    match token {
        Token::Text(text) | Token::Symbol(text) => Ok(Some(text)),
        Token::Mark(',' | '(' | ')') => Ok(None),
        _ => Err(()),
    }
}

/// Reads the head of a method, from behind `def`: its name, and the arguments that it takes.
fn read_method(code: &[Token]) -> Option<(String, FunctionSignature)> {
    let Token::Word(name) = code.first()? else { return None };
    let mut signature = FunctionSignature::default();
    for argument in split_arguments(code) {
        let argument = &code[argument];
        let is_splat = argument.iter().filter(|token| **token == Token::Other).count();
        let Some(Token::Word(word)) = argument.iter().find(|it| matches!(it, Token::Word(_)))
        else {
            continue; // `**`, a label
        };
        let parameter = FunctionParameter { name: word.clone(), data_type: None };
        match argument.first() {
            // `*rest` begins with this token. `&block` is read as the same token, and stands last.
            Some(Token::Other) if is_splat > 0 => signature.repeats = true,
            _ if argument.contains(&Token::Mark('=')) => signature.parameters.push(parameter),
            _ => {
                signature.parameters.push(parameter);
                signature.required = signature.parameters.len();
            }
        }
    }
    Some((name.clone(), signature))
}

/// Returns the arguments of a method's head, which stand in brackets or up to the end of the line.
fn split_arguments(code: &[Token]) -> Vec<Range<usize>> {
    let is_bracketed = code.get(1) == Some(&Token::Mark('('));
    let (mut at, end) = if is_bracketed {
        (2, end_of(code, 1).unwrap_or(code.len()))
    } else {
        (1, line_end(code, 1))
    };
    let mut all = Vec::new();
    let mut start = at;
    while at < end {
        match code[at] {
            Token::Mark(',') => {
                all.push(start..at);
                start = at + 1;
            }
            Token::Mark('(' | '[' | '{') => at = end_of(code, at).unwrap_or(end),
            _ => {}
        }
        at += 1;
    }
    all.push(start..end);
    all.retain(|range| !range.is_empty());
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(signature: &FunctionSignature) -> String {
        let parameters: Vec<String> = signature
            .parameters
            .iter()
            .enumerate()
            .map(|(n, one)| {
                let data_type = one.data_type.as_deref().unwrap_or("Any");
                let optional = if n < signature.required { "" } else { "?" };
                format!("{data_type} {}{optional}", one.name)
            })
            .collect();
        let repeats = if signature.repeats { "..." } else { "" };
        let block = if signature.needs_block { " block" } else { "" };
        let returns = signature.return_type.as_deref().map(|it| format!(" >> {it}"));
        format!("({}{repeats}){block}{}", parameters.join(", "), returns.unwrap_or_default())
    }

    fn read(text: &str) -> Option<String> {
        let function = parse_ruby_function(text)?;
        let name = function.name_range;
        assert!(text[name.start as usize..name.end as usize].contains(&function.name));
        let all = function.signatures.map(|all| all.iter().map(shown).collect::<Vec<_>>());
        Some(format!("{} {}", function.name, all.map_or("?".into(), |all| all.join(" | "))))
    }

    #[test]
    fn literal_dispatches_are_signatures() {
        let text = r#"
            # Asks the store.
            Puppet::Functions.create_function(:'m::store') do
              begin
                require 'store'
              rescue LoadError
                raise Puppet::DataBinding::LookupError, "no store: #{x}"
              end
              DEFAULTS = {
                'a' => 1,
              }.freeze
              # dispatch :commented do
              dispatch :by_key do
                param 'Variant[String, Numeric]', :key
                param 'Struct[{
                  path => String[1],
                }]',
                  :options
                param 'Puppet::LookupContext', :context
                return_type 'Data'
              end
              dispatch(:other) do
                required_repeated_param "String", :names; optional_block_param 'Callable', :block
              end
              def by_key(key, options, context)
                dispatch if key =~ /dispatch :x do/
                <<~TEXT
                  dispatch :y do
                TEXT
              end
            end
        "#;
        let function = parse_ruby_function(text).expect("it is one");
        assert_eq!(function.documentation.text, "Asks the store.");
        let structure = "Struct[{\n                  path => String[1],\n                }]";
        assert_eq!(
            read(text).as_deref(),
            Some(&*format!(
                "m::store (Variant[String, Numeric] key, {structure} options, Puppet::LookupContext context) >> Data | (String names...)"
            ))
        );
    }

    #[test]
    fn without_a_dispatch_the_method_is_the_signature() {
        let function = |head: &str| {
            read(&format!(
                "Puppet::Functions.create_function(:fn) do\n  {head}\n    1\n  end\nend\n"
            ))
            .expect("it is one")
        };
        assert_eq!(function("def fn(k, o, c)"), "fn (Any k, Any o, Any c)");
        assert_eq!(function("def fn(k, o = {a: [1, 2]}, *rest)"), "fn (Any k, Any o?...)");
        assert_eq!(function("def fn k, o"), "fn (Any k, Any o)");
        assert_eq!(function("def fn"), "fn ()");
        assert_eq!(function("def other(k)"), "fn ?");
    }

    #[test]
    fn code_that_may_declare_more_leaves_signatures_unknown() {
        for body in [
            "include Helper",
            "%w[a b].each { |m| dispatch(m.to_sym) { param 'String', :k } }",
            "dispatch :m do\n param TYPE, :k\n end",
            "dispatch :m do\n param \"Enum[#{x}]\", :k\n end",
            "class_eval File.read('x')",
            "argument_mismatch :m do\n param 'Any', :k\n end",
            "begin\n include X\n end",
            "dispatch :m do",
        ] {
            let text = format!("Puppet::Functions.create_function(:fn) do\n{body}\nend\n");
            assert_eq!(read(&text).as_deref(), Some("fn ?"), "{body}");
        }
        assert_eq!(read("Puppet::Functions.create_function(name) do\nend\n"), None);
        assert_eq!(read("# create_function(:x)\n"), None);
    }
}
