use crate::key::Key;
use sapwood_codec::Decoder;
use sapwood_span::{Error, Result};

/// The most a single object may inflate to: ROOT's own limit of a buffer is 1 GiB.
const MOST: u32 = 1 << 30;

/// Inflates a key's payload.
///
/// # Errors
/// `Corrupt` when the blocks are damaged or the object would be larger than ROOT can write.
pub fn inflate(key: &Key, payload: &[u8], decoder: &mut Decoder) -> Result<Vec<u8>> {
    let at = |e: Error| e.at(key.span);
    if key.is_raw() {
        return Ok(payload.to_vec());
    }
    // no codec shrinks more than about 1000 to 1 (deflate) except lzma and zstd on constant data; the bound only
    // keeps a damaged length from taking all memory
    if key.object_len > MOST || u64::from(key.object_len) > (payload.len() as u64 + 64) * 20_000 {
        return Err(at(Error::corrupt(format!(
            "{} {} claims {} bytes from {} compressed ones",
            key.class,
            key.name,
            key.object_len,
            payload.len()
        ))));
    }
    let mut out = Vec::new();
    decoder
        .decompress_vec(payload, &mut out, key.object_len as usize)
        .map_err(|e| at(Error::corrupt(format!("{} {}: {}", key.class, key.name, e.what()))))?;
    Ok(out)
}
