//! Copying baskets: which are adjacent, how they are read ahead, and how they are recompressed.

use crate::input::{Input, Reader};
use crate::ntuple::{PageChunk, PagePlan, copy_pages};
use crate::recode::Recoder;
use sapwood_codec::Compression;
use sapwood_edit::tree::{Basket, Embedded};
use sapwood_span::sync::lock;
use sapwood_span::{Error, Result, Span};
use std::sync::{Arc, Mutex};

/// Bytes read at once from a local file: enough for few system calls, few enough to stay in the processor's cache until
/// they are written.
const LOCAL_CHUNK: u64 = 512 << 10;
/// The same over a network.
const REMOTE_CHUNK: u64 = 4 << 20;
/// Reading over a gap of this size costs less than another request.
const LOCAL_GAP: u64 = 4 << 10;
const REMOTE_GAP: u64 = 64 << 10;

/// The steps for an input, in this order.
pub(crate) enum Job {
    /// Start a new input.
    Begin(Box<Input>),
    /// Baskets of the file.
    Copy(Arc<Reader>, Plan),
    /// Pages of its ntuples.
    Pages(Arc<Reader>, PagePlan),
    /// Baskets in its headers.
    Embedded(Arc<Reader>, Vec<HeaderBasket>),
    /// The input is finished.
    End,
    /// It could not be opened.
    Failed(Error),
}

/// A basket stored in its tree's header.
pub(crate) struct HeaderBasket {
    /// Number of the tree in its input, and of the branch in the tree.
    tree: usize,
    branch: usize,
    basket: Embedded,
    /// The branch's compression: 100 · algorithm + level.
    setting: i32,
}

/// The result of a job.
pub(crate) enum Done {
    Begin(Box<Input>),
    Chunk(Chunk),
    Pages(PageChunk),
    End,
}

/// Baskets that are read at once.
pub(crate) struct Plan {
    span: Span,
    pieces: Vec<ChunkBasket>,
}

/// A basket within a chunk.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ChunkBasket {
    /// Number of the tree in its input, and of the branch in the tree.
    pub(crate) tree: usize,
    pub(crate) branch: usize,
    /// First entry, in the input's numbering.
    pub(crate) first: u64,
    /// Position of its record in the chunk.
    pub(crate) at: usize,
    pub(crate) len: usize,
    /// By how many bytes it is larger (or smaller) in the file than the input's header states, and the same
    /// decompressed.
    pub(crate) zip_change: i64,
    pub(crate) total_change: i64,
}

/// Records of baskets, ready to be written.
pub(crate) struct Chunk {
    pub(crate) data: Vec<u8>,
    pub(crate) pieces: Vec<ChunkBasket>,
    pub(crate) reader: Arc<Reader>,
}

/// Buffers for reuse.
#[derive(Default)]
pub(crate) struct Pool(Mutex<Vec<Vec<u8>>>);

impl Pool {
    pub(crate) fn take(&self) -> Vec<u8> {
        lock(&self.0).pop().unwrap_or_default()
    }

    pub(crate) fn give(&self, buffer: Vec<u8>) {
        // one enlarged by a giant basket is freed
        if buffer.capacity() as u64 <= 2 * REMOTE_CHUNK {
            lock(&self.0).push(buffer);
        }
    }
}

/// The gap that is read over, and the bytes that are read at once.
pub(crate) fn gap_and_chunk(is_local: bool) -> (u64, u64) {
    if is_local { (LOCAL_GAP, LOCAL_CHUNK) } else { (REMOTE_GAP, REMOTE_CHUNK) }
}

