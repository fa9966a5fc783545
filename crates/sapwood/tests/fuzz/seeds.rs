//! The undamaged inputs: small files of ROOT and of our writer, and the parts they consist of.

use crate::common::{Folder, write};
use sapwood_codec::Decoder;
use sapwood_column::{Layout, interpret};
use sapwood_format::tree::{BasketHead, Tree, read_tree};
use sapwood_format::{Key, Streamers, inflate};
use sapwood_write::{Cluster, TreeOptions};
use std::sync::{Arc, LazyLock};

/// A small file.
pub struct Seed {
    pub name: String,
    pub bytes: Vec<u8>,
    pub trees: Vec<TreeSeed>,
    /// The inflated class descriptions, and the length of their label.
    pub info: (Vec<u8>, usize),
}

/// A tree of it.
pub struct TreeSeed {
    pub class: String,
    pub key_len: usize,
    /// The inflated header.
    pub header: Vec<u8>,
    pub tree: Tree,
    pub streamers: Arc<Streamers>,
    pub baskets: Vec<BasketSeed>,
}

/// A basket's record and how it is decoded.
pub struct BasketSeed {
    pub record: Vec<u8>,
    pub layout: Layout,
}

/// All of them, made once.
pub static SEEDS: LazyLock<Vec<Seed>> = LazyLock::new(|| {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data");
    let mut out = Vec::new();
    for name in ["collections", "split", "whole", "leaves", "codecs"] {
        let bytes = std::fs::read(format!("{folder}/{name}.root")).unwrap();
        out.push(Seed::new(&format!("{name}, unpacked"), unpack(&bytes)));
        out.push(Seed::new(name, bytes));
    }
    let temporary = Folder::new();
    let path = temporary.file("a.root");
    for (codec, cluster) in [("none", Cluster::Entries(10)), ("lz4:1", Cluster::Never)] {
        write(&path, 25, codec, TreeOptions::default().cluster(cluster).basket_bytes(500).optimize_baskets(false));
        out.push(Seed::new(&format!("written, {codec}"), std::fs::read(&path).unwrap()));
    }
    out
});

fn number(bytes: &[u8], at: usize) -> usize {
    u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap()) as usize
}

fn put(bytes: &mut [u8], at: usize, value: usize) {
    bytes[at..at + 4].copy_from_slice(&u32::try_from(value).unwrap().to_be_bytes());
}

fn key_at(bytes: &[u8], at: usize) -> Key {
    Key::read(&mut sapwood_format::cursor::Cursor::new(&bytes[at..], 0)).unwrap()
}

/// Where the records of these small files begin, free ones left out.
fn records(bytes: &[u8]) -> Vec<usize> {
    let (mut at, end) = (number(bytes, 8), number(bytes, 12));
    let mut out = Vec::new();
    while at < end {
        let n = number(bytes, at) as i32;
        if n > 0 {
            out.push(at);
        }
        at += n.unsigned_abs() as usize;
    }
    out
}

/// The file with its trees' headers and class descriptions moved to its end and inflated there, so that damage reaches
/// them: the codecs' checksums would refuse it.
fn unpack(bytes: &[u8]) -> Vec<u8> {
    let mut out = bytes.to_vec();
    let mut decoder = Decoder::new();
    let info = number(bytes, 37);
    for at in records(bytes) {
        let key = key_at(bytes, at);
        if !key.is_tree() && at != info {
            continue;
        }
        let data = inflate(&key, &bytes[at + key.key_len as usize..][..key.payload().len as usize], &mut decoder);
        let data = data.unwrap();
        let label = &bytes[at..at + key.key_len as usize];
        let (to, size) = (out.len(), label.len() + data.len());
        // the label stands in the directory's list, too
        let copies: Vec<usize> =
            (0..bytes.len() - label.len()).filter(|&i| i != at && bytes[i..].starts_with(label)).collect();
        out.extend_from_slice(label);
        out.extend_from_slice(&data);
        for copy in copies.into_iter().chain([to]) {
            put(&mut out, copy, size);
            put(&mut out, copy + 18, to);
        }
        if at == info {
            put(&mut out, 37, to);
            put(&mut out, 41, size);
        }
    }
    let end = out.len();
    put(&mut out, 12, end);
    out
}

impl Seed {
    fn new(name: &str, bytes: Vec<u8>) -> Self {
        let mut decoder = Decoder::new();
        let mut payload = |at: usize| {
            let key = key_at(&bytes, at);
            let data = &bytes[at + key.key_len as usize..][..key.payload().len as usize];
            (inflate(&key, data, &mut decoder).unwrap(), key)
        };
        let (info, key) = payload(number(&bytes, 37));
        let info_key = key.key_len as usize;
        let streamers = Arc::new(Streamers::parse(&info, info_key).unwrap());
        let mut trees = Vec::new();
        for at in records(&bytes).into_iter().filter(|&at| key_at(&bytes, at).is_tree()) {
            let (header, key) = payload(at);
            let key_len = key.key_len as usize;
            let tree = read_tree(&header, key_len, &key.class, &streamers).unwrap();
            let mut baskets = Vec::new();
            for (i, b) in tree.branches.iter().enumerate() {
                let Ok(layout) = interpret(&tree, i, &streamers) else { continue };
                for k in (0..b.write_basket).filter(|&k| b.basket_seek[k] != 0) {
                    let record = bytes[b.basket_seek[k] as usize..][..b.basket_bytes[k] as usize].to_vec();
                    BasketHead::read(&record).unwrap();
                    baskets.push(BasketSeed { record, layout: layout.clone() });
                }
            }
            trees.push(TreeSeed { class: key.class, key_len, header, tree, streamers: streamers.clone(), baskets });
        }
        Self { name: name.to_owned(), bytes, trees, info: (info, info_key) }
    }
}
