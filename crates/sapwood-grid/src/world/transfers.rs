//! Transfers: files that are copied to the disks of sites.

use super::connections::Connection;
use super::view::{Here, View};
use super::{Event, World};
use crate::clock::seconds;
use crate::flows::Tag;
use crate::keys::Map;
use crate::policy::{Copy, NewDataset, Replica};
use crate::replicas::Candidate;
use sapwood_sim::SEGMENT;
use sapwood_span::{Error, Result};

/// A file that is being copied, or will be.
#[derive(Clone, Debug, Default)]
struct Transfer {
    dataset: u32,
    file: u64,
    site: u32,
    jobs: Vec<u32>,
    /// Whether a rule keeps the copy.
    kept: bool,
}

/// All transfers.
#[derive(Default)]
pub(super) struct Transfers {
    all: Vec<Transfer>,
    free: Vec<u32>,
    /// By file: where it is on its way to, and the transfer.
    to: Map<u64, Vec<(u32, u32)>>,
}

impl Transfers {
    /// The sites to which a file is on its way.
    pub(super) fn destinations(&self, file: u64) -> impl Iterator<Item = u32> {
        self.to.get(&file).into_iter().flatten().map(|t| t.0)
    }

    fn known(&self, file: u64, site: u32) -> Option<u32> {
        self.to.get(&file)?.iter().find(|t| t.0 == site).map(|t| t.1)
    }

    fn add(&mut self, transfer: Transfer) -> u32 {
        let (file, site) = (transfer.file, transfer.site);
        let id = match self.free.pop() {
            Some(id) => {
                self.all[id as usize] = transfer;
                id
            }
            None => {
                self.all.push(transfer);
                self.all.len() as u32 - 1
            }
        };
        self.to.entry(file).or_default().push((site, id));
        id
    }

    fn remove(&mut self, id: u32) -> Transfer {
        let transfer = std::mem::take(&mut self.all[id as usize]);
        if let Some(list) = self.to.get_mut(&transfer.file) {
            list.retain(|t| t.1 != id);
            if list.is_empty() {
                self.to.remove(&transfer.file);
            }
        }
        self.free.push(id);
        transfer
    }
}

