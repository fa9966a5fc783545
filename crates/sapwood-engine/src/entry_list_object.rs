//! Entry lists that ROOT keeps in files: `TEntryList`, as `TTree::Draw(">>list", cut, "entrylist")` makes it, and the
//! older `TEventList`.

use crate::entries::EntryList;
use crate::file::File;
use crate::instances::Instances;
use crate::tree::Tree;
use sapwood_format::object::{Data, Object, Objects, Value};
use sapwood_span::raw_text::{path_of, text_of_path};
use sapwood_span::{Error, Result};
use std::ops::Range;

/// Entries of a `TEntryListBlock`: 4000 words of 16 bits.
const BLOCK: u64 = 64_000;

/// Instances of a list: blocks of those that did not pass take next to no room in a file.
const MOST_INSTANCES: u64 = 1 << 26;

/// `TEntryListBlock::fType` of a block whose words are numbers of entries; 0 is one of bits, −1 one without either.
const NUMBERS: i64 = 1;

/// A class in which ROOT keeps entries that passed a cut.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ListKind {
    /// Their numbers, counted through a chain.
    #[default]
    TEventList,
    /// Tree by tree.
    TEntryList,
    /// Tree by tree, with the instances that passed.
    TEntryListArray,
}

impl ListKind {
    /// The name of the class.
    pub fn class(self) -> &'static str {
        match self {
            Self::TEventList => "TEventList",
            Self::TEntryList => "TEntryList",
            Self::TEntryListArray => "TEntryListArray",
        }
    }
}

/// An entry list of a file, with a part for each tree that it was made from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryListObject {
    parts: Vec<ListPart>,
}

/// The entries of one tree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListPart {
    /// Name of the tree; empty if it is not stored, as in a `TEventList`: entries are then counted through the chain.
    pub tree: String,
    /// The tree's file as it was called when the list was made.
    pub file: String,
    /// The entries.
    pub entries: EntryList,
    /// Of some of them the instances, in a `TEntryListArray`.
    pub instances: Instances,
}

impl ListPart {
    /// Both of the same tree; an entry that one of them has whole is in it whole.
    fn union(&self, other: &Self) -> Self {
        let both = self.entries.runs().iter().chain(other.entries.runs());
        let whole = |part: &Self, entry: u64| {
            part.instances.of(entry).is_none() && part.entries.touches(&(entry..entry.saturating_add(1)))
        };
        let mut of: Vec<(u64, &[u32])> = self.instances.iter().filter(|(e, _)| !whole(other, *e)).collect();
        of.extend(other.instances.iter().filter(|(e, _)| !whole(self, *e)));
        of.sort_by_key(|(entry, _)| *entry);
        let mut instances = Instances::default();
        for same in of.chunk_by(|a, b| a.0 == b.0) {
            let mut numbers: Vec<u32> = same.iter().flat_map(|(_, numbers)| *numbers).copied().collect();
            numbers.sort_unstable();
            numbers.dedup();
            same.first().into_iter().for_each(|(entry, _)| instances.push(*entry, &numbers));
        }
        Self { entries: EntryList::from_ranges(both.cloned().collect()), instances, ..self.clone() }
    }
}

/// A tree of a chain: what an entry list knows it by, and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counted {
    /// Path or URL.
    pub file: String,
    /// Path of its tree.
    pub tree: String,
    /// Its entries, counted through the chain.
    pub entries: Range<u64>,
}

impl Counted {
    /// A tree in front of which there are so many entries.
    pub fn new(tree: &Tree, first: u64) -> Self {
        Self { file: tree.file().url().into(), tree: tree.path().into(), entries: first..first + tree.entries() }
    }

    /// What an entry list calls the file: as in ROOT a local one by its whole path, wherever it is used again.
    pub fn stored_file(&self) -> String {
        stored_name(&self.file)
    }
}

fn not_a_list(name: &str, object: &Object) -> Error {
    Error::invalid(format!("{name} is a {}, not an entry list (TEntryList or TEventList)", object.class.name))
}

impl EntryListObject {
    /// Reads the list of this name.
    ///
    /// # Errors
    /// As [`File::read_object`]; `Invalid` when the object is no entry list.
    pub fn read(file: &File, path: &str) -> Result<Self> {
        let objects = file.read_object(path)?;
        let object = objects.root();
        if !object.is_a("TEventList") && !object.is_a("TEntryList") {
            return Err(not_a_list(path, object).in_file(file.url()));
        }
        Self::of(&objects, object)
            .map_err(|e| Error::new(e.kind(), format!("{path}: {}", e.what())).in_file(file.url()))
    }

