//! The core's messages serve the command, Python and Rust alike: they name no option of one of them. What is called
//! differently in each is a `Setting` of the error, which the command and the Python package put into their own words.

use std::path::{Path, PathBuf};

/// Crates whose messages may name options: the interfaces, and the servers, whose messages are for who runs them.
const INTERFACES: &[&str] = &["sapwood-browse", "sapwood-cli", "sapwood-python", "sapwood-serve", "sapwood-perf"];

fn sources(folder: &Path, out: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("the sources can be listed") {
        let path = entry.expect("the sources can be listed").path();
        if path.is_dir() {
            sources(&path, out);
        } else if path.extension().is_some_and(|e| e == "rs") {
            out.push(path);
        }
    }
}

/// The string literals of a line of code. Commands to be run stand in backticks: they may have options.
fn literals(line: &str) -> Vec<String> {
    let code = line.trim_start();
    if code.starts_with("//") {
        return Vec::new();
    }
    let plain = code.replace("\\\"", "'");
    let without_commands = |s: &str| s.split('`').step_by(2).collect::<String>();
    plain.split('"').skip(1).step_by(2).map(without_commands).collect()
}

/// What in a text belongs to one interface.
fn foreign(text: &str) -> Option<&'static str> {
    let words = || text.split(|c: char| !c.is_alphanumeric() && c != '_');
    if text.contains("=True") || text.contains("=False") || text.contains("=None") || words().any(|w| w == "Python") {
        return Some("Python");
    }
    if words().any(|w| matches!(w, "recreate" | "mktree" | "kwargs" | "keyword")) {
        return Some("Python");
    }
    let option = |w: &str| w.strip_prefix("--").is_some_and(|o| o.starts_with(|c: char| c.is_ascii_lowercase()));
    if text.split([' ', '(', ',', ';']).any(option) {
        return Some("the command");
    }
    (text.contains("::")
        && text.contains(' ')
        && words().any(|w| matches!(w, "Cluster" | "FileWriter" | "TreeOptions")))
    .then_some("Rust")
}

#[test]
fn messages_of_the_core_name_no_option_of_one_interface() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the crates lie side by side").to_owned();
    let mut found = Vec::new();
    for entry in std::fs::read_dir(crates).expect("the crates can be listed") {
        let path = entry.expect("the crates can be listed").path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if INTERFACES.contains(&name.as_str()) || !path.join("src").is_dir() {
            continue;
        }
        let mut files = Vec::new();
        sources(&path.join("src"), &mut files);
        for file in files {
            let text = std::fs::read_to_string(&file).expect("a source can be read");
            for (i, line) in text.lines().enumerate() {
                let speaks = |l: String| foreign(&l).map(|who| format!("{}:{}: {who}: {l}", file.display(), i + 1));
                found.extend(literals(line).into_iter().filter_map(speaks));
            }
        }
    }
    assert!(found.is_empty(), "\n{}", found.join("\n"));
}

#[test]
fn foreign_words_are_found() {
    let of = |line: &str| literals(line).iter().find_map(|l| foreign(l));
    assert_eq!(of(r#".with_remedy("replace it with recreate, or add to it with update")"#), Some("Python"));
    assert_eq!(of(r#".with_remedy("--recover (in Python recover=True) does that")"#), Some("Python"));
    assert_eq!(of(r#"("leave the branch as it is: --keep")"#), Some("the command"));
    assert_eq!(of(r#"("choose 1 or more, or Cluster::Never")"#), Some("Rust"));
    assert_eq!(of(r#"("record one with `sapwood draw --record FILE`")"#), None);
    assert_eq!(of(r#"// replaces it "with recreate""#), None);
    assert_eq!(of(r#"("a message -- of two parts")"#), None);
}
