//! What records hold, unpacked; and how much that may be.

use crate::key::Key;
use sapwood_codec::Decoder;
use sapwood_span::{Error, Result};
use std::sync::LazyLock;

/// The most a single object may inflate to: ROOT's own limit of a buffer is 1 GiB.
const MOST: u64 = 1 << 30;

/// What may be made of each stored byte. Real data shrink that far only where they are all the same.
const PER_BYTE: u64 = 100;

/// Bytes that an object or a basket may inflate to however little was stored of it: histograms that nobody filled, and
/// branches that are always zero, shrink a thousandfold.
const ANY_OBJECT: u64 = 256 << 20;

/// The same for what is made of text alone.
const ANY_TEXT: u64 = 16 << 20;

/// The same for a tree's header or the class descriptions. They are made of names and positions, of which no codec makes
/// a thirtieth: what is beyond is no such record, and would be held and gone through for nothing.
const ANY_HEADER: u64 = 64 << 20;

/// Classes that hold text or one number.
const TEXTS: [&str; 6] = ["TObjString", "TNamed", "TMacro", "TProcessID", "string", "TObject"];

/// Lifts the limits on objects and baskets, up to ROOT's own.
const HUGE_OBJECTS: &str = "SAPWOOD_HUGE_OBJECTS";

fn allows_huge() -> bool {
    static SET: LazyLock<bool> = LazyLock::new(|| std::env::var_os(HUGE_OBJECTS).is_some_and(|v| v == "1"));
    *SET
}

/// As [`inflate`], for records that lists of names and positions make large: a tree's header, class descriptions.
///
/// # Errors
/// As [`inflate`]; `Corrupt` as well when no such record could have been compressed so far.
pub fn inflate_header(key: &Key, payload: &[u8], decoder: &mut Decoder) -> Result<Vec<u8>> {
    if !key.is_raw() && u64::from(key.object_len) > limit(ANY_HEADER, payload.len()) {
        return Err(impossible(key, payload));
    }
    unpacked(key, payload, decoder)
}

/// Inflates the payload of an object or a basket.
///
/// # Errors
/// `Corrupt` when the blocks are damaged or the object would be larger than ROOT can write; `Unsupported` when it would
/// be far larger than what is stored of it lets expect, see [`check_size`].
pub fn inflate(key: &Key, payload: &[u8], decoder: &mut Decoder) -> Result<Vec<u8>> {
    check_size(key, payload.len())?;
    unpacked(key, payload, decoder)
}

/// Whether so many stored bytes may be made what the key of an object or a basket says that they become: before memory is
/// taken for it.
///
/// # Errors
/// `Corrupt` beyond what ROOT can write; `Unsupported` beyond 256 MiB (16 MiB for classes of text) and a hundred times
/// the stored bytes, unless `SAPWOOD_HUGE_OBJECTS=1` is set.
pub fn check_size(key: &Key, stored: usize) -> Result<()> {
    let size = u64::from(key.object_len);
    if key.is_raw() {
        return Ok(());
    }
    if size > MOST {
        return Err(Error::corrupt(claim(key, stored)).at(key.span));
    }
    let limit = limit(if TEXTS.contains(&key.class.as_str()) { ANY_TEXT } else { ANY_OBJECT }, stored);
    if size > limit && !allows_huge() {
        let why = format!("{}: more than the limit of {limit} for so few compressed bytes", claim(key, stored));
        let remedy = format!("if you trust the file, set {HUGE_OBJECTS}=1");
        return Err(Error::unsupported(why).at(key.span).with_remedy(remedy));
    }
    Ok(())
}

/// Whether a payload can be inflated, of whatever size: block by block, so that no more than one of them is held.
///
/// # Errors
/// `Corrupt` when the blocks are damaged or the object would be larger than ROOT can write.
pub fn check_payload(key: &Key, payload: &[u8], decoder: &mut Decoder) -> Result<()> {
    if key.is_raw() {
        return Ok(());
    }
    if u64::from(key.object_len) > MOST {
        return Err(impossible(key, payload));
    }
    decoder.check(payload, key.object_len as usize).map_err(|e| damaged(key, &e))
}

fn limit(any: u64, stored: usize) -> u64 {
    any + PER_BYTE * stored as u64
}

fn claim(key: &Key, stored: usize) -> String {
    format!("{} {} claims {} bytes from {stored} compressed ones", key.class, key.name, key.object_len)
}

fn impossible(key: &Key, payload: &[u8]) -> Error {
    Error::corrupt(claim(key, payload.len())).at(key.span)
}

fn damaged(key: &Key, e: &Error) -> Error {
    Error::corrupt(format!("{} {}: {}", key.class, key.name, e.what())).at(key.span)
}

fn unpacked(key: &Key, payload: &[u8], decoder: &mut Decoder) -> Result<Vec<u8>> {
    if key.is_raw() {
        return Ok(payload.to_vec());
    }
    // what the codecs cannot do they refuse block by block
    if u64::from(key.object_len) > MOST {
        return Err(impossible(key, payload));
    }
    let mut out = Vec::new();
    decoder.decompress_vec(payload, &mut out, key.object_len as usize).map_err(|e| damaged(key, &e))?;
    Ok(out)
}
