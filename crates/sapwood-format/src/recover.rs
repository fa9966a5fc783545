//! Files that were never closed, or were truncated: their records are found by walking from one to the next, as ROOT's
//! `TFile::Recover` does. Where the chain is broken, the next record is found by its own position in its label.

use crate::cursor::Cursor;
use crate::directory::Directory;
use crate::header::Header;
use crate::key::Key;
use crate::orphans::{OrphanBasket, Orphans};
use crate::step::Step;
use bytes::Bytes;
use sapwood_span::{Result, Span};
use std::collections::{BTreeMap, BTreeSet};

/// Bytes of a label up to its texts, small and large positions.
const LABEL: u64 = 26;

/// Bytes requested when a label may be longer than what was read: more than three texts of 64 kB.
const LONGEST_LABEL: u64 = 256 << 10;

/// Classes of a file's internal records.
const OWN: &[&str] = &["TFile", "TBasket"];

/// Damaged places that are recorded; more are only counted.
const NOTED: usize = 1000;

/// Walks over a file's records without reading their content.
pub struct Walk {
    size: u64,
    at: u64,
    /// How many bytes are requested at once.
    window: u64,
    held: (u64, Bytes),
    /// Where the damage began after which the next record is searched for, and from where to search.
    lost: Option<(u64, u64)>,
    /// Where to search again when no record begins here: the free bytes, or the label, that led here stated their
    /// length, and lengths are trusted only when they lead to a record.
    again: Option<(u64, Length)>,
    /// Whether the lost bytes belong to a truncated record: it was reported already.
    told: bool,
}

/// The next item found by a [`Walk`].
#[derive(Clone, Debug)]
pub enum Found {
    /// A record's label, and its first bytes: at least the label, and for directories their content.
    Key(Box<Key>, Bytes),
    /// Bytes that were freed.
    Gap(Span),
    /// Bytes that are not a record.
    Damage(Span),
    /// A record that extends beyond the end of the file.
    Cut(Box<Key>),
    /// The end of the file.
    End,
}

/// The kind of length that led to a position.
#[derive(Clone, Copy, Debug)]
enum Length {
    Record,
    Free,
}

enum Label {
    Key(Box<Key>),
    Gap(u64),
    /// This many bytes are needed to decide.
    Short(u64),
    Bad,
}

impl Walk {
    /// From a position to the end of a file; `window` bytes are requested at once.
    pub fn new(from: u64, size: u64, window: u64) -> Self {
        Self { size, at: from, window: window.max(1024), held: (0, Bytes::new()), lost: None, again: None, told: false }
    }

    /// Adds bytes that [`Self::step`] requested.
    pub fn push(&mut self, start: u64, bytes: Bytes) {
        self.held = (start, bytes);
    }

    /// The next record, or the bytes that are needed to find it.
    pub fn step(&mut self) -> Step<Found> {
        loop {
            if self.at >= self.size {
                let told = std::mem::take(&mut self.told) && self.lost.take().is_some();
                let damage = if told { None } else { self.damage_up_to(self.size) };
                return Step::Done(damage.unwrap_or(Found::End));
            }
            let here = self.here();
            if here.is_empty() {
                return self.need(self.window);
            }
            match label(&here, self.at) {
                Label::Short(n) if n > here.len() as u64 && self.at + (here.len() as u64) < self.size => {
                    return self.need(n.max(self.window));
                }
                Label::Gap(n) if self.lost.is_none() && n <= self.size - self.at => {
                    let gap = Span::new(self.at, n);
                    if !matches!(self.again, Some((_, Length::Free))) {
                        self.again = Some((self.at, Length::Free));
                    }
                    self.at = gap.end();
                    return Step::Done(Found::Gap(gap));
                }
                Label::Key(key) => {
                    if let Some(damage) = self.damage_up_to(self.at) {
                        return Step::Done(damage);
                    }
                    self.told = false;
                    let end = key.span.end();
                    let behind = self.at + u64::from(key.key_len);
                    if end > self.size {
                        // the file is truncated, or the length is wrong: then more records follow
                        self.again = None;
                        self.at = behind.min(self.size);
                        (self.lost, self.told) = (Some((self.at, self.at)), true);
                        return Step::Done(Found::Cut(key));
                    }
                    // a directory's record and its key list are distinguished by their content
                    let held = if key.is_directory() { 60.min(key.payload().len) } else { 0 };
                    let wanted = u64::from(key.key_len) + held;
                    if (here.len() as u64) < wanted {
                        return self.need(wanted.max(self.window));
                    }
                    self.at = end;
                    self.again = Some((behind, Length::Record));
                    return Step::Done(Found::Key(key, here));
                }
                Label::Gap(_) | Label::Short(_) | Label::Bad => {
                    if let Some((start, _)) = self.again.take() {
                        self.lost = Some((self.at, start));
                        self.at = start;
                        continue;
                    }
                    self.lost.get_or_insert((self.at, self.at));
                    self.at = self.next_candidate(&here);
                }
            }
        }
    }

