//! A far network, at the level of the application: what a user would wait for.
//!
//! A new connection costs one round trip before its first request is read, each request one before the first byte of
//! its answer. A connection's window begins with ten segments of 1448 bytes and doubles each round trip (TCP's slow
//! start, without loss); all connections share the bandwidth.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// TCP's initial window (RFC 6928).
const INITIAL: f64 = 10.0 * 1448.0;

/// What all connections share.
pub(crate) struct Link {
    pub delay: Duration,
    /// Bytes per second.
    rate: Option<f64>,
    free_at: Mutex<Instant>,
}

impl Link {
    pub fn new(delay: Duration, bits: Option<u64>) -> Self {
        Self { delay, rate: bits.map(|b| b as f64 / 8.0), free_at: Mutex::new(Instant::now()) }
    }

    /// When so many bytes have gone through, if they are handed over now.
    fn reserve(&self, bytes: usize) -> Option<Instant> {
        let rate = self.rate?;
        let mut free_at = self.free_at.lock().unwrap_or_else(PoisonError::into_inner);
        *free_at = (*free_at).max(Instant::now()) + Duration::from_secs_f64(bytes as f64 / rate);
        Some(*free_at)
    }

    /// The window that fills the link: beyond it slow start costs nothing.
    fn enough(&self) -> f64 {
        self.rate.map_or(16e6, |r| r * self.delay.as_secs_f64())
    }
}

/// One connection's window.
pub(crate) struct Window {
    link: Arc<Link>,
    size: f64,
    left: f64,
    round: Instant,
}

impl Window {
    pub fn new(link: Arc<Link>) -> Self {
        Self { link, size: INITIAL, left: INITIAL, round: Instant::now() }
    }

    /// The answer to a request begins: acknowledgements of what was sent before have come.
    pub fn begin(&mut self) {
        self.left = self.size;
        self.round = Instant::now();
    }

    /// Until when the next bytes have to wait, now that these are handed over.
    pub fn send(&mut self, bytes: usize) -> Option<Instant> {
        let through = self.link.reserve(bytes);
        if self.link.delay.is_zero() || self.size >= self.link.enough() {
            return through;
        }
        self.left -= bytes as f64;
        if self.left > 0.0 {
            return through;
        }
        let acknowledged = self.round + self.link.delay;
        self.round = acknowledged.max(Instant::now());
        self.size *= 2.0;
        self.left = self.size;
        Some(through.map_or(acknowledged, |t| t.max(acknowledged)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_doubles_each_round_trip() {
        let mut w = Window::new(Arc::new(Link::new(Duration::from_millis(100), None)));
        w.begin();
        let began = w.round;
        assert_eq!(w.send(10_000), None);
        assert_eq!(w.send(10_000), Some(began + Duration::from_millis(100)));
        assert_eq!(w.send(20_000), None);
        assert!(w.send(20_000).is_some());
        assert_eq!(w.size, INITIAL * 4.0);
    }

    #[test]
    fn near_links_have_no_window() {
        let mut w = Window::new(Arc::new(Link::new(Duration::ZERO, None)));
        assert!((0..100).all(|_| w.send(1 << 20).is_none()));
    }
}
