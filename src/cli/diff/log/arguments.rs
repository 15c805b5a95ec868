//! The arguments of `log`.

use chrono::{DateTime, Days, Duration, Months, NaiveDate, Utc};
use clap::{Args, ValueEnum};

use crate::cli::RootArguments;

/// The arguments of `log`.
#[derive(Debug, Args)]
pub struct LogArguments {
    /// The key, with subkeys where a part of its value is meant.
    #[arg(value_name = "KEY")]
    pub(super) key: String,
    /// The revision to start at, as git writes it, or BASE..HEAD for the commits behind BASE.
    #[arg(value_name = "REVISION", default_value = "HEAD")]
    pub(super) revision: String,
    /// Only this node: its name.
    #[arg(long, value_name = "CERTNAME", conflicts_with = "nodes")]
    pub(super) node: Option<String>,
    /// Only these nodes: `all`, names and globs with commas between them, or @FILE with one a line.
    #[arg(long, value_name = "NODES")]
    pub(super) nodes: Option<String>,
    /// Print at most so many commits.
    #[arg(short = 'n', long, value_name = "COUNT")]
    pub(super) max_count: Option<usize>,
    /// Stop at the first commit before this time: 2026-03-01, 2026-03-01T12:00:00Z, 2.weeks,
    /// `3 days ago`.
    #[arg(long, value_name = "DATE", value_parser = parse_time)]
    pub(super) since: Option<DateTime<Utc>>,
    /// How to print the commits.
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    pub(super) format: LogFormat,
    /// Show values that only the names of their keys call secrets, such as `*password*`. Sensitive
    /// and encrypted values are never shown.
    #[arg(long)]
    pub(super) reveal: bool,
    #[command(flatten)]
    pub(super) root: RootArguments,
}

/// How commits are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum LogFormat {
    /// For people.
    Human,
    /// A line of JSON for each commit.
    Json,
}

fn parse_time(text: &str) -> Result<DateTime<Utc>, String> {
    time_before(Utc::now(), text).ok_or_else(|| {
        "must be a date as 2026-03-01, a time as 2026-03-01T12:00:00Z, or an age as 2.weeks"
            .to_owned()
    })
}

/// Returns the time that a text names: a day as its beginning in universal time, or an age as seen
/// from `now`.
fn time_before(now: DateTime<Utc>, text: &str) -> Option<DateTime<Utc>> {
    if let Ok(day) = NaiveDate::parse_from_str(text, "%Y-%m-%d") {
        return Some(day.and_hms_opt(0, 0, 0)?.and_utc());
    }
    if let Ok(time) = DateTime::parse_from_rfc3339(text) {
        return Some(time.to_utc());
    }
    let mut parts = text.split([' ', '.']).filter(|part| !part.is_empty());
    let (count, unit): (u32, &str) = (parts.next()?.parse().ok()?, parts.next()?);
    if parts.any(|part| part != "ago") {
        return None;
    }
    match unit.trim_end_matches('s') {
        "minute" => now.checked_sub_signed(Duration::minutes(count.into())),
        "hour" => now.checked_sub_signed(Duration::hours(count.into())),
        "day" => now.checked_sub_days(Days::new(count.into())),
        "week" => now.checked_sub_days(Days::new(u64::from(count) * 7)),
        "month" => now.checked_sub_months(Months::new(count)),
        "year" => now.checked_sub_months(Months::new(count.checked_mul(12)?)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_those_that_git_users_write() {
        let now = DateTime::parse_from_rfc3339("2026-03-31T12:30:00Z").expect("a time").to_utc();
        let time = |text: &str| time_before(now, text).map(|time| time.to_rfc3339());
        for (text, expected) in [
            ("2026-03-01", "2026-03-01T00:00:00+00:00"),
            ("2026-03-01T12:00:00+02:00", "2026-03-01T10:00:00+00:00"),
            ("2.weeks", "2026-03-17T12:30:00+00:00"),
            ("1 month ago", "2026-02-28T12:30:00+00:00"),
            ("3 days", "2026-03-28T12:30:00+00:00"),
        ] {
            assert_eq!(time(text).as_deref(), Some(expected), "{text}");
        }
        for text in ["", "yesterday", "2 fortnights", "3", "-1 days", "2026-13-01", "9 days later"]
        {
            assert_eq!(time(text), None, "{text}");
        }
        assert_eq!(time("4000000000 years"), None);
    }
}
