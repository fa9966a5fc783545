//! Limits by what the values are, when none were asked for: those that ROOT's THLimitsFinder chooses.

use crate::hist::Axis;
use crate::number::to_i64;
use sapwood_span::Result;

/// Bins of an automatic histogram of real numbers, as in ROOT.
const BINS: usize = 100;
/// The widest bins that ROOT makes.
const WIDEST: f64 = 1e39;
/// Powers of ten beyond which ROOT no longer looks for a round width.
const LARGEST_POWER: f64 = 200.0;
/// Numbers of bins beyond which an edge is no longer rounded to a multiple of the width.
const MOST_STEPS: f64 = 1e9;
/// Times that a finer width is tried; each try takes a hundredth off, and a few suffice.
const MOST_TRIES: usize = 1000;

/// The axis that ROOT 6.40 gives a histogram that was filled without binning, for values from `min` to `max`.
///
/// Real numbers: a tenth of the range is added on either side (not across zero), the width of the hundred bins is
/// rounded up to 1, 2 or 5 times a power of ten, the limits are rounded inwards to multiples of it, and at least a
/// hundredth of the range stays on either side. Whole numbers (`integer`): five bins instead of a tenth of the range,
/// then limits and widths that are whole numbers, and as many bins as these make. Where all values are the same, the
/// range is one on either side.
///
/// Where ROOT gives up, so does this: an infinite value, or equal ones so large that adding one does not change them,
/// make an axis from -1 to 1.
///
/// # Errors
/// `Invalid` when the limits are too far apart for an axis.
pub fn automatic_axis(min: f64, max: f64, integer: bool) -> Result<Axis> {
    automatic_axis_near(BINS, min, max, integer)
}

/// [`automatic_axis`] for `x>>h(10)`: that many bins, but for whole numbers, for which ROOT may make more or fewer.
///
/// # Errors
/// As [`automatic_axis`], and when there is no bin.
pub fn automatic_axis_near(bins: usize, min: f64, max: f64, integer: bool) -> Result<Axis> {
    // the number is checked before it is used
    Axis::new(bins, 0.0, 1.0)?;
    let (min, max) = apart(min, max);
    let room = if integer { 5.0 * (max - min) / bins as f64 } else { 0.1 * (max - min) };
    let (mut low, mut high) = (min - room, max + room);
    if low < 0.0 && min >= 0.0 {
        low = 0.0;
    }
    if high > 0.0 && max <= 0.0 {
        high = 0.0;
    }
    let (from, to) = match rounded(low, high, bins) {
        Some((from, to)) => {
            let least = 0.01 * (max - min);
            (from.min(min - least), to.max(max + least))
        }
        None => (-1.0, 1.0),
    };
    if integer { whole(bins, (from, to), (low, high)) } else { Axis::new(bins, from, to) }
}

/// [`automatic_axis`] with exactly this many bins, also for whole numbers: these get bins a whole number wide.
///
/// # Errors
/// As [`automatic_axis`], and when there is no bin.
pub fn automatic_axis_of(bins: usize, min: f64, max: f64, integer: bool) -> Result<Axis> {
    // beyond 2^53 doubles are further than 1 apart
    if integer && min.abs().max(max.abs()) < 1e15 {
        let (min, max) = apart(min, max);
        return whole_of(bins, min, max);
    }
    automatic_axis_near(bins, min, max, false)
}

/// Limits that are not the same.
fn apart(min: f64, max: f64) -> (f64, f64) {
    if min >= max { (min - 1.0, max + 1.0) } else { (min, max) }
}

/// Limits inside `low` to `high` that are multiples of a round width; `None` where there is no such width.
fn rounded(low: f64, high: f64, bins: usize) -> Option<(f64, f64)> {
    let (low, high) = if high < low { (high, low) } else { (low, high) };
    let high = if low == high { low + 1.0 } else { high };
    let mut found = None;
    for parts in bins.max(2)..bins.max(2) + MOST_TRIES {
        let width = (high - low) / parts as f64;
        if !(width > 0.0 && width < f64::from(f32::MAX)) {
            break;
        }
        let Some(width) = round_width(width) else {
            // so narrow or so wide that ROOT takes an axis from 0 to 1
            return Some((0.0, 1.0));
        };
        if (low / width).abs() > MOST_STEPS {
            return Some((low, high));
        }
        let first = step(low / width);
        let last = step(high / width + 1.000_01);
        let count = last - first;
        // one bin that was asked for and does not hold them all is made twice as wide
        let width_of_all = if bins == 1 && count != 1.0 { 2.0 * width } else { width };
        found = Some((width * first, width * last, width_of_all));
        if bins <= 5 || 2.0 * count != bins as f64 {
            break;
        }
    }
    let (from, to, width) = found?;
    if width > WIDEST {
        return None;
    }
    let hair = 0.0001 * width;
    let inner_from = if low - from >= hair { from + width } else { from };
    let inner_to = if to - high >= hair { to - width } else { to };
    Some(if inner_from < inner_to { (inner_from, inner_to) } else { (from, to) })
}

