//! The beginning of a value, by its type: the text that completion inserts behind a key.

use super::place::CursorStep;
use crate::manifest::model::Literal;
use crate::puppet::print;
use crate::puppet::types::{DataType, StringType, StructMember};
use crate::puppet::value::{Data, Value};

/// The kind of a value that is to be written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum ValueShape {
    /// Not known.
    #[default]
    Unknown,
    /// A scalar, with the text that is suggested.
    Scalar(String),
    /// A string, without a suggestion.
    Text,
    /// One of these scalars.
    OneOf(Vec<String>),
    /// A list.
    List,
    /// A hash.
    Hash,
}

/// The most words of a choice in a snippet; of a type with more, no word is suggested there.
const MAX_CHOICES: usize = 24;
/// How deep aliases and types within each other are followed.
const DEPTH: usize = 8;

impl ValueShape {
    /// Returns the shape of values of a type, with the parameter's default.
    pub(super) fn of_type(data_type: Option<&DataType>, default: Option<&Literal>) -> ValueShape {
        let default = default.and_then(literal_text);
        let Some(data_type) = data_type else {
            return default.map_or(ValueShape::Unknown, ValueShape::Scalar);
        };
        let mut words = type_words(data_type);
        let is_listed = type_forms(data_type, DEPTH).iter().all(is_word);
        if is_listed && (1..=MAX_CHOICES).contains(&words.len()) {
            if let Some(at) = words.iter().position(|word| Some(word) == default.as_ref()) {
                words[..=at].rotate_right(1);
            }
            return ValueShape::OneOf(words);
        }
        match unwrap_type(data_type, DEPTH) {
            DataType::Array(..) | DataType::Tuple(..) => ValueShape::List,
            DataType::Hash(..) | DataType::Struct(_) => ValueShape::Hash,
            DataType::String(_) | DataType::Pattern(_) if default.is_none() => ValueShape::Text,
            _ => default.map_or(ValueShape::Unknown, ValueShape::Scalar),
        }
    }

    /// Returns the shape of a value that another place has.
    pub(super) fn of_value(value: &Value) -> ValueShape {
        match value.data() {
            Data::Array(_) => ValueShape::List,
            Data::Hash(_) => ValueShape::Hash,
            _ => ValueShape::Unknown,
        }
    }

    /// Returns the text behind the colon of a key at `column`, plain and as a snippet.
    pub(super) fn shape_text(
        &self,
        is_json: bool,
        in_flow: bool,
        column: usize,
    ) -> (String, String) {
        let indent = " ".repeat(column + 2);
        match self {
            ValueShape::List if in_flow => (" []".into(), " [$1]".into()),
            ValueShape::Hash if in_flow => (" {}".into(), " {$1}".into()),
            // Clients without snippets may not insert several lines.
            ValueShape::List => (String::new(), format!("\n{indent}- ")),
            ValueShape::Hash => (String::new(), format!("\n{indent}")),
            ValueShape::Text if is_json => (" ".into(), " \"$1\"".into()),
            ValueShape::Unknown | ValueShape::Text => plain_and_snippet(" "),
            ValueShape::Scalar(text) if !is_json || is_json_scalar(text) => {
                (" ".into(), format!(" ${{1:{}}}", escape_snippet(text)))
            }
            ValueShape::OneOf(words)
                if !is_json || words.iter().all(|word| is_json_scalar(word)) =>
            {
                let words: Vec<String> = words.iter().map(|word| escape_choice(word)).collect();
                (" ".into(), format!(" ${{1|{}|}}", words.join(",")))
            }
            ValueShape::Scalar(_) | ValueShape::OneOf(_) => plain_and_snippet(" "),
        }
    }
}

fn plain_and_snippet(text: &str) -> (String, String) {
    (text.to_owned(), text.to_owned())
}

fn is_json_scalar(text: &str) -> bool {
    serde_json::from_str::<serde_json::Value>(text).is_ok()
}

/// Returns a text as a snippet has it literally.
pub(super) fn escape_snippet(text: &str) -> String {
    text.replace('\\', "\\\\").replace('$', "\\$").replace('}', "\\}")
}

/// Returns a text as a choice of a snippet has it literally.
fn escape_choice(text: &str) -> String {
    text.replace('\\', "\\\\").replace(',', "\\,").replace('|', "\\|")
}

