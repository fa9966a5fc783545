//! Paths between sites: the shortest by round-trip time over links that are up.

use crate::behaviour::Route;
use crate::clock::{Time, seconds};
use crate::scenario::{LinkSpec, Scenario};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A path: the channels that bytes pass, and what a job sees of it.
#[derive(Clone, Debug)]
pub(crate) struct Path {
    /// Two for each link, by direction; behind those of all links, one for the disks of each site.
    pub(crate) channels: Vec<u32>,
    pub(crate) route: Route,
}

/// What is known of the ways from a site.
#[derive(Debug)]
struct Around {
    /// By site, the channel that bytes take last on their way there; [`NONE`] at the beginning, and where no way leads.
    last: Vec<u32>,
    /// By site, the round-trip time; [`FAR`] where no way leads.
    times: Vec<Time>,
    /// All sites, the nearest first; of equally near ones in the order of their numbers.
    nearest: Vec<u32>,
}

const NONE: u32 = u32::MAX;
const FAR: Time = Time::MAX;
/// Ways between more pairs of sites than these are not kept: they are looked for again.
const MOST_PAIRS: usize = 1 << 26;

/// The links, and the paths over them.
#[derive(Debug)]
pub(crate) struct Network {
    /// Links of each site: link, site at the other end, channel towards that site.
    edges: Vec<Vec<(u32, u32, u32)>>,
    round_trips: Vec<Time>,
    bandwidths: Vec<f64>,
    losses: Vec<f64>,
    up: Vec<bool>,
    /// The sites at the ends of each link.
    ends: Vec<[u32; 2]>,
    /// From each site that was asked for.
    around: Vec<Option<Box<Around>>>,
    /// How many sites were.
    known: usize,
}

impl Network {
    pub(crate) fn new(scenario: &Scenario) -> Self {
        let mut edges = vec![Vec::new(); scenario.sites.len()];
        for (i, link) in scenario.links.iter().enumerate() {
            let [i, forth, back] = [i as u32, 2 * i as u32, 2 * i as u32 + 1];
            if let Some(e) = edges.get_mut(link.from) {
                e.push((i, link.to as u32, forth));
            }
            if let Some(e) = edges.get_mut(link.to) {
                e.push((i, link.from as u32, back));
            }
        }
        Self {
            edges,
            round_trips: scenario.links.iter().map(|l| l.rtt).collect(),
            bandwidths: scenario.links.iter().map(LinkSpec::payload).collect(),
            losses: scenario.links.iter().map(|l| l.loss).collect(),
            up: vec![true; scenario.links.len()],
            ends: scenario.links.iter().map(|l| [l.from as u32, l.to as u32]).collect(),
            around: scenario.sites.iter().map(|_| None).collect(),
            known: 0,
        }
    }

    /// A link goes down, or comes back: paths are looked for again.
    pub(crate) fn set_up(&mut self, link: usize, up: bool) {
        if let Some(state) = self.up.get_mut(link) {
            *state = up;
        }
        self.forget();
    }

    fn forget(&mut self) {
        self.around.fill_with(|| None);
        self.known = 0;
    }

    /// The path of bytes from one site to another; none if there is none.
    pub(crate) fn path(&mut self, from: u32, to: u32) -> Option<Path> {
        self.look_around(from);
        let around = self.around.get(from as usize)?.as_ref()?;
        let mut channels = Vec::new();
        let mut at = to;
        while at != from {
            let channel = *around.last.get(at as usize)?;
            channels.push(channel);
            at = self.before(channel)?;
        }
        channels.reverse();
        let links = || channels.iter().map(|&c| c as usize / 2);
        let round_trip: f64 = links().rev().filter_map(|l| self.round_trips.get(l)).map(|&t| seconds(t)).sum();
        let bandwidth = links().filter_map(|l| self.bandwidths.get(l)).copied().fold(f64::INFINITY, f64::min);
        let passed: f64 = links().rev().filter_map(|l| self.losses.get(l)).map(|l| 1.0 - l).product();
        Some(Path { channels, route: Route { round_trip, bandwidth, loss: 1.0 - passed, proxied: false, seek: 0.0 } })
    }

    /// The site at which a channel begins.
    fn before(&self, channel: u32) -> Option<u32> {
        let [from, to] = *self.ends.get(channel as usize / 2)?;
        Some(if channel.is_multiple_of(2) { from } else { to })
    }

    /// Looks for the ways from a site, so that distances from it are known.
    pub(crate) fn look_around(&mut self, from: u32) {
        if self.around.get(from as usize).is_none_or(Option::is_some) {
            return;
        }
        if self.known.saturating_mul(self.edges.len()) > MOST_PAIRS {
            self.forget();
        }
        self.known += 1;
        let around = Box::new(self.shortest(from));
        if let Some(slot) = self.around.get_mut(from as usize) {
            *slot = Some(around);
        }
    }

    /// The round-trip time between two sites; none if nothing connects them. The ways from the first are looked for again if they are
    /// not known.
    pub(crate) fn distance(&self, from: u32, to: u32) -> Option<f64> {
        let time = match self.around.get(from as usize)? {
            Some(around) => around.times.get(to as usize).copied(),
            None => self.shortest(from).times.get(to as usize).copied(),
        };
        time.filter(|&t| t != FAR).map(seconds)
    }

    /// All sites, the nearest to this one first; none if nobody has [looked around](Self::look_around).
    pub(crate) fn nearest(&self, from: u32) -> &[u32] {
        self.around.get(from as usize).and_then(Option::as_ref).map_or(&[], |a| &a.nearest)
    }

    /// Dijkstra's algorithm; where no link is up, over those that are down, as bytes wait there until they are back.
    fn shortest(&self, from: u32) -> Around {
        // a link that is down is passed only if there is no other way
        const DOWN: Time = 1 << 56;
        let mut best: Vec<Option<Time>> = vec![None; self.edges.len()];
        let mut last = vec![NONE; self.edges.len()];
        let mut times = vec![FAR; self.edges.len()];
        let mut open = BinaryHeap::from([Reverse((0, from))]);
        if let Some(b) = best.get_mut(from as usize) {
            *b = Some(0);
        }
        while let Some(Reverse((time, at))) = open.pop() {
            if best.get(at as usize).copied().flatten().is_none_or(|b| b < time) {
                continue;
            }
            // the sites on the way here are done before this one
            let channel = last.get(at as usize).copied().unwrap_or(NONE);
            let before = self.before(channel).and_then(|b| times.get(b as usize)).copied();
            let here = before
                .map_or(0, |b| b.saturating_add(self.round_trips.get(channel as usize / 2).copied().unwrap_or(0)));
            if let Some(slot) = times.get_mut(at as usize) {
                *slot = here;
            }
            for &(link, to, channel) in self.edges.get(at as usize).into_iter().flatten() {
                let i = link as usize;
                let cost = self.round_trips.get(i).copied().unwrap_or(0).max(1);
                let cost = if self.up.get(i).copied().unwrap_or(false) { cost } else { DOWN };
                let sum = time.saturating_add(cost);
                if let Some(b) = best.get_mut(to as usize)
                    && b.is_none_or(|b| sum < b)
                {
                    *b = Some(sum);
                    if let Some(slot) = last.get_mut(to as usize) {
                        *slot = channel;
                    }
                    open.push(Reverse((sum, to)));
                }
            }
        }
        let mut nearest: Vec<u32> = (0..self.edges.len() as u32).collect();
        nearest.sort_by_key(|&to| times.get(to as usize).copied().unwrap_or(FAR));
        Around { last, times, nearest }
    }
}
