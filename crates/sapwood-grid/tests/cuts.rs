//! A workload with a cut reads the cut's branches first, as the scan that ships does: later bytes, the same bytes.

use sapwood_grid::{Outcome, Scenario, simulate};
use std::path::Path;

fn outcome(rtt: &str, cut: &str) -> Outcome {
    let text = format!(
        "
duration = '1h'
check_jobs = 5
policy = [{{ kind = 'pull', place = 'home' }}]
[[site]]
name = 'here'
cores = 4
[[site]]
name = 'there'
[[link]]
from = 'here'
to = 'there'
rtt = '{rtt}'
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
[[dataset.branch]]
name = 'n'
size = '7 MB'
[[workload]]
name = 'w'
site = 'here'
at = '1s'
branches = ['pt', 'n']
server = 'nginx'
{cut}
"
    );
    simulate(&Scenario::parse("s.toml", &text, Path::new("")).unwrap()).unwrap().remove(0)
}

#[test]
fn a_cut_costs_round_trips_and_no_bytes() {
    for (rtt, protocol) in [("20ms", "http"), ("20ms", "xrootd"), ("240ms", "http")] {
        let of = |cut: &str| outcome(rtt, &format!("protocol = '{protocol}'\n{cut}"));
        let (plain, cut) = (of(""), of("cut = 'n'"));
        let bytes = |o: &Outcome| o.moved_bytes - o.header_bytes;
        assert_eq!(bytes(&plain), bytes(&cut), "{rtt}: every basket has an entry that passes");
        let trip: f64 = rtt.trim_end_matches("ms").parse::<f64>().unwrap() * 1e-3;
        let longer = cut.median - plain.median;
        // what passes is known when the first values of the cut are there: round trips later, not one for each basket, and none while the
        // path is full. From 100 ms on as much as the cut has is requested along with it: here all. Of several connections, later requests
        // may end slow start earlier
        let least = if protocol == "http" && trip < 0.1 { -2.0 * trip } else { 0.0 };
        assert!(longer >= least && longer < 6.0 * trip, "{rtt}: {} {}", plain.median, cut.median);
        // the sample that is driven basket by basket has the cut, too
        let check = cut.check.unwrap();
        assert!(check.difference().abs() < 0.05, "{rtt}: {check:?}");
    }
}

#[test]
fn a_cut_on_all_that_is_read_changes_nothing() {
    let (plain, cut) = (outcome("20ms", ""), outcome("20ms", "cut = ['pt', 'n']"));
    assert_eq!((plain.median, plain.requests, plain.moved_bytes), (cut.median, cut.requests, cut.moved_bytes));
}