    fn damage_up_to(&mut self, end: u64) -> Option<Found> {
        let (began, searched) = self.lost.take()?;
        // a record before the place where the damage showed: the length that led beyond it was damaged
        let from = if began < end { began } else { searched };
        Some(Found::Damage(Span::new(from, end - from)))
    }

    fn here(&self) -> Bytes {
        let (start, bytes) = &self.held;
        match self.at.checked_sub(*start) {
            Some(skip) if skip < bytes.len() as u64 => bytes.slice(skip as usize..),
            _ => Bytes::new(),
        }
    }

    fn need<T>(&self, n: u64) -> Step<T> {
        Step::Need(vec![Span::new(self.at, n.min(self.size - self.at))])
    }

    /// The next position where a label might name that position.
    fn next_candidate(&self, here: &[u8]) -> u64 {
        // positions follow 18 bytes, small and large ones alike
        let says_its_place = |i: usize| {
            let place = self.at + i as u64;
            let small = here.get(i + 18..i + 22).and_then(|b| b.try_into().ok()).map(u32::from_be_bytes);
            let large = here.get(i + 18..i + 26).and_then(|b| b.try_into().ok()).map(u64::from_be_bytes);
            small.map(u64::from) == Some(place) || large == Some(place)
        };
        let last = here.len().saturating_sub(LABEL as usize);
        // the rest at the end of the window is searched again with the next one
        (1..last).find(|&i| says_its_place(i)).map_or(self.at + last.max(1) as u64, |i| self.at + i as u64)
    }
}

/// The label at a position, if there is one.
fn label(here: &[u8], at: u64) -> Label {
    let mut c = Cursor::new(here, 0);
    let Ok(nbytes) = c.i32() else { return Label::Short(LABEL) };
    if nbytes < 0 {
        return Label::Gap(u64::from(nbytes.unsigned_abs()));
    }
    let (Ok(version), Ok(_), Ok(_), Ok(key_len)) = (c.u16(), c.u32(), c.u32(), c.u16()) else {
        return Label::Short(LABEL);
    };
    let plausible = nbytes > 0
        && (1..=20).contains(&(version % 1000))
        && version < 1020
        && u64::from(key_len) >= LABEL
        && i64::from(nbytes) >= i64::from(key_len);
    if !plausible {
        return Label::Bad;
    }
    match Key::read(&mut Cursor::new(here, 0)) {
        Ok(key) if key.span.start == at => Label::Key(Box::new(key)),
        Ok(_) => Label::Bad,
        Err(_) if (here.len() as u64) < LONGEST_LABEL.min(u64::from(key_len)) => Label::Short(u64::from(key_len)),
        Err(_) => Label::Bad,
    }
}

/// The result of a walk over a file's records: its objects, and what is lost.
#[derive(Clone, Debug, Default)]
pub struct Recovered {
    /// The objects, in the order of the file.
    pub keys: Vec<Key>,
    /// Positions of directories.
    pub directories: BTreeSet<u64>,
    /// The newest class descriptions; none when the file has none.
    pub info: Option<Span>,
    /// Places that are not records.
    pub damage: Vec<Span>,
    /// How many places are not records.
    pub damaged_places: u64,
    /// Records that extend beyond the end of the file: the last one when it is truncated, others when their length is
    /// wrong.
    pub cut: Vec<Key>,
    /// Baskets after the last header of their tree, which does not list them.
    pub orphans: BTreeMap<String, Orphans>,
    /// The labels of those baskets, if requested ([`Recovery::with_orphans`]): by tree, in the order of the file.
    pub orphan_baskets: BTreeMap<String, Vec<OrphanBasket>>,
    /// The size that the file's header states, if the file is shorter.
    pub stated_size: Option<u64>,
    /// Records of all kinds.
    pub records: u64,
    /// Whether the labels of baskets are kept.
    keeps_baskets: bool,
}

