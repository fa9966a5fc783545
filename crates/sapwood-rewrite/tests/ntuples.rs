//! Ntuples that are merged and laid out anew: any error in the output is detected before it gets its name.

use sapwood_codec::Compression;
use sapwood_column::{Array, DType, Values};
use sapwood_engine::{File, OpenOptions};
use sapwood_rewrite::merge::{MergeOptions, merge};
use sapwood_rewrite::optimize::{ClusterSize, OptimizeOptions, OptimizeProgress, optimize};
use sapwood_span::ErrorKind;
use sapwood_write::{FieldSpec, FieldType, FileWriter, NtupleOptions};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

const ENTRIES: i64 = 40_000;
/// Entries of a new cluster.
const STEP: u64 = 7000;
/// A page of `number` in a new cluster, with its checksum.
const PAGE: usize = STEP as usize * 8 + 8;

/// A directory that is removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("sapwood-ntuples-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn file(&self, name: &str) -> String {
        self.0.join(name).to_str().unwrap().to_owned()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Numbers, lists and texts, in clusters of 3000 entries.
fn write(path: &str, compression: Compression) {
    let number = |dtype| FieldType::Number(dtype);
    let fields = [
        FieldSpec::new("number", number(DType::I64)),
        FieldSpec::new("list", number(DType::F32).vector()),
        FieldSpec::new("text", FieldType::Text),
    ];
    let mut file = FileWriter::create(Path::new(path), compression).unwrap();
    let mut ntuple = file.ntuple(file.root(), "n", "", &fields, NtupleOptions::default()).unwrap();
    let mut from = 0;
    while from < ENTRIES {
        let to = (from + 3000).min(ENTRIES);
        let offsets: Vec<i64> = (from..=to).map(|i| i / 2 * 3 - from / 2 * 3).collect();
        let items = offsets.last().copied().unwrap_or(0);
        let list = Array::Flat(Values::F32((0..items).map(|i| (from + i) as f32).collect()));
        let bytes: Vec<u8> = (0..items).map(|i| b'a' + ((from + i) % 23) as u8).collect();
        ntuple
            .extend(&[
                ("number", &Array::Flat(Values::I64((from..to).collect()))),
                ("list", &Array::List { offsets: offsets.clone(), content: Box::new(list) }),
                ("text", &Array::Text { offsets, bytes }),
            ])
            .unwrap();
        ntuple.flush().unwrap();
        from = to;
    }
    ntuple.finish().unwrap();
    file.finish().unwrap();
}

/// Optimises while the output is changed secretly, once all clusters are written.
fn optimize_damaged(
    folder: &Folder,
    damage: impl Fn(&mut Vec<u8>) + Send + Sync + 'static,
) -> sapwood_span::Result<()> {
    let within = folder.0.clone();
    let clusters = (ENTRIES as u64).div_ceil(STEP);
    let change = move |p: OptimizeProgress| {
        if p.done == clusters {
            let parts = std::fs::read_dir(&within).unwrap().map(|e| e.unwrap().path());
            let part = parts.into_iter().find(|p| p.extension().is_some_and(|e| e == "part")).unwrap();
            let mut bytes = std::fs::read(&part).unwrap();
            damage(&mut bytes);
            let file = std::fs::OpenOptions::new().write(true).open(part).unwrap();
            file.write_all_at(&bytes, 0).unwrap();
        }
    };
    let options = OptimizeOptions::default().force(true).cluster(ClusterSize::Entries(STEP)).progress(change);
    optimize(Path::new(&folder.file("out.root")), &folder.file("in.root"), &options)
        .map(|report| assert!(report.verified))
}

/// Where the page of `number` that begins with an entry is.
fn page_of(bytes: &[u8], entry: u64) -> usize {
    let begin = [entry.to_le_bytes(), (entry + 1).to_le_bytes()].concat();
    bytes.windows(16).position(|w| w == begin).unwrap()
}

#[test]
fn what_is_right_passes_and_damage_does_not() {
    let folder = Folder::new("damage");
    write(&folder.file("in.root"), Compression::NONE);
    optimize_damaged(&folder, |_| {}).unwrap();
    std::fs::remove_file(folder.file("out.root")).unwrap();
    let flip = |bytes: &mut Vec<u8>| {
        let at = page_of(bytes, STEP);
        bytes[at + 100] ^= 1;
    };
    let error = optimize_damaged(&folder, flip).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
    assert_eq!(error.branch(), Some("number"), "{error}");
    assert!(!Path::new(&folder.file("out.root")).exists());
}

#[test]
fn intact_pages_in_another_order_are_noticed() {
    let folder = Folder::new("order");
    write(&folder.file("in.root"), Compression::NONE);
    let swap = |bytes: &mut Vec<u8>| {
        let (a, b) = (page_of(bytes, STEP), page_of(bytes, 2 * STEP));
        let first = bytes[a..a + PAGE].to_vec();
        bytes.copy_within(b..b + PAGE, a);
        bytes[b..b + PAGE].copy_from_slice(&first);
    };
    let error = optimize_damaged(&folder, swap).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
    assert!(error.to_string().contains("entries 7000 to 13999 differ"), "{error}");
    assert_eq!(error.branch(), Some("number"), "{error}");
}

