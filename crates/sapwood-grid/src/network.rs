//! Paths between sites: the shortest by round-trip time over links that are up.

use crate::clock::{Time, seconds};
use crate::route::Route;
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
    /// The sites with cores, the nearest first; of equally near ones in the order of their numbers.
    nearest: Vec<u32>,
    /// By site, its place in that order.
    places: Vec<u32>,
    /// Different for all that is known of ways.
    number: u64,
}

/// The only link of a site. The ways from there are those from the site at its other end, which are kept once for all such sites.
#[derive(Clone, Copy, Debug)]
struct Exit {
    to: u32,
    time: Time,
    channel: u32,
}

/// The sites with cores, the nearest first.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Nearest<'a> {
    /// One that comes before all others.
    first: Option<u32>,
    all: &'a [u32],
    places: &'a [u32],
    number: u64,
}

impl Nearest<'_> {
    pub(crate) fn len(&self) -> usize {
        self.all.len()
    }

    /// The one that comes before all others.
    pub(crate) fn first(&self) -> Option<u32> {
        self.first
    }

    /// All, in an order in which the first may be behind others. Sites from which the ways are the same share it.
    pub(crate) fn order(&self) -> &[u32] {
        self.all
    }

    /// By site, its place in that order; [`u32::MAX`] for those without cores.
    pub(crate) fn places(&self) -> &[u32] {
        self.places
    }

    /// A number that no other order has.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }
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
    /// By site.
    exits: Vec<Option<Exit>>,
    round_trips: Vec<Time>,
    bandwidths: Vec<f64>,
    losses: Vec<f64>,
    up: Vec<bool>,
    /// The sites at the ends of each link.
    ends: Vec<[u32; 2]>,
    with_cores: Vec<u32>,
    /// From each site that was asked for.
    around: Vec<Option<Box<Around>>>,
    /// How many sites were.
    known: usize,
    /// How many ever were.
    looked: u64,
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
        let exit = |site: usize| {
            let &[(link, to, channel)] = edges.get(site)?.as_slice() else { return None };
            let time = scenario.links.get(link as usize)?.rtt;
            // not where two sites have but each other, or are at the same place
            let leads_on = edges.get(to as usize)?.len() > 1 && time > 0;
            leads_on.then_some(Exit { to, time, channel })
        };
        Self {
            exits: (0..edges.len()).map(exit).collect(),
            edges,
            round_trips: scenario.links.iter().map(|l| l.rtt).collect(),
            bandwidths: scenario.links.iter().map(LinkSpec::payload).collect(),
            losses: scenario.links.iter().map(|l| l.loss).collect(),
            up: vec![true; scenario.links.len()],
            ends: scenario.links.iter().map(|l| [l.from as u32, l.to as u32]).collect(),
            with_cores: (0u32..).zip(&scenario.sites).filter(|(_, s)| s.cores > 0).map(|(i, _)| i).collect(),
            around: scenario.sites.iter().map(|_| None).collect(),
            known: 0,
            looked: 0,
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
        let exit = self.exit(from).filter(|_| to != from);
        let begin = exit.map_or(from, |exit| exit.to);
        let mut channels = Vec::new();
        if to != from {
            let around = self.around.get(begin as usize)?.as_ref()?;
            let mut at = to;
            while at != begin {
                let channel = *around.last.get(at as usize)?;
                channels.push(channel);
                at = self.before(channel)?;
            }
            channels.extend(exit.map(|exit| exit.channel));
        }
        channels.reverse();
        let links = || channels.iter().map(|&c| c as usize / 2);
        let round_trip: f64 = links().rev().filter_map(|l| self.round_trips.get(l)).map(|&t| seconds(t)).sum();
        let bandwidth = links().filter_map(|l| self.bandwidths.get(l)).copied().fold(f64::INFINITY, f64::min);
        let passed: f64 = links().rev().filter_map(|l| self.losses.get(l)).map(|l| 1.0 - l).product();
        Some(Path { channels, route: Route { round_trip, bandwidth, loss: 1.0 - passed, proxy: None, seek: 0.0 } })
    }

    /// The site at which a channel begins.
    fn before(&self, channel: u32) -> Option<u32> {
        let [from, to] = *self.ends.get(channel as usize / 2)?;
        Some(if channel.is_multiple_of(2) { from } else { to })
    }

    fn exit(&self, site: u32) -> Option<Exit> {
        self.exits.get(site as usize).copied().flatten()
    }

    /// Looks for the ways from a site, so that distances from it are known.
    pub(crate) fn look_around(&mut self, from: u32) {
        let from = self.exit(from).map_or(from, |exit| exit.to);
        if self.around.get(from as usize).is_none_or(Option::is_some) {
            return;
        }
        if self.known.saturating_mul(self.edges.len()) > MOST_PAIRS {
            self.forget();
        }
        self.known += 1;
        self.looked += 1;
        let around = Box::new(Around { number: self.looked, ..self.shortest(from) });
        if let Some(slot) = self.around.get_mut(from as usize) {
            *slot = Some(around);
        }
    }

    /// The round-trip time between two sites; none if nothing connects them. The ways from the first are looked for again if they are
    /// not known.
    pub(crate) fn distance(&self, from: u32, to: u32) -> Option<f64> {
        let exit = self.exit(from);
        if exit.is_some() && from == to {
            return Some(0.0);
        }
        let begin = exit.map_or(from, |exit| exit.to);
        let time = match self.around.get(begin as usize)? {
            Some(around) => around.times.get(to as usize).copied(),
            None => self.shortest(begin).times.get(to as usize).copied(),
        };
        let time = time.filter(|&t| t != FAR)?;
        Some(seconds(time.saturating_add(exit.map_or(0, |exit| exit.time))))
    }

    /// The sites with cores, the nearest to this one first; of equally near ones in the order of their numbers. None if nobody has [looked
    /// around](Self::look_around).
    pub(crate) fn nearest(&self, from: u32) -> Nearest<'_> {
        let exit = self.exit(from);
        let begin = exit.map_or(from, |exit| exit.to);
        let first = exit.map(|_| from);
        match self.around.get(begin as usize).and_then(Option::as_ref) {
            Some(a) => Nearest { first, all: &a.nearest, places: &a.places, number: a.number },
            None => Nearest { first, all: &[], places: &[], number: 0 },
        }
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
        let mut nearest = self.with_cores.clone();
        nearest.sort_by_key(|&to| times.get(to as usize).copied().unwrap_or(FAR));
        let mut places = vec![NONE; self.edges.len()];
        for (place, &site) in nearest.iter().enumerate() {
            if let Some(slot) = places.get_mut(site as usize) {
                *slot = place as u32;
            }
        }
        Around { last, times, nearest, places, number: 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fmt::Write;

    proptest::proptest! {
        #[test]
        fn ways_through_the_only_link_are_those_of_its_other_end(
            links in proptest::collection::vec((0usize..9, 0usize..9, 0u64..4, 0u8..5), 1..14),
        ) {
            let mut text = String::from("[[site]]\nname=\"s\"\ncount=9\ncores=1\n[[policy]]\nkind=\"pull\"\n");
            text += "[[dataset]]\nname=\"d\"\nfiles=1\nsite=\"s-1\"\nfile_size=\"1 MB\"\nentries=9\n";
            text += "[[workload]]\nname=\"w\"\nsite=\"s-1\"\ntasks_per_day=1\n";
            // two sites have one link at most
            let mut seen = std::collections::BTreeSet::new();
            let is_new = |l: &(usize, usize, u64, u8)| l.0 != l.1 && seen.insert((l.0.min(l.1), l.0.max(l.1)));
            let links: Vec<_> = links.into_iter().filter(is_new).collect();
            for &(from, to, rtt, _) in &links {
                let (from, to) = (from + 1, to + 1);
                write!(text, "[[link]]\nfrom=\"s-{from}\"\nto=\"s-{to}\"\nrtt=\"{rtt}ms\"\nbandwidth=\"1 Gbit/s\"\n")
                    .unwrap();
            }
            let scenario = Scenario::parse("test.toml", &text, std::path::Path::new(".")).unwrap();
            let mut network = Network::new(&scenario);
            for (i, _) in links.iter().enumerate().filter(|(_, l)| l.3 == 0) {
                network.set_up(i, false);
            }
            for from in 0..9 {
                let plain = network.shortest(from);
                network.look_around(from);
                let nearest = network.nearest(from);
                let others = nearest.order().iter().copied().filter(|&site| Some(site) != nearest.first());
                proptest::prop_assert_eq!(nearest.first().into_iter().chain(others).collect::<Vec<_>>(), plain.nearest.clone());
                for to in 0..9 {
                    let time = plain.times[to as usize];
                    proptest::prop_assert_eq!(network.distance(from, to), (time != FAR).then(|| seconds(time)));
                    let mut channels = Vec::new();
                    let mut at = to;
                    while at != from && plain.last[at as usize] != NONE {
                        channels.insert(0, plain.last[at as usize]);
                        at = network.before(channels[0]).unwrap();
                    }
                    let path = network.path(from, to).map(|p| p.channels);
                    proptest::prop_assert_eq!(path, (at == from).then_some(channels));
                }
            }
        }
    }
}
