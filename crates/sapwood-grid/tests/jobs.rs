//! When jobs end: they start, read, and work on what has come.

use sapwood_grid::{Outcome, Scenario, simulate};
use std::path::Path;

/// Jobs of a site that read a file each over one link.
fn run(changes: &[(&str, &str)]) -> Outcome {
    let mut text = "
duration = '1d'
policy = [{ kind = 'pull' }]
[[site]]
name = 's'
cores = 1000
[[site]]
name = 'o'
[[link]]
from = 's'
to = 'o'
rtt = '5ms'
bandwidth = '1 Gbit/s'
[[dataset]]
name = 'd'
files = 20
site = 'o'
file_size = '2 GB'
entries = 100_000
clusters = 10
[[dataset.branch]]
name = 'b'
count = 30
size = '2 MB'
[[workload]]
name = 'w'
site = 's'
at = '1h'
files = 20
branches = 'b*'
threads = 16
cpu_per_entry = '100us'
decompression = '1 GB/s'
"
    .to_owned();
    for (from, to) in changes {
        assert!(text.contains(from), "{from}");
        text = text.replace(from, to);
    }
    simulate(&Scenario::parse("s.toml", &text, Path::new("")).unwrap()).unwrap().remove(0)
}

#[test]
fn jobs_start_before_they_read_and_work_after_it() {
    // one after the other would take two minutes to start; at the same time, their bytes share the line
    let run = |startup: &str, clusters: u32| {
        let text = format!(
            "duration = '1d'
policy = [{{ kind = 'pull' }}]
[[site]]
name = 's'
cores = 2
[[site]]
name = 'o'
[[link]]
from = 's'
to = 'o'
rtt = '10ms'
bandwidth = '100 Mbit/s'
[[dataset]]
name = 'd'
files = 2
site = 'o'
file_size = '1 GB'
entries = 1000
clusters = {clusters}
[[workload]]
name = 'w'
site = 's'
at = '1h'
files = 2
share = 0.6
startup = '{startup}'
cpu_per_entry = '100ms'"
        );
        simulate(&Scenario::parse("s.toml", &text, Path::new("")).unwrap()).unwrap().remove(0)
    };
    let [none, minute] = ["0s", "60s"].map(|startup| run(startup, 1));
    assert!((minute.median - none.median - 60.0).abs() < 0.1, "{} {}", none.median, minute.median);
    // 1200 MB over the line, and only then, with one cluster, the work on it
    assert!((200.0..206.0).contains(&none.median), "{}", none.median);
    let many = run("0s", 100);
    assert!((101.0..108.0).contains(&many.median), "{}", many.median);
    for outcome in [none, minute, many] {
        let check = outcome.check.unwrap();
        assert!(check.difference().abs() < 0.05, "{check:?}");
    }
}

#[test]
fn work_waits_for_the_bytes_that_it_is_on() {
    // 20 jobs with 10 s of work each, and 9.6 s of the line for the bytes of all: each has all of its clusters last
    let over = |protocol: &str, clusters: &str| {
        let protocol = format!("threads = 16\nprotocol = '{protocol}'");
        run(&[("threads = 16", &protocol), ("clusters = 10", &format!("clusters = {clusters}"))])
    };
    for protocol in ["xrootd", "http"] {
        let one = over(protocol, "1");
        assert!((19.5..20.1).contains(&one.median), "{protocol}: {}", one.median);
        let ten = over(protocol, "10");
        // the first of ten clusters, and then all work; in the order of replies over HTTP
        let ends = if protocol == "http" { 15.0..18.0 } else { 10.9..11.5 };
        assert!(ends.contains(&ten.median), "{protocol}: {}", ten.median);
        for outcome in [one, ten] {
            let check = outcome.check.unwrap();
            assert!(check.difference().abs() < 0.06, "{protocol}: {check:?}");
        }
    }
}

#[test]
fn no_job_works_on_what_a_link_that_is_down_has_not_brought() {
    // 12 s of the line for 100 s of work; down from the third second on, with a cluster and two thirds there
    let changes = [
        ("files = 20", "files = 1"),
        ("cpu_per_entry = '100us'", "cpu_per_entry = '1ms'"),
        ("bandwidth = '1 Gbit/s'", "bandwidth = '40 Mbit/s'"),
        ("threads = 16", "threads = 16\nprotocol = 'xrootd'"),
    ];
    let down = ("rtt = '5ms'", "rtt = '5ms'\noutage = [{ from = '3602s', for = '85s' }]");
    let alone = run(&changes);
    let with = run(&[&changes[..], &[down]].concat());
    assert!((101.0..103.0).contains(&alone.median), "{}", alone.median);
    // it works on the first cluster during the outage, on nine after it
    assert!((177.0..179.0).contains(&with.median), "{}", with.median);
    // when all bytes have come, an outage delays nothing
    let late = ("rtt = '5ms'", "rtt = '5ms'\noutage = [{ from = '3620s', for = '85s' }]");
    assert_eq!(run(&[&changes[..], &[late]].concat()).median, alone.median);
}
