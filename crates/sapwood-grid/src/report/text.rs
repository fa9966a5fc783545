//! A report as text.

use super::Report;
use crate::cache::CacheFigures;
use crate::outcome::Outcome;
use crate::scenario::{Scenario, Workload};
use crate::sweep::shown;
use sapwood_perf::text::table::{Align, Table};
use sapwood_perf::text::{clean, units};
use std::io::{self, Write};

/// A title, and the cell.
type Figure = (&'static str, fn(&Outcome) -> String);

/// The figures of a policy that are compared.
const FIGURES: &[Figure] = &[
    ("tasks", |o| {
        if o.completed == o.submitted { units::count(o.completed) } else { format!("{}/{}", o.completed, o.submitted) }
    }),
    ("median", |o| time_of_tasks(o.completed, o.median)),
    ("95 %", |o| time_of_tasks(o.completed, o.p95)),
    ("utilisation", |o| percent(o.utilisation())),
    ("CPU eff.", |o| o.cpu_efficiency().map_or_else(none, percent)),
    ("moved", |o| units::bytes(o.moved_bytes)),
    ("never read", |o| units::bytes(o.unread_bytes)),
    ("disk", |o| units::bytes(o.disk_bytes)),
    ("proxy hits", |o| hits(o.proxies)),
    (LOCAL_HITS, |o| hits(o.local_caches)),
    ("cost", |o| {
        let sum = o.cost.iter().sum::<f64>();
        if sum > 0.0 { format!("{sum:.2}") } else { none() }
    }),
];

/// The column of local caches, which is left out where nothing is read through one.
const LOCAL_HITS: &str = "local hits";

fn hits(cache: Option<CacheFigures>) -> String {
    cache.and_then(|c| c.hit_rate()).map_or_else(none, percent)
}

fn none() -> String {
    "-".to_owned()
}

/// Figures that say something about this report.
fn figures(report: &Report) -> Vec<&'static Figure> {
    let mut outcomes = report.outcomes.iter().chain(report.points.iter().flat_map(|p| &p.outcomes));
    let local = outcomes.any(|o| o.local_caches.and_then(|c| c.hit_rate()).is_some());
    FIGURES.iter().filter(|f| local || f.0 != LOCAL_HITS).collect()
}

/// Of no task there is no time.
fn time_of_tasks(tasks: u64, seconds: f64) -> String {
    if tasks == 0 { none() } else { time(seconds) }
}

pub(super) fn percent(part: f64) -> String {
    format!("{:.1} %", part * 100.0)
}

/// A time, with hours and days where minutes are too many.
pub(super) fn time(seconds: f64) -> String {
    let hours = seconds / 3600.0;
    match hours {
        h if h >= 72.0 => format!("{:.1} d", h / 24.0),
        h if h >= 2.0 => format!("{h:.1} h"),
        _ => units::seconds(seconds),
    }
}

/// Which workloads have jobs with more threads than a site has cores. A site without cores runs none.
fn small_sites(s: &Scenario) -> Vec<String> {
    let note = |w: &Workload| {
        let small: Vec<_> = s.sites.iter().filter(|site| (1..w.threads).contains(&site.cores)).collect();
        let jobs = format!("{}: jobs of {} threads do not fit", w.name, w.threads);
        match small.as_slice() {
            [] => None,
            [site] => {
                let (cores, threads) = (units::plural(site.cores, "core"), units::plural(site.cores, "thread"));
                Some(format!("{jobs} {}, which has {cores}; there they have {threads}.", site.name))
            }
            [first, rest @ ..] => Some(format!(
                "{jobs} {} and {} with fewer cores; there they have a thread for each core.",
                first.name,
                units::plural(rest.len() as u64, "other site")
            )),
        }
    };
    s.workloads.iter().filter_map(note).collect()
}

