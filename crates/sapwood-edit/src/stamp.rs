//! The creation time and the unique id of a file.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::time::{SystemTime, UNIX_EPOCH};

/// ROOT's packed date and time (`TDatime`), here in UTC: years since 1995 in 6 bits, then month 4,
/// day 5, hour 5, minute 6, second 6.
pub fn datime(time: SystemTime) -> u32 {
    let seconds = time.duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs());
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    let (year, month, day) = civil(days);
    let year = year.clamp(1995, 1995 + 63) - 1995;
    let packed = year << 26 | month << 22 | day << 17 | (second / 3600) << 12 | (second / 60 % 60) << 6 | (second % 60);
    packed as u32
}

/// Year, month and day of the proleptic Gregorian calendar, from days since 1970-01-01.
///
/// Counts from 0000-03-01, so that the leap day is the last of its year.
fn civil(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    (400 * era + year_of_era + u64::from(month <= 2), month, day)
}

/// Sixteen unpredictable bytes, marked as a random UUID (RFC 9562, version 4).
pub fn uuid() -> [u8; 16] {
    let mut out = [0; 16];
    for half in out.chunks_exact_mut(8) {
        // Each RandomState is keyed by the operating system's randomness.
        let mut hasher = RandomState::new().build_hasher();
        hasher.write_u32(std::process::id());
        half.copy_from_slice(&hasher.finish().to_be_bytes());
    }
    out[6] = out[6] & 0x0f | 0x40;
    out[8] = out[8] & 0x3f | 0x80;
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn dates() {
        let unpack = |seconds| {
            let d = datime(UNIX_EPOCH + Duration::from_secs(seconds));
            (1995 + (d >> 26), d >> 22 & 15, d >> 17 & 31, d >> 12 & 31, d >> 6 & 63, d & 63)
        };
        assert_eq!(unpack(951_782_400), (2000, 2, 29, 0, 0, 0));
        assert_eq!(unpack(1_704_067_199), (2023, 12, 31, 23, 59, 59));
        assert_eq!(unpack(1_709_251_199), (2024, 2, 29, 23, 59, 59));
        assert_eq!(unpack(0).0, 1995);
    }

    #[test]
    fn ids_differ() {
        assert_ne!(uuid(), uuid());
        assert_eq!(uuid()[6] >> 4, 4);
    }
}