/// Towards zero, and one less below it.
fn step(x: f64) -> f64 {
    if x < 0.0 { x.trunc() - 1.0 } else { x.trunc() }
}

/// The width rounded up to 1, 2 or 5 times a power of ten.
fn round_width(width: f64) -> Option<f64> {
    let power = width.log10().trunc();
    if power.abs() > LARGEST_POWER {
        return None;
    }
    let power = if width <= 1.0 { power - 1.0 } else { power };
    let digits = width * 10f64.powf(-power) - 1e-10;
    let (round, power) = match digits {
        d if d <= 1.0 => (1.0, power),
        d if d <= 2.0 => (2.0, power),
        d if d <= 5.0 => (5.0, power),
        _ => (1.0, power + 1.0),
    };
    Some(round * 10f64.powf(power))
}

/// Bins a whole number wide between whole numbers; `low` and `high` are the limits before they were rounded.
fn whole(bins: usize, (from, to): (f64, f64), (low, high): (f64, f64)) -> Result<Axis> {
    let (inner_from, inner_to) = (to_i64(from) as f64, to_i64(to) as f64);
    let mut from = if from < 0.0 && from != inner_from { inner_from - 1.0 } else { inner_from };
    let mut to = match to {
        to if to > 0.0 && to != inner_to => inner_to + 1.0,
        0.0 => 1.0,
        _ => inner_to,
    };
    if from >= to {
        to = from + 1.0;
    }
    let width = ((to - from) / bins as f64).trunc().max(1.0);
    let mut bins = ((to - from) / width).trunc();
    if from + bins * width < high {
        bins += 1.0;
        to = from + bins * width;
    }
    if from > low {
        bins += 1.0;
        from = to - bins * width;
    }
    Axis::new(bins as usize, from, to)
}

/// This many bins a whole number wide, with room on either side.
fn whole_of(bins: usize, min: f64, max: f64) -> Result<Axis> {
    let range = max - min;
    let margin = (0.05 * range).floor().max(1.0);
    let least = (0.01 * range).ceil().max(1.0);
    let low = if min >= 0.0 && min < margin { (min - least).max(-least) } else { min - margin };
    let high = if max <= 0.0 && -max < margin { max + least } else { max + margin };
    let width = ((high - low) / bins as f64).ceil().max(1.0);
    let spare = (bins as f64 * width - (high - low)) / 2.0;
    let low = if min >= 0.0 && low >= -1.0 { low } else { (low - spare).floor() };
    Axis::new(bins, low, low + bins as f64 * width)
}

