//! Reads what is readable of a damaged file, object by object.

use super::entries::{Reading, keep_whole};
use super::partial_baskets::Cut;
use super::unlisted_baskets::{Rescued, rescue};
use super::{LostTree, Recovered};
use crate::input::{Input, InputObject, InputTree, Reader};
use crate::recode::Recoder;
use bytes::Bytes;
use sapwood_codec::{Compression, Decoder};
use sapwood_edit::Label;
use sapwood_edit::tree::read_as_is;
use sapwood_engine::File;
use sapwood_format::cursor::Cursor;
use sapwood_format::tree::{Tree, read_tree};
use sapwood_format::{Key, Listing, Streamers, check_payload, inflate_header};
use sapwood_span::raw_text::bytes_of;
use sapwood_span::{Error, ErrorKind, Result, Span};
use std::collections::{BTreeMap, BTreeSet};

const TREES: [&str; 3] = ["TTree", "TNtuple", "TNtupleD"];

/// Reads everything but the intact baskets; losses are recorded. Also returns the baskets to be cut, each with the
/// number of its tree.
///
/// # Errors
/// When the source fails or the user has cancelled; damage is no error.
pub(super) fn read(
    file: File,
    found: &mut Recovered,
    compression: Option<Compression>,
    check: &dyn Fn() -> Result<()>,
) -> Result<(Input, Vec<(usize, Cut)>)> {
    if let Some(recovered) = file.recovered() {
        found.lost.extend(recovered.lost_records());
    }
    let listed = file.list("", true)?;
    let (streamers, classes) = match class_descriptions(&file) {
        Ok(read) => read,
        Err(e) => {
            found.lost.push(format!("the class descriptions: {}", e.what()));
            Default::default()
        }
    };
    let mut input = Input { keeps_cycles: true, ..Input::new(file, streamers, classes) };
    let mut trees = Trees { compression, check, recoder: Recoder::default(), cuts: Vec::new(), told: BTreeSet::new() };
    let paths = by_path(listed);
    let mut homes: BTreeMap<String, usize> = BTreeMap::new();
    for (_, cycles) in &paths {
        if let Some(tree) = cycles.iter().find(|l| is_tree(&l.key)) {
            *homes.entry(tree.key.name.clone()).or_default() += 1;
        }
    }
    for (path, mut cycles) in paths {
        check()?;
        // the newest first; of two records with one cycle the later one
        cycles.sort_by_key(|l| std::cmp::Reverse((l.key.cycle, l.key.span.start)));
        let Some(newest) = cycles.first() else { continue };
        if newest.key.is_directory() {
            // its content was found, whatever happened to its own record
            let made = || Label::new("TDirectory", &bytes_of(&newest.key.name), &bytes_of(&newest.key.title));
            let label = record(&input.reader, &newest.key).and_then(|r| Label::read(&r));
            input.directories.push((path, label.map_or_else(|_| made(), |(label, _)| label)));
        } else if is_tree(&newest.key) {
            let is_only = homes.get(&newest.key.name) == Some(&1);
            trees.add(&mut input, &path, cycles, is_only, found)?;
        } else {
            objects(&mut input, &path, cycles, found)?;
        }
    }
    // parents first
    input.directories.sort_by_key(|(path, _)| path.matches('/').count());
    process_ids(&mut input, found);
    if let Some(recovered) = input.reader.file().recovered() {
        let rest = recovered.orphans.iter().filter(|(tree, _)| !trees.told.contains(*tree));
        found.lost.extend(rest.map(|(tree, orphans)| orphans.lost(tree)));
    }
    Ok((input, trees.cuts))
}

fn is_tree(key: &Key) -> bool {
    TREES.contains(&key.class.as_str())
}

