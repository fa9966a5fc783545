//! Limits that ROOT chooses for an axis from the values on it (`THLimitsFinder`).

/// The limits of an axis with this many bins for values from `least` to `most`: round numbers somewhat outside of them.
pub(super) fn good_limits(bins: usize, least: f64, most: f64) -> (f64, f64) {
    let (least, most) = if least < most { (least, most) } else { (least - 1.0, most + 1.0) };
    let margin = 0.1 * (most - least);
    let (mut low, mut high) = (least - margin, most + margin);
    // values of one sign leave no room for the other
    if low < 0.0 && least >= 0.0 {
        low = 0.0;
    }
    if high > 0.0 && most <= 0.0 {
        high = 0.0;
    }
    let (low, high, width) = round_limits(low, high, bins);
    // written so that NaN takes the first branch
    if !(width > 0.0 && width <= 1e39) {
        return (-1.0, 1.0);
    }
    let little = 0.01 * (most - least);
    (low.min(least - little), high.max(most + little))
}

/// Round limits within two others, and the width of their round bins.
fn round_limits(from: f64, to: f64, bins: usize) -> (f64, f64, f64) {
    let mut parts = bins.max(2);
    loop {
        let rough = (to - from) / parts as f64;
        if !(rough > 0.0 && rough < f64::from(f32::MAX)) {
            return (0.0, 0.0, 0.0);
        }
        let mut power = rough.log10().trunc();
        if power.abs() > 200.0 {
            return (0.0, 1.0, 0.01);
        }
        if rough <= 1.0 {
            power -= 1.0;
        }
        let digits = rough * 10f64.powf(-power) - 1e-10;
        let digits = match digits {
            d if d <= 1.0 => 1.0,
            d if d <= 2.0 => 2.0,
            d if d <= 5.0 => 5.0,
            _ => {
                power += 1.0;
                1.0
            }
        };
        let width = digits * 10f64.powf(power);
        let below = from / width;
        if below.abs() > 1e9 {
            return (from, to, width);
        }
        let floor = |x: f64| if x < 0.0 { x.trunc() - 1.0 } else { x.trunc() };
        let (first, last) = (floor(below), floor(to / width + 1.00001));
        let n = last - first;
        if bins > 5 && 2.0 * n == bins as f64 {
            parts += 1;
            continue;
        }
        let (low, high) = (width * first, width * last);
        let width = if bins == 1 && n != 1.0 { 2.0 * width } else { width };
        // an excess bin at an end is removed
        let nearly = width * 1e-4;
        let inner = (
            if from - low >= nearly { low + width } else { low },
            if high - to >= nearly { high - width } else { high },
        );
        return if inner.0 < inner.1 { (inner.0, inner.1, width) } else { (low, high, width) };
    }
}

#[cfg(test)]
mod tests {
    use super::good_limits;

    #[test]
    fn limits_lie_around_all_values() {
        for (bins, least, most) in [(10, 0.5, 4.5), (1, 3.0, 3.0), (100, -1e-9, 1e9), (7, -8.0, -3.0)] {
            let (low, high) = good_limits(bins, least, most);
            assert!(low < least && most < high, "{bins} bins for {least} to {most}: {low} to {high}");
        }
        assert_eq!(good_limits(10, f64::NAN, 1.0), (-1.0, 1.0));
    }
}
