//! Scenarios with absurd values: each is refused with what is wrong, or simulated, in bounded time and memory.

use sapwood_grid::{Axis, Report, Scenario, simulate};
use std::path::Path;

const GOOD: &str = "
duration = '1d'
check_jobs = 0
[[site]]
name = 'here'
cores = 2
disk = '1 TB'
proxy = '1 TB'
[[site]]
name = 'there'
[[link]]
from = 'here'
to = 'there'
rtt = '20ms'
bandwidth = '1 Gbit/s'
[[dataset]]
name = 'd'
files = 10
site = 'there'
file_size = '1 GB'
entries = 1000
[[workload]]
name = 'w'
site = 'here'
tasks_per_day = 10
";

fn changed(changes: &[(&str, &str)]) -> String {
    let mut text = GOOD.to_owned();
    for (from, to) in changes {
        assert!(text.contains(from), "{from}");
        text = text.replacen(from, to, 1);
    }
    text
}

#[test]
fn of_a_large_file_little_can_be_read_whatever_is_lost() {
    let some = [
        ("'1 GB'", "'500 TB'"),
        ("bandwidth = '1 Gbit/s'", "bandwidth = '1 Gbit/s'\nloss = 1e-5"),
        ("tasks_per_day = 10", "tasks_per_day = 10\nshare = 1e-8"),
    ];
    let scenario = Scenario::parse("x", &changed(&some), Path::new("")).unwrap();
    assert!(simulate(&scenario).unwrap()[0].median > 0.0);
}

#[test]
fn what_is_too_much_is_refused_with_its_number() {
    let wrong: &[(&[(&str, &str)], &str)] = &[
        (&[("files = 10", "files = 1000000000")], "there are about 10 000 000 000 jobs of all workloads; at most"),
        (
            &[
                ("files = 10", "files = 1000000000"),
                ("tasks_per_day = 10", "tasks_per_day = 10\nfiles_per_job = 1000000"),
            ],
            "files that the jobs of all workloads read",
        ),
        (&[("tasks_per_day = 10", "tasks_per_day = 1e9")], "more than 100 million tasks"),
        (
            &[(
                "tasks_per_day = 10",
                "tasks_per_day = 99e6\nfiles = 10\n[[workload]]\nname = 'x'\nsite = 'here'\ntasks_per_day = 99e6",
            )],
            "jobs of all workloads",
        ),
        (&[("tasks_per_day = 10", "tasks_per_day = nan")], "workload.tasks_per_day: must be a number"),
        (&[("tasks_per_day = 10", "tasks_per_day = inf")], "workload.tasks_per_day: must be a number"),
        (
            &[
                ("cores = 2", "cores = 10000000\nlocal_cache = '1 GB'\nnodes = 1000000"),
                ("name = 'here'", "name = 'here'\ncount = 2"),
                ("to = 'there'", "to = 'there'"),
                ("from = 'here'", "from = 'here-*'"),
                ("site = 'here'", "site = 'here-*'"),
            ],
            "there are about 2 000 000 nodes with a local cache",
        ),
        (
            &[
                ("[[workload]]", "[[rule]]\ndataset = 'd'\nsite = 'here'\n[[workload]]"),
                ("files = 10", "files = 1000000000"),
                ("tasks_per_day = 10", "tasks_per_day = 10\nfiles = 1"),
            ],
            "copies that rules make",
        ),
        (&[("'1 Gbit/s'", "'0 bit/s'")], "link.bandwidth: must be a bandwidth"),
        (&[("'1 Gbit/s'", "0")], "link.bandwidth: must be a bandwidth"),
        (&[("'20ms'", "'1000000d'")], "link.rtt: \"1000000d\" is longer than 100 years"),
        (&[("'20ms'", "'1e6d'")], "link.rtt: must be a time"),
        (
            &[("'1 GB'", "'20 GB'"), ("tasks_per_day = 10", "tasks_per_day = 10\ndecompression = '1 bit/s'")],
            "years to read 20.0 GB; look at bandwidth and decompression",
        ),
        (
            &[("'1 GB'", "'2 TB'"), ("'1 Gbit/s'", "'1 kbit/s'")],
            "years to read 2.00 TB; look at bandwidth and decompression",
        ),
        (&[("tasks_per_day = 10", "tasks_per_day = 0")], "workload.tasks_per_day: must be more than 0"),
        (
            &[("tasks_per_day = 10", "tasks_per_day = 10\nstart = '2d'")],
            "workload.start: is after the end of the scenario",
        ),
        (
            &[("'1 GB'", "'500 TB'")],
            "a job of w reads 500 TB of a file of d, and at most 8.39 MB are in flight: that takes more than a million round trips",
        ),
        (&[("'1 Gbit/s'", "'200 Tbit/s'")], "must be a bandwidth such as \"10 Gbit/s\", from 1 bit/s to 100 Tbit/s"),
        (&[("tasks_per_day = 10", "tasks_per_day = 10\nshare = 0.0")], "workload.share: must be more than 0"),
        (
            &[("entries = 1000", "entries = 1000\n[[dataset.branch]]\nname = 'a'\nsize = '0 B'")],
            "dataset.branch.size: must be more than 0",
        ),
        (&[("'20ms'", "'30000d'")], "the round trip of the link here - there is"),
        (&[("tasks_per_day = 10", "tasks_per_day = 10\nper_request = '2d'")], "the per_request of the workload w is"),
        (
            &[("tasks_per_day = 10", "tasks_per_day = 10\ncpu_per_range = '2d'")],
            "the cpu_per_range of the workload w is",
        ),
        (
            &[("tasks_per_day = 10", "tasks_per_day = 10\ncut_per_entry = '1us'")],
            "workload.cut_per_entry: there is no cut; add its branches as cut",
        ),
        (
            &[
                ("entries = 1000", "entries = 1_000_000_000_000"),
                ("tasks_per_day = 10", "tasks_per_day = 10\ncpu_per_entry = '1d'"),
            ],
            "a job of w would take 2 737 850 787 years for a file of d",
        ),
        (&[("'1 GB'", "'5 EB'")], "dataset.file_size: a file has at most"),
        (&[("'1 GB'", "'1 GB'\nbranches = 100000\nclusters = 100000")], "a file has more than 4000000 baskets"),
        (
            &[(
                "entries = 1000",
                "entries = 1000\n[[dataset.branch]]\nname = 'a'\nsize = '1 B'\ncount = 60000\n[[dataset.branch]]\nname = 'b'\nsize = '1 B'\ncount = 60000",
            )],
            "the files have more than 100000 branches",
        ),
        (
            &[
                ("name = 'there'", "name = 'there'\ncount = 10000"),
                ("to = 'there'", "to = 'there-*'"),
                ("site = 'there'", "site = 'there-*'"),
            ],
            "there are more than 10000 sites",
        ),
    ];
    for (changes, expected) in wrong {
        let told = match Scenario::parse("s.toml", &changed(changes), Path::new("")) {
            Ok(scenario) => simulate(&scenario).map(|_| ()).unwrap_err().to_string(),
            Err(e) => e.to_string(),
        };
        assert!(told.contains(expected) && told.contains("s.toml"), "{changes:?}: {told}");
    }
}

