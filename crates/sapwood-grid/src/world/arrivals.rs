//! Bytes on their way into caches. A job that reads them there waits until they have arrived; where it would have them sooner from
//! where they come, it fetches them.

use super::{Event, World};
use crate::clock::Time;
use crate::keys::Map;
use sapwood_span::Result;
use std::collections::BTreeMap;
use std::ops::Range;

/// A cache: the proxy of a site, or the one of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CacheId(u64);

impl CacheId {
    pub(super) fn proxy(site: u32) -> Self {
        Self(u64::from(site) << 32 | u64::from(u32::MAX))
    }

    pub(super) fn node(site: u32, node: usize) -> Self {
        Self(u64::from(site) << 32 | node as u64)
    }
}

/// What is on its way into one cache.
#[derive(Default)]
struct Incoming {
    /// By the first file and the number of the arrival: the file behind the last one, and whose reads they are; none: all of the files.
    files: BTreeMap<(u64, u32), (u64, Option<u32>)>,
    /// The most files of one arrival so far.
    longest: u64,
}

/// Flows of one job, or those that fill a cache.
struct Arrival {
    /// Those that have not ended.
    flows: u32,
    /// When they end if nothing slows them.
    due: Time,
    into: Vec<(CacheId, Range<u64>)>,
    /// Jobs.
    waiting: Vec<u32>,
}

/// All arrivals.
#[derive(Default)]
pub(super) struct Arrivals {
    caches: Map<u64, Incoming>,
    all: Map<u64, Arrival>,
    last: u32,
}

impl Arrivals {
    /// Flows begin that bring files into caches; `workload` reads them. Returns their number, which is never 0.
    pub(super) fn begin(
        &mut self,
        flows: u32,
        due: Time,
        into: &[(CacheId, Range<u64>)],
        workload: Option<u32>,
    ) -> u32 {
        self.last = self.last.checked_add(1).unwrap_or(1);
        let id = self.last;
        for (cache, files) in into {
            let incoming = self.caches.entry(cache.0).or_default();
            incoming.files.insert((files.start, id), (files.end, workload));
            incoming.longest = incoming.longest.max(files.end - files.start);
        }
        self.all.insert(u64::from(id), Arrival { flows, due, into: into.to_vec(), waiting: Vec::new() });
        id
    }

    /// The arrivals that bring some of these files into a cache, if what they bring is read, too: adds their numbers.
    pub(super) fn bringing(
        &self,
        cache: CacheId,
        files: &Range<u64>,
        is_read: impl Fn(Option<u32>) -> bool,
        out: &mut Vec<u32>,
    ) {
        let Some(incoming) = self.caches.get(&cache.0) else { return };
        let near = (files.start.saturating_sub(incoming.longest), 0)..(files.end, 0);
        for (&(_, id), &(end, workload)) in incoming.files.range(near) {
            if end > files.start && is_read(workload) && !out.contains(&id) {
                out.push(id);
            }
        }
    }

    /// A job waits. Returns when the bytes are there if nothing slows them.
    fn wait(&mut self, id: u32, job: u32) -> Option<Time> {
        let arrival = self.all.get_mut(&u64::from(id))?;
        arrival.waiting.push(job);
        Some(arrival.due)
    }

    /// Whether a job waited, which it does no more.
    fn stops_waiting(&mut self, id: u32, job: u32) -> bool {
        let Some(arrival) = self.all.get_mut(&u64::from(id)) else { return false };
        let at = arrival.waiting.iter().position(|&waits| waits == job);
        at.map(|at| arrival.waiting.swap_remove(at)).is_some()
    }

    /// A flow has ended. After the last one: the jobs that waited for it.
    fn flow_ended(&mut self, id: u32) -> Vec<u32> {
        let Some(arrival) = self.all.get_mut(&u64::from(id)) else { return Vec::new() };
        arrival.flows -= 1;
        if arrival.flows > 0 {
            return Vec::new();
        }
        let Some(arrival) = self.all.remove(&u64::from(id)) else { return Vec::new() };
        for (cache, files) in &arrival.into {
            if let Some(incoming) = self.caches.get_mut(&cache.0) {
                incoming.files.remove(&(files.start, id));
            }
        }
        arrival.waiting
    }
}

impl World<'_> {
    /// A job waits for bytes on their way, but for no longer than it would take to fetch them: `alone` is when it would have them.
    /// Returns for how many arrivals it waits.
    pub(super) fn wait_for(&mut self, job: u32, arrivals: &[u32], alone: Time) -> u32 {
        let mut count = 0;
        for &id in arrivals {
            let Some(due) = self.arrivals.wait(id, job) else { continue };
            count += 1;
            // a slow job brings them; if the network is slow, to fetch them is no faster
            if alone < due {
                self.at(alone, Event::Overtakes(job, id));
            }
        }
        count
    }

    /// A job would have fetched the bytes by now that it waits for.
    pub(super) fn overtakes(&mut self, job: u32, arrival: u32) -> Result<()> {
        if self.arrivals.stops_waiting(arrival, job) { self.job_proceeds(job) } else { Ok(()) }
    }

    /// A flow of an arrival has ended.
    pub(super) fn arrives(&mut self, arrival: u32) -> Result<()> {
        self.arrivals.flow_ended(arrival).into_iter().try_for_each(|job| self.job_proceeds(job))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_on_their_way_are_found_until_the_last_flow_ends() {
        let mut arrivals = Arrivals::default();
        let (here, there) = (CacheId::proxy(3), CacheId::node(3, 0));
        let long = arrivals.begin(2, 100, &[(here, 10..30), (there, 10..30)], Some(7));
        let short = arrivals.begin(1, 50, &[(here, 28..29)], None);
        let found = |arrivals: &Arrivals, cache, files: Range<u64>, which: fn(Option<u32>) -> bool| {
            let mut out = Vec::new();
            arrivals.bringing(cache, &files, which, &mut out);
            out
        };
        assert_eq!(found(&arrivals, here, 28..40, |_| true), [long, short]);
        assert_eq!(found(&arrivals, here, 28..40, |w| w.is_none()), [short]);
        assert_eq!(found(&arrivals, there, 29..30, |_| true), [long]);
        for none in [0..10, 30..99, 5..5] {
            assert!(found(&arrivals, here, none, |_| true).is_empty());
        }
        assert_eq!(arrivals.wait(long, 1), Some(100));
        assert_eq!(arrivals.wait(long, 2), Some(100));
        assert!(arrivals.stops_waiting(long, 1) && !arrivals.stops_waiting(long, 1));
        assert!(arrivals.flow_ended(long).is_empty());
        assert_eq!(arrivals.flow_ended(long), [2]);
        assert_eq!(arrivals.wait(long, 3), None);
        assert_eq!(found(&arrivals, here, 0..99, |_| true), [short]);
    }
}
