//! Values of a scenario changed over ranges: every combination is a simulation of its own.

use crate::clock::{bytes_of, from_seconds, seconds, time_of};
use crate::outcome::Outcome;
use crate::scenario::Scenario;
use crate::simulate::{CustomPolicy, simulate_also};
use sapwood_span::sync::lock;
use sapwood_span::{Error, Result, units};
use std::collections::HashSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Values between two ends, when their number is not given.
const STEPS: usize = 7;
/// Combinations at most.
const MOST_POINTS: usize = 10_000;

/// A value that is changed: `disk`, `proxy`, `local_cache`, `rtt`, `bandwidth`, `cores` or `tasks`, of all sites, links or workloads that
/// have it; or of one of them, as in `proxy@tier2`.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// The name of the value, as it was given.
    pub key: String,
    /// How its values are written.
    pub unit: Unit,
    /// The values.
    pub values: Vec<f64>,
}

/// How values are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// A size in bytes.
    Bytes,
    /// Bytes per second.
    Rate,
    /// A time.
    Seconds,
    /// A number.
    Number,
}

/// One combination, and what the policies did with it.
#[derive(Clone, Debug)]
pub struct Point {
    /// A value for each axis.
    pub values: Vec<f64>,
    /// The outcome of each policy: its totals, without single links and sites and without time lines.
    pub outcomes: Vec<Outcome>,
}

/// The names of values, and how they are written.
const KEYS: &[(&str, Unit)] = &[
    ("disk", Unit::Bytes),
    ("proxy", Unit::Bytes),
    ("local_cache", Unit::Bytes),
    ("rtt", Unit::Seconds),
    ("bandwidth", Unit::Rate),
    ("cores", Unit::Number),
    ("tasks", Unit::Number),
];

fn unit_of(key: &str) -> Option<Unit> {
    let name = key.split('@').next().unwrap_or(key);
    KEYS.iter().find(|k| k.0 == name).map(|k| k.1)
}

/// A value as it is written.
pub(crate) fn shown(key: &str, value: f64) -> String {
    match unit_of(key) {
        Some(Unit::Bytes) => units::bytes(value as u64),
        Some(Unit::Rate) => units::bandwidth((value * 8.0).round() as u64),
        Some(Unit::Seconds) => units::seconds(value),
        _ => format!("{value}"),
    }
}

impl Axis {
    /// Reads what a user writes: `disk=1TB..1PB`, `rtt=5ms..200ms/4` for four values, `cores=10|100`. Ranges are in equal factors.
    /// Several are separated by commas.
    ///
    /// # Errors
    /// `Invalid` with what is wrong.
    pub fn parse_list(text: &str) -> Result<Vec<Self>> {
        let axes: Vec<Self> = text.split(',').map(|t| Self::parse(t.trim())).collect::<Result<_>>()?;
        let keys: HashSet<&str> = axes.iter().map(|a| a.key.as_str()).collect();
        if keys.len() < axes.len() {
            return Err(Error::invalid(format!("{text}: a key is given twice; write proxy=1TB|3TB to try two values")));
        }
        Ok(axes)
    }

