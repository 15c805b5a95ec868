//! Specs of rspec-puppet for hosts: the hosts that they describe, and the literals that they give
//! for each. Values that Ruby would compute are ignored.

use super::model::Literal;
use super::ruby::blocks::{after_bracket, block_of, end_of};
use super::ruby::tokens::{Token, lex_tokens};

/// A host that a spec describes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DescribedHost {
    /// Its certname: `describe 'name'`, or `let(:node)`.
    pub name: String,
    /// `let(:facts)`, a literal hash.
    pub facts: Option<Literal>,
    /// `let(:node_params)`: top-scope variables, as a node classifier sets them.
    pub node_params: Option<Literal>,
    /// `let(:trusted_facts)`: the extensions of the certificate.
    pub trusted_facts: Option<Literal>,
    /// `let(:environment)`.
    pub environment: Option<String>,
}

/// Reads the hosts that the outermost `describe` blocks of a spec name. A text whose blocks cannot
/// be delimited has none. `let` in an inner block describes a variant of the host, and is ignored.
pub fn parse_hosts(text: &str) -> Vec<DescribedHost> {
    let tokens = lex_tokens(text);
    let mut hosts = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        if tokens[at].is_word("describe")
            && let Some(Token::Text(name)) = after_bracket(&tokens, at + 1)
        {
            let Some(body) = block_of(&tokens, at + 1) else { return Vec::new() };
            at = body.end;
            hosts.push(read_host(name, &tokens[body]));
        }
        at += 1;
    }
    hosts
}

fn read_host(name: &str, body: &[Token]) -> DescribedHost {
    let mut host = DescribedHost { name: name.to_owned(), ..DescribedHost::default() };
    let mut at = 0;
    while at < body.len() {
        let token = &body[at];
        if (token.is_word("let") || token.is_word("let!"))
            && let Some((name, value, end)) = read_let(body, at + 1)
        {
            set_variable(&mut host, name, value);
            at = end;
        } else if token.is_word("do") || matches!(token, Token::Mark('{' | '(' | '[')) {
            let Some(end) = end_of(body, at) else { return host };
            at = end;
        }
        at += 1;
    }
    host
}

/// Reads the tokens behind `let`: `(:name) { value }`, or the same with `do` and `end`. The value
/// is `None` where it is not literal.
fn read_let(body: &[Token], at: usize) -> Option<(&str, Option<Literal>, usize)> {
    let [Token::Mark('('), Token::Symbol(name), Token::Mark(')'), open, ..] = body.get(at..)?
    else {
        return None;
    };
    if !(open.is_word("do") || *open == Token::Mark('{')) {
        return None;
    }
    let end = end_of(body, at + 3)?;
    let mut reader = LiteralReader { tokens: &body[at + 4..end], at: 0 };
    let value = reader.read_value().filter(|_| {
        reader.skip_lines();
        reader.at == reader.tokens.len()
    });
    Some((name, value, end))
}

