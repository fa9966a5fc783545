//! Prefix codes: lengths from frequencies, codes from lengths.

/// The longest code in deflate.
pub(super) const LONGEST: usize = 15;
/// The most symbols of any of its alphabets.
const MOST: usize = 288;

/// Fills in the lengths of a prefix code for these frequencies, none above `limit`; 0 for symbols that do not occur.
///
/// There are always at least two codes: some decoders refuse fewer. The lengths are Huffman's; where these exceed
/// `limit`, the longest are shortened at the expense of others.
pub(super) fn lengths(frequencies: &[u32], limit: usize, lengths: &mut [u8]) {
    lengths.fill(0);
    let mut used = [(0_u32, 0_u16); MOST];
    let mut n = 0;
    let occurring = frequencies.iter().enumerate().filter(|(_, f)| **f > 0);
    for (place, (symbol, &f)) in used.iter_mut().zip(occurring) {
        *place = (f, symbol as u16);
        n += 1;
    }
    // symbols that do not occur fill up to two
    let mut spare = (0..frequencies.len()).filter(|&s| frequencies.get(s) == Some(&0));
    while n < 2 {
        let (Some(place), Some(symbol)) = (used.get_mut(n), spare.next()) else { return };
        *place = (0, symbol as u16);
        n += 1;
    }
    let Some(used) = used.get_mut(..n) else { return };
    used.sort_unstable();
    let counts = limited(&depths(used), limit);
    // the rarest get the longest
    let longest_first =
        (1..=limit).rev().flat_map(|len| std::iter::repeat_n(len, counts.get(len).copied().unwrap_or(0)));
    for ((_, symbol), len) in used.iter().zip(longest_first) {
        if let Some(place) = lengths.get_mut(usize::from(*symbol)) {
            *place = len as u8;
        }
    }
}

/// How many leaves of Huffman's tree there are at each depth; `sorted` are at least two frequencies, ascending.
fn depths(sorted: &[(u32, u16)]) -> [usize; MOST] {
    let n = sorted.len();
    let mut weights = [0_u32; 2 * MOST];
    let mut parents = [0_u16; 2 * MOST];
    for (weight, (f, _)) in weights.iter_mut().zip(sorted) {
        *weight = *f;
    }
    // leaves and inner nodes are two queues, each ascending already
    let (mut leaf, mut inner) = (0, n);
    for node in n..2 * n - 1 {
        let mut sum = 0_u32;
        for _ in 0..2 {
            let of_leaf = if leaf < n { weights[leaf] } else { u32::MAX };
            let of_inner = if inner < node { weights[inner] } else { u32::MAX };
            let next = if of_leaf <= of_inner { &mut leaf } else { &mut inner };
            sum = sum.saturating_add(weights[*next]);
            parents[*next] = node as u16;
            *next += 1;
        }
        weights[node] = sum;
    }
    let mut depth = [0_u16; 2 * MOST];
    let mut counts = [0; MOST];
    for node in (0..2 * n - 2).rev() {
        depth[node] = depth[usize::from(parents[node])] + 1;
        if node < n {
            counts[usize::from(depth[node])] += 1;
        }
    }
    counts
}

/// The same with no leaf deeper than `limit`.
fn limited(counts: &[usize; MOST], limit: usize) -> [usize; LONGEST + 1] {
    let mut out = [0; LONGEST + 1];
    for (depth, count) in counts.iter().enumerate() {
        out[depth.min(limit)] += count;
    }
    let mut taken: usize = out.iter().enumerate().skip(1).map(|(len, count)| count << (LONGEST - len)).sum();
    let step = 1 << (LONGEST - limit);
    while taken > 1 << LONGEST {
        // a leaf above becomes a node with it and one leaf from the lowest row
        let Some(above) = (1..limit).rev().find(|&len| out[len] > 0) else { break };
        out[above] -= 1;
        out[above + 1] += 2;
        out[limit] -= 1;
        taken -= step;
    }
    out
}

/// The canonical codes of these lengths, first bit lowest, as in deflate.
pub(super) fn codes(lengths: &[u8], codes: &mut [u16]) {
    let mut counts = [0_u16; LONGEST + 1];
    for &len in lengths.iter().filter(|&&len| len > 0) {
        counts[usize::from(len)] += 1;
    }
    let mut next = [0_u16; LONGEST + 1];
    for len in 1..LONGEST {
        next[len + 1] = (next[len] + counts[len]) << 1;
    }
    for (code, &len) in codes.iter_mut().zip(lengths) {
        if len > 0 {
            let next = &mut next[usize::from(len)];
            *code = next.reverse_bits() >> (16 - len);
            *next += 1;
        }
    }
}
