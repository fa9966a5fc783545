//! A smooth function in pieces of Chebyshev polynomials, made when it is first needed.

use std::f64::consts::PI;

/// Coefficients of one piece.
const TERMS: usize = 22;

/// A function between two numbers.
pub(super) struct Table {
    low: f64,
    /// Pieces per unit.
    density: f64,
    pieces: Vec<[f64; TERMS]>,
}

impl Table {
    /// Follows `f` from `low` on with so many pieces of this width.
    pub(super) fn new(low: f64, width: f64, pieces: usize, f: impl Fn(f64) -> f64) -> Self {
        let piece = |i: usize| {
            let middle = low + (i as f64 + 0.5) * width;
            let values: Vec<f64> =
                (0..TERMS).map(|k| f(middle + 0.5 * width * (PI * (k as f64 + 0.5) / TERMS as f64).cos())).collect();
            std::array::from_fn(|j| {
                let waves = values.iter().enumerate();
                let sum: f64 = waves.map(|(k, v)| v * (PI * j as f64 * (k as f64 + 0.5) / TERMS as f64).cos()).sum();
                sum * if j == 0 { 1.0 } else { 2.0 } / TERMS as f64
            })
        };
        Self { low, density: 1.0 / width, pieces: (0..pieces).map(piece).collect() }
    }

    /// The value at `x`; `None` outside.
    pub(super) fn at(&self, x: f64) -> Option<f64> {
        let place = (x - self.low) * self.density;
        // negative numbers and NaN have no piece
        let piece = self.pieces.get(if place >= 0.0 { place as usize } else { usize::MAX })?;
        let t = 2.0 * place.fract() - 1.0;
        let (mut one, mut two) = (0.0, 0.0);
        for c in piece[1..].iter().rev() {
            (one, two) = (2.0 * t * one - two + c, one);
        }
        Some(t * one - two + piece[0])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn follows_a_function() {
        let table = Table::new(-1.0, 0.5, 6, f64::exp);
        for i in 0..300 {
            let x = -1.0 + f64::from(i) * 0.01;
            assert!((table.at(x).unwrap() / x.exp() - 1.0).abs() < 1e-14, "{x}");
        }
        assert!(table.at(-1.1).is_none() && table.at(2.0).is_none() && table.at(f64::NAN).is_none());
    }
}
