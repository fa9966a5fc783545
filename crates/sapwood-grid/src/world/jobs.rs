//! Jobs: placed, queued, running, complete.

use super::view::{Here, View};
use super::{Event, World};
use crate::behaviour::{Behaviour, Route, measure};
use crate::clock::{Time, from_seconds, seconds};
use crate::flows::Tag;
use crate::keys::key;
use crate::policy::{Access, Job as Asked};
use crate::scenario::Protocol;
use crate::tally::Sample;
use sapwood_span::{Error, Result};

/// Seconds of a year, and of the longest job.
const YEAR: f64 = 365.25 * 86400.0;
const LONGEST: f64 = 100.0 * YEAR;
/// Jobs that wait or run at the same time: their number must be bounded, as memory is.
const MOST_JOBS: usize = 20_000_000;

/// A job that is not complete.
#[derive(Clone, Copy, Debug)]
pub(super) struct Job {
    workload: u32,
    dataset: u32,
    /// Its first file, among those of all datasets.
    file: u64,
    files: u32,
    site: u32,
    task: u32,
    access: Access,
    /// Transfers, or flows and work, that it waits for.
    pending: u32,
    started: Time,
    cpu: f64,
}

/// All jobs; places of those that are complete are used again.
#[derive(Default)]
pub(super) struct Jobs {
    all: Vec<Job>,
    free: Vec<u32>,
}

impl Jobs {
    fn add(&mut self, job: Job) -> u32 {
        if let Some(id) = self.free.pop() {
            self.all[id as usize] = job;
            return id;
        }
        self.all.push(job);
        self.all.len() as u32 - 1
    }
}

/// Bytes that one cache, or where the files are, delivers to a job.
struct Supply {
    bytes: u64,
    /// The sites that the bytes pass, from the job's on; none for a cache in its node.
    through: Vec<u32>,
    from_disk: bool,
}

