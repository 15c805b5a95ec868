//! Points in time read by a format of `strptime`. Source: `Timestamp.parse`, and Ruby's
//! `DateTime._strptime` for the directives that dates and times are made of; with others the
//! outcome is left open.

use super::{Failure, TimeFormats, format_does_not_fit, no_format_fits};
use crate::puppet::rich::{NANOS_PER_SECOND, days_from_civil};
use crate::puppet::ruby::strings::is_space;

const WITHOUT_ZONE: [&str; 5] = ["%FT%T.%N", "%FT%T", "%F %T.%N", "%F %T", "%F"];
const WITH_ZONE: [&str; 5] = ["%FT%T.%N %Z", "%FT%T %Z", "%F %T.%N %Z", "%F %T %Z", "%F %Z"];

/// Reads a point in time; `None` for Puppet's own formats.
pub(super) fn parse(
    text: &str,
    formats: Option<TimeFormats>,
    zone: Option<&str>,
) -> Result<i128, Failure> {
    let zone = zone.filter(|zone| !zone.is_empty());
    let formats = match formats {
        Some(TimeFormats::One(format)) => {
            let fields =
                parse_time(text, &format)?.ok_or_else(|| format_does_not_fit(text, &format))?;
            if zone.is_some() && fields.zone.is_some() {
                return Err(Failure::Error(
                    "Using a Timezone designator in format specification is mutually exclusive to providing an explicit timezone \
                     argument"
                        .into(),
                ));
            }
            return fields.unix_nanos(zone);
        }
        Some(TimeFormats::Several(formats)) => formats,
        None if zone.is_some() => WITHOUT_ZONE.map(str::to_owned).to_vec(),
        None => WITH_ZONE.iter().chain(&WITHOUT_ZONE).map(|format| (*format).to_owned()).collect(),
    };
    for format in &formats {
        match parse_time(text, format)? {
            Some(fields) if zone.is_none() || fields.zone.is_none() => {
                return fields.unix_nanos(zone);
            }
            _ => {}
        }
    }
    Err(no_format_fits(text, &formats))
}

#[derive(Default)]
struct Fields {
    year: Option<i64>,
    month: Option<i64>,
    day: Option<i64>,
    hour: Option<i64>,
    minute: Option<i64>,
    second: Option<i64>,
    nanos: i128,
    afternoon: Option<bool>,
    zone: Option<String>,
}

impl Fields {
    fn unix_nanos(&self, zone: Option<&str>) -> Result<i128, Failure> {
        let Some(year) = self.year else {
            return Err(Failure::Error("no implicit conversion of nil into Integer".into()));
        };
        let (month, day) = (self.month.unwrap_or(1), self.day.unwrap_or(1));
        let mut hour = self.hour.unwrap_or(0);
        if let Some(afternoon) = self.afternoon {
            hour = hour % 12 + if afternoon { 12 } else { 0 };
        }
        let (minute, second) = (self.minute.unwrap_or(0), self.second.unwrap_or(0));
        let seconds =
            days_from_civil(year, month, day) * 86_400 + hour * 3_600 + minute * 60 + second;
        let offset = match zone.or(self.zone.as_deref()) {
            Some(zone) => zone_offset(zone)?,
            None => 0,
        };
        Ok(i128::from(seconds - offset) * NANOS_PER_SECOND + self.nanos)
    }
}

/// Seconds east of Greenwich.
fn zone_offset(zone: &str) -> Result<i64, Failure> {
    if zone.eq_ignore_ascii_case("current") {
        return Err(Failure::Unknown); // the clock of the machine that compiles
    }
    let named = zone.to_ascii_lowercase();
    match named.as_str() {
        "z" | "utc" | "gmt" | "ut" | "wet" => return hours_offset(0),
        "cet" | "bst" | "met" | "west" => return hours_offset(1),
        "cest" | "eet" | "mest" => return hours_offset(2),
        "eest" | "msk" => return hours_offset(3),
        "est" | "cdt" => return hours_offset(-5),
        "edt" => return hours_offset(-4),
        "cst" | "mdt" => return hours_offset(-6),
        "mst" | "pdt" => return hours_offset(-7),
        "pst" => return hours_offset(-8),
        "jst" => return hours_offset(9),
        _ => {}
    }
    let signed = named.strip_prefix("gmt").or_else(|| named.strip_prefix("utc")).unwrap_or(&named);
    let Some((sign, digits)) = signed
        .strip_prefix('-')
        .map(|rest| (-1, rest))
        .or(signed.strip_prefix('+').map(|rest| (1, rest)))
    else {
        return Err(Failure::Unknown); // perhaps one of Ruby's other names
    };
    let (hour, minute) = match digits.split_once(':') {
        Some((hour, minute)) => (parse_number(hour)?, parse_number(minute)?),
        None if digits.len() == 4 => (parse_number(&digits[..2])?, parse_number(&digits[2..])?),
        None if digits.len() <= 2 => (parse_number(digits)?, 0),
        None => return Err(Failure::Unknown),
    };
    Ok(sign * (hour * 3_600 + minute * 60))
}

