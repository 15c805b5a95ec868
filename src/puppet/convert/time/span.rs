//! Durations read by a format such as `%D-%H:%M:%S.%-N`. Source: `Timespan::Format` and its parser.

use super::{Failure, TimeFormats, format_does_not_fit, no_format_fits};
use crate::puppet::ruby::strings::is_space;

const DEFAULTS: [&str; 8] = [
    "%D-%H:%M:%S.%-N",
    "%H:%M:%S.%-N",
    "%M:%S.%-N",
    "%S.%-N",
    "%D-%H:%M:%S",
    "%H:%M:%S",
    "%D-%H:%M",
    "%S",
];

enum FormatSegment {
    Literal(String),
    Value { unit: Unit, pad: Option<char>, width: Option<usize>, total: bool },
}

#[derive(Clone, Copy, PartialEq, PartialOrd)]
enum Unit {
    Nanoseconds,
    Milliseconds,
    Seconds,
    Minutes,
    Hours,
    Days,
}

impl Unit {
    fn default_width(self) -> usize {
        match self {
            Unit::Days => 1,
            Unit::Milliseconds => 3,
            Unit::Nanoseconds => 9,
            _ => 2,
        }
    }

    fn unit_nanos(self) -> i128 {
        match self {
            Unit::Days => 86_400_000_000_000,
            Unit::Hours => 3_600_000_000_000,
            Unit::Minutes => 60_000_000_000,
            Unit::Seconds => 1_000_000_000,
            Unit::Milliseconds | Unit::Nanoseconds => 1,
        }
    }
}

/// Reads a duration; `None` for Puppet's own formats.
pub(super) fn parse(text: &str, formats: Option<TimeFormats>) -> Result<i128, Failure> {
    let formats = match formats {
        Some(TimeFormats::One(format)) => return by_format(text, &format),
        Some(TimeFormats::Several(formats)) => formats,
        None => DEFAULTS.map(str::to_owned).to_vec(),
    };
    for format in &formats {
        // An invalid format is an error even among several formats.
        parse_segments(format)?;
        match by_format(text, format) {
            Err(Failure::Error(_)) => {}
            other => return other,
        }
    }
    Err(no_format_fits(text, &formats))
}

fn by_format(text: &str, format: &str) -> Result<i128, Failure> {
    let segments = parse_segments(format)?;
    let rest: Vec<char> = text.strip_prefix('-').unwrap_or(text).chars().collect();
    let mut groups = Vec::new();
    // The optional sign in Ruby's regular expression may match nothing, but digits never match a
    // sign.
    if !match_segments(&segments, &rest, &mut groups) {
        return Err(format_does_not_fit(text, format));
    }
    let mut nanos: i128 = 0;
    for (segment, group) in segments.iter().zip(&groups) {
        let FormatSegment::Value { unit, total, .. } = segment else { continue };
        let digits = group.trim_start_matches(is_space);
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(format_does_not_fit(text, format));
        }
        let number: i128 = digits.parse().map_err(|_| Failure::Unknown)?;
        nanos += match unit {
            Unit::Milliseconds | Unit::Nanoseconds if *total => {
                return Err(Failure::Error(
                    "Format specifiers %L and %N denotes fractions and must be used together with a specifier of higher magnitude"
                        .into(),
                ));
            }
            Unit::Milliseconds | Unit::Nanoseconds => {
                number * 10_i128.pow(9_u32.saturating_sub(u32::try_from(digits.len()).unwrap_or(9)))
            }
            unit => number.checked_mul(unit.unit_nanos()).ok_or(Failure::Unknown)?,
        };
    }
    Ok(if text.starts_with('-') { -nanos } else { nanos })
}

