//! Exit statuses, help, and how targets are understood.

mod common;

use common::{Folder, command, failure, json, sapwood, text};
use std::io::Read;
use std::process::{Command, Stdio};

#[test]
fn errors_are_said_once_on_stderr_with_status_1() {
    let folder = Folder::new("errors");
    let (status, said) = failure(&["ls", &folder.path("absent.root")]);
    assert_eq!(status, 1);
    assert!(said.starts_with("sapwood: ") && said.contains("absent.root: no such file"), "{said}");
    std::fs::write(folder.path("text.root"), "this is no ROOT file, but long enough to be one".repeat(9)).unwrap();
    let (status, said) = failure(&["show", &folder.path("text.root")]);
    assert!(status == 1 && said.contains("not a ROOT file"), "{said}");
    let sample = folder.sample("a.root", 100, &[]);
    let (status, said) = failure(&["show", &format!("{sample}:Evens")]);
    assert!(status == 1 && said.contains("Evens") && said.contains("Events"), "{said}");
    let (status, said) = failure(&["ls", "root://host//file.root"]);
    assert!(status == 1 && said.contains("root://"), "{said}");
}

#[test]
fn what_makes_no_sense_has_status_2() {
    let folder = Folder::new("usage");
    let sample = folder.sample("a.root", 100, &[]);
    for args in [
        &["paint"][..],
        &["ls"],
        &["ls", "--cache-size", "much", "a.root"],
        &["ls", "--timeout", "0", "a.root"],
        &["scan", &sample, "run", "--entries", "7;8"],
        &["scan", &sample, "run", "--entries", "9:7"],
        &["scan", &sample, "run", "nMuon>1", "--cut", "nMuon>2"],
        &["scan", &sample, "run", "--json", "--format", "csv"],
        &["draw", &sample, "run", "--bins", "0,0,1"],
        &["draw", &sample, "run>>h(10,0,1)", "--bins", "10,0,1"],
        &["draw", &sample, "run", "-o", "run.gif"],
        &["serve", &sample, "--bandwidth", "fast"],
    ] {
        let (status, said) = failure(args);
        assert_eq!(status, 2, "{args:?}: {said}");
        assert!(!said.is_empty(), "{args:?}");
    }
}

#[test]
fn help_of_every_verb_has_an_example() {
    let help = text(&["--help"]);
    for verb in ["ls", "show", "draw", "scan", "perf", "serve"] {
        assert!(help.contains(&format!("\n  {verb} ")), "{help}");
        let own = text(&[verb, "--help"]);
        assert!(own.contains(&format!("\n  sapwood {verb} ")), "{own}");
        assert!(own.contains("--cache-size"), "{own}");
    }
    assert!(!help.contains("sample"), "{help}");
    assert!(text(&["--version"]).starts_with("sapwood "));
}

#[test]
fn the_tree_may_be_left_out_and_names_may_hold_colons() {
    let folder = Folder::new("targets");
    let sample = folder.sample("run:7.root", 100, &[]);
    for target in [sample.clone(), format!("{sample}:Events"), format!("{sample}:Events;1"), format!("file://{sample}")]
    {
        assert_eq!(json(&["show", &target, "--json"])["entries"], 100, "{target}");
    }
    let plain = folder.sample("plain", 10, &[]);
    assert_eq!(json(&["show", &format!("{plain}:Events"), "--json"])["entries"], 10);
}

