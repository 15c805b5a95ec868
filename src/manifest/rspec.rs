//! Specs of rspec-puppet for hosts: the hosts that they describe, and the literals that they give
//! for each. Values that Ruby would compute are unknown.
//!
//! A host is described by the innermost blocks (`context`, also within `on_supported_os.each`): all
//! blocks about one certname are variants of the host. What all of them agree on is the host's;
//! where they differ, nothing is claimed. Shared contexts are followed within one file.

mod literals;

use std::cell::Cell;
use std::collections::HashMap;

use super::model::Literal;
use super::ruby::blocks::{after_bracket, block_of, end_of};
use super::ruby::tokens::{Token, lex_tokens};
use literals::{ReadHash, read_hash, read_literal};

/// A host that a spec describes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DescribedHost {
    /// The host's certname: `describe 'name'`, or `let(:node)`.
    pub name: String,
    /// `let(:facts)`: the literal members of the hash.
    pub facts: Option<Literal>,
    /// `let(:node_params)`: top-scope variables, as a node classifier sets them.
    pub node_params: Option<Literal>,
    /// `let(:trusted_facts)`: the extensions of the certificate.
    pub trusted_facts: Option<Literal>,
    /// `let(:environment)`.
    pub environment: Option<String>,
}

/// The deepest nesting of groups and shared contexts in each other; real specs have three or four.
const MAX_DEPTH: usize = 16;
/// The most uses of shared contexts in one spec, those within shared contexts counted each time.
const MAX_USES: usize = 200;

/// Reads the hosts that the outermost `describe` blocks of a spec name. A text whose blocks cannot
/// be delimited has none.
pub fn parse_hosts(text: &str) -> Vec<DescribedHost> {
    let tokens = lex_tokens(text);
    let mut shared = HashMap::new();
    find_shared(&tokens, &mut shared);
    let mut variants = Vec::new();
    let uses = Cell::new(0);
    let mut at = 0;
    while at < tokens.len() {
        if matches!(&tokens[at], Token::Word(word) if is_shared(word)) {
            at = block_end(&tokens, at);
        } else if tokens[at].is_word("describe")
            && let Some(Token::Text(name)) = after_bracket(&tokens, at + 1)
        {
            let Some(body) = block_of(&tokens, at + 1) else { return Vec::new() };
            at = body.end;
            let outer = Variant { name: name.to_owned(), ..Variant::default() };
            let mut group = GroupReader { shared: &shared, uses: &uses, variants: &mut variants };
            group.read_group(&tokens[body], outer, MAX_DEPTH);
        }
        at += 1;
    }
    agreed_hosts(variants)
}

/// The values that hold in one example group.
#[derive(Clone, Default)]
struct Variant {
    name: String,
    /// The hashes by the name of their `let`.
    hashes: HashMap<&'static str, ReadHash>,
    environment: Option<String>,
}

/// The names of the `let`s that are hashes.
const HASHES: [&str; 3] = ["facts", "node_params", "trusted_facts"];
/// The words that begin an example.
const EXAMPLES: [&str; 4] = ["it", "specify", "example", "its"];
/// The words that begin an example group within another.
const GROUPS: [&str; 3] = ["context", "describe", "example_group"];
/// The words that define a context for use in other groups.
const SHARED: [&str; 3] = ["shared_context", "shared_examples", "shared_examples_for"];
/// The words that use a shared context in place.
const INCLUDES: [&str; 2] = ["include_context", "include_examples"];
/// The words that use a shared context as a group of its own.
const BEHAVES: [&str; 2] = ["it_behaves_like", "it_should_behave_like"];

/// Finds the shared contexts of a text by their names, wherever they are defined.
fn find_shared<'t>(tokens: &'t [Token], shared: &mut HashMap<&'t str, &'t [Token]>) {
    for at in 0..tokens.len() {
        let Token::Word(word) = &tokens[at] else { continue };
        if SHARED.contains(&word.as_str())
            && let Some(Token::Text(name) | Token::Symbol(name)) = after_bracket(tokens, at + 1)
            && let Some(body) = block_of(tokens, at + 1)
        {
            shared.insert(name, &tokens[body]);
        }
    }
}

/// Reads example groups into variants.
struct GroupReader<'t, 'v> {
    shared: &'t HashMap<&'t str, &'t [Token]>,
    /// How many shared contexts were used.
    uses: &'v Cell<usize>,
    variants: &'v mut Vec<Variant>,
}

