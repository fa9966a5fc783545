//! Tasks: what users submit, and when they have their result.

use super::{Event, World};
use crate::clock::{Time, from_seconds, seconds};
use crate::rng::{Rng, Sums};
use crate::scenario::Scenario;
use sapwood_pages::prefetch;
use sapwood_span::Result;

/// A task that is not complete.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Task {
    submitted: Time,
    workload: u32,
    jobs: u32,
}

/// The tasks, and the chance that makes them: the same tasks for all policies.
pub(super) struct Tasks {
    all: Vec<Task>,
    free: Vec<u32>,
    chance: Vec<Rng>,
    popularity: Vec<Popularity>,
}

/// How popular the datasets of a workload are, as sums from the first one on. All fall alike with time, so that it changes only when
/// a dataset is made.
#[derive(Default)]
struct Popularity {
    sums: Sums,
    /// When the next dataset is made.
    until: Time,
}

impl Popularity {
    fn new(scenario: &Scenario, workload: usize, now: Time) -> Self {
        let Some(w) = scenario.workloads.get(workload) else { return Self { sums: Sums::default(), until: Time::MAX } };
        let created = |d: usize| scenario.datasets.get(d).map_or(Time::MAX, |d| d.created);
        let latest = w.datasets.iter().map(|&d| created(d)).filter(|&t| t <= now).max().unwrap_or(0);
        let mut sum = 0.0;
        let sums = w.datasets.iter().enumerate().map(|(rank, &d)| {
            if created(d) <= now {
                let older = w.half_life.map_or(0.0, |h| seconds(latest - created(d)) / seconds(h));
                sum += libm::pow(rank as f64 + 1.0, -w.zipf) * libm::exp2(-older);
            }
            sum
        });
        let sums = Sums::new(sums.collect());
        let until = w.datasets.iter().map(|&d| created(d)).filter(|&t| t > now).min().unwrap_or(Time::MAX);
        Self { sums, until }
    }
}

impl Tasks {
    pub(super) fn new(scenario: &Scenario) -> Self {
        let chance = (0..scenario.workloads.len() as u64).map(|w| Rng::new(scenario.seed, 100 + w));
        let popularity = scenario.workloads.iter().map(|_| Popularity::default());
        Self { all: Vec::new(), free: Vec::new(), chance: chance.collect(), popularity: popularity.collect() }
    }
}

impl Tasks {
    /// A job of a task will be complete soon.
    pub(super) fn prefetch(&self, id: u32) {
        self.all.get(id as usize).into_iter().for_each(prefetch);
    }
}

impl World<'_> {
    /// The next task that a workload submits by chance.
    pub(super) fn next_task(&mut self, workload: usize, after: Time) {
        let Some(w) = self.scenario.workloads.get(workload) else { return };
        let Some(chance) = self.tasks.chance.get_mut(workload) else { return };
        let at = after.saturating_add(from_seconds(chance.waiting_time(w.rate)));
        if at <= w.stop {
            self.at(at, Event::Task(workload as u32, true));
        }
    }

    /// A task: some files of a dataset, and a job for every few of them.
    pub(super) fn submit(&mut self, workload: usize) -> Result<()> {
        let scenario = self.scenario;
        let Some(w) = scenario.workloads.get(workload) else { return Ok(()) };
        let now = self.now;
        let Some(popularity) = self.tasks.popularity.get_mut(workload) else { return Ok(()) };
        if popularity.until <= now {
            *popularity = Popularity::new(scenario, workload, now);
        }
        let sum = popularity.sums.total();
        let Some(chance) = self.tasks.chance.get_mut(workload) else { return Ok(()) };
        let home = w.homes.get(chance.below(w.homes.len() as u64) as usize).copied().unwrap_or(0);
        let chosen = w.datasets.get(chance.weighted(&popularity.sums)).copied().unwrap_or(0);
        if sum <= 0.0 {
            // nothing exists yet that it could read
            return Ok(());
        }
        let Some(dataset) = scenario.datasets.get(chosen) else { return Ok(()) };
        let files = w.files.min(dataset.files);
        let first = chance.below(dataset.files - files + 1);
        self.begin_task(workload, chosen, (first, files), home, None)
    }

    /// The next read of a trace is due at its time.
    pub(super) fn next_read(&mut self, number: usize) {
        let read = self.scenario.reads.get(number).filter(|r| r.time <= self.scenario.duration);
        if let Some(read) = read {
            self.at(read.time, Event::Read(number as u32));
        }
    }

    /// A read of a trace is a task with one file.
    pub(super) fn submit_read(&mut self, number: usize) -> Result<()> {
        let Some(&read) = self.scenario.reads.get(number) else { return Ok(()) };
        let file = (u64::from(read.file), 1);
        self.begin_task(read.workload as usize, read.dataset as usize, file, read.home as usize, Some(number as u32))
    }

    /// A task that reads these files of a dataset, from the first one on: its jobs are placed.
    fn begin_task(
        &mut self,
        workload: usize,
        dataset: usize,
        (first, files): (u64, u64),
        home: usize,
        read: Option<u32>,
    ) -> Result<()> {
        let Some(w) = self.scenario.workloads.get(workload) else { return Ok(()) };
        let jobs = files.div_ceil(w.files_per_job);
        let task = Task { submitted: self.now, workload: workload as u32, jobs: jobs as u32 };
        let id = match self.tasks.free.pop() {
            Some(id) => {
                self.tasks.all[id as usize] = task;
                id
            }
            None => {
                self.tasks.all.push(task);
                self.tasks.all.len() as u32 - 1
            }
        };
        self.tally.submitted += 1;
        self.together.get_or_insert_default();
        for job in 0..jobs {
            let from = first + job * w.files_per_job;
            let files = w.files_per_job.min(first + files - from);
            self.place(workload, dataset, (from, files), home, id, read)?;
        }
        Ok(())
    }

    /// Begins the jobs of tasks of this moment, if no other task is at the same time: its jobs begin with them.
    pub(super) fn tasks_submitted(&mut self) -> Result<()> {
        let next = self.agenda.peek().filter(|(time, ..)| *time <= self.now);
        if next.is_some_and(|(_, _, event)| matches!(event, Event::Task(..) | Event::Read(_))) {
            return Ok(());
        }
        self.begin_together()?;
        self.together = None;
        Ok(())
    }

    /// A job of a task is complete.
    pub(super) fn completes(&mut self, id: u32) {
        let Some(task) = self.tasks.all.get_mut(id as usize) else { return };
        task.jobs -= 1;
        if task.jobs == 0 {
            self.tally.task(task.workload as usize, seconds(task.submitted), seconds(self.now - task.submitted));
            self.tasks.free.push(id);
        }
    }
}
