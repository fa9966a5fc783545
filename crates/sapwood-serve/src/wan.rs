//! Simulates a distant server at the application level.
//!
//! What is modelled: one round trip for opening a connection; one for each request (half for the request, half for the
//! answer); TCP's slow start (RFC 5681 with the initial window of RFC 6928: ten segments; doubled each round trip in
//! which it was used up, until it holds bandwidth times round trip, or six megabytes, the usual limit of Linux); a
//! bandwidth that all connections share. What is not: loss, queues, slow start after idling, the path of the request
//! itself. For these use the kernel's own TCP over a real or emulated link.

use sapwood_span::sync::lock;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::{Instant, sleep, sleep_until};

const SEGMENT: u64 = 1448;
const INITIAL_WINDOW: u64 = 10 * SEGMENT;
const LARGEST_WINDOW: u64 = 6 << 20;
/// Timers have about this resolution: shorter waits are accumulated.
const GRAIN: Duration = Duration::from_millis(2);

/// The link that all connections share.
pub(crate) struct Wan {
    delay: Duration,
    /// Bytes per second.
    rate: Option<f64>,
    /// When the link will have sent everything it has accepted.
    free: Mutex<Instant>,
}

impl Wan {
    /// `bandwidth` is in bits per second.
    pub(crate) fn new(delay: Duration, bandwidth: Option<u64>) -> Arc<Self> {
        let rate = bandwidth.map(|bits| bits as f64 / 8.0);
        Arc::new(Self { delay, rate, free: Mutex::new(Instant::now()) })
    }

    /// Waits for a whole round trip: a connection is being opened.
    pub(crate) async fn connect(&self) {
        if !self.delay.is_zero() {
            sleep(self.delay).await;
        }
    }

    /// Waits for half a round trip: a request or the beginning of its answer is in flight.
    pub(crate) async fn half_way(&self) {
        if !self.delay.is_zero() {
            sleep(self.delay / 2).await;
        }
    }

    /// Waits until a whole round trip after a request has arrived: where requests follow each other closely, its two
    /// halves may be waited for together.
    pub(crate) async fn round_trip(&self, arrived: Instant) {
        if !self.delay.is_zero() {
            sleep_until(arrived + self.delay).await;
        }
    }

    /// The congestion window of a new connection.
    pub(crate) fn window(self: &Arc<Self>) -> Window {
        let product = self.rate.map_or(LARGEST_WINDOW, |r| (r * self.delay.as_secs_f64()) as u64);
        Window {
            wan: Arc::clone(self),
            size: INITIAL_WINDOW,
            largest: product.clamp(INITIAL_WINDOW, LARGEST_WINDOW),
            left: INITIAL_WINDOW,
            round: Instant::now(),
        }
    }

    /// When the link has room for this many more bytes.
    fn reserve(&self, bytes: u64) -> Option<Instant> {
        let rate = self.rate?;
        let mut free = lock(&self.free);
        let start = (*free).max(Instant::now());
        *free = start + Duration::from_secs_f64(bytes as f64 / rate);
        Some(*free)
    }
}

/// What one connection may send.
pub(crate) struct Window {
    wan: Arc<Wan>,
    size: u64,
    largest: u64,
    /// Bytes that may still be sent in this round trip.
    left: u64,
    /// When this round trip began.
    round: Instant,
}

impl Window {
    /// Whether anything is simulated at all.
    pub(crate) fn is_played(&self) -> bool {
        !self.wan.delay.is_zero() || self.wan.rate.is_some()
    }

    /// Waits until something may be sent; returns how much, at least one byte and at most `wish`.
    pub(crate) async fn grant(&mut self, wish: u64) -> u64 {
        let delay = self.wan.delay;
        let mut granted = wish;
        if !delay.is_zero() {
            let end = self.round + delay;
            if self.left == 0 {
                sleep_until(end).await;
                self.size = (self.size * 2).min(self.largest);
                self.begin_round(end);
            } else if Instant::now() >= end {
                self.begin_round(end);
            }
            granted = wish.min(self.left);
            self.left -= granted;
        }
        if let Some(at) = self.wan.reserve(granted)
            && at > Instant::now() + GRAIN
        {
            sleep_until(at).await;
        }
        granted
    }

    /// Timers fire late: a round that follows at once begins when the last one ended.
    fn begin_round(&mut self, end: Instant) {
        let now = Instant::now();
        self.round = if now < end + self.wan.delay { end } else { now };
        self.left = self.size;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes granted per round trip; the clock is tokio's, paused and advanced by its timers.
    fn rounds(delay_ms: u64, bandwidth: Option<u64>, count: usize) -> Vec<u64> {
        let rt = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        rt.block_on(async {
            let wan = Wan::new(Duration::from_millis(delay_ms), bandwidth);
            let (mut window, begin) = (wan.window(), Instant::now());
            let mut out = vec![0; count];
            loop {
                let granted = window.grant(1000).await;
                let round = (begin.elapsed().as_millis() / u128::from(delay_ms)) as usize;
                match out.get_mut(round) {
                    Some(sum) => *sum += granted,
                    None => return out,
                }
            }
        })
    }

    #[test]
    fn slow_start_doubles() {
        assert_eq!(rounds(100, None, 5), [14_480, 28_960, 57_920, 115_840, 231_680]);
    }

    #[test]
    fn bandwidth_ends_slow_start_and_is_kept() {
        // 8 Mbit/s and 100 ms: 100 kB per round trip.
        let got = rounds(100, Some(8_000_000), 8);
        assert_eq!(&got[..2], [14_480, 28_960]);
        assert!(got[5..].iter().all(|&b| (95_000..=105_000).contains(&b)), "{got:?}");
    }

    #[test]
    fn connections_share_the_line() {
        let rt = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        rt.block_on(async {
            let wan = Wan::new(Duration::ZERO, Some(8_000_000));
            let (mut a, mut b, begin) = (wan.window(), wan.window(), Instant::now());
            for _ in 0..50 {
                assert_eq!(a.grant(10_000).await + b.grant(10_000).await, 20_000);
            }
            let took = begin.elapsed();
            assert!((980..=1020).contains(&took.as_millis()), "a megabyte at a megabyte per second took {took:?}");
        });
    }
}
