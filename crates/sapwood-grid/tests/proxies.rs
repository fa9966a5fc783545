//! A proxy opens a file at its origin before it reads there, unless it did so a moment ago.

use sapwood_grid::{Outcome, Scenario, simulate};
use std::path::Path;

/// Two branches of a dataset that are read.
const BRANCHES: &str = "
[[dataset.branch]]
name = 'pt'
size = '7 MB'
[[dataset.branch]]
name = 'n'
size = '7 MB'
";

/// Seconds of the jobs of one file, in the order of their lengths.
fn times(site: &str, at: &str) -> Vec<f64> {
    outcome(site, at, "auto").distribution.clone()
}

/// The same jobs, with a tree cache of this size.
fn outcome(site: &str, at: &str, cache: &str) -> Outcome {
    outcome_of(site, at, cache, "branches = ['pt']", "1 Gbit/s")
}

/// What jobs read may be chosen, and the bandwidth.
fn outcome_of(site: &str, at: &str, cache: &str, read: &str, bandwidth: &str) -> Outcome {
    let text = format!(
        "
duration = '1h'
check_jobs = 0
policy = [{{ kind = 'pull', place = 'home' }}]
[[site]]
name = 'here'
cores = 4
lan = '300us'
{site}
[[site]]
name = 'there'
[[link]]
from = 'here'
to = 'there'
rtt = '100ms'
bandwidth = '{bandwidth}'
[[dataset]]
name = 'd'
files = 1
site = 'there'
file_size = '300 MB'
entries = 300_000
basket = '4 kB'
{BRANCHES}
[[workload]]
name = 'w'
site = 'here'
at = [{at}]
{read}
startup = '0s'
decompression = '100 Gbit/s'
server = 'nginx'
cache = '{cache}'
"
    );
    simulate(&Scenario::parse("s.toml", &text, Path::new("")).unwrap()).unwrap().remove(0)
}

#[test]
fn a_proxy_fetches_ahead_for_jobs_with_a_small_tree_cache() {
    let proxy = "proxy = '10 GB'";
    for cache in ["0", "64 kB"] {
        let [direct, cold] = ["", proxy].map(|site| outcome(site, "'1s'", cache));
        let [cold_time, direct_time] = [&cold, &direct].map(|out| out.distribution[0]);
        assert!(cold_time < direct_time / 2.0, "{cache}: {cold_time} {direct_time}");
        assert!(cold_time > 7e6 * 8.0 / 1e9, "no faster than the link");
        // of other branches at most a megabyte; what the client has read of the beginning is not fetched again
        let [direct, cold] = [direct, cold].map(|out| out.moved_bytes - out.header_bytes);
        assert!((direct - 4096..direct + (1 << 20)).contains(&cold), "{cache}: {direct} {cold}");
    }
    // with a larger one the job asks far ahead itself
    let [large, less] = ["5 MB", "4 MB"].map(|cache| outcome(proxy, "'1s'", cache).distribution[0]);
    assert!((less / large - 1.0).abs() < 0.25, "{large} {less}");
}

#[test]
fn a_job_does_not_wait_for_what_is_fetched_ahead_and_not_read() {
    let read = "branches = ['pt', 'n']\nentries = 0.2";
    let of = |site| outcome_of(site, "'1s'", "0", read, "8 Mbit/s");
    let [direct, cold] = ["", "proxy = '10 GB'"].map(of);
    let seconds = |bytes: u64| bytes as f64 / 1e6;
    let more = cold.moved_bytes - direct.moved_bytes;
    assert!(more > 500_000, "much is fetched ahead: {more}");
    assert!(cold.distribution[0] < seconds(cold.moved_bytes), "{} for {}", cold.distribution[0], cold.moved_bytes);
    assert!(cold.distribution[0] > 0.95 * seconds(direct.moved_bytes), "{}", cold.distribution[0]);
    // the link carries it nevertheless
    assert_eq!(cold.links[0].bytes[1], cold.moved_bytes);
}

#[test]
fn a_proxy_that_has_nothing_makes_its_server_far_away_for_cuts() {
    // two branches, read in turns where the cut comes first, and together where it is known that waiting takes long
    let of = |protocol: &str, cut: &str| {
        let read = format!("branches = ['pt', 'n']\nprotocol = '{protocol}'{cut}");
        outcome_of("proxy = '10 GB'", "'1s'", "0", &read, "8 Mbit/s").moved_bytes
    };
    let [http, of_cut] = ["", "\ncut = 'n'"].map(|cut| of("http", cut));
    assert_eq!(http, of_cut, "all is requested in the same order");
    let [xrootd, of_cut] = ["", "\ncut = 'n'"].map(|cut| of("xrootd", cut));
    assert_ne!(xrootd, of_cut, "over XRootD the round trip of the connection counts");
}

