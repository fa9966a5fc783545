//! Files that change at their origin, between reads and within them: correct bytes of one version, or an error.

mod common;

use common::{Folder, Reader, ask, get, noise, range};
use sapwood_proxy::Proxy;
use std::fs;
use std::time::Duration;

const SIZE: usize = 6_000_000;

/// Replaces a file by another of the same size: as a new file, or in place.
fn replace(folder: &Folder, bytes: &[u8], in_place: bool) {
    let path = folder.0.join("files/f");
    if in_place {
        fs::write(path, bytes).unwrap();
    } else {
        folder.write("g", bytes);
        fs::rename(folder.0.join("files/g"), path).unwrap();
    }
}

/// All protocols of origin and proxy, and all kinds of change.
fn each(test: impl Fn(&Folder, String, &str, bool)) {
    for (over_root, in_place) in [(false, false), (false, true), (true, false), (true, true)] {
        let folder = Folder::new();
        folder.write("f", &noise(SIZE, 1));
        let origin = folder.origin();
        let url = if over_root { origin.root_url().unwrap() } else { origin.url() };
        test(&folder, url, if over_root { "root" } else { "http" }, in_place);
    }
}

#[test]
fn an_open_file_stays_one_version_and_a_new_open_sees_the_new_one() {
    each(|folder, origin, over, in_place| {
        let (old, new) = (noise(SIZE, 1), noise(SIZE, 2));
        let proxy = Proxy::start(folder.options(origin).fresh(Duration::ZERO)).unwrap();
        let url = proxy.root_url().unwrap() + "f";
        let reader = Reader::open(&url).unwrap();
        assert!(reader.read(&[(0, 500_000)]).unwrap()[0] == old[..500_000]);
        replace(folder, &new, in_place);
        for at in (0..SIZE as u64).step_by(500_000) {
            match reader.read(&[(at, 500_000)]) {
                Ok(read) => {
                    assert!(read[0] == old[at as usize..at as usize + 500_000], "{over} {in_place}: at {at}");
                    // an origin over XRootD may keep the old file open
                    assert!(at == 0 || (over == "root" && !in_place), "{over} {in_place}: where would it come from?");
                }
                Err(error) => assert!(at > 0 && error.to_string().contains("changed"), "{over}: {error}"),
            }
        }
        let again = Reader::open(&url).unwrap();
        assert!(again.read(&[(0, SIZE as u64)]).unwrap()[0] == new, "{over} {in_place}");
        assert!(get(&(proxy.http_url().unwrap() + "f")).body == new);
        // bytes in the store are correct, whatever the origin has now; unconfirmed ones are not returned
        match reader.read(&[(0, 500_000)]) {
            Ok(read) => assert!(read[0] == old[..500_000]),
            Err(error) => assert!(error.to_string().contains("changed"), "{error}"),
        }
    });
}

#[test]
fn no_answer_has_bytes_of_two_versions() {
    each(|folder, origin, over, in_place| {
        let proxy = Proxy::start(folder.options(origin).fresh(Duration::from_millis(20))).unwrap();
        let url = proxy.http_url().unwrap() + "f";
        let versions: Vec<Vec<u8>> = (1..8).map(|seed| noise(SIZE, seed)).collect();
        let (whole, cut) = std::thread::scope(|scope| {
            let writer = scope.spawn(|| {
                for bytes in versions[1..].iter().chain(&versions) {
                    std::thread::sleep(Duration::from_millis(150));
                    replace(folder, bytes, in_place);
                }
            });
            let (mut whole, mut cut) = (0, 0);
            while !writer.is_finished() {
                let answer = get(&url);
                if answer.status != 200 || answer.is_cut {
                    cut += 1;
                    continue;
                }
                let is_known = versions.contains(&answer.body);
                // a file being written to in place has no version either, only the origin's state at one moment
                assert!(is_known || in_place, "{over}: an answer of two versions");
                whole += 1;
            }
            (whole, cut)
        });
        assert!(whole > 0, "{over} {in_place}: {cut} failed");
        std::thread::sleep(Duration::from_millis(100));
        assert!(get(&url).body == *versions.last().unwrap(), "{over} {in_place}");
    });
}

/// `If-Range` with the tag of another version gets all of this one; without it a range is of the version in the
/// response.
#[test]
fn ranges_of_two_versions_are_never_put_together() {
    each(|folder, origin, _, in_place| {
        let (old, new) = (noise(SIZE, 1), noise(SIZE, 2));
        let proxy = Proxy::start(folder.options(origin).fresh(Duration::ZERO)).unwrap();
        let url = proxy.http_url().unwrap() + "f";
        let first = range(&url, 0, 1000);
        assert!(first.body == old[..1000]);
        replace(folder, &new, in_place);
        let second = range(&url, 1000, 1000);
        assert_ne!(first.header("etag"), second.header("etag"));
        assert!(second.body == new[1000..2000]);
        let asked = format!("Range: bytes=1000-1999\r\nIf-Range: {}\r\n", first.header("etag").unwrap());
        let third = ask("GET", &url, &asked);
        assert!(third.status == 200 && third.body == new);
    });
}
