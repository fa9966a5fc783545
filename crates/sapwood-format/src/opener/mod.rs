//! Opening without I/O: the caller queries keys or a tree, the opener returns the spans it lacks, receives their bytes,
//! and is queried again. It keeps what it has parsed.

mod answers;
mod chunks;
mod ntuple;
mod prefetch;

use crate::step::Step;
pub use answers::{Listing, ObjectAt, Target, TreeAt};
pub use chunks::Chunks;
pub use prefetch::Ahead;

use crate::directory::{DIRECTORY_BYTES, Directory, keys_behind, parse_key_list};
use crate::header::{HEADER_BYTES, Header};
use crate::key::Key;
use crate::payload::{inflate, inflate_header};
use crate::recover::Recovered;
use crate::streamer::Streamers;
use crate::tree::read_tree;
use bytes::Bytes;
use sapwood_codec::Decoder;
use sapwood_span::similar::near_misses;
use sapwood_span::{Error, Result, Span};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Maximum depth of directories: more is damage.
const DEEPEST: usize = 100;

/// Total bytes of the paths of all listed keys, and per byte of the file: keys hold their names twice, and directories
/// of real files are a few names deep.
const ANY_PATHS: u64 = 16 << 20;
const PATHS_PER_BYTE: u64 = 16;

/// A walk through directories.
struct Walk {
    visited: HashSet<u64>,
    /// Bytes left for paths.
    left: u64,
}

/// A larger piece is dropped once it is parsed.
const KEPT: usize = 512 << 10;

/// The state of an open file's metadata.
pub struct Opener {
    size: u64,
    chunks: Chunks,
    need: Vec<Span>,
    header: Option<Header>,
    root: Option<Directory>,
    streamers: Option<Arc<Streamers>>,
    lists: HashMap<u64, Arc<Vec<Key>>>,
    decoder: Decoder,
    ahead: Ahead,
    /// Whether bytes that are probably page lists may be requested with an ntuple's footer.
    guesses_page_lists: bool,
    /// The keys of each directory by its position, when the file's own lists are unreliable.
    recovered: Option<HashMap<u64, Arc<Vec<Key>>>>,
    integrity_warnings: Vec<String>,
    /// The keys after as many as their list states.
    behind: Vec<Key>,
}

impl Opener {
    /// For a file of this many bytes.
    pub fn new(size: u64) -> Self {
        Self {
            size,
            chunks: Chunks::default(),
            need: Vec::new(),
            header: None,
            root: None,
            streamers: None,
            lists: HashMap::new(),
            decoder: Decoder::new(),
            ahead: Ahead::default(),
            guesses_page_lists: false,
            recovered: None,
            integrity_warnings: Vec::new(),
            behind: Vec::new(),
        }
    }

    /// Inconsistencies in what was read so far that are harmless in themselves: bytes were changed there.
    pub fn integrity_warnings(&self) -> &[String] {
        &self.integrity_warnings
    }

    /// Keys in the lists read so far, after as many as these state. Some writers leave those of deleted objects there.
    pub fn behind(&self) -> &[Key] {
        &self.behind
    }

    /// Adds to [`Opener::integrity_warnings`], once.
    pub fn doubt(&mut self, doubt: String) {
        if !self.integrity_warnings.contains(&doubt) {
            self.integrity_warnings.push(doubt);
        }
    }

    /// Allows these requests along with the first key list, when that list has to be requested anyway, and a guess where
    /// an ntuple's page lists are along with its footer: for files of which each round trip takes long.
    pub fn ask_ahead(&mut self, ahead: Ahead) {
        self.guesses_page_lists = true;
        self.ahead = ahead;
    }

    /// Continues with what a walk over the file's records found instead of the directories.
    ///
    /// # Errors
    /// `Corrupt` when the file's header is not known: it must be read before.
    pub fn recover(&mut self, found: &Recovered) -> Result<()> {
        let header =
            self.header.as_ref().ok_or_else(|| Error::corrupt("a file without a header cannot be recovered"))?;
        let begin = header.begin;
        self.header = Some(found.header(header, self.size));
        self.root = Some(Directory { keys: Span::default(), seek: begin, parent: 0 });
        self.streamers = None;
        self.lists.clear();
        let lists = found.by_directory(begin).into_iter().map(|(at, keys)| (at, Arc::new(keys)));
        self.recovered = Some(lists.collect());
        Ok(())
    }

    /// The bytes of a span, if they were passed in before and are kept.
    pub fn held(&self, span: Span) -> Option<Bytes> {
        self.chunks.get(span)
    }

    /// Adds a piece of the file.
    pub fn push(&mut self, start: u64, bytes: Bytes) {
        self.chunks.push(start, bytes);
    }

