//! Types from text: `Array[Variant[Integer[1, 5], Enum['a', 'b']], 1]`.

use std::fmt;
use std::sync::Arc;

use super::{ANY_SIZE, DataType, Named, Size, StructMember};
use crate::hiera::ruby_regex::RubyRegex;

/// Why a text is no type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeSyntaxError(String);

impl fmt::Display for TypeSyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Reads a type. A name that is no type of Puppet's own becomes [`DataType::Unresolved`], as it may be a module's.
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
        Expression::Type(name, parameters) => to_type(&name, parameters, text),
        _ => Err(TypeSyntaxError(format!("The expression <{text}> is not a valid type specification."))),
    }
}

/// What may stand between the brackets of a type.
#[derive(Clone, Debug)]
enum Expression {
    Type(String, Option<Vec<Expression>>),
    Text(String),
    Integer(i64),
    Float(f64),
    Bool(bool),
    Regex(String),
    Default,
    Hash(Vec<(Expression, Expression)>),
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
        match self.rest().chars().next() {
            Some(c) => TypeSyntaxError(format!("Syntax error at '{c}'")),
            None => TypeSyntaxError("Syntax error at end of input".into()),
        }
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
                let end = self.rest().find(first).ok_or_else(|| self.error())?;
                let text = self.rest()[..end].to_owned();
                self.at += end + 1;
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
            c if c.is_ascii_digit() || c == '-' => {
                let number = self.word(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '+'));
                let integer = number.parse().ok().map(Expression::Integer);
                integer.or_else(|| number.parse().ok().map(Expression::Float)).ok_or_else(|| self.error())
            }
            c if c.is_ascii_uppercase() => {
                let name = self.word(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | ':'));
                let parameters = if self.take("[") { Some(self.list("]", depth)?) } else { None };
                Ok(Expression::Type(name, parameters))
            }
            c if c.is_ascii_lowercase() || c == '_' => {
                let word = self.word(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | ':'));
                Ok(match word.as_str() {
                    "true" => Expression::Bool(true),
                    "false" => Expression::Bool(false),
                    "default" => Expression::Default,
                    _ => Expression::Text(word),
                })
            }
            _ => Err(self.error()),
        }
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

fn to_type(name: &str, parameters: Option<Vec<Expression>>, text: &str) -> Result<DataType, TypeSyntaxError> {
    let invalid = || TypeSyntaxError(format!("The expression <{text}> is not a valid type specification."));
    let given = parameters.unwrap_or_default();
    let inner = |expression: &Expression| match expression {
        Expression::Type(name, parameters) => to_type(name, parameters.clone(), text),
        Expression::Text(value) => Ok(DataType::Enum(vec![value.clone()])),
        _ => Err(invalid()),
    };
    let boxed = |expression: Option<&Expression>| expression.map_or(Ok(DataType::Any), inner).map(Box::new);
    let plain = |named: Named| if given.is_empty() { Ok(DataType::Named(named)) } else { Err(invalid()) };
    Ok(match name {
        "Any" => DataType::Any,
        "Scalar" => plain(Named::Scalar)?,
        "ScalarData" => plain(Named::ScalarData)?,
        "Numeric" => plain(Named::Numeric)?,
        "Data" => plain(Named::Data)?,
        "Undef" => plain(Named::Undef)?,
        "RichData" => plain(Named::RichData)?,
        "Default" => plain(Named::Default)?,
        "Integer" => {
            let (min, max) = (integer(given.first()).ok_or_else(invalid)?, integer(given.get(1)).ok_or_else(invalid)?);
            if let (Some(min), Some(max)) = (min, max)
                && min > max
            {
                return Err(TypeSyntaxError(format!("'from' must be less or equal to 'to'. Got ({min}, {max}")));
            }
            DataType::Integer(min, max)
        }
        "Float" => DataType::Float(float(given.first()).ok_or_else(invalid)?, float(given.get(1)).ok_or_else(invalid)?),
        "String" => DataType::String(size(&given).ok_or_else(invalid)?),
        "Boolean" => match given.as_slice() {
            [] => DataType::Boolean(None),
            [Expression::Bool(only)] => DataType::Boolean(Some(*only)),
            _ => return Err(invalid()),
        },
        "Enum" => DataType::Enum(given.iter().map(text_of).collect::<Option<_>>().ok_or_else(invalid)?),
        "Pattern" => DataType::Pattern(given.iter().map(pattern).collect::<Result<_, _>>()?),
        "Array" => match given.first() {
            Some(Expression::Type(..)) => DataType::Array(boxed(given.first())?, size(&given[1..]).ok_or_else(invalid)?),
            _ => DataType::Array(Box::new(DataType::Any), size(&given).ok_or_else(invalid)?),
        },
        "Hash" => match given.len() {
            0 => DataType::Hash(Box::new(DataType::Any), Box::new(DataType::Any), ANY_SIZE),
            1 => {
                return Err(TypeSyntaxError(
                    "Invalid number of type parameters specified: Hash requires 2 to 4, 1 provided".into(),
                ));
            }
            _ if matches!(given[0], Expression::Integer(_) | Expression::Default) => {
                DataType::Hash(Box::new(DataType::Any), Box::new(DataType::Any), size(&given).ok_or_else(invalid)?)
            }
            _ => DataType::Hash(boxed(given.first())?, boxed(given.get(1))?, size(&given[2..]).ok_or_else(invalid)?),
        },
        "Tuple" => {
            let types =
                given.iter().take_while(|one| matches!(one, Expression::Type(..))).map(inner).collect::<Result<Vec<_>, _>>()?;
            let rest = &given[types.len()..];
            let exact = if types.is_empty() { ANY_SIZE } else { Size { min: types.len(), max: Some(types.len()) } };
            let size = if rest.is_empty() { exact } else { size(rest).ok_or_else(invalid)? };
            DataType::Tuple(types, size)
        }
        "Struct" => match given.as_slice() {
            [] => DataType::Struct(Vec::new()),
            [Expression::Hash(members)] => {
                let member = |(key, value): &(Expression, Expression)| member(key, inner(value)?).ok_or_else(invalid);
                DataType::Struct(members.iter().map(member).collect::<Result<_, _>>()?)
            }
            _ => return Err(invalid()),
        },
        "Optional" => DataType::Optional(boxed(given.first())?),
        "NotUndef" => DataType::NotUndef(boxed(given.first())?),
        "Variant" => DataType::Variant(given.iter().map(inner).collect::<Result<_, _>>()?),
        "Collection" => DataType::Collection(size(&given).ok_or_else(invalid)?),
        "Sensitive" => DataType::Sensitive(given.first().map(|one| inner(one).map(Box::new)).transpose()?),
        _ if OTHERS.contains(&name) => DataType::Other(if given.is_empty() { name.to_owned() } else { text.trim().to_owned() }),
        _ => DataType::Unresolved(name.to_owned()),
    })
}

