//! Many producers, threads and processes, fill one tree: every entry once, in its producer's order, in the clusters and
//! baskets of a single writer.

mod common;

use common::Folder;
use sapwood::write::{BranchSpec, Cluster, CppType, FileWriter, Merger, Producer, TreeOptions, TreeWriter};
use sapwood::{Array, Compression, DType, File, OpenOptions, ScanOptions, StepSize, Values};

const BATCH: i64 = 100;

fn specs() -> Vec<BranchSpec> {
    let hit = CppType::class("Hit", vec![("t".into(), CppType::Number(DType::I32)), ("name".into(), CppType::Text)]);
    vec![
        BranchSpec::scalar("who", DType::I32),
        BranchSpec::jagged("x", DType::F64),
        BranchSpec::object("hits", CppType::vector(hit.clone())).unsplit(),
        BranchSpec::object("split", CppType::vector(hit)),
        BranchSpec::object("label", CppType::Text),
    ]
}

fn file(path: &str) -> (FileWriter, TreeWriter) {
    let mut file = FileWriter::create(path, Compression::default()).unwrap();
    let options = TreeOptions::default().cluster(Cluster::Entries(1000));
    let tree = file.tree("t", "", &specs(), options).unwrap();
    (file, tree)
}

fn numbered(texts: impl Iterator<Item = i64>) -> Array {
    let (mut offsets, mut bytes) = (vec![0], Vec::new());
    for k in texts {
        bytes.extend_from_slice(format!("n{k}").as_bytes());
        offsets.push(bytes.len() as i64);
    }
    Array::Text { offsets, bytes }
}