impl World<'_> {
    /// Copies of a new dataset, as the policy says.
    pub(super) fn replicate(&mut self, dataset: usize) -> Result<()> {
        let scenario = self.scenario;
        let Some(d) = scenario.datasets.get(dataset) else { return Ok(()) };
        let mut by_rule = Vec::new();
        for rule in scenario.rules.iter().filter(|r| r.datasets.binary_search(&dataset).is_ok()) {
            let sites: Vec<usize> = rule.sites.iter().copied().filter(|s| !d.origins.contains(s)).collect();
            for file in 0..d.files {
                let copies = 0..rule.copies.min(sites.len());
                by_rule.extend(
                    copies.map(|c| Copy { file, site: sites[(file as usize * rule.copies + c) % sites.len()] }),
                );
            }
        }
        let made = NewDataset {
            name: &d.name,
            number: dataset,
            files: d.files,
            file_bytes: d.profile.file_bytes,
            by_rule: &by_rule,
            time: seconds(self.now),
        };
        let copies = self.decide(|policy, world| policy.replicate(&made, &View { world, here: Here::default() }))?;
        let mut to: Vec<usize> = Vec::new();
        for Copy { file, site } in copies {
            if file >= d.files || site >= self.sites.len() {
                let what = format!(
                    "the policy copies file {file} of {} to site {site}: there is no such file or site",
                    d.name
                );
                return Err(Error::invalid(what));
            }
            let file = d.first_file + file;
            let known = self.transfers.known(file, site as u32).is_some() || self.sites[site].disk.has(file);
            if known || d.origins.contains(&site) {
                continue;
            }
            let id = self.request_transfer(dataset, file, site as u32, None);
            if let Some(t) = id.and_then(|id| self.transfers.all.get_mut(id as usize)) {
                t.kept = true;
            }
            to.push(site);
        }
        to.sort_unstable();
        to.dedup();
        to.into_iter().try_for_each(|site| self.begin_transfers(site as u32))
    }

    /// A job, or a rule, needs a file on the disk of a site.
    pub(super) fn request_transfer(&mut self, dataset: usize, file: u64, site: u32, job: Option<u32>) -> Option<u32> {
        let id = match self.transfers.known(file, site) {
            Some(id) => id,
            None => {
                let id = self.transfers.add(Transfer { dataset: dataset as u32, file, site, ..Transfer::default() });
                self.sites[site as usize].transfer_queue.push_back(id);
                if job.is_some() && self.sites[site as usize].transfers < self.spec.transfers {
                    // in a moment: the job that it is for is not known everywhere yet
                    self.at(self.now, Event::Transfers(site));
                }
                id
            }
        };
        self.transfers.all[id as usize].jobs.extend(job);
        Some(id)
    }

    /// Starts transfers to a site, as many as may run at once.
    pub(super) fn begin_transfers(&mut self, site: u32) -> Result<()> {
        while self.sites[site as usize].transfers < self.spec.transfers {
            let Some(id) = self.sites[site as usize].transfer_queue.pop_front() else { return Ok(()) };
            let transfer = &self.transfers.all[id as usize];
            let (dataset, file) = (transfer.dataset as usize, transfer.file);
            let kind = &self.kinds[self.kind_of[dataset]];
            let (bytes, parts) = (self.size_of(file), kind.parts.bytes.len());
            let gone = self.make_room(site, file, bytes)?;
            let Some(gone) = gone else {
                self.tally.no_room += 1;
                self.gives_up(id)?;
                continue;
            };
            for file in gone {
                // files of other datasets may be of another size
                let size = self.size_of(file);
                self.sites[site as usize].disk.forget(file, size, parts.max(255));
                if let Some(copies) = self.copies.get_mut(&file) {
                    copies.retain(|&s| s != site);
                    if copies.is_empty() {
                        self.copies.remove(&file);
                    }
                }
            }
            self.sites[site as usize].transfers += 1;
            self.at(self.now.saturating_add(self.spec.overhead), Event::Sends(id));
        }
        Ok(())
    }

    /// Reserves room on the disk of a site: the policy may choose what it loses.
    fn make_room(&mut self, site: u32, file: u64, bytes: u64) -> Result<Option<Vec<u64>>> {
        let mut disk = std::mem::take(&mut self.sites[site as usize].disk);
        let now = self.now;
        let made = self.decide(|policy, world| {
            disk.reserve(now, file, bytes, &mut |needed, candidates| {
                let replica = |&(file, bytes, used): &Candidate| {
                    let d = world.dataset_of(file);
                    let dataset = world.scenario.datasets.get(d);
                    let first = dataset.map_or(0, |d| d.first_file);
                    let dataset = dataset.map_or("", |d| d.name.as_str());
                    Replica { dataset, file: file - first, bytes, used: seconds(used) }
                };
                let copies: Vec<Replica<'_>> = candidates.iter().map(replica).collect();
                policy.delete(site as usize, needed, &copies)
            })
        });
        self.sites[site as usize].disk = disk;
        made
    }

    fn dataset_of(&self, file: u64) -> usize {
        self.scenario.datasets.partition_point(|d| d.first_file <= file).saturating_sub(1)
    }

    /// Bytes of a file.
    fn size_of(&self, file: u64) -> u64 {
        let dataset = self.scenario.datasets.get(self.dataset_of(file));
        dataset.map_or(0, |d| d.bytes_of(file - d.first_file))
    }

    fn gives_up(&mut self, id: u32) -> Result<()> {
        let transfer = self.transfers.remove(id);
        for job in transfer.jobs {
            self.file_came(job, transfer.file)?;
        }
        Ok(())
    }

    /// The bytes of a transfer begin to flow.
    pub(super) fn send(&mut self, id: u32) -> Result<()> {
        let transfer = &self.transfers.all[id as usize];
        let (dataset, file, site) = (transfer.dataset as usize, transfer.file, transfer.site);
        let bytes = self.size_of(file);
        let source = self.nearest(dataset, file, site);
        let connection = source.and_then(|source| self.path(&[site, source], true));
        let Some(Connection { path, route, .. }) = connection else {
            self.sites[site as usize].transfers -= 1;
            self.tally.no_room += 1;
            return self.gives_up(id);
        };
        let round_trip = route.round_trip.max(1e-6);
        let streams = self.spec.streams as f64;
        let mut rate = streams * self.scenario.largest_window as f64 / round_trip;
        if route.loss > 0.0 {
            // Mathis, Semke, Mahdavi, Ott 1997
            rate = rate.min(streams * 1.22 * SEGMENT / (round_trip * route.loss.sqrt()));
        }
        self.tally.moved += bytes;
        self.tally.copied += bytes;
        self.flows.start(self.now, path, rate.min(route.bandwidth), bytes, Tag::Transfer(id));
        Ok(())
    }

    /// A copy is complete.
    pub(super) fn arrived(&mut self, id: u32) -> Result<()> {
        let transfer = self.transfers.remove(id);
        let site = transfer.site as usize;
        self.sites[site].disk.arrived(self.now, transfer.file);
        if transfer.kept {
            self.sites[site].disk.pin(transfer.file);
        }
        self.sites[site].transfers -= 1;
        self.copies.entry(transfer.file).or_default().push(transfer.site);
        for job in transfer.jobs {
            self.file_came(job, transfer.file)?;
        }
        self.begin_transfers(transfer.site)
    }
}
