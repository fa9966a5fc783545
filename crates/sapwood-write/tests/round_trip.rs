//! Written data can be read back, whatever the codec, the clusters, the baskets and the batches.

mod reader;

use proptest::prelude::*;
use reader::{Record, entries, header, int, records};
use sapwood_codec::Compression;
use sapwood_column::{Array, DType, Values};
use sapwood_write::{BranchSpec, Cluster, FileOptions, FileWriter, TreeOptions};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::UNIX_EPOCH;

/// A directory that is removed with the test.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let n = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("sapwood-write-{}-{n}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn names(&self) -> Vec<String> {
        let mut names: Vec<String> =
            std::fs::read_dir(&self.0).unwrap().map(|f| f.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Counts of each entry; the values follow from them.
type Counts = Vec<u8>;

fn specs() -> Vec<BranchSpec> {
    vec![
        BranchSpec::scalar("s", DType::I16),
        BranchSpec::jagged_by("x", DType::F32, "n"),
        BranchSpec::jagged_by("flag", DType::Bool, "n"),
        BranchSpec::fixed("w", DType::U64, 2),
        BranchSpec::jagged("own", DType::U8),
    ]
}

fn columns(counts: &[u8], first: usize) -> Vec<(&'static str, Array)> {
    let list = |values: Values, by: u8| {
        let mut offsets = vec![0];
        for c in counts {
            offsets.push(offsets[offsets.len() - 1] + i64::from(c / by));
        }
        Array::List { offsets, content: Box::new(Array::Flat(values)) }
    };
    let items: Vec<usize> = counts.iter().enumerate().flat_map(|(i, &c)| vec![first + i; c.into()]).collect();
    let halves: Vec<u8> = counts.iter().flat_map(|&c| vec![c; (c / 2).into()]).collect();
    let each = first..first + counts.len();
    let pairs = Values::U64(each.clone().flat_map(|i| [i as u64, u64::MAX - i as u64]).collect());
    vec![
        ("s", Array::Flat(Values::I16(each.map(|i| -(i as i16)).collect()))),
        ("x", list(Values::F32(items.iter().map(|&i| i as f32 + 0.25).collect()), 1)),
        ("flag", list(Values::Bool(items.iter().map(|i| (i % 2) as u8).collect()), 1)),
        ("w", Array::Regular { size: 2, len: counts.len(), content: Box::new(Array::Flat(pairs)) }),
        ("own", list(Values::U8(halves), 2)),
    ]
}

fn write(folder: &Folder, counts: &Counts, cuts: &[usize], compression: &str, options: TreeOptions) -> Vec<u8> {
    let path = folder.0.join("a.root");
    let file = FileOptions::default()
        .compression(compression.parse::<Compression>().unwrap())
        .created(Some(UNIX_EPOCH))
        .uuid(Some([7; 16]));
    let mut file = FileWriter::create_with(&path, file).unwrap();
    let mut tree = file.tree("Events", "a title", &specs(), options).unwrap();
    let mut start = 0;
    for stop in cuts.iter().copied().chain([counts.len()]) {
        let columns = columns(&counts[start..stop], start);
        let given: Vec<(&str, &Array)> = columns.iter().map(|(n, a)| (*n, a)).collect();
        tree.extend(&given).unwrap();
        start = stop;
    }
    assert_eq!(tree.entries(), counts.len() as u64);
    tree.finish().unwrap();
    file.finish().unwrap();
    assert_eq!(folder.names(), ["a.root"]);
    std::fs::read(&path).unwrap()
}

fn any_cluster() -> impl Strategy<Value = Cluster> {
    prop_oneof![Just(Cluster::Never), (1u64..200).prop_map(Cluster::Entries), (1u64..20_000).prop_map(Cluster::Bytes)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn every_value_is_there_and_batches_do_not_matter(
        counts in prop::collection::vec(0u8..9, 0..600),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
        compression in prop::sample::select(vec!["none", "zlib:1", "zlib:9", "lzma:1", "lz4:1", "lz4:9", "zstd:3"]),
        cluster in any_cluster(),
        basket_bytes in 100u32..5000,
    ) {
        let folder = Folder::new();
        let options = TreeOptions::default().cluster(cluster).basket_bytes(basket_bytes).optimize_baskets(false);
        let mut cuts: Vec<usize> = cuts.iter().map(|c| c.index(counts.len() + 1)).collect();
        cuts.sort_unstable();
        let file = write(&folder, &counts, &[], compression, options);
        prop_assert!(file == write(&folder, &counts, &cuts, compression, options), "batches change bytes");

        let all = records(&file);
        for (i, (count, got)) in counts.iter().zip(entries(&all, "x", 0)).enumerate() {
            prop_assert_eq!(got, (i as f32 + 0.25).to_be_bytes().repeat((*count).into()));
        }
        let lengths = [("s", 2), ("n", 4), ("x", 0), ("flag", 0), ("w", 16), ("nown", 4), ("own", 0)];
        for (name, entry) in lengths {
            prop_assert_eq!(entries(&all, name, entry).len(), counts.len(), "{}", name);
        }
        let n: Vec<u8> = entries(&all, "n", 4).into_iter().flat_map(|e| [e[3]]).collect();
        prop_assert_eq!(&n, &counts);
        let own: Vec<Vec<u8>> = counts.iter().map(|&c| vec![c; (c / 2).into()]).collect();
        prop_assert_eq!(entries(&all, "own", 0), own);
        for (i, s) in entries(&all, "s", 2).into_iter().enumerate() {
            prop_assert_eq!(s, (-(i as i16)).to_be_bytes());
        }
        for (i, w) in entries(&all, "w", 16).into_iter().enumerate() {
            prop_assert_eq!(&w[8..], (u64::MAX - i as u64).to_be_bytes());
        }
        if let Cluster::Entries(each) = cluster {
            // No basket reaches over the end of a cluster.
            let mut end = 0;
            for r in all.iter().filter(|r| r.class == "TBasket" && r.name == "x") {
                let (start, n) = (end, r.basket.unwrap().0 as u64);
                end += n;
                prop_assert_eq!(start / each, (end - 1) / each);
            }
        }
    }
}

/// Baskets beyond a megabyte are compressed part by part, also where some parts, or all, are noise.
#[test]
fn large_baskets_are_the_same_however_they_come() {
    let n = 700_000;
    let mut x = 1_u32;
    let mut noise = || {
        x = x.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        x.wrapping_mul(0x9e37_79b9) ^ (x >> 15)
    };
    let quiet: Vec<u32> = (0..n).map(|i| i as u32 / 100).collect();
    let loud: Vec<u32> = (0..n).map(|_| noise()).collect();
    let mixed: Vec<u32> = quiet.iter().zip(&loud).map(|(q, l)| if *q < 3000 { *l } else { *q }).collect();
    let specs = ["quiet", "loud", "mixed"].map(|name| BranchSpec::scalar(name, DType::U32));
    let specs = [&specs[..], &[BranchSpec::jagged("list", DType::U32)]].concat();
    let folder = Folder::new();
    let write = |compression: &str, step: usize, threads: usize| {
        let path = folder.0.join("large.root");
        let compression = compression.parse().unwrap();
        let options = FileOptions::default()
            .compression(compression)
            .threads(threads)
            .created(Some(UNIX_EPOCH))
            .uuid(Some([7; 16]));
        let mut file = FileWriter::create_with(&path, options).unwrap();
        let options = TreeOptions::default().cluster(Cluster::Never).basket_bytes(2_500_000);
        let mut tree = file.tree("t", "", &specs, options).unwrap();
        for from in (0..n).step_by(step) {
            let part = |v: &[u32]| Array::Flat(Values::U32(v[from..n.min(from + step)].to_vec()));
            let entries = n.min(from + step) - from;
            let list = Array::List { offsets: (0..=entries as i64).collect(), content: Box::new(part(&mixed)) };
            let columns = [part(&quiet), part(&loud), part(&mixed)];
            let given = [("quiet", &columns[0]), ("loud", &columns[1]), ("mixed", &columns[2]), ("list", &list)];
            tree.extend(&given).unwrap();
        }
        tree.finish().unwrap();
        file.finish().unwrap();
        std::fs::read(&path).unwrap()
    };
    for compression in ["zlib:1", "lz4:1", "zstd:1", "none"] {
        let file = write(compression, n, 2);
        assert!(file == write(compression, 123_457, 1), "{compression}: batches or threads change bytes");
        let all = records(&file);
        for (name, entry, wanted) in
            [("quiet", 4, &quiet), ("loud", 4, &loud), ("mixed", 4, &mixed), ("list", 0, &mixed)]
        {
            let got = entries(&all, name, entry);
            assert!(got.iter().map(|e| int(e, 0, 4) as u32).eq(wanted.iter().copied()), "{compression} {name}");
        }
        let stored = |name: &str| file_bytes(&file, &all, name);
        let size = 4 * n;
        assert!(stored("loud") <= size + 1000, "{compression}: noise takes no more than it has");
        if compression != "none" {
            assert!(stored("quiet") < size / 4 && stored("mixed") < size, "{compression}");
        }
    }
}

/// Bytes that a branch's baskets take in the file.
fn file_bytes(file: &[u8], all: &[Record], branch: &str) -> usize {
    all.iter().filter(|r| r.class == "TBasket" && r.name == branch).map(|r| int(file, r.at, 4)).sum()
}

#[test]
fn the_beginning_tells_where_the_end_lies() {
    let folder = Folder::new();
    let file = write(&folder, &vec![3; 500], &[], "zlib:1", TreeOptions::default());
    let all = records(&file);
    let [end, free, free_bytes, segments, name_bytes, info, info_bytes] = header(&file);
    assert_eq!((end, segments), (file.len(), 1));
    let at = |at: usize| all.iter().find(|r| r.at == at).unwrap();
    assert_eq!((at(info).name.as_str(), at(info).class.as_str()), ("StreamerInfo", "TList"));
    assert_eq!((free + free_bytes, at(free).payload.len()), (end, 10));
    assert_eq!((int(&at(free).payload, 2, 4), int(&at(free).payload, 6, 4)), (end, 2_000_000_000));
    assert!(all.iter().any(|r| r.at == info + info_bytes), "the key list follows the streamer info");
    // The directory follows the file's name and title; its key list holds only the tree's key.
    let directory = &file[100 + name_bytes..];
    assert_eq!(int(directory, 0, 2), 5);
    let (keys_bytes, keys) = (int(directory, 10, 4), int(directory, 26, 4));
    let list = at(keys);
    assert_eq!(list.key_len + list.payload.len(), keys_bytes);
    let tree = all.iter().find(|r| r.class == "TTree").unwrap();
    assert_eq!(list.payload[..4], [0, 0, 0, 1]);
    assert_eq!(list.payload[4..], file[tree.at..tree.at + tree.key_len]);
    assert_eq!(all.iter().filter(|r| r.class == "TBasket").count(), 7);
}

#[test]
fn a_gap_is_a_free_segment() {
    let folder = Folder::new();
    let path = folder.0.join("gap.root");
    let mut file = FileWriter::create(&path, Compression::NONE).unwrap();
    file.leave_gap(1000).unwrap();
    assert!(file.leave_gap(7).is_err());
    file.finish().unwrap();
    let bytes = std::fs::read(&path).unwrap();
    let [end, free, _, segments, ..] = header(&bytes);
    let all = records(&bytes);
    let list = &all.iter().find(|r| r.at == free).unwrap().payload;
    let start = int(list, 2, 4);
    assert_eq!((segments, list.len(), int(list, 6, 4), int(list, 12, 4)), (2, 20, start + 999, end));
    assert_eq!(bytes[start..start + 4], (-1000_i32).to_be_bytes());
}

#[test]
fn a_refused_batch_leaves_no_trace() {
    let folder = Folder::new();
    let whole = write(&folder, &vec![2; 300], &[], "zlib:1", TreeOptions::default());
    let path = folder.0.join("a.root");
    let options = FileOptions::default().created(Some(UNIX_EPOCH)).uuid(Some([7; 16]));
    let mut file = FileWriter::create_with(&path, options).unwrap();
    let mut tree = file.tree("Events", "a title", &specs(), TreeOptions::default()).unwrap();
    let good = columns(&[2; 300], 0);
    let mut bad = columns(&[2; 300], 0);
    bad[2] = columns(&[3; 300], 0).swap_remove(2);
    let refs = |c: &'static str, all: &[(&'static str, Array)]| all.iter().position(|(n, _)| *n == c).unwrap();
    let given: Vec<(&str, &Array)> = bad.iter().map(|(n, a)| (*n, a)).collect();
    let e = tree.extend(&given).unwrap_err();
    assert_eq!((e.branch(), e.file().map(|f| f.ends_with("a.root"))), (Some("flag"), Some(true)));
    assert!(e.to_string().contains("entry 0 of the batch has 3 values, and its counter n disagrees: x has 2"), "{e}");
    let mut given: Vec<(&str, &Array)> = good.iter().map(|(n, a)| (*n, a)).collect();
    given.remove(refs("w", &good));
    assert!(tree.extend(&given).unwrap_err().to_string().contains("branch w: it has no values"));
    given.push(("nonsense", &good[0].1));
    assert!(tree.extend(&given).unwrap_err().to_string().contains("no branch nonsense"));
    given.pop();
    given.push(("w", &good[refs("w", &good)].1));
    tree.extend(&given).unwrap();
    tree.finish().unwrap();
    file.finish().unwrap();
    assert!(std::fs::read(&path).unwrap() == whole);
}