    /// The list that an object is.
    ///
    /// # Errors
    /// `Invalid` when it is no entry list, `Corrupt` when its parts do not fit together.
    pub fn of(objects: &Objects, object: &Object) -> Result<Self> {
        if object.is_a("TEventList") {
            let numbers = match object.member("fList") {
                Some(Value::Numbers(n)) => numbers(&n.data)?,
                _ => Vec::new(),
            };
            let entries = EntryList::from_numbers(numbers);
            return Ok(Self { parts: vec![ListPart { entries, ..ListPart::default() }] });
        }
        if !object.is_a("TEntryList") {
            return Err(not_a_list("the object", object));
        }
        let lists = items(objects, object.member("fLists"));
        let parts = if lists.is_empty() {
            vec![part(objects, object)?]
        } else {
            lists.iter().flatten().map(|l| part(objects, l)).collect::<Result<_>>()?
        };
        Ok(Self { parts })
    }

    /// A list of these parts.
    pub fn new(parts: Vec<ListPart>) -> Self {
        Self { parts }
    }

    /// The entries tree by tree.
    pub fn parts(&self) -> &[ListPart] {
        &self.parts
    }

    /// All entries, of each tree counted from its beginning.
    pub fn len(&self) -> u64 {
        self.parts.iter().map(|part| part.entries.len()).sum()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.parts.iter().all(|part| part.entries.is_empty())
    }

    /// What is in this list, in the other or in both, tree by tree.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        let mut parts = self.parts.clone();
        for more in &other.parts {
            match parts.iter_mut().find(|p| p.tree == more.tree && p.file == more.file) {
                Some(part) => *part = part.union(more),
                None => parts.push(more.clone()),
            }
        }
        Self { parts }
    }

    /// The same without instances: entries are in it whole.
    #[must_use]
    pub fn whole(mut self) -> Self {
        self.parts.iter_mut().for_each(|part| part.instances = Instances::default());
        self
    }

    /// The entries of a tree, or of a chain of them, counted through it. For a single tree a list of a single one is taken
    /// as it is, as `TTree::SetEntryList` does; otherwise trees go by their name and that of their file, and those for which
    /// there is no list have no entries.
    ///
    /// # Errors
    /// `NotFound` when the list is for none of the trees.
    pub fn of_trees(&self, trees: &[Counted]) -> Result<(EntryList, Instances)> {
        if let [only] = self.parts.as_slice()
            && (trees.len() == 1 || self.counts_through())
        {
            return Ok((only.entries.clone(), only.instances.clone()));
        }
        let mut ranges = Vec::new();
        let mut instances = Instances::default();
        let mut found = false;
        for Counted { file, tree, entries } in trees {
            let Some(part) = self.part_of(tree, file) else { continue };
            found = true;
            let own = part.entries.within(&(0..entries.end.saturating_sub(entries.start)));
            ranges.extend(own.runs().iter().map(|r| entries.start + r.start..entries.start + r.end));
            let within = |(entry, _): &(u64, &[u32])| *entry < entries.end.saturating_sub(entries.start);
            part.instances.iter().take_while(within).for_each(|(e, of)| instances.push(entries.start + e, of));
        }
        match trees.first() {
            Some(first) if !found => Err(self.foreign(first)),
            _ => Ok((EntryList::from_ranges(ranges), instances)),
        }
    }

    /// Whether its entries are counted through a chain: it does not tell from which tree they are.
    pub fn counts_through(&self) -> bool {
        matches!(self.parts.as_slice(), [only] if only.tree.is_empty() && only.file.is_empty())
    }

    /// The part for a tree: files go by their whole name, or, moved since, by the last part of it where that is enough.
    fn part_of(&self, tree: &str, file: &str) -> Option<&ListPart> {
        let same_tree = |p: &&ListPart| last_name(&p.tree) == last_name(tree);
        let whole = stored_name(file);
        if let Some(exact) = self.parts.iter().filter(same_tree).find(|p| p.file == file || p.file == whole) {
            return Some(exact);
        }
        let mut named = self.parts.iter().filter(same_tree).filter(|p| last_name(&p.file) == last_name(file));
        named.next().filter(|_| named.next().is_none())
    }

    fn foreign(&self, of: &Counted) -> Error {
        /// The number of entries according to the list.
        const TOLD: usize = 5;
        let told: Vec<String> = self.parts.iter().take(TOLD).map(|p| format!("{} of {}", p.tree, p.file)).collect();
        let more = if self.parts.len() > TOLD { " and others" } else { "" };
        Error::not_found(format!("the entry list is not for the tree {} but for {}{more}", of.tree, told.join(", ")))
            .in_file(&of.file)
            .with_remedy("trees are matched by name, files by name without directory")
    }
}

