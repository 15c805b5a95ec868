//! Points in time and durations in nanoseconds, and their text.

/// How many nanoseconds a second has.
pub const NANOS_PER_SECOND: i128 = 1_000_000_000;

/// Days since 1970-01-01 of a day of the Gregorian calendar; a day beyond the end of its month is
/// one of the next.
pub fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    // In this calculation years begin in March, so that the leap day is the last day of its year.
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
        + (day - 1)
}

/// Year, month and day of a number of days since 1970-01-01.
pub fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

/// Returns `2020-01-31T12:00:00.000000000 UTC`.
pub fn timestamp_text(nanos: i128) -> String {
    let seconds = nanos.div_euclid(NANOS_PER_SECOND);
    let days = i64::try_from(seconds.div_euclid(86_400)).unwrap_or(i64::MAX / 400);
    let (year, month, day) = civil_from_days(days);
    let second = seconds.rem_euclid(86_400);
    let year = if year < 0 { format!("-{:04}", -year) } else { format!("{year:04}") };
    format!(
        "{year}-{month:02}-{day:02}T{:02}:{:02}:{:02}.{:09} UTC",
        second / 3_600,
        second / 60 % 60,
        second % 60,
        nanos.rem_euclid(NANOS_PER_SECOND)
    )
}

/// Returns `1-02:03:04.5`: days, then hours, minutes, seconds and the fraction without the zeros at
/// its end.
pub fn timespan_text(nanos: i128) -> String {
    let sign = if nanos < 0 { "-" } else { "" };
    let nanos = nanos.unsigned_abs();
    let seconds = nanos / 1_000_000_000;
    let fraction = format!("{:09}", nanos % 1_000_000_000);
    // Puppet takes the digits of the fraction for a number, so that zeros at its start are lost,
    // too.
    let digits = fraction.trim_start_matches('0').trim_end_matches('0');
    let fraction = if digits.is_empty() { "0" } else { digits };
    let (days, hours, minutes) = (seconds / 86_400, seconds / 3_600 % 24, seconds / 60 % 60);
    format!("{sign}{days}-{hours:02}:{minutes:02}:{:02}.{fraction}", seconds % 60)
}
