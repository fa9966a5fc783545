//! A client without a tree cache reads a tree through a proxy: one basket in each request, entry by entry.

mod common;

use common::{Folder, Reader, noise, range, sent};
use sapwood_codec::Compression;
use sapwood_column::{Array, DType, Values};
use sapwood_engine::{File, OpenOptions};
use sapwood_format::tree::{BasketPlace, stored_baskets};
use sapwood_serve::OriginHandle;
use sapwood_span::Span;
use sapwood_write::{BranchSpec, Cluster, FieldSpec, FieldType, FileWriter, NtupleOptions, TreeOptions};
use std::time::Duration;

const BRANCHES: usize = 30;
const ENTRIES: u64 = 100_000;
/// The branches that the client reads.
const READ: [usize; 3] = [11, 12, 14];

/// A file of incompressible numbers.
fn made(write: impl FnOnce(&mut FileWriter, &[(&str, &Array)])) -> Vec<u8> {
    let folder = Folder::new();
    let path = folder.0.join("files/made.root");
    let mut file = FileWriter::create(&path, Compression::NONE).unwrap();
    let column = |i: usize| {
        let bytes = noise(4 * ENTRIES as usize, 1 + i as u64);
        let values = bytes.chunks_exact(4).map(|b| u32::from_le_bytes(b.try_into().unwrap())).collect::<Vec<_>>();
        Array::Flat(Values::U32(values))
    };
    let columns: Vec<(String, Array)> = (0..BRANCHES).map(|i| (format!("x{i}"), column(i))).collect();
    write(&mut file, &columns.iter().map(|(name, column)| (name.as_str(), column)).collect::<Vec<_>>());
    file.finish().unwrap();
    std::fs::read(&path).unwrap()
}

/// A tree with small baskets.
fn tree() -> Vec<u8> {
    made(|file, columns| {
        let options = TreeOptions::new().cluster(Cluster::Never).basket_bytes(4000).optimize_baskets(false);
        let specs: Vec<_> = (0..BRANCHES).map(|i| BranchSpec::scalar(format!("x{i}"), DType::U32)).collect();
        let mut tree = file.tree("t", "", &specs, options).unwrap();
        tree.extend(columns).unwrap();
        tree.finish().unwrap();
    })
}

/// An ntuple with small pages, five of each column in a cluster.
fn ntuple() -> Vec<u8> {
    made(|file, columns| {
        let specs: Vec<_> =
            (0..BRANCHES).map(|i| FieldSpec::new(format!("x{i}"), FieldType::Number(DType::U32))).collect();
        let largest = (BRANCHES * 5 * 4000) as u64;
        let options = NtupleOptions::new().page_bytes(4000).largest_cluster(largest);
        let mut ntuple = file.ntuple(file.root(), "t", "", &specs, options).unwrap();
        ntuple.extend(columns).unwrap();
        ntuple.finish().unwrap();
    })
}

/// The reads of a client without a cache, after the first 300 bytes: the list of keys, the tree's header, and baskets
/// by entry. In a tree that was just written, the header is where baskets end.
struct Reads {
    header: Span,
    baskets: Vec<Span>,
}

fn reads(folder: &Folder) -> Reads {
    let path = folder.0.join("files/t.root");
    let file = File::open(path.to_str().unwrap(), &OpenOptions::default()).unwrap();
    let tree = file.tree("t").unwrap();
    let mut baskets = Vec::new();
    for branch in READ {
        if let Some(ntuple) = &tree.header().ntuple {
            baskets.extend(ntuple.stored_pages(branch).map(|p| (p.first_entry, branch, p.page.stored())));
        }
        for stored in stored_baskets(&tree.header().branches[branch]) {
            if let BasketPlace::File(span) = stored.place {
                baskets.push((stored.entries.start, branch, span));
            }
        }
    }
    baskets.sort();
    Reads { header: tree.key().span, baskets: baskets.into_iter().map(|(_, _, span)| span).collect() }
}

impl Reads {
    fn all(&self) -> impl Iterator<Item = Span> {
        [Span::new(0, 300), self.header].into_iter().chain(self.baskets.iter().copied())
    }

    fn bytes(&self) -> u64 {
        self.all().map(|span| span.len).sum()
    }
}

fn served(bytes: &[u8]) -> (Folder, OriginHandle) {
    let folder = Folder::new();
    folder.write("t.root", bytes);
    let origin = folder.origin_with(|options| options.delay = Duration::from_millis(20));
    (folder, origin)
}

#[test]
fn a_client_without_a_cache_gets_one_over_both_protocols() {
    for bytes in [tree(), ntuple()] {
        one_by_one(&bytes);
    }
}

