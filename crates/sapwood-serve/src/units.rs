//! Times and rates as people write them.

use sapwood_span::{Error, Result};
use std::time::Duration;

/// Splits `12.5ms` into number and unit.
fn split(text: &str) -> Option<(f64, &str)> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let number: f64 = text.get(..end)?.parse().ok()?;
    Some((number, text.get(end..)?.trim()))
}

/// Parses a time such as `50ms`, `0.2s`, `300us` or `0`.
///
/// # Errors
/// No number, no unit or an unknown one, more than an hour.
pub fn parse_delay(text: &str) -> Result<Duration> {
    let refuse =
        || Error::invalid(format!("cannot read the time {text:?}")).with_remedy("write it as 50ms, 0.2s or 300us");
    let (number, unit) = split(text).ok_or_else(refuse)?;
    let seconds = match unit {
        "s" | "sec" => number,
        "ms" => number * 1e-3,
        "us" | "µs" => number * 1e-6,
        "" if number == 0.0 => 0.0,
        _ => return Err(refuse()),
    };
    if seconds > 3600.0 {
        return Err(Error::invalid(format!("the time {text:?} is longer than an hour")));
    }
    Duration::try_from_secs_f64(seconds).map_err(|_| refuse())
}

/// Parses a rate such as `100Mbit`, `1 Gbit/s` or `10MB/s`; gives bits per second. Prefixes are
/// powers of a thousand; `bit` and `b` are bits, `B` is bytes.
///
/// # Errors
/// No number, no unit or an unknown one, nothing or more than 100 Tbit/s.
pub fn parse_bandwidth(text: &str) -> Result<u64> {
    let refuse = || {
        Error::invalid(format!("cannot read the bandwidth {text:?}"))
            .with_remedy("write it as 100Mbit, 1Gbit or 10MB/s")
    };
    let (number, unit) = split(text).ok_or_else(refuse)?;
    let unit = unit.strip_suffix("/s").or_else(|| unit.strip_suffix("ps")).unwrap_or(unit);
    let (prefix, bits) = if let Some(prefix) = unit.strip_suffix("bit").or_else(|| unit.strip_suffix('b')) {
        (prefix, 1.0)
    } else if let Some(prefix) = unit.strip_suffix('B') {
        (prefix, 8.0)
    } else {
        return Err(refuse());
    };
    let factor = match prefix {
        "" => 1.0,
        "k" | "K" => 1e3,
        "M" => 1e6,
        "G" => 1e9,
        "T" => 1e12,
        _ => return Err(refuse()),
    };
    let rate = number * factor * bits;
    if (1.0..=1e14).contains(&rate) { Ok(rate as u64) } else { Err(refuse()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays() {
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
    }
}