fn set_variable(host: &mut DescribedHost, name: &str, value: Option<Literal>) {
    let hash = || value.clone().filter(|value| matches!(value, Literal::Hash(_)));
    match name {
        "node" => {
            // A computed name is none.
            host.name = value.as_ref().and_then(Literal::as_str).unwrap_or_default().to_owned();
        }
        "facts" => host.facts = hash(),
        "node_params" => host.node_params = hash(),
        "trusted_facts" => host.trusted_facts = hash(),
        "environment" => host.environment = value.and_then(|it| it.as_str().map(str::to_owned)),
        _ => {}
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
            Token::Mark('{') => self.hash()?,
            _ => return None,
        })
    }

    fn hash(&mut self) -> Option<Literal> {
        let mut pairs = Vec::new();
        loop {
            if self.skip('}') {
                return Some(Literal::Hash(pairs));
            }
            self.skip_lines();
            let key = if let Some(Token::Label(label)) = self.tokens.get(self.at) {
                self.at += 1;
                Literal::String(label.clone())
            } else {
                let key = self.read_value()?;
                self.skip_lines();
                if self.tokens.get(self.at) != Some(&Token::Arrow) {
                    return None;
                }
                self.at += 1;
                key
            };
            pairs.push((key, self.read_value()?));
            if !self.skip(',') {
                return self.skip('}').then_some(Literal::Hash(pairs));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(value: &str) -> Literal {
        Literal::String(value.to_owned())
    }

    fn hash(pairs: &[(&str, Literal)]) -> Option<Literal> {
        Some(Literal::Hash(pairs.iter().map(|(key, value)| (text(key), value.clone())).collect()))
    }

    #[test]
    fn literal_hosts_are_read() {
        let spec = r#"
require 'spec_helper'

# describe 'not.this.one' do
describe 'web01.example.net', type: :host do
  let(:facts) do
    {
      :osfamily => 'Debian', # a comment with 'a quote
      os: { 'family' => "Debian", 'release' => { 'major' => '12' } },
      processors: { count: 4, 'isa' => nil, "list" => [1, 2.5, true,], },
    }
  end
  let(:node_params) { { role: 'web' } }
  let(:trusted_facts) { { 'pp_role' => 'web' } }
  let(:environment) { 'staging' }
  if ENV['X'] then puts 'x' end
  context 'with other facts' do
    let(:facts) { { osfamily: 'RedHat' } }
    it { is_expected.to compile.with_all_deps }
  end
  it do
    is_expected.to contain_class('x') unless false
  end
end

RSpec.describe('db01.example.net') do
  let(:node) { 'db02.example.net' }
  let(:facts) { on_supported_os['debian-12'].merge(role: 'db') }
end
"#;
        let hosts = parse_hosts(spec);
        assert_eq!(hosts.len(), 2, "{hosts:?}");
        let release = hash(&[("major", text("12"))]).unwrap();
        let list = vec![Literal::Integer(1), Literal::Float(2.5), Literal::Boolean(true)];
        assert_eq!(
            hosts[0],
            DescribedHost {
                name: "web01.example.net".into(),
                facts: hash(&[
                    ("osfamily", text("Debian")),
                    ("os", hash(&[("family", text("Debian")), ("release", release)]).unwrap()),
                    (
                        "processors",
                        hash(&[
                            ("count", Literal::Integer(4)),
                            ("isa", Literal::Undef),
                            ("list", Literal::List(list)),
                        ])
                        .unwrap()
                    ),
                ]),
                node_params: hash(&[("role", text("web"))]),
                trusted_facts: hash(&[("pp_role", text("web"))]),
                environment: Some("staging".into()),
            }
        );
        assert_eq!(
            hosts[1],
            DescribedHost { name: "db02.example.net".into(), ..DescribedHost::default() },
            "computed facts claim nothing"
        );
    }

    #[test]
    fn what_ruby_computes_claims_nothing() {
        for facts in [
            "{ role: \"#{x}\" }",
            "{ role: ROLE }",
            "{ **base, role: 'x' }",
            "{ role: 'a' + 'b' }",
            "{ role: 'a' }.merge(b: 1)",
            "super().merge(role: 'x')",
            "{ role: %w[a b] }",
            "{ re: /x/ }",
            "{ text: <<~EOS }",
        ] {
            let spec = format!("describe 'a.example.net' do\n  let(:facts) {{ {facts} }}\nend\n");
            let hosts = parse_hosts(&spec);
            assert!(hosts.iter().all(|host| host.facts.is_none()), "{facts}: {hosts:?}");
        }
        assert_eq!(parse_hosts("describe \"#{name}\" do\nend\n"), []);
        assert_eq!(parse_hosts("describe Foo do\nend\n"), []);
        assert_eq!(parse_hosts("describe 'a' do\n  let(:x) {\n"), [], "half-typed");
        assert_eq!(
            parse_hosts("describe 'a' do\n  let(:node) { name }\nend\n")[0].name,
            "",
            "a computed name"
        );
    }

    #[test]
    fn blocks_of_ruby_are_distinguished() {
        let spec = "describe 'a' do
  before { x.class; y.end if z }
  while x do
    y
  end
  z = if a
    1
  end
  %w[1 2].each do |n| puts n end
  let(:facts) { { 'a' => 'b' } }
end
";
        assert_eq!(parse_hosts(spec)[0].facts, hash(&[("a", text("b"))]));
    }
}
