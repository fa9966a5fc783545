//! Files of a crate import in one direction: no circle but between a file and those below it in its directory.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// A file of a crate by its place: `["scan", "state"]` is `scan/state.rs` or `scan/state/mod.rs`.
type Module = Vec<String>;

/// Words and signs of a source text; comments, texts and a test module at its end left out.
fn words(text: &str) -> Vec<String> {
    let end = ["#[cfg(test)]\nmod ", "#[cfg(all(test"].iter().filter_map(|t| text.find(t)).min();
    let mut rest = &text[..end.unwrap_or(text.len())];
    let mut out = Vec::new();
    while let Some(c) = rest.chars().next() {
        let is_name = |c: char| c.is_alphanumeric() || c == '_';
        let len = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if c == '"' {
            let mut escaped = false;
            let ends = |c: char| {
                let ends = c == '"' && !escaped;
                escaped = c == '\\' && !escaped;
                ends
            };
            1 + rest[1..].find(ends).map_or(rest.len() - 1, |i| i + 1)
        } else if let Some(plain) = rest.strip_prefix("r#\"") {
            plain.find("\"#").map_or(rest.len(), |i| i + 5)
        } else if rest.starts_with("'\"'") || rest.starts_with("'{'") || rest.starts_with("'}'") {
            3
        } else if is_name(c) {
            let len = rest.find(|c| !is_name(c)).unwrap_or(rest.len());
            out.push(rest[..len].to_owned());
            len
        } else if rest.starts_with("::") {
            out.push("::".to_owned());
            2
        } else {
            if !c.is_whitespace() {
                out.push(c.to_string());
            }
            c.len_utf8()
        };
        rest = &rest[len..];
    }
    out
}

/// The paths of a `use`, and the words behind it: `a::{b, c::d}` has two.
fn expand<'a>(mut words: &'a [String], before: &[String], out: &mut Vec<Vec<String>>) -> &'a [String] {
    let mut path = before.to_vec();
    while let [word, rest @ ..] = words {
        match word.as_str() {
            "{" => {
                words = rest;
                while let [next, ..] = words
                    && next != "}"
                    && next != ";"
                {
                    words = expand(words, &path, out);
                    words = words.strip_prefix(&[",".to_owned()]).unwrap_or(words);
                }
                return words.get(1..).unwrap_or_default();
            }
            "," | "}" | ";" => break,
            "as" => words = rest.get(1..).unwrap_or_default(),
            "::" => words = rest,
            name => {
                path.push(name.to_owned());
                words = rest;
            }
        }
    }
    out.push(path);
    words
}

/// All paths that a file names.
fn paths(text: &str) -> Vec<Vec<String>> {
    let words = words(text);
    let (mut out, mut rest) = (Vec::new(), words.as_slice());
    while let [word, behind @ ..] = rest {
        if word == "use" {
            rest = expand(behind, &[], &mut out);
        } else if behind.first().is_some_and(|w| w == "::") {
            let mut path = vec![word.clone()];
            rest = behind;
            while let [colons, name, behind @ ..] = rest
                && colons == "::"
            {
                path.push(name.clone());
                rest = behind;
            }
            out.push(path);
        } else {
            rest = behind;
        }
    }
    out
}

/// The module that a path within `from` leads to, if it is one of this crate.
fn target(from: &Module, path: &[String], all: &BTreeSet<Module>) -> Option<Module> {
    let (mut at, names) = match path.split_first()? {
        (first, names) if first == "crate" => (Vec::new(), names),
        (first, _) if first == "self" || first == "super" => (from.clone(), path),
        (first, _) => {
            let child = [from.as_slice(), std::slice::from_ref(first)].concat();
            all.contains(&child).then_some((from.clone(), path))?
        }
    };
    for name in names.iter().filter(|n| *n != "self") {
        if name == "super" {
            at.pop();
            continue;
        }
        at.push(name.clone());
        if !all.contains(&at) {
            at.pop();
            break;
        }
    }
    Some(at)
}

fn files(folder: &Path, out: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder of sources").map(|e| e.expect("an entry").path()) {
        if entry.is_dir() {
            files(&entry, out);
        } else if entry.extension().is_some_and(|e| e == "rs") {
            out.push(entry);
        }
    }
}

