//! Paths between sites: the shortest by round-trip time over links that are up.

use crate::behaviour::Route;
use crate::clock::{Time, seconds};
use crate::scenario::{LinkSpec, Scenario};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

/// A path: the channels that bytes pass, and what a job sees of it.
#[derive(Clone, Debug)]
pub(crate) struct Path {
    /// Two for each link, by direction; behind those of all links, one for the disks of each site.
    pub(crate) channels: Vec<u32>,
    pub(crate) route: Route,
}

/// By site, how one gets there: the link, the site before it, and the channel. None at the beginning, and where no way leads.
type Tree = Vec<Option<(u32, u32, u32)>>;

/// The links, and the paths over them.
#[derive(Debug)]
pub(crate) struct Network {
    /// Links of each site: link, site at the other end, channel towards that site.
    edges: Vec<Vec<(u32, u32, u32)>>,
    round_trips: Vec<Time>,
    bandwidths: Vec<f64>,
    losses: Vec<f64>,
    up: Vec<bool>,
    /// From each site that was asked for: the link towards it, by site; and the round-trip times.
    trees: HashMap<u32, (Tree, Vec<Option<Time>>)>,
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
            trees: HashMap::new(),
        }
    }

    /// A link goes down, or comes back: paths are looked for again.
    pub(crate) fn set_up(&mut self, link: usize, up: bool) {
        if let Some(state) = self.up.get_mut(link) {
            *state = up;
        }
        self.trees.clear();
    }

    /// The path of bytes from one site to another; none if there is none.
    pub(crate) fn path(&mut self, from: u32, to: u32) -> Option<Path> {
        let tree = self.tree(from);
        let mut channels = Vec::new();
        let mut links = Vec::new();
        let mut at = to;
        while at != from {
            let (link, before, channel) = (*tree.get(at as usize)?)?;
            channels.push(channel);
            links.push(link as usize);
            at = before;
        }
        channels.reverse();
        let round_trip: f64 = links.iter().filter_map(|&l| self.round_trips.get(l)).map(|&t| seconds(t)).sum();
        let bandwidth = links.iter().filter_map(|&l| self.bandwidths.get(l)).copied().fold(f64::INFINITY, f64::min);
        let passed: f64 = links.iter().filter_map(|&l| self.losses.get(l)).map(|l| 1.0 - l).product();
        Some(Path { channels, route: Route { round_trip, bandwidth, loss: 1.0 - passed } })
    }

    /// The round-trip time between two sites.
    pub(crate) fn distance(&mut self, from: u32, to: u32) -> Option<f64> {
        self.look_around(from);
        self.known_distance(from, to)
    }

    /// Looks for the paths from a site, so that distances from it are known.
    pub(crate) fn look_around(&mut self, from: u32) {
        self.tree(from);
    }

    /// The round-trip time between two sites, looked for again if paths from the first are not known.
    pub(crate) fn known_distance(&self, from: u32, to: u32) -> Option<f64> {
        let time = match self.trees.get(&from) {
            Some((_, times)) => *times.get(to as usize)?,
            None => self.time(&self.shortest(from), from, to),
        };
        time.map(seconds)
    }

    /// The round-trip time along a tree of paths from a site.
    fn time(&self, tree: &Tree, from: u32, to: u32) -> Option<Time> {
        let (mut at, mut time) = (to, 0);
        while at != from {
            let (link, before, _) = (*tree.get(at as usize)?)?;
            time += self.round_trips.get(link as usize)?;
            at = before;
        }
        Some(time)
    }

    /// Dijkstra's algorithm; where no link is up, over those that are down, as bytes wait there until they are back.
    fn tree(&mut self, from: u32) -> &Tree {
        if !self.trees.contains_key(&from) {
            let tree = self.shortest(from);
            let times = (0..tree.len() as u32).map(|to| self.time(&tree, from, to)).collect();
            self.trees.insert(from, (tree, times));
        }
        &self.trees[&from].0
    }

    fn shortest(&self, from: u32) -> Tree {
        // a link that is down is passed only if there is no other way
        const DOWN: Time = 1 << 56;
        let mut best: Vec<Option<Time>> = vec![None; self.edges.len()];
        let mut out = vec![None; self.edges.len()];
        let mut open = BinaryHeap::from([Reverse((0, from))]);
        if let Some(b) = best.get_mut(from as usize) {
            *b = Some(0);
        }
        while let Some(Reverse((time, at))) = open.pop() {
            if best.get(at as usize).copied().flatten().is_none_or(|b| b < time) {
                continue;
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
                    if let Some(slot) = out.get_mut(to as usize) {
                        *slot = Some((link, at, channel));
                    }
                    open.push(Reverse((sum, to)));
                }
            }
        }
        out
    }
}
