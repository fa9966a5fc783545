//! Connections over which jobs get bytes: through the caches of sites, from the nearest site with a file.

use super::World;
use crate::clock::seconds;
use crate::lookup::Lookup;
use crate::route::{Leg, Route};
use crate::scenario::Scenario;
use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;

/// A path of flows, and what a job sees of it: a connection.
#[derive(Clone, Copy, Debug)]
pub(super) struct Connection {
    /// The path of its flows.
    pub(super) path: u32,
    pub(super) route: Route,
    /// The number of the route, with two digits: jobs on routes of the same number behave alike.
    pub(super) alike: u32,
    /// Whether it leads over any link.
    pub(super) far: bool,
}

/// What is known of connections until a link goes down or comes back.
#[derive(Default)]
pub(super) struct Connections {
    /// By the sites that they lead through and whether they begin at a disk.
    all: HashMap<(Vec<u32>, bool), Option<Connection>>,
    /// The same for jobs, by a site and where the bytes are, a number of its caches or a site: the path, and which of the views.
    to_jobs: Lookup<(u32, u32)>,
    /// What jobs see of connections. They are few, so that what there is for each site stays in the processor's cache.
    views: Vec<View>,
    /// Their numbers, by what they are.
    numbers: HashMap<([u64; 5], bool), u32>,
    /// The nearest original, by the list of originals and the site that asks.
    nearest: Lookup<Option<(f64, u32)>>,
    /// By dataset: the number of its list of originals.
    originals: Vec<u32>,
    chains: Rc<Chains>,
    /// Routes with two digits; not forgotten, as behaviours are known by their numbers.
    routes: HashMap<[u64; 5], u32>,
}

/// The sites with the caches that jobs read through.
#[derive(Default)]
pub(super) struct Chains {
    /// Those of all sites, one after the other.
    all: Vec<u32>,
    of: Vec<Range<u32>>,
}

impl Chains {
    /// Those of jobs at a site, the nearest first.
    pub(super) fn of(&self, site: u32) -> &[u32] {
        let range = self.of.get(site as usize).map_or(0..0, |of| of.start as usize..of.end as usize);
        self.all.get(range).unwrap_or_default()
    }
}

/// What a job sees of a connection, as in [`Connection`].
#[derive(Clone, Copy)]
struct View {
    route: Route,
    alike: u32,
    far: bool,
}

/// Where bytes of a job are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Place {
    /// In the cache of its node.
    Node,
    /// In a cache: its place in the chain of the site.
    Cache(u32),
    /// On the disks of a site.
    Site(u32),
}

impl Connections {
    pub(super) fn new(scenario: &Scenario) -> Self {
        let mut lists = HashMap::new();
        let originals = scenario.datasets.iter().map(|d| {
            let next = lists.len() as u32;
            *lists.entry(&d.origins).or_insert(next)
        });
        let mut chains = Chains::default();
        for site in 0..scenario.sites.len() {
            let start = chains.all.len() as u32;
            let mut at = Some(site);
            while let Some(s) = at {
                let proxy = scenario.sites.get(s).and_then(|site| site.proxy.as_ref());
                // without room it is none: jobs read through its parent
                chains.all.extend(proxy.is_some_and(|p| p.bytes > 0).then_some(s as u32));
                at = proxy.and_then(|p| p.parent);
            }
            chains.of.push(start..chains.all.len() as u32);
        }
        Self { originals: originals.collect(), chains: chains.into(), ..Self::default() }
    }

    /// A link went down, or is back.
    pub(super) fn forget(&mut self) {
        self.all.clear();
        self.to_jobs.clear();
        self.views.clear();
        self.numbers.clear();
        self.nearest.clear();
    }

    /// The sites with the caches that jobs of a site read through.
    pub(super) fn chains(&self) -> Rc<Chains> {
        self.chains.clone()
    }

    /// The nearest original of a dataset will be needed soon, and the connection from the nearest cache.
    pub(super) fn prefetch(&self, dataset: u32, site: u32) {
        if let Some(key) = self.key_of_nearest(dataset as usize, site) {
            self.nearest.prefetch(key);
        }
        if let Some(key) = key_to_job(site, Place::Cache(0)) {
            self.to_jobs.prefetch(key);
        }
    }

    /// What was fetched is here: the connection from the nearest original will be needed soon.
    pub(super) fn prefetch_nearest(&self, dataset: u32, site: u32) {
        let nearest = self.key_of_nearest(dataset as usize, site).and_then(|key| self.nearest.get(key)).flatten();
        if let Some(key) = nearest.and_then(|(_, source)| key_to_job(site, Place::Site(source))) {
            self.to_jobs.prefetch(key);
        }
    }

    fn key_of_nearest(&self, dataset: usize, to: u32) -> Option<u64> {
        Some(u64::from(*self.originals.get(dataset)?) << 32 | u64::from(to))
    }

    /// The number of a route with two digits.
    pub(super) fn alike(&mut self, route: Route) -> u32 {
        let next = self.routes.len() as u32;
        *self.routes.entry(bits(route.rounded())).or_insert(next)
    }

    /// The number of a view.
    fn view(&mut self, view: View) -> u32 {
        let next = self.views.len() as u32;
        let number = *self.numbers.entry((bits(view.route), view.far)).or_insert(next);
        if number == next {
            self.views.push(view);
        }
        number
    }
}