impl Recovered {
    /// Adds an item that a walk found.
    pub fn add(&mut self, found: Found) {
        match found {
            Found::Key(key, record) => {
                self.add_key(*key, &record);
            }
            Found::Damage(span) => {
                self.damaged_places += 1;
                if self.damage.len() < NOTED {
                    self.damage.push(span);
                }
            }
            Found::Cut(key) => {
                if self.cut.len() < NOTED {
                    self.cut.push(*key);
                }
            }
            Found::Gap(_) | Found::End => {}
        }
    }

    fn add_key(&mut self, key: Key, record: &[u8]) {
        let payload = record.get(key.key_len as usize..).unwrap_or_default();
        self.records += 1;
        if key.class == "TBasket" {
            if let Some(basket) = OrphanBasket::read(&key, record).filter(|_| self.keeps_baskets) {
                self.orphan_baskets.entry(key.title.clone()).or_default().push(basket);
            }
            let orphans = self.orphans.entry(key.title).or_default();
            orphans.baskets += 1;
            orphans.bytes += key.span.len;
        } else if key.name == "StreamerInfo" && key.class == "TList" {
            self.info = Some(key.span);
        } else if key.is_directory() {
            // a directory's list of keys has a label like its own record
            if Directory::parse(payload).is_ok_and(|d| d.seek == key.span.start) {
                self.directories.insert(key.span.start);
                self.keys.push(key);
            }
        } else if !OWN.contains(&key.class.as_str()) {
            if key.is_tree() {
                self.orphans.remove(&key.name);
                self.orphan_baskets.remove(&key.name);
            }
            self.keys.push(key);
        }
    }

    /// The header to continue with, from the file's own.
    pub(crate) fn header(&self, header: &Header, size: u64) -> Header {
        Header { end: size, info: self.info.unwrap_or_default(), ..header.clone() }
    }

    /// The keys of each directory, by its position; those whose directory is lost are in the root at `begin`.
    pub(crate) fn by_directory(&self, begin: u64) -> BTreeMap<u64, Vec<Key>> {
        let mut out: BTreeMap<u64, Vec<Key>> = BTreeMap::new();
        for key in &self.keys {
            let known = self.directories.contains(&key.parent) && key.parent != key.span.start;
            out.entry(if known { key.parent } else { begin }).or_default().push(key.clone());
        }
        out
    }

    /// What is lost, as text; empty when nothing is known to be.
    pub fn lost(&self) -> Vec<String> {
        let mut out = self.lost_records();
        out.extend(self.orphans.iter().map(|(tree, orphans)| orphans.lost(tree)));
        out
    }

    /// The same without baskets that no header lists.
    pub fn lost_records(&self) -> Vec<String> {
        let mut out = Vec::new();
        for key in &self.cut {
            out.push(format!(
                "{} {} at byte {} is truncated: its last byte should be {}",
                key.class,
                if key.class == "TBasket" {
                    format!("of branch {} of tree {}", key.name, key.title)
                } else {
                    key.name.clone()
                },
                key.span.start,
                key.span.end().saturating_sub(1)
            ));
        }
        for span in &self.damage {
            out.push(format!("{} contain no valid records", span.in_words()));
        }
        let more = self.damaged_places.saturating_sub(self.damage.len() as u64);
        if more > 0 {
            out.push(format!("{more} more places contain no valid records"));
        }
        out
    }
}

/// Reads a file's records from its first one on: [`Walk`] and [`Recovered`] together.
pub struct Recovery {
    walk: Walk,
    found: Recovered,
}

impl Recovery {
    /// For a file of `size` bytes whose records begin at `begin`.
    pub fn new(begin: u64, size: u64, window: u64) -> Self {
        Self { walk: Walk::new(begin, size, window), found: Recovered::default() }
    }

    /// The same, keeping the labels of baskets after the last header of their tree.
    #[must_use]
    pub fn with_orphans(mut self, kept: bool) -> Self {
        self.found.keeps_baskets = kept;
        self
    }

    /// Adds bytes that [`Self::step`] requested.
    pub fn push(&mut self, start: u64, bytes: Bytes) {
        self.walk.push(start, bytes);
    }

    /// All that was found, or the bytes that are needed next.
    ///
    /// # Errors
    /// None so far: damage is recorded, not refused.
    pub fn step(&mut self) -> Result<Step<Recovered>> {
        loop {
            match self.walk.step() {
                Step::Need(spans) => return Ok(Step::Need(spans)),
                Step::Done(Found::End) => return Ok(Step::Done(std::mem::take(&mut self.found))),
                Step::Done(found) => self.found.add(found),
            }
        }
    }
}
