use crate::key::Key;
use sapwood_codec::Decoder;
use sapwood_span::{Error, Result};

/// The most a single object may inflate to: ROOT's own limit of a buffer is 1 GiB.
const MOST: u32 = 1 << 30;

/// Bytes that a tree's header or the class descriptions may inflate to whatever they were, and per stored byte. They are
/// made of names and positions, of which no codec makes a thirtieth: what is beyond is no such record, and would be held
/// and gone through for nothing.
const ANY_HEADER: u64 = 64 << 20;
const HEADER_PER_BYTE: u64 = 100;

/// As [`inflate`], for records that lists of names and positions make large: a tree's header, class descriptions.
///
/// # Errors
/// As [`inflate`]; `Corrupt` as well when no such record could have been compressed so far.
pub fn inflate_header(key: &Key, payload: &[u8], decoder: &mut Decoder) -> Result<Vec<u8>> {
    if !key.is_raw() && u64::from(key.object_len) > ANY_HEADER + HEADER_PER_BYTE * payload.len() as u64 {
        return Err(claims(key, payload));
    }
    inflate(key, payload, decoder)
}

fn claims(key: &Key, payload: &[u8]) -> Error {
    let said =
        format!("{} {} claims {} bytes from {} compressed ones", key.class, key.name, key.object_len, payload.len());
    Error::corrupt(said).at(key.span)
}

/// Inflates a key's payload.
///
/// # Errors
/// `Corrupt` when the blocks are damaged or the object would be larger than ROOT can write.
pub fn inflate(key: &Key, payload: &[u8], decoder: &mut Decoder) -> Result<Vec<u8>> {
    let at = |e: Error| e.at(key.span);
    if key.is_raw() {
        return Ok(payload.to_vec());
    }
    // what the codecs cannot do they refuse block by block
    if key.object_len > MOST {
        return Err(claims(key, payload));
    }
    let mut out = Vec::new();
    decoder
        .decompress_vec(payload, &mut out, key.object_len as usize)
        .map_err(|e| at(Error::corrupt(format!("{} {}: {}", key.class, key.name, e.what()))))?;
    Ok(out)
}
