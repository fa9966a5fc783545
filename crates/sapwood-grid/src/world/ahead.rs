//! What is needed soon. Where there are many jobs, what is known of each is in no cache of the processor, and a look at it is a wait for
//! memory. Where several looks are known beforehand, all of that memory is fetched at the same time.

use super::arrivals::CacheId;
use super::job_list::Job;
use super::{Event, World};
use crate::flows::{Ended, Tag};
use crate::keys::key;
use sapwood_pages::prefetch;

/// So many jobs that begin, and so many events, at once.
pub(super) const JOBS: usize = 16;
const EVENTS: usize = 8;

impl World<'_> {
    /// What a job needs that will begin soon: first what is known of its site.
    pub(super) fn prefetch_for_job(&self, id: u32) {
        let Some(job) = self.jobs.all.get(id as usize) else { return };
        if let Some(site) = self.sites.get(job.site as usize) {
            if let Some(cache) = &site.proxy {
                cache.prefetch();
            }
            prefetch(&site.confirmed);
        }
        self.tally.sites.get(job.site as usize).into_iter().for_each(prefetch);
        self.connections.prefetch(job.dataset, job.site);
    }

    /// What these jobs need when they begin.
    pub(super) fn prefetch_for_jobs(&self, ids: &[u32]) {
        if ids.len() < 2 {
            return;
        }
        let jobs = || ids.iter().filter_map(|&id| self.jobs.all.get(id as usize));
        let chains = self.connections.chains();
        // the first and the last file, in each of the caches
        let files = || {
            jobs().flat_map(|job| {
                let files = [job.file, job.file + u64::from(job.files.max(1)) - 1];
                chains.of(job.site).iter().flat_map(move |&site| files.map(|file| (site, file)))
            })
        };
        let units = |site: u32| Some(self.sites.get(site as usize)?.proxy.as_ref()?.units());
        for (site, file) in files() {
            self.arrivals.prefetch(CacheId::proxy(site), file);
            if let Some(units) = units(site) {
                units.prefetch(key(file, 0));
            }
        }
        jobs().for_each(|job| self.connections.prefetch_nearest(job.dataset, job.site));
        for (site, file) in files() {
            self.arrivals.prefetch_pieces(CacheId::proxy(site), file);
            if let Some(units) = units(site) {
                units.prefetch_list(key(file, 0));
            }
        }
    }

    /// What is needed when the next flows end.
    pub(super) fn prefetch_for_flows(&mut self) {
        let mut jobs = std::mem::take(&mut self.fetched);
        jobs.extend(self.flows.prefetch_next().filter_map(|tag| if let Tag::Job(id) = tag { Some(id) } else { None }));
        let all = || jobs.iter().filter_map(|&id| self.jobs.all.get(id as usize));
        all().for_each(prefetch);
        all().for_each(|job| self.arrivals.prefetch_end(job.arrival));
        jobs.clear();
        self.fetched = jobs;
    }

    /// What is needed when these flows have ended.
    pub(super) fn prefetch_for_ended(&self, ended: &[Ended]) {
        ended.iter().filter_map(|ended| self.job(&ended.tag)).for_each(prefetch);
        for job in ended.iter().filter_map(|ended| self.job(&ended.tag)) {
            self.arrivals.prefetch_end(job.arrival);
        }
    }

    fn job(&self, tag: &Tag) -> Option<&Job> {
        match tag {
            Tag::Job(id) => self.jobs.all.get(*id as usize),
            _ => None,
        }
    }

    /// What the next events need, before each of them.
    pub(super) fn prefetch_for_events(&mut self) {
        if self.until_prefetch > 0 {
            self.until_prefetch -= 1;
            return;
        }
        self.until_prefetch = EVENTS / 2;
        let job = |(_, _, event): &(_, _, Event)| match event {
            Event::Worked(id) | Event::Reads(id) => self.jobs.all.get(*id as usize),
            _ => None,
        };
        // the jobs of those behind the next ones, and the sites of the next ones, whose jobs are here since the last time
        for list in self.agenda.lists() {
            list.range((EVENTS / 2).min(list.len())..EVENTS.min(list.len())).filter_map(job).for_each(prefetch);
            let next = list.range(..(EVENTS / 2).min(list.len())).filter_map(job);
            for job in next {
                self.sites.get(job.site as usize).into_iter().for_each(prefetch);
                self.tally.sites.get(job.site as usize).into_iter().for_each(prefetch);
                self.tasks.prefetch(job.task);
            }
        }
    }
}
