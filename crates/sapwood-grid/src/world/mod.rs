//! One policy in virtual time: events in the order of their times, flows between them.

mod ahead;
mod arrivals;
mod behaviours;
mod connections;
mod job_list;
mod jobs;
mod loads;
mod proxies;
mod replays;
mod supplies;
mod tasks;
mod transfers;
mod view;

use crate::cache::Cache;
use crate::clock::{Time, seconds};
use crate::flows::{Ended, Flows, NewFlow, Tag};
use crate::keys::Map;
use crate::network::Network;
use crate::parts::Parts;
use crate::policy::{self, Policy};
use crate::profile::Profile;
use crate::queue::Queue;
use crate::replicas::Disk;
use crate::rng::Rng;
use crate::scenario::{LinkSpec, PolicySpec, Scenario};
use crate::tally::{Moment, Tally};
use sapwood_span::{Error, Result};
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

/// Moments of the time lines.
const MOMENTS: u64 = 200;
/// Of each workload it is known what it reads of each kind of file.
const MOST_KINDS: usize = 10_000_000;

/// What happens at some time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// A dataset is made.
    Created(u32),
    /// A link goes down or comes back.
    Link(u32, bool),
    /// A workload submits a task; whether the next one follows.
    Task(u32, bool),
    /// A read of a trace.
    Read(u32),
    /// A job has done what takes the time that it needs alone.
    Worked(u32),
    /// A job has started, and reads.
    Reads(u32),
    /// A job would have bytes by now that are on their way to a cache.
    Overtakes(u32, u32),
    /// A transfer begins to send.
    Sends(u32),
    /// Transfers to a site may begin.
    Transfers(u32),
    /// The time lines get a point.
    Moment,
}

/// A site as it is now. What each job needs is first, and beside each other: sites are looked at in no order.
#[repr(C, align(64))]
struct SiteState {
    cores: u64,
    busy: u64,
    running: u64,
    /// Jobs that begin to read now.
    beginning: u64,
    queue: VecDeque<u32>,
    /// Jobs that wait for files.
    waiting: u64,
    proxy: Option<Cache>,
    /// What the proxy knows to be unchanged.
    confirmed: proxies::Confirmed,
    disk: Box<Disk>,
    nodes: Vec<Cache>,
    /// The number of its first node among all sites and nodes.
    first_node: u32,
    next_node: usize,
    transfers: usize,
    transfer_queue: VecDeque<u32>,
}

/// Kinds of files that are alike: the same profile.
pub(crate) struct FileKind {
    pub(crate) profile: Arc<Profile>,
    pub(crate) parts: Parts,
}

pub(crate) struct World<'a> {
    scenario: &'a Scenario,
    spec: &'a PolicySpec,
    policy: Box<dyn Policy + 'a>,
    chance: Rng,
    now: Time,
    agenda: Queue<(Time, u64, Event)>,
    /// Events until memory is fetched for the next ones.
    until_prefetch: usize,
    /// Jobs whose memory is being fetched.
    fetched: Vec<u32>,
    sequence: u64,
    settle_at: Option<Time>,
    network: Network,
    flows: Flows,
    /// Those of jobs that begin.
    starting: Vec<NewFlow>,
    /// By job: how many flows of its own have not ended, and those that begin then.
    rests: Map<u32, (u32, Vec<NewFlow>)>,
    connections: connections::Connections,
    kinds: Vec<FileKind>,
    /// By dataset.
    kind_of: Vec<usize>,
    behaviours: behaviours::Behaviours,
    supplies: supplies::Supplies,
    arrivals: arrivals::Arrivals,
    sites: Vec<SiteState>,
    /// Whether nodes of any site have caches, and whether proxies of any fetch whole files.
    has_nodes: bool,
    has_whole_files: bool,
    loads: loads::Loads,
    /// The sites with a copy of a file beside the originals.
    copies: Map<u64, Vec<u32>>,
    jobs: job_list::Jobs,
    /// Jobs of tasks of the same moment that have cores and begin together; none, where each begins at once.
    together: Option<Vec<u32>>,
    tasks: tasks::Tasks,
    transfers: transfers::Transfers,
    tally: Tally,
}

