//! What of a damaged file can be read, object by object.

use super::entries::keep_whole;
use super::{LostTree, Recovered};
use crate::container::Label;
use crate::merge::facts::read_as_is;
use crate::merge::input::{Input, InputObject, InputTree, Reader};
use crate::merge::recode::Recoder;
use bytes::Bytes;
use sapwood_codec::Decoder;
use sapwood_engine::File;
use sapwood_format::cursor::Cursor;
use sapwood_format::{Key, Listing, Streamers, inflate};
use sapwood_span::raw_text::bytes_of;
use sapwood_span::{Error, ErrorKind, Result, Span};
use std::collections::BTreeMap;
use std::sync::Arc;

const TREES: [&str; 3] = ["TTree", "TNtuple", "TNtupleD"];

/// Reads all but the baskets that are whole; what is lost is noted.
///
/// # Errors
/// When the source fails or the user wants no more; damage is no error.
pub(super) fn read(file: File, found: &mut Recovered, check: &dyn Fn() -> Result<()>) -> Result<Input> {
    if let Some(recovered) = file.recovered() {
        found.lost.extend(recovered.lost());
    }
    let listed = file.list("", true)?;
    let (streamers, classes) = match class_descriptions(&file) {
        Ok(read) => read,
        Err(e) => {
            found.lost.push(format!("the class descriptions: {}", e.what()));
            Default::default()
        }
    };
    let streamers = streamers.of_root(file.header().version);
    let mut input = Input {
        reader: Arc::new(Reader::of(file)),
        directories: Vec::new(),
        objects: Vec::new(),
        trees: Vec::new(),
        process_ids: Vec::new(),
        streamers: Arc::new(streamers),
        classes,
        keeps_cycles: true,
    };
    let mut recoder = Recoder::default();
    for (path, mut cycles) in by_path(listed) {
        check()?;
        // the newest first; of two records of one cycle that which was written later
        cycles.sort_by_key(|l| std::cmp::Reverse((l.key.cycle, l.key.span.start)));
        let Some(newest) = cycles.first() else { continue };
        if newest.key.is_directory() {
            // what lies in it was found, whatever became of its own record
            let made = || Label::new("TDirectory", &bytes_of(&newest.key.name), &bytes_of(&newest.key.title));
            let label = record(&input.reader, &newest.key).and_then(|r| Label::read(&r));
            input.directories.push((path, label.map_or_else(|_| made(), |(label, _)| label)));
        } else if TREES.contains(&newest.key.class.as_str()) {
            tree(&mut input, &path, cycles, found, &mut recoder, check)?;
        } else {
            objects(&mut input, &path, cycles, found)?;
        }
    }
    // those above first
    input.directories.sort_by_key(|(path, _)| path.matches('/').count());
    process_ids(&mut input, found);
    Ok(input)
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

/// The class descriptions, and their record's payload behind a label of so many bytes.
fn class_descriptions(file: &File) -> Result<(Streamers, (usize, Vec<u8>))> {
    let info = file.recovered().and_then(|r| r.info).unwrap_or(file.header().info);
    if info.is_empty() || info.start == 0 {
        return Ok(Default::default());
    }
    let record = file.read(&[info])?.into_iter().next().unwrap_or_default();
    let key = Key::read(&mut Cursor::new(&record, 0))?;
    let payload = record.get(key.key_len as usize..).unwrap_or_default();
    let data = inflate(&key, payload, &mut Decoder::new())?;
    let streamers = Streamers::parse(&data, key.key_len as usize)?;
    Ok((streamers, (key.key_len as usize, data)))
}

/// A record whose label is what its key says.
fn record(reader: &Reader, key: &Key) -> Result<Bytes> {
    let record = reader.file().read(&[key.span])?.into_iter().next().unwrap_or_default();
    match key.is_told_by(&record) || key.is_directory() {
        true => Ok(record),
        false => Err(Error::corrupt("another record lies where its key says").at(key.span)),
    }
}

/// Damage is noted, all else ends the work.
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

/// The newest cycle of a tree whose header can be read, with the entries that are whole.
fn tree(
    input: &mut Input,
    path: &str,
    cycles: Vec<Listing>,
    found: &mut Recovered,
    recoder: &mut Recoder,
    check: &dyn Fn() -> Result<()>,
) -> Result<()> {
    let mut best = None;
    for l in cycles {
        let (span, key) = (l.key.span, l.key);
        let what = format!("{} {path};{}", key.class, key.cycle);
        if !TREES.contains(&key.class.as_str()) {
            found.lost.push(format!("{what} is left out: its name is a tree's, too"));
            continue;
        }
        if best.is_some() {
            found.remarks.push(format!("{what} is left out: a newer cycle is whole"));
            continue;
        }
        let header = (|| {
            let record = record(&input.reader, &key)?;
            let (label, base) = Label::read(&record)?;
            let header = inflate(&key, &record.slice(base..), &mut Decoder::new())?;
            let facts = read_as_is(&header, base, &key.class, &input.streamers)?.0;
            Ok(InputTree { path: path.to_owned(), class: key.class.clone(), label, base, header, facts })
        })();
        let Some(mut tree) = noted(header, &what, span, found)? else { continue };
        let all = tree.facts.entries;
        let (lost, why) = keep_whole(&mut tree.facts, &input.reader, recoder, check)?;
        if lost.len() > 0 {
            let why = why.map_or_else(
                || "no basket holds them".to_owned(),
                |e| {
                    let branch = e.branch().map_or(String::new(), |b| format!("branch {b}: "));
                    format!("{branch}{}", e.what())
                },
            );
            found.lost.push(format!("{what}: entries {lost} of {all}: {why}"));
            found.lost_entries.push(LostTree { path: path.to_owned(), entries: lost.len() });
        }
        if all == 0 || tree.facts.entries > 0 {
            best = Some(tree);
        }
    }
    input.trees.extend(best);
    Ok(())
}

/// All cycles of an object that can be inflated, the oldest first.
fn objects(input: &mut Input, path: &str, cycles: Vec<Listing>, found: &mut Recovered) -> Result<()> {
    for l in cycles.into_iter().rev() {
        let (span, key) = (l.key.span, l.key);
        let what = format!("{} {path};{}", key.class, key.cycle);
        if key.is_tree() || key.is_directory() || key.class.ends_with("RNTuple") {
            found.lost.push(format!(
                "{what} is left out: {}",
                match key.is_tree() || key.is_directory() {
                    true => "its name is another object's, too",
                    false => "this version does not copy ntuples",
                }
            ));
            continue;
        }
        let object = (|| {
            let record = record(&input.reader, &key)?;
            let (label, base) = Label::read(&record)?;
            let stored = record.slice(base..);
            // a content that cannot be inflated is no object
            inflate(&key, &stored, &mut Decoder::new())?;
            Ok(InputObject { path: path.to_owned(), key: key.clone(), label, stored })
        })();
        let Some(object) = noted(object, &what, span, found)? else { continue };
        let is_process = key.class == "TProcessID" && path.starts_with("ProcessID");
        if is_process { input.process_ids.push(object) } else { input.objects.push(object) }
    }
    Ok(())
}

/// References in baskets name process ids by number: they mean nothing when one is missing.
fn process_ids(input: &mut Input, found: &mut Recovered) {
    let number = |o: &InputObject| o.path.trim_start_matches("ProcessID").parse::<usize>().unwrap_or(usize::MAX);
    input.process_ids.sort_by_key(number);
    if input.process_ids.iter().enumerate().any(|(i, o)| number(o) != i) {
        found.lost.push("references between objects (TRef): a TProcessID that they need is lost".to_owned());
        input.process_ids.clear();
    }
}
