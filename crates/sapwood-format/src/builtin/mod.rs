//! ROOT's own classes, for files that do not describe them: files that were never closed, classes with hand-written
//! streamers in older ROOT, and writers that left descriptions out. Only exact versions are taken from here; nothing is
//! guessed.

use crate::streamer::{ClassInfo, Element, Streamers, read_codes};
use std::sync::{Arc, LazyLock};

static TABLE: &str = include_str!("classes.txt");

static EARLY_TABLE: &str = include_str!("early.txt");

static CLASSES: LazyLock<Streamers> = LazyLock::new(|| parse(TABLE));

static EARLY: LazyLock<Streamers> = LazyLock::new(|| parse(EARLY_TABLE));

/// The descriptions built into this library.
pub(crate) fn classes() -> &'static Streamers {
    &CLASSES
}

impl Streamers {
    /// The description of a class in this version: the file's own, or otherwise that of ROOT's class.
    pub fn find(&self, class: &str, version: i32) -> Option<&Arc<ClassInfo>> {
        self.own(class, version).or_else(|| classes().own(class, version))
    }

    /// The description with this checksum: the file's own, or otherwise that of ROOT's class.
    pub fn find_checksum(&self, class: &str, checksum: u32) -> Option<&Arc<ClassInfo>> {
        self.own_checksum(class, checksum).or_else(|| classes().own_checksum(class, checksum))
    }
}

/// The members of a tree's header in a version that was never described. The descriptions may omit the end of the
/// class: they are used only for reading trees.
pub(crate) fn early(class: &str, version: i32) -> Option<&'static Arc<ClassInfo>> {
    EARLY.versions(class).find(|c| c.version == version)
}

fn parse(table: &str) -> Streamers {
    let mut out = Streamers::default();
    // the same class in several versions
    let mut classes: Vec<ClassInfo> = Vec::new();
    for line in table.lines().filter(|l| !l.starts_with('#')) {
        match line.strip_prefix('\t') {
            Some(element) => classes.iter_mut().for_each(|class| class.elements.extend(parse_element(element))),
            None => std::mem::replace(&mut classes, parse_class(line)).into_iter().for_each(|done| out.add(done)),
        }
    }
    classes.into_iter().for_each(|last| out.add(last));
    out
}

/// A class's name, its version or the first and the last of several, its checksum.
fn parse_class(line: &str) -> Vec<ClassInfo> {
    let mut fields = line.split('\t');
    let name = fields.next().unwrap_or_default();
    let versions = fields.next().unwrap_or_default();
    let (first, last) = versions.split_once('-').unwrap_or((versions, versions));
    let checksum = fields.next().and_then(|c| u32::from_str_radix(c, 16).ok());
    let (Ok(first), Ok(last), Some(checksum)) = (first.parse::<i32>(), last.parse(), checksum) else {
        return Vec::new();
    };
    let class = |version| ClassInfo { name: name.to_owned(), version, checksum, elements: Vec::new() };
    (first..=last).map(class).collect()
}

fn parse_element(line: &str) -> Option<Element> {
    let mut fields = line.split('\t');
    let kind = format!("TStreamer{}", fields.next()?);
    let code = fields.next()?.parse().ok()?;
    let name = fields.next()?.to_owned();
    let mut text = || fields.next().unwrap_or_default().to_owned();
    let (type_name, count_name, extents, special, title) = (text(), text(), text(), text(), text());
    let mut e = Element { kind, code, name, type_name, count_name, title, ..Element::default() };
    e.dims = extents.split(',').filter_map(|n| n.parse().ok()).collect();
    e.array_len = e.dims.iter().fold(i32::from(!e.dims.is_empty()), |p, &n: &i32| p.saturating_mul(n));
    match special.split_once(',') {
        Some((stl, content)) => (e.stl, e.content) = (stl.parse().ok()?, content.parse().ok()?),
        None => e.base_version = special.parse().unwrap_or(0),
    }
    read_codes(&mut e);
    Some(e)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::streamer::code;

    #[test]
    fn the_whole_table_is_understood() {
        let lines = TABLE.lines().filter(|l| !l.starts_with('#') && !l.is_empty());
        let (elements, headers): (Vec<_>, Vec<_>) = lines.partition(|l| l.starts_with('\t'));
        assert_eq!(classes().classes().len(), headers.len());
        assert_eq!(classes().classes().iter().map(|c| c.elements.len()).sum::<usize>(), elements.len());
        let tree = classes().find("TTree", 20).unwrap();
        assert_eq!(tree.elements.first().map(|e| (e.name.as_str(), e.base_version)), Some(("TNamed", 1)));
        let range = tree.elements.iter().find(|e| e.name == "fClusterRangeEnd").unwrap();
        assert_eq!((range.code, range.count_name.as_str()), (code::LONG64 + code::OFFSET_P, "fNClusterRange"));
    }

    #[test]
    fn versions_that_were_written_alike_are_described_once() {
        let members = |version| early("TTree", version).map(|class| class.elements.len());
        assert_eq!((0..6).map(members).collect::<Vec<_>>(), [None, Some(13), Some(13), Some(13), Some(13), None]);
    }
}
