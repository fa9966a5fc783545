//! Where jobs run, how they reach their files, what is copied and what is deleted: the decisions that are compared.

use crate::scenario::{Kind, Place, PolicySpec};
use sapwood_span::Error;

/// A job to be placed.
#[derive(Clone, Copy, Debug)]
pub struct Job<'a> {
    /// The name of its workload.
    pub workload: &'a str,
    /// The name of its dataset.
    pub dataset: &'a str,
    /// The number of the dataset.
    pub dataset_number: usize,
    /// The number of its first file in the dataset.
    pub file: u64,
    /// How many files it reads.
    pub files: u64,
    /// The site of its user.
    pub home: usize,
    /// Seconds since the beginning.
    pub time: f64,
}

/// The grid as a policy sees it, when it decides about one job.
pub trait Grid {
    /// How many sites there are; they are numbered from 0.
    fn sites(&self) -> usize;
    /// The name of a site.
    fn name(&self, site: usize) -> &str;
    /// Its cores.
    fn cores(&self, site: usize) -> u64;
    /// Jobs that run there.
    fn running(&self, site: usize) -> u64;
    /// Jobs that wait there for a core or for a file.
    fn queued(&self, site: usize) -> u64;
    /// Bytes of disk for replicas.
    fn disk(&self, site: usize) -> u64;
    /// Whether all files of the job are on the disks of a site.
    fn has_files(&self, site: usize) -> bool;
    /// Whether they are on their way to it.
    fn expects_files(&self, site: usize) -> bool;
    /// The round-trip time between two sites in seconds; none if nothing connects them.
    fn round_trip(&self, from: usize, to: usize) -> Option<f64>;

    /// The sites where all files of the job are or to which they are on their way.
    fn with_files(&self) -> Vec<usize> {
        (0..self.sites()).filter(|&s| self.has_files(s) || self.expects_files(s)).collect()
    }

    /// Of the sites with cores that fit, the one with the least load: jobs that run or wait there, for each core. Of equal ones the one
    /// nearest to `home`, then the first.
    fn least_loaded(&self, home: usize, fits: &dyn Fn(usize) -> bool) -> Option<usize> {
        let mut best: Option<(f64, f64, usize)> = None;
        for site in (0..self.sites()).filter(|&s| self.cores(s) > 0 && fits(s)) {
            let load = self.load(site);
            if best.is_some_and(|b| b.0 < load) {
                continue;
            }
            let this = (load, self.round_trip(home, site).unwrap_or(f64::INFINITY), site);
            if best.is_none_or(|b| this < b) {
                best = Some(this);
            }
        }
        best.map(|b| b.2)
    }

    /// How full a site is: jobs that run or wait there, for each core.
    fn load(&self, site: usize) -> f64 {
        (self.running(site) + self.queued(site)) as f64 / self.cores(site).max(1) as f64
    }
}

/// What is decided about a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placement {
    /// Where it runs.
    pub site: usize,
    /// How it reaches its files.
    pub access: Access,
}

/// How a job reaches its files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// It reads what it needs, through the caches of the site, from where the files are.
    Stream,
    /// It waits until the disk of the site has copies of its files.
    Replica,
}

/// A dataset that was made just now.
#[derive(Clone, Copy, Debug)]
pub struct NewDataset<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its number.
    pub number: usize,
    /// How many files it has.
    pub files: u64,
    /// Bytes of each of them.
    pub file_bytes: u64,
    /// The copies that the rules of the scenario name.
    pub by_rule: &'a [Copy],
    /// Seconds since the beginning.
    pub time: f64,
}

/// A copy of a file to be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Copy {
    /// The number of the file in its dataset.
    pub file: u64,
    /// Where it is copied to.
    pub site: usize,
}

/// A copy on a full disk that no job needs now.
#[derive(Clone, Copy, Debug)]
pub struct Replica<'a> {
    /// The name of its dataset.
    pub dataset: &'a str,
    /// The number of the file in its dataset.
    pub file: u64,
    /// Its bytes.
    pub bytes: u64,
    /// When it was used last, in seconds since the beginning.
    pub used: f64,
}

