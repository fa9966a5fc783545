//! Stores that are unusable or damaged, origins that are down: correct bytes or a clear error, and no hang.

mod common;

use common::{Folder, Reader, get, noise, sent};
use sapwood_proxy::Proxy;
use std::fs;
use std::path::Path;
use std::time::Duration;

const SIZE: usize = 3_000_000;

#[test]
fn damage_in_the_store_is_found_and_mended() {
    let bytes = noise(SIZE, 1);
    let folder = Folder::new();
    folder.write("f", &bytes);
    let origin = folder.origin();
    let proxy = folder.proxy(origin.url());
    assert!(get(&(proxy.http_url().unwrap() + "f")).body == bytes);
    drop(proxy);
    let mut flipped = 0;
    each_file(&folder.0.join("cache"), &mut |path| {
        if path.extension().is_some_and(|e| e == "data") {
            let mut content = fs::read(path).unwrap();
            for at in (5000..content.len()).step_by(9973) {
                content[at] ^= 1 << (at % 8);
                flipped += 1;
            }
            fs::write(path, content).unwrap();
        }
    });
    assert!(flipped > 100);
    let proxy = folder.proxy(origin.url());
    let url = proxy.http_url().unwrap() + "f";
    assert!(get(&url).body == bytes);
    assert!(
        Reader::open(&(proxy.root_url().unwrap() + "f")).unwrap().read(&[(1000, 2_000_000)]).unwrap()[0]
            == bytes[1000..2_001_000]
    );
    assert!(!proxy.warnings().is_empty());
}

fn each_file(folder: &Path, work: &mut dyn FnMut(&Path)) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { each_file(&path, work) } else { work(&path) }
    }
}

#[test]
fn without_a_store_it_reads_from_the_origin() {
    let bytes = noise(SIZE, 2);
    let folder = Folder::new();
    folder.write("f", &bytes);
    let origin = folder.origin();
    // a directory with other files in it is refused
    fs::create_dir(folder.0.join("cache")).unwrap();
    fs::write(folder.0.join("cache/mine"), "mine").unwrap();
    let proxy = folder.proxy(origin.url());
    assert_eq!(proxy.warnings().len(), 1, "{:?}", proxy.warnings());
    for _ in 0..2 {
        assert!(get(&(proxy.http_url().unwrap() + "f")).body == bytes);
    }
    // there is still the memory
    assert!(sent(&origin) < 2 * SIZE as u64);
    assert_eq!(fs::read(folder.0.join("cache/mine")).unwrap(), b"mine");
}

#[test]
fn the_next_origin_is_asked_where_one_is_down() {
    let bytes = noise(SIZE, 3);
    let folder = Folder::new();
    folder.write("f", &bytes);
    let (first, second) = (folder.origin(), folder.origin());
    let urls = vec![first.url(), second.root_url().unwrap()];
    let options = folder.options("").origins(urls).fresh(Duration::ZERO).connect_timeout(Duration::from_secs(2));
    let proxy = Proxy::start(options).unwrap();
    let url = proxy.http_url().unwrap() + "f";
    assert!(common::range(&url, 0, 1000).body == bytes[..1000]);
    assert!(sent(&second) == 0);
    first.stop();
    assert!(get(&url).body == bytes);
    assert!(sent(&second) > 0);
    second.stop();
    let answer = get(&url);
    assert!(matches!(answer.status, 502 | 504), "{}", answer.status);
    let text = String::from_utf8(answer.body).unwrap();
    assert!(text.contains("127.0.0.1"), "it names the origin: {text}");
}

#[test]
fn what_was_confirmed_a_moment_ago_goes_on_without_the_origin() {
    let bytes = noise(SIZE, 4);
    let folder = Folder::new();
    folder.write("f", &bytes);
    let origin = folder.origin();
    let proxy = Proxy::start(folder.options(origin.url()).fresh(Duration::from_secs(600))).unwrap();
    let url = proxy.http_url().unwrap() + "f";
    assert!(get(&url).body == bytes);
    let reader = Reader::open(&(proxy.root_url().unwrap() + "f")).unwrap();
    origin.stop();
    assert!(get(&url).body == bytes);
    assert!(reader.read(&[(0, SIZE as u64)]).unwrap()[0] == bytes);
}
