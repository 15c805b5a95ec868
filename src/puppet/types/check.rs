//! Checks values against types: the mismatches, and the places where they were written.

use std::fmt;

use super::describe::{ValueStep, describe};
use super::guard::{Known, RecursionGuard};
use super::normalize::Crash;
use super::{DataType, infer_set};
use crate::puppet::value::{Data, Value};
use crate::text::Span;

/// A value that is not of its type. `Display` gives Puppet's message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrongType {
    /// The message.
    pub message: String,
    /// Where the part that is blamed was written; of a hash that could have no such keys, the first
    /// of these.
    pub origin: Option<Span>,
}

impl fmt::Display for WrongType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// Checks a value; the error is Puppet's message about `subject`, such as `Found value has wrong
/// type, expects …`.
pub fn assert_type(subject: &str, data_type: &DataType, value: &Value) -> Result<(), WrongType> {
    let error = |message: String, origin: Option<Span>| {
        Err(WrongType { message, origin: origin.or(value.origin) })
    };
    if let Some(text) = data_type.undecided_part() {
        return error(
            format!("{subject} cannot be checked: hiera-ls does not know the type {text}"),
            None,
        );
    }
    if data_type.accepts_value(value) {
        return Ok(());
    }
    match describe(data_type, &infer_set(value), &[]) {
        Ok(found) => {
            let lines: Vec<String> = found
                .iter()
                .map(|one| {
                    one.format_message(&format!("{subject} has wrong type,"))
                        .trim_start()
                        .to_owned()
                })
                .collect();
            error(report(&lines), found.iter().find_map(|one| one.origin(value)))
        }
        Err(Crash(message)) => error(message.to_owned(), None),
    }
}

/// Returns why a type is no part of another one, in Puppet's words about `subject`; `None` where it
/// is one, and where Puppet crashes during the check.
pub fn type_mismatch(subject: &str, wanted: &DataType, found: &DataType) -> Option<String> {
    if wanted.is_assignable(found) {
        return None;
    }
    let mismatches = describe(wanted, found, &[]).ok()?;
    let lines: Vec<String> =
        mismatches.iter().map(|one| one.format_message(subject).trim_start().to_owned()).collect();
    (!lines.is_empty()).then(|| report(&lines))
}

/// A part of a parameter's value that is not of its type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrongPart {
    /// Puppet's message, from `parameter 'x'` on.
    pub message: String,
    /// Where the part was written, or the key that is blamed.
    pub origin: Option<Span>,
    /// Whether a Sensitive value is required and the value is a plain one.
    pub wants_sensitive: bool,
    /// Whether the part is the value itself, not a part within.
    pub is_whole: bool,
    /// Whether the part is wrong for one variant of several: another variant may accept it, but not
    /// the parts within it.
    pub is_of_variant: bool,
}

/// Checks the value of a parameter, and returns every wrong part, in Puppet's order. Returns none
/// where the type cannot be decided here, and where Puppet crashes during the check.
pub fn check_parameter(name: &str, data_type: &DataType, value: &Value) -> Vec<WrongPart> {
    check_partial(name, data_type, value, &|_| Known::Whole)
}

/// Does the same as [`check_parameter`] for a value that is known in part: returns the parts that
/// are wrong for every value of the unknown rest.
pub fn check_partial(
    name: &str,
    data_type: &DataType,
    value: &Value,
    known: &dyn Fn(&Value) -> Known,
) -> Vec<WrongPart> {
    let is_undecided =
        data_type.undecided_part().is_some() || data_type.unresolved_name().is_some();
    if is_undecided || may_be_instance(data_type, value, known) {
        return Vec::new();
    }
    let path = [ValueStep::Parameter(name.to_owned().into())];
    let found = describe(data_type, &infer_set(value), &path).unwrap_or_default();
    found
        .into_iter()
        .filter(|one| {
            let Some(part) = one.mismatched_part(value) else { return true };
            known(part) == Known::Whole
                || known(part) == Known::Kind
                    && one
                        .expected_type()
                        .is_none_or(|expected| !may_be_instance(expected, part, known))
        })
        .map(|one| WrongPart {
            message: one.format_message("").trim_start().to_owned(),
            origin: one.origin(value).or(value.origin),
            wants_sensitive: one.expected_type().is_some_and(wants_sensitive)
                && !one.mismatched_part(value).is_some_and(is_sensitive),
            is_whole: one.mismatched_part(value).is_some_and(|part| std::ptr::eq(part, value)),
            is_of_variant: one.path.iter().any(|step| matches!(step, ValueStep::Variant(_))),
        })
        .collect()
}

fn may_be_instance(one: &DataType, value: &Value, known: &dyn Fn(&Value) -> Known) -> bool {
    one.is_instance(value, &mut RecursionGuard::with_knowledge(known))
}

fn is_sensitive(value: &Value) -> bool {
    matches!(value.data(), Data::Sensitive(_))
}

/// Whether only Sensitive values, and perhaps undef, are of this type.
fn wants_sensitive(expected: &DataType) -> bool {
    match expected {
        DataType::Sensitive(_) => true,
        DataType::Optional(Some(inner)) => wants_sensitive(inner),
        DataType::Variant(types) => types.iter().all(wants_sensitive),
        DataType::Named(alias) => alias.with_target(wants_sensitive),
        _ => false,
    }
}

/// Puppet's text for one or more complaints.
pub(crate) fn report(lines: &[String]) -> String {
    match lines {
        [line] => line.trim_end().to_owned(),
        lines => lines.iter().map(|line| format!(" {line}")).collect::<Vec<_>>().join("\n "),
    }
}