#[test]
fn there_is_no_half_file() {
    let folder = Folder::new();
    let path = folder.0.join("a.root");
    std::fs::write(&path, "what was there").unwrap();
    let mut file = FileWriter::create(&path, Compression::default()).unwrap();
    let tree = file.tree("Events", "", &specs(), TreeOptions::default()).unwrap();
    assert_eq!(folder.names().len(), 2);
    let e = file.finish().unwrap_err();
    assert!(e.to_string().contains("Events is not finished; finish each tree and ntuple before the file"), "{e}");
    drop(tree);
    assert_eq!(folder.names(), ["a.root"]);
    assert_eq!(std::fs::read(&path).unwrap(), b"what was there");
    drop(FileWriter::create(&path, Compression::default()).unwrap());
    assert_eq!(folder.names(), ["a.root"]);
    FileWriter::create(&path, Compression::default()).unwrap().finish().unwrap();
    assert_eq!(header(&std::fs::read(&path).unwrap())[0] as u64, std::fs::metadata(&path).unwrap().len());
}

#[test]
fn nonsense_is_refused() {
    let folder = Folder::new();
    let nowhere = FileWriter::create(folder.0.join("no/such/a.root"), Compression::default()).unwrap_err();
    assert_eq!(nowhere.kind(), sapwood_span::ErrorKind::NotFound);
    let mut file = FileWriter::create(folder.0.join("a.root"), Compression::default()).unwrap();
    let mut fail = |name: &str, options: TreeOptions| file.tree(name, "", &specs(), options).unwrap_err().to_string();
    assert!(fail("a/b", TreeOptions::default()).contains("'/' has a special meaning in ROOT"));
    assert!(fail("t", TreeOptions::default().basket_bytes(99)).contains("basket size 99 is out of range"));
    let empty = TreeOptions::default().cluster(Cluster::Entries(0));
    assert!(fail("t", empty).contains("the cluster size must not be 0"));
    let open = file.tree("t", "", &[], TreeOptions::default()).unwrap();
    let twice = file.tree("t", "", &[], TreeOptions::default()).unwrap_err().to_string();
    assert!(twice.contains("tree t is already being written"), "{twice}");
    open.finish().unwrap();
    file.tree("t", "the second cycle", &[], TreeOptions::default()).unwrap().finish().unwrap();
    file.finish().unwrap();
}

