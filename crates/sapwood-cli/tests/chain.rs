//! `draw` and `scan` over several files and chosen entries.

mod common;

use common::{Folder, failure, json, sapwood, text};
use serde_json::Value;

/// Entry numbers and values of a scan.
fn rows(args: &[&str]) -> Vec<Vec<f64>> {
    let printed = text(args);
    printed.lines().skip(1).map(|l| l.split(',').map(|x| x.parse().unwrap()).collect()).collect()
}

fn counts(drawn: &Value) -> Vec<f64> {
    drawn["histogram"]["counts"].as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
}

#[test]
fn several_files_are_one_chain() {
    let folder = Folder::new("chain");
    let files: Vec<String> =
        (0..3).map(|i| folder.sample(&format!("part-{i}.root"), 500 + 100 * i, &["--seed", &i.to_string()])).collect();
    let each: Vec<Vec<Vec<f64>>> = files
        .iter()
        .map(|f| rows(&["scan", &format!("{f}:Events"), "Entry$,event,nMuon", "--format", "csv"]))
        .collect();
    assert_eq!(each.iter().map(Vec::len).collect::<Vec<_>>(), [500, 600, 700]);
    // entries are counted through
    let all: Vec<Vec<f64>> = each.concat().into_iter().enumerate().map(|(n, r)| vec![n as f64, r[1], r[2]]).collect();
    let pattern = format!("{}:Events", folder.path("part-*.root"));
    assert_eq!(rows(&["scan", &pattern, "Entry$,event,nMuon", "--format", "csv"]), all);
    let added = ["scan", &files[0], "Entry$,event,nMuon", "--format", "csv", "--add", &files[1], "--add", &files[2]];
    assert_eq!(rows(&added), all);
    let list = folder.path("list.txt");
    std::fs::write(&list, format!("# all\n{}:Events\n{}\n\n{}\n", files[0], files[1], files[2])).unwrap();
    assert_eq!(rows(&["scan", &format!("@{list}"), "Entry$,event,nMuon", "--format", "csv"]), all);

    let some = |entries: &str| rows(&["scan", &pattern, "Entry$,event,nMuon", "--format", "csv", "--entries", entries]);
    assert_eq!(some("450:1200"), all[450..1200]);
    assert_eq!(some("-750:-650"), all[1050..1150]);
    assert_eq!(some("3,1799,600:602,499"), [3, 499, 600, 601, 1799].map(|i| all[i].clone()));
    let numbers = folder.path("numbers.txt");
    std::fs::write(&numbers, "7 1000\n1500 # late\n").unwrap();
    assert_eq!(some(&numbers), [7, 1000, 1500].map(|i| all[i].clone()));

    // a cut chooses among them; Entry$ and Entries$ are the chain's, LocalEntry$ the file's
    let cut = |cut: &str| rows(&["scan", &pattern, "Entry$,event,nMuon", cut, "--format", "csv"]);
    assert_eq!(cut("nMuon >= 3"), all.iter().filter(|r| r[2] >= 3.0).cloned().collect::<Vec<_>>());
    assert_eq!(cut("Entry$ == 1150 || LocalEntry$ == 5"), [5, 505, 1105, 1150].map(|i| all[i].clone()));
    assert_eq!(cut("Entry$ == Entries$ - 1"), [all[1799].clone()]);

    let sum = |drawn: Vec<Vec<f64>>| -> Vec<f64> {
        drawn.into_iter().reduce(|a, b| a.iter().zip(&b).map(|(x, y)| x + y).collect()).unwrap()
    };
    let draw = |target: &str| counts(&json(&["draw", target, "Muon_pt", "nMuon > 1", "--bins", "20,0,60", "--json"]));
    assert_eq!(draw(&pattern), sum(files.iter().map(|f| draw(f)).collect()));
    let drawn = json(&["draw", &pattern, "nMuon", "--entries", "10,1000,1700:1710", "--json"]);
    assert_eq!(drawn["entries"], 12);
    assert_eq!(drawn["histogram"]["entries"], 12);
}

#[test]
fn bad_files_are_named_and_may_be_left_out() {
    let folder = Folder::new("chain-bad");
    let good = folder.sample("a.root", 100, &[]);
    let late = folder.sample("c.root", 50, &[]);
    let bad = folder.path("b.root");
    std::fs::write(&bad, "nothing of that kind").unwrap();
    let pattern = folder.path("*.root");
    let (status, message) = failure(&["scan", &pattern, "event"]);
    assert_eq!(status, 1);
    assert!(message.contains(&bad), "{message}");
    let run = sapwood(&["scan", &pattern, "event", "--skip-bad", "--format", "csv"]);
    assert!(run.status.success());
    assert_eq!(String::from_utf8(run.stdout).unwrap().lines().count(), 151);
    let said = String::from_utf8(run.stderr).unwrap();
    assert!(said.contains("skipped ") && said.matches(&bad).count() == 1, "{said}");
    // also when it is the first
    let run = sapwood(&["draw", &bad, "nMuon", "--skip-bad", "--json", "--add", &good, "--add", &late]);
    assert!(run.status.success());
    assert_eq!(serde_json::from_slice::<Value>(&run.stdout).unwrap()["entries"], 150);
    let (status, message) = failure(&["draw", &folder.path("x*.root"), "nMuon"]);
    assert!(status == 1 && message.contains("no file matches"), "{message}");
    let (status, _) = failure(&["scan", &good, "event", "--entries", "1,two"]);
    assert_eq!(status, 2);
}

#[test]
fn limits_end_in_the_file_that_has_the_last_row() {
    let folder = Folder::new("chain-limit");
    let first = folder.sample("a.root", 40, &[]);
    let more = folder.sample("b.root", 40, &[]);
    let args = |limit| {
        let args = ["scan", first.as_str(), "event", "--format", "csv", "--add", more.as_str(), "--limit", limit];
        text(&args).lines().count() - 1
    };
    assert_eq!([args("3"), args("40"), args("55"), args("0"), args("100")], [3, 40, 55, 80, 80]);
    // rows that are there do not need a file that is not
    let absent = folder.path("absent.root");
    let run = text(&["scan", &first, "event", "--format", "csv", "--limit", "5", "--add", &absent]);
    assert_eq!(run.lines().count(), 6);
}
