//! Where a job gets its bytes: from a cache in its node, from those of sites on the way, from where the files are.

use super::World;
use super::arrivals::CacheId;
use super::connections::Place;
use super::job_list::Job;
use crate::clock::{Time, from_seconds};
use crate::flows::{NewFlow, Tag};
use crate::keys::key;
use crate::scenario::Protocol;
use crate::stretches::Draft;
use crate::units::Reading;
use sapwood_span::Result;
use std::ops::Range;

/// Bytes that one place delivers to a job.
#[derive(Clone, Copy, Debug)]
pub(super) struct Supply {
    pub(super) bytes: u64,
    pub(super) from: Place,
}

/// Those of a job.
#[derive(Debug, Default)]
pub(super) struct Supplies {
    /// The cache of its node, those of sites from its own on, the sites with the files.
    pub(super) all: Vec<Supply>,
    /// Flows that bring them: paths and bytes.
    pub(super) flows: Vec<(u32, u64)>,
    /// Caches into which they bring bytes, and of which files.
    pub(super) filled: Vec<(CacheId, Range<u64>)>,
    /// What others bring into caches of the same files.
    pub(super) waits: Vec<u32>,
    /// Seconds in which proxies open files where they get them.
    pub(super) opened: f64,
    /// By file and part: bytes that the caches passed so far have.
    have: Vec<u64>,
    /// Files of which the cache of the node does not have everything.
    asked: Vec<u64>,
    draft: Draft,
}

