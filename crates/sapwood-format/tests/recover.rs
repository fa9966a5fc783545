//! Walking over a file's records when its directories are lost.

use bytes::Bytes;
use sapwood_format::{Key, Recovered, Recovery, Step};
use sapwood_span::Span;

/// A record at `at` with `payload` bytes after its label.
fn record(at: u64, class: &str, name: &str, title: &str, parent: u32, payload: &[u8]) -> Vec<u8> {
    let key_len = 26 + 3 + class.len() + name.len() + title.len();
    let mut out = Vec::new();
    out.extend(((key_len + payload.len()) as i32).to_be_bytes());
    out.extend(4u16.to_be_bytes());
    out.extend((payload.len() as u32).to_be_bytes());
    out.extend(0u32.to_be_bytes());
    out.extend((key_len as u16).to_be_bytes());
    out.extend(1u16.to_be_bytes());
    out.extend((at as u32).to_be_bytes());
    out.extend(parent.to_be_bytes());
    for text in [class, name, title] {
        out.push(text.len() as u8);
        out.extend(text.as_bytes());
    }
    out.extend(payload);
    out
}

/// A directory's own record holds its position.
fn directory(at: u64, name: &str, parent: u32) -> Vec<u8> {
    let mut payload = vec![0, 5];
    payload.extend([0; 16]);
    payload.extend((at as u32).to_be_bytes());
    payload.extend(parent.to_be_bytes());
    payload.extend([0; 4]);
    record(at, "TDirectoryFile", name, "", parent, &payload)
}

struct Maker(Vec<u8>);

impl Maker {
    fn new() -> Self {
        Self(vec![0; 100])
    }

    fn at(&self) -> u64 {
        self.0.len() as u64
    }

    fn add(&mut self, class: &str, name: &str, title: &str, payload: usize) -> Span {
        let start = self.at();
        self.0.extend(record(start, class, name, title, 100, &vec![7; payload]));
        Span::new(start, self.at() - start)
    }
}

fn recover(file: &[u8], window: u64) -> Recovered {
    let mut recovery = Recovery::new(100, file.len() as u64, window);
    let mut asked = 0;
    loop {
        match recovery.step().unwrap() {
            Step::Done(found) => return found,
            Step::Need(spans) => {
                asked += 1;
                assert!(asked < 10_000, "no end");
                for s in spans {
                    assert!(s.end() <= file.len() as u64 && !s.is_empty());
                    recovery.push(s.start, Bytes::copy_from_slice(&file[s.start as usize..s.end() as usize]));
                }
            }
        }
    }
}

fn names(found: &Recovered) -> Vec<&str> {
    found.keys.iter().map(|k: &Key| k.name.as_str()).collect()
}

fn sample() -> (Maker, Vec<Span>) {
    let mut m = Maker::new();
    let spans = vec![
        m.add("TFile", "file.root", "", 40),
        m.add("TH1F", "first", "", 3000),
        m.add("TBasket", "x", "t", 500),
        m.add("TTree", "t", "", 900),
        m.add("TBasket", "x", "t", 700),
        m.add("TBasket", "y", "t", 800),
        m.add("TNamed", "last", "", 10),
    ];
    (m, spans)
}

#[test]
fn objects_are_found_and_baskets_behind_the_last_header_are_told() {
    let (m, spans) = sample();
    for window in [1, 1024, 5000, 1 << 20] {
        let found = recover(&m.0, window);
        assert_eq!(names(&found), ["first", "t", "last"], "window {window}");
        assert_eq!(found.records, 7);
        assert!(found.damage.is_empty() && found.cut.is_empty());
        let orphans = found.orphans["t"];
        assert_eq!((orphans.baskets, orphans.bytes), (2, spans[4].len + spans[5].len));
        assert!(found.lost()[0].starts_with("2 baskets"), "{:?}", found.lost());
    }
}

#[test]
fn a_cut_record_is_named_wherever_the_file_ends() {
    let (m, spans) = sample();
    for size in 101..m.0.len() {
        let found = recover(&m.0[..size], 1024);
        let whole = spans.iter().filter(|s| s.end() <= size as u64);
        assert_eq!(found.records, whole.count() as u64, "{size} bytes");
        if !spans.iter().any(|s| s.end() == size as u64) {
            assert!(!found.cut.is_empty() || !found.damage.is_empty(), "{size} bytes");
            assert!(!found.lost().is_empty());
        }
    }
}

#[test]
fn the_walk_goes_on_behind_damage() {
    let (m, spans) = sample();
    for (victim, name) in [(1, "first"), (3, "t")] {
        // the length as that of free bytes, the version, the length of the label, the position
        for (place, value) in [(0, 0xff), (4, 0xff), (15, 1), (20, 0xff)] {
            let mut bytes = m.0.clone();
            bytes[spans[victim].start as usize + place] = value;
            let found = recover(&bytes, 1024);
            let rest: Vec<&str> = ["first", "t", "last"].into_iter().filter(|n| *n != name).collect();
            assert_eq!(names(&found), rest, "record {victim}, byte {place} = {value}");
            assert_eq!(found.damage, [spans[victim]], "record {victim}, byte {place} = {value}");
        }
    }
}

/// A record whose length is wrong does not swallow those after it.
#[test]
fn lengths_are_believed_when_they_lead_to_a_record() {
    let (m, spans) = sample();
    for value in [[0, 0, 0, 0], [0, 0, 1, 1], [0, 0, 15, 255], [0, 1, 0, 0], [0x7f, 0, 0, 0], [0xff, 0xff, 0xf0, 0]] {
        let mut bytes = m.0.clone();
        bytes[spans[1].start as usize..][..4].copy_from_slice(&value);
        let found = recover(&bytes, 1024);
        let found_names = names(&found);
        assert!(found_names.ends_with(&["t", "last"]), "{value:?}: {found_names:?}");
        assert!(!found.lost().is_empty());
        assert_eq!(found.orphans["t"].baskets, 2, "{value:?}");
    }
}

#[test]
fn freed_bytes_are_no_damage() {
    let (mut m, spans) = sample();
    let gap = spans[2];
    m.0[gap.start as usize..][..4].copy_from_slice(&(-(gap.len as i32)).to_be_bytes());
    let found = recover(&m.0, 1024);
    assert_eq!(names(&found), ["first", "t", "last"]);
    assert!(found.damage.is_empty());
}

#[test]
fn directories_are_told_from_their_key_lists() {
    let mut m = Maker::new();
    m.add("TFile", "file.root", "", 40);
    let at = m.at();
    m.0.extend(directory(at, "d", 100));
    let inside = m.at();
    m.0.extend(record(inside, "TNamed", "n", "", at as u32, &[1; 20]));
    // the list of its keys has a label that looks alike
    let list = m.at();
    m.0.extend(record(list, "TDirectoryFile", "d", "", at as u32, &[0; 60]));
    let found = recover(&m.0, 1024);
    assert_eq!(names(&found), ["d", "n"]);
    assert_eq!(found.directories.into_iter().collect::<Vec<_>>(), [at]);
}
