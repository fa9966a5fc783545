//! Files that were never closed, or were truncated: their records are found by walking from one to the next, as ROOT's
//! `TFile::Recover` does. Where the chain is broken, the next record is the one that says its own position.

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

/// Bytes that are asked for when a label may be longer than what is here: three texts of 64 kB are more than any.
const LONGEST_LABEL: u64 = 256 << 10;

/// Classes of records that belong to a file's own keeping.
const OWN: &[&str] = &["TFile", "TBasket"];

/// Places of damage that are noted; more are only counted.
const NOTED: usize = 1000;

/// Walks over a file's records without reading what they hold.
pub struct Walk {
    size: u64,
    at: u64,
    /// How many bytes are asked for at once.
    window: u64,
    held: (u64, Bytes),
    /// Where the damage began behind which the next record is looked for, and from where it is looked for.
    lost: Option<(u64, u64)>,
    /// From where to look again when no record begins here: the free bytes, or the label, that led here said how long
    /// they are, and lengths are believed only when they lead to a record.
    again: Option<(u64, Length)>,
    /// Whether what is lost is what a cut record should hold: it was told already.
    told: bool,
}

/// What comes next in a [`Walk`].
#[derive(Clone, Debug)]
pub enum Found {
    /// A record's label, and its first bytes: at least the label, and for directories what they hold.
    Key(Box<Key>, Bytes),
    /// Bytes that were freed.
    Gap(Span),
    /// Bytes that are no record.
    Damage(Span),
    /// A record that goes on behind the end of the file.
    Cut(Box<Key>),
    /// The end of the file.
    End,
}

/// What a length that led somewhere was that of.
#[derive(Clone, Copy, Debug)]
enum Length {
    Record,
    Free,
}

enum Label {
    Key(Box<Key>),
    Gap(u64),
    /// So many bytes are needed to tell.
    Short(u64),
    Bad,
}

impl Walk {
    /// From a position to the end of a file; `window` bytes are asked for at once.
    pub fn new(from: u64, size: u64, window: u64) -> Self {
        Self { size, at: from, window: window.max(1024), held: (0, Bytes::new()), lost: None, again: None, told: false }
    }

    /// Gives bytes that [`Self::step`] asked for.
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
                        // the file is cut, or the length is wrong: then there are records behind
                        self.again = None;
                        self.at = behind.min(self.size);
                        (self.lost, self.told) = (Some((self.at, self.at)), true);
                        return Step::Done(Found::Cut(key));
                    }
                    // the record of a directory is told from its key list by what it holds
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
        // a record in front of where the damage showed: what led behind it was damaged
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

    /// The next position at which a label might say that it stands there.
    fn next_candidate(&self, here: &[u8]) -> u64 {
        // small positions stand behind 18 bytes, large ones too
        let says_its_place = |i: usize| {
            let place = self.at + i as u64;
            let small = here.get(i + 18..i + 22).and_then(|b| b.try_into().ok()).map(u32::from_be_bytes);
            let large = here.get(i + 18..i + 26).and_then(|b| b.try_into().ok()).map(u64::from_be_bytes);
            small.map(u64::from) == Some(place) || large == Some(place)
        };
        let last = here.len().saturating_sub(LABEL as usize);
        // what is left at the end of the window is looked at again with the next one
        (1..last).find(|&i| says_its_place(i)).map_or(self.at + last.max(1) as u64, |i| self.at + i as u64)
    }
}

/// What a label at a position says, if it is one.
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

/// What a walk over a file's records has found: its objects, and what is lost.
#[derive(Clone, Debug, Default)]
pub struct Recovered {
    /// The objects, in the order of the file.
    pub keys: Vec<Key>,
    /// Where directories lie.
    pub directories: BTreeSet<u64>,
    /// The newest class descriptions; none when the file has none.
    pub info: Option<Span>,
    /// Places that are no records.
    pub damage: Vec<Span>,
    /// How many places are no records.
    pub damaged_places: u64,
    /// Records that go on behind the end of the file: the last one when it is cut, others when their length is wrong.
    pub cut: Vec<Key>,
    /// Baskets that follow behind the last header of their tree, which does not know them.
    pub orphans: BTreeMap<String, Orphans>,
    /// The labels of those baskets, where they were asked for ([`Recovery::with_orphans`]): by tree, in the order of the
    /// file.
    pub orphan_baskets: BTreeMap<String, Vec<OrphanBasket>>,
    /// The size that the file's header states, if the file is shorter.
    pub stated_size: Option<u64>,
    /// Records of all kinds.
    pub records: u64,
    /// Whether the labels of baskets are kept.
    keeps_baskets: bool,
}

impl Recovered {
    /// Takes in what a walk found.
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

    /// The header to go on with, from the file's own.
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

    /// What is lost, in words; empty when nothing is known to be.
    pub fn lost(&self) -> Vec<String> {
        let mut out = self.lost_records();
        out.extend(self.orphans.iter().map(|(tree, orphans)| orphans.lost(tree)));
        out
    }

    /// The same without baskets that no header knows.
    pub fn lost_records(&self) -> Vec<String> {
        let mut out = Vec::new();
        for key in &self.cut {
            out.push(format!(
                "{} {} at byte {} is truncated: it should end at byte {}",
                key.class,
                if key.class == "TBasket" {
                    format!("of branch {} of tree {}", key.name, key.title)
                } else {
                    key.name.clone()
                },
                key.span.start,
                key.span.end()
            ));
        }
        for span in &self.damage {
            out.push(format!("bytes {}-{} contain no valid records", span.start, span.end()));
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

    /// The same, keeping the labels of baskets behind the last header of their tree.
    #[must_use]
    pub fn with_orphans(mut self, kept: bool) -> Self {
        self.found.keeps_baskets = kept;
        self
    }

    /// Gives bytes that [`Self::step`] asked for.
    pub fn push(&mut self, start: u64, bytes: Bytes) {
        self.walk.push(start, bytes);
    }

    /// All that was found, or the bytes that are needed next.
    ///
    /// # Errors
    /// None so far: damage is noted, not refused.
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
