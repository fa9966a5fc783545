//! The grid as policies see it.

use super::World;
use crate::policy::Grid;

/// The grid when a job is placed.
pub(super) struct View<'w, 'a> {
    pub(super) world: &'w World<'a>,
    pub(super) here: Here<'w>,
}

/// Where the files of a job are.
#[derive(Default)]
pub(super) struct Here<'a> {
    /// Sites with the originals of all of them, in order.
    originals: &'a [usize],
    files: u64,
    /// Other sites, in order: how many are there, and how many are there or on their way.
    copies: Vec<(usize, [u64; 2])>,
}

impl<'a> Here<'a> {
    pub(super) fn new(originals: &'a [usize], files: u64) -> Self {
        Self { originals, files, copies: Vec::new() }
    }

    /// A copy of a file is there.
    pub(super) fn has(&mut self, site: usize) {
        self.change(site, [1; 2]);
    }

    /// A file is on its way.
    pub(super) fn expects(&mut self, site: usize) {
        self.change(site, [0, 1]);
    }

    fn change(&mut self, site: usize, [here, expected]: [u64; 2]) {
        match self.copies.binary_search_by_key(&site, |known| known.0) {
            Ok(at) => {
                let known = &mut self.copies[at].1;
                *known = [known[0] + here, known[1] + expected];
            }
            Err(at) => self.copies.insert(at, (site, [here, expected])),
        }
    }

    /// Whether all files are at a site; and whether they are, or are on their way.
    fn all(&self, site: usize) -> [bool; 2] {
        if self.originals.binary_search(&site).is_ok() {
            return [true; 2];
        }
        let known = self.copies.binary_search_by_key(&site, |known| known.0);
        known.map_or([0, 0], |at| self.copies[at].1).map(|files| files == self.files)
    }
}

impl Grid for View<'_, '_> {
    fn sites(&self) -> usize {
        self.world.sites.len()
    }

    fn name(&self, site: usize) -> &str {
        self.world.scenario.sites.get(site).map_or("", |s| &s.name)
    }

    fn cores(&self, site: usize) -> u64 {
        self.world.sites.get(site).map_or(0, |s| s.cores)
    }

    fn running(&self, site: usize) -> u64 {
        self.world.sites.get(site).map_or(0, |s| s.running)
    }

    fn queued(&self, site: usize) -> u64 {
        self.world.sites.get(site).map_or(0, |s| s.waiting + s.queue.len() as u64)
    }

    fn disk(&self, site: usize) -> u64 {
        self.world.scenario.sites.get(site).map_or(0, |s| s.disk)
    }

    fn has_files(&self, site: usize) -> bool {
        self.here.all(site)[0]
    }

    fn expects_files(&self, site: usize) -> bool {
        self.here.all(site)[1]
    }

    fn round_trip(&self, from: usize, to: usize) -> Option<f64> {
        self.world.network.distance(from as u32, to as u32)
    }

    fn with_files(&self) -> Vec<usize> {
        // what is there is expected, too
        let copies = self.here.copies.iter().filter(|(_, files)| files[1] == self.here.files).map(|known| known.0);
        let mut sites: Vec<usize> = self.here.originals.iter().copied().chain(copies).collect();
        sites.sort_unstable();
        sites.dedup();
        sites
    }

    fn least_loaded(&self, home: usize, fits: &dyn Fn(usize) -> bool) -> Option<usize> {
        let network = &self.world.network;
        let far = |site: u32| network.distance(home as u32, site).unwrap_or(f64::INFINITY);
        self.world.loads.least(network.nearest(home as u32), far, fits)
    }
}