    /// The file header, once it is known.
    pub fn header(&self) -> Option<&Header> {
        self.header.as_ref()
    }

    /// Drops large raw pieces; what was parsed stays, and so do small pieces, which may hold further objects.
    pub fn forget_large(&mut self) {
        self.chunks.forget_larger(KEPT);
    }

    /// All keys of a directory (`""` is the root), or of it and all below.
    pub fn list(&mut self, directory: &str, recursive: bool) -> Result<Step<Vec<Listing>>> {
        self.ask(|o| {
            let Some((prefix, dir)) = o.directory(directory)? else { return Ok(None) };
            let mut out = Vec::new();
            let mut walk = Walk { visited: HashSet::new(), left: ANY_PATHS + PATHS_PER_BYTE.saturating_mul(o.size) };
            let complete = o.collect(&prefix, &dir, recursive, 0, &mut walk, &mut out)?;
            Ok(complete.then_some(out))
        })
    }

    /// The key of an object.
    pub fn find(&mut self, target: &Target) -> Result<Step<Listing>> {
        self.ask(|o| {
            let Some(root) = o.root()? else { return Ok(None) };
            o.resolve(root, String::new(), target, 0)
        })
    }

    /// A tree's header, and the class descriptions that its values need. An ntuple is shown as a tree.
    pub fn tree(&mut self, target: &Target) -> Result<Step<TreeAt>> {
        self.ask(|o| {
            let Some(root) = o.root()? else { return Ok(None) };
            let streamers = o.streamers()?;
            let Some(found) = o.resolve(root, String::new(), target, 0)? else { return Ok(None) };
            if found.key.is_ntuple() {
                return o.ntuple(found);
            }
            let key = found.key;
            if !key.is_tree() {
                return Err(Error::invalid(format!("{} is a {}, not a tree", found.path, key.class))
                    .with_remedy("specify a tree: `sapwood ls` lists the file's objects"));
            }
            if key.class == "TChain" {
                return Err(Error::unsupported(format!("{} is a TChain: a list of files, not a tree", found.path))
                    .with_remedy("specify its files"));
            }
            let payload = o.payload(&key)?;
            let (Some(streamers), Some(payload)) = (streamers, payload) else { return Ok(None) };
            let data = inflate_header(&key, &payload, &mut o.decoder)?;
            let tree = read_tree(&data, key.key_len as usize, &key.class, &streamers).map_err(|e| e.at(key.span))?;
            Ok(Some(TreeAt { path: found.path, key, tree, streamers }))
        })
    }

    /// An object's decompressed bytes, its key and the class descriptions.
    pub fn object(&mut self, target: &Target) -> Result<Step<ObjectAt>> {
        self.ask(|o| {
            let Some(root) = o.root()? else { return Ok(None) };
            let streamers = o.streamers()?;
            let Some(found) = o.resolve(root, String::new(), target, 0)? else { return Ok(None) };
            let payload = o.payload(&found.key)?;
            let (Some(streamers), Some(payload)) = (streamers, payload) else { return Ok(None) };
            let data = inflate(&found.key, &payload, &mut o.decoder)?;
            Ok(Some(ObjectAt { key: found.key, data, streamers }))
        })
    }

    /// The file's header alone.
    ///
    /// # Errors
    /// `Corrupt` when it is not that of a ROOT file.
    pub fn read_header(&mut self) -> Result<Step<Header>> {
        self.ask(Self::head)
    }

    /// The file's class descriptions.
    ///
    /// # Errors
    /// `Corrupt` when they cannot be read.
    pub fn read_streamers(&mut self) -> Result<Step<Arc<Streamers>>> {
        self.ask(|o| if o.head()?.is_none() { Ok(None) } else { o.streamers() })
    }

    fn ask<T>(&mut self, question: impl FnOnce(&mut Self) -> Result<Option<T>>) -> Result<Step<T>> {
        self.need.clear();
        match question(self)? {
            Some(answer) => Ok(Step::Done(answer)),
            None if self.need.is_empty() => Err(Error::corrupt("the file's directory has no valid position")),
            None => Ok(Step::Need(without_overlaps(std::mem::take(&mut self.need)))),
        }
    }

    /// The bytes of a span; if missing, records that they are needed.
    fn bytes(&mut self, span: Span) -> Result<Option<Bytes>> {
        if span.end() > self.size {
            let said = self.header.as_ref().map_or(0, |h| h.end);
            let why = if said > self.size {
                format!("the file is truncated: it has {} of {said} bytes", self.size)
            } else {
                format!("a record is beyond the end of the file of {} bytes", self.size)
            };
            return Err(Error::corrupt(why).at(span).with_remedy("fetch the file again from its source"));
        }
        let found = self.chunks.get(span);
        if found.is_none() {
            self.need.extend(self.chunks.missing(span));
        }
        Ok(found)
    }

