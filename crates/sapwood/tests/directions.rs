//! The house stands as its plan says: a crate uses only those above it in this list (DESIGN.md, "The house").

use serde_json::Value;
use std::process::Command;

/// Bottom up; crates on one line do not know each other.
const HOUSE: &[&[&str]] = &[
    &["sapwood-span", "sapwood-pages", "sapwood-derive"],
    &["sapwood-codec"],
    &["sapwood-format"],
    &["sapwood-edit"],
    &["sapwood-column"],
    &["sapwood-write"],
    &["sapwood-plan"],
    &["sapwood-sim"],
    &["sapwood-xrd"],
    &["sapwood-source"],
    &["sapwood-store"],
    &["sapwood-engine"],
    &["sapwood-rewrite"],
    &["sapwood-query"],
    &["sapwood-serve"],
    &["sapwood"],
    &["sapwood-report"],
    &["sapwood-cli", "sapwood-python"],
];

/// What a crate must not use though it stands above, and why.
const NEVER: &[(&str, &[&str], &str)] = &[
    ("sapwood-cli", &["sapwood-source", "sapwood-store"], "faces go through the facade"),
    ("sapwood-python", &["sapwood-source", "sapwood-store"], "faces go through the facade"),
    ("sapwood-format", &["tokio", "hyper", "mio"], "it does no I/O"),
    ("sapwood-edit", &["tokio", "hyper", "mio"], "it does no I/O"),
    ("sapwood-column", &["tokio", "hyper", "mio"], "it does no I/O"),
    ("sapwood-write", &["tokio", "hyper", "mio", "rustls"], "it writes local files"),
    (
        "sapwood-store",
        &["tokio", "hyper", "mio", "sapwood-source", "sapwood-format"],
        "it knows no network and no file format",
    ),
    ("sapwood-plan", &["tokio", "hyper", "mio", "rand"], "it does no I/O and knows no chance"),
    ("sapwood-codec", &["tokio", "hyper", "mio"], "it does no I/O"),
    ("sapwood-xrd", &["tokio", "hyper", "mio"], "it does no I/O"),
];

fn floor(name: &str) -> Option<usize> {
    HOUSE.iter().position(|floor| floor.contains(&name))
}

/// Crates and what they use, development and build dependencies left out.
fn uses() -> Vec<(String, Vec<String>)> {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let done = Command::new(cargo)
        .args(["metadata", "--format-version", "1", "--no-deps", "--offline"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo can be run");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let said: Value = serde_json::from_slice(&done.stdout).expect("cargo speaks JSON");
    let text = |v: &Value| v.as_str().unwrap_or_default().to_owned();
    let list = |v: &Value| v.as_array().cloned().unwrap_or_default();
    list(&said["packages"])
        .iter()
        .map(|p| {
            let normal = list(&p["dependencies"]).into_iter().filter(|d| d["kind"].is_null());
            (text(&p["name"]), normal.map(|d| text(&d["name"])).collect())
        })
        .collect()
}

/// What is against the plan, in words.
fn faults(uses: &[(String, Vec<String>)]) -> Vec<String> {
    let mut out = Vec::new();
    for (name, used) in uses {
        let Some(mine) = floor(name) else {
            out.push(format!("{name} has no place in the house: add it to DESIGN.md's list and to this one"));
            continue;
        };
        for other in used {
            match floor(other) {
                Some(at) if at >= mine => out.push(format!("{name} uses {other}, which does not stand above it")),
                _ => {}
            }
            for (_, banned, why) in NEVER.iter().filter(|(n, _, _)| n == name) {
                if banned.contains(&other.as_str()) {
                    out.push(format!("{name} uses {other}: {why}"));
                }
            }
        }
        if name == "sapwood-span" && !used.is_empty() {
            out.push(format!("sapwood-span uses {}: it has no dependency", used.join(", ")));
        }
    }
    out
}

#[test]
fn crates_use_only_those_above_them() {
    let uses = uses();
    assert!(uses.iter().any(|(name, _)| name == "sapwood-engine"), "cargo lists the workspace");
    let faults = faults(&uses);
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

#[test]
fn faults_are_found() {
    let wrong = |name: &str, used: &[&str]| {
        faults(&[(name.to_owned(), used.iter().map(|&u| u.to_owned()).collect())]).join("; ")
    };
    assert_eq!(wrong("sapwood-plan", &["sapwood-span", "sapwood-format", "bytes"]), "");
    assert!(wrong("sapwood-plan", &["sapwood-engine"]).contains("sapwood-engine, which does not stand above"));
    assert!(wrong("sapwood-cli", &["sapwood-python"]).contains("does not stand above"));
    assert!(wrong("sapwood-cli", &["sapwood", "sapwood-source"]).contains("faces go through the facade"));
    assert!(wrong("sapwood-span", &["bytes"]).contains("no dependency"));
    assert!(wrong("sapwood-shed", &[]).contains("no place"));
}
