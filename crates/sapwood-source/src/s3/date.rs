//! Times as signatures and credentials write them.

use std::time::{Duration, SystemTime};

/// `20130524T000000Z`.
pub(super) fn compact(time: SystemTime) -> String {
    // "Sun, 06 Nov 1994 08:49:37 GMT"
    let text = httpdate::fmt_http_date(time);
    let mut words = text.split([' ', ':']).skip(1);
    let mut next = || words.next().unwrap_or_default();
    let (day, month, year, hour, minute, second) = (next(), next(), next(), next(), next(), next());
    let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let month = months.iter().position(|m| *m == month).unwrap_or_default() + 1;
    format!("{year}{month:02}{day}T{hour}{minute}{second}Z")
}

/// Parses `2013-05-24T00:00:00Z`, perhaps with a fraction of a second, or with `+00:00` for the `Z`.
pub(super) fn parse(text: &str) -> Option<SystemTime> {
    let (date, time) = text.trim().split_once('T')?;
    let time = time.strip_suffix('Z').or_else(|| time.strip_suffix("+00:00"))?;
    let numbers = |text: &str, by: char| -> Option<[u64; 3]> {
        let parts = text.split(by).map(|n| n.split('.').next().unwrap_or_default().parse().ok());
        parts.collect::<Option<Vec<u64>>>()?.try_into().ok()
    };
    let ([year, month, day], [hour, minute, second]) = (numbers(date, '-')?, numbers(time, ':')?);
    let fits = (1970..=9999).contains(&year) && (1..=12).contains(&month) && (1..=31).contains(&day);
    if !fits || hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    // days since 1970, in years that begin in March (H. Hinnant, "chrono-compatible low-level date algorithms")
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days = year * 365 + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 1 - 719_468;
    Some(SystemTime::UNIX_EPOCH + Duration::from_secs(((days * 24 + hour) * 60 + minute) * 60 + second))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways() {
        for (text, seconds) in [
            ("2013-05-24T00:00:00Z", 1_369_353_600),
            ("1970-01-01T00:00:00.000Z", 0),
            ("2024-02-29T23:59:59+00:00", 1_709_251_199),
        ] {
            let time = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
            assert_eq!(parse(text), Some(time), "{text}");
            let digits: String = text[..19].chars().filter(|c| !"-:".contains(*c)).collect();
            assert_eq!(compact(time), format!("{digits}Z"));
        }
        for bad in [
            "",
            "2013-05-24",
            "2013-13-24T00:00:00Z",
            "2013-05-24T25:00:00Z",
            "2013-05T00:00:00Z",
            "1969-05-24T00:00:00Z",
            "2013-05-24T00:00:00+01:00",
        ] {
            assert_eq!(parse(bad), None, "{bad}");
        }
    }
}
