//! One file to merge: its content, with everything but baskets in memory.

use crate::ntuple::InputNtuple;
use bytes::Bytes;
use sapwood_codec::Decoder;
use sapwood_edit::Label;
use sapwood_edit::tree::{TreeFacts, read_facts};
use sapwood_engine::{File, OpenOptions};
use sapwood_format::cursor::Cursor;
use sapwood_format::{Key, Listing, Streamers, inflate_header};
use sapwood_span::{Error, Result, Span};
use std::collections::HashMap;
use std::sync::Arc;

/// An input, opened and read except for its baskets.
pub(crate) struct Input {
    pub(crate) reader: Arc<Reader>,
    /// Directories, parents first: path and label.
    pub(crate) directories: Vec<(String, Label)>,
    pub(crate) objects: Vec<InputObject>,
    pub(crate) trees: Vec<InputTree>,
    pub(crate) ntuples: Vec<InputNtuple>,
    /// Process ids, to which references in baskets refer by number: in the order of those numbers.
    pub(crate) process_ids: Vec<InputObject>,
    pub(crate) streamers: Arc<Streamers>,
    /// The class descriptions as in the file: length of their label, decompressed payload.
    pub(crate) classes: (usize, Vec<u8>),
    /// Whether objects of one name are cycles of one, to be kept and not added up.
    pub(crate) keeps_cycles: bool,
}

impl Input {
    /// For a file of which nothing is listed yet; its version affects the meaning of the descriptions.
    pub(crate) fn new(file: File, streamers: Streamers, classes: (usize, Vec<u8>)) -> Self {
        let streamers = Arc::new(streamers.of_root(file.header().version));
        Self {
            reader: Arc::new(Reader::of(file)),
            directories: Vec::new(),
            objects: Vec::new(),
            trees: Vec::new(),
            ntuples: Vec::new(),
            process_ids: Vec::new(),
            streamers,
            classes,
            keeps_cycles: false,
        }
    }
}

/// An object that is not a tree.
pub(crate) struct InputObject {
    /// Directories and name.
    pub(crate) path: String,
    pub(crate) key: Key,
    pub(crate) label: Label,
    /// Its payload as stored in the file.
    pub(crate) stored: Bytes,
}

/// A tree.
pub(crate) struct InputTree {
    pub(crate) path: String,
    pub(crate) class: String,
    pub(crate) label: Label,
    /// Length of its label.
    pub(crate) base: usize,
    /// Its decompressed header.
    pub(crate) header: Vec<u8>,
    pub(crate) facts: TreeFacts,
}

/// Reads baskets, from several threads at the same time.
pub(crate) struct Reader {
    file: File,
    /// A local file is read by position, into reused memory.
    local: bool,
}

impl Reader {
    /// Of an open file.
    pub(crate) fn of(file: File) -> Self {
        Self { local: file.is_local(), file }
    }

    /// The open file.
    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    /// The file's name.
    pub(crate) fn name(&self) -> &str {
        self.file.url()
    }

    /// Bytes of the file.
    pub(crate) fn size(&self) -> u64 {
        self.file.size()
    }

    /// The compression setting in the file's header.
    pub(crate) fn compression(&self) -> i32 {
        self.file.header().compression
    }

    /// Whether reading needs no network.
    pub(crate) fn is_local(&self) -> bool {
        self.local
    }

    /// Reads a span to the beginning of `out`, which may be longer and is extended where it is too short.
    ///
    /// # Errors
    /// Errors of the system or the source.
    pub(crate) fn read(&self, span: Span, out: &mut Vec<u8>) -> Result<()> {
        let len = usize::try_from(span.len).map_err(|_| Error::unsupported("a basket of more than 4 GiB"))?;
        if !self.local {
            let mut parts = self.file.read(&[span])?;
            let bytes = parts.pop().unwrap_or_default();
            out.clear();
            out.extend_from_slice(&bytes);
            return Ok(());
        }
        if out.len() < len {
            out.resize(len, 0);
        }
        let to = out.get_mut(..len).unwrap_or_default();
        self.file.read_into(span.start, to).map(|_| ())
    }
}

/// Bytes read at once, and the gap that is read over instead of a second request.
const AT_ONCE: u64 = 8 << 20;
const GAP: u64 = 32 << 10;

