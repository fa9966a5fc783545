//! Exit statuses, help, and how targets are understood.

mod common;

use common::{Folder, command, failure, json, sapwood, text};
use std::io::Read;
use std::process::Stdio;

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
        &["scan", &sample, "run", "--entries", "7,8"],
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
    for verb in ["ls", "show", "draw", "scan", "serve"] {
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
