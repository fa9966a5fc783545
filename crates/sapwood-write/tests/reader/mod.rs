//! An independent reader for written files: walks the records in sequence and decompresses baskets, without using the
//! crate's code.

use sapwood_codec::Decoder;

/// A record of the file: its key and its decompressed payload.
pub struct Record {
    pub at: usize,
    pub class: String,
    pub name: String,
    pub payload: Vec<u8>,
    /// Of baskets: entries, and bytes of data before the offset table.
    pub basket: Option<(usize, usize)>,
    pub key_len: usize,
}

pub fn int(bytes: &[u8], at: usize, width: usize) -> usize {
    bytes[at..at + width].iter().fold(0, |n, b| n << 8 | usize::from(*b))
}

/// The header's fEND, fSeekFree, fNbytesFree, nfree, fNbytesName, fSeekInfo, fNbytesInfo, of a small file.
pub fn header(file: &[u8]) -> [usize; 7] {
    assert_eq!(&file[..4], b"root");
    assert_eq!((int(file, 4, 4), int(file, 8, 4), file[32]), (64_000, 100, 4));
    [12, 16, 20, 24, 28, 37, 41].map(|at| int(file, at, 4))
}

/// All records, which must fill the file to its end.
pub fn records(file: &[u8]) -> Vec<Record> {
    let (mut out, mut at) = (Vec::new(), 100);
    while at < file.len() {
        let nbytes = int(file, at, 4);
        if nbytes >= 1 << 31 {
            at += (1 << 32) - nbytes;
            continue;
        }
        out.push(record(&file[at..at + nbytes], at));
        at += nbytes;
    }
    assert_eq!(at, file.len());
    out
}

fn record(bytes: &[u8], at: usize) -> Record {
    let (big, size, key_len) = (int(bytes, 4, 2) > 1000, int(bytes, 6, 4), int(bytes, 14, 2));
    let (width, mut place) = if big { (8, 34) } else { (4, 26) };
    assert_eq!(int(bytes, 18, width), at, "a key says where it lies");
    let mut string = || {
        let len = usize::from(bytes[place]);
        assert!(len < 255);
        place += 1 + len;
        String::from_utf8(bytes[place - len..place].to_vec()).unwrap()
    };
    let (class, name, _title) = (string(), string(), string());
    let basket = (class == "TBasket").then(|| {
        assert_eq!(place + 19, key_len);
        (int(bytes, place + 10, 4), int(bytes, place + 14, 4) - key_len)
    });
    let mut payload = bytes[key_len..].to_vec();
    if payload.len() != size {
        assert!(payload.len() < size);
        let packed = std::mem::take(&mut payload);
        Decoder::new().decompress_vec(&packed, &mut payload, size).unwrap();
    }
    Record { at, class, name, payload, basket, key_len }
}

/// A branch's entries, each its big-endian bytes; `entry` bytes each, or 0 where offsets delimit them.
pub fn entries(records: &[Record], branch: &str, entry: usize) -> Vec<Vec<u8>> {
    let mut out = Vec::new();
    for r in records.iter().filter(|r| r.class == "TBasket" && r.name == branch) {
        let (n, end) = r.basket.unwrap();
        let mut starts: Vec<usize> = (0..n).map(|i| i * entry).collect();
        if entry == 0 {
            assert_eq!(int(&r.payload, end, 4), n + 1);
            assert_eq!(r.payload.len(), end + 4 * (n + 2));
            starts = (0..n).map(|i| int(&r.payload, end + 4 + 4 * i, 4) - r.key_len).collect();
        } else {
            assert_eq!((r.payload.len(), end), (n * entry, n * entry));
        }
        starts.push(end);
        out.extend(starts.windows(2).map(|w| r.payload[w[0]..w[1]].to_vec()));
    }
    out
}
