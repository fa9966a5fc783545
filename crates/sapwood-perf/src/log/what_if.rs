//! What the planner would do under other conditions: the recorded scan again, in virtual time, with another cache or
//! network.

use super::ScanLog;
use sapwood_plan::{CacheSize, Event, Limits, Record, Request};
use sapwood_sim::{Client, Faults, Link};
use sapwood_span::{Error, Result};
use std::time::Duration;

/// The changed conditions; none keeps the recorded one.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Conditions {
    /// Size of the tree cache.
    pub cache: Option<CacheSize>,
    /// Round-trip time; zero for a local disk.
    pub round_trip: Option<Duration>,
    /// Bytes per second that all connections share.
    pub bandwidth: Option<f64>,
}

/// The result.
#[derive(Clone, Debug, PartialEq)]
pub struct WhatIf {
    /// The cache it was tried with.
    pub cache: CacheSize,
    /// The round-trip time.
    pub round_trip: Duration,
    /// Bytes per second.
    pub bandwidth: f64,
    /// Requests.
    pub requests: u64,
    /// Ranges in them.
    pub ranges: u64,
    /// Bytes requested.
    pub bytes: u64,
    /// Bytes of bridged gaps among them.
    pub gap_bytes: u64,
    /// Waits of the consumer.
    pub waits: u64,
    /// How long, together, in seconds.
    pub wait_seconds: f64,
    /// Time until the last entry arrived, in seconds.
    pub seconds: f64,
    /// The most compressed bytes held or in flight.
    pub max_held_bytes: u64,
}

/// Bytes per second where neither the caller nor the log gives it: a disk, a gigabit line.
const DISK: f64 = 500e6;
const LINE: f64 = 125e6;
/// Compressed bytes a core decompresses per second where the log does not give it.
const INFLATE: f64 = 200e6;

impl ScanLog {
    /// Runs the scan in virtual time. The consumer requests the same entries as the recorded one, without pauses; cores
    /// are as fast as recorded. The network is a model (see `sapwood_sim::Link`): compare its results with each other,
    /// including the one without changes.
    ///
    /// # Errors
    /// `Invalid` when the log holds no scan that could run: no entries wanted, or baskets that the planner refuses.
    pub fn what_if(&self, conditions: &Conditions) -> Result<WhatIf> {
        let batches = self.batches();
        if batches.is_empty() {
            return Err(Error::invalid("the recorded scan read no entries").in_file(&self.file));
        }
        let round_trip = conditions.round_trip.or(self.round_trip).or(self.limits().round_trip).unwrap_or_default();
        let far = !round_trip.is_zero();
        let cache = conditions.cache.unwrap_or(self.request.cache);
        let was_far = self.limits().round_trip.is_some_and(|r| !r.is_zero());
        // the rate of a disk says nothing about a line
        let measured = if far == was_far { self.bandwidth } else { None };
        let bandwidth = conditions.bandwidth.or(measured).unwrap_or(if far { LINE } else { DISK });
        let limits = match (far, was_far) {
            (true, true) => Limits { round_trip: Some(round_trip), bandwidth: None, ..self.limits().clone() },
            (true, false) => Limits::http(round_trip),
            (false, false) => self.limits().clone(),
            (false, true) => Limits::local(self.threads.clamp(1, 256) as usize),
        };
        let hold = match cache {
            CacheSize::Bytes(n) => n.max(1),
            _ if conditions.cache.is_none() && far == was_far => self.request.hold,
            _ => 0,
        };
        let request = Request { cache, limits, clusters: self.request.clusters.clone(), hold };
        let link =
            if far { Link::new(round_trip, bandwidth) } else { Link::local(bandwidth, Duration::from_micros(80)) };
        let client = Client {
            cores: self.threads.clamp(1, 256) as usize,
            inflate: if self.inflate > 0.0 { self.inflate } else { INFLATE },
            batches,
            ..Client::sequential(0, 1)
        };
        let done = sapwood_sim::run(&self.baskets, request, &link, &client, &Faults::default())
            .map_err(|e| e.in_file(&self.file))?;
        Ok(WhatIf {
            cache,
            round_trip,
            bandwidth,
            requests: done.stats.requests,
            ranges: done.stats.ranges,
            bytes: done.stats.asked_bytes,
            gap_bytes: done.stats.gap_bytes,
            waits: done.waits,
            wait_seconds: done.waited.as_secs_f64(),
            seconds: done.time.as_secs_f64(),
            max_held_bytes: done.stats.max_held_bytes,
        })
    }

    /// The limits that applied at the end.
    fn limits(&self) -> &Limits {
        let told = self.log.records.iter().rev().find_map(|(_, r)| match r {
            Record::Event(Event::Limits(l)) => Some(l),
            _ => None,
        });
        told.unwrap_or(&self.request.limits)
    }

    fn batches(&self) -> Vec<(u64, u64)> {
        let wants = self.log.records.iter().filter_map(|(_, r)| match r {
            Record::Event(Event::Want { first, last }) => Some((*first, *last)),
            _ => None,
        });
        wants.collect()
    }
}
