//! `Init[TYPE, ARGUMENT…]`: calls a type's constructor with a value and fixed arguments.
//!
//! Source: `PInitType#new_function`. A list is spread over the constructor's parameters unless it
//! is a value of the type, or one parameter takes it; the cases not decided here are left to
//! Puppet.

use super::{ConversionResult, Failure, construct, conversion_error, new};
use crate::puppet::types::{DataType, InitType};
use crate::puppet::value::{Data, Value};

/// Calls the constructor of an `Init` with a value. The constructor refuses any further argument.
pub(super) fn convert_init(init: &InitType, arguments: &[Value]) -> ConversionResult {
    let target = &init.target;
    if matches!(
        target,
        DataType::Init | DataType::Optional(_) | DataType::NotUndef(_) | DataType::Undecided(_)
    ) {
        return unsupported_type(target);
    }
    if let Err(Failure::Error(message)) = construct(target, &[])
        && message.starts_with(UNSUPPORTED)
    {
        return conversion_error(message); // for every value
    }
    let [value] = arguments else {
        return conversion_error(format!("'new_Init' expects 1 argument, got {}", arguments.len()));
    };
    match value.data() {
        // The constructor of Sensitive takes anything as its one parameter.
        Data::Array(_) if init.arguments.is_empty() && matches!(target, DataType::Sensitive(_)) => {
            new(target, arguments)
        }
        Data::Array(items) if init.arguments.is_empty() && !target.accepts_value(value) => {
            if takes_lists(target) {
                Err(Failure::Unknown)
            } else {
                new(target, items)
            }
        }
        _ => {
            let arguments: Vec<Value> =
                std::iter::once(value).chain(&init.arguments).cloned().collect();
            match new(target, &arguments) {
                // Puppet reports the constructor's wrong arguments before it checks the value.
                Err(Failure::Error(message))
                    if !init.arguments.is_empty() && message.contains("' expects ") =>
                {
                    Err(Failure::Unknown)
                }
                made => made,
            }
        }
    }
}

/// How Puppet's message of a type without a constructor begins.
const UNSUPPORTED: &str = "Creation of new instance of type";

/// Whether one parameter of the type's constructor may take a list.
fn takes_lists(target: &DataType) -> bool {
    let is_plain = matches!(
        target,
        DataType::Integer(_)
            | DataType::Float(_)
            | DataType::Numeric
            | DataType::Boolean(_)
            | DataType::String(_)
            | DataType::SemVer(_)
    );
    !is_plain
}

/// Returns the failure of a type that has no constructor, or none that may be named here.
pub(super) fn unsupported_type(data_type: &DataType) -> ConversionResult {
    match data_type {
        DataType::Undecided(text) => match crate::puppet::types::resource_type(text) {
            Some(name) => conversion_error(format!("{UNSUPPORTED} '{name}' is not supported")),
            None => Err(Failure::Unknown),
        },
        other => conversion_error(format!("{UNSUPPORTED} '{other}' is not supported")),
    }
}
