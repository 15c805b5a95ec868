//! Versions and ranges of versions, as the gem semantic_puppet 1.0 reads and compares them.

use std::cmp::Ordering;
use std::fmt;

use crate::puppet::ruby::strings::is_space;

/// A number of a version, without a bound: decimal digits without leading zeros.
#[derive(Clone, Debug, PartialEq, Eq)]
struct VersionNumber(String);

/// A version: three numbers, perhaps a pre-release and a build.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SemanticVersion {
    numbers: [VersionNumber; 3],
    prerelease: Option<Vec<VersionPart>>,
    build: Option<Vec<String>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum VersionPart {
    Number(VersionNumber),
    Text(String),
}

/// The bounds of a range; each version with whether the bound itself is excluded.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Bounds {
    from: Option<(SemanticVersion, bool)>,
    to: Option<(SemanticVersion, bool)>,
}

/// A range of versions.
#[derive(Clone, Debug)]
pub struct VersionRange {
    text: String,
    alternatives: Vec<Bounds>,
}

impl PartialEq for VersionRange {
    fn eq(&self, other: &VersionRange) -> bool {
        self.alternatives == other.alternatives
    }
}

fn is_identifier(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

impl VersionNumber {
    fn zero() -> VersionNumber {
        VersionNumber("0".to_owned())
    }

    /// Returns the number that a text writes; `None` for a leading zero, and for any other text.
    fn parse(text: &str) -> Option<VersionNumber> {
        let is_plain = is_number(text) && (text == "0" || !text.starts_with('0'));
        is_plain.then(|| VersionNumber(text.to_owned()))
    }

    fn is_zero(&self) -> bool {
        self.0 == "0"
    }

    /// Returns the number that is greater by one.
    fn successor(&self) -> VersionNumber {
        let head = self.0.trim_end_matches('9');
        let zeros = "0".repeat(self.0.len() - head.len());
        match head.char_indices().next_back() {
            Some((at, digit)) => {
                let next = digit.to_digit(10).map_or(1, |digit| digit + 1);
                VersionNumber(format!("{}{next}{zeros}", &head[..at]))
            }
            None => VersionNumber(format!("1{zeros}")),
        }
    }
}

impl PartialOrd for VersionNumber {
    fn partial_cmp(&self, other: &VersionNumber) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for VersionNumber {
    fn cmp(&self, other: &VersionNumber) -> Ordering {
        // Without leading zeros the longer number is the greater one.
        self.0.len().cmp(&other.0.len()).then_with(|| self.0.cmp(&other.0))
    }
}

impl fmt::Display for VersionNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Splits `1.2.3-a.b+c` into `1.2.3`, `a.b` and `c`.
fn split(text: &str) -> (&str, Option<&str>, Option<&str>) {
    let (text, build) =
        text.split_once('+').map_or((text, None), |(text, build)| (text, Some(build)));
    let (text, prerelease) =
        text.split_once('-').map_or((text, None), |(text, prerelease)| (text, Some(prerelease)));
    (text, prerelease, build)
}

const LEADING_ZERO: &str = "Numeric pre-release identifiers MUST NOT contain leading zeroes";

fn parse_parts(text: &str) -> Result<Vec<VersionPart>, String> {
    text.split('.')
        .map(|text| match VersionNumber::parse(text) {
            Some(number) => Ok(VersionPart::Number(number)),
            None if is_number(text) => Err(LEADING_ZERO.to_owned()),
            None => Ok(VersionPart::Text(text.to_owned())),
        })
        .collect()
}

impl SemanticVersion {
    /// Returns a version of three numbers and the two qualifiers, each taken as one part.
    pub fn new(
        numbers: [u64; 3],
        prerelease: Option<&str>,
        build: Option<&str>,
    ) -> SemanticVersion {
        let numbers = numbers.map(|number| VersionNumber(number.to_string()));
        let prerelease = prerelease.map(|text| vec![VersionPart::Text(text.to_owned())]);
        SemanticVersion { numbers, prerelease, build: build.map(|text| vec![text.to_owned()]) }
    }

    /// Whether the text has the form of a version.
    pub fn has_form(text: &str) -> bool {
        let text = text.strip_suffix('\n').unwrap_or(text); // Ruby's `\Z`
        let (numbers, prerelease, build) = split(text);
        numbers.split('.').count() == 3
            && numbers.split('.').all(|text| VersionNumber::parse(text).is_some())
            && has_identifiers(prerelease)
            && has_identifiers(build)
    }

    /// Reads a version. Errors: Puppet's message.
    pub fn parse(text: &str) -> Result<SemanticVersion, String> {
        if !SemanticVersion::has_form(text) {
            return Err(format!("Unable to parse '{text}' as a semantic version identifier"));
        }
        let (numbers, prerelease, build) = split(text.strip_suffix('\n').unwrap_or(text));
        let mut parsed = numbers.split('.').filter_map(VersionNumber::parse);
        let numbers = std::array::from_fn(|_| parsed.next().unwrap_or_else(VersionNumber::zero));
        let prerelease = prerelease.map(parse_parts).transpose()?;
        Ok(SemanticVersion {
            numbers,
            prerelease,
            build: build.map(|build| build.split('.').map(str::to_owned).collect()),
        })
    }

    fn is_stable(&self) -> bool {
        self.prerelease.as_ref().is_none_or(Vec::is_empty)
    }
}

fn has_identifiers(text: Option<&str>) -> bool {
    text.is_none_or(|text| text.split('.').all(is_identifier))
}

impl PartialOrd for SemanticVersion {
    fn partial_cmp(&self, other: &SemanticVersion) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for SemanticVersion {
    fn cmp(&self, other: &SemanticVersion) -> Ordering {
        let prerelease = || match (&self.prerelease, &other.prerelease) {
            (None, None) => Ordering::Equal,
            (None, Some(_)) => Ordering::Greater,
            (Some(_), None) => Ordering::Less,
            (Some(a), Some(b)) => a
                .iter()
                .zip(b)
                .map(|(ours, theirs)| match (ours, theirs) {
                    (VersionPart::Number(a), VersionPart::Number(b)) => a.cmp(b),
                    (VersionPart::Number(_), VersionPart::Text(_)) => Ordering::Less,
                    (VersionPart::Text(_), VersionPart::Number(_)) => Ordering::Greater,
                    (VersionPart::Text(a), VersionPart::Text(b)) => a.cmp(b),
                })
                .find(|order| order.is_ne())
                .unwrap_or_else(|| a.len().cmp(&b.len())),
        };
        self.numbers.cmp(&other.numbers).then_with(prerelease)
    }
}

impl fmt::Display for SemanticVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [major, minor, patch] = &self.numbers;
        write!(f, "{major}.{minor}.{patch}")?;
        let part = |part: &VersionPart| match part {
            VersionPart::Number(number) => number.to_string(),
            VersionPart::Text(text) => text.clone(),
        };
        if let Some(parts) = &self.prerelease {
            write!(f, "-{}", parts.iter().map(part).collect::<Vec<_>>().join("."))?;
        }
        if let Some(build) = &self.build {
            write!(f, "+{}", build.join("."))?;
        }
        Ok(())
    }
}

impl VersionRange {
    /// Returns the range that holds just this version.
    pub fn exactly_version(version: &SemanticVersion) -> VersionRange {
        VersionRange::from_bounds(version.clone(), version.clone(), false)
    }

    /// Returns the range from one version to another. Its text repeats a bug of the gem: the bounds
    /// are swapped.
    pub fn from_bounds(
        from: SemanticVersion,
        to: SemanticVersion,
        exclude_to: bool,
    ) -> VersionRange {
        let text = if exclude_to { format!(">={to} <{from}") } else { format!("{to} - {from}") };
        VersionRange {
            text,
            alternatives: vec![Bounds { from: Some((from, false)), to: Some((to, exclude_to)) }],
        }
    }

    /// Reads a range. Errors: Puppet's message.
    pub fn parse(text: &str) -> Result<VersionRange, String> {
        let set = without_gaps(text);
        let mut alternatives = Vec::new();
        // Puppet ignores blanks around a bar. A blank before the first version is an error.
        let last = set.matches("||").count();
        let mut pieces: Vec<&str> = set
            .split("||")
            .enumerate()
            .map(|(n, piece)| if n > 0 { piece.trim_start_matches(is_space) } else { piece })
            .enumerate()
            .map(|(n, piece)| if n < last { piece.trim_end_matches(is_space) } else { piece })
            .collect();
        while pieces.last().is_some_and(|piece| piece.is_empty()) {
            pieces.pop();
        }
        if pieces.is_empty() {
            return Ok(VersionRange {
                text: "*".into(),
                alternatives: vec![Bounds { from: None, to: None }],
            });
        }
        for piece in pieces {
            let mut words: Vec<&str> =
                piece.split(is_space).filter(|word| !word.is_empty()).collect();
            if piece.starts_with(is_space) && !words.is_empty() {
                words.insert(0, "");
            }
            let bounds = match words.as_slice() {
                [from, "-", to] if parse_partial(from).is_some() && parse_partial(to).is_some() => {
                    Some(Bounds {
                        from: Some((fill_partial(from)?, false)),
                        to: Some((fill_partial(to)?, false)),
                    })
                }
                [] => None,
                words => {
                    let mut bounds = Bounds { from: None, to: None };
                    for word in words {
                        bounds = bounds.intersect(&parse_simple(word, || {
                            format!("Unparsable version range: \"{text}\"")
                        })?);
                    }
                    Some(bounds)
                }
            };
            alternatives.extend(bounds);
        }
        Ok(VersionRange { text: text.to_owned(), alternatives })
    }

    /// Whether a version is within; a pre-release only where the range names one of the same
    /// numbers.
    pub fn includes_version(&self, version: &SemanticVersion) -> bool {
        self.alternatives.iter().any(|bounds| {
            let open = bounds.from.is_none() && bounds.to.is_none();
            bounds.holds_version(version)
                && (version.is_stable()
                    || open
                    || names_prerelease(&bounds.from, &version.numbers)
                    || names_prerelease(&bounds.to, &version.numbers))
        })
    }

    /// Whether all of `other` is within.
    pub fn covers_range(&self, other: &VersionRange) -> bool {
        let ([ours], [theirs]) = (self.alternatives.as_slice(), other.alternatives.as_slice())
        else {
            return false;
        };
        let from = ours
            .from
            .as_ref()
            .is_none_or(|(from, _)| theirs.from.as_ref().is_some_and(|(other, _)| from <= other));
        let to = ours.to.as_ref().is_none_or(|(to, out)| {
            theirs
                .to
                .as_ref()
                .is_some_and(|(other, other_out)| to > other || to == other && (!out || *other_out))
        });
        from && to
    }
}

fn names_prerelease(bound: &Option<(SemanticVersion, bool)>, numbers: &[VersionNumber; 3]) -> bool {
    bound.as_ref().is_some_and(|(bound, _)| !bound.is_stable() && bound.numbers == *numbers)
}

impl Bounds {
    fn holds_version(&self, version: &SemanticVersion) -> bool {
        self.from
            .as_ref()
            .is_none_or(|(from, out)| if *out { from < version } else { from <= version })
            && self
                .to
                .as_ref()
                .is_none_or(|(to, out)| if *out { version < to } else { version <= to })
    }

    fn intersect(self, other: &Bounds) -> Bounds {
        let from = match (self.from, other.from.clone()) {
            (Some(a), Some(b)) => Some(if a.0 > b.0 || a.0 == b.0 && a.1 { a } else { b }),
            (a, b) => a.or(b),
        };
        let to = match (self.to, other.to.clone()) {
            (Some(a), Some(b)) => Some(if a.0 < b.0 || a.0 == b.0 && a.1 { a } else { b }),
            (a, b) => a.or(b),
        };
        Bounds { from, to }
    }
}

impl fmt::Display for VersionRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Drops blanks, or a `v`, behind an operator.
fn without_gaps(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        out.push(c);
        rest = &rest[c.len_utf8()..];
        if matches!(c, '<' | '>' | '=' | '~' | '^') {
            let trimmed = rest.trim_start_matches(is_space);
            rest = if trimmed.len() < rest.len() { trimmed } else { rest };
            rest =
                trimmed.strip_prefix('v').filter(|_| rest.len() == trimmed.len()).unwrap_or(rest);
        }
    }
    out
}