#[test]
fn a_job_of_centuries_is_an_error() {
    for policy in ["push", "pull"] {
        let slow = format!("'1 bit/s'\n[[policy]]\nkind = '{policy}'");
        let scenario = Scenario::parse("s.toml", &changed(&[("'1 Gbit/s'", &slow)]), Path::new("")).unwrap();
        let told = simulate(&scenario).map(|_| ()).unwrap_err().to_string();
        let expected = if policy == "push" { "hundreds of years; look at" } else { "years to read" };
        assert!(told.contains(expected), "{policy}: {told}");
    }
}

#[test]
fn absurd_values_that_mean_something_are_simulated() {
    for changes in [
        // a simulation much shorter than its jobs
        &[("duration = '1d'", "duration = '1us'"), ("tasks_per_day = 10", "at = '0s'\ncpu_per_entry = '1h'")][..],
        &[("duration = '1d'", "duration = '36500d'"), ("tasks_per_day = 10", "tasks_per_day = 0.001")],
        // caches and disks of a byte, and of more than there is
        &[("proxy = '1 TB'", "proxy = '1 B'"), ("disk = '1 TB'", "disk = '1 B'")],
        &[
            ("proxy = '1 TB'", "proxy = '9 EB'"),
            ("file_size = '1 GB'", "file_size = '200 GB'"),
            ("'1 Gbit/s'", "'100 Tbit/s'"),
        ],
        &[("file_size = '1 GB'", "file_size = '1 B'\nclusters = 1\nbranches = 1"), ("entries = 1000", "entries = 1")],
        &[("entries = 1000", "entries = 1000\ncreated = '36500d'")],
        &[("tasks_per_day = 10", "tasks_per_day = 10\nfiles = 1\nentries = 1e-300")],
        &[("'20ms'", "'0s'\nloss = 0.5")],
        &[("'20ms'", "'0s'\nloss = 0.5"), ("tasks_per_day = 10", "tasks_per_day = 10\ncache = '10 MB'")],
        // years, of which a float has no nanoseconds
        &[("'1 GB'", "'30 GB'"), ("'1 Gbit/s'", "'1 kbit/s'"), ("tasks_per_day = 10", "at = '0s'\nfiles = 1")],
    ] {
        let scenario = Scenario::parse("s.toml", &changed(changes), Path::new("")).unwrap();
        for outcome in simulate(&scenario).unwrap_or_else(|e| panic!("{changes:?}: {e}")) {
            assert_eq!((outcome.completed, outcome.late_events), (outcome.submitted, 0), "{changes:?}");
            assert!(outcome.moments.len() < 60_000, "{changes:?}: {}", outcome.moments.len());
        }
    }
}

#[test]
fn a_sweep_keeps_totals_and_says_which_of_its_values_are_wrong() {
    let scenario = Scenario::parse("s.toml", GOOD, Path::new("")).unwrap();
    let sweep = |text: &str| Axis::parse_list(text).and_then(|axes| Report::new(scenario.clone(), axes, 2));
    let report = sweep("proxy=1GB..1TB/3,rtt=1ms|10ms").unwrap();
    assert_eq!(report.points().len(), 6);
    for point in report.points() {
        for outcome in &point.outcomes {
            assert!(outcome.links.is_empty() && outcome.sites.is_empty() && outcome.moments.is_empty());
            assert!(outcome.completed > 0 && outcome.moved_bytes > 0 && outcome.disk_bytes > 0);
        }
    }
    assert!(!report.outcomes()[0].links.is_empty(), "of the scenario itself all is kept");
    for (text, expected) in [
        ("tasks=10|900000000", "with tasks = 900000000: "),
        ("cores=nan", "\"nan\" is not a number"),
        ("disk=1TB..1PB/1000,rtt=1ms..2ms/1000", "more than 10000 combinations"),
        ("rtt=nan|1ms", "nan"),
    ] {
        let told = sweep(text).map(|_| ()).unwrap_err().to_string();
        assert!(told.contains(expected), "{text}: {told}");
    }
}
