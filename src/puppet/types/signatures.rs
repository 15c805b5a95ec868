//! Arguments that no signature of a function takes, in Puppet's words. Source:
//! `TypeMismatchDescriber#describe_signatures`.

use super::describe::{Described, Mismatch, Step, What, below, describe, merge};
use super::normalize::Crash;
use super::size::{count, exactly};
use super::{DataType, Range, infer_set};
use crate::puppet::value::Value;

/// A way to call a function.
pub(crate) struct Signature {
    /// Names and types of the parameters.
    pub parameters: Vec<(&'static str, DataType)>,
    /// How many of them must be given.
    pub required: usize,
}

impl Signature {
    /// Whether the arguments fit.
    pub(crate) fn takes(&self, arguments: &[Value]) -> bool {
        (self.required..=self.parameters.len()).contains(&arguments.len())
            && self
                .parameters
                .iter()
                .zip(arguments)
                .all(|((_, one), argument)| one.accepts(argument))
    }

    fn mismatches(&self, given: &[DataType], path: &[Step]) -> Described {
        let expected =
            Range { from: Some(count(self.required)), to: Some(count(self.parameters.len())) };
        let actual = exactly(given.len());
        if !expected.covers(&actual) {
            return Ok(vec![Mismatch {
                path: path.to_vec(),
                what: What::Count { expected, actual },
            }]);
        }
        for ((name, one), given) in self.parameters.iter().zip(given) {
            let fits = one.assignable(given);
            let found = if fits {
                Vec::new()
            } else {
                describe(one, given, &below(path, Step::Parameter((*name).into())))?
            };
            if !found.is_empty() {
                return Ok(found);
            }
        }
        Ok(Vec::new())
    }

    fn shown(&self) -> String {
        let one = |(n, (name, one)): (usize, &(&str, DataType))| match one {
            _ if n < self.required => format!("{one} {name}"),
            DataType::Optional(Some(inner)) => format!("{inner} {name}?"),
            _ => format!("{one} {name}?"),
        };
        self.parameters.iter().enumerate().map(one).collect::<Vec<_>>().join(", ")
    }
}

/// Why none of the signatures takes the arguments.
pub(crate) fn describe_signatures(
    function: &str,
    signatures: &[Signature],
    arguments: &[Value],
) -> String {
    described(function, signatures, arguments).unwrap_or_else(|Crash(message)| message.to_owned())
}

fn described(
    function: &str,
    signatures: &[Signature],
    arguments: &[Value],
) -> Result<String, Crash> {
    let given: Vec<DataType> = arguments.iter().map(infer_set).collect();
    let each = signatures
        .iter()
        .enumerate()
        .map(|(n, signature)| signature.mismatches(&given, &[Step::Signature(n)]));
    let each: Vec<Vec<Mismatch>> = each.collect::<Result<_, _>>()?;
    let without_number = |mismatch: &Mismatch| {
        let path = mismatch
            .path
            .iter()
            .filter(|step| !matches!(step, Step::Signature(_)))
            .cloned()
            .collect();
        Mismatch { path, ..mismatch.clone() }.message("")
    };
    if let [only] = merge(0, each.clone())?.as_slice() {
        return Ok(format!("'{function}'{}", only.message("")));
    }
    if let [signature] = signatures {
        let lines =
            each.iter().flatten().map(|one| format!("\n  rejected:{}", without_number(one)));
        return Ok(format!(
            "'{function}' expects ({}){}",
            signature.shown(),
            lines.collect::<String>()
        ));
    }
    let mut text = format!(
        "The function '{function}' was called with arguments it does not accept. It expects one of:"
    );
    for (signature, found) in signatures.iter().zip(&each) {
        text.push_str(&format!("\n  ({})", signature.shown()));
        found
            .iter()
            .for_each(|one| text.push_str(&format!("\n    rejected:{}", without_number(one))));
    }
    Ok(text)
}
