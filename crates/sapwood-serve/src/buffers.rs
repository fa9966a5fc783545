//! Reusable memory for reads of files: allocating it from the system each time costs more than reading.

use bytes::Bytes;
use sapwood_span::sync::lock;
use std::sync::{Arc, Mutex};

/// Bytes of a buffer: the most that is read at once of an answer sent in pieces.
pub(crate) const PIECE: u64 = 256 << 10;
const SIZE: usize = PIECE as usize;
/// Buffers kept for later.
const KEPT: usize = 32;
/// Less than this is not worth a separate buffer.
const SMALL: usize = 32 << 10;

/// Buffers not in use.
#[derive(Default)]
pub(crate) struct Buffers(Mutex<Vec<Vec<u8>>>);

impl Buffers {
    /// A buffer of this length, with unspecified content.
    pub(crate) fn take(self: &Arc<Self>, len: usize) -> Buffer {
        if !(SMALL..=SIZE).contains(&len) {
            return Buffer { bytes: vec![0; len], len, home: None };
        }
        let kept = lock(&self.0).pop();
        Buffer { bytes: kept.unwrap_or_else(|| vec![0; SIZE]), len, home: Some(Arc::clone(self)) }
    }
}

/// A buffer that returns to the pool when its content is no longer needed.
pub(crate) struct Buffer {
    bytes: Vec<u8>,
    len: usize,
    home: Option<Arc<Buffers>>,
}

impl Buffer {
    pub(crate) fn bytes(&mut self) -> &mut [u8] {
        self.bytes.get_mut(..self.len).unwrap_or_default()
    }

    pub(crate) fn freeze(self) -> Bytes {
        Bytes::from_owner(self)
    }
}

impl AsRef<[u8]> for Buffer {
    fn as_ref(&self) -> &[u8] {
        self.bytes.get(..self.len).unwrap_or_default()
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        if let Some(home) = self.home.take() {
            let mut kept = lock(&home.0);
            if kept.len() < KEPT {
                kept.push(std::mem::take(&mut self.bytes));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_come_back_and_not_too_many() {
        let buffers = Arc::new(Buffers::default());
        let mut first = buffers.take(100_000);
        first.bytes().fill(7);
        let bytes = first.freeze();
        let part = bytes.slice(10..20);
        drop(bytes);
        assert!(lock(&buffers.0).is_empty(), "somebody needs a part of it");
        assert_eq!(part, [7; 10][..]);
        drop(part);
        assert_eq!(lock(&buffers.0).len(), 1);
        let all: Vec<_> = (0..100).map(|_| buffers.take(SIZE)).collect();
        assert!(all.iter().all(|b| b.as_ref().len() == SIZE) && lock(&buffers.0).is_empty());
        drop(all);
        assert_eq!(lock(&buffers.0).len(), KEPT);
        for odd in [0, 10, SIZE + 1] {
            assert_eq!(buffers.take(odd).as_ref().len(), odd);
        }
        assert_eq!(lock(&buffers.0).len(), KEPT);
    }
}