impl<'t> GroupReader<'t, '_> {
    /// Reads a group: its innermost groups are variants, and so is itself where it has examples of
    /// its own, or no inner group.
    fn read_group(&mut self, body: &'t [Token], outer: Variant, depth: usize) {
        let mut variant = outer;
        self.apply_lets(body, &mut variant, depth);
        let before = self.variants.len();
        let has_examples = self.read_inner(body, &variant, depth);
        if has_examples || self.variants.len() == before {
            self.variants.push(variant);
        }
    }

    /// Applies each `let` of a group, and those of the contexts that it includes, in order. Those
    /// of inner groups are theirs.
    fn apply_lets(&self, body: &'t [Token], variant: &mut Variant, depth: usize) {
        let mut at = 0;
        while at < body.len() {
            let Token::Word(word) = &body[at] else {
                at += 1;
                continue;
            };
            if matches!(word.as_str(), "let" | "let!")
                && let Some((name, value, end)) = read_let(body, at + 1)
            {
                set_variable(variant, name, value);
                at = end;
            } else if let Some(context) = self.shared_at(body, at, &INCLUDES)
                && let Some(depth) = depth.checked_sub(1)
            {
                self.apply_lets(context, variant, depth);
            } else if is_group(body, at) || is_shared(word) || is_example(body, at) {
                at = block_end(body, at);
            }
            at += 1;
        }
    }

    /// Reads the groups in a group, also those in loops; returns whether it has examples of its own.
    fn read_inner(&mut self, body: &'t [Token], variant: &Variant, depth: usize) -> bool {
        let mut has_examples = false;
        let mut at = 0;
        while at < body.len() {
            let Token::Word(word) = &body[at] else {
                at += 1;
                continue;
            };
            if is_group(body, at) {
                if let (Some(range), Some(depth)) = (block_of(body, at + 1), depth.checked_sub(1)) {
                    at = range.end;
                    self.read_group(&body[range], variant.clone(), depth);
                }
            } else if is_example(body, at) {
                has_examples = true;
                at = block_end(body, at);
            } else if is_shared(word) {
                at = block_end(body, at);
            } else if let Some(context) = self.shared_at(body, at, &BEHAVES)
                && let Some(depth) = depth.checked_sub(1)
            {
                self.read_group(context, variant.clone(), depth);
            } else if let Some(context) = self.shared_at(body, at, &INCLUDES)
                && let Some(depth) = depth.checked_sub(1)
            {
                has_examples |= self.read_inner(context, variant, depth);
            }
            at += 1;
        }
        has_examples
    }

    /// Returns the body of the shared context that one of these words uses at `at`.
    fn shared_at(&self, body: &'t [Token], at: usize, words: &[&str]) -> Option<&'t [Token]> {
        let Token::Word(word) = &body[at] else { return None };
        if !words.contains(&word.as_str()) {
            return None;
        }
        let (Token::Text(name) | Token::Symbol(name)) = after_bracket(body, at + 1)? else {
            return None;
        };
        self.uses.set(self.uses.get() + 1);
        self.shared.get(name.as_str()).copied().filter(|_| self.uses.get() <= MAX_USES)
    }
}

fn is_shared(word: &str) -> bool {
    SHARED.contains(&word)
}

/// Whether the word at `at` begins an inner group: and is no method of something.
fn is_group(body: &[Token], at: usize) -> bool {
    let is_call = at == 0 || body[at - 1] != Token::Mark('.');
    matches!(&body[at], Token::Word(word) if GROUPS.contains(&word.as_str())) && is_call
}

/// Whether the word at `at` begins an example.
fn is_example(body: &[Token], at: usize) -> bool {
    let is_call = at == 0 || body[at - 1] != Token::Mark('.');
    matches!(&body[at], Token::Word(word) if EXAMPLES.contains(&word.as_str())) && is_call
}

/// Returns the end of the block behind the word at `at`, in words or in braces; `at` where there is
/// none.
fn block_end(body: &[Token], at: usize) -> usize {
    if let Some(range) = block_of(body, at + 1) {
        return range.end;
    }
    let braces = (at + 1..body.len()).take_while(|number| body[*number] != Token::Line);
    let open = braces.into_iter().find(|number| body[*number] == Token::Mark('{'));
    open.and_then(|open| end_of(body, open)).unwrap_or(at)
}

/// Reads the tokens behind `let`: `(:name) { value }`, or the same with `do` and `end`.
fn read_let(body: &[Token], at: usize) -> Option<(&str, &[Token], usize)> {
    let [Token::Mark('('), Token::Symbol(name), Token::Mark(')'), open, ..] = body.get(at..)?
    else {
        return None;
    };
    if !(open.is_word("do") || *open == Token::Mark('{')) {
        return None;
    }
    let end = end_of(body, at + 3)?;
    Some((name, &body[at + 4..end], end))
}

fn set_variable(variant: &mut Variant, name: &str, value: &[Token]) {
    match name {
        // A computed name counts as no name.
        "node" => variant.name = literal_text(value).unwrap_or_default(),
        "environment" => variant.environment = literal_text(value),
        _ => {
            if let Some(name) = HASHES.iter().find(|it| **it == name) {
                let outer = variant.hashes.get(name).cloned().unwrap_or_default();
                variant.hashes.insert(name, read_hash(value, &outer));
            }
        }
    }
}

fn literal_text(value: &[Token]) -> Option<String> {
    read_literal(value).as_ref().and_then(Literal::as_str).map(str::to_owned)
}

/// Returns the hosts in the order of their first variants, each with the values that all its
/// variants agree on.
fn agreed_hosts(variants: Vec<Variant>) -> Vec<DescribedHost> {
    let mut hosts: Vec<Variant> = Vec::new();
    for variant in variants {
        match hosts.iter_mut().find(|known| known.name == variant.name) {
            None => hosts.push(variant),
            Some(known) => known.keep_agreed(&variant),
        }
    }
    hosts.into_iter().map(Variant::into_host).collect()
}

