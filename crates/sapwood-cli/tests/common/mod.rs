//! What the tests of the command share: running it, and files to run it on.
#![allow(dead_code)]

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// The command, its input closed and its output taken.
pub fn sapwood(args: &[&str]) -> Output {
    command(args).output().expect("the command runs")
}

/// The command, not yet started.
pub fn command(args: &[&str]) -> Command {
    let mut c = Command::new(env!("CARGO_BIN_EXE_sapwood"));
    c.args(args).stdin(Stdio::null());
    c
}

/// What a successful run prints.
pub fn text(args: &[&str]) -> String {
    let out = sapwood(args);
    assert!(out.status.success(), "{args:?}: {}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8(out.stdout).expect("the output is UTF-8")
}

/// The same as JSON; stderr must then be empty.
pub fn json(args: &[&str]) -> Value {
    let out = sapwood(args);
    let stderr = String::from_utf8_lossy(&out.stderr);
    assert!(out.status.success() && stderr.is_empty(), "{args:?}: {stderr}");
    serde_json::from_slice(&out.stdout).expect("the output is JSON")
}

/// Exit status and stderr of a run that must fail and print nothing else.
pub fn failure(args: &[&str]) -> (i32, String) {
    let out = sapwood(args);
    assert!(out.stdout.is_empty(), "{args:?}");
    (out.status.code().expect("an exit status"), String::from_utf8(out.stderr).expect("UTF-8"))
}

/// A directory of one test, removed at its end.
pub struct Folder(PathBuf);

impl Folder {
    /// An empty directory.
    pub fn new(test: &str) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{test}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).expect("a folder for the test");
        Self(path)
    }

    /// A path inside.
    pub fn path(&self, name: &str) -> String {
        self.0.join(name).to_str().expect("UTF-8").to_owned()
    }

    /// A sample file inside.
    pub fn sample(&self, name: &str, entries: u64, more: &[&str]) -> String {
        let path = self.path(name);
        let mut args = vec!["sample", &path, "--entries"];
        let entries = entries.to_string();
        args.push(&entries);
        args.extend(more);
        text(&args);
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