fn stored_name(file: &str) -> String {
    if file.contains("://") {
        return file.to_owned();
    }
    std::path::absolute(path_of(file)).map_or_else(|_| file.to_owned(), |path| text_of_path(&path))
}

/// The last part of a path or URL, without a cycle or what follows a question mark.
fn last_name(path: &str) -> &str {
    let path = path.split('?').next().unwrap_or(path);
    let name = path.rsplit('/').next().unwrap_or(path);
    name.split(';').next().unwrap_or(name)
}

/// The items of a list; none in place of those that are missing.
fn items<'o>(objects: &'o Objects, list: Option<&'o Value>) -> Vec<Option<&'o Object>> {
    let content = list.and_then(|v| objects.object(v)).map(Object::content);
    match content {
        Some(Value::List(items)) => items.iter().map(|i| objects.object(i)).collect(),
        _ => Vec::new(),
    }
}

fn part(objects: &Objects, list: &Object) -> Result<ListPart> {
    let text = |name| list.member(name).and_then(Value::as_text).unwrap_or_default().into_owned();
    let entries = entries(objects, list)?;
    let instances = instances(objects, list)?;
    Ok(ListPart { tree: text("fTreeName"), file: text("fFileName"), entries, instances })
}

/// The entries of a `TEntryList` in its blocks.
fn entries(objects: &Objects, list: &Object) -> Result<EntryList> {
    let mut ranges = Vec::new();
    for (number, block) in (0..).zip(items(objects, list.member("fBlocks"))) {
        if let Some(block) = block {
            self::block(block, number * BLOCK, &mut ranges)?;
        }
    }
    let entries = EntryList::from_ranges(ranges);
    let told = list.member("fN").and_then(Value::as_i64).and_then(|n| u64::try_from(n).ok());
    if told != Some(entries.len()) {
        let told = told.map_or("an unknown number of".into(), |n| n.to_string());
        return Err(Error::corrupt(format!("a list of {told} entries contains {}", entries.len())));
    }
    Ok(entries)
}

/// The instances that a `TEntryListArray` has of its entries: a list for each.
fn instances(objects: &Objects, list: &Object) -> Result<Instances> {
    let (mut found, mut total) = (Vec::new(), 0u64);
    for one in items(objects, list.member("fSubLists")).into_iter().flatten() {
        let entry = one.member("fEntry").and_then(Value::as_i64).and_then(|n| u64::try_from(n).ok());
        let entry = entry.ok_or_else(|| Error::corrupt("an entry list has instances without an entry"))?;
        let list = entries(objects, one)?;
        total += list.len();
        if total > MOST_INSTANCES {
            return Err(Error::unsupported(format!("an entry list has more than {MOST_INSTANCES} instances")));
        }
        found.push((entry, list));
    }
    found.sort_by_key(|(entry, _)| *entry);
    let mut instances = Instances::default();
    for (entry, list) in found {
        let numbers: std::result::Result<Vec<u32>, _> = list.iter().map(u32::try_from).collect();
        let numbers = numbers.map_err(|_| Error::corrupt("the number of an instance in an entry list is too large"))?;
        instances.push(entry, &numbers);
    }
    Ok(instances)
}

/// The entries of a `TEntryListBlock` that begins at this entry: bits, numbers of those that passed, or of those that did
/// not.
fn block(block: &Object, first: u64, out: &mut Vec<Range<u64>>) -> Result<()> {
    let member = |name| block.member(name).and_then(Value::as_i64);
    let words = match block.member("fIndices") {
        Some(Value::Numbers(n)) => match &n.data {
            Data::U16(words) => words.as_slice(),
            _ => return Err(Error::corrupt("a block of entries must contain 16-bit words")),
        },
        _ => &[],
    };
    if member("fType") != Some(NUMBERS) {
        let bits = words
            .iter()
            .zip(0u64..)
            .flat_map(|(&word, i)| (0..16).filter(move |bit| word >> bit & 1 == 1).map(move |bit| i * 16 + bit));
        out.extend_from_slice(EntryList::from_numbers(bits.map(|n| first + n).collect()).runs());
        return Ok(());
    }
    if words.iter().any(|&n| u64::from(n) >= BLOCK) {
        return Err(Error::corrupt("an entry is outside its block of 64000"));
    }
    let listed = EntryList::from_numbers(words.iter().map(|&n| first + u64::from(n)).collect());
    if member("fPassing") != Some(0) {
        out.extend_from_slice(listed.runs());
        return Ok(());
    }
    let mut from = first;
    for run in listed.runs() {
        out.push(from..run.start);
        from = run.end;
    }
    out.push(from..first + BLOCK);
    Ok(())
}