impl Variant {
    /// Drops the values that another variant contradicts, or leaves unknown.
    fn keep_agreed(&mut self, other: &Variant) {
        if self.environment != other.environment {
            self.environment = None;
        }
        for name in HASHES {
            let agreed = match (self.hashes.remove(name), other.hashes.get(name)) {
                (Some(one), Some(another)) => one.agreed_with(another),
                _ => continue,
            };
            self.hashes.insert(name, agreed);
        }
    }

    fn into_host(mut self) -> DescribedHost {
        DescribedHost {
            facts: self.take_hash("facts"),
            node_params: self.take_hash("node_params"),
            trusted_facts: self.take_hash("trusted_facts"),
            name: self.name,
            environment: self.environment,
        }
    }

    fn take_hash(&mut self, name: &str) -> Option<Literal> {
        self.hashes.remove(name).and_then(ReadHash::into_literal)
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
  context 'with a parameter' do
    let(:params) { { a: 1 } }
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
            DescribedHost {
                name: "db02.example.net".into(),
                facts: hash(&[("role", text("db"))]),
                ..DescribedHost::default()
            },
            "the literal member of computed facts"
        );
    }

    #[test]
    fn literal_members_beside_computed_ones_are_known() {
        for facts in [
            "{ **base, role: 'x' }",
            "{ role: 'x', site: SITE }",
            "{ role: 'a' }.merge(role: 'x')",
            "super().merge(role: 'x')",
            "super.merge({ 'role' => 'x', up: compute(1, 2) })",
            "on_supported_os['debian-12-x86_64'].merge(role: 'x')",
            "os_facts.merge(os_facts.slice(:a)).merge(role: 'x')",
            "os_facts.merge(\n  site: \"#{x}\",\n  role: 'x',\n)",
        ] {
            let spec = format!("describe 'a.example.net' do\n  let(:facts) {{ {facts} }}\nend\n");
            let hosts = parse_hosts(&spec);
            assert_eq!(hosts[0].facts, hash(&[("role", text("x"))]), "{facts}");
        }
    }

    #[test]
    fn what_all_inner_blocks_agree_on_is_the_hosts() {
        let spec = "
shared_context 'web role' do
  let(:node_params) { { role: 'web' } }
end

describe 'web01.example.net' do
  include_context 'web role'
  let(:trusted_facts) { { pp_role: 'none' } }
  on_supported_os.each do |os, os_facts|
    context \"on #{os}\" do
      let(:facts) { os_facts.merge(site: 'oslo', rack: 'a') }
      let(:trusted_facts) { { pp_role: 'web' } }
      it { is_expected.to compile.with_all_deps }
      context 'in another rack' do
        let(:facts) { super().merge(rack: 'b') }
        it { is_expected.to compile }
      end
    end
  end
end

describe 'a fleet' do
  %w[a].each do |x|
    context 'db' do
      let(:node) { 'db01.example.net' }
      let(:node_params) { { role: 'db' } }
      it { is_expected.to compile }
    end
    context 'mail' do
      let(:node) { 'mail01.example.net' }
      let(:node_params) { { role: 'mail' } }
      it do
        is_expected.to compile
      end
    end
  end
end
";
        let hosts = parse_hosts(spec);
        let lines: Vec<String> = hosts
            .iter()
            .map(|host| format!("{}: {:?} {:?}", host.name, host.facts.is_some(), host.node_params))
            .collect();
        assert_eq!(hosts.len(), 3, "{lines:#?}");
        assert_eq!(hosts[0].name, "web01.example.net");
        assert_eq!(hosts[0].facts, hash(&[("site", text("oslo"))]), "the racks differ");
        assert_eq!(hosts[0].node_params, hash(&[("role", text("web"))]));
        assert_eq!(hosts[0].trusted_facts, hash(&[("pp_role", text("web"))]));
        let others: Vec<_> = hosts[1..].iter().map(|it| (&*it.name, &it.node_params)).collect();
        assert_eq!(
            others,
            [
                ("db01.example.net", &hash(&[("role", text("db"))])),
                ("mail01.example.net", &hash(&[("role", text("mail"))])),
            ]
        );
    }

    #[test]
    fn what_ruby_computes_claims_nothing() {
        for facts in [
            "{ role: \"#{x}\" }",
            "{ role: ROLE }",
            "{ role: 'x', **base }",
            "{ role: 'a' + 'b' }",
            "{ role: 'a' }.reject { |k| k }",
            "os_facts",
            "compute(role: 'x')",
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

    #[test]
    fn a_shared_context_that_includes_itself_ends() {
        let spec = "
shared_context 'again' do
  let(:node_params) { { role: 'web' } }
  include_context 'again'
  it_behaves_like 'again'
end

describe 'web01.example.net' do
  include_context 'again'
end
";
        let hosts = parse_hosts(spec);
        assert_eq!(hosts.len(), 1);
        assert_eq!(hosts[0].node_params, hash(&[("role", text("web"))]));
    }
}