#[test]
fn a_reader_that_leaves_is_no_error() {
    let folder = Folder::new("pipe");
    let sample = folder.sample("a.root", 5000, &[]);
    let mut child =
        command(&["scan", &sample, "--format", "csv"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut first = [0; 100];
    child.stdout.take().unwrap().read_exact(&mut first).unwrap();
    let out = child.wait_with_output().unwrap();
    assert!(
        out.status.success() && out.stderr.is_empty(),
        "{:?} {:?}",
        out.status,
        String::from_utf8_lossy(&out.stderr)
    );
    assert!(first.starts_with(b"run,luminosityBlock,event,"));
}

#[test]
fn nothing_at_all_prints_help_and_fails() {
    let out = sapwood(&[]);
    assert_eq!(out.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&out.stderr).contains("Usage: sapwood"));
}

#[cfg(unix)]
#[test]
fn a_closed_stdout_is_an_error() {
    let folder = Folder::new("closed");
    let sample = folder.sample("a.root", 10, &[]);
    for verb in ["ls", "show", "scan"] {
        let script = format!("exec '{}' {verb} '{sample}' >&-", env!("CARGO_BIN_EXE_sapwood"));
        let out = Command::new("sh").args(["-c", &script]).output().unwrap();
        assert_eq!(out.status.code(), Some(1), "{verb}");
        assert_eq!(String::from_utf8_lossy(&out.stderr), "sapwood: cannot write the output: stdout is closed\n");
    }
    // who closes nothing, or throws the output away, hears nothing
    let script = format!("exec '{}' show '{sample}' >/dev/null", env!("CARGO_BIN_EXE_sapwood"));
    assert!(Command::new("sh").args(["-c", &script]).output().unwrap().status.success());
}

#[cfg(unix)]
#[test]
fn a_full_disk_leaves_no_part_of_a_picture() {
    let folder = Folder::new("full");
    let sample = folder.sample("a.root", 100, &[]);
    let (picture, kept) = (folder.path("a.png"), folder.path("kept.png"));
    std::fs::write(&kept, "before").unwrap();
    for path in [&picture, &kept] {
        // a limit of one block stands for a full disk
        let command = env!("CARGO_BIN_EXE_sapwood");
        let script = format!("trap '' XFSZ; ulimit -f 1; exec '{command}' draw '{sample}' run -o '{path}'");
        let out = Command::new("sh").args(["-c", &script]).output().unwrap();
        assert_eq!(out.status.code(), Some(1));
        assert!(String::from_utf8_lossy(&out.stderr).contains("cannot write"));
    }
    let mut left: Vec<_> = std::fs::read_dir(folder.path("")).unwrap().map(|f| f.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["a.root", "kept.png"]);
    assert_eq!(std::fs::read_to_string(&kept).unwrap(), "before");
    text(&["draw", &sample, "run", "-q", "-o", &kept]);
    assert!(std::fs::read(&kept).unwrap().starts_with(b"\x89PNG"));
}

#[test]
fn entries_as_slices() {
    let folder = Folder::new("slices");
    let sample = folder.sample("a.root", 100, &[]);
    for (entries, first, rows) in [("-10:", 90, 10), ("5", 5, 1), ("-1", 99, 1), (":-98", 0, 2), ("98:500", 98, 2)] {
        let scanned = json(&["scan", &sample, "Entry$", "--entries", entries, "--json"]);
        let found = scanned["rows"].as_array().unwrap();
        assert_eq!((found[0][0].as_f64().unwrap(), found.len()), (f64::from(first), rows), "{entries}");
    }
    let (status, said) = failure(&["scan", &sample, "Entry$", "--entries", "100"]);
    assert_eq!((status, said.contains("the tree has 100 entries")), (2, true), "{said}");
}

#[test]
fn a_branch_in_place_of_a_tree() {
    let folder = Folder::new("branch");
    let sample = folder.sample("a.root", 10, &[]);
    let shown = json(&["show", &format!("{sample}:Events/run"), "--json"]);
    assert_eq!(shown["branches"].as_array().unwrap().len(), 1);
    let (status, said) = failure(&["scan", &format!("{sample}:Events/run")]);
    assert_eq!(status, 1);
    assert!(
        said.contains("Events/run is not a tree but the branch run of the tree Events; specify the tree"),
        "{said}"
    );
    assert!(failure(&["show", &format!("{sample}:Events/none")]).1.contains("no branch none"));
}