impl World<'_> {
    /// Decides where a job runs, and queues it there.
    pub(super) fn place(
        &mut self,
        workload: usize,
        dataset: usize,
        (first, files): (u64, u64),
        home: usize,
        task: u32,
    ) -> Result<()> {
        let scenario = self.scenario;
        let (w, d) = (&scenario.workloads[workload], &scenario.datasets[dataset]);
        let all = d.first_file + first..d.first_file + first + files;
        let mut here = Here::default();
        d.origins.iter().for_each(|&site| here.has(site, files));
        for file in all.clone() {
            let copies = self.copies.get(&file).into_iter().flatten();
            copies.for_each(|&site| here.has(site as usize, 1));
            self.transfers.destinations(file).for_each(|site| here.expects(site as usize));
        }
        self.network.look_around(home as u32);
        let asked = Asked {
            workload: &w.name,
            dataset: &d.name,
            dataset_number: dataset,
            file: first,
            files,
            home,
            time: seconds(self.now),
        };
        let placed = self.decide(|policy, world| policy.place(&asked, &View { world, here, files }))?;
        let most_free = || {
            let free = self.sites.iter().enumerate().filter(|(_, s)| s.cores > 0);
            free.max_by_key(|(i, s)| (s.cores.saturating_sub(s.busy), std::cmp::Reverse(*i))).map(|(i, _)| i)
        };
        let has_cores = self.sites.get(placed.site).is_some_and(|s| s.cores > 0);
        let site = if has_cores { Some(placed.site) } else { most_free() };
        let site = site.ok_or_else(|| Error::invalid("no site has cores"))?;
        let job = Job {
            workload: workload as u32,
            dataset: dataset as u32,
            file: d.first_file + first,
            files: files as u32,
            site: site as u32,
            task,
            access: placed.access,
            pending: 0,
            started: 0,
            cpu: 0.0,
        };
        if self.jobs.all.len() >= MOST_JOBS && self.jobs.free.is_empty() {
            let what = format!(
                "more than {MOST_JOBS} jobs wait at {:.1} days; give fewer tasks, larger files_per_job, or more cores",
                seconds(self.now) / 86400.0
            );
            return Err(Error::invalid(what).in_file(&scenario.name));
        }
        let id = self.jobs.add(job);
        self.loads.add(site);
        let mut pending = 0;
        if placed.access == Access::Replica {
            for file in all {
                if d.origins.contains(&site) {
                    continue;
                }
                if self.sites[site].disk.has(file) {
                    self.sites[site].disk.pin(file);
                } else {
                    self.request_transfer(dataset, file, site as u32, Some(id));
                    pending += 1;
                }
            }
        }
        self.jobs.all[id as usize].pending = pending;
        if pending == 0 {
            self.queue(id)
        } else {
            self.sites[site].waiting += 1;
            Ok(())
        }
    }

    /// A file that a job waited for is there, or will not come: then the job reads it from where it is.
    pub(super) fn file_came(&mut self, id: u32, file: u64) -> Result<()> {
        let now = self.now;
        let job = &mut self.jobs.all[id as usize];
        let site = job.site as usize;
        job.pending -= 1;
        let pending = job.pending;
        if job.access == Access::Replica {
            if self.sites[site].disk.has(file) {
                self.sites[site].disk.pin(file);
            } else {
                // one that is missing makes it read all of them from where they are
                job.access = Access::Stream;
                for other in job.file..job.file + u64::from(job.files) {
                    self.sites[site].disk.unpin(now, other);
                }
            }
        }
        if pending == 0 {
            self.sites[site].waiting -= 1;
            self.queue(id)?;
        }
        Ok(())
    }

    fn queue(&mut self, id: u32) -> Result<()> {
        let site = self.jobs.all[id as usize].site as usize;
        self.sites[site].queue.push_back(id);
        self.begin_jobs(site)
    }

    fn threads(&self, job: &Job) -> u64 {
        self.scenario.workloads[job.workload as usize].threads.min(self.sites[job.site as usize].cores)
    }

    /// Starts jobs while there are cores.
    fn begin_jobs(&mut self, site: usize) -> Result<()> {
        while let Some(&id) = self.sites[site].queue.front() {
            let threads = self.threads(&self.jobs.all[id as usize]);
            let state = &mut self.sites[site];
            if state.busy + threads > state.cores {
                return Ok(());
            }
            state.queue.pop_front();
            state.busy += threads;
            state.running += 1;
            self.begin(id)?;
        }
        Ok(())
    }

    fn begin(&mut self, id: u32) -> Result<()> {
        let job = self.jobs.all[id as usize];
        let supplies = self.supplies(&job)?;
        let total: u64 = supplies.iter().map(|s| s.bytes).sum();
        let mut time = 0.0;
        let mut cpu = 0.0;
        let mut flows = Vec::new();
        let mut sample = None;
        for supply in &supplies {
            let share = if total == 0 { 1.0 } else { supply.bytes as f64 / total as f64 };
            if supply.bytes == 0 && total > 0 {
                continue;
            }
            let (path, route, far) = if supply.through.is_empty() {
                (None, Route::LOCAL, false)
            } else {
                let path = self.path(&supply.through, supply.from_disk);
                let (path, route, far) = path.ok_or_else(|| self.unreachable(&job))?;
                (Some(path), route, far)
            };
            let behaviour = self.behaviour(&job, route)?;
            let share = share * f64::from(job.files);
            time += behaviour.seconds * share;
            cpu += behaviour.cpu * share;
            self.tally.requests += behaviour.requests * share * f64::from(u8::from(route != Route::LOCAL));
            if let Some(path) = path {
                // gaps between baskets that were bridged, and headers
                let each = supply.bytes as f64 / behaviour.wanted.max(1.0);
                let [bytes, headers] = [behaviour.bytes, behaviour.headers].map(|b| (b * each).round() as u64);
                let bytes = bytes.max(supply.bytes);
                if far {
                    self.tally.moved += bytes;
                    self.tally.header_bytes += headers;
                    self.tally.gap_bytes += bytes.saturating_sub(headers).saturating_sub(supply.bytes);
                }
                flows.push((path, bytes));
                if far && supply.bytes == total && job.files == 1 {
                    sample = Some((route, path));
                }
            }
        }
        if let Some((seconds, requests)) = self.comparison(&job, &supplies)? {
            time += seconds;
            self.tally.requests += requests;
        }
        if !(0.0..=LONGEST).contains(&time) {
            return Err(self.too_long(&job, time));
        }
        self.at(self.now.saturating_add(from_seconds(time)), Event::Worked(id));
        let mut pending = 1;
        for (path, bytes) in flows {
            if bytes > 0 {
                pending += 1;
                self.flows.start(self.now, path, bytes as f64 / time.max(1e-6), bytes, Tag::Job(id));
            }
        }
        if let Some((route, path)) = sample {
            let (workload, kind) = (job.workload as usize, self.kind_of[job.dataset as usize]);
            self.tally.sample(&mut self.chance, Sample { workload, kind, route, path });
        }
        let job = &mut self.jobs.all[id as usize];
        (job.pending, job.started, job.cpu) = (pending, self.now, cpu);
        Ok(())
    }

    /// A file that its node has is compared with its server before it is read: seconds, and requests without bytes. One flight after
    /// connecting: over HTTP a request, over XRootD the open and a read.
    fn comparison(&mut self, job: &Job, supplies: &[Supply]) -> Result<Option<(f64, f64)>> {
        let held = |s: &Supply| s.through.is_empty() && s.bytes > 0;
        if !supplies.iter().any(held) || supplies.iter().any(|s| !held(s) && s.bytes > 0) {
            return Ok(None);
        }
        let Some(supply) = supplies.iter().rfind(|s| s.from_disk) else { return Ok(None) };
        let path = self.path(&supply.through, supply.from_disk).ok_or_else(|| self.unreachable(job))?;
        let Some(workload) = self.scenario.workloads.get(job.workload as usize) else { return Ok(None) };
        let requests = if workload.protocol == Protocol::Xrootd { 2.0 } else { 1.0 };
        let files = f64::from(job.files);
        Ok(Some(((2.0 * path.1.round_trip + workload.per_request) * files, requests * files)))
    }

    fn too_long(&self, job: &Job, seconds: f64) -> Error {
        let workload = self.scenario.workloads.get(job.workload as usize).map_or("", |w| w.name.as_str());
        let what = format!(
            "a job of {workload} would take {:.3e} years; look at its work for each entry, its path's bandwidth and round trip",
            seconds / YEAR
        );
        Error::invalid(what).in_file(&self.scenario.name)
    }

    fn unreachable(&self, job: &Job) -> Error {
        let [dataset, site] = [
            self.scenario.datasets.get(job.dataset as usize).map_or("", |d| d.name.as_str()),
            self.scenario.sites.get(job.site as usize).map_or("", |s| s.name.as_str()),
        ];
        Error::invalid(format!("no link leads from {site} to a site with {dataset}; add a [[link]]"))
            .in_file(&self.scenario.name)
    }

    /// From where a job gets its bytes; caches on the way keep them.
    fn supplies(&mut self, job: &Job) -> Result<Vec<Supply>> {
        let site = job.site;
        let mut chain = Vec::new();
        let mut at = Some(site as usize);
        while let Some(s) = at {
            let proxy = self.scenario.sites[s].proxy.as_ref();
            if proxy.is_some() {
                chain.push(s as u32);
            }
            at = proxy.and_then(|p| p.parent);
        }
        let node = self.node(site as usize);
        // the caches first, then where the files are
        let mut out: Vec<Supply> = Vec::new();
        out.push(Supply { bytes: 0, through: Vec::new(), from_disk: false });
        for i in 0..chain.len() {
            let mut through = chain[..=i].to_vec();
            if chain[0] != site {
                through.insert(0, site);
            }
            out.push(Supply { bytes: 0, through, from_disk: false });
        }
        let caches = out.len();
        for file in job.file..job.file + u64::from(job.files) {
            let source = self.nearest(job.dataset as usize, file, site).ok_or_else(|| self.unreachable(job))?;
            let local = source == site;
            let mut through = if local || chain.is_empty() { vec![site] } else { out[caches - 1].through.clone() };
            if through.last() != Some(&source) {
                through.push(source);
            }
            let from = out.iter().skip(caches).position(|s| s.through == through).map_or(out.len(), |i| i + caches);
            if from == out.len() {
                out.push(Supply { bytes: 0, through, from_disk: true });
            }
            self.supply(job, file, source, node, &chain, &mut out, from);
        }
        Ok(out)
    }

    #[allow(clippy::too_many_arguments)]
    fn supply(
        &mut self,
        job: &Job,
        file: u64,
        source: u32,
        node: Option<usize>,
        chain: &[u32],
        out: &mut [Supply],
        from: usize,
    ) {
        let now = self.now;
        let site = job.site;
        let kind = &self.kinds[self.kind_of[job.dataset as usize]];
        let Some(reads) = kind.parts.reads[job.workload as usize].as_ref() else { return };
        if source == site {
            for &(part, wanted) in &reads.wanted {
                out[from].bytes += wanted;
                self.sites[site as usize].disk.read(now, file, part, wanted);
            }
            return;
        }
        let mut fetched = vec![false; chain.len()];
        for &(part, wanted) in &reads.wanted {
            let key = key(file, part);
            let mut have = 0;
            if let Some(cache) = node.and_then(|n| self.sites[site as usize].nodes.get_mut(n)) {
                have = cache.read(now, key, wanted);
                out[0].bytes += have;
                if have < wanted {
                    cache.insert(now, key, wanted, wanted);
                }
            }
            for (i, &s) in chain.iter().enumerate() {
                let Some(cache) = self.sites[s as usize].proxy.as_mut() else { continue };
                if have == wanted {
                    break;
                }
                // of the prefix, what lies behind the bytes that a cache before this one has
                let there = cache.read(now, key, wanted).max(have);
                out[i + 1].bytes += there - have;
                if there < wanted {
                    cache.insert(now, key, wanted, wanted);
                    fetched[i] = true;
                }
                have = there;
            }
            out[from].bytes += wanted - have;
            self.sites[source as usize].disk.read(now, file, part, wanted);
        }
        for (i, &s) in chain.iter().enumerate().filter(|(i, _)| fetched[*i]) {
            if self.scenario.sites[s as usize].proxy.as_ref().is_some_and(|p| p.whole_files) {
                self.fetch_rest(job, file, s, source, &chain[i..]);
            }
        }
    }

    /// A proxy that keeps whole files fetches what nobody asked for.
    fn fetch_rest(&mut self, job: &Job, file: u64, proxy: u32, source: u32, chain: &[u32]) {
        let now = self.now;
        let kind = &self.kinds[self.kind_of[job.dataset as usize]];
        let Some(cache) = self.sites[proxy as usize].proxy.as_mut() else { return };
        let mut rest = 0;
        for (part, &bytes) in kind.parts.bytes.iter().enumerate() {
            let have = cache.held(key(file, part));
            rest += cache.insert(now, key(file, part), bytes, 0).saturating_sub(have);
        }
        let mut through = chain.to_vec();
        if through.last() != Some(&source) {
            through.push(source);
        }
        if rest > 0
            && let Some((path, route, far)) = self.path(&through, true)
        {
            self.tally.moved += if far { rest } else { 0 };
            let window = self.scenario.largest_window as f64 / route.round_trip.max(1e-6);
            self.flows.start(now, path, route.bandwidth.min(window), rest, Tag::Fill);
        }
    }

    /// The next node of a site, if its nodes have caches.
    fn node(&mut self, site: usize) -> Option<usize> {
        let state = self.sites.get_mut(site)?;
        let count = state.nodes.len();
        (count > 0).then(|| {
            let node = state.next_node;
            state.next_node = (node + 1) % count;
            node
        })
    }

    /// How a job behaves on a path, measured when it is first needed.
    fn behaviour(&mut self, job: &Job, route: Route) -> Result<Behaviour> {
        let route = route.rounded();
        let kind = self.kind_of[job.dataset as usize];
        let bits = [route.round_trip, route.bandwidth, route.loss].map(f64::to_bits);
        let key = (job.workload, kind as u32, bits);
        if let Some(known) = self.behaviours.get(&key) {
            return Ok(*known);
        }
        let files = &self.kinds[kind];
        let workload = &self.scenario.workloads[job.workload as usize];
        let chosen = files.parts.reads[job.workload as usize].as_ref().map_or(&[][..], |r| &r.chosen);
        let windows = (self.scenario.initial_window, self.scenario.largest_window);
        let measured =
            measure(&files.profile, chosen, workload, route, windows).map_err(|e| e.in_file(&self.scenario.name))?;
        self.behaviours.insert(key, measured);
        Ok(measured)
    }

    /// A part of what a job waits for is done.
    pub(super) fn job_proceeds(&mut self, id: u32) -> Result<()> {
        let job = &mut self.jobs.all[id as usize];
        job.pending -= 1;
        if job.pending > 0 {
            return Ok(());
        }
        let job = *job;
        self.jobs.free.push(id);
        let site = job.site as usize;
        let threads = self.threads(&job);
        self.sites[site].busy -= threads;
        self.sites[site].running -= 1;
        self.loads.remove(site);
        if job.access == Access::Replica {
            for file in job.file..job.file + u64::from(job.files) {
                self.sites[site].disk.unpin(self.now, file);
            }
        }
        self.tally.job(site, seconds(self.now - job.started) * threads as f64, job.cpu);
        self.completes(job.task);
        self.begin_jobs(site)
    }
}
