//! Bits into bytes, lowest first.

/// Writes consecutive bits into a buffer of given size.
///
/// The buffer must have room for what is written and eight bytes more; what does not fit is lost, and [`Bits::finish`]
/// reports it.
pub(super) struct Bits<'a> {
    out: &'a mut [u8],
    at: usize,
    pending: u64,
    /// Number of bits in `pending`; below 8 after each flush.
    count: u32,
}

impl<'a> Bits<'a> {
    pub(super) fn new(out: &'a mut [u8], at: usize) -> Self {
        Self { out, at, pending: 0, count: 0 }
    }

    /// Takes the writer out, leaving an empty one.
    pub(super) fn take(&mut self) -> Bits<'a> {
        std::mem::replace(self, Bits::new(&mut [], 0))
    }

    /// Adds at most `56` bits between two flushes; those of `bits` above `count` are zero.
    #[inline(always)]
    pub(super) fn add(&mut self, bits: u64, count: u32) {
        self.pending |= bits << self.count;
        self.count += count;
    }

    /// Flushes whole bytes.
    #[inline(always)]
    pub(super) fn flush(&mut self) {
        if let Some(to) = self.out.get_mut(self.at..self.at + 8) {
            to.copy_from_slice(&self.pending.to_le_bytes());
        }
        self.at += (self.count >> 3) as usize;
        self.pending >>= self.count & !7;
        self.count &= 7;
    }

    /// Adds and flushes.
    pub(super) fn put(&mut self, bits: u64, count: u32) {
        self.add(bits, count);
        self.flush();
    }

    /// Skips to the next whole byte.
    pub(super) fn align(&mut self) {
        self.count = self.count.next_multiple_of(8);
        self.flush();
    }

    /// Adds whole bytes; only after [`Bits::align`].
    pub(super) fn bytes(&mut self, bytes: &[u8]) {
        if let Some(to) = self.out.get_mut(self.at..self.at + bytes.len()) {
            to.copy_from_slice(bytes);
        }
        self.at += bytes.len();
    }

    /// Whether this many bits and a flush after them fit.
    pub(super) fn fits(&self, bits: u64) -> bool {
        (self.at as u64).saturating_add(bits / 8).saturating_add(17) <= self.out.len() as u64
    }

    /// Bytes written so far.
    pub(super) fn position(&self) -> usize {
        self.at
    }
}
