//! Virtual time, and times, sizes and lists of names as a scenario writes them.

use sapwood_span::{Error, Result, units};

/// Nanoseconds since the beginning.
pub type Time = u64;

/// One second.
pub(crate) const SECOND: f64 = 1e9;
/// Seconds of a year.
pub(crate) const YEAR: f64 = 365.25 * 86400.0;
/// The longest time that a scenario may name.
const LONGEST: f64 = 100.0 * YEAR;
/// Years that a job may take for a file, alone: of twenty at once the times are still times.
pub(crate) const MOST_YEARS: f64 = 10.0;

pub(crate) fn seconds(time: Time) -> f64 {
    time as f64 / SECOND
}

/// Seconds as a time, rounded up, so that nothing happens before its due; at most the largest time.
pub(crate) fn from_seconds(seconds: f64) -> Time {
    (seconds * SECOND).ceil().max(0.0) as Time
}

/// A time such as `20ms`, `6h` or `30d`.
pub(crate) fn time_of(text: &str) -> Result<Time> {
    whole(text, seconds_of(text)?)
}

/// The same in seconds, whatever its length.
pub(crate) fn seconds_of(text: &str) -> Result<f64> {
    let text = text.trim();
    let plain = |number: &str| number.chars().all(|c| c.is_ascii_digit() || c == '.');
    let number = |unit| text.strip_suffix(unit).map(str::trim_end).filter(|n| plain(n))?.parse::<f64>().ok();
    if let Some(days) = number("d") {
        return Ok(days * 86400.0);
    }
    // a Duration has whole nanoseconds, and work on an entry may take less
    if let Some(nanoseconds) = number("ns") {
        return Ok(nanoseconds / SECOND);
    }
    let seconds = units::parse_duration(text)?.as_secs_f64();
    has_unit(text, seconds, "write for example 20ms, 6h or 30d")?;
    Ok(seconds)
}

/// Seconds that are not too long.
pub(crate) fn not_too_long(text: &str, seconds: f64) -> Result<f64> {
    if seconds > LONGEST {
        return Err(Error::invalid(format!("\"{text}\" is longer than 100 years")));
    }
    Ok(seconds)
}

/// Seconds in whole nanoseconds.
pub(crate) fn whole(text: &str, seconds: f64) -> Result<Time> {
    let time = (not_too_long(text, seconds)? * SECOND).round() as Time;
    if time == 0 && seconds > 0.0 {
        return Err(Error::invalid(format!("\"{text}\" is shorter than a nanosecond")));
    }
    Ok(time)
}

/// Bytes such as `500 GB`, `20 TB` or `1.5 PB`.
pub(crate) fn bytes_of(text: &str) -> Result<u64> {
    let large = [("PB", 1e15), ("EB", 1e18)].into_iter();
    let mut large = large.filter_map(|(unit, factor)| Some((text.trim().strip_suffix(unit)?, factor)));
    match large.next() {
        Some((number, factor)) => {
            let number = number.trim_end().parse::<f64>().ok().filter(|n| (0.0..=9e18).contains(&(n * factor)));
            let number = number.ok_or_else(|| Error::invalid(format!("\"{text}\" is not a size")))?;
            Ok((number * factor).round() as u64)
        }
        None => {
            let bytes = units::parse_bytes(text)?;
            has_unit(text, bytes as f64, "write for example 500 GB, 20 TB or 512 B")?;
            Ok(bytes)
        }
    }
}

/// Only nothing needs no unit: who writes 500 may mean seconds or milliseconds, bytes or gigabytes.
fn has_unit(text: &str, value: f64, remedy: &'static str) -> Result<()> {
    if value != 0.0 && text.trim_end().ends_with(|c: char| c.is_ascii_digit() || c == '.') {
        return Err(Error::invalid(format!("\"{text}\" has no unit")).with_remedy(remedy));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_sizes() {
        assert_eq!(time_of("30d").unwrap(), 30 * 86_400_000_000_000);
        assert_eq!(time_of("1.5 h").unwrap(), 5_400_000_000_000);
        assert_eq!(time_of("20ms").unwrap(), 20_000_000);
        assert_eq!(bytes_of("1.5 PB").unwrap(), 1_500_000_000_000_000);
        assert_eq!(bytes_of("20 TB").unwrap(), 20_000_000_000_000);
        assert_eq!((time_of("0").unwrap(), bytes_of("0").unwrap(), bytes_of("7 B").unwrap()), (0, 0, 7));
        for wrong in ["d", "-1d", "1e9d", "40000d", "x", "30", "1.", ""] {
            assert!(time_of(wrong).is_err(), "{wrong}");
        }
        assert_eq!((seconds_of("0.25 ns").unwrap(), seconds_of("2.5us").unwrap()), (0.25e-9, 2.5e-6));
        for (text, limit) in [("0.4ns", "shorter than a nanosecond"), ("40000d", "longer than 100 years")] {
            assert!(time_of(text).unwrap_err().to_string().contains(limit), "{text}");
        }
        for wrong in ["PB", "-1 PB", "99999 EB", "nan PB", "500", "500.0", ""] {
            assert!(bytes_of(wrong).is_err(), "{wrong}");
        }
        assert_eq!(from_seconds(1e-10), 1);
    }
}
