//! How many jobs sites have for each core: kept in order, so that the least loaded of many sites is found without a look at all.

use std::collections::BTreeMap;

/// The sites with cores, by load.
pub(super) struct Loads {
    cores: Vec<u64>,
    /// Jobs that run or wait.
    jobs: Vec<u64>,
    /// The sites of each load; loads are never negative, so that their bits have their order.
    levels: BTreeMap<u64, Vec<u32>>,
    /// The load of each site with cores, as the key of its level.
    level: Vec<Option<u64>>,
    /// Where in its level a site is.
    place: Vec<u32>,
}

impl Loads {
    pub(super) fn new(cores: Vec<u64>) -> Self {
        let mut new = Self {
            jobs: vec![0; cores.len()],
            level: vec![None; cores.len()],
            place: vec![0; cores.len()],
            levels: BTreeMap::new(),
            cores,
        };
        (0..new.cores.len()).for_each(|site| new.enter(site));
        new
    }

    /// A site has one more job.
    pub(super) fn add(&mut self, site: usize) {
        self.change(site, |jobs| jobs + 1);
    }

    /// A site has one less.
    pub(super) fn remove(&mut self, site: usize) {
        self.change(site, |jobs| jobs.saturating_sub(1));
    }

    /// The least loaded site that fits; of equal ones the one that comes first in `order`, which has all sites.
    pub(super) fn least(
        &self,
        order: &[u32],
        rank: impl Fn(u32) -> f64,
        fits: &dyn Fn(usize) -> bool,
    ) -> Option<usize> {
        for (&level, sites) in &self.levels {
            let fits = |site: &u32| fits(*site as usize);
            // whichever is shorter: a look at all sites of the level, or at the nearest until one is of it
            let found = if sites.len().saturating_mul(sites.len()) <= order.len() {
                let near = |a: &&u32, b: &&u32| rank(**a).total_cmp(&rank(**b)).then(a.cmp(b));
                sites.iter().filter(|s| fits(s)).min_by(near)
            } else {
                order.iter().find(|&&s| self.level.get(s as usize) == Some(&Some(level)) && fits(&s))
            };
            if let Some(&site) = found {
                return Some(site as usize);
            }
        }
        None
    }

    fn load(&self, site: usize) -> Option<u64> {
        let (&jobs, &cores) = self.jobs.get(site).zip(self.cores.get(site))?;
        (cores > 0).then(|| (jobs as f64 / cores as f64).to_bits())
    }

    fn change(&mut self, site: usize, how: impl Fn(u64) -> u64) {
        self.leave(site);
        if let Some(jobs) = self.jobs.get_mut(site) {
            *jobs = how(*jobs);
        }
        self.enter(site);
    }

    fn enter(&mut self, site: usize) {
        let level = self.load(site);
        if let Some(slot) = self.level.get_mut(site) {
            *slot = level;
        }
        let Some(level) = level else { return };
        let sites = self.levels.entry(level).or_default();
        if let Some(place) = self.place.get_mut(site) {
            *place = sites.len() as u32;
        }
        sites.push(site as u32);
    }

    fn leave(&mut self, site: usize) {
        let Some((level, &place)) = self.level.get(site).copied().flatten().zip(self.place.get(site)) else { return };
        let Some(sites) = self.levels.get_mut(&level) else { return };
        sites.swap_remove(place as usize);
        if let Some(&moved) = sites.get(place as usize)
            && let Some(slot) = self.place.get_mut(moved as usize)
        {
            *slot = place;
        }
        if sites.is_empty() {
            self.levels.remove(&level);
        }
    }
}