/// Returns a default as YAML; `None` for one that is no scalar.
fn literal_text(literal: &Literal) -> Option<String> {
    match literal {
        Literal::Boolean(value) => Some(value.to_string()),
        Literal::Integer(value) => Some(value.to_string()),
        Literal::Float(value) => Some(format!("{value:?}")),
        Literal::String(text) => Some(print::quote_scalar(text)),
        Literal::Undef | Literal::Default | Literal::List(_) | Literal::Hash(_) => None,
    }
}

/// Returns the type without the wrappers and aliases around it.
fn unwrap_type(data_type: &DataType, depth: usize) -> DataType {
    match data_type {
        DataType::Optional(Some(inner)) | DataType::NotUndef(Some(inner)) if depth > 0 => {
            unwrap_type(inner, depth - 1)
        }
        DataType::Sensitive(inner) if depth > 0 => unwrap_type(inner, depth - 1),
        DataType::Named(alias) if depth > 0 => unwrap_type(&alias.target_type(), depth - 1),
        // A variant has the shape of its first type.
        DataType::Variant(types) if depth > 0 => {
            let types: Vec<DataType> =
                types.iter().map(|one| unwrap_type(one, depth - 1)).collect();
            types.first().cloned().unwrap_or(DataType::Any)
        }
        other => other.clone(),
    }
}

/// Returns all forms of a type, without wrappers, aliases and variants.
fn type_forms(data_type: &DataType, depth: usize) -> Vec<DataType> {
    match data_type {
        _ if depth == 0 => Vec::new(),
        DataType::Optional(Some(inner)) | DataType::NotUndef(Some(inner)) => {
            type_forms(inner, depth - 1)
        }
        DataType::Sensitive(inner) => type_forms(inner, depth - 1),
        DataType::Named(alias) => type_forms(&alias.target_type(), depth - 1),
        DataType::Variant(types) => {
            types.iter().flat_map(|one| type_forms(one, depth - 1)).collect()
        }
        other => vec![other.clone()],
    }
}

/// Whether a form of a type lists its values.
fn is_word(form: &DataType) -> bool {
    use DataType::{Boolean, Enum, String, Undef};
    matches!(form, Boolean(_) | Enum { .. } | String(StringType::Value(_)) | Undef)
}

/// Returns the scalars that a type lists, as YAML; other values may fit, too.
pub(super) fn type_words(data_type: &DataType) -> Vec<String> {
    let mut words = Vec::new();
    for form in type_forms(data_type, DEPTH) {
        match form {
            DataType::Boolean(None) => words.extend(["true".to_owned(), "false".to_owned()]),
            DataType::Boolean(Some(value)) => words.push(value.to_string()),
            DataType::Enum { values, .. } => {
                words.extend(values.iter().map(|value| print::quote_scalar(value)));
            }
            DataType::String(StringType::Value(text)) => words.push(print::quote_scalar(&text)),
            _ => {}
        }
    }
    words
}

/// Returns the type of a part of values of a type.
pub(in crate::ide) fn type_at(data_type: &DataType, path: &[CursorStep]) -> Option<DataType> {
    let Some((step, rest)) = path.split_first() else { return Some(data_type.clone()) };
    type_forms(data_type, DEPTH).iter().find_map(|form| type_at(&part_type(form, step)?, rest))
}

fn part_type(form: &DataType, step: &CursorStep) -> Option<DataType> {
    match (form, step) {
        (DataType::Struct(members), CursorStep::Key(name)) => {
            members.iter().find(|member| member.name == *name).map(|member| member.value.clone())
        }
        (DataType::Hash(_, value, _), CursorStep::Key(_)) => Some((**value).clone()),
        (DataType::Array(element, _), CursorStep::Item(_)) => Some((**element).clone()),
        (DataType::Tuple(types, _), CursorStep::Item(number)) => {
            types.get(*number).or(types.last()).cloned()
        }
        _ => None,
    }
}

/// Whether values of a type must have the member at the end of a path; `None` where the type names
/// no members there.
pub(in crate::ide) fn required_here(data_type: &DataType, path: &[CursorStep]) -> Option<bool> {
    let (CursorStep::Key(name), outer) = path.split_last()? else { return None };
    let members = struct_members(&type_at(data_type, outer)?);
    members.iter().find(|member| member.name == *name).map(|member| !member.optional)
}

/// Returns the members that a type names, required ones first.
pub(super) fn struct_members(data_type: &DataType) -> Vec<StructMember> {
    let mut members: Vec<StructMember> = Vec::new();
    for form in type_forms(data_type, DEPTH) {
        if let DataType::Struct(found) = form {
            members.extend(found);
        }
    }
    members.sort_by_key(|member| member.optional);
    members
}
