//! Which session carries small requests.

use super::caller::Caller;
use super::conn::Conn;
use super::failure::Broken;
use super::host::Host;
use crate::lock;
use sapwood_span::slow_start;
use std::sync::Arc;
use std::time::Duration;

/// Fewer bytes than this before an answer hardly delay it.
const LITTLE: u64 = 128 << 10;

/// Round trips until a fresh session answers: connection, login and opening the file.
const FRESH_TRIPS: f64 = 3.0;

/// Round trips without a byte after which a session may have stalled: between the flights of an answer there is one.
const SILENT_TRIPS: u32 = 2;

impl Host {
    /// The session that brings an answer of this many bytes first, as far as can be seen. A new one where there is none, or
    /// where all have so much to bring before it, or may have stalled, that a new one may be faster.
    pub(crate) async fn quick(
        self: &Arc<Self>,
        caller: &Caller,
        time_limit: Duration,
        bytes: u64,
    ) -> Result<Arc<Conn>, Broken> {
        let fitting = || {
            let path = self.path();
            let mut pool = self.pool();
            pool.sift();
            let crowded = pool.conns.len() >= self.most_sessions();
            let sessions = pool.conns.iter().map(|c| (c, path.standing(c)));
            let first = path.choose(sessions, bytes, crowded);
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
        let round_trip = meter.distance().unwrap_or_default();
        Path::Far { round_trip, per_trip: meter.bandwidth().map(|rate| rate * round_trip.as_secs_f64()) }
    }
}

/// What a session has done, and has to do.
#[derive(Clone, Copy, Debug)]
struct Standing {
    /// Bytes that it has brought.
    carried: u64,
    /// Bytes that it is still to bring.
    load: u64,
    /// It has brought nothing of them for a while.
    hangs: bool,
}

/// The path to a server.
#[derive(Clone, Copy, Debug)]
enum Path {
    /// What comes is there at once: only what comes before it matters.
    Near,
    /// `per_trip`: bytes that it carries in a round trip, as far as known.
    Far { round_trip: Duration, per_trip: Option<f64> },
}

impl Path {
    fn standing(self, conn: &Conn) -> Standing {
        let hangs = match self {
            Self::Near => false,
            Self::Far { round_trip, .. } => conn.is_silent(round_trip * SILENT_TRIPS),
        };
        Standing { carried: conn.carried(), load: conn.load(), hangs }
    }

    /// The session for an answer of this many bytes; none if a new one is better and there may be more.
    fn choose<T>(self, sessions: impl Iterator<Item = (T, Standing)>, bytes: u64, crowded: bool) -> Option<T> {
        let mut first: Option<(T, Standing, f64)> = None;
        for (session, s) in sessions {
            let room = if s.hangs { LITTLE } else { self.little() };
            let trips = self.round_trips(s, bytes);
            let is_sooner = |(_, other, of_other): &(T, Standing, f64)| {
                let order = s.hangs.cmp(&other.hangs).then(trips.total_cmp(of_other));
                order.then(s.load.cmp(&other.load)).then(other.carried.cmp(&s.carried)).is_lt()
            };
            if (crowded || s.load < room) && first.as_ref().is_none_or(is_sooner) {
                first = Some((session, s, trips));
            }
        }
        first.map(|(session, ..)| session)
    }

    /// After how many round trips a session has brought all of an answer, not counting the one of its request.
    fn round_trips(self, session: Standing, bytes: u64) -> f64 {
        let Self::Far { per_trip, .. } = self else { return 0.0 };
        let Standing { carried, load, .. } = session;
        let flights = slow_start::more_flights(carried, load.saturating_add(bytes));
        f64::from(flights) + per_trip.map_or(0.0, |most| load as f64 / most.max(1.0))
    }

    /// If fewer bytes are to come before an answer, no new session is opened for it.
    fn little(self) -> u64 {
        match self {
            Self::Far { per_trip: Some(most), .. } => LITTLE.max((most * FRESH_TRIPS) as u64),
            Self::Near | Self::Far { per_trip: None, .. } => LITTLE,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KB: u64 = 1000;
    const SLOW: Path = far(Some(72e3));

    const fn far(per_trip: Option<f64>) -> Path {
        Path::Far { round_trip: Duration::from_millis(72), per_trip }
    }

    fn standing(carried: u64, load: u64) -> Standing {
        Standing { carried, load, hangs: false }
    }

    fn stalled(carried: u64, load: u64) -> Standing {
        Standing { hangs: true, ..standing(carried, load) }
    }

    fn chosen(path: Path, sessions: &[Standing], bytes: u64) -> Option<usize> {
        path.choose(sessions.iter().copied().enumerate(), bytes, false)
    }

    #[test]
    fn an_answer_comes_first_over_the_session_that_need_not_wait_for_acknowledgements() {
        let trips = |carried, load, bytes| SLOW.round_trips(standing(carried, load), bytes);
        assert_eq!(trips(400 * KB, 0, 30 * KB), 0.0);
        assert_eq!(trips(0, 0, 14 * KB), 0.0);
        assert_eq!(trips(0, 0, 43 * KB), 1.0, "flights of 14 and 29 kB");
        assert_eq!(trips(0, 0, 44 * KB), 2.0);
        assert!(trips(u64::MAX, u64::MAX, u64::MAX).is_finite());
        let of = |load, bytes| chosen(SLOW, &[standing(0, 0), standing(400 * KB, load)], bytes);
        assert_eq!(of(40 * KB, 30 * KB), Some(1));
        assert_eq!(of(40 * KB, 5 * KB), Some(0));
        assert_eq!(of(200 * KB, 30 * KB), Some(0), "it is behind others");
        assert_eq!(chosen(SLOW, &[standing(0, 0), standing(1, 0)], 0), Some(1), "the widest of those that are free");
        assert_eq!(chosen(Path::Near, &[standing(0, 2), standing(0, 1)], 300 * KB), Some(1));
    }

    #[test]
    fn a_session_that_may_have_stalled_is_the_last_choice() {
        let bulk = stalled(600 * KB, 400 * KB);
        for path in [far(Some(1e6)), far(None)] {
            assert_eq!(chosen(path, &[bulk], 30 * KB), None);
            assert_eq!(chosen(path, &[bulk, standing(0, 0)], 30 * KB), Some(1));
            assert_eq!(chosen(path, &[stalled(600 * KB, 100 * KB), standing(0, 30 * KB)], 30 * KB), Some(1));
            assert_eq!(path.choose([(0, bulk)].into_iter(), 30 * KB, true), Some(0), "there may be no other");
        }
    }

    #[test]
    fn a_session_is_opened_only_where_all_others_are_deep_in_bulk() {
        assert_eq!(far(None).little(), LITTLE);
        assert_eq!(far(Some(1e3)).little(), LITTLE);
        assert_eq!(far(Some(1e6)).little(), 3_000_000);
        assert_eq!(Path::Near.little(), LITTLE);
        let wide = standing(600 * KB, 300 * KB);
        assert_eq!(chosen(far(None), &[wide], 20 * KB), None);
        assert_eq!(chosen(far(None), &[wide, standing(0, 100 * KB)], 20 * KB), Some(1), "it has room");
        assert_eq!(chosen(far(Some(1e6)), &[wide], 20 * KB), Some(0));
    }
}
