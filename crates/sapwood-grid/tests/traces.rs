//! Traces of real reads are replayed: each read is a task at its time.

use sapwood_grid::{Report, Scenario, simulate};
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

/// Reads of all lengths of files of all sizes, some more than once: exact whatever their number and whoever has them.
#[test]
fn bytes_are_those_of_the_trace() {
    let sizes = [1u64, 777, 99_999, 1_234_567, 2_345_678_901, 40_000_000_007];
    let mut reads = Vec::new();
    let mut distinct = 0;
    for (file, &size) in sizes.iter().enumerate() {
        let mut longest = 0;
        for (i, read) in [size / 1000 + 1, size / 7 + 1, size, size / 3 + 1, size / 100_000 + 1].into_iter().enumerate()
        {
            longest = longest.max(read.min(size));
            reads.push((file, size, read.min(size), 1_700_000_000 + 100_000 * (i as u64 + 10 * file as u64)));
        }
        distinct += longest;
    }
    let names = ["a", "b", "c", "d", "e", "f"];
    let trace = xcache(&reads.iter().map(|&(f, size, read, time)| (names[f], size, read, time)).collect::<Vec<_>>());
    let folder = folder("exact", &trace);
    let all: u64 = reads.iter().map(|r| r.2).sum();
    let run = |sites: &str| simulate(&Scenario::parse("s.toml", sites, &folder).unwrap()).unwrap().remove(0);
    let roomy = SITES.replace("'10 GB'", "'100 TB'");
    let out = run(&roomy);
    let proxy = out.proxies.unwrap();
    assert_eq!(proxy.hit_bytes + proxy.miss_bytes, all);
    assert_eq!(proxy.miss_bytes, distinct, "what was read before is in the proxy");
    assert_eq!(proxy.most_bytes, distinct);
    // bytes between baskets do not come with reads from the beginning of a file on
    assert_eq!((out.moved_bytes - out.header_bytes - out.unread_bytes, out.completed), (distinct, reads.len() as u64));
    // without a proxy every byte passes the line
    let out = run(&SITES.replace("proxy = '10 GB'\n", ""));
    assert_eq!(out.moved_bytes - out.header_bytes - out.unread_bytes, all);
    // whole files
    let out = run(&roomy.replace("proxy = '100 TB'", "proxy = '100 TB'\nfetch = 'files'"));
    let proxy = out.proxies.unwrap();
    assert_eq!(proxy.hit_bytes + proxy.miss_bytes, all);
    assert_eq!(proxy.most_bytes, sizes.iter().sum::<u64>());
    // copies
    let pushed = roomy.replace("kind = 'pull'", "kind = 'push'").replace("proxy = '100 TB'", "disk = '100 TB'");
    let out = run(&pushed);
    assert_eq!((out.copied_bytes, out.moved_bytes), (sizes.iter().sum::<u64>(), sizes.iter().sum::<u64>()));
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn what_is_read_twice_by_one_reader_is_a_hit_the_second_time() {
    let size = 1_000_000_000;
    let folder = folder("again", &xcache(&[("a", size, 5 * size / 2, 1_700_000_000), ("b", size, 0, 1_700_000_001)]));
    let scenario = Scenario::parse("s.toml", SITES, &folder).unwrap();
    let out = simulate(&scenario).unwrap().remove(0);
    let proxy = out.proxies.unwrap();
    assert_eq!((proxy.hit_bytes, proxy.miss_bytes, out.completed), (3 * size / 2, size, 1));
    // in a cache of a tenth of the file a tenth of it
    let small = Scenario::parse("s.toml", &SITES.replace("'10 GB'", "'100 MB'"), &folder).unwrap();
    let proxy = simulate(&small).unwrap().remove(0).proxies.unwrap();
    assert_eq!(proxy.hit_bytes + proxy.miss_bytes, 5 * size / 2);
    assert!((1_300_000_000..1_500_000_000).contains(&(proxy.miss_bytes - size)), "{}", proxy.miss_bytes);
    // without one everything passes the line
    let bare = Scenario::parse("s.toml", &SITES.replace("proxy = '10 GB'\n", ""), &folder).unwrap();
    let out = simulate(&bare).unwrap().remove(0);
    assert_eq!(out.moved_bytes - out.header_bytes - out.unread_bytes, 5 * size / 2);
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn the_time_of_a_read_is_that_of_its_bytes() {
    // 1 Gbit/s carries 120 MB of files in a second; the last read waits for little more than round trips
    let size = 100_000_000_000;
    let reads = [size, size / 10, size / 1000, 200_000].map(|read| ("a", size, read, 1_700_000_000));
    for (read, (low, high)) in reads.iter().zip([(828.0, 850.0), (82.0, 90.0), (0.8, 1.2), (0.05, 0.4)]) {
        let folder = folder("time", &xcache(&[*read]));
        let out = simulate(&Scenario::parse("s.toml", SITES, &folder).unwrap()).unwrap().remove(0);
        assert!((low..high).contains(&out.median), "{} bytes take {} s", read.2, out.median);
        std::fs::remove_dir_all(folder).unwrap();
    }
}

#[test]
fn all_kinds_of_reads_of_a_trace_are_one_workload_of_the_report() {
    let reads: Vec<_> = (1..60u64).map(|i| ("a", 1_000_000_000, i * i * 10_000, 1_700_000_000 + i * 60)).collect();
    let folder = folder("kinds", &xcache(&reads));
    let scenario = Scenario::parse("s.toml", SITES, &folder).unwrap();
    assert!(scenario.workloads.len() > 10);
    let out = simulate(&scenario).unwrap().remove(0);
    let workloads: Vec<_> = out.workloads.iter().map(|w| (w.name.as_str(), w.tasks)).collect();
    assert_eq!(workloads, [("trace.json", 59)]);
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn traces_that_cannot_be_read_are_refused() {
    let folder = folder("wrong", &xcache(&[("a", 10, 9_000_000_000_000_000_000, 1_700_000_000)]));
    let error = Scenario::parse("s.toml", SITES, &folder).unwrap_err().to_string();
    assert!(error.contains("line 17: trace.file: the reads have more than 1 EB"), "{error}");
    let bare = SITES.replace("'trace.json'", "'.'");
    let error = Scenario::parse("s.toml", &bare, &folder).unwrap_err().to_string();
    assert!(error.contains("line 17: trace.file: .: is not a file"), "{error}");
    std::fs::write(folder.join("trace.json"), "no record\n").unwrap();
    let error = Scenario::parse("s.toml", SITES, &folder).unwrap_err().to_string();
    assert!(error.contains("line 1: ") && error.contains("give the trace's format = \"perf\""), "{error}");
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn reads_after_the_end_are_told() {
    let folder = folder("late", &xcache(&[("a", 1000, 10, 1_700_000_000), ("a", 1000, 10, 1_700_100_000)]));
    let scenario = Scenario::parse("s.toml", &format!("duration = '1d'\n{SITES}"), &folder).unwrap();
    let mut text = Vec::new();
    Report::new(scenario, Vec::new(), 1).unwrap().write(&mut text).unwrap();
    let text = String::from_utf8(text).unwrap();
    assert!(text.contains("1 read of the traces would begin after the duration"), "{text}");
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn cores_that_are_idle_are_not_in_use() {
    // two cores of four work for a day of four
    let sites = SITES.replace("check_jobs = 0", "check_jobs = 0\nduration = '4d'");
    let sites = sites.replace("origin = 'far'", "origin = 'far'\nwork = '80 kbit/s'");
    let day = 86_400 * 10_000;
    let folder = folder("cores", &xcache(&[("a", day, day, 1_700_000_000), ("b", day, day, 1_700_000_000)]));
    let scenario = Scenario::parse("s.toml", &sites, &folder).unwrap();
    let out = simulate(&scenario).unwrap().remove(0);
    assert!((out.utilisation() - 1.0 / 8.0).abs() < 0.002, "{}", out.utilisation());
    assert!(out.cpu_efficiency().unwrap() > 0.99);
    assert_eq!(out.moments.iter().map(|m| m.busy).max(), Some(2));
    // where no job ran no efficiency is known
    let later = Scenario { reads: Vec::new(), ..scenario };
    let out = simulate(&later).unwrap().remove(0);
    assert_eq!((out.utilisation(), out.cpu_efficiency()), (0.0, None));
    std::fs::remove_dir_all(folder).unwrap();
}

/// A log is often several files, of one time and of the same files.
#[test]
fn several_traces_are_of_one_time_and_of_the_same_files() {
    let gigabyte = 1_000_000_000;
    let reads: Vec<(&str, u64, u64, u64)> =
        (0..20).map(|i| (["a", "b", "c"][i as usize % 3], gigabyte, gigabyte / 2, 1_700_000_000 + 600 * i)).collect();
    let folder = folder("several", &xcache(&reads));
    let outcome = |sites: &str| {
        let scenario = Scenario::parse("s.toml", sites, &folder).unwrap();
        let files: u64 = scenario.datasets.iter().map(|d| d.files).sum();
        let times: Vec<u64> = scenario.reads.iter().map(|r| r.time / 1_000_000_000).collect();
        let out = simulate(&scenario).unwrap().remove(0);
        (files, scenario.seconds(), times, out.moved_bytes, out.proxies)
    };
    let one = outcome(SITES);
    assert_eq!(one.0, 3);
    // every second record in another file
    for (i, name) in ["even.json", "odd.json"].into_iter().enumerate() {
        let some: Vec<_> = reads.iter().skip(i).step_by(2).copied().collect();
        std::fs::write(folder.join(name), xcache(&some)).unwrap();
    }
    let (before, table) = SITES.split_at(SITES.find("[[trace]]").unwrap());
    let tables = ["even.json", "odd.json"].map(|name| table.replace("trace.json", name));
    assert_eq!(outcome(&format!("{before}{}{}", tables[0], tables[1])), one);
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_trace_without_times_is_as_long_as_it_lasts() {
    let line = "10.0.0.1 root open \"/a\" 0 0 0.1\n10.0.0.1 root read \"/a\" 0 700000 0.1\n";
    let folder = folder("lasts", &line.repeat(2));
    let text = format!("{SITES}file_size = '1 MB'\nlasts = '1d'\n");
    let scenario = Scenario::parse("s.toml", &text, &folder).unwrap();
    assert_eq!(scenario.seconds(), 86400.0);
    assert_eq!(scenario.reads.iter().map(|r| r.time / 1_000_000_000).collect::<Vec<_>>(), [0, 43200]);
    std::fs::remove_dir_all(folder).unwrap();
}

/// Reads are shorter than the distance of two points.
#[test]
fn the_time_line_of_the_network_is_all_that_was_moved() {
    let file = |i: u64| ["a", "b", "c", "d"][i as usize % 4];
    let reads: Vec<_> = (0..50).map(|i| (file(i), 50_000_000, 50_000_000, 1_700_000_000 + 86400 * i)).collect();
    let folder = folder("network", &xcache(&reads));
    let text = SITES.replace("proxy = '10 GB'", "");
    let scenario = Scenario::parse("s.toml", &text, &folder).unwrap();
    let out = simulate(&scenario).unwrap().remove(0);
    let steps = out.moments.windows(2).map(|pair| (pair[1].seconds - pair[0].seconds) * pair[1].network);
    let sum: f64 = steps.sum();
    assert!((sum / out.moved_bytes as f64 - 1.0).abs() < 1e-3, "{sum} {}", out.moved_bytes);
    std::fs::remove_dir_all(folder).unwrap();
}

/// Disk is paid for as long as something happens, not until the next point of the time lines.
#[test]
fn costs_end_with_the_last_job() {
    let reads = xcache(&[("a", 50_000_000, 50_000_000, 1_700_000_000), ("a", 50_000_000, 50_000_000, 1_700_086_400)]);
    let folder = folder("costs", &reads);
    let text = format!("{SITES}\n[prices]\ndisk_tb_month = 3000000\n");
    let out = simulate(&Scenario::parse("s.toml", &text, &folder).unwrap()).unwrap().remove(0);
    // 10 GB for a day and a moment, at 3 million for a TB and 30 days
    assert!((1000.0..1000.1).contains(&out.cost[0]), "{:?}", out.cost);
    std::fs::remove_dir_all(folder).unwrap();
}
