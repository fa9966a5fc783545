//! The house stands as its plan says: a crate uses only those above it in this list (DESIGN.md, "The house").

use serde_json::Value;
use std::process::Command;

/// Bottom up; crates on one line do not know each other.
const HOUSE: &[&[&str]] = &[
    &["sapwood-span", "sapwood-pages", "sapwood-derive"],
    &["sapwood-codec", "sapwood-catalogue"],
    &["sapwood-format"],
    &["sapwood-edit"],
    &["sapwood-column"],
    &["sapwood-write", "sapwood-arrow"],
    &["sapwood-plan", "sapwood-prefetch"],
    &["sapwood-sim"],
    &["sapwood-xrd"],
    &["sapwood-source"],
    &["sapwood-store"],
    &["sapwood-engine"],
    &["sapwood-rewrite"],
    &["sapwood-query"],
    &["sapwood-serve"],
    &["sapwood-proxy"],
    &["sapwood-perf"],
    &["sapwood-grid"],
    &["sapwood"],
    &["sapwood-browse"],
    &["sapwood-cli"],
    &["sapwood-python"],
];

/// What a crate must not use though it stands above, and why.
const NEVER: &[(&str, &[&str], &str)] = &[
    ("sapwood-cli", &["sapwood-source", "sapwood-store", "sapwood-perf"], "faces go through the facade"),
    ("sapwood-proxy", &["sapwood-column", "sapwood-query"], "it knows where baskets are, and no values"),
    ("sapwood-python", &["sapwood-source", "sapwood-store", "sapwood-perf"], "faces go through the facade"),
    ("sapwood-engine", &["sapwood-sim", "serde_json"], "what it measures is worked out and told in sapwood-perf"),
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
    ("sapwood-prefetch", &["tokio", "hyper", "mio", "rand"], "it does no I/O and knows no chance"),
    ("sapwood-codec", &["tokio", "hyper", "mio"], "it does no I/O"),
    ("sapwood-arrow", &["tokio", "hyper", "mio"], "it does no I/O"),
    (
        "sapwood-grid",
        &["tokio", "hyper", "mio", "rand", "sapwood-source"],
        "it knows neither a real network nor a clock",
    ),
    ("sapwood-xrd", &["tokio", "hyper", "mio"], "it does no I/O"),
    ("sapwood-catalogue", &["tokio", "hyper", "mio"], "it reads local lists"),
];

/// The interfaces, and all of the workspace that they may use: the facade, and the server of the page, which stands on it;
/// the Python package also runs the command.
const INTERFACES: &[&str] = &["sapwood-cli", "sapwood-python"];
const FOR_INTERFACES: &[&str] = &["sapwood", "sapwood-browse", "sapwood-cli"];

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
            if INTERFACES.contains(&&**name) && floor(other).is_some() && !FOR_INTERFACES.contains(&&**other) {
                out.push(format!("{name} uses {other}: interfaces go through the facade"));
            }
            for (_, banned, why) in NEVER.iter().filter(|(n, _, _)| n == name) {
                if banned.contains(&other.as_str()) {
                    out.push(format!("{name} uses {other}: {why}"));
                }
            }
        }
        for other in used.iter().filter(|_| name == "sapwood-span").filter(|u| *u != "percent-encoding") {
            out.push(format!("sapwood-span uses {other}: it has no dependency but percent-encoding, which has none"));
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
    assert!(wrong("sapwood-cli", &["sapwood", "sapwood-source"]).contains("interfaces go through the facade"));
    assert!(wrong("sapwood-span", &["bytes"]).contains("no dependency"));
    assert!(wrong("sapwood-shed", &[]).contains("no place"));
}

/// The crates that the facade is built of with these features, without those for tests.
fn tree(features: &[&str]) -> Vec<String> {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let done = Command::new(cargo)
        .args(["tree", "-p", "sapwood", "--edges", "normal", "--prefix", "none", "--offline"])
        .args(features)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo can be run");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let said = String::from_utf8_lossy(&done.stdout).into_owned();
    said.lines().filter_map(|l| l.split(' ').next()).map(str::to_owned).collect()
}

#[test]
fn writing_needs_no_network() {
    const NETWORK: &[&str] = &["tokio", "mio", "hyper", "rustls", "tokio-rustls", "sapwood-source", "sapwood-engine"];
    let network = |features: &[&str]| {
        let all = tree(features);
        assert!(all.iter().any(|c| c == "sapwood-codec"), "cargo lists the crates: {all:?}");
        all.into_iter().filter(|c| NETWORK.contains(&&**c)).collect::<Vec<_>>()
    };
    assert_eq!(network(&["--no-default-features", "--features", "write"]), Vec::<String>::new());
    assert_eq!(network(&["--no-default-features"]), Vec::<String>::new());
    assert!(network(&["--no-default-features", "--features", "read"]).contains(&"rustls".to_owned()));
}
