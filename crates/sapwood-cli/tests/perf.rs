//! `perf`, and the event logs that `--record` keeps.

mod common;

use common::{Folder, command, failure, json, sapwood, text};
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};

/// Entries of the sample: several clusters, some megabytes.
const ENTRIES: u64 = 60_000;

/// `sapwood serve` while a test lasts.
struct Server(Child, String);

impl Server {
    fn start(directory: &str) -> Self {
        let args = ["serve", directory, "--port", "0", "--delay", "5ms"];
        let mut child = command(&args).stdout(Stdio::piped()).spawn().expect("the server starts");
        let mut first = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut first).unwrap();
        let url = first.trim().rsplit(' ').next().unwrap().trim_end_matches('/').to_owned();
        Self(child, url)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn number(v: &Value, name: &str) -> u64 {
    v[name].as_u64().unwrap_or_else(|| panic!("{name} in {v}"))
}

#[test]
fn counts_the_bytes_of_the_chosen_branches() {
    let folder = Folder::new("perf-counts");
    let sample = folder.sample("a.root", ENTRIES, &[]);
    let show = json(&["show", &sample, "--json"]);
    let zipped = |name: &str| {
        let all = show["branches"].as_array().unwrap();
        let b = all.iter().find(|b| b["name"] == name).unwrap_or_else(|| panic!("{name} in {show}"));
        number(b, "compressed_bytes")
    };
    let stats = json(&["perf", &sample, "-b", "Muon_p?", "-b", "nMuon", "--json"]);
    let branches = stats["branches"].as_array().unwrap();
    let names: Vec<&str> = branches.iter().map(|b| b["name"].as_str().unwrap()).collect();
    for name in ["nMuon", "Muon_pt"] {
        let found = branches.iter().find(|b| b["name"] == format!("Events/{name}").as_str());
        let found = found.unwrap_or_else(|| panic!("{name} in {names:?}"));
        assert_eq!(number(found, "bytes"), zipped(name), "{name}");
    }
    let sum: u64 = branches.iter().map(|b| number(b, "bytes")).sum();
    assert_eq!(number(&stats, "read_bytes") - number(&stats, "extra_bytes"), sum);
    assert_eq!(number(&stats, "entries"), ENTRIES);
    let points = stats["points"].as_array().unwrap();
    assert_eq!(points.iter().map(|p| number(p, "len")).sum::<u64>(), number(&stats, "read_bytes"));
    assert!(number(&stats, "read_calls") <= points.len() as u64);
    assert_eq!(stats["hosts"][0]["host"], "local");
    assert_eq!(number(&stats, "bytes_fetched") - number(&stats, "bytes_wanted"), number(&stats, "bytes_wasted"));
    // a twentieth of the entries are in a part of the baskets
    let part = json(&["perf", &sample, "-b", "Muon_pt", "--entries", "0:3000", "--json"]);
    assert!(number(&part, "read_bytes") * 2 < zipped("Muon_pt"), "{part}");
    // a query reads the same, with what its cut needs
    let query = json(&["perf", &sample, "--draw", "Muon_pt", "--cut", "nMuon>1", "--json"]);
    assert_eq!(number(&query, "baskets"), {
        let both = json(&["perf", &sample, "-b", "Muon_pt", "-b", "nMuon", "--json"]);
        number(&both, "baskets")
    });
}

#[test]
fn kept_stats_look_the_same() {
    let folder = Folder::new("perf-keep");
    let sample = folder.sample("a.root", 5000, &[]);
    let (kept, svg, png) = (folder.path("s.json"), folder.path("s.svg"), folder.path("s.png"));
    let first = text(&["perf", &sample, &sample, "-b", "Muon_*", "-o", &kept, "-o", &svg]);
    let again = text(&["perf", "--load", &kept, "-o", &png]);
    assert_eq!(first, again);
    assert!(first.starts_with("TreeCache = ") && first.contains("\nReadTotal = "), "{first}");
    assert!(first.contains("\nround trips ") && first.contains("2 scans of 10000 entries"), "{first}");
    assert!(std::fs::read_to_string(&svg).unwrap().contains("real time, s"));
    assert!(std::fs::read(&png).unwrap().starts_with(b"\x89PNG"));
    assert_eq!(json(&["perf", "--load", &kept, "--json"])["scans"], 2);

    let (status, said) = failure(&["perf", "--load", &svg]);
    assert!(status == 1 && said.contains("s.svg") && said.contains("not I/O statistics"), "{said}");
    assert_eq!(failure(&["perf"]).0, 2);
    assert_eq!(failure(&["perf", &sample, "-o", "x.gif"]).0, 2);
    assert_eq!(failure(&["perf", &sample, "--if-cache", "1MB"]).0, 2);
    assert_eq!(failure(&["perf", &sample, "-b", "x", "--draw", "x"]).0, 2);
    let (status, said) = failure(&["perf", &sample, "-b", "Muon_pz"]);
    assert!(status == 1 && said.contains("Muon_pt"), "{said}");
    let (status, said) = failure(&["perf", &sample, "-b", "Moon*"]);
    assert!(status == 1 && said.contains("Moon*"), "{said}");
}

#[test]
fn a_server_is_counted_by_its_host() {
    let folder = Folder::new("perf-http");
    folder.sample("a.root", ENTRIES, &[]);
    let directory = folder.path("");
    let server = Server::start(directory.trim_end_matches('/'));
    let file = format!("{}/a.root", server.1);
    let log = folder.path("events.jsonl");
    let drawn = json(&["draw", &file, "Muon_pt", "nMuon>1", "--json", "--record", &log]);
    let stats = json(&["perf", &file, "--draw", "Muon_pt", "--cut", "nMuon>1", "--json"]);
    // how many requests depends on what the planner measures on its way
    for name in ["bytes_wanted", "baskets"] {
        assert_eq!(stats[name], drawn["io"][name], "{name}");
    }
    let host = &stats["hosts"][0];
    assert_eq!(format!("http://{}", host["host"].as_str().unwrap()), server.1);
    assert_eq!((number(host, "files"), number(host, "requests")), (1, number(&stats, "requests")));
    let trips = number(&stats, "round_trips");
    assert!(trips >= 2 && trips <= 2 + number(&stats, "requests"), "{stats}");
    assert!(number(&stats, "waits") >= 1 && stats["wire_wait_seconds"].as_f64().unwrap() > 0.0, "{stats}");
    let of_branches: f64 =
        stats["branches"].as_array().unwrap().iter().map(|b| b["wait_seconds"].as_f64().unwrap()).sum();
    assert!(of_branches <= stats["wire_wait_seconds"].as_f64().unwrap() * 1.001, "{stats}");
    let slowest = stats["slowest"]["what"].as_str().unwrap();
    assert!(slowest.starts_with("fetch ") && slowest.contains("Muon_pt["), "{slowest}");

    let replayed = json(&["perf", "--replay", &log, "--json"]);
    let scan = &replayed["scans"][0];
    assert_eq!((&scan["same"], &scan["file"]), (&Value::Bool(true), &Value::from(file)));
    assert!(number(scan, "actions") >= 1 && number(scan, "events") > number(scan, "baskets"), "{replayed}");
}

#[test]
fn a_recorded_scan_is_replayed_and_tried_elsewhere() {
    let folder = Folder::new("perf-replay");
    let sample = folder.sample("a.root", ENTRIES, &["--scattered"]);
    for (verb, more) in [("scan", &["run,Muon_pt", "--format", "csv"][..]), ("perf", &["-b", "Muon_*"])] {
        for cache in ["auto", "64kB", "0"] {
            let log = folder.path("events.jsonl");
            let mut args = vec![verb, &sample, "--record", &log, "--cache-size", cache];
            args.extend(more);
            text(&args);
            let scan = &json(&["perf", "--replay", &log, "--json"])["scans"][0];
            assert_eq!(scan["same"], true, "{verb} {cache}: {scan}");
        }
    }
    let log = folder.path("events.jsonl");
    text(&["perf", &sample, "-b", "Muon_*", "--record", &log]);
    let args = ["perf", "--replay", &log, "--if-cache", "0", "--if-cache", "100kB", "--if-cache", "30MB"];
    let mut far = args.to_vec();
    far.extend(["--if-round-trip", "0", "--if-round-trip", "100ms", "--json"]);
    let tried = json(&far)["scans"][0]["what_if"].as_array().unwrap().clone();
    assert_eq!(tried.len(), 7, "as it was, and every pair");
    let requests: Vec<u64> = tried.iter().map(|t| number(t, "requests")).collect();
    assert!(requests[4] > requests[5] && requests[5] >= requests[6], "{requests:?}");
    assert!(tried[4]["seconds"].as_f64() > tried[6]["seconds"].as_f64(), "{tried:?}");
    assert!(number(&tried[5], "max_held_bytes") < number(&tried[6], "max_held_bytes"), "{tried:?}");

    let told = text(&args);
    for words in ["want entries 0..", "fetch 0", " done: ", "replayed: the same ", "most held"] {
        assert!(told.contains(words), "{words} in {told}");
    }
    assert!(!told.contains("arrived"), "{told}");
    assert!(text(&["perf", "--replay", &log, "--all"]).contains("arrived Muon_"));
}

#[test]
fn a_log_that_does_not_replay_is_told() {
    let folder = Folder::new("perf-tamper");
    let sample = folder.sample("a.root", 5000, &[]);
    let log = folder.path("events.jsonl");
    text(&["scan", &sample, "Muon_pt", "--format", "csv", "--record", &log]);
    let lines = std::fs::read_to_string(&log).unwrap();
    // the planner never says that the first fetch was not urgent
    assert!(lines.contains("\"fetch\",0,true"), "{lines}");
    std::fs::write(&log, lines.replace("\"fetch\",0,true", "\"fetch\",0,false")).unwrap();
    let out = sapwood(&["perf", "--replay", &log]);
    let said = String::from_utf8_lossy(&out.stderr).into_owned();
    assert_eq!(out.status.code(), Some(1));
    assert!(said.contains("acts differently") && said.contains("events.jsonl"), "{said}");
    assert!(String::from_utf8_lossy(&out.stdout).contains("replayed: different"));

    std::fs::write(&log, lines.replacen("\"arrived\"", "\"arrives\"", 1)).unwrap();
    let (status, said) = failure(&["perf", "--replay", &log]);
    assert!(status == 1 && said.contains("line ") && said.contains("events.jsonl"), "{said}");
    std::fs::write(&log, "").unwrap();
    assert!(failure(&["perf", "--replay", &log]).1.contains("no recorded scan"));
}