fn parse_number(text: &str) -> Result<i64, Failure> {
    text.parse::<i64>().map_err(|_| Failure::Unknown)
}

fn hours_offset(hours: i64) -> Result<i64, Failure> {
    Ok(hours * 3_600)
}

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];
const DAYS: [&str; 7] =
    ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"];

/// `None` where the text does not fit, or something is left over.
fn parse_time(text: &str, format: &str) -> Result<Option<Fields>, Failure> {
    let mut fields = Fields::default();
    let format = expand_format(format);
    Ok(read(text, &format, &mut fields)?.filter(|rest| rest.is_empty()).map(|_| fields))
}

/// Returns the format with its short forms written out.
fn expand_format(format: &str) -> String {
    let mut out = String::new();
    let mut chars = format.chars();
    while let Some(c) = chars.next() {
        if c != '%' {
            out.push(c);
            continue;
        }
        match chars.next() {
            Some('F') => out.push_str("%Y-%m-%d"),
            Some('T' | 'X') => out.push_str("%H:%M:%S"),
            Some('R') => out.push_str("%H:%M"),
            Some('r') => out.push_str("%I:%M:%S %p"),
            Some('D' | 'x') => out.push_str("%m/%d/%y"),
            Some('c') => out.push_str("%a %b %e %H:%M:%S %Y"),
            Some('v') => out.push_str("%e-%b-%Y"),
            Some(c) => out.extend(['%', c]),
            None => out.push('%'),
        }
    }
    out
}

fn read<'t>(text: &'t str, format: &str, fields: &mut Fields) -> Result<Option<&'t str>, Failure> {
    let mut rest = text;
    let mut chars = format.chars().peekable();
    while let Some(c) = chars.next() {
        if is_space(c) {
            rest = rest.trim_start_matches(is_space);
            continue;
        }
        if c != '%' {
            match rest.strip_prefix(c) {
                Some(after) => rest = after,
                None => return Ok(None),
            }
            continue;
        }
        let Some(directive) = chars.next() else { return Err(Failure::Unknown) };
        // A number is as short as it can be where another number follows it at once.
        let followed = matches!(chars.peek(), Some(c) if c.is_ascii_digit())
            || chars.peek() == Some(&'%')
                && "CDdeFGgHIjkLlMmNQRrSsTUuVvWwXxYy".contains(chars.clone().nth(1).unwrap_or('-'));
        let after = match directive {
            'Y' => {
                let (sign, digits) = match rest.strip_prefix(['+', '-']) {
                    Some(digits) => (if rest.starts_with('-') { -1 } else { 1 }, digits),
                    None => (1, rest),
                };
                read_number(digits, if followed { 4 } else { usize::MAX }, false).map(
                    |(year, after)| {
                        fields.year = Some(sign * year);
                        after
                    },
                )
            }
            'y' => {
                read_number(rest, 2, false).filter(|(year, _)| *year <= 99).map(|(year, after)| {
                    fields.year = Some(year + if year >= 69 { 1900 } else { 2000 });
                    after
                })
            }
            'm' => read_bounded(rest, false, 1, 12, &mut fields.month),
            'd' | 'e' => read_bounded(rest, true, 1, 31, &mut fields.day),
            'H' | 'k' => read_bounded(rest, true, 0, 24, &mut fields.hour),
            'I' | 'l' => read_bounded(rest, true, 1, 12, &mut fields.hour),
            'M' => read_bounded(rest, false, 0, 59, &mut fields.minute),
            'S' => read_bounded(rest, false, 0, 60, &mut fields.second),
            'L' | 'N' => {
                let (sign, digits) = match rest.strip_prefix(['+', '-']) {
                    Some(digits) => (if rest.starts_with('-') { -1 } else { 1 }, digits),
                    None => (1, rest),
                };
                let most = if followed { if directive == 'L' { 3 } else { 9 } } else { usize::MAX };
                let len = digits.bytes().take_while(u8::is_ascii_digit).count().min(most);
                (len > 0).then(|| {
                    let shown: String =
                        digits[..len].chars().chain("000000000".chars()).take(9).collect();
                    fields.nanos = sign * shown.parse::<i128>().unwrap_or(0);
                    &digits[len..]
                })
            }
            'p' | 'P' => {
                let lower = rest.to_ascii_lowercase();
                let found =
                    ["a.m.", "p.m.", "am", "pm"].into_iter().find(|mark| lower.starts_with(mark));
                found.map(|mark| {
                    fields.afternoon = Some(mark.starts_with('p'));
                    &rest[mark.len()..]
                })
            }
            'B' | 'b' | 'h' => read_named(rest, &MONTHS).map(|(n, after)| {
                fields.month = i64::try_from(n + 1).ok();
                after
            }),
            'A' | 'a' => read_named(rest, &DAYS).map(|(_, after)| after),
            'Z' | 'z' => read_zone(rest)?.map(|(found, after)| {
                fields.zone = Some(found.to_owned());
                after
            }),
            'n' | 't' => Some(rest.trim_start_matches(is_space)),
            '%' => rest.strip_prefix('%'),
            _ => return Err(Failure::Unknown),
        };
        match after {
            Some(after) => rest = after,
            None => return Ok(None),
        }
    }
    Ok(Some(rest))
}