/// Returns the numbers of `1`, `1.2.x` or `1.2.3-a`, with `None` for each number that is missing or
/// a wildcard. Only a text with three numbers may have qualifiers. `None` for any other text.
fn parse_partial(text: &str) -> Option<[Option<VersionNumber>; 3]> {
    let (numbers, prerelease, build) = split(text);
    let pieces: Vec<&str> = numbers.split('.').collect();
    if pieces.len() > 3 || !is_qualifier(prerelease, &pieces) || !is_qualifier(build, &pieces) {
        return None;
    }
    let mut found = [None, None, None];
    for (slot, piece) in found.iter_mut().zip(&pieces) {
        *slot = match *piece {
            "x" | "X" | "*" => None,
            piece => Some(VersionNumber::parse(piece)?),
        };
    }
    Some(found)
}

fn is_qualifier(text: Option<&str>, pieces: &[&str]) -> bool {
    text.is_none_or(|text| pieces.len() == 3 && text.split('.').all(is_identifier))
}

/// Returns the version that a partial one begins with.
fn fill_partial(text: &str) -> Result<SemanticVersion, String> {
    let numbers =
        parse_partial(text).ok_or_else(|| format!("Unparsable version range: \"{text}\""))?;
    let (_, prerelease, build) = split(text);
    let build = build.map(|build| build.split('.').map(str::to_owned).collect());
    Ok(SemanticVersion {
        numbers: numbers.map(|number| number.unwrap_or_else(VersionNumber::zero)),
        prerelease: prerelease.map(parse_parts).transpose()?,
        build,
    })
}

