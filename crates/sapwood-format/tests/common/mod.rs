//! Hand-made files, byte by byte in the file format, and an opener driven to its answer.
#![allow(dead_code, reason = "each test uses a part of it")]

use bytes::Bytes;
use sapwood_format::{Opener, Step};
use sapwood_span::{Result, Span};

/// The content of a directory.
pub enum Node {
    Object {
        name: &'static str,
        class: &'static str,
        cycle: i16,
    },
    Folder {
        name: &'static str,
        cycle: i16,
        holds: Vec<Node>,
    },
    /// A directory whose list of keys is that of the root.
    Loop {
        name: &'static str,
    },
}

pub fn object(name: &'static str, cycle: i16) -> Node {
    Node::Object { name, class: "TObjString", cycle }
}

pub fn folder(name: &'static str, holds: Vec<Node>) -> Node {
    Node::Folder { name, cycle: 1, holds }
}

fn string(out: &mut Vec<u8>, text: &str) {
    if text.len() < 255 {
        out.push(text.len() as u8);
    } else {
        out.push(255);
        out.extend((text.len() as u32).to_be_bytes());
    }
    out.extend(text.as_bytes());
}

/// A key's label: positions take 8 bytes when `big`.
pub fn label(class: &str, name: &str, title: &str, cycle: i16, seek: u64, payload: usize, big: bool) -> Vec<u8> {
    let mut tail = Vec::new();
    string(&mut tail, class);
    string(&mut tail, name);
    string(&mut tail, title);
    let len = 18 + if big { 16 } else { 8 } + tail.len();
    let mut out = Vec::new();
    out.extend(((len + payload) as i32).to_be_bytes());
    out.extend((if big { 1004u16 } else { 4 }).to_be_bytes());
    out.extend((payload as u32).to_be_bytes());
    out.extend(0u32.to_be_bytes());
    out.extend((len as u16).to_be_bytes());
    out.extend(cycle.to_be_bytes());
    for position in [seek, 100] {
        if big {
            out.extend(position.to_be_bytes());
        } else {
            out.extend((position as u32).to_be_bytes());
        }
    }
    out.extend(tail);
    out
}

/// Bytes of a directory's record.
fn directory(keys: u64, nbytes: usize, big: bool) -> Vec<u8> {
    let mut out = Vec::new();
    out.extend((if big { 1005u16 } else { 5 }).to_be_bytes());
    out.extend([0; 8]);
    out.extend((nbytes as i32).to_be_bytes());
    out.extend(0i32.to_be_bytes());
    for position in [100, 0, keys] {
        if big {
            out.extend(position.to_be_bytes());
        } else {
            out.extend((position as u32).to_be_bytes());
        }
    }
    // room for a unique id and, in small files, for positions that grow
    out.resize(60, 0);
    out
}

/// A file with this content.
pub fn file(nodes: &[Node], big: bool) -> Vec<u8> {
    let mut out = vec![0; 100];
    let name = label("TFile", "a.root", "", 1, 100, 0, big);
    let nbytes_name = name.len();
    out.extend(&name);
    let root = out.len();
    out.extend(directory(0, 0, big));
    let mut loops = Vec::new();
    let keys = write(&mut out, nodes, big, &mut loops);
    let record = directory(keys.start, keys.len as usize, big);
    for at in loops.into_iter().chain([root]) {
        out[at..at + 60].copy_from_slice(&record);
    }
    let end = out.len() as u64;
    let mut head = b"root".to_vec();
    head.extend((if big { 1_063_602u32 } else { 63_602 }).to_be_bytes());
    head.extend(100u32.to_be_bytes());
    let position = |head: &mut Vec<u8>, x: u64| {
        if big {
            head.extend(x.to_be_bytes());
        } else {
            head.extend((x as u32).to_be_bytes());
        }
    };
    position(&mut head, end);
    position(&mut head, 0);
    head.extend(0u32.to_be_bytes());
    head.extend(0u32.to_be_bytes());
    head.extend((nbytes_name as u32).to_be_bytes());
    head.push(if big { 8 } else { 4 });
    head.extend(505i32.to_be_bytes());
    position(&mut head, 0);
    head.extend(0u32.to_be_bytes());
    out[..head.len()].copy_from_slice(&head);
    out
}

/// Appends records and the list of their keys; returns its position.
fn write(out: &mut Vec<u8>, nodes: &[Node], big: bool, loops: &mut Vec<usize>) -> Span {
    let mut labels = Vec::new();
    for node in nodes {
        let (class, name, cycle, payload) = match node {
            Node::Object { name, class, cycle } => (*class, *name, *cycle, vec![7; 11]),
            Node::Folder { name, cycle, holds } => {
                let keys = write(out, holds, big, loops);
                ("TDirectoryFile", *name, *cycle, directory(keys.start, keys.len as usize, big))
            }
            Node::Loop { name } => ("TDirectory", *name, 1, vec![0; 60]),
        };
        let label = label(class, name, "", cycle, out.len() as u64, payload.len(), big);
        out.extend(&label);
        if let Node::Loop { .. } = node {
            loops.push(out.len());
        }
        out.extend(payload);
        labels.push(label);
    }
    let mut list = (labels.len() as i32).to_be_bytes().to_vec();
    list.extend(labels.concat());
    let start = out.len() as u64;
    out.extend(label("TDirectory", "keys", "", 1, start, list.len(), big));
    out.extend(list);
    Span::new(start, out.len() as u64 - start)
}

/// Queries until there is an answer; also returns how often bytes had to be fetched.
pub fn ask<T>(file: &[u8], mut question: impl FnMut(&mut Opener) -> Result<Step<T>>) -> (Result<T>, usize) {
    let mut opener = Opener::new(file.len() as u64);
    for round in 0..1000 {
        match question(&mut opener) {
            Err(e) => return (Err(e), round),
            Ok(Step::Done(t)) => return (Ok(t), round),
            Ok(Step::Need(spans)) => {
                assert!(!spans.is_empty(), "it needs nothing, and has no answer");
                for s in spans {
                    assert!(s.end() <= file.len() as u64, "it asks for bytes behind the end");
                    opener.push(s.start, Bytes::copy_from_slice(&file[s.start as usize..s.end() as usize]));
                }
            }
        }
    }
    panic!("no answer in 1000 rounds");
}
