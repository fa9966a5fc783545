//! Sizes, times, rates and counts as people write and read them: the one place where they are parsed and formatted.
//!
//! Prefixes are decimal (1 kB is 1000 bytes) unless they say otherwise (1 KiB is 1024).

use crate::{Error, Result};
use std::time::Duration;

/// The longest simulated delay: sums of many are still times.
const LONGEST_DELAY: Duration = Duration::from_secs(3600);

/// Bytes from `64000`, `64kB`, `10MB`, `1.5 GB` (powers of 1000) or `64KiB`, `1MiB` (powers of 1024).
///
/// # Errors
/// No number, an unknown unit, more than 2^53 bytes.
pub fn parse_bytes(text: &str) -> Result<u64> {
    let wrong = || not_a(text, "size").with_remedy("write for example 64kB, 10MB or 1GiB");
    let (number, unit) = split_number(text).ok_or_else(wrong)?;
    let prefix = unit.strip_suffix(['B', 'b']).unwrap_or(unit);
    let factor = decimal_prefix(prefix).or(match prefix {
        "Ki" => Some(1024.0),
        "Mi" => Some(1_048_576.0),
        "Gi" => Some(1_073_741_824.0),
        "Ti" => Some(1_099_511_627_776.0),
        _ => None,
    });
    let bytes = number * factor.ok_or_else(wrong)?;
    // 2^53: beyond it not every number of bytes exists as a double
    if bytes <= 9_007_199_254_740_992.0 {
        Ok(bytes.round() as u64)
    } else {
        Err(Error::invalid(format!("\"{text}\" is too large")))
    }
}

/// A duration from `50ms`, `1.5s`, `2min`, `1h`, or seconds without a unit.
///
/// # Errors
/// No number, an unknown unit, more than a [`Duration`] holds.
pub fn parse_duration(text: &str) -> Result<Duration> {
    let wrong = || not_a(text, "time").with_remedy("write for example 50ms, 60s or 2min");
    let (number, unit) = split_number(text).ok_or_else(wrong)?;
    let factor = match unit {
        "ns" => 1e-9,
        "us" | "µs" => 1e-6,
        "ms" => 1e-3,
        "" | "s" | "sec" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => return Err(wrong()),
    };
    Duration::try_from_secs_f64(number * factor).map_err(|_| Error::invalid(format!("\"{text}\" is too long")))
}

/// A simulated delay or round-trip time: as [`parse_duration`], but with a unit, and an hour at most.
///
/// # Errors
/// As there; no unit, as a bare 50 mostly means milliseconds; more than an hour.
pub fn parse_delay(text: &str) -> Result<Duration> {
    let time = parse_duration(text)?;
    if !time.is_zero() && text.trim_end().ends_with(|c: char| c.is_ascii_digit() || c == '.') {
        return Err(Error::invalid(format!("\"{text}\" has no unit")).with_remedy("write for example 50ms or 0.2s"));
    }
    if time > LONGEST_DELAY {
        return Err(Error::invalid(format!("\"{text}\" is longer than an hour")));
    }
    Ok(time)
}

/// A rate such as `100Mbit`, `1 Gbit/s` or `10MB/s` in bits per second: `bit` and `b` are bits, `B` is bytes.
///
/// # Errors
/// No number, no unit or an unknown one, less than 1 bit/s or more than 100 Tbit/s.
pub fn parse_bandwidth(text: &str) -> Result<u64> {
    let wrong = || not_a(text, "bandwidth").with_remedy("write for example 100Mbit, 1Gbit or 10MB/s");
    let (number, unit) = split_number(text).ok_or_else(wrong)?;
    let unit = unit.strip_suffix("/s").or_else(|| unit.strip_suffix("ps")).unwrap_or(unit);
    let (prefix, bits) = match (unit.strip_suffix("bit").or_else(|| unit.strip_suffix('b')), unit.strip_suffix('B')) {
        (Some(prefix), _) => (prefix, 1.0),
        (None, Some(prefix)) => (prefix, 8.0),
        (None, None) => ("?", 0.0),
    };
    let rate = decimal_prefix(prefix).map(|factor| number * factor * bits);
    match rate {
        Some(rate) if (1.0..=1e14).contains(&rate) => Ok(rate as u64),
        Some(_) => Err(Error::invalid(format!("\"{text}\" is not between 1 bit/s and 100 Tbit/s"))),
        None => Err(wrong()),
    }
}

fn not_a(text: &str, what: &str) -> Error {
    Error::invalid(format!("\"{text}\" is not a {what}"))
}

/// A number and what follows it.
fn split_number(text: &str) -> Option<(f64, &str)> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    Some((number.parse().ok()?, unit.trim_start()))
}

fn decimal_prefix(prefix: &str) -> Option<f64> {
    Some(match prefix {
        "" => 1.0,
        "k" | "K" => 1e3,
        "M" => 1e6,
        "G" => 1e9,
        "T" => 1e12,
        _ => return None,
    })
}

/// A number of bytes with three significant digits: `999 B`, `12.1 kB`, `140 MB`.
pub fn bytes(n: u64) -> String {
    three_digits(n as f64, ["B", "kB", "MB", "GB", "TB", "PB", "EB"])
}

/// A bandwidth in bits per second, as [`parse_bandwidth`] reads it, with three significant digits: `100 Mbit/s`.
pub fn bandwidth(bits_per_second: u64) -> String {
    three_digits(bits_per_second as f64, ["bit/s", "kbit/s", "Mbit/s", "Gbit/s", "Tbit/s", "Pbit/s", "Ebit/s"])
}