    fn parse(text: &str) -> Result<Self> {
        let wrong = |what: &str| Error::invalid(format!("{text}: {what}"));
        let (key, values) = text.split_once('=').ok_or_else(|| wrong("write for example disk=1TB..1PB"))?;
        let key = key.trim();
        let names: Vec<&str> = KEYS.iter().map(|k| k.0).collect();
        let unit = unit_of(key).ok_or_else(|| wrong(&format!("the value must be one of {}", names.join(", "))))?;
        let one = |text: &str| -> Result<f64> {
            let named = |e: Error| wrong(&e.to_string());
            Ok(match unit {
                Unit::Bytes => bytes_of(text).map_err(named)? as f64,
                Unit::Rate => units::parse_bandwidth(text).map_err(named)? as f64 / 8.0,
                Unit::Seconds => seconds(time_of(text).map_err(named)?),
                Unit::Number => {
                    let number = text.trim().parse::<f64>().ok().filter(|n| (0.0..=1e9).contains(n) && *n > 0.0);
                    let number = number
                        .ok_or_else(|| wrong(&format!("\"{text}\" is not a number above 0, at most 1000 million")))?;
                    if key.starts_with("cores") && number.fract() != 0.0 {
                        return Err(wrong(&format!("\"{text}\" is not a whole number")));
                    }
                    number
                }
            })
        };
        let Some((from, to)) = values.split_once("..") else {
            let values = values.split('|').map(one).collect::<Result<Vec<_>>>()?;
            if (1..values.len()).any(|i| values[..i].contains(&values[i])) {
                return Err(wrong("a value is given twice"));
            }
            return Ok(Self { key: key.to_owned(), unit, values });
        };
        let (to, steps) = match to.rsplit_once('/').filter(|(_, n)| n.trim().parse::<usize>().is_ok()) {
            Some((to, n)) => (to, n.trim().parse().unwrap_or(STEPS)),
            None => (to, STEPS),
        };
        let (from, to) = (one(from)?, one(to)?);
        if !(from > 0.0 && to > from && (2..=1000).contains(&steps)) {
            return Err(wrong(
                "a range rises from more than 0, in 2 to 1000 values; write 0|1TB for values that include 0",
            ));
        }
        let at = |i: usize| {
            let value = from * libm::pow(to / from, i as f64 / (steps - 1) as f64);
            match unit {
                Unit::Seconds => value,
                // half a task in a day is one every other day
                _ if key.starts_with("tasks") && value < 10.0 => (value * 1e6).round() / 1e6,
                _ => value.round(),
            }
        };
        let mut values: Vec<f64> = (0..steps).map(at).collect();
        // between 1 and 3 there are no seven whole numbers
        values.dedup();
        Ok(Self { key: key.to_owned(), unit, values })
    }
}

/// Changes a value of a scenario.
fn change(scenario: &mut Scenario, key: &str, value: f64) -> Result<()> {
    let (name, only) = key.split_once('@').map_or((key, None), |(name, only)| (name, Some(only)));
    let is_it = |n: &str| only.is_none_or(|only| sapwood_engine::glob_match(only, n));
    let mut changed = 0;
    let sites = scenario.sites.iter_mut().filter(|s| is_it(&s.name));
    match name {
        "disk" => sites.filter(|s| s.disk > 0).for_each(|s| {
            s.disk = value as u64;
            changed += 1;
        }),
        "proxy" => sites.filter_map(|s| s.proxy.as_mut()).for_each(|p| {
            p.bytes = value as u64;
            changed += 1;
        }),
        "local_cache" => sites.filter(|s| s.local_cache > 0).for_each(|s| {
            s.local_cache = value as u64;
            changed += 1;
        }),
        "cores" => sites.filter(|s| s.cores > 0).for_each(|s| {
            s.cores = value as u64;
            changed += 1;
        }),
        "rtt" => scenario.links.iter_mut().filter(|l| is_it(&l.name)).for_each(|l| {
            l.rtt = from_seconds(value);
            changed += 1;
        }),
        "bandwidth" => scenario.links.iter_mut().filter(|l| is_it(&l.name)).for_each(|l| {
            l.bandwidth = value;
            changed += 1;
        }),
        "tasks" => scenario.workloads.iter_mut().filter(|w| is_it(&w.name) && w.rate > 0.0).for_each(|w| {
            w.rate = value / 86400.0;
            changed += 1;
        }),
        _ => {}
    }
    if changed == 0 {
        return Err(Error::invalid(format!("nothing in the scenario has a value {key} that could be changed")));
    }
    Ok(())
}

