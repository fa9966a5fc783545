//! Chains: the values of all files, the next one opened while the current one is read, bad files named or left out.

mod common;

use common::{Folder, column, same_bits, write};
use sapwood::{Array, StepSize};
use sapwood::{
    CacheSize, Chain, ChainFile, ChainOptions, DType, EntryList, ErrorKind, OpenOptions, ReadRequest, Result,
    ScanOptions, Values,
};
use sapwood_serve::{Origin, OriginHandle, OriginOptions};
use sapwood_write::{BranchSpec, Cluster, FileWriter, TreeOptions};
use std::time::Duration;

const ENTRIES: [u64; 4] = [3000, 500, 1, 4000];

fn clusters() -> TreeOptions {
    TreeOptions::default().cluster(Cluster::Entries(500)).basket_bytes(4000).optimize_baskets(false)
}

/// Four files of every type; each begins anew with entry 0.
fn files(folder: &Folder) -> Vec<String> {
    let names: Vec<String> = (0..4).map(|i| folder.file(&format!("{i}.root"))).collect();
    for (name, entries) in names.iter().zip(ENTRIES) {
        write(name, entries, "zlib:1", clusters());
    }
    names
}

fn serve(folder: &Folder, delay: u64) -> OriginHandle {
    Origin::start(OriginOptions { delay: Duration::from_millis(delay), ..OriginOptions::new(folder.path()) }).unwrap()
}

fn chain(urls: &[String], options: ChainOptions) -> Chain {
    Chain::new(urls.iter().map(|u| (u.clone(), Some("Events".to_owned()))).collect(), options)
}

/// Reads these branches of all files.
fn everything(
    names: &'static [&'static str],
) -> impl Fn(&ChainFile) -> Result<(ReadRequest, ())> + Send + Sync + 'static {
    move |link| {
        let branches = names.iter().map(|n| link.tree.find(n)).collect::<Result<Vec<_>>>()?;
        Ok((ReadRequest::Read(ScanOptions::default().branches(branches).step(StepSize::Entries(700))), ()))
    }
}

const NAMES: &[&str] = &["float64_any", "int16_three", "uint8_any", "uint32_one"];

/// Checks every value of a chain, and gives the entries that came of it.
fn check(chain: &Chain) -> EntryList {
    let mut came = Vec::new();
    for part in chain.scan(everything(NAMES)) {
        let part = part.unwrap();
        let r = part.batch.entries.clone();
        for (name, values) in NAMES.iter().zip(&part.batch.columns) {
            assert!(same_bits(values, &column(name, r.clone())), "{name} {r:?} of file {}", part.link.file);
        }
        came.push(part.link.first_entry + r.start..part.link.first_entry + r.end);
    }
    EntryList::from_ranges(came)
}

#[test]
fn all_files_in_order_from_disk_and_from_afar() {
    let folder = Folder::new();
    let local = files(&folder);
    let origin = serve(&folder, 0);
    let remote: Vec<String> = (0..4).map(|i| format!("{}{i}.root", origin.url())).collect();
    let all: u64 = ENTRIES.iter().sum();
    for urls in [&local, &remote] {
        for cache in [CacheSize::Auto, CacheSize::Bytes(5 << 20), CacheSize::Bytes(20_000), CacheSize::Off] {
            let open = OpenOptions::default().cache(cache);
            let chain = chain(urls, ChainOptions::default().open(open).skip_bad(false));
            assert_eq!(check(&chain).runs(), std::slice::from_ref(&(0..all)), "{cache:?}");
        }
    }
    let chain = chain(&local, ChainOptions::default());
    assert_eq!(chain.entries().unwrap(), all);
    let (chain, first) = chain.first().unwrap();
    assert_eq!(first.entries(), ENTRIES[0]);
    assert_eq!(check(&chain).len(), all);
    assert_eq!(check(&Chain::of(first)).len(), ENTRIES[0]);
}

