//! The grid as policies see it.

use super::World;
use crate::policy::Grid;

/// The grid when a job is placed.
pub(super) struct View<'w, 'a> {
    pub(super) world: &'w World<'a>,
    /// By site: files of the job that are there, and those that are there or on their way.
    pub(super) here: Vec<(u64, u64)>,
    pub(super) files: u64,
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
        self.here.get(site).is_some_and(|h| h.0 == self.files)
    }

    fn expects_files(&self, site: usize) -> bool {
        self.here.get(site).is_some_and(|h| h.1 == self.files)
    }

    fn round_trip(&self, from: usize, to: usize) -> Option<f64> {
        self.world.network.known_distance(from as u32, to as u32)
    }
}