/// Which modules import which, those above and below each other left out.
fn imports(texts: &BTreeMap<Module, String>) -> BTreeMap<Module, BTreeSet<Module>> {
    let all: BTreeSet<Module> = texts.keys().cloned().collect();
    let is_family = |a: &Module, b: &Module| a.starts_with(b) || b.starts_with(a);
    let of = |(from, text): (&Module, &String)| {
        let to = paths(text).into_iter().filter_map(|path| target(from, &path, &all));
        (from.clone(), to.filter(|to| !is_family(from, to)).collect())
    };
    texts.iter().map(of).collect()
}

/// Groups of modules that lead to each other.
fn circles(imports: &BTreeMap<Module, BTreeSet<Module>>) -> BTreeSet<BTreeSet<String>> {
    let reached = |from: &Module| {
        let mut seen: BTreeSet<&Module> = BTreeSet::new();
        let mut next: Vec<&Module> = imports[from].iter().collect();
        while let Some(module) = next.pop() {
            if seen.insert(module) {
                next.extend(&imports[module]);
            }
        }
        seen
    };
    let reached: BTreeMap<&Module, BTreeSet<&Module>> = imports.keys().map(|m| (m, reached(m))).collect();
    let back = |m: &Module| reached[m].iter().filter(|o| reached[**o].contains(m)).map(|o| o.join("::")).collect();
    imports.keys().map(back).filter(|group: &BTreeSet<String>| !group.is_empty()).collect()
}

fn sources(krate: &Path) -> BTreeMap<Module, String> {
    let root = krate.join("src");
    let mut found = Vec::new();
    files(&root, &mut found);
    let module = |path: &Path| {
        let inner = path.strip_prefix(&root).expect("it is in src").with_extension("");
        let mut names: Module = inner.iter().map(|n| n.to_string_lossy().into_owned()).collect();
        if names.last().is_some_and(|n| n == "mod" || (names.len() == 1 && (n == "lib" || n == "main"))) {
            names.pop();
        }
        names
    };
    found.iter().map(|p| (module(p), std::fs::read_to_string(p).expect("it is text"))).collect()
}

#[test]
fn files_import_in_one_direction() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the folder of all crates");
    let mut found = Vec::new();
    for krate in std::fs::read_dir(crates).expect("crates").map(|e| e.expect("a crate").path()) {
        let name = krate.file_name().expect("a name").to_string_lossy().into_owned();
        for circle in circles(&imports(&sources(&krate))) {
            found.push(format!("{name}: {}", circle.into_iter().collect::<Vec<_>>().join(", ")));
        }
    }
    assert!(found.is_empty(), "these files import each other in a circle:\n{}", found.join("\n"));
}

#[test]
fn circles_are_found() {
    let circles = |files: &[(&str, &str)]| {
        let module = |name: &str| name.split("::").filter(|n| !n.is_empty()).map(str::to_owned).collect();
        let texts = files.iter().map(|(name, text)| (module(name), (*text).to_owned())).collect();
        let found = circles(&imports(&texts));
        found.into_iter().map(|c| c.into_iter().collect::<Vec<_>>().join(" ")).collect::<Vec<_>>()
    };
    let two = |a: &str, b: &str| circles(&[("", "mod a; mod b;"), ("a", a), ("b", b)]);
    assert_eq!(two("use crate::b::{X, Y};", "use super::a::Z;"), ["a b"]);
    assert_eq!(two("use crate::{c::D, b};", "fn f() { crate::a::g() }"), ["a b"]);
    assert_eq!(two("use crate::b::X;", "use std::a::Z; // use crate::a;\nconst T: &str = \"crate::a::x\";"), [""; 0]);
    assert_eq!(two("use crate::b::X;", "#[cfg(test)]\nmod tests { use crate::a::Z; }"), [""; 0]);
    assert_eq!(circles(&[("a", "use b::X;"), ("a::b", "use super::Y;")]), [""; 0], "a parent and its child");
    let three = [("a", "use crate::b;"), ("b", "use crate::c::d::E;"), ("c", "mod d;"), ("c::d", "use crate::a;")];
    assert_eq!(circles(&three), ["a b c::d"]);
}
