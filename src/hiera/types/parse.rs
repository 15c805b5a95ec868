//! Types read from text, as Puppet's parser and `TypeParser` read them.

use std::fmt;
use std::sync::Arc;

use super::{Alias, DataType, Range, Size, StructMember, Text};
use crate::hiera::convert::time::{timespan_bound, timestamp_bound};
use crate::hiera::rich::{Pattern, VersionRange};

use DataType as T;

/// Why a text is no type, in Puppet's words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeSyntaxError(pub String);

impl fmt::Display for TypeSyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for TypeSyntaxError {}

/// Reads a type. A name that is no type of Puppet's own becomes [`DataType::Reference`], as it may be a module's.
pub fn parse(text: &str) -> Result<DataType, TypeSyntaxError> {
    if text.trim().is_empty() {
        return Err(TypeSyntaxError("The expression <> is not a valid type specification.".into()));
    }
    let mut reader = Reader { text, at: 0 };
    let expression = reader.expression(0)?;
    reader.blanks();
    if reader.at < text.len() {
        return Err(reader.error());
    }
    match expression {
        Expression::Type { name, parameters, text } => to_type(&name, parameters.as_deref(), &text),
        _ => Err(invalid(text.trim())),
    }
}

/// What may stand between the brackets of a type.
#[derive(Clone, Debug)]
enum Expression {
    Type { name: String, parameters: Option<Vec<Expression>>, text: String },
    Text(String),
    Integer(i128),
    Float(f64),
    Bool(bool),
    Regex(String),
    Default,
    Undef,
    List,
    Hash(Vec<(Expression, Expression)>),
}

fn invalid(text: &str) -> TypeSyntaxError {
    TypeSyntaxError(format!("The expression <{text}> is not a valid type specification."))
}

/// A number as Puppet writes it: decimal, octal or hexadecimal; a float.
fn number_of(text: &str) -> Option<Expression> {
    let radix = |digits: &str, radix| i128::from_str_radix(digits, radix).ok().map(Expression::Integer);
    if let Some(digits) = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        return radix(digits, 16);
    }
    if text.bytes().all(|byte| byte.is_ascii_digit()) {
        return if text.len() > 1 && text.starts_with('0') { radix(text, 8) } else { radix(text, 10) };
    }
    let plain = text.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'e' | b'E'));
    text.parse().ok().filter(|_| plain).map(Expression::Float)
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
}

/// Deeper types are not meant.
const MAX_DEPTH: usize = 50;

