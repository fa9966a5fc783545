//! Decides how large requests are, how many are in pending, and how many baskets each carries. It measures bandwidth and
//! round-trip time itself, from replies.

use crate::Limits;
use crate::assumptions::{BANDWIDTH, FRESH_CONNECTION, SLOW_START_SHARE};
use crate::order::{Extent, SMALL_CLUSTER};
use std::collections::VecDeque;
use std::time::Duration;

/// A parallel request pays when it carries at least what a fresh connection does.
const SMALLEST_PIECE: u64 = FRESH_CONNECTION;
/// No request is larger, except one that fills a cache of a chosen size: over several connections, each brings its
/// share.
const LARGEST_PIECE: u64 = 16 << 20;
/// Requests of this size keep a path busy that is not long.
const FULL_PIECE: u64 = 4 << 20;
/// Seconds that a request of a long transfer may take, if it is larger than a full one.
const LONGEST_PIECE: f64 = 1.5;
/// Full requests that keep a connection busy while its window opens. Many more would tie bytes to a connection slowed
/// down by losses that others could bring.
const ENOUGH: u64 = 3;
/// In pending at least: bandwidth times this many round trips; more than one, so that a measured bandwidth that was
/// limited by the window itself doubles from reply to reply.
const ROUND_TRIPS: f64 = 4.0;
/// In pending at least: what the path carries in this many seconds.
const SECONDS: f64 = 0.5;
/// Size of the first request after a jump, and of a local file's first; the next ones grow fourfold.
const FIRST_FAR: u64 = 64 << 10;
const FIRST_LOCAL: u64 = 256 << 10;
/// Replies remembered for the bandwidth, and arrivals remembered to attribute bytes to them.
const RATES: usize = 8;
const ARRIVALS: usize = 512;
/// Replies that took less time, or carried less, say nothing about bandwidth.
const MEASURABLE_TIME: Duration = Duration::from_micros(200);
const MEASURABLE_BYTES: u64 = 16 << 10;

/// What is left to fetch: queued and in pending.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Backlog {
    pub bytes: u64,
    pub ranges: u64,
}

/// The cache to fill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cache {
    /// Its size in bytes.
    pub hold: u64,
    /// The user has chosen this size and not everything fits: it is filled by whole requests, one more than it holds.
    pub fills: bool,
    /// Everything to fetch is more than it holds, and its size is the default.
    pub long: bool,
}

/// The sizes to use now, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sizes {
    /// In pending or held, unless the consumer waits.
    pub budget: u64,
    /// In pending.
    pub window: u64,
    /// Requests in pending.
    pub lanes: usize,
    /// One request.
    pub piece: u64,
    /// How the backlog was divided: keep it when a request is made by it.
    division: Option<Division>,
}

/// Measures round trips and bandwidth, and sizes requests and window by them.
#[derive(Debug, Default)]
pub(crate) struct RequestSizing {
    round_trip: Option<Duration>,
    rates: VecDeque<f64>,
    arrivals: VecDeque<(Duration, u64)>,
    arrived: u64,
    division: Option<Division>,
}

/// The share of each request in the backlog, and the inputs that decided it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Division {
    parallel: u64,
    most: u64,
    max_ranges: u64,
    share: u64,
}

impl RequestSizing {
    pub(crate) fn arrived(&mut self, now: Duration, bytes: u64) {
        self.arrived += bytes;
        if self.arrivals.len() == ARRIVALS {
            self.arrivals.pop_front();
        }
        self.arrivals.push_back((now, self.arrived));
    }

    /// A reply is complete. Bandwidth is what all fetches together received during it.
    pub(crate) fn done(&mut self, now: Duration, first_byte: Duration, total: Duration, bytes: u64) {
        if !first_byte.is_zero() {
            self.round_trip = Some(self.round_trip.map_or(first_byte, |r| r.min(first_byte)));
        }
        let transfer = total.saturating_sub(first_byte);
        if transfer < MEASURABLE_TIME || bytes < MEASURABLE_BYTES {
            return;
        }
        let begin = now.saturating_sub(transfer);
        let known = self.arrivals.partition_point(|&(t, _)| t <= begin);
        let before = match known.checked_sub(1) {
            Some(i) => self.arrivals[i].1,
            None => self.arrivals.front().map_or(self.arrived, |&(_, sum)| sum),
        };
        let brought = bytes.max(self.arrived - before);
        if self.rates.len() == RATES {
            self.rates.pop_front();
        }
        self.rates.push_back(brought as f64 / transfer.as_secs_f64());
    }

