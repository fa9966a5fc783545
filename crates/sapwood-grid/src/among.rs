//! How jobs behave among others that read at the same time. Their flows share a path fairly; but senders that see each other's queues end
//! slow start sooner than one that is alone, and what is lost of one makes room for others. Where this takes longer than sharing alone,
//! jobs like these are measured together.

use crate::behaviour::{Behaviour, Scan, together};
use crate::one_path::{Ends, in_model};
use crate::profile::Profile;
use crate::reader::Reader;
use crate::route::Route;
use crate::slack::Slack;
use sapwood_sim::Report;
use sapwood_span::Result;

/// So many jobs are driven basket by basket at most, with so many baskets; of more, so many on their part of the path.
pub(crate) const TOGETHER: u32 = 20;
pub(crate) const MOST_BASKETS: usize = 400_000;
/// More jobs than that are rounded to steps of this.
const STEP: f64 = 1.1;
/// More jobs than this are as many.
const MOST: f64 = 1000.0;
/// Jobs that would use a smaller part of the path do not meet; of those that read in a smaller part of their time, the end depends on it
/// little; those that read for more round trips do so at the rate that sharing gives them nearly all the time.
const CROWDED: f64 = 0.1;
const READS: f64 = 0.1;
const ROUND_TRIPS: f64 = 500.0;
/// But where all begin together, what all of them need first takes the path this part of their time.
const BURST: f64 = 0.03;
/// What takes this part longer than sharing the path is not the model's rounding.
const SLOWER: f64 = 1.03;
/// Jobs that begin at the same time do so within this part of the time of one, and so many round trips.
const SPREAD: f64 = 0.1;
const APART: f64 = 2.0;

/// The number of jobs that read at the same time, rounded: to a whole number, and beyond those that are driven, to one of some dozens.
pub(crate) fn rounded(jobs: f64) -> u32 {
    let jobs = jobs.clamp(1.0, MOST);
    let mut at = f64::from(TOGETHER);
    if jobs <= at {
        return jobs.round() as u32;
    }
    while at * STEP <= jobs {
        at *= STEP;
    }
    at.round() as u32
}

/// Whether so many jobs, of which each behaves like this alone, meet on their path, and take longer for it.
pub(crate) fn is_crowded(alone: &Behaviour, route: Route, jobs: f64) -> bool {
    if jobs <= 1.0 || route.round_trip <= 0.0 {
        return false;
    }
    let meets = alone.reading > READS * alone.seconds
        && alone.reading < ROUND_TRIPS * route.round_trip
        && alone.bytes * jobs > CROWDED * route.bandwidth * alone.reading;
    meets || alone.first * jobs > BURST * route.bandwidth * alone.seconds
}

/// When each of some jobs begins that begin at the same time: requests of jobs that are alike would meet each time if none were later.
pub(crate) fn begin_at_once(jobs: usize, route: Route, seconds: f64) -> Vec<f64> {
    let apart = (SPREAD * seconds).min(APART * route.round_trip) / jobs.max(1) as f64;
    (0..jobs).map(|i| i as f64 * apart).collect()
}

/// Measures a job with one file of this profile among as many others that are alike, or among fewer on their part of the path, as the work
/// allows. None if they are as fast as they would be if they only shared the path.
///
/// # Errors
/// When the planner refuses the baskets.
pub(crate) fn measure_among(
    profile: &Profile,
    reader: Reader<'_>,
    route: Route,
    (jobs, alone): (u32, &Behaviour),
    work: &mut u64,
) -> Result<Option<Behaviour>> {
    let mut count = jobs.min(TOGETHER);
    while count > 1 {
        let part = Route { bandwidth: route.bandwidth * f64::from(count) / f64::from(jobs), ..route };
        let Some(scan) = Scan::new(profile, reader, part) else { return Ok(None) };
        if scan.baskets.len() * count as usize > MOST_BASKETS {
            count /= 2;
            continue;
        }
        let begin = begin_at_once(count as usize, part, alone.seconds);
        let all: Vec<(&Scan, f64)> = begin.iter().map(|begin| (&scan, begin + scan.opening.seconds)).collect();
        let mut left = *work / 2;
        let reports = together(&all, &scan.link, &mut left)?;
        *work -= *work / 2 - left;
        if let Some(reports) = reports {
            return Ok(among(&scan, part, alone, &reports, &begin));
        }
        count /= 2;
    }
    Ok(None)
}