/// In the largest of the units, each a thousand of the one before, in which it is at least one.
fn three_digits(mut value: f64, units: [&'static str; 7]) -> String {
    let [first, larger @ ..] = units;
    let mut unit = first;
    for next in larger {
        // rounding must not show "1000 kB"
        if value < 999.5 {
            break;
        }
        value /= 1000.0;
        unit = next;
    }
    let digits = match value {
        _ if unit == first => 0,
        v if v < 9.995 => 2,
        v if v < 99.95 => 1,
        _ => 0,
    };
    format!("{value:.digits$} {unit}")
}

/// A number with its digits in groups of three: `1 234 567`.
pub fn count(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::with_capacity(digits.len() * 4 / 3);
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(' ');
        }
        out.push(c);
    }
    out
}

/// A number and its noun, in the singular for 1.
pub fn counted(n: u64, one: &str, several: &str) -> String {
    format!("{} {}", count(n), if n == 1 { one } else { several })
}

/// `1 cluster`, `2 clusters`: nouns whose plural only adds an s.
pub fn plural(n: u64, one: &str) -> String {
    counted(n, one, &format!("{one}s"))
}

/// `1 entry`, `2 entries`.
pub fn entries(n: u64) -> String {
    counted(n, "entry", "entries")
}

/// A time given in seconds: `85 ms`, `1.25 s`, `2 min 5 s`, `3 h 20 min`, `3 d 4 h`.
pub fn seconds(s: f64) -> String {
    if s < 0.9995 {
        let ms = s * 1e3;
        if ms < 9.95 { format!("{ms:.1} ms") } else { format!("{ms:.0} ms") }
    } else if s < 119.95 {
        if s < 9.995 { format!("{s:.2} s") } else { format!("{s:.1} s") }
    } else {
        // the next smaller unit, as soon as there are two of the larger one
        let whole = s.round() as u64;
        let (large, unit, small, rest) = match whole {
            ..7_200 => (60, "min", 1, "s"),
            7_200..172_800 => (3_600, "h", 60, "min"),
            _ => (86_400, "d", 3_600, "h"),
        };
        format!("{} {unit} {} {rest}", whole / large, whole % large / small)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_decimal_unless_they_say_otherwise() {
        for (text, n) in
            [("0", 0), ("64kB", 64_000), ("10MB", 10_000_000), ("1.5 GB", 1_500_000_000), ("2MiB", 2 << 20), ("7b", 7)]
        {
            assert_eq!(parse_bytes(text).unwrap(), n, "{text}");
        }
        for text in ["", "MB", "1XB", "1e3", "-1", "99999999TB", "1.2.3"] {
            assert!(parse_bytes(text).is_err(), "{text}");
        }
        let e = parse_bytes("1XB").unwrap_err().to_string();
        assert_eq!(e, "\"1XB\" is not a size; write for example 64kB, 10MB or 1GiB");
    }

    #[test]
    fn times() {
        assert_eq!(parse_duration("50ms").unwrap(), Duration::from_millis(50));
        assert_eq!(parse_duration("60").unwrap(), Duration::from_secs(60));
        assert_eq!(parse_duration("1.5 min").unwrap(), Duration::from_secs(90));
        assert_eq!(parse_duration("70 ns").unwrap(), Duration::from_nanos(70));
        assert!(parse_duration("5 days").is_err());
        assert!(parse_duration("99999999999999999999h").is_err());
    }

    #[test]
    fn delays_have_a_unit() {
        for (text, micros) in
            [("50ms", 50_000), ("0.2s", 200_000), ("300us", 300), (" 1.5 ms ", 1500), ("0", 0), ("0ms", 0)]
        {
            assert_eq!(parse_delay(text).unwrap(), Duration::from_micros(micros), "{text}");
        }
        for bad in ["", "ms", "50", "-1ms", "1e3s", "5h", "1.2.3s", "9999s", "1ms1s", "٣ms"] {
            assert!(parse_delay(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn bandwidths() {
        for (text, bits) in [
            ("100Mbit", 100_000_000),
            ("1Gbit", 1_000_000_000),
            ("1 Gbit/s", 1_000_000_000),
            ("10MB/s", 80_000_000),
            ("64kbit", 64_000),
            ("8Mbps", 8_000_000),
            ("1.5Mb", 1_500_000),
            ("9600bit", 9600),
        ] {
            assert_eq!(parse_bandwidth(text).unwrap(), bits, "{text}");
        }
        for bad in ["", "100", "0bit", "Mbit", "-1Mbit", "1Xbit", "1MiB", "999999Tbit", "0.1bit"] {
            assert!(parse_bandwidth(bad).is_err(), "{bad}");
        }
        for (bits, text) in [(7, "7 bit/s"), (450_000_000, "450 Mbit/s"), (999_999_999, "1.00 Gbit/s")] {
            assert_eq!(bandwidth(bits), text);
            assert!(parse_bandwidth(text).is_ok());
        }
    }

    #[test]
    fn for_people() {
        let shown: Vec<String> = [0, 999, 1000, 9_995, 12_100, 999_499, 999_500, 140_058_172].map(bytes).into();
        assert_eq!(shown, ["0 B", "999 B", "1.00 kB", "10.0 kB", "12.1 kB", "999 kB", "1.00 MB", "140 MB"]);
        assert_eq!([0, 999, 1000, 1234567].map(count), ["0", "999", "1 000", "1 234 567"]);
        assert_eq!([0.0042, 0.085, 1.25, 125.0].map(seconds), ["4.2 ms", "85 ms", "1.25 s", "2 min 5 s"]);
        assert_eq!([7199.4, 12_030.0, 273_700.0].map(seconds), ["119 min 59 s", "3 h 20 min", "3 d 4 h"]);
    }
}
