//! What requests cost is given by the scenario.

use sapwood_grid::{Outcome, Scenario, simulate};
use std::path::Path;

/// A client without a tree cache, beside its server or on it.
fn outcome(far: bool, more: &str) -> Outcome {
    let place = if far { "there" } else { "here" };
    let text = format!(
        "
duration = '1h'
check_jobs = 0
policy = [{{ kind = 'pull', place = 'home' }}]
[[site]]
name = 'here'
cores = 4
lan = '0s'
[[site]]
name = 'there'
[[link]]
from = 'here'
to = 'there'
rtt = '10us'
bandwidth = '10 Gbit/s'
[[dataset]]
name = 'd'
files = 1
site = '{place}'
file_size = '20 MB'
entries = 100_000
basket = '4 kB'
[[dataset.branch]]
name = 'pt'
size = '4 MB'
[[workload]]
name = 'w'
site = 'here'
at = '1s'
branches = 'pt'
threads = 2
cache = '0'
{more}
"
    );
    simulate(&Scenario::parse("s.toml", &text, Path::new("")).unwrap()).unwrap().remove(0)
}

#[test]
fn work_on_an_entry_may_take_less_than_a_nanosecond() {
    let cpu = |per_entry: &str| outcome(false, &format!("cpu_per_entry = '{per_entry}'")).cpu_seconds;
    let longer = cpu("0.4 ns") - cpu("0s");
    assert!((longer / (0.4e-9 * 100_000.0) - 1.0).abs() < 1e-6, "{longer}");
}

#[test]
fn each_request_and_each_range_take_their_time() {
    let plain = outcome(true, "per_request = '0s'\nper_range = '0s'");
    let requests = plain.requests as f64;
    assert!(requests > 900.0, "{requests}");
    for (key, of_a_core) in [("per_request", 0.0), ("per_range", 0.0), ("cpu_per_request", 1.0), ("cpu_per_range", 1.0)]
    {
        let others = ["per_request", "per_range"].into_iter().filter(|other| *other != key);
        let others: String = others.map(|other| format!("{other} = '0s'\n")).collect();
        let costly = outcome(true, &format!("{others}{key} = '200us'"));
        let longer = costly.median - plain.median;
        assert!((longer / (200e-6 * requests) - 1.0).abs() < 0.1, "{key}: {longer} s for {requests} requests");
        let work = (costly.cpu_seconds - plain.cpu_seconds) / (200e-6 * requests);
        assert!((work - of_a_core).abs() < 0.01, "{key}: {work}");
        assert_eq!((costly.requests, costly.moved_bytes), (plain.requests, plain.moved_bytes));
    }
}

#[test]
fn a_cut_is_evaluated_entry_by_entry() {
    let plain = outcome(true, "cut = 'pt'");
    let costly = outcome(true, "cut = 'pt'\ncut_per_entry = '10us'");
    let (longer, work) = (costly.median - plain.median, costly.cpu_seconds - plain.cpu_seconds);
    assert!((work - 1.0).abs() < 0.01, "{work}");
    assert!((0.5..=1.1).contains(&longer), "{longer}");
    assert_eq!(costly.moved_bytes, plain.moved_bytes);
}

#[test]
fn a_disk_is_not_asked_by_requests() {
    let costs = "per_request = '1ms'\nper_range = '1ms'\ncpu_per_request = '1ms'\ncpu_per_range = '1ms'";
    let (plain, costly) = (outcome(false, ""), outcome(false, costs));
    assert_eq!((plain.median, plain.cpu_seconds), (costly.median, costly.cpu_seconds));
}