impl World<'_> {
    /// From where a job gets its bytes; caches on the way keep them.
    pub(super) fn supply(&mut self, job: &Job, supplies: &mut Supplies) -> Result<()> {
        let chains = self.connections.chains();
        let chain = chains.of(job.site);
        let node = self.node(job.site as usize);
        let whole = |s: &u32| self.scenario.sites[*s as usize].proxy.as_ref().is_some_and(|p| p.whole_files);
        // what such a proxy fetches beside what is read may take the room of the next file
        let one_by_one = self.has_whole_files && chain.iter().any(whole);
        supplies.all.clear();
        supplies.opened = 0.0;
        supplies.filled.clear();
        supplies.waits.clear();
        supplies.all.push(Supply { bytes: 0, from: Place::Node });
        supplies.all.extend((0..chain.len() as u32).map(|i| Supply { bytes: 0, from: Place::Cache(i) }));
        let end = job.file + u64::from(job.files);
        let mut file = job.file;
        while file < end {
            let source = self.nearest(job.dataset as usize, file, job.site).ok_or_else(|| self.unreachable(job))?;
            // without copies all files of a dataset are at the same sites
            let mut next = if one_by_one || !self.copies.is_empty() { file + 1 } else { end };
            while !one_by_one && next < end && self.nearest(job.dataset as usize, next, job.site) == Some(source) {
                next += 1;
            }
            self.supply_files(job, file..next, source, node, chain, supplies);
            let opened = self.open_by_proxies(&supplies.asked, source, chain, &mut supplies.opened);
            opened.ok_or_else(|| self.unreachable(job))?;
            file = next;
        }
        Ok(())
    }

    /// Consecutive files that come from the same site.
    fn supply_files(
        &mut self,
        job: &Job,
        files: Range<u64>,
        source: u32,
        node: Option<usize>,
        chain: &[u32],
        supplies: &mut Supplies,
    ) {
        let (now, site) = (self.now, job.site);
        let Supplies { all, have, asked, filled, waits, draft, .. } = supplies;
        asked.clear();
        let from = Place::Site(source);
        let from = all.iter().position(|s| s.from == from).unwrap_or_else(|| {
            all.push(Supply { bytes: 0, from });
            all.len() - 1
        });
        let kind = &self.kinds[self.kind_of[job.dataset as usize]];
        let Some(reads) = kind.parts.reads[job.workload as usize].as_ref() else { return };
        let replay = self.replay(job);
        let wanted = replay.as_ref().map_or(&reads.wanted[..], |replay| &replay.wanted);
        let mut missing = wanted.iter().map(|w| w.1).sum::<u64>() * (files.end - files.start);
        let disk = &mut self.sites[source as usize].disk;
        if disk.has_copies() {
            for file in files.clone() {
                wanted.iter().for_each(|&(part, wanted)| disk.read(now, file, part, wanted));
            }
        }
        let mut fetched = 0u64;
        if source != site {
            have.clear();
            have.resize(wanted.len() * (files.end - files.start) as usize, 0);
            let mut reading = Reading { file: files.start, wanted, have, draft };
            let is_read = |other: Option<u32>| match other {
                Some(other) if other != job.workload => {
                    let theirs = kind.parts.reads.get(other as usize).and_then(Option::as_ref);
                    // what is read when a file is opened is in all reads
                    theirs.is_some_and(|t| t.wanted.iter().any(|w| w.0 > 0 && wanted.iter().any(|m| m.0 == w.0)))
                }
                _ => true,
            };
            let state = &mut self.sites[site as usize];
            if let Some((n, cache)) = node.and_then(|n| Some((n, state.nodes.get_mut(n)?))) {
                let (delivered, has_fetched) = cache.pass(now, &mut reading);
                all[0].bytes += delivered;
                missing -= delivered;
                let id = CacheId::node(state.first_node, n);
                if delivered > 0 {
                    self.arrivals.bringing(id, &files, is_read, waits);
                }
                filled.extend(has_fetched.then(|| (id, files.clone())));
            }
            if !chain.is_empty() {
                let lacks = |have: &[u64]| have.iter().zip(wanted).any(|(have, wanted)| *have < wanted.1);
                let by_file = files.clone().zip(reading.have.chunks(wanted.len().max(1)));
                asked.extend(by_file.filter(|(_, have)| lacks(have)).map(|(file, _)| file));
            }
            for (i, &s) in chain.iter().enumerate() {
                let Some(cache) = self.sites[s as usize].proxy.as_mut() else { continue };
                let (delivered, has_fetched) = cache.pass(now, &mut reading);
                all[i + 1].bytes += delivered;
                missing -= delivered;
                fetched |= u64::from(has_fetched) << i.min(63);
                let id = CacheId::proxy(s);
                if delivered > 0 {
                    self.arrivals.bringing(id, &files, is_read, waits);
                }
                filled.extend(has_fetched.then(|| (id, files.clone())));
            }
        }
        let again = replay.as_ref().map_or(0, |replay| replay.again);
        if again > 0 {
            let site = &mut self.sites[site as usize];
            // what the nearest cache has kept of it is read again there
            let cache = match (node, chain.first()) {
                _ if source == job.site => None,
                (Some(n), _) => site.nodes.get_mut(n).map(|cache| (0, cache)),
                (None, Some(&s)) => self.sites[s as usize].proxy.as_mut().map(|cache| (1, cache)),
                (None, None) => None,
            };
            let (place, hits) =
                cache.map_or((from, 0), |(place, cache)| (place, cache.reread(files.start, wanted, again)));
            all[place].bytes += hits;
            missing += again - hits;
        }
        all[from].bytes += missing;
        if !self.has_whole_files {
            return;
        }
        for (i, &s) in chain.iter().enumerate().filter(|(i, _)| fetched >> (*i).min(63) & 1 == 1) {
            if self.scenario.sites[s as usize].proxy.as_ref().is_some_and(|p| p.whole_files) {
                self.fetch_rest(now, job, files.start, source, &chain[i..]);
            }
        }
    }

    /// A proxy that keeps whole files fetches what nobody asked for, through those that it reads through, which keep it, too.
    fn fetch_rest(&mut self, now: Time, job: &Job, file: u64, source: u32, chain: &[u32]) {
        let kind = &self.kinds[self.kind_of[job.dataset as usize]];
        // bytes by where they come from: the caches behind the first one, at last where the file is
        let mut from = vec![0u64; chain.len()];
        let dataset = &self.scenario.datasets[job.dataset as usize];
        let (size, alike) = (dataset.bytes_of(file - dataset.first_file), dataset.profile.file_bytes);
        for (part, &bytes) in kind.parts.bytes.iter().enumerate() {
            let key = key(file, part);
            // files that are nearly alike differ in their last part
            let is_last = part + 1 == kind.parts.bytes.len();
            let bytes = if is_last { (bytes + size).saturating_sub(alike) } else { bytes };
            let Some(cache) = chain.first().and_then(|&s| self.sites[s as usize].proxy.as_mut()) else { return };
            let have = cache.held(key);
            let mut missing = cache.insert(now, key, bytes, 0).saturating_sub(have);
            for (level, &s) in chain.iter().enumerate().skip(1) {
                let Some(cache) = self.sites[s as usize].proxy.as_mut().filter(|_| missing > 0) else { continue };
                let there = cache.held(key).saturating_sub(have).min(missing);
                cache.pass_on(now, key, bytes);
                from[level - 1] += there;
                missing -= there;
            }
            from[chain.len() - 1] += missing;
        }
        let flows = from.iter().filter(|&&bytes| bytes > 0).count() as u32;
        if flows == 0 {
            return;
        }
        let files = file..file + 1;
        let into: Vec<_> = chain.iter().map(|&s| (CacheId::proxy(s), files.clone())).collect();
        let mut begun = Vec::new();
        let mut due = now;
        for (level, &bytes) in from.iter().enumerate().filter(|(_, bytes)| **bytes > 0) {
            let mut through = chain.get(..level + 2).unwrap_or(chain).to_vec();
            let from_disk = level + 1 == chain.len();
            if from_disk && through.last() != Some(&source) {
                through.push(source);
            }
            let Some(connection) = self.path(&through, from_disk) else { continue };
            self.tally.moved += if connection.far { bytes } else { 0 };
            let window = self.scenario.largest_window as f64 / connection.route.round_trip.max(1e-6);
            let rate = connection.route.bandwidth.min(window);
            due = due.max(now.saturating_add(from_seconds(bytes as f64 / rate.max(1.0))));
            begun.push((connection.path, rate, bytes));
        }
        if begun.is_empty() {
            return;
        }
        let arrival = self.arrivals.begin(begun.len() as u32, due, &into, None);
        for (path, rate, bytes) in begun {
            self.starting.push(NewFlow::new(path, rate, bytes, Tag::Fill(arrival)));
        }
    }

    /// The next node of a site, if its nodes have caches.
    fn node(&mut self, site: usize) -> Option<usize> {
        if !self.has_nodes {
            return None;
        }
        let state = self.sites.get_mut(site)?;
        let count = state.nodes.len();
        (count > 0).then(|| {
            let node = state.next_node;
            state.next_node = (node + 1) % count;
            node
        })
    }

    /// A file that its node has is compared with its server before it is read: seconds, and requests without bytes. One flight after
    /// connecting: over HTTP a request, over XRootD the open and a read.
    pub(super) fn comparison(&mut self, job: &Job, supplies: &Supplies) -> Result<Option<(f64, f64)>> {
        let from_node = |s: &Supply| s.from == Place::Node;
        if !supplies.all.iter().all(|s| from_node(s) == (s.bytes > 0)) {
            return Ok(None);
        }
        let Some(source) = supplies.all.iter().rfind(|s| matches!(s.from, Place::Site(_))) else { return Ok(None) };
        let connection = self.connection(job.site, source.from).ok_or_else(|| self.unreachable(job))?;
        let Some(workload) = self.scenario.workloads.get(job.workload as usize) else { return Ok(None) };
        let requests = if workload.protocol == Protocol::Xrootd { 2.0 } else { 1.0 };
        let files = f64::from(job.files);
        Ok(Some(((2.0 * connection.route.round_trip + workload.costs.per_request) * files, requests * files)))
    }
}