/// The jobs of an input: its baskets in the order of the file, in chunks, and the pages of each ntuple likewise.
pub(crate) fn jobs(mut input: Box<Input>) -> Vec<Job> {
    let reader = input.reader.clone();
    let mut all: Vec<(Basket, usize, usize)> = Vec::new();
    let mut embedded = Vec::new();
    for (t, tree) in input.trees.iter_mut().enumerate() {
        for (b, branch) in tree.facts.branches.iter_mut().enumerate() {
            all.extend(branch.baskets.iter().map(|x| (*x, t, b)));
            let setting = branch.compression;
            let moved = branch.embedded.drain(..);
            embedded.extend(moved.map(|basket| HeaderBasket { tree: t, branch: b, basket, setting }));
        }
    }
    all.sort_by_key(|(b, _, _)| b.span.start);
    let (gap, most) = gap_and_chunk(reader.is_local());
    let ntuples = input.ntuples.iter().enumerate();
    let pages: Vec<PagePlan> = ntuples.flat_map(|(n, ntuple)| ntuple.plans(n, reader.is_local())).collect();
    let mut out = vec![Job::Begin(input)];
    let mut plan = Plan { span: Span::default(), pieces: Vec::new() };
    for (basket, tree, branch) in all {
        let span = basket.span;
        let joins = !plan.pieces.is_empty()
            && span.start >= plan.span.end()
            && span.start - plan.span.end() <= gap
            && span.end() - plan.span.start <= most;
        if !joins {
            if !plan.pieces.is_empty() {
                out.push(Job::Copy(reader.clone(), std::mem::replace(&mut plan, Plan { span, pieces: Vec::new() })));
            }
            plan.span = span;
        }
        plan.span.len = span.end() - plan.span.start;
        let at = (span.start - plan.span.start) as usize;
        let (len, first) = (span.len as usize, basket.first);
        plan.pieces.push(ChunkBasket { tree, branch, first, at, len, zip_change: 0, total_change: 0 });
    }
    if !plan.pieces.is_empty() {
        out.push(Job::Copy(reader.clone(), plan));
    }
    out.extend(pages.into_iter().map(|plan| Job::Pages(reader.clone(), plan)));
    if !embedded.is_empty() {
        out.push(Job::Embedded(reader, embedded));
    }
    out.push(Job::End);
    out
}

/// Runs a job, on any thread.
pub(crate) fn work(job: Job, pool: &Pool, recoder: &mut Recoder, compression: Option<Compression>) -> Result<Done> {
    match job {
        Job::Begin(input) => Ok(Done::Begin(input)),
        Job::End => Ok(Done::End),
        Job::Failed(e) => Err(e),
        Job::Pages(reader, plan) => copy_pages(&reader, &plan, pool, recoder, compression).map(Done::Pages),
        Job::Embedded(reader, baskets) => {
            let (mut data, mut pieces) = (pool.take(), Vec::new());
            data.clear();
            for HeaderBasket { tree, branch, basket, setting } in baskets {
                let compression = compression.map_or_else(|| Compression::from_settings(setting), Ok);
                let (record, total) = basket.record(compression.unwrap_or_default(), recoder.encoder())?;
                let (at, len, first) = (data.len(), record.len(), basket.first);
                let (zip_change, total_change) = (len as i64, total as i64);
                data.extend_from_slice(&record);
                pieces.push(ChunkBasket { tree, branch, first, at, len, zip_change, total_change });
            }
            Ok(Done::Chunk(Chunk { data, pieces, reader }))
        }
        Job::Copy(reader, plan) => {
            let mut data = pool.take();
            reader.read(plan.span, &mut data)?;
            for p in &plan.pieces {
                check(&data, p)
                    .map_err(|e| e.at(Span::new(plan.span.start + p.at as u64, p.len as u64)).in_file(reader.name()))?;
            }
            let mut pieces = plan.pieces;
            if let Some(compression) = compression {
                let mut packed = pool.take();
                packed.clear();
                for p in &mut pieces {
                    let at = packed.len();
                    let record = data.get(p.at..p.at + p.len).unwrap_or_default();
                    recoder.recompress(record, compression, &mut packed).map_err(|e| {
                        e.at(Span::new(plan.span.start + p.at as u64, p.len as u64)).in_file(reader.name())
                    })?;
                    let len = packed.len() - at;
                    p.zip_change = len as i64 - p.len as i64;
                    (p.at, p.len) = (at, len);
                }
                pool.give(std::mem::replace(&mut data, packed));
            }
            Ok(Done::Chunk(Chunk { data, pieces, reader }))
        }
    }
}

/// A copied record must match the tree's header.
fn check(data: &[u8], p: &ChunkBasket) -> Result<()> {
    let said = data.get(p.at..p.at + 4).and_then(|b| b.try_into().ok()).map_or(0, i32::from_be_bytes);
    if i64::from(said) == p.len as i64 && p.len >= 40 {
        return Ok(());
    }
    Err(Error::corrupt(format!("the tree's header lists a basket with {} bytes, its record says {said}", p.len))
        .with_remedy("run `sapwood doctor` for details"))
}