    /// An object's payload as stored. The label in front of it should agree with the directory.
    fn payload(&mut self, key: &Key) -> Result<Option<Bytes>> {
        let Some(payload) = self.chunks.get(key.payload()) else {
            self.bytes(key.span)?;
            return Ok(None);
        };
        // not worth an extra round trip
        if let Some(label) = self.chunks.get(Span::new(key.span.start, key.key_len.into()))
            && !key.is_told_by(&label)
        {
            self.doubt(format!(
                "{} {} at byte {} has a record that differs from its key",
                key.class, key.name, key.span.start
            ));
        }
        Ok(Some(payload))
    }

    fn head(&mut self) -> Result<Option<Header>> {
        if self.header.is_none() {
            if self.size < HEADER_BYTES {
                return Err(Error::corrupt(format!("not a ROOT file: it has {} bytes", self.size)));
            }
            let Some(b) = self.bytes(Span::new(0, HEADER_BYTES))? else {
                // the root directory follows directly, in nearly every file
                self.need = vec![Span::new(0, 1024.min(self.size))];
                return Ok(None);
            };
            self.header = Some(Header::parse(&b)?);
        }
        Ok(self.header.clone())
    }

    fn root(&mut self) -> Result<Option<Directory>> {
        if self.head()?.is_none() {
            return Ok(None);
        }
        if let (None, Some(h)) = (&self.root, &self.header) {
            let at = h.begin + u64::from(h.nbytes_name);
            let span = Span::new(at, DIRECTORY_BYTES.min(self.size.saturating_sub(at)).max(1));
            let Some(b) = self.bytes(span)? else { return Ok(None) };
            self.root = Some(Directory::parse(&b).map_err(|e| e.at(span))?);
        }
        Ok(self.root.clone())
    }

    fn streamers(&mut self) -> Result<Option<Arc<Streamers>>> {
        if let Some(s) = &self.streamers {
            return Ok(Some(s.clone()));
        }
        let Some((span, version)) = self.header.as_ref().map(|h| (h.info, h.version)) else { return Ok(None) };
        let parsed = if span.is_empty() || span.start == 0 {
            Streamers::default()
        } else {
            let Some(record) = self.bytes(span)? else { return Ok(None) };
            let mut c = crate::cursor::Cursor::new(&record, 0);
            let key = Key::read(&mut c).map_err(|e| e.at(span))?;
            let payload = record.get(key.key_len as usize..(key.span.len as usize).min(record.len()));
            let payload = payload.ok_or_else(|| Error::corrupt("the class descriptions are damaged").at(span))?;
            let data = inflate_header(&key, payload, &mut self.decoder)?;
            Streamers::parse(&data, key.key_len as usize).map_err(|e| e.at(span))?
        };
        let parsed = Arc::new(parsed.of_root(version));
        self.streamers = Some(parsed.clone());
        Ok(Some(parsed))
    }

    fn keys(&mut self, dir: &Directory) -> Result<Option<Arc<Vec<Key>>>> {
        if let Some(lists) = &self.recovered {
            return Ok(Some(lists.get(&dir.seek).cloned().unwrap_or_default()));
        }
        if let Some(k) = self.lists.get(&dir.keys.start) {
            return Ok(Some(k.clone()));
        }
        if dir.keys.is_empty() || dir.keys.start == 0 {
            return Ok(Some(Arc::default()));
        }
        let Some(b) = self.bytes(dir.keys)? else {
            let info = self.header.as_ref().map_or(Span::default(), |h| h.info);
            for span in std::mem::take(&mut self.ahead).along(dir.keys, info, self.chunks.last_start(), self.size) {
                self.need.extend(self.chunks.missing(span));
            }
            return Ok(None);
        };
        let keys = parse_key_list(&b).map_err(|e| e.at(dir.keys))?;
        let keys = Arc::new(keys);
        self.behind.extend(keys_behind(&b));
        self.lists.insert(dir.keys.start, keys.clone());
        Ok(Some(keys))
    }

    fn open_directory(&mut self, key: &Key) -> Result<Option<Directory>> {
        if self.recovered.is_some() {
            return Ok(Some(Directory { keys: Span::default(), seek: key.span.start, parent: key.parent }));
        }
        let Some(b) = self.bytes(key.payload())? else { return Ok(None) };
        Directory::parse(&b).map(Some).map_err(|e| e.at(key.span))
    }