#[test]
fn a_file_is_opened_at_its_origin_when_the_last_answer_is_too_old() {
    let proxy = "proxy = '10 GB'";
    let direct = times("", "'1s'")[0];
    let cold = times(proxy, "'1s'")[0];
    // connecting and the file's beginning, and a near client's long first request
    assert!((0.2..0.5).contains(&(cold - direct)), "{direct} {cold}");
    let soon = times(proxy, "'1s', '5s'")[0];
    assert!(soon < 0.1, "{soon}");
    let late = times(proxy, "'1s', '6s'")[0];
    assert!((late - soon - 0.2).abs() < 1e-6, "{soon} {late}");
    // what is in the node's own cache is not asked of the proxy
    let node = "local_cache = '10 GB'";
    let both = times(&format!("{proxy}\n{node}"), "'1s', '10min'")[0];
    assert_eq!(both, times(node, "'1s', '10min'")[0]);
}

#[test]
fn a_proxy_of_size_0_is_none() {
    let at = "'1s', '3s', '10min'";
    assert_eq!(times("proxy = 0", at), times("", at));
    let node = "local_cache = '10 GB'";
    assert_eq!(times(&format!("{node}\nproxy = 0"), at), times(node, at));
}

/// Of a file that a proxy keeps whole, behind a proxy that does so, too, one byte in ten is read.
#[test]
fn what_two_proxies_keep_is_not_read_once() {
    let text = |nearest: &str, parent: &str| {
        format!(
            "
check_jobs = 0
policy = [{{ kind = 'pull', place = 'home' }}]
[[site]]
name = 'here'
cores = 4
proxy = '10 GB'
parent = 'between'
{nearest}
[[site]]
name = 'between'
cores = 4
proxy = '10 GB'
{parent}
[[site]]
name = 'there'
[[link]]
from = 'here'
to = 'between'
rtt = '10ms'
bandwidth = '1 Gbit/s'
[[link]]
from = 'between'
to = 'there'
rtt = '10ms'
bandwidth = '1 Gbit/s'
[[dataset]]
name = 'd'
files = 1
site = 'there'
file_size = '1 GB'
entries = 300_000
[[workload]]
name = 'w'
site = 'here'
at = '1s'
share = 0.1
"
        )
    };
    let whole = "fetch = 'files'";
    let outcome = |nearest, parent| {
        let scenario = Scenario::parse("s.toml", &text(nearest, parent), Path::new("")).unwrap();
        simulate(&scenario).unwrap().remove(0)
    };
    for (nearest, parent) in [(whole, whole), (whole, ""), ("", whole)] {
        let out = outcome(nearest, parent);
        let gigabytes = |bytes: u64| bytes as f64 * 1e-9;
        let (moved, unread) = (gigabytes(out.moved_bytes - out.header_bytes), gigabytes(out.unread_bytes));
        assert!((moved - 1.0).abs() < 0.01 && (unread - 0.9).abs() < 0.01, "{nearest}, {parent}: {unread} of {moved}");
    }
    let out = outcome("", "");
    assert_eq!(out.unread_bytes, 0);
    // what the parent has, and the nearest proxy has not, passes a link again
    let again = text(whole, whole).replace("here'\nat = '1s'", "*'\nat = '1s'");
    let scenario = Scenario::parse("s.toml", &again, Path::new("")).unwrap();
    let again = simulate(&scenario).unwrap().remove(0);
    assert!(again.unread_bytes < again.moved_bytes, "{} of {}", again.unread_bytes, again.moved_bytes);
}

#[test]
fn what_is_fetched_ahead_comes_when_all_that_a_job_waits_for_has_come() {
    // a part of what the job reads is at its proxy's parent, the rest comes over a full link
    let text = format!(
        "
duration = '1h'
check_jobs = 0
policy = [{{ kind = 'pull', place = 'home' }}]
[[site]]
name = 'b'
cores = 100
proxy = '10 GB'
parent = 'a'
[[site]]
name = 'a'
cores = 100
proxy = '10 GB'
[[site]]
name = 'origin'
[[link]]
from = 'b'
to = 'a'
rtt = '1ms'
bandwidth = '1 Gbit/s'
[[link]]
from = 'a'
to = 'origin'
rtt = '50ms'
bandwidth = '8 Mbit/s'
[[dataset]]
name = 'd'
files = 1
site = 'origin'
file_size = '100 MB'
entries = 7000
basket = '4 kB'
{BRANCHES}
[[dataset]]
name = 'e'
files = 8
site = 'origin'
file_size = '100 MB'
entries = 7000
[[workload]]
name = 'first'
dataset = 'd'
site = 'a'
at = ['1s']
branches = ['pt']
startup = '0s'
entries = 0.2
cache = '0'
[[workload]]
name = 'noise'
dataset = 'e'
site = 'a'
at = ['99s']
startup = '0s'
entries = 0.1
[[workload]]
name = 'w'
dataset = 'd'
site = 'b'
at = ['100s']
branches = ['pt', 'n']
entries = 0.2
startup = '0s'
cache = '0'
"
    );
    let outcome = simulate(&Scenario::parse("s.toml", &text, Path::new("")).unwrap()).unwrap().remove(0);
    let job = outcome.workloads.iter().find(|w| w.name == "w").unwrap();
    // in between, it would share the link with the job's own bytes: 17.4 s
    assert!((15.0..17.0).contains(&job.median), "{}", job.median);
}
