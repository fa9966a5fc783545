//! Limits by what the values are, when none were asked for.

use crate::hist::Axis;
use sapwood_span::Result;

/// Bins of an automatic histogram of real numbers, as in ROOT.
const BINS: usize = 100;
/// Tolerance of rounding: 2.6 / 0.05 is 52.000000000000004.
const HAIR: f64 = 1e-9;

/// The limits ROOT gives a histogram that was filled without binning, measured with 6.40.
///
/// Real numbers: a tenth of the range is added on either side (not across zero), the bin width is
/// rounded up to 1, 2 or 5 times a power of ten, the limits are rounded inwards to it, and at least
/// a hundredth of the range stays on either side; 100 bins. Whole numbers: a twentieth of the range instead of a
/// tenth, then bins a whole number wide from whole number to whole number, about a hundred of them or fewer, with a further
/// one on a side where rounding took some of the room. Values that are all the same (to 13 digits) get a range of one
/// on either side. Of 10 000 random ranges all had ROOT's limits, but 12 of negative whole numbers close to zero.
///
/// # Errors
/// `Invalid` when the limits are not finite.
pub fn automatic_axis(min: f64, max: f64, integer: bool) -> Result<Axis> {
    limits(min, max, integer, None)
}

/// [`automatic_axis`] with exactly this many bins: ROOT's limits for `x>>h(10)`. Whole numbers get bins a whole number
/// wide; ROOT's own may be twice as many as it was asked for.
///
/// # Errors
/// `Invalid` when the limits are not finite, or there is no bin.
pub fn automatic_axis_of(bins: usize, min: f64, max: f64, integer: bool) -> Result<Axis> {
    limits(min, max, integer, Some(bins))
}

fn limits(min: f64, max: f64, integer: bool, asked: Option<usize>) -> Result<Axis> {
    let magnitude = min.abs().max(max.abs());
    let (min, max) = if max - min <= (magnitude * 1e-13).max(1e-300) {
        let room = 1f64.max(magnitude * 1e-10).ceil();
        (min - room, max + room)
    } else {
        (min, max)
    };
    // Beyond 2^53 doubles are further than 1 apart.
    if integer && magnitude < 1e15 {
        return asked.map_or_else(|| integer_axis(min, max), |bins| integer_axis_of(bins, min, max));
    }
    let bins = asked.unwrap_or(BINS);
    let rounded = Rounded::new(min, max, 0.1, bins);
    Axis::new(bins, rounded.low.0, rounded.high.0)
}

/// Limits with room on either side, rounded to a step that suits this many bins.
struct Rounded {
    /// Limits before they were rounded.
    wanted: (f64, f64),
    /// The lower limit, and whether the least room (a hundredth) decided it.
    low: (f64, bool),
    high: (f64, bool),
}

impl Rounded {
    fn new(min: f64, max: f64, room: f64, bins: usize) -> Self {
        let range = max - min;
        let (mut low, mut high) = (min - room * range, max + room * range);
        if low < 0.0 && min >= 0.0 {
            low = 0.0;
        }
        if high > 0.0 && max <= 0.0 {
            high = 0.0;
        }
        let wanted = (low, high);
        let mut step = round_up((high - low) / bins as f64);
        if step > 0.0 && step.is_finite() {
            // ROOT takes the finer step where this one, rounded outwards, makes exactly half the bins.
            let is_five = (step / 10f64.powi(step.log10().floor() as i32)).round() == 5.0;
            let outwards = (high / step + HAIR).floor() + 1.0
                - if low < 0.0 { (low / step - HAIR).ceil() - 1.0 } else { (low / step + HAIR).floor() };
            if is_five && 2.0 * outwards == bins as f64 {
                step *= 0.4;
            }
            low = (low / step - HAIR).ceil() * step;
            high = (high / step + HAIR).floor() * step;
        }
        let (least, most) = (min - 0.01 * range, max + 0.01 * range);
        Self { wanted, low: (low.min(least), least < low), high: (high.max(most), most > high) }
    }
}

fn integer_axis(min: f64, max: f64) -> Result<Axis> {
    let Rounded { wanted, low: (low, is_least), high: (high, is_most) } = Rounded::new(min, max, 0.05, BINS);
    let (mut low, mut high) = (low.floor(), if is_most { high.ceil() } else { high.floor() });
    let below_zero = max <= 0.0 && wanted.1 == 0.0;
    if below_zero {
        high = high.max(1.0);
    }
    let width = ((high - low) / BINS as f64).floor().max(1.0);
    let mut bins = ((high - low) / width).floor();
    if (is_most || below_zero) && !is_least {
        // seen from above
        low = high - bins * width;
        if low > wanted.0 {
            low -= width;
            bins += 1.0;
        }
        return Axis::new(bins as usize, low, high);
    }
    if !is_least && low > wanted.0 {
        low -= width;
    }
    bins = ((high - low) / width).floor();
    if low + bins * width < wanted.1 {
        bins += 1.0;
    }
    Axis::new(bins as usize, low, low + bins * width)
}

/// This many bins a whole number wide, with room on either side.
fn integer_axis_of(bins: usize, min: f64, max: f64) -> Result<Axis> {
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
        for (min, max) in [(1e300, 1e301), (-1e-300, 1e-300), (1e17, 1e17), (-1e18, 1e18), (0.0, 5e-324)] {
            for integer in [false, true] {
                let axis = automatic_axis(min, max, integer);
                assert!(axis.is_ok_and(|a| a.low() <= min && a.high() > max), "{min} {max} {integer}");
            }
        }
    }
}
