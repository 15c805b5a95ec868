//! Ages: of answers, in words, and of facts, which a setting limits.

use std::time::{Duration, SystemTime};

use serde::Deserialize as _;
use serde_json::value::RawValue;

use crate::puppet::rich::timestamp_text;
use crate::text::count_phrase;

/// The member of a row with the time of its facts.
pub(super) const TIME: &str = "timestamp";
/// How many characters of a time count: seconds are the smallest unit of an age.
const SECONDS_LENGTH: usize = "2020-01-31T12:00:00".len();
/// How many nodes that are left out have their names stated.
const NAMED: usize = 10;

/// Reads an age as PuppetDB's own settings have it, such as `7d`; the units are `d`, `h`, `m` and
/// `s`. `None` for other texts, and for an age of zero.
pub fn parse_age(text: &str) -> Option<Duration> {
    let (number, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    let seconds: u64 = match unit {
        "d" => 86_400,
        "h" => 3600,
        "m" => 60,
        "s" => 1,
        _ => return None,
    };
    let seconds = number.parse::<u32>().ok().map(|number| u64::from(number) * seconds);
    seconds.filter(|seconds| *seconds > 0).map(Duration::from_secs)
}

/// Returns an age in its largest unit: `12 s`, `3 h`.
pub(super) fn age_words(age: Duration) -> String {
    match age.as_secs() {
        seconds @ ..60 => format!("{seconds} s"),
        seconds @ 60..3600 => format!("{} min", seconds / 60),
        seconds @ 3600..86_400 => format!("{} h", seconds / 3600),
        seconds => format!("{} d", seconds / 86_400),
    }
}

/// The nodes that an answer lacks because their facts were too old when PuppetDB was asked.
#[derive(Clone, Debug, Default, serde::Deserialize, PartialEq, Eq, serde::Serialize)]
pub struct OldNodes {
    /// How many nodes there are.
    pub count: usize,
    /// The names of the first of the nodes.
    pub names: Vec<String>,
}

impl OldNodes {
    /// Returns a sentence about the nodes; `None` where there are none.
    pub fn sentence(&self, max_age: Duration) -> Option<String> {
        let others = match self.count.checked_sub(self.names.len())? {
            0 => String::new(),
            others => format!(" and {}", count_phrase(others, "other")),
        };
        (self.count > 0).then(|| {
            format!(
                "left out as their facts are older than {}: {} ({}{others})",
                age_words(max_age),
                count_phrase(self.count, "node"),
                self.names.join(", ")
            )
        })
    }
}

/// A filter of rows by the age of their facts.
pub(super) struct AgeFilter {
    /// The oldest time that is taken, in UTC, up to its seconds.
    oldest: String,
    /// The nodes that were not taken.
    pub(super) old: OldNodes,
}

impl AgeFilter {
    /// Returns the filter for an age that counts from now.
    pub(super) fn new(max_age: Duration) -> AgeFilter {
        let oldest = SystemTime::now().checked_sub(max_age).unwrap_or(SystemTime::UNIX_EPOCH);
        let since = oldest.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let text = timestamp_text(i128::try_from(since.as_nanos()).unwrap_or(i128::MAX));
        AgeFilter { oldest: text[..SECONDS_LENGTH].to_owned(), old: OldNodes::default() }
    }

    /// Returns a row without the time of its facts, which changes with each run of an agent; `None`
    /// for a node whose facts are too old. Facts without a time count as new.
    ///
    /// Errors: the row is none.
    pub(super) fn take(&mut self, row: &str) -> Result<Option<String>, String> {
        let read: Result<std::collections::BTreeMap<String, Box<RawValue>>, _> =
            serde_json::from_str(row);
        let mut members = read.map_err(|error| error.to_string())?;
        let time = members.remove(TIME);
        let time = time.and_then(|time| text_in(&time));
        // Both times are in UTC and of one form, so that their texts have the order of the times.
        if time.is_some_and(|time| time.get(..SECONDS_LENGTH).is_some_and(|it| it < &*self.oldest))
        {
            self.old.count += 1;
            let name = members.get("certname").and_then(|name| text_in(name));
            self.old.names.extend(name.filter(|_| self.old.names.len() < NAMED));
            return Ok(None);
        }
        serde_json::to_string(&members).map(Some).map_err(|error| error.to_string())
    }
}

/// Returns the text that a JSON value is; `None` for other values.
fn text_in(value: &RawValue) -> Option<String> {
    String::deserialize(value).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_age_is_told_in_its_largest_unit() {
        let words = [0, 59, 60, 7199, 86_399, 400_000].map(|it| age_words(Duration::from_secs(it)));
        assert_eq!(words, ["0 s", "59 s", "1 min", "1 h", "23 h", "4 d"]);
    }

    #[test]
    fn an_age_is_a_number_with_a_unit() {
        let read = ["7d", "36h", "90m", "5s"].map(|text| parse_age(text).map(|it| it.as_secs()));
        assert_eq!(read, [604_800, 129_600, 5400, 5].map(Some));
        for wrong in ["", "d", "7", "0d", "-1d", "7 d", "1.5h", "7w", "7é", "99999999999d"] {
            assert_eq!(parse_age(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn rows_lose_their_times_and_old_ones_are_counted() {
        let mut filter = AgeFilter::new(Duration::from_secs(3600));
        filter.oldest = "2026-01-31T12:00:00".to_owned();
        let mut take = |name: &str, time: &str| {
            let row = format!(
                r#"{{"timestamp": {time}, "certname": "{name}", "facts.n": 12345678901234567890123.0}}"#
            );
            filter.take(&row).expect("it is a row").is_some_and(|row| {
                assert_eq!(
                    row,
                    format!(r#"{{"certname":"{name}","facts.n":12345678901234567890123.0}}"#)
                );
                true
            })
        };
        assert!(take("same", r#""2026-01-31T12:00:00.000Z""#));
        assert!(!take("old", r#""2026-01-31T11:59:59.999Z""#));
        assert!(!take("older", r#""1999-12-31T23:00:00.000Z""#));
        assert!(take("unknown", "null"));
        assert!(filter.take("[]").is_err());
        let hour = Duration::from_secs(3600);
        let told = filter.old.sentence(hour);
        assert_eq!(
            told.as_deref(),
            Some("left out as their facts are older than 1 h: 2 nodes (old, older)")
        );
        for number in 0..NAMED {
            let row =
                format!(r#"{{"certname":"n{number}","timestamp":"1970-01-01T00:00:00.000Z"}}"#);
            assert_eq!(filter.take(&row), Ok(None));
        }
        let told = filter.old.sentence(hour).expect("there are some");
        assert!(
            told.ends_with(": 12 nodes (old, older, n0, n1, n2, n3, n4, n5, n6, n7 and 2 others)"),
            "{told}"
        );
        assert_eq!(OldNodes::default().sentence(hour), None);
    }

    #[test]
    fn the_oldest_time_is_an_age_ago() {
        let now = AgeFilter::new(Duration::from_secs(1)).oldest;
        let long_ago = AgeFilter::new(Duration::from_secs(u64::MAX)).oldest;
        assert_eq!(long_ago, "1970-01-01T00:00:00");
        assert!(*now > *"2026" && now.len() == SECONDS_LENGTH, "{now}");
    }
}
