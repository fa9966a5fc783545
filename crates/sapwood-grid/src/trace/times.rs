//! Times of records.

/// Seconds since 1970 of a time as a log writes it: seconds, or a date and a time of ISO 8601 in UTC or with an offset, or
/// `yymmdd:HHMMSS` as `xrdpfc_print` has them.
pub(super) fn seconds(text: &str) -> Option<f64> {
    if let Ok(n) = text.parse::<f64>() {
        return plausible(n);
    }
    if let Some((date, time)) = text.split_once(':').filter(|(date, time)| date.len() == 6 && time.len() == 6) {
        let [[year, month, day], [hour, minute, second]] = [pairs(date)?, pairs(time)?];
        return since_1970([2000 + year, month, day], [hour, minute, second]);
    }
    let (date, time) = text.split_once(['T', ' '])?;
    let [year, month, day] = numbers(date, '-')?;
    let (time, offset) = match time.strip_suffix('Z') {
        Some(time) => (time, 0.0),
        None => match time.rfind(['+', '-']) {
            Some(at) => (time.get(..at)?, offset(time.get(at..)?)?),
            None => (time, 0.0),
        },
    };
    let (time, part) = match time.split_once(['.', ',']) {
        Some((time, part)) if part.bytes().all(|b| b.is_ascii_digit()) => (time, format!("0.{part}").parse().ok()?),
        Some(_) => return None,
        None => (time, 0.0),
    };
    plausible(since_1970([year, month, day], numbers(time, ':')?)? + part - offset)
}

/// Three numbers of two digits.
fn pairs(text: &str) -> Option<[i32; 3]> {
    let all: i32 = text.parse().ok().filter(|_| text.bytes().all(|b| b.is_ascii_digit()))?;
    Some([all / 10_000, all / 100 % 100, all % 100])
}

fn since_1970([year, month, day]: [i32; 3], [hour, minute, second]: [i32; 3]) -> Option<f64> {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        2 => 28 + i32::from(leap),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    };
    let ranges =
        [(year, 1970..=9999), (month, 1..=12), (day, 1..=days), (hour, 0..=23), (minute, 0..=59), (second, 0..=60)];
    if ranges.iter().any(|(n, range)| !range.contains(n)) {
        return None;
    }
    // days before the first of March 1970, counted in years that begin in March
    let (y, m) = if month < 3 { (year - 1, month + 9) } else { (year, month - 3) };
    let days = 365 * y + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + day - 719_469;
    Some(f64::from(days * 24 + hour) * 3600.0 + f64::from(minute * 60 + second))
}

/// Up to the year 9999.
pub(super) fn plausible(seconds: f64) -> Option<f64> {
    (0.0..=253_402_300_800.0).contains(&seconds).then_some(seconds)
}

fn numbers(text: &str, between: char) -> Option<[i32; 3]> {
    let mut parts = text.split(between).map(|n| n.parse::<i32>().ok().filter(|_| n.len() <= 4));
    let out = [parts.next()??, parts.next()??, parts.next()??];
    parts.next().is_none().then_some(out)
}

/// `+02:00` or `-0700`, in seconds.
fn offset(text: &str) -> Option<f64> {
    let sign = if text.starts_with('-') { -1.0 } else { 1.0 };
    let digits: String = text.get(1..)?.chars().filter(|c| *c != ':').collect();
    let n: u32 = digits.parse().ok().filter(|_| digits.len() == 4)?;
    Some(sign * f64::from(n / 100 * 3600 + n % 100 * 60))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_seconds() {
        for (text, expected) in [
            ("1970-01-01T00:00:00Z", 0.0),
            ("231114:221320", 1_700_000_000.0),
            ("2000-02-29T12:00:00Z", 951_825_600.0),
            ("2023-11-14T22:13:20Z", 1.7e9),
            ("2023-11-15T00:13:20+02:00", 1.7e9),
            ("2023-11-14T15:13:20.250-0700", 1_700_000_000.25),
            ("2023-11-14 22:13:20,5", 1_700_000_000.5),
            ("1700000000", 1.7e9),
        ] {
            assert_eq!(seconds(text), Some(expected), "{text}");
        }
        for wrong in [
            "",
            "T",
            "2023-13-01T00:00:00Z",
            "2024-02-30T00:00:00Z",
            "2100-02-29T00:00:00Z",
            "230431:000000",
            "2023-1T1",
            "nan",
            "-5",
            "2023-11-14T22:13:20.xZ",
            "2023-11-14T22:13:20+2",
        ] {
            assert_eq!(seconds(wrong), None, "{wrong}");
        }
    }
}
