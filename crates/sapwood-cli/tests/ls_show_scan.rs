//! `ls`, `show` and `scan` on files of our own.

mod common;

use common::{Folder, failure, json, text};
use serde_json::{Value, json};

#[test]
fn ls_lists_keys_with_class_size_and_cycle() {
    let folder = Folder::new("ls");
    let sample = folder.sample("a.root", 500, &[]);
    let lines: Vec<String> = text(&["ls", &sample]).lines().map(str::to_owned).collect();
    assert_eq!(lines.len(), 2, "{lines:?}");
    assert!(lines[0].starts_with("class") && lines[1].starts_with("TTree ") && lines[1].ends_with(" Events;1"));
    let long = text(&["ls", "-l", "-r", &sample]);
    assert!(long.contains("made-up collisions") && long.contains("2026-01-01 "), "{long}");
    let listing = json(&["ls", &sample, "--json"]);
    assert_eq!(listing["bytes"], std::fs::metadata(&sample).unwrap().len());
    let key = &listing["keys"][0];
    assert_eq!((&key["path"], &key["class"], &key["cycle"]), (&json!("Events"), &json!("TTree"), &json!(1)));
    assert!(key["uncompressed_bytes"].as_u64() > key["compressed_bytes"].as_u64());
    // the one object that is named
    assert_eq!(json(&["ls", &format!("{sample}:Events"), "--json"])["keys"], listing["keys"]);
    assert_eq!(failure(&["ls", &format!("{sample}:nothing")]).0, 1);
}

#[test]
fn show_tells_what_the_tree_is_made_of() {
    let folder = Folder::new("show");
    let sample = folder.sample("a.root", 25_000, &[]);
    let shown = text(&["show", &sample]);
    assert!(shown.starts_with("TTree Events: made-up collisions\n25 000 entries in 3 clusters of 10 000"), "{shown}");
    let tree = json(&["show", &sample, "--json"]);
    assert_eq!(tree["clusters"], json!([0, 10_000, 20_000, 25_000]));
    let branches = tree["branches"].as_array().unwrap();
    let branch = |name: &str| branches.iter().find(|b| b["path"] == name).unwrap();
    assert_eq!(branch("Muon_pt")["type"], "float[]");
    assert_eq!(branch("Muon_pt")["column_type"], "var * float32");
    assert_eq!(branch("weight")["column_type"], "3 * float32");
    assert_eq!(branch("Muon_pt")["unsupported"], Value::Null);
    assert_eq!(branch("Muon_pt")["baskets"], 3);
    assert_eq!(branch("Muon_pt")["compression"], "zlib 1");
    let sum: u64 = branches.iter().filter_map(|b| b["compressed_bytes"].as_u64()).sum();
    assert_eq!(tree["compressed_bytes"], sum);
}

#[test]
fn scan_prints_instances_of_expressions() {
    let folder = Folder::new("scan");
    let sample = folder.sample("a.root", 300, &[]);
    let target = format!("{sample}:Events");
    let whole = json(&["scan", &target, "--json", "--entries", "10:20"]);
    let at = |name: &str| whole["columns"].as_array().unwrap().iter().position(|c| c == name).unwrap();
    let (event, n, pt) = (at("event"), at("nMuon"), at("Muon_pt"));
    let mut expected = Vec::new();
    for row in whole["rows"].as_array().unwrap() {
        assert_eq!(row[n].as_u64(), row[pt].as_array().map(|a| a.len() as u64));
        if row[n].as_u64() >= Some(2) {
            expected.extend(row[pt].as_array().unwrap().iter().map(|x| json!([row[event], x])));
        }
    }
    assert!(expected.len() > 4);
    let rows = json(&["scan", &target, "event:Muon_pt", "nMuon>=2", "--json", "--entries", "10:20"]);
    assert_eq!(rows["rows"], Value::Array(expected));
    assert_eq!(rows["entries"], 10);
    assert!(
        rows["io"]["requests"].as_u64() > Some(0) && rows["io"]["bytes_wanted"].as_u64() > Some(0),
        "{}",
        rows["io"]
    );
}

#[test]
fn scan_speaks_tables_csv_and_json_lines() {
    let folder = Folder::new("formats");
    let sample = folder.sample("a.root", 300, &[]);
    let table = text(&["scan", &sample, "event,nMuon", "--limit", "3"]);
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(lines.len(), 4, "{table}");
    assert_eq!(lines[0].split_whitespace().collect::<Vec<_>>(), ["entry", "event", "nMuon"]);
    let csv = text(&["scan", &sample, "event,nMuon", "--format", "csv"]);
    assert_eq!(csv.lines().next(), Some("event,nMuon"));
    assert_eq!(csv.lines().count(), 301);
    let lines = text(&["scan", &sample, "event:nMuon", "--format", "jsonl", "--limit", "3"]);
    for (line, row) in lines.lines().zip(csv.lines().skip(1)) {
        let object: Value = serde_json::from_str(line).unwrap();
        assert_eq!(format!("{},{}", object["event"], object["nMuon"]), row);
    }
    // a cut without expressions chooses whole entries
    let chosen = text(&["scan", &sample, "--cut", "Muon_pt>30", "--format", "csv"]);
    let counted = json(&["scan", &sample, "event", "Max$(Muon_pt)>30", "--json"]);
    assert_eq!(chosen.lines().count() - 1, counted["rows"].as_array().unwrap().len());
    let none = text(&["scan", &sample, "event", "nMuon>1000"]);
    assert_eq!(none.split_whitespace().collect::<Vec<_>>(), ["entry", "event"]);
}

#[test]
fn a_limited_scan_reads_only_the_beginning() {
    let folder = Folder::new("limit");
    let sample = folder.sample("a.root", 40_000, &[]);
    let few = json(&["scan", &sample, "MET_pt:Muon_pt", "--limit", "10", "--json"]);
    let all = json(&["scan", &sample, "MET_pt:Muon_pt", "--json"]);
    assert_eq!(few["rows"].as_array().unwrap().len(), 10);
    assert_eq!(few["rows"][9], all["rows"][9]);
    let bytes = |v: &Value| v["io"]["bytes_wanted"].as_u64().unwrap();
    assert!(2 * bytes(&few) < bytes(&all), "{} of {}", bytes(&few), bytes(&all));
}

#[test]
fn mistyped_names_are_suggested() {
    let folder = Folder::new("names");
    let sample = folder.sample("a.root", 100, &[]);
    for args in [["scan", &sample, "Muon_ptt"], ["draw", &sample, "Muon_ptt"]] {
        let (status, said) = failure(&args);
        assert!(status == 1 && said.contains("Muon_pt") && said.contains('^'), "{said}");
    }
    let (status, said) = failure(&["scan", &sample, "MET_pt +"]);
    assert!(status == 1 && said.contains('^'), "{said}");
}
