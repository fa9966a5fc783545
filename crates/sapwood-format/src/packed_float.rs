use crate::cursor::Cursor;
use sapwood_span::Result;

/// How a Double32_t or Float16_t is stored in the file: the comment of the member decides.
///
/// Source of the rules: ROOT's documentation of TBufferFile::WriteDouble32 and of ranges in member comments.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PackedFloat {
    /// A 4-byte float (Double32_t without a range).
    Float,
    /// An unsigned 32-bit integer: value = integer / factor + low.
    Range {
        /// Smallest value.
        low: f64,
        /// Steps per unit.
        factor: f64,
    },
    /// One byte of exponent and two of mantissa and sign, of which `bits` are mantissa.
    Truncated {
        /// Bits of mantissa, 2 to 14; any number where a comment's limits are reversed, as in ROOT.
        bits: i32,
    },
}

impl PackedFloat {
    /// The packing that the comment of a member (or the title of a leaf) requests; `float16` for Float16_t, otherwise
    /// Double32_t.
    pub fn from_comment(comment: &str, float16: bool) -> Self {
        let default = if float16 { PackedFloat::Truncated { bits: 12 } } else { PackedFloat::Float };
        let Some((low, high, bits)) = range(comment) else { return default };
        if low < high {
            let steps = if bits < 32 { f64::from(1u32 << bits) } else { f64::from(u32::MAX) };
            return PackedFloat::Range { low, factor: steps / (high - low) };
        }
        // no range, but a number of bits: shortened mantissa; ROOT keeps that number in place of the lower limit, and a
        // limit that remains there is read as the number
        match if bits < 15 { bits as i32 } else { low as i32 } {
            0 => default,
            bits => PackedFloat::Truncated { bits },
        }
    }

    /// Bytes in the file.
    pub const fn size(self) -> usize {
        match self {
            PackedFloat::Float | PackedFloat::Range { .. } => 4,
            PackedFloat::Truncated { .. } => 3,
        }
    }

    /// Reads one value.
    pub fn read(self, c: &mut Cursor) -> Result<f64> {
        Ok(match self {
            PackedFloat::Float => f64::from(c.f32()?),
            PackedFloat::Range { low, factor } => f64::from(c.u32()?) / factor + low,
            PackedFloat::Truncated { bits } => {
                let exponent = u32::from(c.u8()?);
                let mantissa = u32::from(c.u16()?);
                // excess bits wrap around, as on the processors that ROOT runs on
                let sign = 1u32.wrapping_shl(bits.wrapping_add(1) as u32);
                let mantissa_bits = (mantissa & sign.wrapping_sub(1)).wrapping_shl(23i32.wrapping_sub(bits) as u32);
                let magnitude = f32::from_bits((exponent << 23) | mantissa_bits);
                f64::from(if mantissa & sign != 0 { -magnitude } else { magnitude })
            }
        })
    }
}

/// Finds `[low,high]` or `[low,high,bits]` in a comment; a bracket without a comma is a dimension.
fn range(comment: &str) -> Option<(f64, f64, u32)> {
    let mut rest = comment;
    loop {
        let open = rest.find('[')?;
        let close = open + rest[open..].find(']')?;
        let inside = &rest[open + 1..close];
        if inside.contains(',') {
            let mut parts = inside.split(',');
            let low = limit(parts.next()?);
            let high = limit(parts.next()?);
            let bits = match parts.next() {
                Some(b) => b.trim().parse::<u32>().ok().filter(|b| (2..=32).contains(b)).unwrap_or(32),
                None => 32,
            };
            return Some((low, high, bits));
        }
        rest = &rest[close + 1..];
    }
}

/// A limit: a number or an expression of pi, in ROOT's syntax.
fn limit(text: &str) -> f64 {
    let t: String = text.chars().filter(|c| !c.is_whitespace()).collect::<String>().to_ascii_lowercase();
    let pi = std::f64::consts::PI;
    let (sign, body) = match t.strip_prefix('-') {
        Some(b) => (-1.0, b),
        None => (1.0, t.as_str()),
    };
    let value = if body.contains("pi") {
        if body.contains("2pi") || body.contains("2*pi") || body.contains("twopi") {
            2.0 * pi
        } else if body.contains("pi/2") {
            pi / 2.0
        } else if body.contains("pi/4") {
            pi / 4.0
        } else {
            pi
        }
    } else {
        // as C's sscanf: the longest number at the beginning
        (0..=body.len()).rev().find_map(|n| body.get(..n)?.parse().ok()).unwrap_or(0.0)
    };
    sign * value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_decide() {
        assert_eq!(PackedFloat::from_comment("just text", false), PackedFloat::Float);
        assert_eq!(PackedFloat::from_comment("[n] no range", true), PackedFloat::Truncated { bits: 12 });
        assert_eq!(PackedFloat::from_comment("[0,0,10]", false), PackedFloat::Truncated { bits: 10 });
        assert_eq!(PackedFloat::from_comment("[3][0, 10, 8] x", false), PackedFloat::Range { low: 0.0, factor: 25.6 });
        // reversed limits: the lower one is the number of bits
        assert_eq!(PackedFloat::from_comment("[2,1,16]", false), PackedFloat::Truncated { bits: 2 });
        assert_eq!(PackedFloat::from_comment("[5.7,5.7]", true), PackedFloat::Truncated { bits: 5 });
        assert_eq!(PackedFloat::from_comment("[3,3,9]", false), PackedFloat::Truncated { bits: 9 });
        assert_eq!(PackedFloat::from_comment("[0.5,0.5,16]", false), PackedFloat::Float);
        assert_eq!(PackedFloat::from_comment("[0,-1]", true), PackedFloat::Truncated { bits: 12 });
        let pi = std::f64::consts::PI;
        assert_eq!(
            PackedFloat::from_comment("[-pi,pi]", true),
            PackedFloat::Range { low: -pi, factor: f64::from(u32::MAX) / (2.0 * pi) }
        );
    }

    #[test]
    fn truncated_mantissa() {
        // 1.5 with 12 bits: exponent 127, mantissa 0x800; the sign is bit 13
        let p = PackedFloat::Truncated { bits: 12 };
        assert_eq!(p.read(&mut Cursor::new(&[127, 0x08, 0x00], 0)).unwrap(), 1.5);
        assert_eq!(p.read(&mut Cursor::new(&[127, 0x28, 0x00], 0)).unwrap(), -1.5);
    }
}
