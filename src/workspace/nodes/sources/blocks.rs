//! `node` blocks of an environment's own manifests as nodes: their names, the variables that they
//! set literally, and the classes that they include.

use std::sync::Arc;

use crate::manifest::Manifest;
use crate::manifest::model::{NodeBlock, NodeName};
use crate::puppet::value::{Hash, Key, Member, Provenance, Value};
use crate::text::FilePath;
use crate::workspace::nodes::parts::{Included, Parts, Sourced};
use crate::workspace::nodes::source::NodePattern;

/// The most names that a regular expression may stand for.
const MAX_NAMES: usize = 64;

/// Reads the nodes that the blocks of a manifest name, and the blocks for nodes by patterns. Puppet
/// takes a literal name before a regular expression, so that those come first. A regular expression
/// is a pattern, too: it may match more names than those that it stands for.
pub(in crate::workspace::nodes) fn nodes_in(
    path: &FilePath,
    manifest: &Manifest,
) -> (Vec<Parts>, Vec<NodePattern>) {
    let (mut literal, mut expanded, mut patterns) = (Vec::new(), Vec::new(), Vec::new());
    for (number, block) in manifest.nodes.iter().enumerate() {
        let parts = |name: &str| block_parts(name, number, block, path, manifest);
        for (name, _) in &block.names {
            match name {
                NodeName::Literal(name) => literal.push(parts(name)),
                NodeName::Regex(regex) => {
                    let names = names_of(regex).unwrap_or_default();
                    expanded.extend(names.iter().map(|name| parts(name)));
                    let parts = Arc::new(parts(""));
                    patterns.push(NodePattern { regex: regex.to_string(), parts });
                }
                NodeName::Default => {}
            }
        }
    }
    let mut seen = std::collections::HashSet::new();
    literal.extend(expanded);
    literal.retain(|parts| seen.insert(parts.name.clone()));
    (literal, patterns)
}

fn block_parts(
    name: &str,
    number: usize,
    block: &NodeBlock,
    path: &FilePath,
    manifest: &Manifest,
) -> Parts {
    let mut parts = Parts::of_certname(name, path);
    let variables: Hash = block
        .variables
        .iter()
        .filter_map(|(name, literal)| {
            Some((
                Key::new_string(name),
                Member { key_origin: None, value: super::value_of(literal)? },
            ))
        })
        .collect();
    if !variables.is_empty() {
        let value = Value::hash(variables, Provenance::from_source(None));
        parts.block = Sourced::new_part(value, path);
    }
    let uses = manifest.uses.iter().filter(|one| one.node == Some(number));
    let classes = uses
        .filter_map(|one| one.class.as_ref()?.literal_text())
        .map(|class| Included { function: None, name: class.to_owned() });
    let calls = block.calls.iter().flat_map(|call| {
        let names = call.arguments.iter().flatten().filter_map(|argument| argument.as_str());
        names.map(|name| Included { function: Some(call.function.clone()), name: name.to_owned() })
    });
    let included: Vec<Included> = classes.chain(calls).collect();
    if !included.is_empty() {
        parts.included = Sourced::new_part(included.into(), path);
    }
    parts
}

/// Returns the names that a regular expression matches, in order; `None` where they may be more
/// than [`MAX_NAMES`], or it has other parts than characters, sets, groups with alternatives, `?`
/// and `{n}`. One that is not anchored at both ends matches names without number.
fn names_of(regex: &str) -> Option<Vec<String>> {
    let start = ["^", "\\A"].iter().find_map(|anchor| regex.strip_prefix(anchor))?;
    let body = ["$", "\\z", "\\Z"].iter().find_map(|anchor| start.strip_suffix(anchor))?;
    let mut expander = Expander { rest: body.chars().peekable() };
    let names = expander.expand_alternatives()?;
    expander.rest.next().is_none().then_some(names)
}

/// Expands a regular expression from left to right.
struct Expander<'t> {
    rest: std::iter::Peekable<std::str::Chars<'t>>,
}

