//! Files that other code reads.

use sapwood::write::{FileWriter, Record, TreeOptions};
use sapwood::{Compression, Error, ErrorKind, File, OpenOptions, ReadRanges, Result, ScanOptions, Span};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

#[derive(Record)]
struct Event {
    x: f64,
    n: u32,
}

const ENTRIES: u32 = 20_000;

fn file() -> Vec<u8> {
    let path = std::env::temp_dir().join(format!(
        "sapwood-readers-{}-{:?}.root",
        std::process::id(),
        std::thread::current().id()
    ));
    let mut file = FileWriter::create(&path, Compression::default()).unwrap();
    let mut tree = file.records::<Event>("t", "", TreeOptions::default()).unwrap();
    for n in 0..ENTRIES {
        tree.fill(&Event { x: f64::from(n) * 0.5, n }).unwrap();
    }
    tree.finish().unwrap();
    file.finish().unwrap();
    let bytes = std::fs::read(&path).unwrap();
    std::fs::remove_file(path).unwrap();
    bytes
}

/// What is done to the answer of the call with this number.
type Spoil = fn(usize, Vec<Vec<u8>>) -> Result<Vec<Vec<u8>>>;

/// Bytes in memory, and what is done to each answer.
struct Memory {
    bytes: Vec<u8>,
    calls: AtomicUsize,
    spoil: Spoil,
}

impl ReadRanges for Memory {
    fn name(&self) -> &str {
        "memory"
    }

    fn size(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn read_ranges(&self, ranges: &[Span]) -> Result<Vec<Vec<u8>>> {
        let ascending = ranges.windows(2).all(|w| w[0].end() <= w[1].start);
        assert!(ascending && ranges.iter().all(|r| !r.is_empty() && r.end() <= self.size()), "{ranges:?}");
        let read = ranges.iter().map(|r| self.bytes[r.start as usize..r.end() as usize].to_vec()).collect();
        (self.spoil)(self.calls.fetch_add(1, Relaxed), read)
    }
}

fn read(memory: &Arc<Memory>) -> Result<u64> {
    let file = File::open_reader(Arc::<Memory>::clone(memory), &OpenOptions::default())?;
    let tree = file.tree("t")?;
    let branches = vec![tree.find("x")?, tree.find("n")?];
    let mut entries = 0;
    for batch in tree.scan_with(&ScanOptions::new(branches))? {
        let batch = batch?;
        entries += batch.entries.end - batch.entries.start;
    }
    Ok(entries)
}

fn memory(spoil: Spoil) -> Arc<Memory> {
    Arc::new(Memory { bytes: file(), calls: AtomicUsize::new(0), spoil })
}

#[test]
fn a_file_in_memory() {
    let memory = memory(|_, read| Ok(read));
    assert_eq!(read(&memory).unwrap(), u64::from(ENTRIES));
    assert!(memory.calls.load(Relaxed) < 10, "{:?}", memory.calls);
}

#[test]
fn readers_that_do_wrong() {
    let fails = |spoil, kind: ErrorKind, words: &str| {
        let error = read(&memory(spoil)).unwrap_err();
        assert!(error.kind() == kind && error.to_string().contains(words), "{error}");
    };
    fails(|_, _| Err(Error::invalid("not today")), ErrorKind::Invalid, "not today");
    fails(
        |_, mut read| {
            read.pop();
            Ok(read)
        },
        ErrorKind::Protocol,
        "ranges instead of",
    );
    fails(
        |_, mut read| {
            read[0].pop();
            Ok(read)
        },
        ErrorKind::Protocol,
        "bytes instead of",
    );
    fails(|call, read| if call > 0 { panic!("no more") } else { Ok(read) }, ErrorKind::Defect, "no more");
}