impl Reader<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn blanks(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start().len();
    }

    fn error(&self) -> TypeSyntaxError {
        let word = self.rest().find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(self.rest().len());
        let token = self.rest().get(..word.max(self.rest().chars().next().map_or(0, char::len_utf8))).unwrap_or_default();
        if token.is_empty() {
            return TypeSyntaxError("Syntax error at end of input".into());
        }
        let before = &self.text[..self.at];
        let (line, start) = (before.matches('\n').count() + 1, before.rfind('\n').map_or(0, |at| at + 1));
        let column = before[start..].chars().count() + 1;
        TypeSyntaxError(format!("Syntax error at '{token}' (line: {line}, column: {column})"))
    }

    fn take(&mut self, token: &str) -> bool {
        self.blanks();
        let found = self.rest().starts_with(token);
        if found {
            self.at += token.len();
        }
        found
    }

    fn word(&mut self, belongs: impl Fn(char) -> bool) -> String {
        let len = self.rest().find(|c| !belongs(c)).unwrap_or(self.rest().len());
        let word = self.rest()[..len].to_owned();
        self.at += len;
        word
    }

    fn expression(&mut self, depth: usize) -> Result<Expression, TypeSyntaxError> {
        self.blanks();
        let first = self.rest().chars().next().filter(|_| depth < MAX_DEPTH).ok_or_else(|| self.error())?;
        match first {
            '\'' | '"' => {
                self.at += 1;
                let text = self.string(first)?;
                Ok(Expression::Text(text))
            }
            '/' => {
                self.at += 1;
                let bytes = self.rest().as_bytes();
                let end = (0..bytes.len()).find(|n| bytes[*n] == b'/' && (*n == 0 || bytes[n - 1] != b'\\'));
                let end = end.ok_or_else(|| self.error())?;
                let source = self.rest()[..end].replace("\\/", "/");
                self.at += end + 1;
                Ok(Expression::Regex(source))
            }
            '{' => self.hash(depth),
            '[' => {
                self.at += 1;
                self.list("]", depth)?;
                Ok(Expression::List)
            }
            c if c.is_ascii_digit() || c == '-' => {
                self.at += usize::from(c == '-');
                self.blanks();
                let number = self.word(|c| c.is_ascii_alphanumeric() || c == '.');
                let number = number_of(&number).ok_or_else(|| self.error())?;
                Ok(match number {
                    Expression::Integer(number) if c == '-' => Expression::Integer(-number),
                    Expression::Float(number) if c == '-' => Expression::Float(-number),
                    number => number,
                })
            }
            c if c.is_ascii_uppercase() => {
                let start = self.at;
                let name = self.word(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | ':'));
                let end = self.at;
                let parameters = if self.take("[") {
                    self.blanks();
                    if self.rest().starts_with(']') {
                        return Err(self.error());
                    }
                    Some(self.list("]", depth)?)
                } else {
                    self.at = end; // blanks behind a name are not its own
                    None
                };
                Ok(Expression::Type { name, parameters, text: self.text[start..self.at].to_owned() })
            }
            c if c.is_ascii_lowercase() || c == '_' => {
                let word = self.word(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | ':'));
                Ok(match word.as_str() {
                    "true" => Expression::Bool(true),
                    "false" => Expression::Bool(false),
                    "default" => Expression::Default,
                    "undef" => Expression::Undef,
                    _ => Expression::Text(word),
                })
            }
            _ => Err(self.error()),
        }
    }

    /// A string in quotes. In single ones only the quote and the backslash are escaped.
    fn string(&mut self, quote: char) -> Result<String, TypeSyntaxError> {
        let mut text = String::new();
        let mut chars = self.rest().char_indices();
        while let Some((at, c)) = chars.next() {
            match c {
                c if c == quote => {
                    self.at += at + 1;
                    return Ok(text);
                }
                '\\' => match chars.next().map(|(_, c)| c) {
                    Some(c) if c == quote || c == '\\' => text.push(c),
                    Some('n') if quote == '"' => text.push('\n'),
                    Some('t') if quote == '"' => text.push('\t'),
                    Some('r') if quote == '"' => text.push('\r'),
                    Some('s') if quote == '"' => text.push(' '),
                    Some('$') if quote == '"' => text.push('$'),
                    Some(c) => text.extend(['\\', c]),
                    None => break,
                },
                c => text.push(c),
            }
        }
        self.at = self.text.len();
        Err(self.error())
    }

    fn list(&mut self, end: &str, depth: usize) -> Result<Vec<Expression>, TypeSyntaxError> {
        let mut items = Vec::new();
        while !self.take(end) {
            items.push(self.expression(depth + 1)?);
            if !self.take(",") {
                return if self.take(end) { Ok(items) } else { Err(self.error()) };
            }
        }
        Ok(items)
    }

    fn hash(&mut self, depth: usize) -> Result<Expression, TypeSyntaxError> {
        self.at += 1;
        let mut members = Vec::new();
        while !self.take("}") {
            let key = self.expression(depth + 1)?;
            if !self.take("=>") {
                return Err(self.error());
            }
            members.push((key, self.expression(depth + 1)?));
            if !self.take(",") {
                return if self.take("}") { Ok(Expression::Hash(members)) } else { Err(self.error()) };
            }
        }
        Ok(Expression::Hash(members))
    }
}