/// Keys by path, in the order of the file.
fn by_path(listed: Vec<Listing>) -> Vec<(String, Vec<Listing>)> {
    let mut out: Vec<(String, Vec<Listing>)> = Vec::new();
    let mut at: BTreeMap<String, usize> = BTreeMap::new();
    for l in listed {
        let i = *at.entry(l.path.clone()).or_insert(out.len());
        match out.get_mut(i) {
            Some((_, cycles)) => cycles.push(l),
            None => out.push((l.path.clone(), vec![l])),
        }
    }
    out
}

/// The class descriptions, and their record's payload for a label of this many bytes.
fn class_descriptions(file: &File) -> Result<(Streamers, (usize, Vec<u8>))> {
    let info = file.recovered().and_then(|r| r.info).unwrap_or(file.header().info);
    if info.is_empty() || info.start == 0 {
        return Ok(Default::default());
    }
    let record = file.read(&[info])?.into_iter().next().unwrap_or_default();
    let key = Key::read(&mut Cursor::new(&record, 0))?;
    let payload = record.get(key.key_len as usize..).unwrap_or_default();
    let data = inflate_header(&key, payload, &mut Decoder::new())?;
    let streamers = Streamers::parse(&data, key.key_len as usize)?;
    Ok((streamers, (key.key_len as usize, data)))
}

/// A record whose label matches its key.
fn record(reader: &Reader, key: &Key) -> Result<Bytes> {
    let record = reader.file().read(&[key.span])?.into_iter().next().unwrap_or_default();
    match key.is_told_by(&record) || key.is_directory() {
        true => Ok(record),
        false => Err(Error::corrupt("another record is at the position in its key").at(key.span)),
    }
}

/// Damage is recorded, all other errors end the work.
fn noted<T>(read: Result<T>, what: &str, span: Span, found: &mut Recovered) -> Result<Option<T>> {
    match read {
        Ok(t) => Ok(Some(t)),
        Err(e) if matches!(e.kind(), ErrorKind::Corrupt | ErrorKind::Unsupported) => {
            found.lost.push(format!("{what} at byte {}: {}", span.start, e.what()));
            Ok(None)
        }
        Err(e) => Err(e),
    }
}

/// Reads trees.
struct Trees<'a> {
    compression: Option<Compression>,
    check: &'a dyn Fn() -> Result<()>,
    recoder: Recoder,
    /// Baskets to be cut, each with the number of its tree.
    cuts: Vec<(usize, Cut)>,
    /// Trees for which the fate of baskets after their last header was reported.
    told: BTreeSet<String>,
}