impl Reader {
    /// Reads several spans, at any positions.
    ///
    /// # Errors
    /// Errors of the system or the source.
    pub(crate) fn read_all(&self, spans: &[Span]) -> Result<Vec<Bytes>> {
        if !self.local {
            return self.file.read(spans);
        }
        let mut order: Vec<usize> = (0..spans.len()).collect();
        order.sort_by_key(|&i| spans[i].start);
        let mut out = vec![Bytes::new(); spans.len()];
        let mut rest = order.as_slice();
        while let Some((&first, _)) = rest.split_first() {
            let mut whole = spans[first];
            let mut n = 1;
            while let Some(next) = rest.get(n).map(|&i| spans[i]) {
                if next.start > whole.end() + GAP || next.end() > whole.start + AT_ONCE {
                    break;
                }
                whole.len = whole.len.max(next.end() - whole.start);
                n += 1;
            }
            let mut bytes = Vec::new();
            self.read(whole, &mut bytes)?;
            let bytes = Bytes::from(bytes);
            let group = rest.get(..n).unwrap_or_default();
            let wanted: u64 = group.iter().map(|&i| spans[i].len).sum();
            // where the gaps are large, they are not kept in memory
            let dense = wanted >= whole.len / 4 * 3;
            for &i in group {
                let from = (spans[i].start - whole.start) as usize;
                let part = from..from + spans[i].len as usize;
                out[i] = match dense {
                    true => bytes.slice(part),
                    false => Bytes::copy_from_slice(bytes.get(part).unwrap_or_default()),
                };
            }
            rest = rest.get(n..).unwrap_or_default();
        }
        Ok(out)
    }
}

/// Opens an input and reads everything but its baskets, in as few requests as its directories allow.
///
/// # Errors
/// Objects that cannot be merged, by name, and errors of opening.
pub(crate) fn open(url: &str, options: &OpenOptions) -> Result<Input> {
    let file = File::open(url, options)?;
    read(file).map_err(|e| e.in_file(url))
}

fn read(file: File) -> Result<Input> {
    let listed = file.list("", true)?;
    if let Some(key) = file.unlisted(&listed)?.first() {
        let what = format!(
            "{};{} is in the file, but after the end of its directory's list of keys: it would be lost",
            key.name, key.cycle
        );
        return Err(Error::corrupt(what)
            .at(key.span)
            .with_remedy("`sapwood recover` writes all objects into a new file"));
    }
    let wanted = latest(listed);
    let mut spans: Vec<Span> = wanted.iter().map(|l| l.key.span).collect();
    let info = file.header().info;
    spans.push(info);
    let mut records = file.read(&spans)?;
    let info_record = records.pop().unwrap_or_default();
    let mut decoder = Decoder::new();
    let classes = match info.is_empty() {
        true => (0, Vec::new()),
        false => {
            let key = Key::read(&mut Cursor::new(&info_record, 0)).map_err(|e| e.at(info))?;
            let payload = info_record.get(key.key_len as usize..).unwrap_or_default();
            (key.key_len as usize, inflate_header(&key, payload, &mut decoder)?)
        }
    };
    let streamers = match classes.1.is_empty() {
        true => Streamers::default(),
        false => Streamers::parse(&classes.1, classes.0).map_err(|e| e.at(info))?,
    };
    let mut input = Input::new(file, streamers, classes);
    for (listing, record) in wanted.into_iter().zip(records) {
        let span = listing.key.span;
        let path = listing.path.clone();
        input.add(listing, &record, &mut decoder).map_err(|e| {
            let what = format!("{path}: {}", e.what());
            e.worded(what).at(span)
        })?;
    }
    input.process_ids.sort_by_key(|o| o.path.trim_start_matches("ProcessID").parse::<u32>().unwrap_or(u32::MAX));
    Ok(input)
}

/// The newest cycle of each name, in the order of the file.
fn latest(all: Vec<Listing>) -> Vec<Listing> {
    let mut newest: HashMap<String, i16> = HashMap::new();
    for l in &all {
        let cycle = newest.entry(l.path.clone()).or_insert(l.key.cycle);
        *cycle = (*cycle).max(l.key.cycle);
    }
    all.into_iter().filter(|l| newest.get(&l.path) == Some(&l.key.cycle)).collect()
}

impl Input {
    fn add(&mut self, listing: Listing, record: &Bytes, decoder: &mut Decoder) -> Result<()> {
        let Listing { path, key } = listing;
        let (label, base) = Label::read(record)?;
        let stored = record.slice(base..);
        if key.is_directory() {
            self.directories.push((path, label));
            return Ok(());
        }
        let is_tree = matches!(key.class.as_str(), "TTree" | "TNtuple" | "TNtupleD");
        if is_tree {
            let header = inflate_header(&key, &stored, decoder)?;
            let facts = read_facts(&header, base, &key.class, &self.streamers)?.0;
            self.trees.push(InputTree { path, class: key.class, label, base, header, facts });
            return Ok(());
        }
        if key.class.ends_with("RNTuple") {
            let ntuple = InputNtuple::open(self.reader.file(), path, key.cycle, label)?;
            self.ntuples.push(ntuple);
            return Ok(());
        }
        let is_process = key.class == "TProcessID" && path.starts_with("ProcessID");
        let list = if is_process { &mut self.process_ids } else { &mut self.objects };
        list.push(InputObject { path, key, label, stored });
        Ok(())
    }
}