impl Expander<'_> {
    /// Reads `a|b`, up to a closing bracket or the end.
    fn expand_alternatives(&mut self) -> Option<Vec<String>> {
        let mut all = self.expand_sequence()?;
        while self.rest.next_if_eq(&'|').is_some() {
            all.extend(self.expand_sequence()?);
        }
        (all.len() <= MAX_NAMES).then_some(all)
    }

    fn expand_sequence(&mut self) -> Option<Vec<String>> {
        let mut all = vec![String::new()];
        while self.rest.peek().is_some_and(|next| !matches!(next, '|' | ')')) {
            let part = self.expand_part()?;
            let part = self.expand_repeated(part)?;
            if all.len() * part.len() > MAX_NAMES {
                return None;
            }
            all = all
                .iter()
                .flat_map(|one| part.iter().map(move |it| format!("{one}{it}")))
                .collect();
        }
        Some(all)
    }

    fn expand_part(&mut self) -> Option<Vec<String>> {
        match self.rest.next()? {
            '[' => self.expand_set(),
            '(' => {
                if self.rest.next_if_eq(&'?').is_some() {
                    self.rest.next_if_eq(&':')?; // others look around, or name the group
                }
                let all = self.expand_alternatives()?;
                self.rest.next_if_eq(&')').map(|_| all)
            }
            '\\' => match self.rest.next()? {
                'd' => Some(('0'..='9').map(String::from).collect()),
                c if !c.is_alphanumeric() => Some(vec![c.to_string()]),
                _ => None,
            },
            '.' | '*' | '+' | '?' | '{' | '}' | ']' | '^' | '$' => None,
            c => Some(vec![c.to_string()]),
        }
    }

    /// Reads a set such as `[a-c1]`.
    fn expand_set(&mut self) -> Option<Vec<String>> {
        let mut all = Vec::new();
        loop {
            let first = match self.rest.next()? {
                ']' if !all.is_empty() => return Some(all),
                '^' | '[' | '\\' | ']' => return None,
                c => c,
            };
            if self.rest.peek() != Some(&'-') {
                all.push(first.to_string());
                continue;
            }
            self.rest.next();
            match self.rest.next()? {
                ']' => {
                    all.extend([first.to_string(), "-".to_owned()]);
                    return Some(all);
                }
                last if first.is_ascii_alphanumeric() && last.is_ascii_alphanumeric() => {
                    all.extend((first..=last).map(String::from));
                }
                _ => return None,
            }
        }
    }

    /// Reads a part with `?` or `{n}` behind it.
    fn expand_repeated(&mut self, part: Vec<String>) -> Option<Vec<String>> {
        match self.rest.peek() {
            Some('?') => {
                self.rest.next();
                Some(std::iter::once(String::new()).chain(part).collect())
            }
            Some('{') => {
                self.rest.next();
                let mut digits = String::new();
                while let Some(digit) = self.rest.next_if(char::is_ascii_digit) {
                    digits.push(digit);
                }
                self.rest.next_if_eq(&'}')?;
                let times: u32 = digits.parse().ok().filter(|times| *times <= 8)?;
                let count = part.len().checked_pow(times).filter(|count| *count <= MAX_NAMES);
                count?;
                Some((0..times).fold(vec![String::new()], |all, _| {
                    let each = all.iter();
                    each.flat_map(|one| part.iter().map(move |it| format!("{one}{it}"))).collect()
                }))
            }
            Some('*' | '+') => None,
            _ => Some(part),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_regex_that_stands_for_few_names_is_these_names() {
        let names = |regex: &str| names_of(regex).map(|names| names.join(" "));
        assert_eq!(
            names(r"^web[1-3]\.example\.net$").as_deref(),
            Some("web1.example.net web2.example.net web3.example.net")
        );
        assert_eq!(names(r"\A(db|cache)0?1\z").as_deref(), Some("db1 db01 cache1 cache01"));
        assert_eq!(names(r"^a(?:b|c)[x-]$").as_deref(), Some("abx ab- acx ac-"));
        assert_eq!(names(r"^n[01]{2}$").as_deref(), Some("n00 n01 n10 n11"));
        assert_eq!(names(r"^n[0-5]\d$").map(|names| names.split(' ').count()), Some(60));
        for regex in [
            r"^web\d\d$",          // 100 names
            r"web1\.example\.net", // any name with this in it
            r"^web1\.",            // any domain
            r"^web.example$",      // any character
            r"^web\d+$",
            r"^web[^1]$",
            r"^(?=x)web$",
            r"^web\w$",
            r"^web(1$",
            r"^web1)$",
            r"^n\d{9999999999}$",
        ] {
            assert_eq!(names(regex), None, "{regex}");
        }
    }

    #[test]
    fn blocks_name_nodes_with_their_classes_and_variables() {
        let text = "node 'a.example.net', /^b[12]$/ {
  $tier = 'one'
  $computed = fact('x')
  include role::web
  role(mail::server)
}
node default { include role::none }
node b1 { }
";
        let manifest = crate::manifest::parse(text, None);
        let (found, patterns) = nodes_in(&FilePath::new("/site.pp"), &manifest);
        assert_eq!(patterns.len(), 1);
        assert_eq!(patterns[0].regex, "^b[12]$");
        let names: Vec<&str> = found.iter().map(|parts| &*parts.name).collect();
        assert_eq!(names, ["a.example.net", "b1", "b2"]);
        let block = found[0].block.as_ref().unwrap();
        assert_eq!(block.value.get("tier"), Some(&Value::from_argument("one")));
        assert_eq!(block.value.as_hash().unwrap().len(), 1);
        let included = &found[0].included.as_ref().unwrap().value;
        let words: Vec<String> = included
            .iter()
            .map(|one| format!("{}({})", one.function.as_deref().unwrap_or_default(), one.name))
            .collect();
        assert_eq!(words, ["(role::web)", "fact(x)", "role(mail::server)"]);
        assert!(found[1].included.is_none(), "the literal block is that of the node");
    }
}
