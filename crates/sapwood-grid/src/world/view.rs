//! The grid as policies see it.

use super::World;
use crate::policy::Grid;

/// The grid when a job is placed.
pub(super) struct View<'w, 'a> {
    pub(super) world: &'w World<'a>,
    pub(super) here: Here,
    /// Files of the job.
    pub(super) files: u64,
}

/// Sites that have files of a job, in order: how many are there, and how many are there or on their way.
#[derive(Default)]
pub(super) struct Here(Vec<(usize, [u64; 2])>);

impl Here {
    /// So many files are there.
    pub(super) fn has(&mut self, site: usize, files: u64) {
        self.change(site, [files; 2]);
    }

    /// A file is on its way.
    pub(super) fn expects(&mut self, site: usize) {
        self.change(site, [0, 1]);
    }

    fn change(&mut self, site: usize, [here, expected]: [u64; 2]) {
        match self.0.binary_search_by_key(&site, |known| known.0) {
            Ok(at) => {
                let known = &mut self.0[at].1;
                *known = [known[0] + here, known[1] + expected];
            }
            Err(at) => self.0.insert(at, (site, [here, expected])),
        }
    }

    fn files(&self, site: usize) -> [u64; 2] {
        self.0.binary_search_by_key(&site, |known| known.0).map_or([0, 0], |at| self.0[at].1)
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
        self.here.files(site)[0] == self.files
    }

    fn expects_files(&self, site: usize) -> bool {
        self.here.files(site)[1] == self.files
    }

    fn round_trip(&self, from: usize, to: usize) -> Option<f64> {
        self.world.network.distance(from as u32, to as u32)
    }

    fn with_files(&self) -> Vec<usize> {
        // what is there is expected, too
        let all = self.here.0.iter().filter(|(_, files)| files[1] == self.files);
        all.map(|known| known.0).collect()
    }

    fn least_loaded(&self, home: usize, fits: &dyn Fn(usize) -> bool) -> Option<usize> {
        let network = &self.world.network;
        let far = |site: u32| network.distance(home as u32, site).unwrap_or(f64::INFINITY);
        self.world.loads.least(network.nearest(home as u32), far, fits)
    }
}
