//! The little of YAML's flow style that the shrinker needs to take values apart, with scalars left
//! as they are written.

use std::fmt;

/// A value on one line.
#[derive(Clone)]
pub enum Flow {
    Leaf(String),
    List(Vec<Flow>),
    Hash(Vec<(String, Flow)>),
}

impl Flow {
    /// Reads a text that is one value from start to end.
    pub fn parse(text: &str) -> Option<Flow> {
        let mut rest = text.trim_end();
        let flow = value(&mut rest, &[])?;
        rest.is_empty().then_some(flow)
    }

    /// The versions of the value with something taken out, the smallest first.
    pub fn simpler(&self) -> Vec<Flow> {
        match self {
            Flow::Leaf(text) => without_a_piece(text).into_iter().map(Flow::Leaf).collect(),
            Flow::List(items) => {
                let inner = items.iter().cloned();
                inner
                    .chain(without_one(items).map(Flow::List))
                    .chain(simpler_parts(items, |item| item).map(Flow::List))
                    .collect()
            }
            Flow::Hash(members) => {
                let inner = members.iter().map(|(_, value)| value.clone());
                let parts = simpler_parts(members, |(_, value)| value);
                inner
                    .chain(without_one(members).map(Flow::Hash))
                    .chain(parts.map(Flow::Hash))
                    .collect()
            }
        }
    }
}

fn without_one<T: Clone>(items: &[T]) -> impl Iterator<Item = Vec<T>> {
    (0..items.len()).map(|n| [&items[..n], &items[n + 1..]].concat())
}

/// The lists in which one item's value is simpler.
fn simpler_parts<T: Clone>(
    items: &[T],
    of: impl Fn(&mut T) -> &mut Flow + Copy,
) -> impl Iterator<Item = Vec<T>> {
    (0..items.len()).flat_map(move |n| {
        let mut items = items.to_vec();
        let simpler = of(&mut items[n]).simpler();
        simpler.into_iter().map(move |value| {
            let mut items = items.clone();
            *of(&mut items[n]) = value;
            items
        })
    })
}

/// A quoted text without one of its tokens, or without the text between two of them.
fn without_a_piece(text: &str) -> Vec<String> {
    let Some(quote) = text.chars().next().filter(|c| ['"', '\''].contains(c)) else {
        return Vec::new();
    };
    let mut rest = text.trim_matches(quote);
    let mut pieces = Vec::new();
    while !rest.is_empty() {
        let end = match rest.find("%{") {
            Some(0) => rest.find('}').map_or(rest.len(), |end| end + 1),
            Some(start) => start,
            None => rest.len(),
        };
        pieces.push(&rest[..end]);
        rest = &rest[end..];
    }
    match pieces.len() {
        0 | 1 => Vec::new(),
        _ => without_one(&pieces)
            .map(|pieces| format!("{quote}{}{quote}", pieces.concat()))
            .collect(),
    }
}

/// Reads a value that ends before one of `ends`, or with the text if there are none.
fn value(rest: &mut &str, ends: &[char]) -> Option<Flow> {
    *rest = rest.trim_start();
    if let Some(inner) = rest.strip_prefix('[') {
        *rest = inner;
        let mut items = Vec::new();
        while !closes(rest, ']') {
            items.push(value(rest, &[',', ']'])?);
            separator(rest, ']')?;
        }
        return Some(Flow::List(items));
    }
    if let Some(inner) = rest.strip_prefix('{') {
        *rest = inner;
        let mut members = Vec::new();
        while !closes(rest, '}') {
            let key = leaf(rest, &[':', ',', '}'])?;
            *rest = rest.strip_prefix(": ")?;
            members.push((key, value(rest, &[',', '}'])?));
            separator(rest, '}')?;
        }
        return Some(Flow::Hash(members));
    }
    leaf(rest, ends).map(Flow::Leaf)
}

/// Whether the collection ends here; eats its bracket.
fn closes(rest: &mut &str, bracket: char) -> bool {
    *rest = rest.trim_start();
    let inner = rest.strip_prefix(bracket);
    *rest = inner.unwrap_or(rest);
    inner.is_some()
}

/// Eats a comma; there need be none before the bracket.
fn separator(rest: &mut &str, bracket: char) -> Option<()> {
    *rest = rest.trim_start();
    match rest.strip_prefix(',') {
        Some(after) => *rest = after,
        None => return rest.starts_with(bracket).then_some(()),
    }
    Some(())
}

/// Reads a scalar as it is written, with its quotes; a quote may stand behind a tag.
fn leaf(rest: &mut &str, ends: &[char]) -> Option<String> {
    *rest = rest.trim_start();
    let (mut quote, mut escaped) = (None, false);
    let mut end = rest.len();
    for (at, c) in rest.char_indices() {
        match quote {
            Some(_) if escaped => escaped = false,
            Some('"') if c == '\\' => escaped = true,
            Some('\'') if rest[at..].starts_with("''") => escaped = true,
            Some(open) if c == open => quote = None,
            Some(_) => {}
            None if ['"', '\''].contains(&c) && (at == 0 || rest.starts_with('!')) => {
                quote = Some(c)
            }
            None if c == ':' && ends.contains(&c) && !rest[at..].starts_with(": ") => {}
            None if ends.contains(&c) => {
                end = at;
                break;
            }
            None => {}
        }
    }
    let (leaf, after) = rest.split_at(end);
    *rest = after;
    (quote.is_none()).then(|| leaf.trim_end().to_owned())
}

impl fmt::Display for Flow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let joined = |items: Vec<String>| items.join(", ");
        match self {
            Flow::Leaf(text) => f.write_str(text),
            Flow::List(items) => {
                write!(f, "[{}]", joined(items.iter().map(Flow::to_string).collect()))
            }
            Flow::Hash(members) => {
                write!(
                    f,
                    "{{{}}}",
                    joined(members.iter().map(|(key, value)| format!("{key}: {value}")).collect())
                )
            }
        }
    }
}