/// Types that no value of data has; what is between their brackets does not matter.
const FOREIGN: [(&str, &str); 6] = [
    ("callable", "Callable"),
    ("catalogentry", "CatalogEntry"),
    ("class", "Class"),
    ("resource", "Resource"),
    ("runtime", "Runtime"),
    ("typeset", "TypeSet"),
];

fn to_type(name: &str, parameters: Option<&[Expression]>, text: &str) -> Result<DataType, TypeSyntaxError> {
    let lower = name.to_ascii_lowercase();
    let Some(given) = parameters else { return Ok(bare(&lower, name)) };
    let typed = |expression: &Expression| match expression {
        Expression::Type { name, parameters, text } => to_type(name, parameters.as_deref(), text),
        _ => Err(invalid(text)),
    };
    let boxed = |expression: &Expression| typed(expression).map(Box::new);
    let counted = |kind: &str, required: &str| {
        TypeSyntaxError(format!(
            "Invalid number of type parameters specified: {kind} requires {required}, {} provided",
            given.len()
        ))
    };
    let only = |kind: &str| if let [one] = given { Ok(one) } else { Err(counted(kind, "1")) };
    let unparameterized = |qualified: &str| TypeSyntaxError(format!("Not a parameterized type <{qualified}>"));
    Ok(match lower.as_str() {
        "array" => match given {
            [one] => T::array(typed(one)?, None),
            [Expression::Type { .. }, length] => T::array(typed(&given[0])?, size(length, None, text)?),
            [from, to] => T::array(T::Any, size_between(from, to, text)?),
            // `default` as the least is not the zero that leaves no elements.
            [one, Expression::Default, to] => T::Array(boxed(one)?, size_between(&Expression::Default, to, text)?),
            [one, from, to] => T::array(typed(one)?, size_between(from, to, text)?),
            _ => return Err(counted("Array", "1 to 3")),
        },
        "hash" => match given {
            [key @ Expression::Type { .. }, value @ Expression::Type { .. }] => T::hash(typed(key)?, typed(value)?, None),
            [from, to] => T::hash(T::Any, T::Any, size_between(from, to, text)?),
            [key, value, length] => T::hash(typed(key)?, typed(value)?, size(length, None, text)?),
            [key, value, Expression::Default, to] => {
                T::Hash(boxed(key)?, boxed(value)?, size_between(&Expression::Default, to, text)?)
            }
            [key, value, from, to] => T::hash(typed(key)?, typed(value)?, size_between(from, to, text)?),
            _ => return Err(counted("Hash", "2 to 4")),
        },
        "collection" => match given {
            [length] => T::Collection(size(length, None, text)?),
            [from, to] => T::Collection(size_between(from, to, text)?),
            _ => return Err(counted("Collection", "1 to 2")),
        },
        "string" => match given {
            [length] => T::String(size(length, None, text)?.map_or(Text::Any, Text::Length)),
            [from, to] => T::String(size_between(from, to, text)?.map_or(Text::Any, Text::Length)),
            _ => return Err(counted("String", "1 to 2")),
        },
        "integer" => match given {
            [Expression::Default] => T::INTEGER,
            [Expression::Integer(from)] => T::Integer(Range { from: Some(*from), to: None }),
            [_] => return Err(invalid(text)),
            [from, to] => match integer(from).zip(integer(to)) {
                Some((from, to)) => T::Integer(ordered(from, to, |number| number.to_string())?),
                None => T::Undecided(text.to_owned()),
            },
            _ => return Err(counted("Integer", "1 or 2")),
        },
        "float" => match given {
            [Expression::Default] => T::FLOAT,
            [one] => match float(one) {
                Some(from) => T::Float(Range { from, to: None }),
                None => return Err(invalid(text)),
            },
            [from, to] => match float(from).zip(float(to)) {
                Some((from, to)) => T::Float(ordered(from, to, |number| crate::hiera::value::float_text(*number))?),
                None => T::Undecided(text.to_owned()),
            },
            _ => return Err(counted("Float", "1 or 2")),
        },
        "boolean" => match only("Boolean")? {
            Expression::Bool(truth) => T::Boolean(Some(*truth)),
            _ => return Err(TypeSyntaxError("Boolean parameter must be true or false".into())),
        },
        "enum" => {
            let (strings, fold) = match given {
                [strings @ .., Expression::Bool(fold)] => (strings, *fold),
                strings => (strings, false),
            };
            if strings.is_empty() {
                return Err(TypeSyntaxError(
                    "Invalid number of type parameters specified: Enum requires 1 or more, 0 provided".into(),
                ));
            }
            let values = strings.iter().map(|one| if let Expression::Text(text) = one { Some(text.clone()) } else { None });
            let Some(mut values) = values.collect::<Option<Vec<String>>>() else {
                return Err(TypeSyntaxError("Enum parameters must be identifiers or strings".into()));
            };
            values.sort();
            values.dedup();
            T::Enum { values, fold }
        }
        "pattern" if given.is_empty() => return Err(counted("Pattern", "1 or more")),
        "pattern" => match patterns(given)? {
            Some(patterns) => T::Pattern(patterns),
            None => T::Undecided(text.to_owned()),
        },
        "regexp" => match patterns(std::slice::from_ref(only("Regexp")?))? {
            Some(patterns) => T::Regexp(patterns.into_iter().next()),
            None => T::Undecided(text.to_owned()),
        },
        "tuple" => {
            let is_bound = |one: &Expression| matches!(one, Expression::Integer(_) | Expression::Default);
            let (types, size) = match given {
                [] => return Err(counted("Tuple", "1 or more")),
                [types @ .., from, to] if is_bound(from) => (types, size_between(from, to, text)?),
                [types @ .., from] if is_bound(from) => (types, size(from, None, text)?),
                types => (types, None),
            };
            T::Tuple(types.iter().map(typed).collect::<Result<_, _>>()?, size)
        }
        "struct" => match only("Struct")? {
            Expression::Hash(members) => {
                let member = |(key, value): &(Expression, Expression)| member(key, typed(value)?, text);
                T::Struct(members.iter().map(member).collect::<Result<_, _>>()?)
            }
            _ => return Err(invalid(text)),
        },
        "optional" | "notundef" => {
            let kind = if lower == "optional" { "Optional" } else { "NotUndef" };
            let inner = match only(kind)? {
                Expression::Text(value) => T::String(Text::Value(value.clone())),
                one => typed(one)?,
            };
            match lower.as_str() {
                "optional" => T::optional(inner),
                _ => T::NotUndef(Some(inner).filter(|inner| *inner != T::Any).map(Box::new)),
            }
        }
        "variant" if given.is_empty() => return Err(counted("Variant", "1 or more")),
        "variant" => T::variant(given.iter().map(typed).collect::<Result<_, _>>()?),
        "sensitive" => match given {
            [] => T::Sensitive(Box::new(T::Any)),
            [one] => T::Sensitive(Box::new(typed(one)?.generalized())),
            _ => return Err(counted("Sensitive", "0 to 1")),
        },
        "type" => T::Type(Some(boxed(only("Type")?)?)),
        "iterable" => T::Iterable(Some(boxed(only("Iterable")?)?)),
        "iterator" => T::Iterator(Some(boxed(only("Iterator")?)?)),
        "timestamp" | "timespan" => {
            let kind = if lower == "timestamp" { "Timestamp" } else { "Timespan" };
            if given.len() > 2 {
                return Err(counted(kind, "0 to 2"));
            }
            let bound = |n: usize| match given.get(n) {
                None | Some(Expression::Default) => Some(None),
                Some(one) => time_bound(one, kind == "Timestamp").map(Some),
            };
            match bound(0).zip(bound(1)) {
                Some((from, to)) if from.zip(to).is_none_or(|(from, to)| from <= to) => {
                    let range = Range { from, to };
                    if kind == "Timestamp" { T::Timestamp(range) } else { T::Timespan(range) }
                }
                _ => T::Undecided(text.to_owned()),
            }
        }
        "semver" => {
            let range = |one: &Expression| if let Expression::Text(text) = one { VersionRange::parse(text).ok() } else { None };
            // Several ranges are merged by Puppet, by rules of their own.
            match given {
                [one] => range(one).map_or_else(|| T::Undecided(text.to_owned()), |range| T::SemVer(vec![range])),
                _ => T::Undecided(text.to_owned()),
            }
        }
        "any" | "data" | "catalogentry" | "scalar" | "undef" | "numeric" | "default" | "semverrange" => {
            return Err(unparameterized(name));
        }
        "binary" | "scalardata" | "richdata" | "richdatakey" => return Err(unparameterized(text)),
        "uri" | "init" | "object" | "typealias" | "typereference" => T::Undecided(text.to_owned()),
        foreign => match FOREIGN.iter().find(|(known, _)| *known == foreign) {
            Some((_, name)) => T::Foreign { name, text: text.to_owned() },
            None if is_resource(foreign) || is_object(foreign) => T::Undecided(text.to_owned()),
            None => T::Reference(text.to_owned()),
        },
    })
}