/// A connection to jobs, as a number; none in the node itself.
fn key_to_job(site: u32, from: Place) -> Option<u64> {
    let from = match from {
        Place::Node => return None,
        Place::Cache(number) => 1 << 31 | number,
        Place::Site(source) => source,
    };
    Some(u64::from(site) << 32 | u64::from(from))
}

/// What a route is, to compare.
fn bits(route: Route) -> [u64; 5] {
    // no path is as wide as that
    let none = Leg { round_trip: 0.0, bandwidth: f64::INFINITY };
    let near = route.proxy.unwrap_or(none);
    [route.round_trip, route.bandwidth, route.loss, near.round_trip, near.bandwidth].map(f64::to_bits)
}

impl World<'_> {
    /// The connection from a cache, or from a site, to a job at a site.
    pub(super) fn connection(&mut self, site: u32, from: Place) -> Option<Connection> {
        let key = key_to_job(site, from)?;
        if let Some((path, view)) = self.connections.to_jobs.get(key) {
            let View { route, alike, far } = *self.connections.views.get(view as usize)?;
            return Some(Connection { path, route, alike, far });
        }
        let chains = self.connections.chains();
        let chain = chains.of(site);
        let passed = match from {
            Place::Node => return None,
            Place::Cache(number) => chain.get(..=number as usize)?,
            Place::Site(source) if source == site => &[],
            Place::Site(_) => chain,
        };
        let mut through = vec![site];
        through.extend(passed.iter().skip_while(|&&s| s == site));
        if let Place::Site(source) = from
            && through.last() != Some(&source)
        {
            through.push(source);
        }
        let mut connection = self.path(&through, matches!(from, Place::Site(_)))?;
        let proxied = match from {
            Place::Node => false,
            Place::Cache(number) => number > 0,
            Place::Site(source) => source != site,
        };
        connection.route.proxy = match chain.first().filter(|_| proxied) {
            Some(&proxy) => Some(self.leg(site, proxy)?),
            None => None,
        };
        connection.alike = self.connections.alike(connection.route);
        let Connection { path, route, alike, far } = connection;
        let view = self.connections.view(View { route, alike, far });
        self.connections.to_jobs.insert(key, (path, view));
        Some(connection)
    }

    /// The path from a proxy to jobs at a site.
    fn leg(&mut self, site: u32, proxy: u32) -> Option<Leg> {
        let through = if proxy == site { &[site][..] } else { &[site, proxy] };
        let Route { round_trip, bandwidth, .. } = self.path(through, false)?.route;
        Some(Leg { round_trip, bandwidth })
    }

    /// The connection through these sites, from the last to the first; whether they come from a disk for replicas.
    pub(super) fn path(&mut self, through: &[u32], from_disk: bool) -> Option<Connection> {
        let key = (through.to_vec(), from_disk);
        if let Some(known) = self.connections.all.get(&key) {
            return *known;
        }
        let made = self.make_path(through, from_disk);
        self.connections.all.insert(key, made);
        made
    }

    fn make_path(&mut self, through: &[u32], from_disk: bool) -> Option<Connection> {
        let (&to, &from) = through.first().zip(through.last())?;
        let site = self.scenario.sites.get(to as usize)?;
        let mut route =
            Route { round_trip: seconds(site.lan), bandwidth: site.lan_bandwidth, loss: 0.0, proxy: None, seek: 0.0 };
        let mut channels = Vec::new();
        for hop in through.windows(2) {
            let path = self.network.path(hop[1], hop[0])?;
            channels.extend(path.channels);
            route.round_trip += path.route.round_trip;
            route.bandwidth = route.bandwidth.min(path.route.bandwidth);
            route.loss = 1.0 - (1.0 - route.loss) * (1.0 - path.route.loss);
        }
        let far = !channels.is_empty();
        if from_disk && self.scenario.sites.get(from as usize).is_some_and(|s| s.storage.is_some()) {
            channels.push(2 * self.scenario.links.len() as u32 + from);
        }
        // a path that passes a link twice in the same direction loads it once more only in its bytes
        channels.sort_unstable();
        channels.dedup();
        Some(Connection { path: self.flows.add_path(&channels), route, alike: self.connections.alike(route), far })
    }

    /// The nearest site with a file, as seen from a site: with its original, or a copy.
    pub(super) fn nearest(&mut self, dataset: usize, file: u64, to: u32) -> Option<u32> {
        let mut best = self.nearest_original(dataset, to);
        if !self.copies.is_empty()
            && let Some(copies) = self.copies.get(&file)
        {
            self.network.look_around(to);
            for &from in copies {
                best = nearer(best, self.network.distance(to, from), from);
            }
        }
        best.map(|b| b.1)
    }

    fn nearest_original(&mut self, dataset: usize, to: u32) -> Option<(f64, u32)> {
        let key = self.connections.key_of_nearest(dataset, to)?;
        if let Some(known) = self.connections.nearest.get(key) {
            return known;
        }
        self.network.look_around(to);
        let originals = self.scenario.datasets.get(dataset).map_or(&[][..], |d| &*d.origins);
        let best = originals.iter().fold(None, |best, &from| {
            let from = from as u32;
            nearer(best, self.network.distance(to, from), from)
        });
        self.connections.nearest.insert(key, best);
        best
    }
}

/// The nearer of two sites; of equally near ones the first.
fn nearer(best: Option<(f64, u32)>, distance: Option<f64>, from: u32) -> Option<(f64, u32)> {
    let Some(distance) = distance else { return best };
    if best.is_none_or(|b| (distance, from) < b) { Some((distance, from)) } else { best }
}
