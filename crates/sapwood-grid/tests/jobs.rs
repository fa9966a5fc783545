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
        let works = "branches = 'b*'\nthreads = 16\ncpu_per_entry = '100us'\ndecompression = '1 GB/s'";
        run(&[
            ("cores = 1000", "cores = 2"),
            ("rtt = '5ms'", "rtt = '10ms'"),
            ("bandwidth = '1 Gbit/s'", "bandwidth = '100 Mbit/s'"),
            ("files = 20", "files = 2"),
            ("file_size = '2 GB'", "file_size = '1 GB'"),
            ("entries = 100_000", "entries = 1000"),
            ("clusters = 10", &format!("clusters = {clusters}")),
            ("[[dataset.branch]]\nname = 'b'\ncount = 30\nsize = '2 MB'\n", ""),
            (works, &format!("share = 0.6\nstartup = '{startup}'\ncpu_per_entry = '100ms'")),
        ])
    };
    let [none, minute] = ["0s", "60s"].map(|startup| run(startup, 1));
    assert!((minute.median - none.median - 60.0).abs() < 0.1, "{} {}", none.median, minute.median);
    // 1200 MB over the line, decompressed as they come, and only then, with one cluster, the work on it
    assert!((199.4..201.0).contains(&none.median), "{}", none.median);
    let many = run("0s", 100);
    // on one core 6 s of decompression beside 100 s of work
    assert!((106.0..109.0).contains(&many.median), "{}", many.median);
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

/// Medians of jobs `a`, and of others `b` that begin later by so many milliseconds, over a long path.
fn meet(a: u32, b: u32, later: u32) -> [f64; 2] {
    let other = format!(
        "[[workload]]\nname = 'v'\nsite = 's'\nat = '{}ms'\nfiles = {b}\nthreads = 4\nprotocol = 'http'\n[[workload]]\nname = 'w'",
        3_600_000 + later
    );
    let outcome = run(&[
        ("rtt = '5ms'", "rtt = '100ms'"),
        ("file_size = '2 GB'", "file_size = '100 MB'"),
        ("entries = 100_000", "entries = 1000"),
        ("clusters = 10", "clusters = 5"),
        ("[[dataset.branch]]\nname = 'b'\ncount = 30\nsize = '2 MB'\n", "branches = 10\n"),
        (
            "at = '1h'\nfiles = 20\nbranches = 'b*'\nthreads = 16",
            &format!("at = '1h'\nfiles = {a}\nthreads = 4\nprotocol = 'http'"),
        ),
        ("cpu_per_entry = '100us'\ndecompression = '1 GB/s'\n", ""),
        ("[[workload]]\nname = 'w'", &other),
    ]);
    let of = |name: &str| outcome.workloads.iter().find(|w| w.name == name).unwrap().median;
    [of("w"), of("v")]
}

#[test]
fn jobs_are_slowed_by_others_while_these_are_there() {
    let [five, alone] = meet(5, 1, 60_000);
    let [first, with_five] = meet(5, 1, 0);
    // those that begin at the same time are alike, but for the time until rates are worked out (86 ms)
    assert!((first - with_five).abs() < 0.1, "{first} {with_five}");
    assert!(with_five > 1.5 * alone && five > 1.5 * alone, "{five} {alone} {with_five}");
    // one that comes later is met for a part of its time, and at the end for a moment
    let times = [0, 1000, 2000, 3000, 4000].map(|later| meet(5, 1, later)[1]);
    assert!(times.is_sorted_by(|a, b| a >= b), "{times:?}");
    let moment = meet(5, 1, (five * 1000.0) as u32 - 50)[1];
    assert!((alone..alone + 0.2).contains(&moment), "{alone} {moment}");
}

