//! A scan leaves no thread behind, however it ends. One test only: it counts the threads of the process.
#![cfg(target_os = "linux")]

use sapwood_codec::Compression;
use sapwood_column::{Array, DType, Values};
use sapwood_engine::{Chain, ChainFile, ChainOptions, File, OpenOptions, ReadRequest, ScanOptions, StepSize};
use sapwood_write::{BranchSpec, Cluster, FileWriter, TreeOptions};
use std::sync::atomic::Ordering;

/// The threads that unzip, as the system names them. Those on their way out are left out: whoever joins a thread goes
/// on before the system has taken it off its list.
fn helpers() -> usize {
    /// `PF_EXITING` in the flags of proc_pid_stat(5): set before anybody who joins is woken.
    const EXITING: u64 = 4;
    let unzips = |stat: &String| {
        let (front, rest) = stat.rsplit_once(')')?;
        let (_, name) = front.split_once('(')?;
        // state, parent, group, session, terminal, its group, flags
        let flags: u64 = rest.split_whitespace().nth(6)?.parse().ok()?;
        Some(name.starts_with("sapwood-unzip") && flags & EXITING == 0)
    };
    let is_counted = |stat: &String| unzips(stat).expect("as in proc_pid_stat(5)");
    let tasks = std::fs::read_dir("/proc/self/task").unwrap();
    let stat = |task: std::io::Result<std::fs::DirEntry>| std::fs::read_to_string(task.ok()?.path().join("stat")).ok();
    tasks.filter_map(stat).filter(is_counted).count()
}

#[test]
fn no_thread_outlives_its_scan() {
    let path = std::env::temp_dir().join(format!("sapwood-threads-{}.root", std::process::id()));
    let mut file = FileWriter::create(&path, Compression::default()).unwrap();
    let layout = TreeOptions::default().cluster(Cluster::Entries(1000)).basket_bytes(8000).optimize_baskets(false);
    let mut tree = file.tree("t", "", &[BranchSpec::scalar("x", DType::U64)], layout).unwrap();
    // more than a scan would do without helpers
    let column = Array::Flat(Values::U64((0..100_000u64).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect()));
    tree.extend(&[("x", &column)]).unwrap();
    tree.finish().unwrap();
    file.finish().unwrap();

    let whole = std::fs::read(&path).unwrap();

    let file = File::open(path.to_str().unwrap(), &OpenOptions::default()).unwrap();
    let tree = file.tree("t").unwrap();
    let options = |threads| {
        ScanOptions::default().branches(vec![tree.find("x").unwrap()]).step(StepSize::Entries(1000)).threads(threads)
    };
    assert_eq!(helpers(), 0, "opening starts none");

    let mut scan = tree.scan_with(&options(8)).unwrap();
    // a thread gives itself its name: wait until all have
    for _ in 0..3000 {
        if helpers() == 7 {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    assert_eq!(helpers(), 7, "the consumer works, too");
    for _ in 0..100 {
        assert!(!scan.is_over());
        assert!(scan.next().unwrap().is_ok());
    }
    assert!(scan.is_over(), "before anybody asks for a batch more");
    assert_eq!(helpers(), 0, "read to its end");
    assert!(scan.next().is_none());
    drop(scan);

    let mut scan = tree.scan_with(&options(8)).unwrap();
    assert!(scan.next().unwrap().is_ok());
    drop(scan);
    assert_eq!(helpers(), 0, "dropped early");

    drop(tree.scan_with(&options(8)).unwrap());
    assert_eq!(helpers(), 0, "dropped before its first batch");

    let mut scan = tree.scan_with(&options(8)).unwrap();
    scan.cancel().store(true, Ordering::Relaxed);
    assert!(scan.next().unwrap().is_err());
    assert_eq!(helpers(), 0, "told to stop");

    std::fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(20_000).unwrap();
    let mut scan = tree.scan_with(&options(8)).unwrap();
    assert!(scan.by_ref().any(|b| b.is_err()), "the file was truncated");
    assert_eq!(helpers(), 0, "failed");
    drop(scan);

    let scan = tree.scan_with(&options(1)).unwrap();
    assert_eq!(helpers(), 0, "one thread is the consumer's own");
    drop(scan);

    let mut scan = tree.scan_ahead(&options(8)).unwrap();
    assert_eq!(helpers(), 0, "what is only prepared has none");
    assert_eq!(scan.by_ref().filter(|b| b.is_ok()).count(), 0, "the file was truncated");
    drop(scan);

    // files ahead of the current one have no threads: the limit is that of all together
    let paths: Vec<String> = (0..3).map(|i| format!("{}-{i}", path.display())).collect();
    for copy in &paths {
        std::fs::write(copy, &whole).unwrap();
    }
    let chain = Chain::new(paths.iter().map(|p| (p.clone(), None)).collect(), ChainOptions::default());
    let wanted = move |link: &ChainFile| {
        let branches = vec![link.tree.find("x")?];
        let options = ScanOptions::default().branches(branches).step(StepSize::Entries(1000)).threads(3);
        Ok((ReadRequest::Read(options), ()))
    };
    let mut batches = 0;
    for part in chain.scan(wanted) {
        part.unwrap();
        batches += 1;
        assert!(helpers() <= 2, "{} helpers", helpers());
    }
    assert_eq!((batches, helpers()), (300, 0));
    paths.iter().for_each(|p| std::fs::remove_file(p).unwrap());
    std::fs::remove_file(&path).unwrap();
}
