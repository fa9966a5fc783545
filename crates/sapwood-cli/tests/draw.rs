//! `draw`, on files of our own and over HTTP from `serve`.

mod common;

use common::{Folder, command, failure, json, text};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};

/// `sapwood serve` while a test lasts.
struct Server {
    child: Child,
    url: String,
}

impl Server {
    fn start(directory: &str, more: &[&str]) -> Self {
        let mut args = vec!["serve", directory, "--port", "0"];
        args.extend(more);
        let mut child = command(&args).stdout(Stdio::piped()).spawn().expect("the server starts");
        let mut first = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut first).unwrap();
        let url = first.trim().strip_prefix(&format!("serving {directory} at ")).expect("the address").to_owned();
        Self { child, url }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn counts(drawn: &Value) -> Vec<f64> {
    drawn["histogram"]["counts"].as_array().unwrap().iter().map(|c| c.as_f64().unwrap()).collect()
}

#[test]
fn a_histogram_counts_what_a_scan_prints() {
    let folder = Folder::new("draw");
    let target = format!("{}:Events", folder.sample("a.root", 3000, &[]));
    let drawn = json(&["draw", &target, "Muon_pt>>pt(20,0,100)", "nMuon>=2", "--json", "--entries", "100:2500"]);
    let rows = json(&["scan", &target, "Muon_pt", "nMuon>=2", "--json", "--entries", "100:2500"]);
    let mut expected = [0.0; 22];
    let values: Vec<f64> = rows["rows"].as_array().unwrap().iter().map(|r| r[0].as_f64().unwrap()).collect();
    for x in &values {
        expected[if *x < 0.0 { 0 } else { 1 + ((x / 5.0) as usize).min(20) }] += 1.0;
    }
    let h = &drawn["histogram"];
    assert_eq!(counts(&drawn), expected[1..21]);
    assert_eq!((h["underflow"].as_f64(), h["overflow"].as_f64()), (Some(expected[0]), Some(expected[21])));
    assert_eq!(h["entries"], values.len());
    assert_eq!(h["axis"], json!({ "bins": 20, "low": 0.0, "high": 100.0 }));
    assert_eq!((&h["name"], &h["cut"]), (&json!("pt"), &json!("nMuon>=2")));
    let inside: Vec<f64> = values.iter().copied().filter(|x| *x < 100.0).collect();
    let mean = inside.iter().sum::<f64>() / inside.len() as f64;
    assert!((h["mean"].as_f64().unwrap() - mean).abs() < 1e-4 * mean);
    assert_eq!(drawn["entries"], 2400);
    // the option says the same as the expression, and an automatic axis holds everything
    let same = json(&[
        "draw",
        &target,
        "Muon_pt",
        "--cut",
        "nMuon>=2",
        "--bins",
        "20,0,100",
        "--json",
        "--entries",
        "100:2500",
    ]);
    assert_eq!(same["histogram"]["counts"], h["counts"]);
    let automatic = json(&["draw", &target, "Muon_pt", "--json"]);
    let all = automatic["histogram"]["entries"].as_f64().unwrap();
    assert_eq!(counts(&automatic).iter().sum::<f64>(), all);
}

#[test]
fn a_weight_is_not_only_yes_or_no() {
    let folder = Folder::new("weight");
    let sample = folder.sample("a.root", 500, &[]);
    let drawn = json(&["draw", &sample, "nMuon>>h(10,0,10)", "0.5*(nMuon>0)", "--json"]);
    let plain = json(&["draw", &sample, "nMuon>>h(10,0,10)", "--json"]);
    let half: Vec<f64> = counts(&plain).iter().enumerate().map(|(i, c)| if i == 0 { 0.0 } else { 0.5 * c }).collect();
    assert_eq!(counts(&drawn), half);
}

#[test]
fn pictures_of_every_kind() {
    let folder = Folder::new("pictures");
    let sample = folder.sample("a.root", 500, &[]);
    let [png, svg, numbers] = ["pt.png", "pt.svg", "pt.json"].map(|name| folder.path(name));
    let shown = text(&["draw", &sample, "MET_pt>>h(50,0,200)", "-o", &png, "-o", &svg, "-o", &numbers]);
    assert!(shown.contains("MET_pt") && shown.lines().count() > 5, "{shown}");
    assert!(std::fs::read(&png).unwrap().starts_with(b"\x89PNG\r\n\x1a\n"));
    assert!(std::fs::read_to_string(&svg).unwrap().contains("<svg"));
    let uhi: Value = serde_json::from_str(&std::fs::read_to_string(&numbers).unwrap()).unwrap();
    let drawn = json(&["draw", &sample, "MET_pt>>h(50,0,200)", "--json"]);
    let values = uhi["storage"]["values"].as_array().unwrap();
    let inside: Vec<f64> = values[1..51].iter().map(|v| v.as_f64().unwrap()).collect();
    assert_eq!(inside, counts(&drawn));
    let (status, said) = failure(&["draw", &sample, "MET_pt", "-o", &folder.path("no/such/folder.svg")]);
    assert!(status == 1 && said.contains("folder.svg"), "{said}");
}

#[test]
fn over_http_the_tree_cache_asks_less_often_for_the_same() {
    let folder = Folder::new("serve");
    let local = folder.sample("scattered.root", 20_000, &["--scattered"]);
    let server = Server::start(&folder.path("."), &[]);
    let target = format!("{}scattered.root:Events", server.url);
    let draw = |target: &str, cache: &str| {
        json(&["draw", target, "MET_pt>>h(100,0,200)", "nMuon>0", "--json", "--cache-size", cache])
    };
    let [none, auto, near] = [draw(&target, "0"), draw(&target, "auto"), draw(&local, "auto")];
    for other in [&none, &auto] {
        assert_eq!(other["histogram"], near["histogram"]);
    }
    let io = |v: &Value, name: &str| v["io"][name].as_u64().unwrap();
    assert!(io(&none, "requests") >= 5 * io(&auto, "requests"), "{} against {}", none["io"], auto["io"]);
    assert!(io(&none, "round_trips") >= 5 * io(&auto, "round_trips"), "{} against {}", none["io"], auto["io"]);
    assert_eq!(io(&none, "bytes_wanted"), io(&auto, "bytes_wanted"));
    assert!(io(&auto, "connections") >= 1);
    assert_eq!(json(&["ls", &format!("{}scattered.root", server.url), "--json"])["keys"][0]["name"], "Events");
    assert_eq!(failure(&["ls", &format!("{}absent.root", server.url)]).0, 1);
}

/// With 0, as `sapwood proxy`: to be stopped is how servers end.
#[cfg(unix)]
#[test]
fn a_server_that_is_asked_to_stop_ends_with_0() {
    for signal in ["-INT", "-TERM"] {
        let folder = Folder::new("interrupt");
        let mut server = Server::start(&folder.path("."), &[]);
        let pid = server.child.id().to_string();
        assert!(std::process::Command::new("kill").args([signal, &pid]).status().unwrap().success());
        assert_eq!(server.child.wait().unwrap().code(), Some(0), "{signal}");
    }
}
