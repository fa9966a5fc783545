//! Sizes and times as people write and read them.

pub use sapwood::size_text::parse_bytes;
use sapwood::size_text::split_number;
use std::time::Duration;

/// A duration from `50ms`, `1.5s`, `2min`, `1h`, or seconds without a unit.
pub fn parse_duration(text: &str) -> Result<Duration, String> {
    let (number, unit) = split_number(text)?;
    let factor = match unit {
        "us" | "µs" => 1e-6,
        "ms" => 1e-3,
        "" | "s" | "sec" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => return Err(format!("\"{text}\" is not a time; write for example 50ms, 60s or 2min")),
    };
    Duration::try_from_secs_f64(number * factor).map_err(|_| format!("\"{text}\" is too long a time"))
}

/// A round-trip time: an hour at most, so that sums of many are times still.
pub fn parse_round_trip(text: &str) -> Result<Duration, String> {
    let time = parse_duration(text)?;
    if time > Duration::from_secs(3600) { Err(format!("\"{text}\" is longer than an hour")) } else { Ok(time) }
}

/// `1 cluster`, `2 clusters`: nouns whose plural only adds an s.
pub fn plural(n: u64, one: &str) -> String {
    counted(n, one, &format!("{one}s"))
}

/// `1 entry`, `2 entries`.
pub fn entries(n: u64) -> String {
    counted(n, "entry", "entries")
}

/// A number and its noun, in the singular for 1.
pub fn counted(n: u64, one: &str, several: &str) -> String {
    format!("{} {}", count(n), if n == 1 { one } else { several })
}

/// Bytes for people: `999 B`, `12.1 kB`, `140 MB`; three digits that count.
pub fn bytes(n: u64) -> String {
    let mut value = n as f64;
    let mut unit = "B";
    for next in ["kB", "MB", "GB", "TB", "PB", "EB"] {
        // rounding must not show "1000 kB"
        if value < 999.5 {
            break;
        }
        value /= 1000.0;
        unit = next;
    }
    let digits = match value {
        _ if unit == "B" => 0,
        v if v < 9.995 => 2,
        v if v < 99.95 => 1,
        _ => 0,
    };
    format!("{value:.digits$} {unit}")
}

/// A number of things with its digits in groups of three: `1 234 567`.
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

/// Seconds for people: `85 ms`, `1.25 s`, `2 min 5 s`.
pub fn seconds(s: f64) -> String {
    if s < 0.9995 {
        let ms = s * 1e3;
        if ms < 9.95 { format!("{ms:.1} ms") } else { format!("{ms:.0} ms") }
    } else if s < 119.95 {
        if s < 9.995 { format!("{s:.2} s") } else { format!("{s:.1} s") }
    } else {
        let whole = s.round() as u64;
        format!("{} min {} s", whole / 60, whole % 60)
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
            assert_eq!(parse_bytes(text), Ok(n), "{text}");
        }
        for text in ["", "MB", "1XB", "1e3", "-1", "99999999TB", "1.2.3"] {
            assert!(parse_bytes(text).is_err(), "{text}");
        }
    }

    #[test]
    fn times() {
        assert_eq!(parse_duration("50ms"), Ok(Duration::from_millis(50)));
        assert_eq!(parse_duration("60"), Ok(Duration::from_secs(60)));
        assert_eq!(parse_duration("1.5 min"), Ok(Duration::from_secs(90)));
        assert!(parse_duration("5 days").is_err());
        assert!(parse_duration("99999999999999999999h").is_err());
    }

    #[test]
    fn for_people() {
        let shown: Vec<String> = [0, 999, 1000, 9_995, 12_100, 999_499, 999_500, 140_058_172].map(bytes).into();
        assert_eq!(shown, ["0 B", "999 B", "1.00 kB", "10.0 kB", "12.1 kB", "999 kB", "1.00 MB", "140 MB"]);
        assert_eq!([0, 999, 1000, 1234567].map(count), ["0", "999", "1 000", "1 234 567"]);
        assert_eq!([0.0042, 0.085, 1.25, 125.0].map(seconds), ["4.2 ms", "85 ms", "1.25 s", "2 min 5 s"]);
    }
}