/// Puppet's types that no value of plain data has.
const OTHERS: [&str; 16] = [
    "Regexp",
    "Timestamp",
    "Timespan",
    "SemVer",
    "SemVerRange",
    "Binary",
    "URI",
    "Type",
    "Callable",
    "Runtime",
    "Iterable",
    "Iterator",
    "Init",
    "Object",
    "CatalogEntry",
    "Deferred",
];

/// `Some(None)` is no bound, `None` is no integer.
fn integer(expression: Option<&Expression>) -> Option<Option<i64>> {
    match expression {
        None | Some(Expression::Default) => Some(None),
        Some(Expression::Integer(number)) => Some(Some(*number)),
        _ => None,
    }
}

fn float(expression: Option<&Expression>) -> Option<Option<f64>> {
    match expression {
        Some(Expression::Float(number)) => Some(Some(*number)),
        other => integer(other).map(|bound| bound.map(|number| number as f64)),
    }
}

fn size(given: &[Expression]) -> Option<Size> {
    if given.len() > 2 {
        return None;
    }
    let bound = |number: Option<i64>| number.map(|number| usize::try_from(number).unwrap_or(0));
    Some(Size { min: bound(integer(given.first())?).unwrap_or(0), max: bound(integer(given.get(1))?) })
}

fn text_of(expression: &Expression) -> Option<String> {
    match expression {
        Expression::Text(text) => Some(text.clone()),
        _ => None,
    }
}

fn pattern(expression: &Expression) -> Result<(String, Arc<RubyRegex>), TypeSyntaxError> {
    let source = match expression {
        Expression::Regex(source) | Expression::Text(source) => source,
        _ => return Err(TypeSyntaxError("a pattern must be a regular expression".into())),
    };
    let regex = RubyRegex::new(source).map_err(|error| TypeSyntaxError(error.message))?;
    Ok((source.clone(), Arc::new(regex)))
}

fn member(key: &Expression, value: DataType) -> Option<StructMember> {
    let (name, optional) = match key {
        Expression::Text(name) => (name.clone(), matches!(value, DataType::Optional(_))),
        Expression::Type(kind, Some(inner)) => (text_of(inner.first()?)?, kind == "Optional"),
        _ => return None,
    };
    Some(StructMember { name, optional, value })
}