/// A type without brackets.
fn bare(lower: &str, name: &str) -> DataType {
    match lower {
        "any" => T::Any,
        "undef" => T::Undef,
        "default" => T::Default,
        "scalar" => T::Scalar,
        "scalardata" => T::ScalarData,
        "numeric" => T::Numeric,
        "integer" => T::INTEGER,
        "float" => T::FLOAT,
        "string" => T::STRING,
        "boolean" => T::BOOLEAN,
        "enum" => T::Enum { values: Vec::new(), fold: false },
        "pattern" => T::Pattern(Vec::new()),
        "regexp" => T::Regexp(None),
        "semver" => T::SemVer(Vec::new()),
        "semverrange" => T::SemVerRange,
        "timestamp" => T::Timestamp(Range::ANY),
        "timespan" => T::Timespan(Range::ANY),
        "binary" => T::Binary,
        "uri" => T::Uri,
        "collection" => T::Collection(None),
        "array" => T::array(T::Any, None),
        "hash" => T::hash(T::Any, T::Any, None),
        "tuple" => T::Tuple(Vec::new(), None),
        "struct" => T::Struct(Vec::new()),
        "optional" => T::Optional(None),
        "notundef" => T::NotUndef(None),
        "variant" => T::Variant(Vec::new()),
        "sensitive" => T::Sensitive(Box::new(T::Any)),
        "type" => T::Type(None),
        "iterable" => T::Iterable(None),
        "iterator" => T::Iterator(None),
        "init" => T::Init,
        "data" => T::Alias(Alias::Data),
        "richdata" => T::Alias(Alias::RichData),
        "richdatakey" => T::Alias(Alias::RichDataKey),
        "puppet::lookupkey" => T::Alias(Alias::LookupKey),
        "puppet::lookupvalue" => T::Alias(Alias::LookupValue),
        "object" => T::Foreign { name: "Object", text: "Object".into() },
        other => match FOREIGN.iter().find(|(known, _)| *known == other) {
            Some((_, "TypeSet")) => T::Foreign { name: "TypeSet", text: super::TYPE_SET.to_owned() },
            Some((_, name)) => T::Foreign { name, text: (*name).to_owned() },
            None if is_resource(other) || is_object(other) => T::Undecided(name.to_owned()),
            None => T::Reference(name.to_owned()),
        },
    }
}