impl<'a> World<'a> {
    pub(crate) fn new(scenario: &'a Scenario, spec: &'a PolicySpec, policy: Box<dyn Policy + 'a>) -> Result<Self> {
        let mut profiles: Vec<Arc<Profile>> = Vec::new();
        let mut kind_of = Vec::new();
        let mut known = HashMap::new();
        for dataset in &scenario.datasets {
            kind_of.push(*known.entry(Arc::as_ptr(&dataset.profile)).or_insert_with(|| {
                profiles.push(dataset.profile.clone());
                profiles.len() - 1
            }));
        }
        if profiles.len().saturating_mul(scenario.workloads.len()) > MOST_KINDS {
            let what = format!("there are more than {MOST_KINDS} pairs of a workload and a kind of file");
            return Err(Error::invalid(what).in_file(&scenario.name));
        }
        let mut readers = vec![vec![false; scenario.workloads.len()]; profiles.len()];
        for (w, workload) in scenario.workloads.iter().enumerate() {
            for &d in &workload.datasets {
                readers[kind_of[d]][w] = true;
            }
        }
        let kinds = profiles.into_iter().zip(readers).map(|(profile, readers)| {
            let parts = Parts::new(&profile, &scenario.workloads, |w| readers[w])?;
            Ok(FileKind { profile, parts })
        });
        let kinds = kinds.collect::<Result<Vec<_>>>().map_err(|e| e.in_file(&scenario.name))?;
        let links = scenario.links.iter().flat_map(|l| [l.payload(); 2]);
        let disks = scenario.sites.iter().map(|s| s.storage.unwrap_or(f64::INFINITY));
        let mut first_node = scenario.sites.len() as u32;
        let sites = scenario.sites.iter().map(|site| {
            let nodes = if site.local_cache == 0 { 0 } else { site.nodes.min(site.cores.max(1)) };
            let first = first_node;
            first_node += nodes as u32;
            SiteState {
                cores: site.cores,
                busy: 0,
                running: 0,
                beginning: 0,
                waiting: 0,
                queue: VecDeque::new(),
                disk: Box::new(Disk::new(site.disk)),
                proxy: site.proxy.as_ref().filter(|p| p.bytes > 0).map(|p| Cache::new(p.bytes)),
                confirmed: proxies::Confirmed::default(),
                nodes: (0..nodes).map(|_| Cache::new(site.local_cache)).collect(),
                first_node: first,
                next_node: 0,
                transfers: 0,
                transfer_queue: VecDeque::new(),
            }
        });
        let mut world = Self {
            scenario,
            spec,
            policy,
            chance: Rng::new(scenario.seed, 1),
            now: 0,
            agenda: Queue::default(),
            until_prefetch: 0,
            fetched: Vec::new(),
            sequence: 0,
            settle_at: None,
            network: Network::new(scenario),
            flows: Flows::new(links.chain(disks)),
            starting: Vec::new(),
            rests: Map::default(),
            connections: connections::Connections::new(scenario),
            kinds,
            kind_of,
            behaviours: behaviours::Behaviours::default(),
            supplies: supplies::Supplies::default(),
            arrivals: arrivals::Arrivals::default(),
            sites: sites.collect(),
            has_nodes: scenario.sites.iter().any(|site| site.local_cache > 0),
            has_whole_files: scenario.sites.iter().filter_map(|site| site.proxy.as_ref()).any(|p| p.whole_files),
            loads: loads::Loads::new(scenario.sites.iter().map(|s| s.cores).collect()),
            copies: Map::default(),
            jobs: job_list::Jobs::default(),
            together: None,
            tasks: tasks::Tasks::new(scenario),
            transfers: transfers::Transfers::default(),
            tally: Tally::new(scenario),
        };
        world.plan();
        Ok(world)
    }

    /// What is known from the beginning.
    fn plan(&mut self) {
        for (d, dataset) in self.scenario.datasets.iter().enumerate() {
            self.at(dataset.created, Event::Created(d as u32));
        }
        for (l, link) in self.scenario.links.iter().enumerate() {
            for &(from, to) in &link.outages {
                self.at(from, Event::Link(l as u32, false));
                self.at(to, Event::Link(l as u32, true));
            }
        }
        for (w, workload) in self.scenario.workloads.iter().enumerate() {
            let stop = workload.stop;
            for &at in workload.at.iter().filter(|&&at| at <= stop) {
                self.at(at, Event::Task(w as u32, false));
            }
            if workload.rate > 0.0 {
                self.next_task(w, workload.start);
            }
        }
        self.next_read(0);
        self.at(0, Event::Moment);
    }

    fn at(&mut self, time: Time, event: Event) {
        self.tally.late += u64::from(time < self.now);
        self.sequence += 1;
        self.agenda.push((time.max(self.now), self.sequence, event));
    }

    /// Runs until nothing happens any more, and returns what did.
    pub(crate) fn run(mut self) -> Result<(Tally, Vec<FileKind>)> {
        let mut ended = Vec::new();
        loop {
            let agenda = self.agenda.peek().map(|(time, ..)| *time);
            let Some(next) = [agenda, self.flows.next_end(), self.settle_at].into_iter().flatten().min() else { break };
            self.tally.late += u64::from(next < self.now);
            self.now = next.max(self.now);
            self.tally.events += 1;
            self.prefetch_for_flows();
            let (jobs, behaviours) = (&self.jobs.all, &self.behaviours);
            self.flows.advance(next, &mut ended, |job| {
                let job = jobs.get(job as usize)?;
                Some((&behaviours.get(job.behaviour)?.slack, job.files))
            });
            self.prefetch_for_ended(&ended);
            for Ended { tag, late } in ended.drain(..) {
                match tag {
                    Tag::Job(job) => self.flow_ended(job, late)?,
                    Tag::Transfer(transfer) => self.arrived(transfer)?,
                    Tag::Fill(arrival) => self.arrives(arrival)?,
                    // the scenario does not wait for it
                    Tag::Rest(_) => continue,
                }
                self.tally.end = self.now;
            }
            while let Some(&(time, _, event)) = self.agenda.peek() {
                if time > next {
                    break;
                }
                self.prefetch_for_events();
                self.agenda.pop();
                self.happen(event)?;
                if !matches!(event, Event::Moment) {
                    self.tally.end = self.now;
                }
            }
            if self.settle_at.is_some_and(|t| t <= next) {
                self.flows.settle(next);
                self.settle_at = None;
            }
            if self.flows.is_unsettled() && self.settle_at.is_none() {
                let step = self.scenario.settle;
                self.settle_at = Some(next.checked_div(step).map_or(next, |n| (n + 1) * step));
            }
        }
        let open = self.tally.submitted.saturating_sub(self.tally.tasks.len() as u64);
        if open > 0 {
            let what = format!(
                "{open} of {} tasks wait for bytes that would take hundreds of years; look at the bandwidth of links and disks",
                self.tally.submitted
            );
            return Err(Error::invalid(what).in_file(&self.scenario.name));
        }
        self.finish();
        Ok((self.tally, self.kinds))
    }