/// Whole numbers of any width.
fn numbers(data: &Data) -> Result<Vec<u64>> {
    let number = |i| data.get(i).and_then(|v| v.as_i64()).and_then(|n| u64::try_from(n).ok());
    (0..data.len())
        .map(|i| number(i).ok_or_else(|| Error::corrupt("a negative entry number in an entry list")))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(parts: &[(&str, String, Range<u64>)]) -> EntryListObject {
        let part = |(tree, file, entries): &(&str, String, Range<u64>)| ListPart {
            tree: (*tree).into(),
            file: file.clone(),
            entries: entries.clone().into(),
            ..ListPart::default()
        };
        EntryListObject { parts: parts.iter().map(part).collect() }
    }

    fn chain(files: &[(&str, Range<u64>)]) -> Vec<Counted> {
        let counted = |(file, entries): &(&str, Range<u64>)| Counted {
            file: (*file).into(),
            tree: "d/t".into(),
            entries: entries.clone(),
        };
        files.iter().map(counted).collect()
    }

    #[test]
    fn parts_go_by_tree_and_file() {
        let x = |directory: &str, n| ("t", format!("{directory}/x.root"), n..n + 1);
        let list = list(&[x("/a", 1), x("/b", 2), ("u", "/b/y.root".into(), 3..4), ("t", "/b/y.root".into(), 4..5)]);
        let of = |tree: &str, file: &str| {
            let counted = Counted { file: file.into(), tree: tree.into(), entries: 0..10 };
            list.of_trees(&[counted]).map(|(entries, _)| entries)
        };
        assert_eq!(of("t", "/b/x.root").unwrap(), EntryList::from(2..3));
        assert_eq!(of("d/t;1", "root://h//new/y.root?authz=1").unwrap(), EntryList::from(4..5));
        assert_eq!(of("u", "y.root").unwrap(), EntryList::from(3..4));
        let unclear = of("t", "x.root").unwrap_err().to_string();
        assert!(unclear.contains("t of /a/x.root"), "{unclear}");
        assert!(of("w", "/a/x.root").is_err());
    }

    #[test]
    fn lists_are_added_tree_by_tree() {
        let part = |file: &str, entries: Range<u64>, instances: &[(u64, &[u32])]| {
            let mut part =
                ListPart { tree: "t".into(), file: file.into(), entries: entries.into(), ..ListPart::default() };
            instances.iter().for_each(|(e, n)| part.instances.push(*e, n));
            part
        };
        let one = EntryListObject::new(vec![part("a", 1..4, &[(1, &[0]), (2, &[1]), (3, &[0, 2])])]);
        let two = EntryListObject::new(vec![part("a", 2..5, &[(3, &[1, 2]), (4, &[3])]), part("b", 0..1, &[])]);
        let both = one.union(&two);
        assert_eq!(both.len(), 5);
        let expected: [(u64, &[u32]); 3] = [(1, &[0]), (3, &[0, 1, 2]), (4, &[3])];
        assert_eq!(both.parts()[0].instances.iter().collect::<Vec<_>>(), expected);
        assert!(both.whole().parts().iter().all(|p| p.instances.is_empty()));
    }

    #[test]
    fn a_chain_counts_through_its_files() {
        let file = |name: &str| name.to_owned();
        let two = list(&[("t", file("b.root"), 1..3), ("t", file("c.root"), 0..100)]);
        let files = chain(&[("a.root", 0..10), ("/new/b.root", 10..20), ("c.root", 20..25)]);
        assert_eq!(two.of_trees(&files).unwrap().0.runs(), [11..13, 20..25]);
        assert!(two.of_trees(&files[..1]).is_err());
        let through = list(&[("", file(""), 5..15)]);
        assert_eq!(through.of_trees(&files).unwrap().0, EntryList::from(5..15));
        let moved = list(&[("other", file("elsewhere.root"), 2..3)]);
        assert_eq!(
            moved.of_trees(&files[..1]).unwrap().0,
            EntryList::from(2..3),
            "a list of one tree fits any single tree"
        );
        assert!(moved.of_trees(&files).is_err());
    }
}