#[test]
fn larger_groups_are_not_faster() {
    let times = [1, 4, 5, 6, 8, 24].map(|jobs| {
        run(&[
            ("rtt = '5ms'", "rtt = '100ms'"),
            ("bandwidth = '1 Gbit/s'", "bandwidth = '10 Gbit/s'"),
            ("clusters = 10", "clusters = 60"),
            ("files = 20\nbranches", &format!("files = {jobs}\nbranches")),
            ("files = 20\nsite", "files = 30\nsite"),
            ("cpu_per_entry = '100us'", "cpu_per_entry = '2us'\nprotocol = 'http'\ncache = '100MB'"),
        ])
        .median
    });
    for pair in times.windows(2) {
        assert!(pair[1] > 0.95 * pair[0], "{times:?}");
    }
}

#[test]
fn a_job_that_computes_reads_ahead_as_far_as_the_client_does() {
    // 100 s of work on 1.2 GB, of which a cluster is 120 MB
    let with = |more: &str, outage: &str| {
        run(&[
            ("files = 20\nbranches", "files = 1\nbranches"),
            ("size = '2 MB'", "size = '40 MB'"),
            ("cpu_per_entry = '100us'", &format!("cpu_per_entry = '1ms'\n{more}")),
            ("rtt = '5ms'", &format!("rtt = '5ms'\n{outage}")),
        ])
        .median
    };
    let outage = "outage = [{ from = '3630s', for = '100s' }]";
    let [small, large] = ["cache = '10MB'", "cache = '2GB'"].map(|cache| with(cache, outage) - with(cache, ""));
    assert!((70.0..101.0).contains(&small), "{small}");
    assert!(large < 1.0, "{large}");
}

#[test]
fn a_task_without_files_keeps_no_other_from_its_start() {
    // the second of three tasks of one moment finds no dataset yet
    let early = "[[dataset]]\nname = 'late'\nfiles = 1\nsite = 'o'\nfile_size = '1 GB'\nentries = 10\ncreated = '2h'\n[[workload]]\nname = 'w'";
    let none =
        "decompression = '1 GB/s'\n[[workload]]\nname = 'none'\nsite = 's'\ndataset = 'late'\nat = '1h'\nfiles = 1";
    let both = run(&[
        ("[[workload]]\nname = 'w'", early),
        ("files = 20\nbranches", "dataset = 'd'\nfiles = 20\nbranches"),
        ("decompression = '1 GB/s'", none),
    ]);
    let alone = run(&[]);
    assert_eq!(both.workloads[0].median, alone.workloads[0].median);
}

/// Few large baskets that come side by side are of use at the end only, and what comes later than needed makes no job longer: as basket by
/// basket.
#[test]
fn a_few_jobs_at_once_are_as_long_as_basket_by_basket() {
    let check = |jobs: u32, protocol: &str, [bandwidth, size, clusters, work]: [&str; 4]| {
        let text = format!(
            "duration = '1h'\npolicy = [{{ kind = 'pull', place = 'home' }}]\n[[site]]\nname = 'a'\ncores = 100\n[[site]]\nname = 'b'
            [[link]]\nfrom = 'a'\nto = 'b'\nrtt = '5ms'\nbandwidth = '{bandwidth}'
            [[dataset]]\nname = 'd'\nfiles = {jobs}\nsite = 'b'\nfile_size = '{size}'\nentries = 1000\nclusters = {clusters}\nbranches = 10
            [[workload]]\nname = 'w'\nsite = 'a'\nat = '0s'\nprotocol = '{protocol}'\n{work}"
        );
        simulate(&Scenario::parse("s.toml", &text, Path::new("")).unwrap()).unwrap().remove(0).check.unwrap()
    };
    for jobs in [2, 3, 5] {
        for (protocol, path) in [
            ("http", ["1 Gbit/s", "43500 kB", "1", "decompression = '800 Mbit/s'"]),
            ("http", ["1 Gbit/s", "216 MB", "1", "decompression = '100 Mbit/s'\ncache = '10MB'"]),
            ("xrootd", ["10 Gbit/s", "11200 kB", "5", "decompression = '800 Mbit/s'\nthreads = 2"]),
        ] {
            let check = check(jobs, protocol, path);
            assert!(check.difference().abs() < 0.06, "{jobs} jobs, {protocol}, {path:?}: {check:?}");
        }
    }
}
