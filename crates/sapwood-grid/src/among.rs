//! How jobs behave among others that read at the same time. Their flows share a path fairly; but senders that see each other's queues end
//! slow start sooner than one that is alone, and what is lost of one makes room for others. Where this takes longer than sharing alone,
//! jobs like these are measured together.

use crate::behaviour::{Behaviour, Reader, Route, Scan};
use crate::check::in_model;
use crate::profile::Profile;
use crate::slack::Slack;
use sapwood_sim::{Faults, Job, Link, Report, run_together};
use sapwood_span::Result;
use std::time::Duration;

/// So many jobs are driven basket by basket at most; of more, so many on their part of the path.
const TOGETHER: u32 = 20;
/// The number of jobs is rounded, each to at most this part more than the one before.
const STEP: f64 = 1.25;
/// More jobs than this are as many.
const MOST: f64 = 1000.0;
/// Jobs that would use a smaller part of the path do not meet; of those that read in a smaller part of their time, the end depends on it
/// little; those that read for more round trips do so at the rate that sharing gives them nearly all the time.
const CROWDED: f64 = 0.1;
const READS: f64 = 0.1;
const ROUND_TRIPS: f64 = 500.0;
/// What takes this part longer than sharing the path is not the model's rounding.
const SLOWER: f64 = 1.03;
/// Steps of the search for a rate.
const SEARCHES: u32 = 12;
/// Jobs begin within this part of the time of one: requests of jobs that are alike would meet each time if they began together.
pub(crate) const SPREAD: f64 = 0.1;

/// The number of jobs that read at the same time, rounded: 1, or one of some dozens of others.
pub(crate) fn rounded(jobs: f64) -> u32 {
    let jobs = jobs.clamp(1.0, MOST);
    let mut at = 1u32;
    while f64::from(at) < jobs {
        let next = f64::from((f64::from(at) * STEP).floor() as u32).max(f64::from(at) + 1.0);
        if jobs < (f64::from(at) + next) / 2.0 {
            break;
        }
        at = next as u32;
    }
    at
}

/// Whether so many jobs, of which each behaves like this alone, meet on their path, and take longer for it.
pub(crate) fn is_crowded(alone: &Behaviour, route: Route, jobs: u32) -> bool {
    jobs > 1
        && alone.reading > READS * alone.seconds
        && alone.reading < ROUND_TRIPS * route.round_trip
        && alone.bytes * f64::from(jobs) > CROWDED * route.bandwidth * alone.reading
}

/// Measures a job with one file of this profile among as many others that are alike; none if they are as fast as they would be if they only
/// shared the path, or if to measure them takes more than this work.
///
/// # Errors
/// When the planner refuses the baskets.
pub(crate) fn measure_among(
    profile: &Profile,
    reader: Reader<'_>,
    route: Route,
    (jobs, alone): (u32, &Behaviour),
    most_work: &mut u64,
) -> Result<Option<Behaviour>> {
    let count = jobs.min(TOGETHER);
    let route = Route { bandwidth: route.bandwidth * f64::from(count) / f64::from(jobs), ..route };
    let Some(scan) = Scan::new(profile, reader, route) else { return Ok(None) };
    let begin: Vec<f64> = (0..count).map(|i| f64::from(i) / f64::from(count) * SPREAD * alone.seconds).collect();
    let starts: Vec<f64> = begin.iter().map(|begin| begin + scan.opening.seconds).collect();
    let all: Vec<(&Scan, f64)> = starts.iter().map(|&start| (&scan, start)).collect();
    let Some(reports) = together(&all, &scan.link, most_work)? else { return Ok(None) };
    let mean = |all: &mut dyn Iterator<Item = f64>| all.sum::<f64>() / f64::from(count);
    let came = |(report, begin): (&Report, &f64)| report.last_basket.as_secs_f64() - begin;
    let came = mean(&mut reports.iter().zip(&begin).map(came));
    let in_model = |reading: f64| {
        let one = Behaviour { reading, ..alone.clone() };
        let all: Vec<(&Behaviour, &Behaviour, f64)> = begin.iter().map(|&at| (&one, &scan.opening, at)).collect();
        mean(&mut in_model(route, &all).iter().zip(&begin).map(|(ends, begin)| ends.read - begin))
    };
    if came < SLOWER * in_model(alone.reading) {
        return Ok(None);
    }
    // how fast each would be alone, so that sharing the path makes it as slow as it was
    let [mut reading, mut most] = [alone.reading, came.max(alone.reading)];
    for _ in 0..SEARCHES {
        let between = (reading + most) / 2.0;
        *(if in_model(between) < came { &mut reading } else { &mut most }) = between;
    }
    let think = scan.client.think.as_secs_f64();
    let end = |report: &Report| report.time.as_secs_f64() + think;
    let after = mean(&mut reports.iter().map(|report| end(report) - report.last_basket.as_secs_f64()));
    let seconds = (reading + after).max(alone.seconds);
    // the slack of one that takes about as long as the mean
    let distance = |(report, begin): &(&Report, &f64)| (report.last_basket.as_secs_f64() - *begin - came).abs();
    let one = reports.iter().zip(&begin).min_by(|a, b| distance(a).total_cmp(&distance(b)));
    let opened = scan.opening.bytes / alone.bytes.max(1.0);
    let slack = one.map_or_else(Slack::default, |(report, _)| {
        Slack::new(&scan.baskets, &scan.client, report, opened, end(report)).sooner(came - reading)
    });
    Ok(Some(Behaviour { seconds, reading: seconds - after, slack, ..alone.clone() }))
}

/// Drives scans over one link, each from its start in seconds on; none if that takes more than this work, of which it takes its own.
pub(crate) fn together(scans: &[(&Scan, f64)], link: &Link, most_work: &mut u64) -> Result<Option<Vec<Report>>> {
    let jobs = scans.iter().map(|(scan, start)| Job {
        baskets: &scan.baskets,
        request: scan.request.clone(),
        client: &scan.client,
        cut: scan.cut.as_ref(),
        start: Duration::from_secs_f64(*start),
    });
    run_together(jobs.collect(), link, &Faults::default(), most_work)
}
