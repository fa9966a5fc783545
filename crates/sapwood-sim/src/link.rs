use sapwood_plan::Limits;
use std::time::Duration;

/// The path to a server, and the server's speed.
///
/// A model of TCP without packets: a connection has at most its congestion window in flight; each acknowledgement makes
/// the window wider by what it acknowledges (slow start), or, after a loss, by one segment per round trip; all
/// connections that may send share the bandwidth equally.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    /// Round-trip time; zero for a local disk.
    pub round_trip: Duration,
    /// Bytes per second that all connections share.
    pub bandwidth: f64,
    /// Bytes a fresh connection may send in its first round trip; 10 segments (RFC 6928).
    pub initial_window: u64,
    /// Bytes a connection may have in flight at most: the receiver's buffer.
    pub largest_window: u64,
    /// Bytes that the receiver takes at once until it has seen how fast they come: a window stays there for a round trip, then grows on.
    pub receive_window: u64,
    /// Senders end slow start where they see a queue on the path (HyStart, RFC 9406, as Linux does it), not only after a
    /// loss.
    pub hystart: bool,
    /// Round trips before the first request on a fresh connection (1 for TCP, 2 or 3 with TLS).
    pub connect_round_trips: u32,
    /// The server's time for each request before its first byte.
    pub per_request: Duration,
    /// The server's time for each range, before its first byte: seek and read.
    pub per_range: Duration,
    /// Header bytes in the reply for each range.
    pub range_header: u64,
    /// Header bytes in each reply.
    pub request_header: u64,
    /// Requests that follow each other on one connection without a pause; at least 1.
    pub queue: usize,
    /// Connections that are open from the beginning: the bytes that each may have in flight.
    pub open: Vec<u64>,
    /// A packet is lost whenever a connection has sent this many bytes more.
    pub loss_every: Option<u64>,
}

/// Bytes in one TCP segment.
pub const SEGMENT: f64 = 1460.0;

impl Link {
    /// A network with this round-trip time and bandwidth (bytes per second), HTTP over TCP, a
    /// server with a quick disk, no losses.
    pub fn new(round_trip: Duration, bandwidth: f64) -> Self {
        Self {
            round_trip,
            bandwidth,
            initial_window: 14_600,
            largest_window: 8 << 20,
            receive_window: 64 << 10,
            hystart: false,
            connect_round_trips: 1,
            per_request: Duration::from_micros(100),
            per_range: Duration::from_micros(10),
            range_header: 100,
            request_header: 0,
            queue: 1,
            open: Vec::new(),
            loss_every: None,
        }
    }

    /// A local disk: this many bytes per second, and this time for each seek.
    pub fn local(bandwidth: f64, seek: Duration) -> Self {
        Self {
            per_request: Duration::ZERO,
            per_range: seek,
            range_header: 0,
            connect_round_trips: 0,
            ..Self::new(Duration::ZERO, bandwidth)
        }
    }

    /// Bytes that a connection sends until the next loss. Without a round trip a loss costs nothing.
    pub(crate) fn until_loss(&self) -> f64 {
        let every = self.loss_every.filter(|_| !self.round_trip.is_zero());
        every.map_or(f64::INFINITY, |bytes| bytes.max(1) as f64)
    }

    /// Limits with which the planner is not constrained on this link: those of a local file, or those of HTTP with 16
    /// connections at every distance. The planner has to measure the bandwidth. For the cost of a scan that opens fewer
    /// connections, as Sapwood's client does, use [`Limits::http`].
    pub fn limits(&self) -> Limits {
        if self.round_trip.is_zero() {
            Limits::local(2)
        } else {
            Limits { max_in_flight: 16, ..Limits::http(self.round_trip) }
        }
    }

    /// What comes of a request for this many bytes, alone on a connection that is open and may have `window` bytes in flight,
    /// while it has a share of the bandwidth (1: all); and its window after that.
    ///
    /// What the window allows comes in one flight, then the sender waits for acknowledgements; the flights of a window that is
    /// as wide as it gets are one. There is one flight at least.
    pub fn flights(&self, bytes: u64, window: u64, share: f64) -> (Vec<Flight>, u64) {
        let round_trip = self.round_trip.as_secs_f64();
        let rate = (self.bandwidth * share).max(1.0);
        let largest = self.largest_window.max(1) as f64;
        let (mut left, mut wide) = (bytes as f64, (window.max(1) as f64).min(largest));
        let mut seconds = round_trip + self.per_request.as_secs_f64();
        let held = self.receive_window as f64;
        let mut flights = Vec::new();
        let mut flight = |seconds: f64, bytes: f64, time: f64| {
            let [begin, end] = [seconds, seconds + time].map(Duration::from_secs_f64);
            flights.push(Flight { begin, end, bytes: bytes as u64 });
        };
        while left > wide && wide < rate * round_trip {
            if wide < held && wide * 2.0 > held && left > wide + held {
                // one round trip more, as wide as the receiver allows
                flight(seconds, held, held / rate);
                left -= held;
                seconds += round_trip;
            }
            flight(seconds, wide, wide / rate);
            left -= wide;
            seconds += round_trip;
            if wide == largest {
                // as wide as it gets
                let turns = (left / wide).floor();
                if turns > 0.0 {
                    flight(seconds, wide * turns, round_trip * turns);
                }
                left -= wide * turns;
                seconds += round_trip * turns;
            }
            wide = (wide * 2.0).min(largest);
        }
        flight(seconds, left, left / rate);
        // each acknowledged segment opens the window by one, also a short one
        let acknowledged = bytes.div_ceil(SEGMENT as u64).saturating_mul(SEGMENT as u64);
        let after = window.saturating_add(acknowledged).min(self.largest_window.max(window));
        (flights, after)
    }
}

/// Bytes that come one after another without a pause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flight {
    /// When its first byte comes, counted from the request.
    pub begin: Duration,
    /// When its last byte comes.
    pub end: Duration,
    /// Its bytes.
    pub bytes: u64,
}