/// Simulates all combinations, on several threads; in the order of the values, whichever thread is first.
pub(crate) fn points(
    scenario: &Scenario,
    axes: &[Axis],
    threads: usize,
    others: &[CustomPolicy<'_>],
) -> Result<Vec<Point>> {
    let count = axes.iter().try_fold(1usize, |n, a| n.checked_mul(a.values.len())).unwrap_or(usize::MAX);
    if count > MOST_POINTS {
        return Err(Error::invalid(format!("the sweep has more than {MOST_POINTS} combinations")));
    }
    let (next, done) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let work = || {
        loop {
            let i = next.fetch_add(1, Ordering::Relaxed);
            if i >= count {
                return;
            }
            let point = point(scenario, axes, i, others);
            lock(&done).push((i, point));
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..threads.clamp(1, count) {
            scope.spawn(work);
        }
    });
    let mut done = std::mem::take(&mut *lock(&done));
    done.sort_by_key(|(i, _)| *i);
    done.into_iter().map(|(_, point)| point).collect()
}

fn point(scenario: &Scenario, axes: &[Axis], mut number: usize, others: &[CustomPolicy<'_>]) -> Result<Point> {
    // what is only looked at for one scenario is left out
    let mut changed = Scenario { check_jobs: 0, ..scenario.clone() };
    let mut values = vec![0.0; axes.len()];
    for (axis, value) in axes.iter().zip(&mut values).rev() {
        *value = axis.values.get(number % axis.values.len()).copied().unwrap_or(0.0);
        number /= axis.values.len();
        change(&mut changed, &axis.key, *value)?;
    }
    let with = |axis: &Axis, value: f64| format!("{} = {}", axis.key, shown(&axis.key, value));
    changed.check().map_err(|e| {
        let given: Vec<String> = axes.iter().zip(&values).map(|(axis, &value)| with(axis, value)).collect();
        Error::invalid(format!("with {}: {e}", given.join(", "))).in_file(&scenario.name)
    })?;
    let mut outcomes = simulate_also(&changed, others)?;
    for outcome in &mut outcomes {
        // of each of thousands of combinations only totals are shown
        outcome.forget_parts();
    }
    Ok(Point { values, outcomes })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_rise_in_equal_factors() {
        let axes = Axis::parse_list("disk=1TB..1PB/4, rtt=5ms|20ms").unwrap();
        assert_eq!(axes[0].values, [1e12, 1e13, 1e14, 1e15]);
        assert_eq!(axes[1].values, [0.005, 0.02]);
        assert_eq!(Axis::parse_list("proxy@tier3=1TB..64TB").unwrap()[0].values.len(), 7);
        assert_eq!(Axis::parse_list("tasks=0.1..0.4/3").unwrap()[0].values, [0.1, 0.2, 0.4]);
        assert_eq!(Axis::parse_list("cores=1..3/7").unwrap()[0].values, [1.0, 2.0, 3.0]);
        for wrong in [
            "disk",
            "disc=1TB",
            "disk=2TB..1TB",
            "disk=0..1TB",
            "cores=x",
            "disk=1TB..2TB/1",
            ",",
            "",
            "disk=1TB,disk=2TB",
            "cores=1.5",
            "cores=0",
            "tasks=1e10",
            "tasks=0..1",
            "proxy=100",
            "rtt=20",
            "bandwidth=10",
            "proxy=1TB|",
            "proxy=1TB|1000GB",
            "proxy=..",
            "proxy=1TB..",
            "proxy=1TB..nan",
            "rtt=-1s..1s",
        ] {
            assert!(Axis::parse_list(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn values_are_shown_as_they_are_given() {
        let shown =
            |text| Axis::parse_list(text).unwrap().iter().map(|a| shown(&a.key, a.values[0])).collect::<Vec<_>>();
        let values = shown("bandwidth@a=10 Gbit/s|20 Gbit/s, disk=2TB, rtt=20ms, cores=8");
        assert_eq!(values, ["10.0 Gbit/s", "2.00 TB", "20 ms", "8"]);
    }
}
