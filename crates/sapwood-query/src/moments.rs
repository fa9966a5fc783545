//! What ROOT keeps beside the bins: sums over the rows inside all axes (TH1::GetStats).

/// Sums of w, w², w·x, w·x², w·y, w·y², w·x·y, w·z, w·z², w·x·z, w·y·z, in ROOT's order.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Moments(pub [f64; 11]);

impl Moments {
    /// Adds rows by their values of x, y and z (of as many as there are), where they are inside.
    pub(crate) fn add(&mut self, columns: &[&[f64]], weights: &[f64], inside: &[bool]) {
        let mut sums = [0.0; 11];
        match columns {
            [x, y] => {
                for (((x, y), w), inside) in x.iter().zip(*y).zip(weights).zip(inside) {
                    let (w, x, y) = if *inside { (*w, *x, *y) } else { (0.0, 0.0, 0.0) };
                    let (wx, wy) = (w * x, w * y);
                    let row = [w, w * w, wx, wx * x, wy, wy * y, wx * y];
                    sums.iter_mut().zip(row).for_each(|(sum, more)| *sum += more);
                }
            }
            [x, y, z] => {
                for ((((x, y), z), w), inside) in x.iter().zip(*y).zip(*z).zip(weights).zip(inside) {
                    let (w, x, y, z) = if *inside { (*w, *x, *y, *z) } else { (0.0, 0.0, 0.0, 0.0) };
                    let (wx, wy, wz) = (w * x, w * y, w * z);
                    let row = [w, w * w, wx, wx * x, wy, wy * y, wx * y, wz, wz * z, wx * z, wy * z];
                    sums.iter_mut().zip(row).for_each(|(sum, more)| *sum += more);
                }
            }
            _ => {}
        }
        self.0.iter_mut().zip(sums).for_each(|(sum, more)| *sum += more);
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        self.0.iter_mut().zip(other.0).for_each(|(sum, more)| *sum += more);
    }

    pub(crate) fn scale(&mut self, by: f64) {
        for (i, sum) in self.0.iter_mut().enumerate() {
            *sum *= if i == 1 { by * by } else { by };
        }
    }

    /// Mean and standard deviation along x, y or z; 0 of nothing.
    pub(crate) fn mean_and_deviation(&self, dimension: usize) -> (f64, f64) {
        let first = [2, 4, 7].get(dimension).copied().unwrap_or(2);
        let (w, wx, wxx) = (self.0[0], self.0[first], self.0[first + 1]);
        if w == 0.0 {
            return (0.0, 0.0);
        }
        let mean = wx / w;
        (mean, (wxx / w - mean * mean).max(0.0).sqrt())
    }
}