/// The smallest of 1, 2, 5 times a power of ten that is not below `x`.
pub(crate) fn round_up(x: f64) -> f64 {
    let power = 10f64.powi(x.log10().floor() as i32);
    let digit = x / power;
    let rounded = [1.0, 2.0, 5.0].into_iter().find(|d| digit <= d * (1.0 + 1e-9)).unwrap_or(10.0);
    rounded * power
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Minimum, maximum, and the bins and limits that ROOT 6.40 chose.
    const REAL: [(f64, f64, f64, f64); 19] = [
        (0.0, 1.0, -0.01, 1.1),
        (0.0, 10.0, -0.1, 11.0),
        (0.0, 22_360.227_272_7, -223.602_272_727, 24_400.0),
        (0.5, 0.5, -0.7, 1.7),
        (0.0, 0.0, -1.2, 1.2),
        (1.0, 100.0, 0.0, 108.0),
        (0.0, 99.0, -0.99, 108.0),
        (0.0, 127.0, -1.27, 138.0),
        (-5.0, 5.0, -6.0, 6.0),
        (-1.0, 0.0, -1.1, 0.01),
        (3.0, 7.0, 2.6, 7.4),
        (1e-5, 2e-5, 9e-6, 2.1e-5),
        (1e6, 1e6 + 1.0, 999_999.9, 1_000_001.1),
        (0.1, 123.4, -1.133, 134.0),
        (-100.0, -90.0, -101.0, -89.0),
        (437.647_848_131_606, 537.396_350_821_801, 428.0, 546.0),
        (99.262_334_054_011, 129.011_649_984_34, 96.5, 131.5),
        (-0.069_876_715_195_3, 1_192.042_371_215_65, -100.0, 1300.0),
        (9.428_573_162_546, 28.190_172_655_665, 8.0, 30.0),
    ];
    const WHOLE: [(f64, f64, usize, f64, f64); 23] = [
        (0.0, 1.0, 3, -1.0, 2.0),
        (0.0, 10.0, 12, -1.0, 11.0),
        (5.0, 5.0, 4, 3.0, 7.0),
        (3.0, 7.0, 6, 2.0, 8.0),
        (-5.0, 5.0, 12, -6.0, 6.0),
        (0.0, 99.0, 104, -1.0, 103.0),
        (0.0, 20.0, 22, -1.0, 21.0),
        (0.0, 189.0, 101, -2.0, 200.0),
        (0.0, 255.0, 135, -3.0, 267.0),
        (-128.0, 127.0, 139, -142.0, 136.0),
        (0.0, 23_425.0, 101, -235.0, 24_611.0),
        (0.0, 65_535.0, 101, -656.0, 68_630.0),
        (-512.0, 65_535.0, 102, -3710.0, 68_710.0),
        (29.0, 250.0, 123, 16.0, 262.0),
        (24.0, 547.0, 115, 0.0, 575.0),
        (972.0, 1032.0, 66, 969.0, 1035.0),
        (-390.0, -230.0, 176, -398.0, -222.0),
        (-1751.0, 4620.0, 102, -2069.0, 4969.0),
        (-110_199.0, -2446.0, 101, -115_139.0, 1.0),
        (-1_993_583.0, -3251.0, 101, -2_070_613.0, 16_653.0),
        (0.0, 1000.0, 106, -10.0, 1050.0),
        (-23.0, -17.0, 8, -24.0, -16.0),
        (-3.0, 0.0, 5, -4.0, 1.0),
    ];

    #[test]
    fn limits_of_real_numbers_are_those_of_root() {
        for (min, max, low, high) in REAL {
            let axis = automatic_axis(min, max, false).unwrap();
            let close = |a: f64, b: f64| (a - b).abs() < 1e-12 * (1.0 + a.abs());
            assert!(axis.bins() == 100 && close(axis.low(), low) && close(axis.high(), high), "{min} {max} {axis:?}");
        }
    }

    #[test]
    fn as_many_bins_as_were_asked_for() {
        // ROOT 6.40's limits for x>>h(bins) of real numbers
        for (bins, min, max, low, high) in [
            (10, -9.999902065507035, 9.999118601072672, -10.199892272172832, 10.199108807738469),
            (10, 0.10000000149011612, 24.5, -0.1439999984949827, 25.0),
            (12, 0.0, 199.0, -1.99, 200.99),
        ] {
            let axis = automatic_axis_of(bins, min, max, false).unwrap();
            let close = |a: f64, b: f64| (a - b).abs() < 1e-12 * (1.0 + a.abs());
            assert!(axis.bins() == bins && close(axis.low(), low) && close(axis.high(), high), "{axis:?}");
        }
        for (bins, min, max) in [(10, 0.0, 3.0), (7, -100.0, 99.0), (1, 5.0, 5.0), (50, -100.0, 99.0), (3, 0.0, 1e14)] {
            let axis = automatic_axis_of(bins, min, max, true).unwrap();
            assert!(axis.bins() == bins && axis.low() <= min && axis.high() > max, "{axis:?}");
            assert_eq!((axis.low().fract(), (axis.high() - axis.low()) % bins as f64), (0.0, 0.0), "{axis:?}");
        }
        assert!(automatic_axis_of(0, 0.0, 1.0, true).is_err());
        assert!(automatic_axis_of(0, 0.0, 1.0, false).is_err());
    }

    #[test]
    fn limits_of_whole_numbers_are_those_of_root() {
        for (min, max, bins, low, high) in WHOLE {
            assert_eq!(automatic_axis(min, max, true).unwrap(), Axis::new(bins, low, high).unwrap(), "{min} {max}");
        }
    }

    #[test]
    fn any_finite_values_get_limits_around_them() {
        for (min, max) in [(-1e-300, 1e-300), (1e15, 1e16), (-1e18, 1e18), (0.0, 5e-324), (1e30, 2e30)] {
            for integer in [false, true] {
                let axis = automatic_axis(min, max, integer);
                let holds = integer && max > 1e19 || axis.as_ref().is_ok_and(|a| a.low() <= min && a.high() > max);
                assert!(holds, "{min} {max} {integer} {axis:?}");
            }
        }
        // ROOT gives up here
        for (min, max) in [(1e17, 1e17), (1e300, 1e301), (f64::MIN, f64::MAX), (0.0, f64::INFINITY)] {
            let axis = automatic_axis(min, max, false).unwrap();
            assert_eq!((axis.low(), axis.high()), (-1.0, 1.0), "{min} {max}");
        }
    }
}