#[test]
fn a_sample_is_the_same_for_the_same_seed_and_shorter_ones_are_its_beginning() {
    use sapwood_write::sample::{SampleLayout, branches, write_sample, write_sample_as};
    let folder = Folder::new();
    let path = folder.0.join("s.root");
    let read = || std::fs::read(&path).unwrap();
    let make = |n, seed, layout| {
        write_sample_as(&path, n, seed, layout, Compression::default()).unwrap();
        read()
    };
    let long = make(6000, 1, SampleLayout::Scattered);
    assert!(long == make(6000, 1, SampleLayout::Scattered));
    assert!(long != make(6000, 2, SampleLayout::Scattered));
    write_sample(&path, 5500, 1).unwrap();
    let (long, short) = (records(&long), records(&read()));
    for (name, entry) in [("event", 8), ("nMuon", 4), ("Muon_pt", 0), ("Jet_eta", 0), ("weight", 12)] {
        assert_eq!(entries(&long, name, entry)[..5500], entries(&short, name, entry), "{name}");
    }
    let baskets = |all: &[reader::Record], name| all.iter().filter(|r| r.class == "TBasket" && r.name == name).count();
    assert_eq!(baskets(&short, "Jet_pt"), 1);
    assert!(baskets(&long, "Jet_pt") > 20);
    let jagged = branches().iter().filter(|b| matches!(b.ty, sapwood_write::BranchType::Jagged { .. })).count();
    assert!((18..=25).contains(&jagged) && (50..=70).contains(&branches().len()));
}