/// Matches all segments greedily, stepping back as a regular expression does.
fn match_segments(segments: &[FormatSegment], text: &[char], groups: &mut Vec<String>) -> bool {
    let Some((segment, rest)) = segments.split_first() else { return text.is_empty() };
    match segment {
        FormatSegment::Literal(literal) => {
            let literal: Vec<char> = literal.chars().collect();
            if !text.starts_with(&literal) {
                return false;
            }
            groups.push(String::new());
            if match_segments(rest, &text[literal.len()..], groups) {
                return true;
            }
            groups.pop();
            false
        }
        FormatSegment::Value { unit, pad, width, total } => {
            let (skip, most, least, blanks) = match (width, pad, total) {
                (None, Some(' '), true) => {
                    (text.iter().take_while(|c| is_space(**c)).count(), usize::MAX, 1, false)
                }
                (None, _, true) => (0, usize::MAX, 1, false),
                (None, Some(' '), false) => (0, unit.default_width(), 1, true),
                (None, _, false) => (0, unit.default_width(), 1, false),
                (Some(width), None, _) => (0, *width, 1, false),
                (Some(width), Some('0'), _) => (0, *width, *width, false),
                (Some(width), Some(_), _) => (0, *width, *width, true),
            };
            let text = &text[skip..];
            let run = if blanks {
                text.iter().take_while(|c| c.is_ascii_digit() || is_space(**c)).count()
            } else {
                text.iter().take_while(|c| c.is_ascii_digit()).count()
            };
            for len in (least..=run.min(most)).rev() {
                groups.push(text[..len].iter().collect());
                if match_segments(rest, &text[len..], groups) {
                    return true;
                }
                groups.pop();
            }
            false
        }
    }
}

fn parse_segments(format: &str) -> Result<Vec<FormatSegment>, Failure> {
    let mut found: Vec<FormatSegment> = Vec::new();
    let chars: Vec<char> = format.chars().collect();
    let mut at = 0;
    while at < chars.len() {
        if chars[at] != '%' {
            push_literal(&mut found, chars[at]);
            at += 1;
            continue;
        }
        let start = at;
        let bad = |position: usize| {
            let expression: String = chars[start..position.min(chars.len())].iter().collect();
            Failure::Error(format!(
                "Bad format specifier '{expression}' in '{format}', at position {position}"
            ))
        };
        at += 1;
        let (mut pad, mut width, mut fresh) = (Some('0'), None::<usize>, true);
        loop {
            let Some(c) = chars.get(at) else { return Err(bad(chars.len() - 1)) };
            let unit = match c {
                '%' => {
                    push_literal(&mut found, '%');
                    break;
                }
                '-' if fresh => {
                    pad = None;
                    None
                }
                '_' if fresh => {
                    pad = Some(' ');
                    None
                }
                'D' => Some(Unit::Days),
                'H' => Some(Unit::Hours),
                'M' => Some(Unit::Minutes),
                'S' => Some(Unit::Seconds),
                'L' => Some(Unit::Milliseconds),
                'N' => Some(Unit::Nanoseconds),
                '0' if fresh => {
                    pad = Some('0');
                    None
                }
                c if c.is_ascii_digit() => {
                    let digit = c.to_digit(10).unwrap_or(0) as usize;
                    width = Some(width.unwrap_or(0).saturating_mul(10).saturating_add(digit));
                    None
                }
                _ => return Err(bad(at)),
            };
            if let Some(unit) = unit {
                found.push(FormatSegment::Value { unit, pad, width, total: false });
                break;
            }
            fresh = false;
            at += 1;
        }
        at += 1;
    }
    let highest =
        found.iter().filter_map(unit_of_segment).fold(None, |highest: Option<Unit>, unit| {
            match highest {
                Some(highest) if highest > unit => Some(highest),
                _ => Some(unit),
            }
        });
    if let Some(FormatSegment::Value { total, .. }) = found
        .iter_mut()
        .find(|segment| unit_of_segment(segment).is_some_and(|unit| Some(unit) == highest))
    {
        *total = true;
    }
    Ok(found)
}

fn unit_of_segment(segment: &FormatSegment) -> Option<Unit> {
    if let FormatSegment::Value { unit, .. } = segment { Some(*unit) } else { None }
}

fn push_literal(found: &mut Vec<FormatSegment>, c: char) {
    match found.last_mut() {
        Some(FormatSegment::Literal(text)) => text.push(c),
        _ => found.push(FormatSegment::Literal(c.into())),
    }
}
