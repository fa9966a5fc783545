//! Traces of real reads are replayed: each read is a task at its time.

use sapwood_grid::{Scenario, simulate};
use std::fmt::Write;
use std::path::PathBuf;

const SITES: &str = "
check_jobs = 0
[[site]]
name = 'here'
cores = 4
proxy = '10 GB'
[[site]]
name = 'far'
[[link]]
from = 'here'
to = 'far'
rtt = '20ms'
bandwidth = '1 Gbit/s'
[[policy]]
kind = 'pull'
[[trace]]
file = 'trace.json'
site = 'here'
origin = 'far'
";

/// A directory with a trace.
fn folder(name: &str, trace: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("sapwood-grid-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("trace.json"), trace).unwrap();
    folder
}

fn xcache(reads: &[(&str, u64, u64, u64)]) -> String {
    reads.iter().fold(String::new(), |mut out, (file, size, read, time)| {
        writeln!(
            out,
            "{{\"event\":\"file_close\",\"lfn\":\"/{file}\",\"size\":{size},\"attach_t\":{time},\"b_miss\":{read}}}"
        )
        .unwrap();
        out
    })
}

#[test]
fn every_read_is_a_task_at_its_time() {
    let gigabyte = 1_000_000_000;
    let trace = xcache(&[
        ("a", gigabyte, gigabyte / 2, 1_700_000_000),
        ("b", gigabyte, gigabyte, 1_700_000_100),
        // the first half again, from the proxy; then all of it, of which the proxy has a half
        ("a", gigabyte, gigabyte / 2, 1_700_003_600),
        ("a", gigabyte, gigabyte, 1_700_007_200),
    ]);
    let folder = folder("times", &trace);
    let scenario = Scenario::parse("s.toml", SITES, &folder).unwrap();
    assert_eq!(scenario.seconds(), 7200.0);
    assert_eq!(scenario.reads.iter().map(|r| r.time / 1_000_000_000).collect::<Vec<_>>(), [0, 100, 3600, 7200]);
    let out = simulate(&scenario).unwrap().remove(0);
    assert_eq!((out.submitted, out.completed), (4, 4));
    let proxy = out.proxies.unwrap();
    let moved = (out.moved_bytes - out.header_bytes) as f64 / gigabyte as f64;
    assert!((1.98..2.03).contains(&moved), "a half, all, nothing, a half: {moved}");
    assert!((proxy.hit_bytes as f64 / 1e9 - 1.0).abs() < 0.03, "{}", proxy.hit_bytes);
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn what_a_trace_lacks_the_scenario_must_have() {
    let log = "10.0.0.1 http GET \"/store/a.root\" 206 1000 1.2\n10.0.0.2 http GET \"/store/b.root\" 206 5000 1.0\n";
    let folder = folder("log", log);
    let parsed = |more: &str| Scenario::parse("s.toml", &format!("{SITES}{more}"), &folder);
    let error = parsed("").unwrap_err().to_string();
    assert!(error.contains("line 17") && error.contains("lasts"), "{error}");
    let error = parsed("lasts = '1h'").unwrap_err().to_string();
    assert!(error.contains("file_size") && error.contains("does not tell how large"), "{error}");
    let scenario = parsed("lasts = '1h'\nfile_size = '2 GB'").unwrap();
    assert_eq!(scenario.reads.iter().map(|r| r.time / 1_000_000_000).collect::<Vec<_>>(), [0, 1800]);
    assert_eq!(simulate(&scenario).unwrap()[0].completed, 2);
    let error = parsed("format = 'csv'").unwrap_err().to_string();
    assert!(error.contains("\"csv\" is no format of traces"), "{error}");
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_site_that_the_scenario_has_is_that_of_the_reader() {
    let trace = "{\"eventType\":\"download\",\"localSite\":\"far\",\"scope\":\"s\",\"filename\":\"f\",\"filesize\":1000000,\"clientState\":\"DONE\",\"traceTimeentryUnix\":1700000000}\n{\"eventType\":\"download\",\"localSite\":\"elsewhere\",\"scope\":\"s\",\"filename\":\"f\",\"filesize\":1000000,\"clientState\":\"DONE\",\"traceTimeentryUnix\":1700000001}\n";
    let folder = folder("sites", trace);
    let scenario = Scenario::parse("s.toml", SITES, &folder).unwrap();
    assert_eq!(scenario.reads.iter().map(|r| r.home).collect::<Vec<_>>(), [1, 0]);
    std::fs::remove_dir_all(folder).unwrap();
}
