//! Arguments that no signature of a function takes, in Puppet's words. Source:
//! `TypeMismatchDescriber#describe_signatures`.

use std::borrow::Cow;

use super::describe::{Described, Mismatch, ValueStep, What, describe, extend_path, merge};
use super::normalize::Crash;
use super::size::{bound_of_count, exactly_size};
use super::{DataType, Range, infer_set};
use crate::puppet::value::Value;

/// A way to call a function.
#[derive(Clone, Debug)]
pub struct Signature {
    /// Names and types of the parameters.
    pub parameters: Vec<(Cow<'static, str>, DataType)>,
    /// How many of the parameters must be given.
    pub required: usize,
    /// Whether the last parameter takes all further arguments.
    pub repeats: bool,
}

/// The refusal of arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArgumentRefusal {
    /// Puppet's message.
    pub message: String,
    /// The number of the argument that a function with one signature refuses, from 0; `None` for a
    /// wrong number of arguments, and for a function with several signatures.
    pub argument: Option<usize>,
}

impl Signature {
    /// Whether the arguments fit.
    pub(crate) fn takes_arguments(&self, arguments: &[Value]) -> bool {
        self.takes_count(arguments.len())
            && self
                .pair_arguments(arguments)
                .all(|((_, one), argument)| one.accepts_value(argument))
    }

    fn takes_count(&self, given: usize) -> bool {
        given >= self.required && (self.repeats || given <= self.parameters.len())
    }

    /// Returns the parameter for each argument.
    fn pair_arguments<'a, T>(
        &'a self,
        given: &'a [T],
    ) -> impl Iterator<Item = (&'a (Cow<'static, str>, DataType), &'a T)> {
        let last = self.parameters.last().filter(|_| self.repeats);
        self.parameters
            .iter()
            .chain(std::iter::repeat_with(move || last).map_while(|it| it))
            .zip(given)
    }

    /// Returns the number of the first argument whose type does not fit.
    fn first_refused(&self, given: &[DataType]) -> Option<usize> {
        self.pair_arguments(given).position(|((_, one), given)| !one.is_assignable(given))
    }

    fn describe_mismatches(&self, given: &[DataType], path: &[ValueStep]) -> Described {
        if !self.takes_count(given.len()) {
            let to = (!self.repeats).then(|| bound_of_count(self.parameters.len()));
            let expected = Range { from: Some(bound_of_count(self.required)), to };
            return Ok(vec![Mismatch {
                path: path.to_vec(),
                what: What::Count { expected, actual: exactly_size(given.len()) },
            }]);
        }
        for ((name, one), given) in self.pair_arguments(given) {
            let fits = one.is_assignable(given);
            let found = if fits {
                Vec::new()
            } else {
                describe(one, given, &extend_path(path, ValueStep::Parameter(name.clone())))?
            };
            if !found.is_empty() {
                return Ok(found);
            }
        }
        Ok(Vec::new())
    }

    fn render(&self) -> String {
        self.parameters
            .iter()
            .enumerate()
            .map(|(n, (name, one))| match one {
                _ if n < self.required => format!("{one} {name}"),
                DataType::Optional(Some(inner)) => format!("{inner} {name}?"),
                _ => format!("{one} {name}?"),
            })
            .collect::<Vec<_>>()
            .join(", ")
    }
}

/// Returns why no signature takes arguments of these types; `None` where one takes them.
pub fn refuse_arguments(
    function: &str,
    signatures: &[Signature],
    given: &[DataType],
) -> Option<ArgumentRefusal> {
    if signatures
        .iter()
        .any(|one: &Signature| one.takes_count(given.len()) && one.first_refused(given).is_none())
    {
        return None;
    }
    let message = describe_refusal(function, signatures, given)
        .unwrap_or_else(|Crash(message)| message.to_owned());
    let argument = match signatures {
        [only] if only.takes_count(given.len()) => only.first_refused(given),
        _ => None,
    };
    Some(ArgumentRefusal { message, argument })
}

/// Returns the reason why none of the signatures takes the arguments.
pub(crate) fn describe_signatures(
    function: &str,
    signatures: &[Signature],
    arguments: &[Value],
) -> String {
    let given: Vec<DataType> = arguments.iter().map(infer_set).collect();
    describe_refusal(function, signatures, &given)
        .unwrap_or_else(|Crash(message)| message.to_owned())
}

fn describe_refusal(
    function: &str,
    signatures: &[Signature],
    given: &[DataType],
) -> Result<String, Crash> {
    let each = signatures
        .iter()
        .enumerate()
        .map(|(n, signature)| signature.describe_mismatches(given, &[ValueStep::Signature(n)]));
    let each: Vec<Vec<Mismatch>> = each.collect::<Result<_, _>>()?;
    if let [only] = merge(0, each.clone())?.as_slice() {
        return Ok(format!("'{function}'{}", only.format_message("")));
    }
    if let [signature] = signatures {
        let lines =
            each.iter().flatten().map(|one| format!("\n  rejected:{}", strip_signature(one)));
        return Ok(format!(
            "'{function}' expects ({}){}",
            signature.render(),
            lines.collect::<String>()
        ));
    }
    let mut text = format!(
        "The function '{function}' was called with arguments it does not accept. It expects one of:"
    );
    for (signature, found) in signatures.iter().zip(&each) {
        text.push_str(&format!("\n  ({})", signature.render()));
        found
            .iter()
            .for_each(|one| text.push_str(&format!("\n    rejected:{}", strip_signature(one))));
    }
    Ok(text)
}

fn strip_signature(mismatch: &Mismatch) -> String {
    let path = mismatch
        .path
        .iter()
        .filter(|step| !matches!(step, ValueStep::Signature(_)))
        .cloned()
        .collect();
    Mismatch { path, ..mismatch.clone() }.format_message("")
}