#[test]
fn the_next_files_are_opened_and_begun_before_the_current_one_ends() {
    let folder = Folder::new();
    files(&folder);
    let origin = serve(&folder, 20);
    let urls: Vec<String> = (0..4).map(|i| format!("{}{i}.root", origin.url())).collect();
    let chain = chain(&urls, ChainOptions::default());
    let mut scan = chain.scan(everything(NAMES));
    let first = scan.next().unwrap().unwrap();
    assert_eq!((first.link.file, first.batch.entries), (0, 0..700));
    // nobody asks for more, and yet the others come: the last needs a request for its baskets beside that of its opening
    let asked = |file: &str| origin.requests().iter().filter(|r| r.path.ends_with(file)).count();
    for _ in 0..2000 {
        if asked("1.root") >= 2 && asked("2.root") >= 1 && asked("3.root") >= 2 {
            break;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(asked("1.root") >= 2 && asked("2.root") >= 1 && asked("3.root") >= 2, "{:?}", origin.requests());
    let rest: u64 = scan.map(|p| p.unwrap().batch.entries).map(|r| r.end - r.start).sum();
    assert_eq!(rest, ENTRIES.iter().sum::<u64>() - 700);
}

#[test]
fn an_exhausted_budget_opens_files_without_reading_ahead() {
    let folder = Folder::new();
    files(&folder);
    let origin = serve(&folder, 0);
    let urls: Vec<String> = (0..4).map(|i| format!("{}{i}.root", origin.url())).collect();
    let open = OpenOptions::default().cache(CacheSize::Bytes(30_000));
    let chain = chain(&urls, ChainOptions::default().open(open).skip_bad(false));
    let mut held = 0;
    let mut scan = chain.scan(everything(NAMES));
    while let Some(part) = scan.next() {
        part.unwrap();
        held = held.max(scan.held_bytes());
    }
    // one fill of the cache, and the next under way
    assert!(held <= 2 * 30_000, "{held} bytes held");
}

#[test]
fn a_bad_file_is_named_or_left_out() {
    let folder = Folder::new();
    let mut urls = files(&folder);
    let other = folder.file("other.root");
    let mut file = FileWriter::create(&other, "zlib:1".parse().unwrap()).unwrap();
    let mut tree = file.tree("Other", "", &[BranchSpec::scalar("x", DType::I32)], TreeOptions::default()).unwrap();
    tree.extend(&[("x", &Array::Flat(Values::I32(vec![1, 2])))]).unwrap();
    tree.finish().unwrap();
    file.finish().unwrap();
    std::fs::write(folder.file("text.root"), "no ROOT file").unwrap();
    urls.insert(0, folder.file("text.root"));
    urls.insert(2, folder.file("absent.root"));
    urls.insert(4, other.clone());

    let strict = chain(&urls, ChainOptions::default());
    let error = strict.scan(everything(NAMES)).find_map(|p| p.err()).unwrap();
    assert_eq!(error.file(), Some(folder.file("text.root").as_str()));
    let error = strict.first().map(drop).unwrap_err();
    assert_eq!(error.file(), Some(folder.file("text.root").as_str()));
    let error = chain(&urls[1..], ChainOptions::default()).scan(everything(NAMES)).find_map(|p| p.err()).unwrap();
    assert_eq!((error.kind(), error.file()), (ErrorKind::NotFound, Some(folder.file("absent.root").as_str())));
    let error = chain(&urls[3..], ChainOptions::default()).scan(everything(NAMES)).find_map(|p| p.err()).unwrap();
    assert_eq!(error.file(), Some(other.as_str()), "{error}");

    let lenient = chain(&urls, ChainOptions::default().skip_bad(true));
    let all: u64 = ENTRIES.iter().sum();
    assert_eq!(check(&lenient).runs(), std::slice::from_ref(&(0..all)), "entries are those of the good files");
    let skipped: Vec<String> = lenient.skipped().into_iter().map(|s| s.file).collect();
    assert_eq!(skipped, [folder.file("text.root"), folder.file("absent.root"), other.clone()]);
    // a branch that is missing is a reason as well
    let missing = lenient.scan(|link: &ChainFile| {
        let branches = vec![link.tree.find(if link.file == 1 { "nothing" } else { "int8_one" })?];
        Ok((ReadRequest::Read(ScanOptions::default().branches(branches)), ()))
    });
    let files: Vec<usize> = missing.map(|p| p.unwrap().link.file).collect();
    assert!(!files.contains(&1) && files.contains(&3));
    assert!(lenient.skipped()[1].why.to_string().contains("nothing"));
    let (begun, first) = lenient.first().unwrap();
    assert_eq!((first.entries(), begun.skipped().len()), (ENTRIES[0], 4));
}

#[test]
fn an_end_opens_no_further_file() {
    let folder = Folder::new();
    let mut urls = files(&folder);
    urls[3] = folder.file("absent.root");
    let chain = chain(&urls, ChainOptions::default());
    let wanted = |link: &ChainFile| {
        let branches = vec![link.tree.find("int8_one")?];
        let read = ScanOptions::default().branches(branches).entries(Some(0..10));
        let wanted = [ReadRequest::Nothing, ReadRequest::Read(read), ReadRequest::End].into_iter().nth(link.file);
        Ok((wanted.unwrap_or(ReadRequest::End), ()))
    };
    let files: Vec<usize> = chain.scan(wanted).map(|p| p.unwrap().link.file).collect();
    assert_eq!(files, [1]);
}
