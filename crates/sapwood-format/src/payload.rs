//! Decompresses the payloads of records, within limits.

use crate::key::Key;
use sapwood_codec::Decoder;
use sapwood_span::{Error, Result};
use std::sync::LazyLock;

/// The most a single object may decompress to: ROOT's own limit of a buffer is 1 GiB.
const MOST: u64 = 1 << 30;

/// Bytes per stored byte. Real data compress that well only where they are all the same.
const PER_BYTE: u64 = 100;

/// Bytes that an object or a basket may decompress to however little was stored of it: unfilled histograms, and
/// branches that are always zero, shrink a thousandfold.
const ANY_OBJECT: u64 = 256 << 20;

/// The same for classes of text only.
const ANY_TEXT: u64 = 16 << 20;

/// The same for a tree's header or the class descriptions. They consist of names and positions, which no codec reduces
/// to a thirtieth: anything beyond is not such a record, and would be held and scanned for nothing.
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
/// As [`inflate`]; also `Corrupt` when no such record could have been compressed that well.
pub fn inflate_header(key: &Key, payload: &[u8], decoder: &mut Decoder) -> Result<Vec<u8>> {
    if !key.is_raw() && u64::from(key.object_len) > limit(ANY_HEADER, payload.len()) {
        return Err(impossible(key, payload));
    }
    unpacked(key, payload, decoder)
}

/// Decompresses the payload of an object or a basket.
///
/// # Errors
/// `Corrupt` when the blocks are damaged or the object would be larger than ROOT can write; `Unsupported` when it would
/// be far larger than its stored bytes suggest, see [`check_size`].
pub fn inflate(key: &Key, payload: &[u8], decoder: &mut Decoder) -> Result<Vec<u8>> {
    check_size(key, payload.len())?;
    unpacked(key, payload, decoder)
}

/// Whether this many stored bytes may decompress to the size in the key of an object or a basket: before memory is
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

/// Whether a payload of any size can be decompressed: block by block, so that no more than one of them is held.
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
    // the codecs refuse block by block what is impossible
    if u64::from(key.object_len) > MOST {
        return Err(impossible(key, payload));
    }
    let mut out = Vec::new();
    decoder.decompress_vec(payload, &mut out, key.object_len as usize).map_err(|e| damaged(key, &e))?;
    Ok(out)
}
