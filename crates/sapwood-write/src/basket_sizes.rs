//! ROOT's choice of basket sizes at the first flush (`TTree::OptimizeBaskets`).

/// Properties of a leaf's branch when sizes are chosen.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Facts {
    /// Bytes of its baskets so far before compression, keys included.
    pub(crate) total_bytes: u64,
    pub(crate) entries: u64,
    pub(crate) basket_bytes: u32,
    /// ROOT's guess of a basket's entries; 0 without offsets.
    pub(crate) offsets_len: u32,
    /// Whether it has sub-branches: then its size is kept.
    pub(crate) has_branches: bool,
    pub(crate) name_len: usize,
}

/// No buffer becomes larger, whatever the result (`TTree::OptimizeBaskets`, hardmax).
const MOST: f64 = 1_073_741_824.0;
/// Larger sizes are assumed to be a mistake.
const TOO_LARGE: u32 = 10_000_000;

/// The size of each branch's baskets, in the order given (that of the tree's leaves), for `memory` bytes in all and
/// clusters of this many entries.
///
/// Two passes: each branch gets room in proportion to its bytes; then all are scaled to the memory, offsets are added
/// and the size is rounded up to the next multiple of 512.
pub(crate) fn choose(leaves: &[Facts], memory: u64, cluster: u64) -> Vec<u32> {
    let mut sizes: Vec<u32> = leaves.iter().map(|l| l.basket_bytes).collect();
    if leaves.is_empty() || memory == 0 {
        return sizes;
    }
    let mean = memory as f64 / leaves.len() as f64;
    let (mut least, mut most, mut factor) = (512_u32, 256_000_u32, 1.0_f64);
    for second in [false, true] {
        let mut sum: i64 = 0;
        for (leaf, slot) in leaves.iter().zip(&mut sizes) {
            if leaf.has_branches {
                continue;
            }
            let entry = match leaf.entries {
                0 => mean as u32,
                n => 1 + (leaf.total_bytes as f64 / n as f64) as u32,
            };
            let ideal = leaf.total_bytes as f64 / mean;
            let mut size = (f64::from(leaf.basket_bytes) * ideal * factor).min(f64::from(most)) as u32;
            if second {
                if leaf.offsets_len > 0 {
                    size = size.saturating_add(u32::try_from(8 * cluster).unwrap_or(u32::MAX));
                }
                size = (size - size % 512).saturating_add(512);
            }
            size = size.max(entry).max(least);
            if size > TOO_LARGE {
                size = most;
            }
            sum += i64::from(size);
            if second {
                // a buffer holds at least a key and the offsets (`TBranch::SetBasketSize`)
                *slot = size.max(100 + leaf.name_len as u32 + leaf.offsets_len);
            }
        }
        factor = (memory as f64 / sum.max(1) as f64).min(100.0);
        least = (f64::from(least) * factor).clamp(8.0, MOST) as u32;
        let scaled = f64::from(most) * factor;
        most = if scaled > MOST { least } else { scaled as u32 };
    }
    sizes
}
