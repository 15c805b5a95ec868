//! Arguments that no signature of a function takes, in Puppet's words. Source: `TypeMismatchDescriber#describe_signatures`.

use super::assign::{count, exactly};
use super::describe::{Mismatch, Step, What, below, describe, merge};
use super::{DataType, Range, infer_set};
use crate::hiera::value::Value;

/// A way to call a function.
pub(in crate::hiera) struct Signature {
    /// Names and types of the parameters.
    pub parameters: Vec<(&'static str, DataType)>,
    /// How many of them must be given.
    pub required: usize,
}

impl Signature {
    /// Whether the arguments fit.
    pub fn takes(&self, arguments: &[Value]) -> bool {
        (self.required..=self.parameters.len()).contains(&arguments.len())
            && self.parameters.iter().zip(arguments).all(|((_, one), argument)| one.accepts(argument))
    }

    fn mismatches(&self, given: &[DataType], path: &[Step]) -> Vec<Mismatch> {
        let expected = Range { from: Some(count(self.required)), to: Some(count(self.parameters.len())) };
        let actual = exactly(given.len());
        if !expected.covers(&actual) {
            return vec![Mismatch { path: path.to_vec(), what: What::Count { expected, actual } }];
        }
        let wrong = |((name, one), given): (&(&'static str, DataType), &DataType)| {
            let found =
                if one.assignable(given) { Vec::new() } else { describe(one, given, &below(path, Step::Parameter(name))) };
            Some(found).filter(|found| !found.is_empty())
        };
        self.parameters.iter().zip(given).find_map(wrong).unwrap_or_default()
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
pub(in crate::hiera) fn describe_signatures(function: &str, signatures: &[Signature], arguments: &[Value]) -> String {
    let given: Vec<DataType> = arguments.iter().map(infer_set).collect();
    let each: Vec<Vec<Mismatch>> =
        signatures.iter().enumerate().map(|(n, signature)| signature.mismatches(&given, &[Step::Signature(n)])).collect();
    let without_number = |mismatch: &Mismatch| {
        let path = mismatch.path.iter().filter(|step| !matches!(step, Step::Signature(_))).cloned().collect();
        Mismatch { path, ..mismatch.clone() }.message("")
    };
    if let [only] = merge(0, each.clone()).as_slice() {
        return format!("'{function}'{}", only.message(""));
    }
    if let [signature] = signatures {
        let lines = each.iter().flatten().map(|one| format!("\n  rejected:{}", without_number(one)));
        return format!("'{function}' expects ({}){}", signature.shown(), lines.collect::<String>());
    }
    let mut text = format!("The function '{function}' was called with arguments it does not accept. It expects one of:");
    for (signature, found) in signatures.iter().zip(&each) {
        text.push_str(&format!("\n  ({})", signature.shown()));
        found.iter().for_each(|one| text.push_str(&format!("\n    rejected:{}", without_number(one))));
    }
    text
}