/// Whether it is a resource type that Puppet itself brings along.
fn is_resource(lower: &str) -> bool {
    let known = "component exec file filebucket group node notify package resources schedule service stage tidy user whit";
    known.split(' ').any(|name| name == lower)
}

/// Whether it is an object type that Puppet itself brings along, or in a set of such types.
fn is_object(lower: &str) -> bool {
    let known = "error target deferred task plan applyresult resourceinstance resultset result";
    known.split(' ').any(|name| name == lower)
        || ["pcore::", "puppet::ast::", "puppet::datatypes::"].iter().any(|set| lower.starts_with(set))
        || matches!(lower, "typealias" | "typereference")
}

fn ordered<N: PartialOrd + Copy>(
    from: Option<N>,
    to: Option<N>,
    text: impl Fn(&N) -> String,
) -> Result<Range<N>, TypeSyntaxError> {
    match from.zip(to) {
        Some((from, to)) if from > to => {
            Err(TypeSyntaxError(format!("'from' must be less or equal to 'to'. Got ({}, {}", text(&from), text(&to))))
        }
        _ => Ok(Range { from, to }),
    }
}

/// `Some(None)` is no bound, `None` is no integer.
fn integer(expression: &Expression) -> Option<Option<i128>> {
    match expression {
        Expression::Default => Some(None),
        Expression::Integer(number) => Some(Some(*number)),
        _ => None,
    }
}

