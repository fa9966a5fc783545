//! What is evicted, when, and how much at once: the rules alone, without files and clocks.
//!
//! The store applies them to the files of its directory. The simulator of sites (`sapwood-grid`) applies the same ones to caches that
//! exist only as numbers, in virtual time.

use std::time::Duration;

/// The longest piece that is kept as a whole: the least that is reserved or put into one segment.
pub const LONGEST_PIECE: u64 = 64 << 10;

/// Use is recorded this often; more often than this, the order of two uses does not matter.
pub const TOUCH: Duration = Duration::from_secs(60);

/// What goes first, whenever it was used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rank {
    /// Nobody can read it: a part of it is missing.
    Incomplete,
    /// It belongs to an older version of its file.
    Outdated,
    /// It belongs to the version that was validated last.
    Current,
}

/// Bytes of a segment at most, in a store of this size: fine enough for evicting the least recently used.
pub fn segment_bytes(max_bytes: u64) -> u64 {
    (max_bytes / 32).clamp(LONGEST_PIECE, 64 << 20)
}

/// Bytes that are reserved at once, and written in one batch.
pub fn step(max_bytes: u64) -> u64 {
    (max_bytes / 256).clamp(LONGEST_PIECE, 8 << 20)
}

/// The bytes that may be reserved. The rest is for reservations that a survey cannot see: those of other processes.
pub fn ceiling(max_bytes: u64) -> u64 {
    max_bytes - max_bytes / 32
}

/// Down to how many bytes to evict before `wanted` more are reserved; none if they fit. It is some more than is needed now, so that this
/// is rare.
pub fn goal(max_bytes: u64, used: u64, wanted: u64) -> Option<u64> {
    let ceiling = ceiling(max_bytes);
    (used.saturating_add(wanted) > ceiling).then(|| ceiling.saturating_sub(wanted).saturating_sub(ceiling / 16))
}

/// Removes candidates until `goal` bytes are left of `used`, or none is left: by rank, then those not used for the longest time.
/// `standing` says the rank and the time of use, `remove` removes one and returns the bytes that this freed, 0 for what is in use.
/// Returns the bytes that are left.
pub fn evict<C, T: Ord>(
    mut candidates: Vec<C>,
    standing: impl Fn(&C) -> (Rank, T),
    mut used: u64,
    goal: u64,
    mut remove: impl FnMut(C) -> u64,
) -> u64 {
    candidates.sort_by_key(standing);
    for candidate in candidates {
        if used <= goal {
            break;
        }
        used = used.saturating_sub(remove(candidate));
    }
    used
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_of_no_use_goes_first_then_the_least_recently_used() {
        let all = vec![("new", Rank::Current, 9), ("old", Rank::Current, 1), ("version", Rank::Outdated, 8)];
        let evicted = |goal| {
            let mut gone = Vec::new();
            let left = evict(
                all.clone(),
                |c| (c.1, c.2),
                30,
                goal,
                |c| {
                    gone.push(c.0);
                    10
                },
            );
            (gone, left)
        };
        assert_eq!(evicted(30), (vec![], 30));
        assert_eq!(evicted(20), (vec!["version"], 20));
        assert_eq!(evicted(19), (vec!["version", "old"], 10));
        assert_eq!(evicted(0), (vec!["version", "old", "new"], 0));
    }

    #[test]
    fn room_is_made_for_more_than_is_needed_now() {
        let max = 320 << 20;
        assert_eq!(goal(max, 300 << 20, 10 << 20), None);
        let goal = goal(max, 301 << 20, 10 << 20).expect("it does not fit");
        assert_eq!(goal, ceiling(max) - (10 << 20) - ceiling(max) / 16);
    }
}
