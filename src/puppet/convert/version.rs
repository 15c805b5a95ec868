//! `SemVer.new` and `SemVerRange.new`.

use super::{
    Failure, Made, OnMismatch, Parameters, call, error, local, member, pattern, rich, string_from,
    within,
};
use crate::puppet::rich::{Rich, Version, VersionRange};
use crate::puppet::types::DataType;
use crate::puppet::value::{Data, Value};

use DataType as T;

const FULL: &str = "\\A(0|[1-9]\\d*)\\.(0|[1-9]\\d*)\\.(0|[1-9]\\d*)(?:-([0-9A-Za-z-]+(?:\\.[0-9A-Za-z-]+)*))?(?:\\+([0-9A-Za-z-]+(?:\\.[0-9A-Za-z-]+)*))?\\Z";
const QUALIFIER: &str = "\\A(?<part>[0-9A-Za-z-]+)(?:\\.\\g<part>)*\\Z";

pub(super) fn version(arguments: &[Value]) -> Made {
    let number = local("PositiveInteger", within(0, None));
    let qualifier = local("SemVerQualifier", pattern(QUALIFIER));
    let hash = T::Struct(vec![
        member("major", false, number.clone()),
        member("minor", false, number.clone()),
        member("patch", false, number.clone()),
        member("prerelease", true, qualifier.clone()),
        member("build", true, qualifier.clone()),
    ]);
    let signatures: [Parameters<'_>; 3] = [
        (&[("str", local("SemVerPattern", pattern(FULL)))], 1),
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
        (&[("hash_args", local("SemVerHash", hash))], 1),
    ];
    let on_error = |arguments: &[Value]| {
        Ok(format!("The string '{}' cannot be converted to a SemVer", arguments[0].to_text()))
    };
    let mismatch: OnMismatch<'_> = ((&[("str", T::STRING)], 1), &on_error);
    call("new_Version", &signatures, &[mismatch], arguments, |form, arguments| {
        if form == 0 {
            return match Version::parse(&arguments[0].to_text()) {
                Ok(version) => Ok(rich(Rich::SemVer(version), arguments)),
                Err(message) => error(message),
            };
        }
        let names = ["major", "minor", "patch", "prerelease", "build"];
        let part = |n: usize| if form == 1 { arguments.get(n) } else { arguments[0].get(names[n]) };
        let number = |n: usize| match part(n).map(|part| part.data()) {
            Some(Data::Integer(number)) => u128::try_from(*number).ok(),
            _ => None,
        };
        let numbers: Option<Vec<u128>> = (0..3).map(number).collect();
        let Some([major, minor, patch]) = numbers.as_deref() else { return Err(Failure::Unknown) };
        let qualifier = |n: usize| part(n).and_then(Value::as_str);
        Ok(rich(
            Rich::SemVer(Version::new([*major, *minor, *patch], qualifier(3), qualifier(4))),
            arguments,
        ))
    })
}

pub(super) fn range(arguments: &[Value]) -> Made {
    let bound = T::Variant(vec![T::Default, T::SemVer(Vec::new())]);
    let hash = T::Struct(vec![
        member("min", false, bound.clone()),
        member("max", true, bound.clone()),
        member("exclude_max", true, T::BOOLEAN),
    ]);
    let signatures: [Parameters<'_>; 3] = [
        (&[("str", local("SemVerRangeString", string_from(1)))], 1),
        (&[("min", bound.clone()), ("max", bound), ("exclude_max", T::BOOLEAN)], 2),
        (&[("hash_args", local("SemVerRangeHash", hash))], 1),
    ];
    call("new_VersionRange", &signatures, &[], arguments, |form, arguments| {
        if form > 0 {
            return Err(Failure::Unknown); // data holds no versions
        }
        match VersionRange::parse(&arguments[0].to_text()) {
            Ok(range) => Ok(rich(Rich::SemVerRange(range), arguments)),
            Err(message) => error(message),
        }
    })
}