/// The `i`-th batch of a producer: entry k holds 2k and 2k + 1, one hit k, and its name.
fn batch(who: i32, i: i64) -> [(&'static str, Array); 5] {
    let entries = i * BATCH..(i + 1) * BATCH;
    let x = Values::F64(entries.clone().flat_map(|k| [2 * k, 2 * k + 1]).map(|k| k as f64).collect());
    let hits = Array::Record {
        len: BATCH as usize,
        fields: vec![
            ("t".into(), Array::Flat(Values::I32(entries.clone().map(|k| k as i32).collect()))),
            ("name".into(), numbered(entries.clone())),
        ],
    };
    let list =
        |scale, content| Array::List { offsets: (0..=BATCH).map(|k| scale * k).collect(), content: Box::new(content) };
    [
        ("who", Array::Flat(Values::I32(vec![who; BATCH as usize]))),
        ("x", list(2, Array::Flat(x))),
        ("hits", list(1, hits.clone())),
        ("label", numbered(entries)),
        ("split", list(1, hits)),
    ]
}

fn given<'a>(batch: &'a [(&'static str, Array)]) -> Vec<(&'a str, &'a Array)> {
    batch.iter().map(|(n, a)| (*n, a)).collect()
}

fn produce(producer: &mut Producer, who: i32, batches: i64) {
    for i in 0..batches {
        let batch = batch(who, i);
        producer.extend(&given(&batch)).unwrap();
        let mut wrong = given(&batch);
        wrong[0].1 = &batch[1].1;
        assert!(producer.extend(&wrong).is_err(), "what is wrong is refused where it is given, and leaves no trace");
    }
}

/// How many entries each producer has in the file, all of which are checked.
fn entries(path: &str, producers: usize) -> Vec<i64> {
    let tree = File::open(path, &OpenOptions::default()).unwrap().tree("t").unwrap();
    let branches = ["who", "x", "hits", "label", "split.t", "split.name"].map(|n| tree.find(n).unwrap()).to_vec();
    let scan = ScanOptions::default().branches(branches).step(StepSize::All);
    let read = tree.scan_with(&scan).unwrap().next().unwrap().unwrap();
    let Array::Flat(Values::I32(who)) = &read.columns[0] else { panic!() };
    let mut at = vec![0; producers];
    let mut wanted: Vec<Array> = read.columns.iter().map(|a| a.slice(0, 0)).collect();
    for &w in who {
        let (i, k) = (at[w as usize] / BATCH, (at[w as usize] % BATCH) as usize);
        let mut columns = batch(w, i).map(|(_, a)| a).to_vec();
        let Some(Array::List { offsets, content }) = columns.pop() else { panic!() };
        let Array::Record { fields, .. } = *content else { panic!() };
        columns.extend(fields.into_iter().map(|(_, a)| Array::List { offsets: offsets.clone(), content: Box::new(a) }));
        for (joined, part) in wanted.iter_mut().zip(&columns) {
            joined.append(&part.slice(k, k + 1)).unwrap();
        }
        at[w as usize] += 1;
    }
    assert_eq!(read.columns, wanted);
    at
}

#[test]
fn threads_fill_one_tree() {
    let folder = Folder::new();
    let path = folder.file("many.root");
    let (file, tree) = file(&path);
    let merger = Merger::new(tree);
    std::thread::scope(|scope| {
        for who in 0..16 {
            let mut producer = merger.producer().unwrap();
            scope.spawn(move || {
                produce(&mut producer, who, 10);
                producer.finish().unwrap();
            });
        }
    });
    let late = merger.producer().unwrap();
    let error = merger.clone().finish().unwrap_err().to_string();
    assert!(error.contains("1 producers are still writing: thread threads_fill_one_tree"), "{error}");
    drop(late);
    let summary = merger.finish().unwrap();
    assert_eq!((summary.finished, summary.lost.len()), (17, 0));
    file.finish().unwrap();
    assert_eq!(entries(&path, 16), [10 * BATCH; 16]);
}

#[test]
fn a_panic_loses_what_was_not_handed_on_and_is_reported() {
    let folder = Folder::new();
    let path = folder.file("panic.root");
    let (file, tree) = file(&path);
    let merger = Merger::new(tree);
    let mut producer = merger.producer().unwrap();
    let thread = std::thread::Builder::new().name("unlucky".into());
    let died = thread.spawn(move || {
        produce(&mut producer, 0, 2);
        producer.flush().unwrap();
        produce(&mut producer, 0, 1);
        std::panic::resume_unwind(Box::new("an accident"));
    });
    assert!(died.unwrap().join().is_err());
    let mut other = merger.producer().unwrap();
    produce(&mut other, 1, 1);
    other.finish().unwrap();
    let (mut tree, summary) = merger.into_tree().unwrap();
    assert_eq!((summary.finished, summary.pieces), (1, 2));
    let lost = &summary.lost[0];
    assert_eq!((lost.entries, &*lost.why), (2 * BATCH as u64, "its thread panicked"));
    tree.extend(&given(&batch(1, 1))).unwrap();
    tree.finish().unwrap();
    file.finish().unwrap();
    assert_eq!(entries(&path, 2), [2 * BATCH, 2 * BATCH]);
}

/// Pieces, baskets and clusters of a tree of many branches do not depend on how many write it.
#[test]
fn many_branches_on_many_producers_are_as_much_work_as_on_one() {
    let folder = Folder::new();
    let specs: Vec<BranchSpec> = (0..2000).map(|i| BranchSpec::scalar(format!("b{i}"), DType::F32)).collect();
    let column = Array::Flat(Values::F32((0..50_u16).map(f32::from).collect()));
    let columns: Vec<(&str, &Array)> = specs.iter().map(|s| (&*s.name, &column)).collect();
    let write = |producers: usize| {
        let path = folder.file(&format!("{producers:02}.root"));
        let mut file = FileWriter::create(&path, Compression::NONE).unwrap();
        let options = TreeOptions::default().cluster(Cluster::Entries(400));
        let merger = Merger::new(file.tree("t", "", &specs, options).unwrap());
        std::thread::scope(|scope| {
            for _ in 0..producers {
                let mut producer = merger.producer().unwrap();
                let columns = &columns;
                scope.spawn(move || (0..64 / producers).for_each(|_| producer.extend(columns).unwrap()));
            }
        });
        let pieces = merger.finish().unwrap().pieces;
        file.finish().unwrap();
        let tree = File::open(&path, &OpenOptions::default()).unwrap().tree("t").unwrap();
        let baskets: usize = tree.header().branches.iter().map(|b| b.write_basket).sum();
        assert_eq!(tree.entries(), 3200);
        (pieces, baskets, std::fs::metadata(&path).unwrap().len())
    };
    let (one, many) = (write(1), write(16));
    assert_eq!((one.1, one.2), (many.1, many.2), "the same baskets and bytes");
    // 25.6 MB in pieces of 4 MB, or of the 16th part of 32 MB: what a thread holds at its end may be less
    assert!(one.0 <= 9 && many.0 <= 32, "{} and {} pieces", one.0, many.0);
}

#[cfg(unix)]
mod processes {
    use super::*;
    use std::process::{Child, Command, Stdio};
    use std::time::Duration;

    /// What a child is told: where to connect, its number, how many batches, how it ends.
    const TOLD: &str = "SAPWOOD_TEST_PRODUCER";

    fn child(address: &std::path::Path, who: i32, batches: i64, end: &str) -> Child {
        Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "processes::a_producer_by_itself", "--nocapture"])
            .env(TOLD, format!("{}\n{who}\n{batches}\n{end}", address.display()))
            .stdout(Stdio::null())
            .spawn()
            .unwrap()
    }

    /// What the children of the tests below do; nothing when it is run as a test.
    #[test]
    fn a_producer_by_itself() {
        let Ok(told) = std::env::var(TOLD) else { return };
        let told: Vec<&str> = told.split('\n').collect();
        let (who, batches) = (told[1].parse().unwrap(), told[2].parse().unwrap());
        let mut producer = Producer::connect(told[0]).unwrap();
        produce(&mut producer, who, batches);
        match told[3] {
            "finishes" => producer.finish().unwrap(),
            "dies" => {
                producer.flush().unwrap();
                let half = batch(who, batches);
                producer.extend(&given(&half)).unwrap();
                std::process::abort();
            }
            _ => std::thread::sleep(Duration::from_secs(60)),
        }
    }

    #[test]
    fn processes_fill_one_tree_and_one_that_dies_is_reported() {
        let folder = Folder::new();
        let path = folder.file("processes.root");
        let (file, tree) = file(&path);
        let merger = Merger::new(tree);
        let gate = merger.listen().unwrap();
        let address = gate.address().to_owned();
        let mut children: Vec<Child> = (0..6).map(|who| child(&address, who, 20, "finishes")).collect();
        let dies = child(&address, 6, 3, "dies");
        let dead = dies.id();
        children.push(dies);
        let mut here = merger.producer().unwrap();
        produce(&mut here, 7, 20);
        here.finish().unwrap();
        let good = children.iter_mut().filter_map(|c| c.wait().unwrap().success().then_some(())).count();
        assert_eq!(good, 6);
        let summary = gate.close(Duration::from_secs(30));
        assert!(!address.exists() && !address.parent().unwrap().exists(), "the socket is gone");
        assert_eq!(summary.finished, 7);
        let lost = &summary.lost[..];
        assert_eq!(lost.len(), 1);
        assert_eq!((&*lost[0].producer, lost[0].entries), (&*format!("process {dead}"), 3 * BATCH as u64));
        assert_eq!(lost[0].why, "its process ended or closed the connection without finishing");
        merger.finish().unwrap();
        file.finish().unwrap();
        assert_eq!(entries(&path, 8), [2000, 2000, 2000, 2000, 2000, 2000, 300, 2000]);
    }

    #[test]
    fn who_never_ends_is_cut_off() {
        let folder = Folder::new();
        let path = folder.file("cut.root");
        let (file, tree) = file(&path);
        let merger = Merger::new(tree);
        let gate = merger.listen().unwrap();
        let mut sleeps = child(gate.address(), 0, 1, "sleeps");
        let mut mine = Producer::connect(gate.address()).unwrap();
        produce(&mut mine, 1, 1);
        mine.flush().unwrap();
        // both are in before the gate closes
        while merger.entries() < BATCH as u64 || format!("{merger:?}").contains("producers: 1,") {
            std::thread::sleep(Duration::from_millis(5));
        }
        let summary = gate.close(Duration::ZERO);
        assert_eq!((summary.finished, summary.lost.len()), (0, 2));
        assert!(mine.finish().unwrap_err().to_string().contains("the merger's process ended or closed"));
        sleeps.kill().unwrap();
        sleeps.wait().unwrap();
        merger.finish().unwrap();
        file.finish().unwrap();
        assert_eq!(entries(&path, 2), [0, BATCH]);
    }

    #[test]
    fn strangers_are_not_let_in() {
        use std::io::{Read, Write};
        let folder = Folder::new();
        let (_file, tree) = file(&folder.file("strangers.root"));
        let merger = Merger::new(tree);
        let gate = merger.listen().unwrap();
        let mut line = std::os::unix::net::UnixStream::connect(gate.address()).unwrap();
        line.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
        let mut answer = Vec::new();
        let _ = line.read_to_end(&mut answer);
        assert!(answer.starts_with(b"SapM"), "{answer:?}");
        let summary = gate.close(Duration::ZERO);
        assert_eq!((summary.finished, summary.lost.len()), (0, 0));
        let e = Producer::connect(folder.file("nobody")).unwrap_err().to_string();
        assert!(e.contains("no merger is listening at"), "{e}");
    }
}