#[test]
fn a_damaged_page_is_named() {
    let folder = Folder::new("page");
    write(&folder.file("in.root"), Compression::NONE);
    let mut bytes = std::fs::read(folder.file("in.root")).unwrap();
    let at = page_of(&bytes, 6000);
    bytes[at] ^= 1;
    std::fs::write(folder.file("damaged.root"), &bytes).unwrap();
    let inputs = [folder.file("in.root"), folder.file("damaged.root")];
    let error = merge(Path::new(&folder.file("out.root")), &inputs, &MergeOptions::default()).unwrap_err();
    let text = error.to_string();
    assert_eq!(error.kind(), ErrorKind::Corrupt, "{text}");
    assert_eq!(error.branch(), Some("number"), "{text}");
    assert!(text.contains("damaged.root") && text.contains("page 0 of column 0 in cluster 2"), "{text}");
    assert!(!Path::new(&folder.file("out.root")).exists());
}

#[test]
fn the_same_encoding_is_used_again_and_another_becomes_a_representation() {
    let folder = Folder::new("encodings");
    write(&folder.file("plain.root"), Compression::NONE);
    write(&folder.file("split.root"), Compression::default());
    let inputs = ["plain.root", "split.root", "plain.root", "split.root"].map(|name| folder.file(name));
    let report = merge(Path::new(&folder.file("out.root")), &inputs, &MergeOptions::default()).unwrap();
    assert_eq!(report.trees.iter().map(|t| (t.entries, t.inputs)).collect::<Vec<_>>(), [(4 * ENTRIES as u64, 4)]);
    let file = File::open(&folder.file("out.root"), &OpenOptions::default()).unwrap();
    let ntuple = file.tree("n").unwrap().header().ntuple.clone().unwrap();
    let names = |field: usize| ntuple.schema.fields[field].name.clone();
    let of = |name: &str| {
        ntuple.schema.columns.iter().filter(|c| names(c.field) == name).map(|c| c.code).collect::<Vec<_>>()
    };
    // numbers, ends of lists: plain and split
    assert_eq!(of("number"), [0x09, 0x15]);
    assert_eq!(of("list"), [0x0f, 0x1b]);
    // ends of texts are encoded again: readers have trouble with fields of several columns
    assert_eq!(of("text"), [0x0f, 0x02]);
    for cluster in &ntuple.table.clusters {
        let used = cluster.columns.iter().filter(|c| !c.is_suppressed).count();
        assert_eq!((cluster.columns.len(), used), (8, 5), "{cluster:?}");
    }
}

/// A cluster that is given as a whole, field after field, is one cluster between others.
#[test]
fn whole_clusters_are_written_field_by_field() {
    let folder = Folder::new("whole");
    let path = folder.file("n.root");
    let number = |range: std::ops::Range<i64>| Array::Flat(Values::I64(range.collect()));
    let list = |n: i64| {
        let items = Array::Flat(Values::I64((0..3 * n).collect()));
        Array::List { offsets: (0..=n).map(|i| 3 * i).collect(), content: Box::new(items) }
    };
    let fields = [
        FieldSpec::new("number", FieldType::Number(DType::I64)),
        FieldSpec::new("list", FieldType::Number(DType::I64).vector()),
    ];
    let mut file = FileWriter::create(Path::new(&path), Compression::NONE).unwrap();
    let mut ntuple = file.ntuple(file.root(), "n", "", &fields, NtupleOptions::new().page_bytes(4096u32)).unwrap();
    ntuple.extend(&[("number", &number(0..10)), ("list", &list(10))]).unwrap();
    // more than the pages that wait before they are compressed
    let many = 300_000;
    ntuple.extend_cluster(vec![("list", list(many)), ("number", number(10..10 + many))]).unwrap();
    let e = ntuple.extend_cluster(vec![("number", number(0..1))]).unwrap_err();
    assert_eq!((e.kind(), e.branch()), (ErrorKind::Invalid, Some("list")));
    ntuple.extend_cluster(vec![("number", number(0..0)), ("list", list(0))]).unwrap();
    ntuple.extend(&[("number", &number(10 + many..20 + many)), ("list", &list(10))]).unwrap();
    ntuple.finish().unwrap();
    file.finish().unwrap();
    let tree = File::open(&path, &OpenOptions::default()).unwrap().tree("n").unwrap();
    assert_eq!(tree.clusters(), [0, 10, 10 + many as u64, 20 + many as u64]);
    let batch = tree.scan().branches(["number", "list"]).step(sapwood_engine::StepSize::All).build().unwrap();
    let columns = batch.map(Result::unwrap).next().unwrap().columns;
    assert!(matches!(&columns[0], Array::Flat(Values::I64(v)) if v.iter().copied().eq(0..20 + many)));
    let Array::List { offsets, content } = &columns[1] else { panic!("no list") };
    assert!(offsets.iter().copied().eq((0..=20 + many).map(|i| 3 * i)));
    let items = (0..30).chain(0..3 * many).chain(0..30);
    assert!(matches!(&**content, Array::Flat(Values::I64(v)) if v.iter().copied().eq(items)));
}
