//! Which of several connections brings an answer first, while their senders' windows still open: each brings in a round
//! trip as much as it has carried before.

/// Bytes that a fresh connection brings in its first round trip: 10 segments (RFC 6928).
pub const INITIAL_WINDOW: u64 = 14_480;

/// A connection whose window is this many times narrower than another one's is behind it by two round trips of slow start.
const MUCH_WIDER: u64 = 4;

/// Round trips within which a busy connection has to be free.
///
/// Slow start on a connection that is four times too narrow takes as long; a sender that takes the queue which others
/// cause for the path's limit ends slow start there, and then needs many more.
const ROUND_TRIPS: u32 = 2;

/// Round trips for which it is waited for: its last bytes may be a little late.
pub const PATIENCE: f64 = 2.5;

/// Round trips after which the narrow one is used once: its window opens only so, and requests that wait do not overlap.
pub const PATIENCE_IN_ALL: f64 = 4.0;

/// Round trips that an answer of this many bytes takes over a connection that has carried so many, beside the one of its
/// request: each flight is twice as long as the one before.
pub fn more_flights(carried: u64, bytes: u64) -> u32 {
    let window = carried.saturating_add(INITIAL_WINDOW);
    // so many flights bring a window times a power of two, less one
    let windows = bytes.div_ceil(window).saturating_add(1);
    windows.next_power_of_two().trailing_zeros().saturating_sub(1)
}

/// Whether an answer of this many bytes takes some round trips over a connection that has carried so many.
pub fn is_too_narrow(carried: u64, bytes: u64) -> bool {
    bytes > much_wider_than(carried)
}

/// Whether a busy connection, which has carried so many bytes and will have carried `end` after its answer, is free within
/// two round trips, and is much wider than an idle one that has carried `idle`.
pub fn is_worth_waiting_for(carried: u64, end: u64, idle: u64) -> bool {
    let within = carried.saturating_add(INITIAL_WINDOW).saturating_mul(1 << ROUND_TRIPS);
    is_much_wider(carried, idle) && end.saturating_add(INITIAL_WINDOW) <= within
}

/// Whether a connection that has carried so many bytes is worth having in place of one that has carried `idle`.
pub fn is_much_wider(carried: u64, idle: u64) -> bool {
    carried > much_wider_than(idle)
}

fn much_wider_than(carried: u64) -> u64 {
    carried.max(INITIAL_WINDOW).saturating_mul(MUCH_WIDER)
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLD: u64 = 34 << 10;
    const LONG: u64 = 1400 << 10;

    #[test]
    fn flights_double() {
        let fresh = |windows: u64| more_flights(0, windows * INITIAL_WINDOW);
        assert_eq!([0, 1, 2, 3, 4, 7, 8, 15, 16].map(fresh), [0, 0, 1, 1, 2, 2, 3, 3, 4]);
        assert_eq!((more_flights(0, INITIAL_WINDOW + 1), more_flights(INITIAL_WINDOW, 2 * INITIAL_WINDOW)), (1, 0));
        assert_eq!((more_flights(0, u64::MAX), more_flights(u64::MAX, u64::MAX)), (50, 0));
    }

    #[test]
    fn an_answer_of_one_flight_fits() {
        assert!(is_too_narrow(COLD, LONG));
        assert!(!is_too_narrow(COLD, COLD));
        assert!(!is_too_narrow(2 << 20, LONG));
        // a file is opened over several fresh connections at once
        assert!(!is_too_narrow(0, 34 << 10));
    }

    #[test]
    fn a_busy_one_has_to_be_wider_and_nearly_done() {
        assert!(is_worth_waiting_for(2 << 20, 3 << 20, COLD));
        assert!(!is_worth_waiting_for(2 * COLD, 3 * COLD, COLD));
        assert!(!is_worth_waiting_for(2 << 20, 9 << 20, COLD));
        // at its first answer, of which two more flights come, or three
        assert!(is_worth_waiting_for(390 << 10, 1580 << 10, COLD));
        assert!(!is_worth_waiting_for(190 << 10, 1580 << 10, COLD));
        assert!(!is_worth_waiting_for(u64::MAX, u64::MAX, u64::MAX));
    }
}