impl Trees<'_> {
    /// The newest cycle of a tree with a readable header, with its intact entries. `is_only`: no other tree has its
    /// name.
    fn add(
        &mut self,
        input: &mut Input,
        path: &str,
        cycles: Vec<Listing>,
        is_only: bool,
        found: &mut Recovered,
    ) -> Result<()> {
        let mut best = None;
        for (n, l) in cycles.into_iter().enumerate() {
            let (span, key) = (l.key.span, l.key);
            let what = format!("{} {path};{}", key.class, key.cycle);
            if !is_tree(&key) {
                found.lost.push(format!("{what} is skipped: a tree has the same name"));
                continue;
            }
            if best.is_some() {
                found.remarks.push(format!("{what} is skipped: a newer cycle is intact"));
                continue;
            }
            let header = (|| {
                let record = record(&input.reader, &key)?;
                let (label, base) = Label::read(&record)?;
                let header = inflate_header(&key, &record.slice(base..), &mut Decoder::new())?;
                let facts = read_as_is(&header, base, &key.class, &input.streamers)?.0;
                let read = read_tree(&header, base, &key.class, &input.streamers)?;
                Ok((InputTree { path: path.to_owned(), class: key.class.clone(), label, base, header, facts }, read))
            })();
            let Some((mut tree, header)) = noted(header, &what, span, found)? else { continue };
            // only the last header has baskets after it
            let behind = match n {
                0 => self.behind(input, (&key.name, is_only), &mut tree, &header, found),
                _ => None,
            };
            let all = tree.facts.entries;
            let streamers = input.streamers.clone();
            let reading = Reading {
                reader: &input.reader,
                streamers: &streamers,
                compression: self.compression,
                check: self.check,
            };
            let kept = keep_whole((&mut tree.facts, &header), behind.as_ref(), &reading, &mut self.recoder)?;
            if !kept.lost.is_empty() {
                found.lost.extend(kept.why.iter().map(|why| format!("{what}: {why}")));
                let (cycle, entries) = (key.cycle, kept.lost.len());
                found.lost_entries.push(LostTree { path: path.to_owned(), cycle, entries, ranges: kept.why });
            }
            if all == 0 || tree.facts.entries > 0 {
                let at = input.trees.len();
                self.cuts.extend(kept.cuts.into_iter().map(|cut| (at, cut)));
                best = Some(tree);
            }
        }
        input.trees.extend(best);
        Ok(())
    }

    /// Adds the baskets after a tree's last header, and reports what happened to them.
    fn behind(
        &mut self,
        input: &Input,
        (name, is_only): (&str, bool),
        tree: &mut InputTree,
        header: &Tree,
        found: &mut Recovered,
    ) -> Option<Rescued> {
        let recovered = input.reader.file().recovered()?;
        let (counted, orphans) = (recovered.orphans.get(name)?, recovered.orphan_baskets.get(name)?);
        self.told.insert(name.to_owned());
        let rescued = match is_only {
            true => rescue(&mut tree.facts, header, orphans),
            false => Err("other trees have the same name".to_owned()),
        };
        match rescued {
            Ok(rescued) => {
                found.remarks.push(format!(
                    "{}: {} baskets after its last header contained entries {}-{}",
                    tree.path,
                    rescued.baskets,
                    rescued.entries.start,
                    rescued.entries.end - 1
                ));
                let left = counted.baskets.saturating_sub(rescued.baskets);
                if left > 0 {
                    found.lost.push(format!("{left} more baskets of tree {name} were written after its last saved header, but are not the next ones of their branches"));
                }
                Some(rescued)
            }
            Err(why) => {
                found.lost.push(format!("{}: {why}", counted.lost(name)));
                None
            }
        }
    }
}

/// All cycles of an object that can be decompressed, the oldest first.
fn objects(input: &mut Input, path: &str, cycles: Vec<Listing>, found: &mut Recovered) -> Result<()> {
    for l in cycles.into_iter().rev() {
        let (span, key) = (l.key.span, l.key);
        let what = format!("{} {path};{}", key.class, key.cycle);
        if key.is_tree() || key.is_directory() || key.class.ends_with("RNTuple") {
            found.lost.push(format!(
                "{what} is skipped: {}",
                match key.is_tree() || key.is_directory() {
                    true => "another object has the same name",
                    false => "this version does not copy RNTuples",
                }
            ));
            continue;
        }
        let object = (|| {
            let record = record(&input.reader, &key)?;
            let (label, base) = Label::read(&record)?;
            let stored = record.slice(base..);
            // content that cannot be decompressed is not an object
            check_payload(&key, &stored, &mut Decoder::new())?;
            Ok(InputObject { path: path.to_owned(), key: key.clone(), label, stored })
        })();
        let Some(object) = noted(object, &what, span, found)? else { continue };
        let is_process = key.class == "TProcessID" && path.starts_with("ProcessID");
        if is_process { input.process_ids.push(object) } else { input.objects.push(object) }
    }
    Ok(())
}

/// References in baskets name process ids by number: they are meaningless when one is missing.
fn process_ids(input: &mut Input, found: &mut Recovered) {
    let number = |o: &InputObject| o.path.trim_start_matches("ProcessID").parse::<usize>().unwrap_or(usize::MAX);
    input.process_ids.sort_by_key(number);
    if input.process_ids.iter().enumerate().any(|(i, o)| number(o) != i) {
        found.lost.push("references between objects (TRef): a TProcessID that they need is lost".to_owned());
        input.process_ids.clear();
    }
}
