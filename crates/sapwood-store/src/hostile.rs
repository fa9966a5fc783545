//! Malicious indexes and data, with correct checksums of slots: no panic, correct bytes or none.

use crate::segment_index::{LONGEST_PIECE, Parsed, SLOT, Slot};
use crate::{FileId, FileVersion, Store, StoreOptions};
use bytes::Bytes;
use sapwood_span::Span;
use std::path::{Path, PathBuf};

const SIZE: u64 = 200_000;

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    /// Small numbers, numbers near limits, any numbers.
    fn number(&mut self) -> u64 {
        match self.below(4) {
            0 => self.below(SIZE * 2),
            1 => self.below(4),
            2 => u64::MAX - self.below(70_000),
            _ => self.next(),
        }
    }
}

fn content() -> Bytes {
    (0..SIZE).map(|i| (i.wrapping_mul(i) >> 7) as u8).collect()
}

fn find(folder: &Path, extension: &str) -> Option<PathBuf> {
    folder.read_dir().ok()?.flatten().map(|e| e.path()).find_map(|path| {
        if path.is_dir() {
            find(&path, extension)
        } else {
            Some(path).filter(|p| p.extension().is_some_and(|e| e == extension))
        }
    })
}

#[test]
fn an_index_that_lies() {
    let folder = std::env::temp_dir().join(format!("sapwood-store-hostile-{}", std::process::id()));
    let options = StoreOptions { directory: folder.join("store"), max_bytes: 1 << 30 };
    let content = content();
    let version = FileVersion { size: SIZE, beginning: content.slice(..512), ..FileVersion::default() };
    let id = FileId { url: "https://host/a".into(), version };
    {
        let store = Store::open(&options).unwrap();
        store.file(&id).insert(0, content.clone());
        store.flush();
    }
    let (index, data) = (find(&folder, "index").unwrap(), find(&folder, "data").unwrap());
    let (original, original_data) = (std::fs::read(&index).unwrap(), std::fs::read(&data).unwrap());
    let hash = crate::id::version_hash(&id.encode().unwrap());
    let (slots, _) = original.as_chunks::<SLOT>();
    let slots: Vec<Slot> = slots
        .iter()
        .filter_map(|s| if let Parsed::Piece(slot) = Slot::decode(s, hash, SIZE) { Some(slot) } else { None })
        .collect();
    assert_eq!(slots.len(), (SIZE as usize).div_ceil(LONGEST_PIECE));
    let mut random = Random(88_172_645_463_325_252);
    let mut answered = 0;
    for _ in 0..300 {
        let mut bytes = original[..SLOT].to_vec();
        for _ in 0..random.below(12) {
            let mut slot = slots[random.below(slots.len() as u64) as usize];
            match random.below(8) {
                0 => slot.start = random.number(),
                1 => slot.position = random.number(),
                2 => slot.len = random.number() as u32,
                3 => slot.checksum = random.next(),
                _ => {}
            }
            bytes.extend(slot.encode(hash));
        }
        match random.below(4) {
            0 => bytes.truncate(random.below(bytes.len() as u64 + 1) as usize),
            1 => bytes.extend((0..random.below(100)).map(|i| i as u8)),
            _ => {}
        }
        std::fs::write(&index, &bytes).unwrap();
        std::fs::write(&data, &original_data).unwrap();
        let store = Store::open(&options).unwrap();
        let file = store.file(&id);
        for _ in 0..10 {
            let start = random.below(SIZE);
            let span = Span::new(start, 1 + random.below(SIZE - start));
            for part in file.held(span).into_iter().chain([span]) {
                if let Some(read) = file.read(part) {
                    assert!(read == content.slice(part.start as usize..part.end() as usize), "{part}");
                    answered += 1;
                }
            }
        }
        store.verify(&|_, _| {});
        store.list();
    }
    assert!(answered > 100, "{answered}");
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn any_bytes_are_parsed_without_a_panic() {
    let mut random = Random(1);
    let id = FileId { url: "u".into(), version: FileVersion::default() }.encode().unwrap();
    for _ in 0..200_000 {
        let bytes: [u8; SLOT] = std::array::from_fn(|_| random.next() as u8);
        assert_eq!(Slot::decode(&bytes, 1, u64::MAX), Parsed::Damaged);
        let mut damaged = id.clone();
        let at = random.below(id.len() as u64) as usize;
        damaged[at] = damaged[at].wrapping_add(1 + random.below(255) as u8);
        damaged.truncate(random.below(id.len() as u64 + 1).max(at as u64 + 1) as usize);
        assert_eq!(FileId::decode(&damaged), None);
    }
}
