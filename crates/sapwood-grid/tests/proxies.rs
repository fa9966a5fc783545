//! A proxy opens a file at its origin before it reads there, unless it did so a moment ago.

use sapwood_grid::{Scenario, simulate};
use std::path::Path;

/// Seconds of the jobs of one file, in the order of their lengths.
fn times(site: &str, at: &str) -> Vec<f64> {
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
bandwidth = '1 Gbit/s'
[[dataset]]
name = 'd'
files = 1
site = 'there'
file_size = '300 MB'
entries = 300_000
basket = '4 kB'
[[dataset.branch]]
name = 'pt'
size = '7 MB'
[[workload]]
name = 'w'
site = 'here'
at = [{at}]
branches = ['pt']
startup = '0s'
decompression = '100 Gbit/s'
server = 'nginx'
"
    );
    let out = simulate(&Scenario::parse("s.toml", &text, Path::new("")).unwrap()).unwrap().remove(0);
    out.distribution.clone()
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
