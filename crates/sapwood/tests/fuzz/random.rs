//! Random numbers and random damage, the same for the same seed.

/// SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    /// From 0 to `n - 1`; 0 for `n` = 0.
    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }

    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }
}

/// What lengths, counts and positions are set to: the ends of every width, and what has a special meaning in ROOT's tags.
const EXTREMES: &[u64] = &[
    0,
    1,
    2,
    0x7f,
    0x80,
    0xff,
    0x7fff,
    0x8000,
    0xffff,
    0xff_ffff,
    0x4000_0000,
    0x4000_0002,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_fffe,
    0xffff_ffff,
    0x1_0000_0000,
    0x7fff_ffff_ffff_ffff,
    0x8000_0000_0000_0000,
    0xffff_ffff_ffff_ffff,
];

/// Damages the bytes in one to six places; `other` is what splices are taken from.
pub fn damage(bytes: &mut Vec<u8>, other: &[u8], r: &mut Random) {
    for _ in 0..1 + r.below(6) {
        once(bytes, other, r);
    }
}

fn once(bytes: &mut Vec<u8>, other: &[u8], r: &mut Random) {
    let len = bytes.len();
    if len == 0 {
        bytes.extend_from_slice(&other[..other.len().min(r.below(64))]);
        return;
    }
    let at = place(len, r);
    match r.below(16) {
        0..=3 => bytes[at] ^= 1 << r.below(8),
        4..=5 => bytes[at] = r.next() as u8,
        6..=10 => {
            let width = *r.pick(&[1, 2, 2, 4, 4, 4, 8]);
            let value = match r.below(4) {
                0 => len as u64,
                1 => r.below(len * 2) as u64,
                _ => *r.pick(EXTREMES),
            };
            put(bytes, at, width, value);
        }
        11 => {
            // off by little: what a check just lets through or just not
            let width = *r.pick(&[2, 4, 8]);
            if let Some(old) = get(bytes, at, width) {
                let by = 1 + r.below(16) as u64;
                put(bytes, at, width, if r.below(2) == 0 { old.wrapping_add(by) } else { old.wrapping_sub(by) });
            }
        }
        12 => bytes.truncate(at),
        13 => {
            let end = (at + 1 + r.below(40)).min(len);
            bytes.drain(at..end);
        }
        14 => {
            let from = r.below(len);
            let piece = bytes[from..(from + 1 + r.below(64)).min(len)].to_vec();
            bytes.splice(at..at, piece);
        }
        _ => {
            let from = r.below(other.len());
            let piece = &other[from..other.len().min(from + 1 + r.below(64))];
            let end = (at + piece.len()).min(len);
            bytes.splice(at..end, piece.iter().copied());
        }
    }
}

/// Any byte, more often one of the first: headers are short and say much.
fn place(len: usize, r: &mut Random) -> usize {
    if r.below(3) == 0 { r.below(len.min(400)) } else { r.below(len) }
}

fn put(bytes: &mut [u8], at: usize, width: usize, value: u64) {
    let all = value.to_be_bytes();
    for (place, b) in bytes[at..].iter_mut().zip(&all[8 - width..]) {
        *place = *b;
    }
}

fn get(bytes: &[u8], at: usize, width: usize) -> Option<u64> {
    Some(bytes.get(at..at + width)?.iter().fold(0, |n, &b| n << 8 | u64::from(b)))
}