    fn directory(&mut self, path: &str) -> Result<Option<(String, Directory)>> {
        let Some(root) = self.root()? else { return Ok(None) };
        let target = Target::parse(path);
        if target.path.is_empty() {
            return Ok(Some((String::new(), root)));
        }
        let Some(found) = self.resolve(root, String::new(), &target, 0)? else { return Ok(None) };
        if !found.key.is_directory() {
            return Err(Error::invalid(format!("{} is a {}, not a directory", found.path, found.key.class)));
        }
        Ok(self.open_directory(&found.key)?.map(|d| (format!("{}/", found.path), d)))
    }

    fn resolve(&mut self, dir: Directory, prefix: String, target: &Target, depth: usize) -> Result<Option<Listing>> {
        if depth > DEEPEST {
            return Err(Error::corrupt("directories are too deeply nested"));
        }
        let Some(keys) = self.keys(&dir)? else { return Ok(None) };
        let rest = target.path.as_str();
        let wanted = |k: &&Key| k.name == rest && target.cycle.is_none_or(|c| c == k.cycle);
        if let Some(key) = keys.iter().filter(wanted).max_by_key(|k| k.cycle) {
            return Ok(Some(Listing { path: format!("{prefix}{rest}"), key: key.clone() }));
        }
        // a directory's own cycle may be given: dir;2/name
        if let Some((head, tail)) = rest.split_once('/') {
            let head = Target::parse(head);
            let wanted = |k: &&Key| k.is_directory() && k.name == head.path && head.cycle.is_none_or(|c| c == k.cycle);
            if let Some(key) = keys.iter().filter(wanted).max_by_key(|k| k.cycle) {
                let Some(inner) = self.open_directory(key)? else { return Ok(None) };
                let target = Target { path: tail.to_owned(), cycle: target.cycle };
                return self.resolve(inner, format!("{prefix}{}/", head.path), &target, depth + 1);
            }
        }
        let mut names: Vec<&str> = keys.iter().map(|k| k.name.as_str()).collect();
        names.dedup();
        let shown = names.iter().take(8).copied().collect::<Vec<_>>().join(", ");
        let more = if names.len() > 8 { ", …" } else { "" };
        let place = if prefix.is_empty() { "the file".to_owned() } else { prefix.clone() };
        let cycle = target.cycle.map_or(String::new(), |c| format!(";{c}"));
        let lost = if self.recovered.is_some() { " in the recovered part of the file" } else { "" };
        let near = near_misses(rest, names.iter().copied().filter(|name| *name != rest)).join(", ");
        let near = if near.is_empty() { near } else { format!("; did you mean {near}?") };
        Err(Error::not_found(format!("no object {prefix}{rest}{cycle}{lost}"))
            .with_remedy(format!("{place} contains: {shown}{more}{near}")))
    }

    fn collect(
        &mut self,
        prefix: &str,
        dir: &Directory,
        recursive: bool,
        depth: usize,
        walk: &mut Walk,
        out: &mut Vec<Listing>,
    ) -> Result<bool> {
        let place = if self.recovered.is_some() { dir.seek } else { dir.keys.start };
        let new = walk.visited.insert(place);
        if self.recovered.is_some() && (depth > DEEPEST || !new) {
            return Ok(true);
        }
        if depth > DEEPEST {
            return Err(Error::corrupt("directories are too deeply nested").at(dir.keys));
        }
        if !new && !dir.keys.is_empty() && dir.keys.start != 0 {
            // its real content would be silently missing
            let what = format!("directory {} has the key list of another directory", prefix.trim_end_matches('/'));
            return Err(Error::corrupt(what).at(dir.keys));
        }
        let Some(keys) = self.keys(dir)? else { return Ok(false) };
        let mut complete = true;
        for key in keys.iter() {
            // each key holds its name, and the path those of all directories above it
            walk.left = walk.left.checked_sub((prefix.len() + key.name.len()) as u64).ok_or_else(|| {
                Error::corrupt("the paths of its directories would take far more memory than the file has bytes")
            })?;
            out.push(Listing { path: format!("{prefix}{}", key.name), key: key.clone() });
            if recursive && key.is_directory() {
                match self.open_directory(key)? {
                    None => complete = false,
                    Some(inner) => {
                        let prefix = format!("{prefix}{}/", key.name);
                        complete &= self.collect(&prefix, &inner, recursive, depth + 1, walk, out)?;
                    }
                }
            }
        }
        Ok(complete)
    }
}

/// Sorted, each byte once.
fn without_overlaps(mut spans: Vec<Span>) -> Vec<Span> {
    spans.sort();
    let mut out: Vec<Span> = Vec::with_capacity(spans.len());
    for span in spans {
        match out.last_mut() {
            Some(last) if span.start < last.end() => last.len = last.len.max(span.end() - last.start),
            _ => out.push(span),
        }
    }
    out
}