/// A client that reads each basket or page with a request of its own.
fn one_by_one(bytes: &[u8]) {
    for over_root in [false, true] {
        let (folder, origin) = served(bytes);
        let reads = reads(&folder);
        assert!(reads.baskets.len() > 290, "{}", reads.baskets.len());
        let proxy = folder.proxy(if over_root { origin.root_url().unwrap() } else { origin.url() });
        if over_root {
            let reader = Reader::open(&(proxy.root_url().unwrap() + "t.root")).unwrap();
            for span in reads.all() {
                let read = reader.read(&[(span.start, span.len)]).unwrap();
                assert!(read[0] == bytes[span.start as usize..span.end() as usize]);
            }
        } else {
            // each request opens the file again
            for span in reads.all() {
                let answer = range(&(proxy.http_url().unwrap() + "t.root"), span.start, span.len);
                assert!(answer.body == bytes[span.start as usize..span.end() as usize]);
            }
        }
        let (requests, ratio) = (origin.requests().len(), sent(&origin) as f64 / reads.bytes() as f64);
        let metrics = proxy.metrics();
        assert!(requests < reads.baskets.len() / 3, "{requests} requests: {metrics:?}");
        assert!(metrics.ahead_bytes > reads.baskets.iter().map(|span| span.len).sum::<u64>() / 2, "{metrics:?}");
        assert!(ratio < 1.5, "{ratio}: {metrics:?}");
        // the next proxy knows which branches they were
        proxy.stop();
        let kept = std::fs::read_to_string(folder.0.join("cache/branches")).unwrap();
        assert!(kept.ends_with(" 11 12 14\n"), "{kept}");
    }
}

#[test]
fn a_client_that_reads_cluster_by_cluster_gets_the_next_ones() {
    let bytes = ntuple();
    let (folder, origin) = served(&bytes);
    let reads = reads(&folder);
    let proxy = folder.proxy(origin.root_url().unwrap());
    let reader = Reader::open(&(proxy.root_url().unwrap() + "t.root")).unwrap();
    reader.read(&[(0, 300)]).unwrap();
    reader.read(&[(reads.header.start, reads.header.len)]).unwrap();
    let clusters: Vec<&[Span]> = reads.baskets.chunks(5 * READ.len()).collect();
    assert!(clusters.len() > 15, "{}", clusters.len());
    for cluster in &clusters {
        // the pages of a column are next to each other
        let joined: Vec<(u64, u64)> =
            sapwood_span::coalesce(cluster, 0, u64::MAX).iter().map(|c| (c.span.start, c.span.len)).collect();
        assert!(joined.len() <= READ.len());
        for (read, (start, len)) in reader.read(&joined).unwrap().iter().zip(&joined) {
            assert!(read[..] == bytes[*start as usize..(start + len) as usize]);
        }
    }
    let (requests, ratio) = (origin.requests().len(), sent(&origin) as f64 / reads.bytes() as f64);
    let metrics = proxy.metrics();
    let wanted: u64 = reads.baskets.iter().map(|span| span.len).sum();
    assert!(metrics.ahead_bytes > wanted / 2, "{requests} requests: {metrics:?}");
    assert!(ratio < 1.5, "{ratio}: {metrics:?}");
}

#[test]
fn what_found_no_room_is_fetched_when_there_is_some() {
    const STEP: u64 = 400_000;
    // so long that its last part is fetched ahead in more requests than there may be at once
    let bytes = noise(60_000_000, 5);
    let (folder, origin) = served(&bytes);
    let proxy = folder.proxy(origin.root_url().unwrap());
    let reader = Reader::open(&(proxy.root_url().unwrap() + "t.root")).unwrap();
    for at in (0..bytes.len() as u64).step_by(STEP as usize) {
        let read = reader.read(&[(at, STEP)]).unwrap();
        assert!(read[0] == bytes[at as usize..(at + STEP) as usize]);
    }
    let metrics = proxy.metrics();
    assert!(metrics.ahead_bytes > bytes.len() as u64 / 2, "{metrics:?}");
}

#[test]
fn without_prefetching_nothing_more_is_fetched_than_asked_for() {
    let folder = Folder::new();
    folder.write("t.root", &tree());
    let origin = folder.origin();
    let reads = reads(&folder);
    let proxy = sapwood_proxy::Proxy::start(folder.options(origin.root_url().unwrap()).prefetch(0)).unwrap();
    let reader = Reader::open(&(proxy.root_url().unwrap() + "t.root")).unwrap();
    for span in reads.all() {
        reader.read(&[(span.start, span.len)]).unwrap();
    }
    assert_eq!(proxy.metrics().ahead_bytes, 0);
    assert!(origin.requests().len() >= reads.baskets.len());
    let ratio = sent(&origin) as f64 / reads.bytes() as f64;
    assert!(ratio < 1.02, "{ratio}");
}

#[test]
fn a_file_that_is_no_root_file_is_served_as_well() {
    let bytes = [&b"root"[..], &noise(3_000_000, 9)].concat();
    let (folder, origin) = served(&bytes);
    let proxy = folder.proxy(origin.root_url().unwrap());
    let reader = Reader::open(&(proxy.root_url().unwrap() + "t.root")).unwrap();
    for at in (0..2_900_000u64).step_by(290_017) {
        assert!(reader.read(&[(at, 1000)]).unwrap()[0] == bytes[at as usize..at as usize + 1000]);
    }
    assert_eq!(proxy.metrics().ahead_bytes, 0);
}
