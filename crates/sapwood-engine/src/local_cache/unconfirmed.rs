//! What came from the origin and is not yet known to be of the version that was opened.

use bytes::Bytes;
use sapwood_span::sync::lock;
use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard};

/// Bytes that wait at most: the oldest are forgotten, and not kept for later sessions.
const MOST: u64 = 64 << 20;

/// A piece of the file, and when it came.
struct Piece {
    /// The fetch that it came with.
    fetch: u64,
    /// What the fetches were numbered when it came: those from this number on began later.
    before: u64,
    start: u64,
    bytes: Bytes,
}

/// Pieces wait here until a comparison that began after they came (or that ended their fetch) finds the
/// file unchanged. So nothing of a file that changed while it was being read gets into the store.
#[derive(Default)]
pub struct Unconfirmed(Mutex<Waiting>);

#[derive(Default)]
struct Waiting {
    next: u64,
    pieces: VecDeque<Piece>,
    bytes: u64,
    changed: bool,
}

impl Unconfirmed {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        lock(&self.0)
    }

    /// A fetch begins: gives its number.
    pub fn begin(&self) -> u64 {
        let mut waiting = self.lock();
        waiting.next += 1;
        waiting.next - 1
    }

    /// These bytes of a fetch arrived.
    pub fn add(&self, fetch: u64, start: u64, bytes: Bytes) {
        let mut waiting = self.lock();
        if waiting.changed || bytes.is_empty() {
            return;
        }
        waiting.bytes += bytes.len() as u64;
        let before = waiting.next;
        waiting.pieces.push_back(Piece { fetch, before, start, bytes });
        while waiting.bytes > MOST
            && let Some(oldest) = waiting.pieces.pop_front()
        {
            waiting.bytes -= oldest.bytes.len() as u64;
        }
    }

    /// The fetch has ended and found the file unchanged: gives what is confirmed by that.
    pub fn confirmed(&self, fetch: u64) -> Vec<(u64, Bytes)> {
        let mut waiting = self.lock();
        let (confirmed, left): (Vec<Piece>, Vec<Piece>) =
            waiting.pieces.drain(..).partition(|p| p.fetch == fetch || p.before <= fetch);
        waiting.bytes = left.iter().map(|p| p.bytes.len() as u64).sum();
        waiting.pieces = left.into();
        confirmed.into_iter().map(|p| (p.start, p.bytes)).collect()
    }

    /// The file has changed: what waits may be of either version.
    pub fn changed(&self) {
        *self.lock() = Waiting { changed: true, ..Waiting::default() };
    }

    /// Bytes that wait.
    pub fn bytes(&self) -> u64 {
        self.lock().bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn starts(pieces: &[(u64, Bytes)]) -> Vec<u64> {
        pieces.iter().map(|p| p.0).collect()
    }

    #[test]
    fn only_a_later_comparison_confirms() {
        let u = Unconfirmed::default();
        let (a, b) = (u.begin(), u.begin());
        u.add(a, 10, Bytes::from_static(b"a"));
        u.add(b, 20, Bytes::from_static(b"b"));
        let c = u.begin();
        u.add(c, 30, Bytes::from_static(b"c"));
        u.add(a, 11, Bytes::from_static(b"A"));
        // `b` began before the pieces of `a` came
        assert_eq!(starts(&u.confirmed(b)), [20]);
        assert_eq!(u.bytes(), 3);
        assert_eq!(starts(&u.confirmed(c)), [10, 30]);
        assert_eq!(starts(&u.confirmed(u.begin())), [11]);
    }

    #[test]
    fn nothing_of_a_changed_file_is_confirmed() {
        let u = Unconfirmed::default();
        let a = u.begin();
        u.add(a, 0, Bytes::from_static(b"old"));
        u.changed();
        u.add(a, 9, Bytes::from_static(b"new"));
        assert!(u.confirmed(a).is_empty() && u.bytes() == 0);
    }

    #[test]
    fn the_oldest_is_forgotten_when_too_much_waits() {
        let u = Unconfirmed::default();
        let a = u.begin();
        let chunk = Bytes::from(vec![0; 16 << 20]);
        (0..5).for_each(|i| u.add(a, i, chunk.clone()));
        assert_eq!(u.bytes(), MOST);
        assert_eq!(starts(&u.confirmed(a)), [1, 2, 3, 4]);
    }
}
