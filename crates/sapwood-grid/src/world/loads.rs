//! How many jobs sites have for each core: kept in order, so that the least loaded of many sites is found without a look at all.

use crate::network::Nearest;
use std::cell::RefCell;
use std::collections::BTreeMap;

/// The level of a site without cores: no load has these bits.
const NONE: u64 = u64::MAX;

/// The sites with cores, by load.
pub(super) struct Loads {
    cores: Vec<u64>,
    /// Jobs that run or wait.
    jobs: Vec<u64>,
    /// The sites of each load; loads are never negative, so that their bits have their order.
    levels: BTreeMap<u64, Vec<u32>>,
    /// The load of each site with cores, as the key of its level; for others [`NONE`].
    level: Vec<u64>,
    /// Where in its level a site is.
    place: Vec<u32>,
    searched: RefCell<Searched>,
}

/// The last search of the nearest site of a level. Where sites fill up, the nearest first, searches from the beginning would pass all that
/// have.
#[derive(Default)]
struct Searched {
    /// The number of the order.
    order: u64,
    /// By site.
    places: Vec<u32>,
    level: u64,
    /// No site before this place has this level.
    from: u32,
}

impl Loads {
    pub(super) fn new(cores: Vec<u64>) -> Self {
        let mut new = Self {
            jobs: vec![0; cores.len()],
            level: vec![NONE; cores.len()],
            place: vec![0; cores.len()],
            levels: BTreeMap::new(),
            searched: RefCell::default(),
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

    /// The least loaded site that fits; of equal ones the one that comes first in `order`, which has all sites with cores.
    pub(super) fn least(
        &self,
        order: Nearest<'_>,
        rank: impl Fn(u32) -> f64,
        fits: &dyn Fn(usize) -> bool,
    ) -> Option<usize> {
        for (&level, sites) in &self.levels {
            let fits = |site: &u32| fits(*site as usize);
            // whichever is shorter: a look at all sites of the level, or at the nearest until one is of it
            let found = if sites.len().saturating_mul(sites.len()) <= order.len() {
                let ranked = sites.iter().filter(|s| fits(s)).map(|&site| (rank(site), site));
                ranked.min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1))).map(|nearest| nearest.1)
            } else {
                let has_level = |site: &u32| self.level.get(*site as usize) == Some(&level);
                let first = order.first().filter(|s| has_level(s) && fits(s));
                first.or_else(|| {
                    let from = self.first_of(level, &order);
                    order.order().get(from..)?.iter().copied().find(|s| has_level(s) && fits(s))
                })
            };
            if let Some(site) = found {
                return Some(site as usize);
            }
        }
        None
    }

    /// The first place in an order of a site with this level.
    fn first_of(&self, level: u64, order: &Nearest<'_>) -> usize {
        let mut searched = self.searched.borrow_mut();
        if searched.order != order.number() {
            *searched = Searched { order: order.number(), places: order.places().to_vec(), level, from: 0 };
        } else if searched.level != level {
            (searched.level, searched.from) = (level, 0);
        }
        let from = searched.from as usize;
        let rest = order.order().get(from..).unwrap_or_default();
        let first = from + rest.iter().take_while(|site| self.level.get(**site as usize) != Some(&level)).count();
        searched.from = first as u32;
        first
    }

    fn load(&self, site: usize) -> u64 {
        let Some((&jobs, &cores)) = self.jobs.get(site).zip(self.cores.get(site)) else { return NONE };
        if cores > 0 { (jobs as f64 / cores as f64).to_bits() } else { NONE }
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
        if level == NONE {
            return;
        }
        let searched = self.searched.get_mut();
        if searched.level == level
            && let Some(&place) = searched.places.get(site)
        {
            searched.from = searched.from.min(place);
        }
        let sites = self.levels.entry(level).or_default();
        if let Some(place) = self.place.get_mut(site) {
            *place = sites.len() as u32;
        }
        sites.push(site as u32);
    }

    fn leave(&mut self, site: usize) {
        let Some((&level, &place)) = self.level.get(site).zip(self.place.get(site)) else { return };
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::Network;
    use crate::scenario::Scenario;

    proptest::proptest! {
        #[test]
        fn the_site_is_that_of_a_look_at_all(
            steps in proptest::collection::vec((0usize..60, 0u8..3, 0usize..60, 0usize..9), 1..300),
        ) {
            let mut text = String::from("[[site]]\nname=\"s\"\ncount=60\ncores=2\n[[policy]]\nkind=\"pull\"\n");
            text += "[[dataset]]\nname=\"d\"\nfiles=1\nsite=\"s-1\"\nfile_size=\"1 MB\"\nentries=9\n";
            text += "[[workload]]\nname=\"w\"\nsite=\"s-1\"\ntasks_per_day=1\n";
            for (hub, sites) in [(1, 2..30), (2, 30..61)] {
                for site in sites {
                    let rtt = site % 3 + 1;
                    text += &format!("[[link]]\nfrom=\"s-{hub}\"\nto=\"s-{site}\"\nrtt=\"{rtt}ms\"\nbandwidth=\"1 Gbit/s\"\n");
                }
            }
            let scenario = Scenario::parse("test.toml", &text, std::path::Path::new(".")).unwrap();
            let mut network = Network::new(&scenario);
            let mut loads = Loads::new(vec![2; 60]);
            for (site, what, home, fits) in steps {
                match what {
                    0 => loads.remove(site),
                    _ => loads.add(site),
                }
                network.look_around(home as u32);
                let far = |site: u32| network.distance(home as u32, site).unwrap_or(f64::INFINITY);
                let fits = |site: usize| site % 9 >= fits;
                let found = loads.least(network.nearest(home as u32), far, &fits);
                let plain = (0..60).filter(|&s| fits(s)).min_by(|&a, &b| {
                    loads.jobs[a].cmp(&loads.jobs[b]).then(far(a as u32).total_cmp(&far(b as u32))).then(a.cmp(&b))
                });
                proptest::prop_assert_eq!(found, plain);
            }
        }
    }
}