    /// Lets the policy decide.
    fn decide<T>(&mut self, decision: impl FnOnce(&mut dyn Policy, &Self) -> T) -> Result<T> {
        let mut policy = std::mem::replace(&mut self.policy, Box::new(Nobody));
        let decided = decision(&mut *policy, self);
        let failure = policy.failure();
        self.policy = policy;
        failure.map_or(Ok(decided), Err)
    }

    fn happen(&mut self, event: Event) -> Result<()> {
        match event {
            Event::Created(dataset) => self.replicate(dataset as usize),
            Event::Link(link, up) => {
                self.network.set_up(link as usize, up);
                self.connections.forget();
                let capacity = self.scenario.links.get(link as usize).map_or(0.0, LinkSpec::payload);
                for channel in [2 * link, 2 * link + 1] {
                    self.flows.set_capacity(channel, if up { capacity } else { 0.0 });
                }
                Ok(())
            }
            Event::Task(workload, follows) => {
                if follows {
                    self.next_task(workload as usize, self.now);
                }
                self.submit(workload as usize)?;
                self.tasks_submitted()
            }
            Event::Read(number) => {
                self.next_read(number as usize + 1);
                self.submit_read(number as usize)?;
                self.tasks_submitted()
            }
            Event::Worked(job) => self.job_worked(job),
            Event::Reads(job) => self.job_reads(job),
            Event::Overtakes(job, arrival) => self.overtakes(job, arrival),
            Event::Sends(transfer) => self.send(transfer),
            Event::Transfers(site) => self.begin_transfers(site),
            Event::Moment => {
                self.moment();
                Ok(())
            }
        }
    }

    /// A point of the time lines; the next follows while there is anything to see.
    fn moment(&mut self) {
        let passed = self.flows.passed(self.now, 0..2 * self.scenario.links.len());
        let since = self.tally.moments.last().map_or(0.0, |before| before.seconds);
        let step = seconds(self.now) - since;
        let network = if step > 0.0 { (passed - self.tally.passed).max(0.0) / step } else { 0.0 };
        self.tally.passed = passed;
        let sites = self.sites.iter();
        let cached = |s: &SiteState| s.proxy.iter().chain(&s.nodes).map(Cache::used).sum::<u64>();
        self.tally.moments.push(Moment {
            seconds: seconds(self.now),
            running: sites.clone().map(|s| s.running).sum(),
            busy: sites.clone().map(|s| s.busy).sum(),
            queued: sites.clone().map(|s| s.queue.len() as u64).sum(),
            waiting: sites.clone().map(|s| s.waiting).sum(),
            network,
            disk: sites.clone().map(|s| s.disk.used()).sum(),
            cached: sites.map(cached).sum(),
        });
        if !self.agenda.is_empty() || self.flows.next_end().is_some() {
            // what lasts much longer than tasks are submitted has fewer points
            let doubled = 1u64.checked_shl((self.tally.moments.len() as u64 / (4 * MOMENTS)) as u32);
            let step = (self.scenario.duration / MOMENTS).max(1).saturating_mul(doubled.unwrap_or(u64::MAX));
            self.at(self.now.saturating_add(step), Event::Moment);
        }
    }

    fn finish(&mut self) {
        self.tally.carried = self.flows.carried(self.now);
        for (site, figures) in self.sites.iter().zip(&mut self.tally.sites) {
            figures.disk_most = site.disk.most();
            figures.disk_unread = site.disk.unread();
            figures.disk_evicted = site.disk.evicted();
            figures.proxy = site.proxy.as_ref().map(Cache::figures);
            for node in &site.nodes {
                let node = node.figures();
                match &mut figures.nodes {
                    Some(sum) => sum.add(&node),
                    None => figures.nodes = Some(node),
                }
            }
        }
    }
}

/// In the place of a policy that is deciding.
struct Nobody;

impl Policy for Nobody {
    fn place(&mut self, job: &policy::Job<'_>, _: &dyn policy::Grid) -> policy::Placement {
        policy::Placement { site: job.home, access: policy::Access::Stream }
    }
}
