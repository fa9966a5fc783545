//! How much is decoded ahead of the consumer.

use std::collections::BTreeMap;

/// Decoded bytes that may wait for steps behind the one the consumer wants, for each thread.
const MOST: u64 = 4 << 20;
/// And altogether, where they come from a server: what a cut needs of later steps is decoded and evaluated as soon as it is
/// here, for what is asked for next depends on it.
const MOST_FAR: u64 = 32 << 20;

/// Decoded bytes that wait in their slots.
pub(super) struct ReadAhead {
    /// By the first step that needs them.
    by_step: BTreeMap<usize, u64>,
    sum: u64,
    most: u64,
}

/// Decoded bytes that may wait.
pub(crate) fn most_ahead(threads: usize, local: bool) -> u64 {
    let most = MOST * threads.clamp(2, 16) as u64;
    if local { most } else { most.max(MOST_FAR) }
}

impl ReadAhead {
    pub(super) fn new(threads: usize, local: bool) -> Self {
        Self { by_step: BTreeMap::new(), sum: 0, most: most_ahead(threads, local) }
    }

    /// A basket waits for this step.
    pub(super) fn enter(&mut self, step: usize, bytes: u64) {
        *self.by_step.entry(step).or_default() += bytes;
        self.sum += bytes;
    }

    /// A basket is in its column: it waits no more, if its step was not wanted before.
    pub(super) fn leave(&mut self, step: usize, bytes: u64) {
        if let Some(held) = self.by_step.get_mut(&step) {
            let bytes = bytes.min(*held);
            *held -= bytes;
            self.sum -= bytes;
        }
    }

    /// Steps up to this one are wanted: what waits for them is not ahead.
    pub(super) fn pass(&mut self, step: usize) {
        let later = self.by_step.split_off(&(step + 1));
        let passed = std::mem::replace(&mut self.by_step, later);
        self.sum -= passed.values().sum::<u64>();
    }

    /// Bytes that may wait.
    pub(super) fn most(&self) -> u64 {
        self.most
    }

    /// Whether more may be decoded.
    pub(super) fn has_room(&self) -> bool {
        self.sum < self.most
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_left_or_was_passed_is_not_ahead() {
        let mut a = ReadAhead::new(2, true);
        a.enter(1, MOST);
        a.enter(3, MOST);
        assert!(!a.has_room());
        a.leave(1, MOST);
        assert!(a.has_room());
        a.pass(2);
        a.leave(1, 7);
        assert_eq!(a.sum, MOST);
        a.pass(3);
        assert_eq!(a.sum, 0);
    }
}