/// How a job behaves among others, from reports of jobs that began at these times.
fn among(scan: &Scan, route: Route, alone: &Behaviour, reports: &[Report], begin: &[f64]) -> Option<Behaviour> {
    let mean = |all: &mut dyn Iterator<Item = f64>| all.sum::<f64>() / begin.len() as f64;
    let came = |(report, begin): (&Report, &f64)| report.last_basket.as_secs_f64() - begin;
    let came = mean(&mut reports.iter().zip(begin).map(came));
    let think = scan.client.think.as_secs_f64();
    let end = |report: &Report| report.time.as_secs_f64() + think;
    // when they have all bytes, and when they end
    let in_model = |reading: f64| {
        let one = Behaviour { reading, ..alone.clone() };
        let all: Vec<(&Behaviour, &Behaviour, f64)> = begin.iter().map(|&at| (&one, &scan.opening, at)).collect();
        let all = in_model(route, &all);
        let times: [fn(&Ends) -> f64; 2] = [|ends| ends.read, |ends| ends.end];
        times.map(|time| mean(&mut all.iter().zip(begin).map(|(ends, begin)| time(ends) - begin)))
    };
    let [shared, ended] = in_model(alone.reading);
    let ends = mean(&mut reports.iter().zip(begin).map(|(report, begin)| end(report) - begin));
    // bytes that come later where nothing waits for them make no job longer
    if came < SLOWER * shared || ends < SLOWER * ended {
        return None;
    }
    // later than sharing makes them: they are slower as long as the path leaves them the choice; beyond that, later at the end only, as they
    // would be slow for ever, should the others leave
    let reading = alone.reading + (in_model(alone.reading + came - shared)[0] - shared).max(0.0);
    let [shared, _] = in_model(reading);
    let late = (came - shared).max(0.0);
    let after = late + mean(&mut reports.iter().map(|report| end(report) - report.last_basket.as_secs_f64()));
    // no sooner than alone, if the others leave: its bytes may come as fast, so what follows them takes as long as alone
    let spare = (alone.seconds - reading - after).max(0.0);
    // the slack of one that takes about as long as the mean
    let distance = |(report, begin): &(&Report, &f64)| (report.last_basket.as_secs_f64() - *begin - came).abs();
    let one = reports.iter().zip(begin).min_by(|a, b| distance(a).total_cmp(&distance(b)));
    let opened = scan.opening.bytes / alone.bytes.max(1.0);
    let slack = one.map_or_else(Slack::default, |(report, _)| {
        Slack::new(&scan.baskets, &scan.client, report, opened, end(report)).sooner(shared - reading).later(spare)
    });
    Some(Behaviour { seconds: reading + after + spare, reading, slack, ..alone.clone() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reader::ProxyMap;
    use crate::scenario::Scenario;
    use std::path::Path;

    /// Of files with many baskets fewer jobs are driven, or none: memory and time depend on the baskets of all.
    #[test]
    fn the_baskets_of_all_jobs_are_bounded() {
        for (branches, driven) in [(1, true), (MOST_BASKETS / 40_000, true), (MOST_BASKETS / 2_000 + 1, false)] {
            let text = format!(
                "[[site]]\nname = 's'\ncores = 1\n[[policy]]\nkind = 'pull'\n[[dataset]]\nname = 'd'\nfiles = 1\nsite = 's'
                file_size = '1 GB'\nentries = 1_000_000\nclusters = 1000\nbranches = {branches}
                [[workload]]\nname = 'w'\nsite = 's'\ntasks_per_day = 1"
            );
            let scenario = Scenario::parse("test", &text, Path::new("")).unwrap();
            let (profile, workload) = (&scenario.datasets[0].profile, &scenario.workloads[0]);
            let (chosen, windows, map) = (&vec![true; branches], (14_600, 8 << 20), &ProxyMap::default());
            let reader = Reader { workload, chosen, threads: 1, windows, map };
            let route = Route { round_trip: 0.01, bandwidth: 1e9, loss: 0.0, proxy: None, seek: 0.0 };
            let alone = Behaviour { seconds: 10.0, reading: 10.0, bytes: 1e9, ..Behaviour::default() };
            let mut work = 1_000;
            measure_among(profile, reader, route, (20, &alone), &mut work).unwrap();
            assert_eq!(work < 1_000, driven, "{branches} branches of 1000 baskets");
        }
    }
}
