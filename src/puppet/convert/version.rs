//! `SemVer.new` and `SemVerRange.new`.

use super::{
    ConversionResult, Failure, OnMismatch, Parameters, call_function, conversion_error,
    integer_type, local_type, pattern_type, rich_value, string_from, struct_member,
};
use crate::puppet::rich::{Rich, SemanticVersion, VersionRange};
use crate::puppet::types::DataType;
use crate::puppet::value::{Data, Value};

use DataType as T;

const FULL: &str = "\\A(0|[1-9]\\d*)\\.(0|[1-9]\\d*)\\.(0|[1-9]\\d*)(?:-([0-9A-Za-z-]+(?:\\.[0-9A-Za-z-]+)*))?(?:\\+([0-9A-Za-z-]+(?:\\.[0-9A-Za-z-]+)*))?\\Z";
const QUALIFIER: &str = "\\A(?<part>[0-9A-Za-z-]+)(?:\\.\\g<part>)*\\Z";

pub(super) fn convert_version(arguments: &[Value]) -> ConversionResult {
    let number = local_type("PositiveInteger", integer_type(0, None));
    let qualifier = local_type("SemVerQualifier", pattern_type(QUALIFIER));
    let hash = T::Struct(vec![
        struct_member("major", false, number.clone()),
        struct_member("minor", false, number.clone()),
        struct_member("patch", false, number.clone()),
        struct_member("prerelease", true, qualifier.clone()),
        struct_member("build", true, qualifier.clone()),
    ]);
    let signatures: [Parameters<'_>; 3] = [
        (&[("str", local_type("SemVerPattern", pattern_type(FULL)))], 1),
        (
            &[
                ("major", number.clone()),
                ("minor", number.clone()),
                ("patch", number),
                ("prerelease", qualifier.clone()),
                ("build", qualifier),
            ],
            3,
        ),
        (&[("hash_args", local_type("SemVerHash", hash))], 1),
    ];
    let on_error = |arguments: &[Value]| {
        Ok(format!("The string '{}' cannot be converted to a SemVer", arguments[0].to_text()))
    };
    let mismatch: OnMismatch<'_> = ((&[("str", T::STRING)], 1), &on_error);
    call_function("new_Version", &signatures, &[mismatch], arguments, |form, arguments| {
        if form == 0 {
            return match SemanticVersion::parse(&arguments[0].to_text()) {
                Ok(version) => Ok(rich_value(Rich::SemVer(version), arguments)),
                Err(message) => conversion_error(message),
            };
        }
        let names = ["major", "minor", "patch", "prerelease", "build"];
        let part = |n: usize| if form == 1 { arguments.get(n) } else { arguments[0].get(names[n]) };
        let numbers: Option<Vec<u64>> = (0..3)
            .map(|n| match part(n).map(|part| part.data()) {
                Some(Data::Integer(number)) => u64::try_from(*number).ok(),
                _ => None,
            })
            .collect();
        let Some([major, minor, patch]) = numbers.as_deref() else { return Err(Failure::Unknown) };
        let qualifier = |n: usize| part(n).and_then(Value::as_str);
        Ok(rich_value(
            Rich::SemVer(SemanticVersion::new(
                [*major, *minor, *patch],
                qualifier(3),
                qualifier(4),
            )),
            arguments,
        ))
    })
}

pub(super) fn convert_range(arguments: &[Value]) -> ConversionResult {
    let bound = T::Variant(vec![T::Default, T::SemVer(Vec::new())]);
    let hash = T::Struct(vec![
        struct_member("min", false, bound.clone()),
        struct_member("max", true, bound.clone()),
        struct_member("exclude_max", true, T::BOOLEAN),
    ]);
    let signatures: [Parameters<'_>; 3] = [
        (&[("str", local_type("SemVerRangeString", string_from(1)))], 1),
        (&[("min", bound.clone()), ("max", bound), ("exclude_max", T::BOOLEAN)], 2),
        (&[("hash_args", local_type("SemVerRangeHash", hash))], 1),
    ];
    call_function("new_VersionRange", &signatures, &[], arguments, |form, arguments| {
        if form > 0 {
            return Err(Failure::Unknown); // data holds no versions
        }
        match VersionRange::parse(&arguments[0].to_text()) {
            Ok(range) => Ok(rich_value(Rich::SemVerRange(range), arguments)),
            Err(message) => conversion_error(message),
        }
    })
}
