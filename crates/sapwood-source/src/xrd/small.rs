//! Which session carries small requests.

use super::caller::Caller;
use super::conn::Conn;
use super::failure::Broken;
use super::host::Host;
use crate::lock;
use sapwood_span::slow_start::INITIAL_WINDOW;
use std::sync::Arc;
use std::time::Duration;

/// Fewer bytes than this before an answer hardly delay it.
const LITTLE: u64 = 128 << 10;

/// Round trips until a fresh session answers: connection, login and opening the file.
const FRESH_TRIPS: f64 = 3.0;

impl Host {
    /// The session that brings an answer of this many bytes first; a new one where there is none, or where so much is to
    /// come over all of them that a new one would be faster.
    pub(crate) async fn quick(
        self: &Arc<Self>,
        caller: &Caller,
        time_limit: Duration,
        bytes: u64,
    ) -> Result<Arc<Conn>, Broken> {
        let path = self.path();
        let fitting = || {
            let mut pool = self.pool();
            pool.sift();
            let crowded = pool.conns.len() >= self.most_sessions();
            let delay = |c: &Arc<Conn>| (path.round_trips(c.carried(), c.load(), bytes), c.load());
            let sooner = |a: &(f64, u64), b: &(f64, u64)| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1));
            let first = pool.conns.iter().min_by(|a, b| sooner(&delay(a), &delay(b)));
            let first = first.filter(|c| crowded || c.load() < path.little());
            first.inspect(|c| c.set_time_limit(caller.options.progress_timeout)).cloned()
        };
        if let Some(conn) = fitting() {
            return Ok(conn);
        }
        // One task opens a session, the others wait and share it.
        let first = Arc::clone(&self.pool().first);
        let _first = first.lock().await;
        if let Some(conn) = fitting() {
            return Ok(conn);
        }
        let wait = caller.counters.wait();
        let conn = self.dial(caller, time_limit).await?;
        caller.counters.waited(wait, 1);
        lock(&conn.core.state).unclaimed = true;
        self.pool().conns.push(Arc::clone(&conn));
        Ok(conn)
    }

    fn path(&self) -> Path {
        if self.is_near() {
            return Path::Near;
        }
        let meter = lock(&self.meter);
        let known = meter.bandwidth().zip(meter.distance());
        Path::Far { carried: known.map(|(rate, far)| rate * far.as_secs_f64()) }
    }
}

/// The path to a server.
#[derive(Clone, Copy, Debug)]
enum Path {
    /// What comes is there at once: only what comes before it matters.
    Near,
    /// Bytes that it carries in a round trip, as far as known.
    Far { carried: Option<f64> },
}

impl Path {
    /// After how many round trips a session has brought all of an answer, not counting the one of its request, if it has carried
    /// so many bytes before and `load` bytes are to come over it first. Each round trip brings twice as much as the one before, from
    /// what a fresh connection brings on: [`slow_start`](sapwood_span::slow_start).
    fn round_trips(self, carried: u64, load: u64, bytes: u64) -> f64 {
        let Self::Far { carried: in_a_round_trip } = self else { return 0.0 };
        let window = carried.saturating_add(INITIAL_WINDOW) as f64;
        let all = load.saturating_add(bytes) as f64;
        let flights = ((all / window + 1.0).log2().ceil() - 1.0).max(0.0);
        flights + in_a_round_trip.map_or(0.0, |most| load as f64 / most.max(1.0))
    }

    /// If fewer bytes are to come before an answer, no new session is opened for it.
    fn little(self) -> u64 {
        match self {
            Self::Far { carried: Some(most) } => LITTLE.max((most * FRESH_TRIPS) as u64),
            Self::Near | Self::Far { carried: None } => LITTLE,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KB: u64 = 1000;

    #[test]
    fn an_answer_comes_first_over_the_session_that_need_not_wait_for_acknowledgements() {
        // 1 MB/s at 72 ms
        let path = Path::Far { carried: Some(72e3) };
        let [wide, fresh] = [|load, bytes| (400 * KB, load, bytes), |load, bytes| (0, load, bytes)];
        let trips = |(carried, load, bytes)| path.round_trips(carried, load, bytes);
        assert_eq!(trips(wide(0, 30 * KB)), 0.0);
        assert_eq!(trips(fresh(0, 14 * KB)), 0.0);
        assert_eq!(trips(fresh(0, 43 * KB)), 1.0, "flights of 14 and 29 kB");
        assert_eq!(trips(fresh(0, 44 * KB)), 2.0);
        assert!(trips(wide(40 * KB, 30 * KB)) < trips(fresh(0, 30 * KB)));
        assert!(trips(wide(40 * KB, 5 * KB)) > trips(fresh(0, 5 * KB)));
        assert!(trips(wide(300 * KB, 16 * KB)) > trips(fresh(0, 16 * KB)), "it is behind others");
        assert!(trips(wide(u64::MAX, u64::MAX)).is_finite());
        let near = Path::Near;
        assert_eq!(near.round_trips(0, 300 * KB, 300 * KB), 0.0);
    }

    #[test]
    fn a_session_is_opened_where_all_others_are_deep_in_bulk() {
        assert_eq!(Path::Far { carried: None }.little(), LITTLE);
        assert_eq!(Path::Far { carried: Some(1e3) }.little(), LITTLE);
        assert_eq!(Path::Far { carried: Some(1e6) }.little(), 3_000_000);
        assert_eq!(Path::Near.little(), LITTLE);
    }
}