/// Decides where jobs run and how they reach their files, what is copied beforehand and what a full disk loses.
pub trait Policy: Send {
    /// Decides about one job. A site without cores is not accepted: the job then runs at the site with most free cores.
    fn place(&mut self, job: &Job<'_>, grid: &dyn Grid) -> Placement;

    /// Copies of a dataset that are made when it is, and kept. Those to sites with the originals are ignored. By default none.
    fn replicate(&mut self, dataset: &NewDataset<'_>, grid: &dyn Grid) -> Vec<Copy> {
        let _ = (dataset, grid);
        Vec::new()
    }

    /// Which copies a disk loses that has no room for `needed` more bytes, in this order and no more than necessary. By default, and if
    /// these are not enough, those that were not used for longest.
    fn delete(&mut self, site: usize, needed: u64, copies: &[Replica<'_>]) -> Option<Vec<usize>> {
        let _ = (site, needed, copies);
        None
    }

    /// Why the simulation must end early, if it must: asked after each decision.
    fn failure(&self) -> Option<Error> {
        None
    }
}

/// The policy of a scenario.
pub(crate) fn shipped(spec: &PolicySpec) -> Box<dyn Policy> {
    let (push, pull) = (Push, Pull { place: spec.place });
    match spec.kind {
        Kind::Push => Box::new(push),
        Kind::Pull | Kind::Custom => Box::new(pull),
        Kind::Mixed => Box::new(Mixed { pushed: spec.pushed.clone(), push, pull }),
    }
}

/// The job goes to its files. Where these are, and there are as many jobs as cores, files are copied to the site with most room.
struct Push;

impl Policy for Push {
    fn replicate(&mut self, dataset: &NewDataset<'_>, _: &dyn Grid) -> Vec<Copy> {
        dataset.by_rule.to_vec()
    }

    fn place(&mut self, job: &Job<'_>, grid: &dyn Grid) -> Placement {
        let with_files = grid.with_files();
        let here = grid.least_loaded(job.home, &|s| with_files.binary_search(&s).is_ok());
        if let Some(site) = here
            && grid.load(site) < 1.0
        {
            return Placement { site, access: Access::Replica };
        }
        let other = grid.least_loaded(job.home, &|s| grid.disk(s) > 0);
        match (here, other) {
            (Some(here), Some(other)) if grid.load(other) + 0.5 >= grid.load(here) => {
                Placement { site: here, access: Access::Replica }
            }
            (_, Some(site)) | (Some(site), None) => Placement { site, access: Access::Replica },
            (None, None) => {
                Placement { site: grid.least_loaded(job.home, &|_| true).unwrap_or(job.home), access: Access::Stream }
            }
        }
    }
}

/// The job runs anywhere, or at home, and reads from where the files are.
struct Pull {
    place: Place,
}

impl Policy for Pull {
    fn place(&mut self, job: &Job<'_>, grid: &dyn Grid) -> Placement {
        let home = self.place == Place::Home && grid.cores(job.home) > 0;
        let site = if home { Some(job.home) } else { grid.least_loaded(job.home, &|_| true) };
        Placement { site: site.unwrap_or(job.home), access: Access::Stream }
    }
}

/// Some datasets are pushed, the others pulled.
struct Mixed {
    pushed: Vec<usize>,
    push: Push,
    pull: Pull,
}

impl Policy for Mixed {
    fn replicate(&mut self, dataset: &NewDataset<'_>, grid: &dyn Grid) -> Vec<Copy> {
        let pushed = self.pushed.binary_search(&dataset.number).is_ok();
        if pushed { self.push.replicate(dataset, grid) } else { Vec::new() }
    }

    fn place(&mut self, job: &Job<'_>, grid: &dyn Grid) -> Placement {
        if self.pushed.binary_search(&job.dataset_number).is_ok() {
            self.push.place(job, grid)
        } else {
            self.pull.place(job, grid)
        }
    }
}
