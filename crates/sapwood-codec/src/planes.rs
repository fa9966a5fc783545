//! Pages of ntuples: all first bytes of the items, then all second bytes, and so on. Such planes differ from each other:
//! many are one byte throughout, others noise, others runs.

use std::ops::Range;

/// Pages shorter than this are not worth being divided.
const SHORT: usize = 4 << 10;

/// A plane of a page, or several that are the same byte throughout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Plane {
    pub(crate) bytes: Range<usize>,
    /// It is one byte throughout.
    pub(crate) is_constant: bool,
}

/// The planes of a page that has this many; none where it is short, or of another length.
pub(crate) fn divide(data: &[u8], planes: usize) -> Option<Vec<Plane>> {
    let n = data.len().checked_div(planes)?;
    if planes < 2 || n * planes != data.len() || data.len() < SHORT {
        return None;
    }
    let mut out: Vec<Plane> = Vec::with_capacity(planes);
    for bytes in (0..planes).map(|i| i * n..(i + 1) * n) {
        let plane = data.get(bytes.clone())?;
        let is_constant = is_constant(plane);
        match out.last_mut() {
            Some(last) if is_constant && last.is_constant && data.get(last.bytes.start) == plane.first() => {
                last.bytes.end = bytes.end;
            }
            _ => out.push(Plane { bytes, is_constant }),
        }
    }
    Some(out)
}

/// Whether all bytes are the same.
fn is_constant(bytes: &[u8]) -> bool {
    bytes.first().is_some_and(|first| bytes.chunks(256).all(|some| some.iter().fold(0, |x, b| x | (b ^ first)) == 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn planes_of_one_byte_are_joined() {
        let n = SHORT;
        let page = [vec![0; 2 * n], vec![1; n], (0..n).map(|i| i as u8).collect(), vec![1; 2 * n]].concat();
        let plane = |from: usize, to: usize, is_constant| Plane { bytes: from * n..to * n, is_constant };
        let wanted = [plane(0, 2, true), plane(2, 3, true), plane(3, 4, false), plane(4, 6, true)];
        assert_eq!(divide(&page, 6).unwrap(), wanted);
        assert_eq!(divide(&page, 1), None);
        assert_eq!(divide(&page, 0), None);
        assert_eq!(divide(&page[1..], 6), None);
        assert_eq!(divide(&page[..1024], 4), None);
    }
}
