//! The verification of `optimize`: any error in the output is detected before it gets its name.

use sapwood_codec::Compression;
use sapwood_column::{Array, DType, Values};
use sapwood_rewrite::optimize::{ClusterSize, OptimizeOptions, OptimizeProgress, optimize};
use sapwood_span::ErrorKind;
use sapwood_write::{BranchSpec, Cluster, CppType, FileWriter, TreeOptions};
use std::path::{Path, PathBuf};

const ENTRIES: i64 = 40_000;

/// Numbers, lists and texts, uncompressed, in clusters that optimising changes.
fn write(path: &Path) {
    let specs = [
        BranchSpec::scalar("number", DType::I64),
        BranchSpec::jagged("list", DType::F32),
        BranchSpec::object("text", CppType::Text),
    ];
    let mut file = FileWriter::create(path, Compression::NONE).unwrap();
    let options = TreeOptions::default().cluster(Cluster::Entries(3000));
    let mut tree = file.tree("t", "", &specs, options).unwrap();
    let offsets: Vec<i64> = (0..=ENTRIES).map(|i| i / 2 * 3).collect();
    let items = offsets.last().copied().unwrap_or(0);
    let list = Array::Flat(Values::F32((0..items).map(|i| i as f32).collect()));
    let bytes: Vec<u8> = (0..items).map(|i| b'a' + (i % 23) as u8).collect();
    tree.extend(&[
        ("number", &Array::Flat(Values::I64((0..ENTRIES).collect()))),
        ("list", &Array::List { offsets: offsets.clone(), content: Box::new(list) }),
        ("text", &Array::Text { offsets, bytes }),
    ])
    .unwrap();
    tree.finish().unwrap();
    file.finish().unwrap();
}

/// The file being written.
fn half_written(folder: &Path) -> PathBuf {
    let parts = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path());
    parts.into_iter().find(|p| p.extension().is_some_and(|e| e == "part")).unwrap()
}

/// Optimises while one byte of the output is changed secretly, once all clusters are written.
fn optimize_damaged(folder: &Path, at: Option<u64>) -> sapwood_span::Result<()> {
    let (source, out) = (folder.join("in.root"), folder.join("out.root"));
    let within = folder.to_owned();
    let clusters = (ENTRIES as u64).div_ceil(7000);
    let damage = move |p: OptimizeProgress| {
        if let Some(at) = at.filter(|_| p.done == clusters) {
            use std::os::unix::fs::FileExt;
            let file = std::fs::OpenOptions::new().read(true).write(true).open(half_written(&within)).unwrap();
            let mut byte = [0];
            file.read_exact_at(&mut byte, at).unwrap();
            file.write_all_at(&[byte[0] ^ 1], at).unwrap();
        }
    };
    let options = OptimizeOptions::default().cluster(ClusterSize::Entries(7000)).progress(damage);
    optimize(&out, source.to_str().unwrap(), &options).map(|report| assert!(report.verified))
}

#[test]
fn a_byte_that_came_out_differently_is_found_with_its_branch_and_entries() {
    let folder = std::env::temp_dir().join(format!("sapwood-optimize-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    write(&folder.join("in.root"));
    optimize_damaged(&folder, None).unwrap();
    let bytes = std::fs::read(folder.join("out.root")).unwrap();
    std::fs::remove_file(folder.join("out.root")).unwrap();
    // values of the first cluster as stored in the output
    let find = |needle: &[u8]| bytes.windows(needle.len()).position(|w| w == needle).unwrap() as u64;
    let number = find(&1234_i64.to_be_bytes());
    let list = find(&777_f32.to_be_bytes());
    let text = find(b"\x03abc") + 2;
    for (branch, at) in [("number", number), ("list", list), ("text", text)] {
        let error = optimize_damaged(&folder, Some(at)).unwrap_err();
        assert_eq!((error.kind(), error.branch()), (ErrorKind::Corrupt, Some(branch)), "{error}");
        assert!(error.what().starts_with("entries 0 to "), "{error}");
        let left: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|e| e.unwrap().file_name()).collect();
        assert_eq!(left, ["in.root"]);
    }
    std::fs::remove_dir_all(&folder).unwrap();
}
