/// A set of small numbers that finds its next member quickly: one bit each.
#[derive(Clone, Debug)]
pub(crate) struct Positions {
    words: Vec<u64>,
}

impl Positions {
    /// The empty set, for numbers below `len`.
    pub(crate) fn empty(len: usize) -> Self {
        Self { words: vec![0; len.div_ceil(64)] }
    }

    /// Every number below `len`.
    pub(crate) fn full(len: usize) -> Self {
        let mut words = vec![u64::MAX; len.div_ceil(64)];
        if let Some(last) = words.last_mut()
            && !len.is_multiple_of(64)
        {
            *last = (1 << (len % 64)) - 1;
        }
        Self { words }
    }

    pub(crate) fn contains(&self, p: u32) -> bool {
        self.words[p as usize / 64] >> (p % 64) & 1 == 1
    }

    pub(crate) fn insert(&mut self, p: u32) {
        self.words[p as usize / 64] |= 1 << (p % 64);
    }

    pub(crate) fn remove(&mut self, p: u32) {
        self.words[p as usize / 64] &= !(1 << (p % 64));
    }

    /// The least number, at least `from`, that is in both sets (of the same length).
    pub(crate) fn next_common(&self, other: &Self, from: u32) -> Option<u32> {
        self.scan(from, |i, w| w & other.words[i])
    }

    /// The least member, at least `from`, that is not in `other` (of the same length).
    pub(crate) fn next_without(&self, other: &Self, from: u32) -> Option<u32> {
        self.scan(from, |i, w| w & !other.words[i])
    }

    fn scan(&self, from: u32, mask: impl Fn(usize, u64) -> u64) -> Option<u32> {
        let first = from as usize / 64;
        for (i, &word) in self.words.iter().enumerate().skip(first) {
            let mut w = mask(i, word);
            if i == first {
                w &= u64::MAX << (from % 64);
            }
            if w != 0 {
                return Some(i as u32 * 64 + w.trailing_zeros());
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_next_member() {
        let none = Positions::empty(200);
        let mut a = Positions::empty(200);
        for p in [3, 63, 64, 199] {
            a.insert(p);
        }
        assert_eq!(a.next_without(&none, 0), Some(3));
        assert_eq!(a.next_without(&none, 4), Some(63));
        assert_eq!(a.next_without(&none, 65), Some(199));
        a.remove(199);
        assert_eq!(a.next_without(&none, 65), None);
        assert_eq!(a.next_without(&none, 1000), None);
        assert!(a.contains(64) && !a.contains(65));
        let mut b = Positions::empty(200);
        b.insert(64);
        assert_eq!(a.next_common(&b, 0), Some(64));
        assert_eq!(a.next_without(&b, 64), None);
        assert_eq!(a.next_without(&b, 0), Some(3));
    }

    #[test]
    fn full_stops_at_its_length() {
        for len in [0, 1, 63, 64, 65, 130] {
            let (all, none) = (Positions::full(len), Positions::empty(len));
            assert_eq!((0..len as u32 + 70).filter(|&p| all.next_without(&none, p) == Some(p)).count(), len);
        }
    }
}
