//! Jobs: placed, queued, running, complete.

use super::connections::{Connection, Place};
use super::job_list::{Job, NO_READ};
use super::supplies::{Supplies, Supply};
use super::view::{Here, View};
use super::{Event, World, ahead};
use crate::among::{is_crowded, measure_among, rounded};
use crate::behaviour::{Behaviour, measure};
use crate::clock::{Time, from_seconds, seconds};
use crate::flows::{NewFlow, Tag};
use crate::policy::{Access, Job as Asked};
use crate::profile::Profile;
use crate::reader::Reader;
use crate::route::Route;
use crate::tally::Sample;
use sapwood_span::{Error, Result};

/// Seconds of a year, and of the longest job.
const YEAR: f64 = 365.25 * 86400.0;
const LONGEST: f64 = 100.0 * YEAR;
/// A microsecond.
const ROUNDING: Time = 1000;
/// Jobs that wait or run at the same time: their number must be bounded, as memory is.
const MOST_JOBS: usize = 20_000_000;

impl World<'_> {
    /// Decides where a job runs, and queues it there.
    pub(super) fn place(
        &mut self,
        workload: usize,
        dataset: usize,
        (first, files): (u64, u64),
        home: usize,
        task: u32,
        read: Option<u32>,
    ) -> Result<()> {
        let scenario = self.scenario;
        let (w, d) = (&scenario.workloads[workload], &scenario.datasets[dataset]);
        let all = d.first_file + first..d.first_file + first + files;
        let mut here = Here::new(&d.origins, files);
        for file in all.clone() {
            let copies = self.copies.get(&file).into_iter().flatten();
            copies.for_each(|&site| here.has(site as usize));
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
        let placed = self.decide(|policy, world| policy.place(&asked, &View { world, here }))?;
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
            read: read.unwrap_or(NO_READ),
            access: placed.access,
            arrival: 0,
            pending: 0,
            started: 0,
            worked: false,
            end: 0,
            behaviour: u32::MAX,
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
            // what its transfers need has an order with what jobs do that began before
            self.begin_together()?;
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
        // nobody waits before it: the memory of the queue is not needed
        if self.sites[site].queue.is_empty() && self.gets_cores(id) {
            return self.has_cores(id);
        }
        self.sites[site].queue.push_back(id);
        self.begin_jobs(site)
    }

    fn threads(&self, job: &Job) -> u64 {
        self.scenario.workloads[job.workload as usize].threads.min(self.sites[job.site as usize].cores)
    }

    /// Starts jobs while there are cores.
    fn begin_jobs(&mut self, site: usize) -> Result<()> {
        while let Some(&id) = self.sites[site].queue.front() {
            if !self.gets_cores(id) {
                return Ok(());
            }
            self.sites[site].queue.pop_front();
            self.has_cores(id)?;
        }
        Ok(())
    }

    /// Gives a job its cores, if they are free.
    fn gets_cores(&mut self, id: u32) -> bool {
        let job = &self.jobs.all[id as usize];
        let threads = self.threads(job);
        let state = &mut self.sites[job.site as usize];
        let free = state.busy + threads <= state.cores;
        if free {
            state.busy += threads;
            state.running += 1;
        }
        free
    }

    /// A job begins, or is among those that begin together.
    fn has_cores(&mut self, id: u32) -> Result<()> {
        if let Some(jobs) = &mut self.together {
            jobs.push(id);
            self.prefetch_for_job(id);
            return Ok(());
        }
        self.begin(id)?;
        self.start_flows(&[]);
        Ok(())
    }

    /// Jobs of tasks begin. While jobs are placed this changes nothing that the policy sees: they have their cores already.
    pub(super) fn begin_together(&mut self) -> Result<()> {
        let Some(mut jobs) = self.together.take() else { return Ok(()) };
        self.meet(&jobs);
        for jobs in jobs.chunks(ahead::JOBS) {
            self.prefetch_for_jobs(jobs);
            jobs.iter().try_for_each(|&job| self.begin(job))?;
            self.start_flows(jobs);
        }
        jobs.clear();
        self.together = Some(jobs);
        Ok(())
    }

    /// Flows of jobs that begin: together, so that what is known of their paths is fetched together.
    fn start_flows(&mut self, of: &[u32]) {
        self.flows.start_all(self.now, &self.starting);
        self.starting.clear();
        for &id in of {
            self.sites[self.jobs.all[id as usize].site as usize].beginning -= 1;
        }
    }

    /// Jobs read at the same time.
    fn meet(&mut self, jobs: &[u32]) {
        for &id in jobs {
            self.sites[self.jobs.all[id as usize].site as usize].beginning += 1;
        }
    }

    /// A job begins: it reads when it has started.
    fn begin(&mut self, id: u32) -> Result<()> {
        let job = &mut self.jobs.all[id as usize];
        job.started = self.now;
        let startup = self.scenario.workloads[job.workload as usize].startup;
        if startup > 0.0 {
            self.at(self.now.saturating_add(from_seconds(startup)), Event::Reads(id));
            return Ok(());
        }
        self.read(id)
    }

    /// A job has started, and others at the same time.
    pub(super) fn job_reads(&mut self, id: u32) -> Result<()> {
        let mut jobs = vec![id];
        while let Some(&(time, _, Event::Reads(other))) = self.agenda.peek()
            && time <= self.now
        {
            self.agenda.pop();
            jobs.push(other);
        }
        self.meet(&jobs);
        jobs.iter().try_for_each(|&job| self.read(job))?;
        self.start_flows(&jobs);
        Ok(())
    }

    fn read(&mut self, id: u32) -> Result<()> {
        // their memory is used again for the next job
        let mut supplies = std::mem::take(&mut self.supplies);
        let read = self.read_from(id, &mut supplies);
        self.supplies = supplies;
        read
    }

    fn read_from(&mut self, id: u32, supplies: &mut Supplies) -> Result<()> {
        let job = self.jobs.all[id as usize];
        self.supply(&job, supplies)?;
        let total: u64 = supplies.all.iter().map(|s| s.bytes).sum();
        // proxies open files before they read them
        let mut time = supplies.opened;
        // and works after the last bytes have come
        let [mut cpu, mut after] = [0.0; 2];
        let mut farthest = u32::MAX;
        let times = self.times_alike(&job, total);
        supplies.flows.clear();
        let mut sample = None;
        for &Supply { bytes: supplied, from } in &supplies.all {
            let share = if total == 0 { 1.0 } else { supplied as f64 / total as f64 };
            if supplied == 0 && total > 0 {
                continue;
            }
            let connection = match from {
                Place::Node => None,
                _ => Some(self.connection(job.site, from).ok_or_else(|| self.unreachable(&job))?),
            };
            farthest = self.behaviour(&job, connection)?;
            let Some(behaviour) = self.behaviours.get(farthest) else { continue };
            // of the last file
            after += behaviour.after() * share;
            let share = share * f64::from(job.files) * times;
            time += behaviour.seconds * share;
            cpu += behaviour.cpu * share;
            let Some(connection) = connection else { continue };
            self.tally.requests += behaviour.requests * share * f64::from(u8::from(connection.route.round_trip > 0.0));
            // gaps between baskets that were bridged, and headers
            let each = supplied as f64 / behaviour.wanted.max(1.0);
            // a file's rest comes along with the next one
            let rest = behaviour.rest * each;
            let of_last = rest / f64::from(job.files.max(1));
            let bytes = behaviour.bytes * each + rest - of_last;
            let [bytes, rest, headers] = [bytes, of_last, behaviour.headers * each].map(|b| b.round() as u64);
            let bytes = bytes.max(supplied);
            if connection.far {
                self.tally.moved += bytes + rest;
                self.tally.header_bytes += headers;
                self.tally.gap_bytes += (bytes + rest).saturating_sub(headers).saturating_sub(supplied);
            }
            supplies.flows.push((connection.path, bytes));
            if rest > 0 {
                let new = NewFlow::new(connection.path, connection.route.bandwidth, rest, Tag::Rest(id));
                self.rests.entry(id).or_default().1.push(new);
            }
            if connection.far && supplied == total && job.files == 1 {
                sample = Some((connection.route, connection.path));
            }
        }
        if let Some((seconds, requests)) = self.comparison(&job, supplies)? {
            time += seconds;
            self.tally.requests += requests;
        }
        if !(0.0..=LONGEST).contains(&time) {
            return Err(self.too_long(&job, time));
        }
        let end = self.now.saturating_add(from_seconds(time));
        self.at(end, Event::Worked(id));
        // when all bytes have come, if nothing slows them
        let come = time - after;
        let due = self.now.saturating_add(from_seconds(come));
        let mut pending = 1;
        for &(path, bytes) in supplies.flows.iter().filter(|f| f.1 > 0) {
            pending += 1;
            self.starting.push(NewFlow::new(path, bytes as f64 / come.max(1e-6), bytes, Tag::Job(id)));
        }
        if let Some((own, _)) = self.rests.get_mut(&id) {
            *own = pending - 1;
        }
        let mut arrival = 0;
        if pending > 1 && !supplies.filled.is_empty() {
            arrival = self.arrivals.begin(pending - 1, due, &supplies.filled, Some(job.workload));
        }
        if !supplies.waits.is_empty() {
            let alone = self.seconds_alone(&job, supplies)?;
            let alone = self.now.saturating_add(from_seconds(alone.min(LONGEST)));
            pending += self.wait_for(id, &supplies.waits, alone);
        }
        if let Some((route, path)) = sample {
            let (workload, kind) = (job.workload as usize, self.kind_of[job.dataset as usize]);
            let threads = self.threads(&job);
            self.tally.sample(&mut self.chance, Sample { workload, threads, kind, route, path });
        }
        let job = &mut self.jobs.all[id as usize];
        (job.arrival, job.pending) = (arrival, pending);
        (job.end, job.behaviour) = (end, farthest);
        self.tally.job_begins(job.site as usize, cpu);
        Ok(())
    }

    /// The time until a job would have all bytes if no cache had anything.
    fn seconds_alone(&mut self, job: &Job, supplies: &Supplies) -> Result<f64> {
        let Some(source) = supplies.all.iter().rfind(|s| matches!(s.from, Place::Site(_))) else { return Ok(0.0) };
        let connection = self.connection(job.site, source.from).ok_or_else(|| self.unreachable(job))?;
        let behaviour = self.behaviour(job, Some(connection))?;
        let Some(behaviour) = self.behaviours.get(behaviour) else { return Ok(0.0) };
        Ok(behaviour.seconds * f64::from(job.files.saturating_sub(1)) + behaviour.reading)
    }

    /// A flow of a job has ended.
    pub(super) fn flow_ended(&mut self, id: u32, late: Option<f64>) -> Result<()> {
        let Job { arrival, behaviour, .. } = self.jobs.all[id as usize];
        if arrival != 0 {
            self.arrives(arrival)?;
        }
        if let Some((own, _)) = self.rests.get_mut(&id) {
            *own = own.saturating_sub(1);
            if *own == 0 {
                let (_, rest) = self.rests.remove(&id).unwrap_or_default();
                self.flows.start_all(self.now, &rest);
            }
        }
        let after = self.behaviours.get(behaviour).map_or(0.0, |behaviour| behaviour.after_late(late));
        self.job_proceeds(id, after)
    }

    /// What others have fetched is there for a job.
    pub(super) fn arrival_ended(&mut self, id: u32) -> Result<()> {
        let behaviour = self.jobs.all[id as usize].behaviour;
        let after = self.behaviours.get(behaviour).map_or(0.0, Behaviour::tail);
        self.job_proceeds(id, after)
    }

    fn too_long(&self, job: &Job, seconds: f64) -> Error {
        let workload = self.scenario.workloads.get(job.workload as usize).map_or("", |w| w.name.as_str());
        let what = format!(
            "a job of {workload} would take {:.3e} years; look at its work for each entry, its path's bandwidth and round trip",
            seconds / YEAR
        );
        Error::invalid(what).in_file(&self.scenario.name)
    }

    pub(super) fn unreachable(&self, job: &Job) -> Error {
        let [dataset, site] = [
            self.scenario.datasets.get(job.dataset as usize).map_or("", |d| d.name.as_str()),
            self.scenario.sites.get(job.site as usize).map_or("", |s| s.name.as_str()),
        ];
        Error::invalid(format!("no link leads from {site} to a site with {dataset}; add a [[link]]"))
            .in_file(&self.scenario.name)
    }

    /// The number of how a job behaves over a connection, or with a cache in its node, measured when it is first needed.
    fn behaviour(&mut self, job: &Job, connection: Option<Connection>) -> Result<u32> {
        let kind = self.kind_of[job.dataset as usize];
        let disk = || Route::disk(self.scenario.local_cache_bandwidth, seconds(self.scenario.local_cache_seek));
        let (route, alike) =
            connection.map_or_else(|| (disk(), u32::MAX), |connection| (connection.route, connection.alike));
        let threads = self.threads(job);
        let pair = job.workload as u64 * self.kinds.len() as u64 + kind as u64;
        // there are few threads, and jobs among which it is measured: both have room
        let key = |among: u32| (pair, u64::from(among) << 48 | threads << 32 | u64::from(alike));
        let alone = match self.behaviours.number(key(1)) {
            Some(known) => known,
            None => {
                let (profile, reader) = self.reader(job);
                let measured = measure(profile, reader, route.rounded()).map_err(|e| e.in_file(&self.scenario.name))?;
                self.behaviours.insert(key(1), measured)
            }
        };
        let Some(connection) = connection else { return Ok(alone) };
        let beginning = self.sites[job.site as usize].beginning.max(1);
        let most = self.flows.sharing(connection.path, route.bandwidth, beginning);
        let Some(measured) = self.behaviours.get(alone).filter(|alone| is_crowded(alone, route, most)) else {
            return Ok(alone);
        };
        // those that are about to end are met for a moment only
        let reading = measured.reading.max(measured.bytes * most / route.bandwidth);
        let among = self.flows.company(self.now, connection.path, route.bandwidth, beginning, reading);
        if !is_crowded(measured, route, among) {
            return Ok(alone);
        }
        let among = rounded(among);
        let mut behaviours = std::mem::take(&mut self.behaviours);
        let (profile, reader) = self.reader(job);
        let known = behaviours.among(key(among), alone, |alone, work| {
            measure_among(profile, reader, route.rounded(), (among, alone), work)
        });
        self.behaviours = behaviours;
        known.map_err(|e| e.in_file(&self.scenario.name))
    }

    /// What a job reads of a file, and how.
    fn reader(&self, job: &Job) -> (&Profile, Reader<'_>) {
        let files = &self.kinds[self.kind_of[job.dataset as usize]];
        let workload = &self.scenario.workloads[job.workload as usize];
        let chosen = files.parts.reads[job.workload as usize].as_ref().map_or(&[][..], |r| &r.chosen);
        let windows = (self.scenario.initial_window, self.scenario.largest_window);
        (&files.profile, Reader { workload, chosen, threads: self.threads(job), windows, map: &files.parts.map })
    }

    /// A part of what a job reads has come, on which it works for so many seconds at least.
    fn job_proceeds(&mut self, id: u32, after: f64) -> Result<()> {
        let end = self.now.saturating_add(from_seconds(after));
        let job = &mut self.jobs.all[id as usize];
        job.end = job.end.max(end);
        job.pending -= 1;
        if job.worked && job.pending == 0 {
            job.pending = 1;
            let end = job.end;
            self.at(end, Event::Worked(id));
        }
        Ok(())
    }

    /// The work of a job is done, as far as what it reads has come.
    pub(super) fn job_worked(&mut self, id: u32) -> Result<()> {
        let now = self.now;
        let job = &mut self.jobs.all[id as usize];
        job.worked = true;
        if job.pending > 1 {
            job.pending -= 1;
            return Ok(());
        }
        let end = job.end;
        // times are rounded
        if end > now.saturating_add(ROUNDING) {
            self.at(end, Event::Worked(id));
            return Ok(());
        }
        self.job_ends(id)
    }

    fn job_ends(&mut self, id: u32) -> Result<()> {
        let job = self.jobs.all[id as usize];
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
        self.tally.job_ends(site, seconds(self.now - job.started) * threads as f64);
        self.completes(job.task);
        self.begin_jobs(site)
    }
}