fn float(expression: &Expression) -> Option<Option<f64>> {
    match expression {
        Expression::Float(number) => Some(Some(*number)),
        other => integer(other).map(|bound| bound.map(|number| number as f64)),
    }
}

/// A size of at least `from`, or a type of integers as a size.
fn size(from: &Expression, to: Option<i128>, text: &str) -> Result<Size, TypeSyntaxError> {
    let range = match from {
        Expression::Type { name, parameters, text } => match to_type(name, parameters.as_deref(), text)? {
            T::Integer(range) => range,
            _ => return Err(invalid(text)),
        },
        one => Range { from: integer(one).ok_or_else(|| invalid(text))?, to },
    };
    Ok(Some(to_size(range)))
}

fn size_between(from: &Expression, to: &Expression, text: &str) -> Result<Size, TypeSyntaxError> {
    let (from, to) = integer(from).zip(integer(to)).ok_or_else(|| invalid(text))?;
    Ok(Some(to_size(ordered(from, to, |number| number.to_string())?)))
}

/// No size is less than none.
fn to_size(range: Range<i128>) -> Range<i128> {
    if range.from.is_some_and(|from| from >= 0) {
        return range;
    }
    Range { from: Some(0), to: range.to.map(|to| to.max(0)) }
}

fn time_bound(expression: &Expression, timestamp: bool) -> Option<i128> {
    match expression {
        Expression::Integer(seconds) => seconds.checked_mul(1_000_000_000),
        Expression::Text(text) if timestamp => timestamp_bound(text),
        Expression::Text(text) => timespan_bound(text),
        _ => None,
    }
}

/// `None` where a pattern is named by another type.
fn patterns(given: &[Expression]) -> Result<Option<Vec<Arc<Pattern>>>, TypeSyntaxError> {
    let mut all = Vec::new();
    for one in given {
        let (Expression::Regex(source) | Expression::Text(source)) = one else { return Ok(None) };
        all.push(Arc::new(Pattern::new(source).map_err(|error| TypeSyntaxError(error.message))?));
    }
    Ok(Some(all))
}

fn member(key: &Expression, value: DataType, text: &str) -> Result<StructMember, TypeSyntaxError> {
    let named = |inner: &Expression| if let Expression::Text(name) = inner { Some(name.clone()) } else { None };
    let (name, optional) = match key {
        Expression::Text(name) if name.is_empty() => {
            return Err(TypeSyntaxError("Struct element key cannot be an empty String".into()));
        }
        Expression::Text(name) => (Some(name.clone()), value.assignable(&T::Undef)),
        Expression::Type { name: kind, parameters: Some(inner), .. } => {
            (inner.first().and_then(named), kind.eq_ignore_ascii_case("optional"))
        }
        _ => (None, false),
    };
    let name = name.ok_or_else(|| invalid(text))?;
    Ok(StructMember { name, optional, value })
}