fn parse_simple(word: &str, unparsable: impl Fn() -> String) -> Result<Bounds, String> {
    let operators = ["<=", ">=", "~>", "~=", "<", ">", "=", "~", "^"];
    let operator = operators.into_iter().find(|operator| word.starts_with(operator)).unwrap_or("");
    let operand = &word[operator.len()..];
    let [major, minor, patch] = parse_partial(operand).ok_or_else(unparsable)?;
    let version = fill_partial(operand)?;
    let all = Bounds { from: None, to: None };
    let nothing = Bounds {
        from: None,
        to: Some((SemanticVersion { prerelease: Some(Vec::new()), ..plain_version(&[]) }, true)),
    };
    let Some(major) = major else {
        return match operator {
            ">" => Ok(nothing),
            ">=" => Ok(Bounds { from: Some((version, false)), to: None }),
            "<" => Ok(Bounds { from: None, to: Some((version, true)) }),
            "^" | "<=" => {
                Err("undefined method `SINGLETON' for SemanticPuppet::VersionRange::AllRange:Class"
                    .into())
            }
            _ => Ok(all),
        };
    };
    let next_major = plain_version(&[&major.successor()]);
    let (lowest, next_up) = match &minor {
        None => (plain_version(&[&major]), next_major.clone()),
        Some(minor) => {
            (plain_version(&[&major, minor]), plain_version(&[&major, &minor.successor()]))
        }
    };
    Ok(match operator {
        ">=" => Bounds { from: Some((version, false)), to: None },
        "<" => Bounds { from: None, to: Some((version, true)) },
        ">" if minor.is_none() || patch.is_none() => {
            Bounds { from: Some((next_up, false)), to: None }
        }
        ">" => Bounds { from: Some((version, true)), to: None },
        "<=" if minor.is_none() || patch.is_none() => {
            Bounds { from: None, to: Some((next_up, true)) }
        }
        "<=" => Bounds { from: None, to: Some((version, false)) },
        "^" if !major.is_zero() => {
            let low = if minor.is_some() && patch.is_some() { version } else { lowest };
            new_bounds(low, next_major)
        }
        _ if minor.is_none() || patch.is_none() => new_bounds(lowest, next_up),
        "" | "=" => Bounds { from: Some((version.clone(), false)), to: Some((version, false)) },
        _ => new_bounds(version, next_up),
    })
}

fn new_bounds(version: SemanticVersion, to: SemanticVersion) -> Bounds {
    Bounds { from: Some((version, false)), to: Some((to, true)) }
}

/// Returns the version with these first numbers, and zeros for the others.
fn plain_version(first: &[&VersionNumber]) -> SemanticVersion {
    let numbers = std::array::from_fn(|n| {
        first.get(n).map_or_else(VersionNumber::zero, |number| (*number).clone())
    });
    SemanticVersion { numbers, prerelease: None, build: None }
}
