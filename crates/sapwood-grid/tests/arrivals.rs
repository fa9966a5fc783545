//! Bytes that are on their way to a cache are not there yet.

use sapwood_grid::{Outcome, Scenario, simulate};
use std::path::Path;

/// A site with a cache, and a file of 1 GB behind a line that takes 830 s for it.
fn site(cache: &str, outage: &str, workloads: &str) -> Outcome {
    let text = format!(
        "
duration = '1d'
check_jobs = 0
policy = [{{ kind = 'pull' }}]
[[site]]
name = 's'
cores = 100
{cache}
[[site]]
name = 'o'
[[link]]
from = 's'
to = 'o'
rtt = '30ms'
bandwidth = '10 Mbit/s'
{outage}
[[dataset]]
name = 'd'
files = 1
site = 'o'
file_size = '1 GB'
entries = 1000
clusters = 10
branches = 10
{workloads}
"
    );
    simulate(&Scenario::parse("s.toml", &text, Path::new("")).unwrap()).unwrap().remove(0)
}

fn reads(name: &str, at: &str, more: &str) -> String {
    format!("[[workload]]\nname = '{name}'\nsite = 's'\nat = [{at}]\n{more}\n")
}

const CACHES: [&str; 2] = ["proxy = '100 GB'", "local_cache = '100 GB'\nnodes = 1"];

#[test]
fn who_reads_what_another_one_fetches_waits_for_it() {
    for cache in CACHES {
        let many = site(cache, "", &reads("w", &vec!["'1h'"; 50].join(","), "cpu_per_entry = '1ms'"));
        // fetched once, and none has it before the line could carry it
        assert!(many.distribution[0] > 829.0, "{cache}: {:?}", many.distribution);
        assert!(many.p95 < 900.0, "{cache}: {}", many.p95);
        assert!((1_000_000_000..1_010_000_000).contains(&many.moved_bytes), "{cache}: {}", many.moved_bytes);
        // what has arrived is there
        let later = site(cache, "", &reads("w", "'1h', '2h'", "cpu_per_entry = '1ms'"));
        assert!(later.distribution[0] < 20.0, "{cache}: {:?}", later.distribution);
    }
}

#[test]
fn a_link_that_is_down_brings_nothing_to_caches() {
    let outage = "[[link.outage]]\nfrom = '61min'\nfor = '5h'";
    for cache in CACHES {
        let out = site(cache, outage, &reads("w", "'1h', '62min', '2h'", "cpu_per_entry = '1ms'"));
        assert_eq!(out.completed, 3);
        // the last one began an hour after the first, and five hours before the link was back
        assert!(out.distribution[0] > 4.0 * 3600.0, "{cache}: {:?}", out.distribution);
    }
}

#[test]
fn other_branches_and_slow_readers_are_not_waited_for() {
    let slow = "cpu_per_entry = '60s'\nbranches = ['branch-1']\n";
    let proxy = CACHES[0];
    // a job whose cache has room for them has all of its bytes after 83 s, however long it works on them
    let ahead = reads("slow", "'1h'", &format!("{slow}cache = '200MB'"));
    let ahead = site(proxy, "", &(ahead + &reads("fast", "'2h'", "branches = ['branch-1']")));
    let fast = ahead.workloads.iter().find(|w| w.name == "fast").unwrap();
    assert!(fast.median < 10.0, "{}", fast.median);
    // a minute for each of 1000 entries: nearly 17 hours, in which the bytes come as they are used
    let slow = reads("slow", "'1h'", &format!("{slow}cache = '0'"));
    let same = site(proxy, "", &(slow.clone() + &reads("fast", "'2h'", "branches = ['branch-1']")));
    let fast = same.workloads.iter().find(|w| w.name == "fast").unwrap();
    assert!((80.0..100.0).contains(&fast.median), "{}", fast.median);
    let other = site(proxy, "", &(slow + &reads("other", "'2h'", "branches = ['branch-2']")));
    let other = other.workloads.iter().find(|w| w.name == "other").unwrap();
    assert!((80.0..100.0).contains(&other.median), "{}", other.median);
}

#[test]
fn a_proxy_that_fetches_whole_files_has_them_when_they_have_arrived() {
    let whole = "proxy = '100 GB'\nfetch = 'files'";
    let first = reads("first", "'1h'", "branches = ['branch-1']");
    let soon = first + &reads("soon", "'3601s'", "branches = ['branch-2', 'branch-3']");
    let out = site(whole, "", &soon);
    let soon = out.workloads.iter().find(|w| w.name == "soon").unwrap();
    // alone it would take 166 s; the file is fetched beside the first reader's bytes
    assert!(soon.median > 160.0, "{}", soon.median);
    assert!((1_000_000_000..1_010_000_000).contains(&out.moved_bytes), "{}", out.moved_bytes);
}

#[test]
fn what_a_proxy_fetches_whole_stays_in_its_parent() {
    let text = "
duration = '10d'
check_jobs = 0
policy = [{ kind = 'pull' }]
[[site]]
name = 'o'
[[site]]
name = 'p'
proxy = '100 GB'
[[site]]
name = 'c'
cores = 10
proxy = '1 GB'
fetch = 'files'
parent = 'p'
[[link]]
from = 'p'
to = 'o'
rtt = '20ms'
bandwidth = '1 Gbit/s'
[[link]]
from = 'c'
to = 'p'
rtt = '5ms'
bandwidth = '10 Gbit/s'
[[dataset]]
name = 'd'
count = 2
files = 1
site = 'o'
file_size = '900 MB'
entries = 100_000
clusters = 10
[[workload]]
name = 'a'
site = 'c'
dataset = 'd-1'
at = ['0h', '2h', '4h', '6h']
share = 0.3
[[workload]]
name = 'b'
site = 'c'
dataset = 'd-2'
at = ['1h', '3h', '5h', '7h']
share = 0.3
";
    let out = simulate(&Scenario::parse("s.toml", text, Path::new("")).unwrap()).unwrap().remove(0);
    let carried: Vec<u64> = out.links.iter().map(|l| l.bytes[0] + l.bytes[1]).collect();
    assert!((1_800_000_000..1_830_000_000).contains(&carried[0]), "{carried:?}");
    assert!(carried[1] > 3 * carried[0], "{carried:?}");
}

#[test]
fn a_disk_that_delivers_next_to_nothing_ends_or_is_refused() {
    for storage in ["10 bit/s", "20 bit/s", "1 kbit/s"] {
        let text = "
duration = '2d'
check_jobs = 0
policy = [{ kind = 'pull' }]
[[site]]
name = 's'
cores = 20
[[site]]
name = 'o'
storage = 'STORAGE'
[[link]]
from = 's'
to = 'o'
rtt = '30ms'
bandwidth = '1 Gbit/s'
[[dataset]]
name = 'd'
count = 10
files = 10
site = 'o'
file_size = '10 GB'
entries = 10_000
clusters = 10
[[workload]]
name = 'w'
site = 's'
tasks_per_day = 20
";
        let scenario = Scenario::parse("s.toml", &text.replace("STORAGE", storage), Path::new("")).unwrap();
        match simulate(&scenario) {
            Ok(out) => assert!(out[0].completed > 0),
            Err(e) => assert!(e.to_string().contains("years"), "{storage}: {e}"),
        }
    }
}