    pub(crate) fn round_trip(&self, limits: &Limits) -> Option<Duration> {
        if limits.is_far() { self.round_trip.or(limits.round_trip) } else { None }
    }

    /// The best of the latest replies: a slow one says more about slow start, or about its server, than about the path.
    /// What was known before counts until enough is measured.
    pub(crate) fn bandwidth(&self, limits: &Limits) -> Option<f64> {
        let prior = if self.rates.len() < RATES { limits.bandwidth.filter(|b| *b > 0.0) } else { None };
        self.rates.iter().copied().chain(prior).reduce(f64::max)
    }

    /// A request was made with these sizes.
    pub(crate) fn keep(&mut self, sizes: &Sizes) {
        self.division = sizes.division;
    }

    /// Limits on the `n`th request since the scan began, or since the consumer jumped.
    pub(crate) fn ramp(limits: &Limits, n: u32) -> u64 {
        let first = if limits.is_far() { FIRST_FAR } else { FIRST_LOCAL };
        first.saturating_mul(1 << (2 * n.min(16)))
    }

    /// Changes nothing: calling it twice gives the same.
    pub(crate) fn sizes(&self, limits: &Limits, cache: Cache, extent: Extent, backlog: Backlog) -> Sizes {
        let hold = cache.hold;
        let Extent { basket, largest_cluster, mean_cluster } = extent;
        let all = limits.max_in_flight.max(1) as u64;
        let few = limits.streams.map(|n| n.saturating_mul(limits.queue).max(1) as u64);
        let lanes = few.filter(|_| cache.long).map_or(all, |few| all.min(few));
        let most = limits.max_request_bytes.clamp(1, LARGEST_PIECE);
        let Some(round_trip) = self.round_trip(limits) else {
            let usual = if mean_cluster > 0 { mean_cluster.clamp(1 << 20, 4 << 20) } else { 2 << 20 };
            let budget = hold.min(largest_cluster.max((lanes + 2) * usual).max(basket.saturating_mul(lanes)));
            let piece = usual.min(backlog.bytes.div_ceil(lanes).max(FIRST_LOCAL)).min(most);
            return Sizes {
                budget,
                window: budget,
                lanes: lanes as usize,
                piece: piece.min(budget.div_ceil(2)),
                division: None,
            };
        };
        let bandwidth = self.bandwidth(limits);
        let pipe = bandwidth.unwrap_or(BANDWIDTH) * round_trip.as_secs_f64();
        // Requests queued on one connection share its window.
        let queue = limits.queue.clamp(1, limits.max_in_flight.max(1)) as u64;
        let connections = lanes / queue;
        let parallel = ((pipe / SLOW_START_SHARE as f64).ceil() as u64).max(2).min(connections.max(1));
        let max_ranges = limits.max_ranges.max(1) as u64;
        let range = backlog.bytes / backlog.ranges.max(1);
        let full = most.min(FULL_PIECE).min(range.saturating_mul(max_ranges)).max(SMALLEST_PIECE);
        // In a long transfer large clusters come entry by entry: a whole one need not be in pending.
        let together = if cache.long { largest_cluster.min(SMALL_CLUSTER) } else { largest_cluster };
        let window = match bandwidth {
            Some(b) => {
                let pipe = (ROUND_TRIPS * pipe).max(SECONDS * b) as u64;
                // What was measured while windows opened says too little: a connection never runs out of requests.
                pipe.max(parallel.max(queue.min(ENOUGH)) * full).max(together).max(basket.saturating_mul(2)).min(hold)
            }
            None => hold,
        };
        // Equal pieces, one for each connection at least. Divided again only when something changed: dividing the
        // remainder again and again would make ever smaller pieces.
        let same = |c: &Division| (c.parallel, c.most, c.max_ranges) == (parallel, most, max_ranges);
        let division = self.division.filter(same).unwrap_or_else(|| {
            let needed = backlog.bytes.div_ceil(most).max(backlog.ranges.div_ceil(max_ranges)).max(1);
            let share = backlog.bytes.div_ceil(needed.max(parallel));
            Division { parallel, most, max_ranges, share }
        });
        // Those of a long transfer over few connections come in the order in which they are needed: none takes long,
        // and each carries its share of the total rate.
        let soon = |few: u64| ((LONGEST_PIECE * bandwidth.unwrap_or(0.0)) as u64 / few).max(FULL_PIECE);
        let largest = few.filter(|_| cache.long).map_or(window / parallel, soon);
        // A window has grown by all bytes that it transferred: smaller requests over open ones are not faster.
        let at_once = self.arrived / connections.max(1);
        let piece = division.share.max(at_once).min(largest).max(SMALLEST_PIECE).min(most).min(hold);
        if !cache.fills {
            return Sizes { budget: hold, window, lanes: lanes as usize, piece, division: Some(division) };
        }
        // As many requests as filling the cache repeatedly would take, the next one always in pending.
        let piece = hold.min(limits.max_request_bytes).min(range.saturating_mul(max_ranges)).max(piece);
        Sizes {
            budget: hold.saturating_add(piece),
            lanes: lanes as usize,
            window: window.max(piece.saturating_mul(2)),
            piece,
            division: Some(division),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MB: u64 = 1 << 20;

    fn far(ms: u64) -> Limits {
        Limits::http(Duration::from_millis(ms))
    }

    fn sizes(limits: &Limits, bytes: u64, ranges: u64) -> Sizes {
        let cache = Cache { hold: 64 * MB, fills: false, long: false };
        RequestSizing::default().sizes(limits, cache, Extent::default(), Backlog { bytes, ranges })
    }

    #[test]
    fn scattered_data_far_away_goes_in_as_few_requests_as_it_can() {
        let s = sizes(&far(240), 15_900_000, 3700);
        assert_eq!((s.piece, s.window), (15_900_000u64.div_ceil(21), 64 * MB));
        // One session, on which requests queue.
        let s = sizes(&Limits { max_in_flight: 3, ..Limits::xrootd(Duration::from_millis(240)) }, 15_900_000, 3700);
        assert_eq!((s.piece, s.window), (15_900_000u64.div_ceil(4), 64 * MB));
    }

    #[test]
    fn little_data_or_a_short_way_is_not_split_finely() {
        assert_eq!(sizes(&far(240), 100_000, 3).piece, SMALLEST_PIECE);
        assert_eq!(sizes(&Limits::http(Duration::from_micros(300)), 4 * MB, 3).piece, 2 * MB);
    }

    #[test]
    fn a_small_cache_is_filled_by_one_request_while_the_next_is_under_way() {
        let cache = Cache { hold: 100_000, fills: true, long: false };
        let s = RequestSizing::default().sizes(
            &far(20),
            cache,
            Extent::default(),
            Backlog { bytes: 10 * MB, ranges: 1000 },
        );
        assert_eq!((s.budget, s.piece), (200_000, 100_000));
    }

    #[test]
    fn a_large_cache_is_filled_by_one_request_as_well() {
        for limits in [far(11), Limits::xrootd(Duration::from_millis(11))] {
            let cache = Cache { hold: 64 * MB, fills: true, long: false };
            let s = RequestSizing::default().sizes(
                &limits,
                cache,
                Extent::default(),
                Backlog { bytes: 185 * MB, ranges: 20 },
            );
            assert_eq!((s.budget, s.piece), (128 * MB, 64 * MB));
            // alone it is divided, so that another connection can help
            let s = RequestSizing::default().sizes(
                &limits,
                Cache { fills: false, ..cache },
                Extent::default(),
                Backlog { bytes: 185 * MB, ranges: 20 },
            );
            assert!(s.piece <= 16 * MB, "{s:?}");
        }
    }

    #[test]
    fn bandwidth_is_what_all_fetches_bring_together() {
        let mut pace = RequestSizing::default();
        let ms = Duration::from_millis;
        for t in 1..=100 {
            pace.arrived(ms(t), 10_000);
        }
        // Half the bytes of that time came with other fetches.
        pace.done(ms(100), ms(20), ms(100), 400_000);
        assert_eq!(pace.bandwidth(&far(20)), Some(1e7));
        assert_eq!(pace.round_trip(&far(30)), Some(ms(20)));
        assert_eq!(pace.round_trip(&Limits::local(2)), None);
    }

    #[test]
    fn open_windows_are_asked_for_what_they_bring_at_once() {
        let mut pace = RequestSizing::default();
        (1..=240).for_each(|t| pace.arrived(Duration::from_millis(t), 50_000));
        let cache = Cache { hold: 64 * MB, fills: false, long: false };
        let s = pace.sizes(&far(240), cache, Extent::default(), Backlog { bytes: 1_200_000, ranges: 340 });
        assert!(s.piece >= 600_000, "as few requests as ranges allow: {s:?}");
    }

    #[test]
    fn a_narrow_way_keeps_little_in_flight() {
        let limits = Limits { bandwidth: Some(1e6), ..far(72) };
        let s = sizes(&limits, 15_900_000, 3700);
        assert!(s.window < 3 * MB, "{s:?}");
        assert!(s.piece > 300_000, "{s:?}");
    }
}