pub(super) fn write(report: &Report, out: &mut impl Write) -> io::Result<()> {
    let s = &report.scenario;
    writeln!(out, "{}", clean(&s.title))?;
    let time_of = time(s.seconds());
    let files: u64 = s.datasets.iter().map(|d| d.files).sum();
    let cores: u64 = s.sites.iter().map(|s| s.cores).sum();
    let list = [
        units::plural(s.sites.len() as u64, "site"),
        units::plural(cores, "core"),
        units::plural(s.links.len() as u64, "link"),
        units::plural(files, "file"),
    ];
    writeln!(out, "{}; {time_of}, seed {}\n", list.join(", "), s.seed)?;
    if report.outcomes.iter().map(|o| o.submitted).max() == Some(0) {
        writeln!(out, "No task starts. Check start, stop and at of the workloads, and created of the datasets.\n")?;
    }
    let late = s.reads.iter().filter(|read| read.time > s.duration).count();
    if late > 0 {
        let reads = units::plural(late as u64, "read");
        writeln!(out, "{reads} of the traces would begin after the duration of the scenario: not simulated.\n")?;
    }
    for note in small_sites(s) {
        writeln!(out, "{}\n", clean(&note))?;
    }
    let figures = figures(report);
    let columns = figures.iter().map(|f| (f.0, Align::Right));
    let mut table = Table::new([("policy", Align::Left)].into_iter().chain(columns.clone()));
    for o in &report.outcomes {
        table.row([o.policy.clone()].into_iter().chain(figures.iter().map(|f| f.1(o))));
    }
    table.write(out)?;
    if report.outcomes.iter().any(|o| o.workloads.len() > 1) {
        writeln!(out)?;
        let mut table = Table::new([
            ("policy", Align::Left),
            ("workload", Align::Left),
            ("tasks", Align::Right),
            ("median", Align::Right),
            ("95 %", Align::Right),
        ]);
        for o in &report.outcomes {
            for w in &o.workloads {
                let times = [w.median, w.p95].map(|t| time_of_tasks(w.tasks, t));
                table.row([o.policy.clone(), w.name.clone(), units::count(w.tasks)].into_iter().chain(times));
            }
        }
        table.write(out)?;
    }
    writeln!(out)?;
    let mut table =
        Table::new([("policy", Align::Left), ("link", Align::Left), ("bytes", Align::Right), ("peak", Align::Right)]);
    for o in &report.outcomes {
        let mut busiest: Vec<_> = o.links.iter().filter(|l| l.bytes != [0, 0]).collect();
        busiest.sort_by_key(|l| std::cmp::Reverse(l.bytes[0] + l.bytes[1]));
        for l in busiest.into_iter().take(10) {
            let peak = l.peak[0].max(l.peak[1]) / l.bandwidth.max(1.0);
            table.row([o.policy.clone(), l.name.clone(), units::bytes(l.bytes[0] + l.bytes[1]), percent(peak)]);
        }
    }
    if table.pending() > 0 {
        table.write(out)?;
    }
    for o in &report.outcomes {
        if o.no_room > 0 {
            let files = units::plural(o.no_room, "time");
            writeln!(out, "{}: {files}, a disk had no room for a file; jobs read it from where it is", o.policy)?;
        }
        if let Some(c) = &o.check {
            writeln!(
                out,
                "{}: {} again basket by basket: {} on average, {} in the model ({:+.1} %; one differs by {})",
                clean(&o.policy),
                units::plural(c.jobs, "job"),
                time(c.full),
                time(c.model),
                c.difference() * 100.0,
                percent(c.largest)
            )?;
        }
    }
    if report.points.is_empty() {
        return Ok(());
    }
    writeln!(out)?;
    let keys = report.axes.iter().map(|a| (a.key.as_str(), Align::Right));
    let mut table = Table::new(keys.chain([("policy", Align::Left)]).chain(columns));
    for p in &report.points {
        for o in &p.outcomes {
            let values = report.axes.iter().zip(&p.values).map(|(a, &v)| shown(&a.key, v));
            table.row(values.chain([o.policy.clone()]).chain(figures.iter().map(|f| f.1(o))));
        }
    }
    table.write(out)
}