/// Reads a number of at most so many digits; one blank may stand for the first.
fn read_number(text: &str, most: usize, blank: bool) -> Option<(i64, &str)> {
    let (text, most) = match text.strip_prefix(' ') {
        Some(rest) if blank => (rest, most - 1),
        _ => (text, most),
    };
    let len = text.bytes().take_while(u8::is_ascii_digit).count().min(most);
    Some((text[..len].parse().ok()?, &text[len..]))
}

fn read_bounded<'t>(
    text: &'t str,
    blank: bool,
    from: i64,
    to: i64,
    field: &mut Option<i64>,
) -> Option<&'t str> {
    let (found, rest) = read_number(text, 2, blank)?;
    if !(from..=to).contains(&found) {
        return None;
    }
    *field = Some(found);
    Some(rest)
}

/// Reads a name, in full or by its first three letters.
fn read_named<'t>(text: &'t str, names: &[&str]) -> Option<(usize, &'t str)> {
    let lower = text.to_ascii_lowercase();
    let found = |len: fn(&str) -> usize| {
        names
            .iter()
            .position(|name| lower.starts_with(&name[..len(name)]))
            .map(|n| (n, &text[len(names[n])..]))
    };
    found(str::len).or_else(|| found(|_| 3))
}

fn read_zone(text: &str) -> Result<Option<(&str, &str)>, Failure> {
    let letters = text.bytes().take_while(u8::is_ascii_alphabetic).count();
    let name = &text[..letters];
    if let Some(end) = signed_end(0, text) {
        return Ok(Some(text.split_at(end)));
    }
    if ["gmt", "utc", "ut"].contains(&name.to_ascii_lowercase().as_str())
        && let Some(end) = signed_end(letters, text)
    {
        return Ok(Some(text.split_at(end)));
    }
    match (letters, &text[letters..]) {
        (0, _) => Ok(None),
        (_, "") => Ok(Some(text.split_at(letters))),
        _ => Err(Failure::Unknown), // names of several words
    }
}

fn signed_end(at: usize, text: &str) -> Option<usize> {
    let rest = &text[at..];
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let mut len = 1 + digits(rest.get(1..)?);
    if !rest.starts_with(['+', '-']) || len == 1 {
        return None;
    }
    if rest[len..].starts_with(':') && digits(&rest[len + 1..]) > 0 {
        len += 1 + digits(&rest[len + 1..]);
    }
    Some(at + len)
}
