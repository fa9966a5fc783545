//! What ROOT keeps beside the bins: sums over the rows inside all axes (TH1::GetStats).

/// Sums of w, w², w·x, w·x², w·y, w·y², w·x·y, w·z, w·z², w·x·z, w·y·z, in ROOT's order.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Moments(pub [f64; 11]);

/// Rows that are added at once.
const LANES: usize = 4;

fn all<T: Copy, const C: usize>(items: [Option<T>; C]) -> Option<[T; C]> {
    let first = items.first().copied().flatten()?;
    let mut out = [first; C];
    for (out, item) in out.iter_mut().zip(items) {
        *out = item?;
    }
    Some(out)
}

impl Moments {
    /// Adds rows by their values of x, y and z (of as many as there are); `inside` has all bits set for those that count.
    pub(crate) fn add(&mut self, columns: &[&[f64]], weights: &[f64], inside: &[u64]) {
        match columns {
            [x, y] => self.add_rows([weights, x, y], inside, |[w, x, y]| {
                let (wx, wy) = (w * x, w * y);
                [w, w * w, wx, wx * x, wy, wy * y, wx * y]
            }),
            [x, y, z] => self.add_rows([weights, x, y, z], inside, |[w, x, y, z]| {
                let (wx, wy, wz) = (w * x, w * y, w * z);
                [w, w * w, wx, wx * x, wy, wy * y, wx * y, wz, wz * z, wx * z, wy * z]
            }),
            _ => {}
        }
    }

    /// Adds what `of` makes of each row, several rows at once.
    fn add_rows<const C: usize, const S: usize>(
        &mut self,
        columns: [&[f64]; C],
        inside: &[u64],
        of: impl Fn([f64; C]) -> [f64; S],
    ) {
        let mut sums = [[0.0; S]; LANES];
        let mut parts = columns.map(|c| c.as_chunks::<LANES>().0.iter());
        let rest = columns.map(|c| c.as_chunks::<LANES>().1);
        let (masks, rest_of_masks) = inside.as_chunks::<LANES>();
        for masks in masks {
            let Some(rows) = all(parts.each_mut().map(Iterator::next)) else { break };
            for lane in 0..LANES {
                let row = of(rows.map(|r: &[f64; LANES]| f64::from_bits(r[lane].to_bits() & masks[lane])));
                sums[lane].iter_mut().zip(row).for_each(|(sum, more)| *sum += more);
            }
        }
        for (i, mask) in rest_of_masks.iter().enumerate() {
            let row = of(rest.map(|r| f64::from_bits(r.get(i).copied().unwrap_or(0.0).to_bits() & mask)));
            sums[0].iter_mut().zip(row).for_each(|(sum, more)| *sum += more);
        }
        for lane in sums {
            self.0.iter_mut().zip(lane).for_each(|(sum, more)| *sum += more);
        }
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        self.0.iter_mut().zip(other.0).for_each(|(sum, more)| *sum += more);
    }

    /// Of x, y or z, other sums of w·v and w·v².
    pub(crate) fn set_axis(&mut self, axis: usize, sums: [f64; 2]) {
        if let Some(first) = [2, 4, 7].get(axis) {
            self.0[*first..*first + 2].copy_from_slice(&sums);
        }
    }

    /// Of two of them, another sum of w·u·v.
    pub(crate) fn set_product(&mut self, a: usize, b: usize, sum: f64) {
        self.0[match (a, b) {
            (0, 1) => 6,
            (0, _) => 9,
            _ => 10,
        }] = sum;
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
