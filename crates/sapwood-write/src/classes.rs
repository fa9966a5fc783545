//! The classes that trees and histograms are made of, as ROOT 6.40 describes them, and those that a file has besides.

use sapwood_format::{ClassInfo, Element, Streamers};
use std::collections::HashMap;
use std::sync::OnceLock;

/// Made by `tests/oracle/make_classes.py` from a file of ROOT's.
const TABLE: &str = include_str!("classes.txt");

/// ROOT's own description of one of its classes.
pub(crate) fn find(name: &str) -> Option<&'static ClassInfo> {
    static CLASSES: OnceLock<HashMap<String, ClassInfo>> = OnceLock::new();
    CLASSES.get_or_init(|| parse(TABLE).into_iter().map(|c| (c.name.clone(), c)).collect()).get(name)
}

fn parse(table: &str) -> Vec<ClassInfo> {
    let mut out: Vec<ClassInfo> = Vec::new();
    for line in table.lines().filter(|l| !l.starts_with('#')) {
        let cells: Vec<&str> = line.split('\t').collect();
        if let ["class", name, version, checksum] = cells.as_slice() {
            let (version, checksum) = (version.parse().unwrap_or(0), checksum.parse().unwrap_or(0));
            out.push(ClassInfo { name: (*name).to_owned(), version, checksum, elements: Vec::new() });
        } else if let (Some(class), Some(element)) = (out.last_mut(), element(&cells)) {
            class.elements.push(element);
        }
    }
    out
}

fn element(cells: &[&str]) -> Option<Element> {
    let [kind, name, counter, code, size, array_len, dims, extents, type_name, extra @ ..] = cells else { return None };
    let mut e = Element {
        kind: (*kind).to_owned(),
        name: (*name).to_owned(),
        title: (*counter).to_owned(),
        code: code.parse().ok()?,
        size: size.parse().ok()?,
        array_len: array_len.parse().ok()?,
        type_name: (*type_name).to_owned(),
        ..Element::default()
    };
    for (slot, n) in e.max_index.iter_mut().zip(extents.split(' ')) {
        *slot = n.parse().ok()?;
    }
    let dims = dims.parse().ok()?;
    e.dims = e.max_index.iter().copied().take(dims).collect();
    match extra {
        [version] => e.base_version = version.parse().ok()?,
        [version, member, class] => {
            e.count_version = version.parse().ok()?;
            (e.count_name, e.count_class) = ((*member).to_owned(), (*class).to_owned());
        }
        [stl, content] => (e.stl, e.content) = (stl.parse().ok()?, content.parse().ok()?),
        _ => {}
    }
    Some(e)
}

/// What a file says about classes: each once, in the order they came, and the rules for reading old data.
#[derive(Clone, Debug, Default)]
pub(crate) struct Described {
    classes: Vec<ClassInfo>,
    rules: Vec<String>,
    changed: bool,
}

impl Described {
    /// What a file has already.
    pub(crate) fn existing(streamers: &Streamers) -> Self {
        let mut described = Self::default();
        described.add_all(streamers);
        described.changed = false;
        described
    }

    /// Adds a class, unless it is there in this version and with this checksum.
    pub(crate) fn add(&mut self, class: &ClassInfo) {
        let same = |c: &ClassInfo| c.name == class.name && c.version == class.version && c.checksum == class.checksum;
        if !self.classes.iter().any(same) {
            self.classes.push(class.clone());
            self.changed = true;
        }
    }

    /// Whether a class of our own making (they all have version 1) has another checksum there.
    pub(crate) fn differs(&self, name: &str, checksum: u32) -> bool {
        self.classes.iter().any(|c| c.name == name && c.version == 1 && c.checksum != checksum)
    }

    /// Adds all classes and rules of another file.
    pub(crate) fn add_all(&mut self, streamers: &Streamers) {
        for class in streamers.classes() {
            self.add(class);
        }
        for rule in streamers.rules() {
            if !self.rules.contains(rule) {
                self.rules.push(rule.clone());
                self.changed = true;
            }
        }
    }

    /// Adds a class of ROOT's own with all that it is made of.
    pub(crate) fn add_own(&mut self, name: &str) {
        let Some(class) = find(name) else { return };
        if self.classes.iter().any(|c| c.name == class.name && c.version == class.version) {
            return;
        }
        self.add(class);
        for e in &class.elements {
            let of = if e.kind == "TStreamerBase" { &e.name } else { &e.type_name };
            self.add_own(of.trim_end_matches('*'));
        }
    }

    /// Whether anything was added since the last commit.
    pub(crate) fn is_changed(&self) -> bool {
        self.changed
    }

    /// Whether anything was added since it was last asked.
    pub(crate) fn take_changed(&mut self) -> bool {
        std::mem::take(&mut self.changed)
    }

    /// The same for reading what is in the file.
    pub(crate) fn streamers(&self) -> Streamers {
        let mut streamers = Streamers::default();
        self.classes().iter().for_each(|class| streamers.add(class.clone()));
        streamers
    }

    pub(crate) fn classes(&self) -> &[ClassInfo] {
        &self.classes
    }

    pub(crate) fn rules(&self) -> &[String] {
        &self.rules
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_class_brings_what_it_is_made_of() {
        let all = parse(TABLE);
        assert!(all.len() > 60, "{}", all.len());
        let mut described = Described::default();
        described.add_own("TTree");
        let names: Vec<&str> = described.classes().iter().map(|c| &*c.name).collect();
        for name in ["TTree", "TNamed", "TObject", "TAttLine", "TBranchRef", "TList", "TBranch", "TObjArray"] {
            assert!(names.contains(&name), "{name}");
        }
        for class in &all {
            for e in &class.elements {
                if e.kind == "TStreamerBase" && !e.name.starts_with("TArray") {
                    let base = find(&e.name).unwrap();
                    assert_eq!(base.version, e.base_version, "{} in {}", e.name, class.name);
                    assert_eq!(base.checksum, e.max_index[1] as u32, "{} in {}", e.name, class.name);
                }
            }
        }
    }
}
