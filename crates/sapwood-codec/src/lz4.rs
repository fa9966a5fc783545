//! The C LZ4 library, behind safe functions.

use std::ffi::{c_char, c_int};

/// The most bytes that compressing `size` bytes can produce.
pub(crate) fn bound(size: usize) -> usize {
    size + size / 255 + 16
}

/// Decompresses one LZ4 block into `out`; the bytes written, or `None` for damage.
pub(crate) fn decompress(data: &[u8], out: &mut [u8]) -> Option<usize> {
    let (len, room) = (c_int::try_from(data.len()).ok()?, c_int::try_from(out.len()).ok()?);
    // SAFETY: both pointers come from slices of exactly the lengths passed; `LZ4_decompress_safe`
    // never reads or writes outside them, whatever the bytes are.
    let n = unsafe { lz4_sys::LZ4_decompress_safe(data.as_ptr().cast(), out.as_mut_ptr().cast(), len, room) };
    usize::try_from(n).ok()
}

/// Compresses `data` into `out`: fast below level 4, LZ4HC from there, as in ROOT; `None` when it does not fit.
pub(crate) fn compress(data: &[u8], level: u8, out: &mut [u8]) -> Option<usize> {
    let (len, room) = (c_int::try_from(data.len()).ok()?, c_int::try_from(out.len()).ok()?);
    let (from, to): (*const c_char, *mut c_char) = (data.as_ptr().cast(), out.as_mut_ptr().cast());
    // SAFETY: both pointers come from slices of exactly the lengths passed, which do not overlap (one is borrowed
    // mutably); both functions stay within `room` and return 0 when it is too small.
    let n = unsafe {
        if level >= 4 {
            lz4_sys::LZ4_compress_HC(from, to, len, room, c_int::from(level))
        } else {
            lz4_sys::LZ4_compress_default(from, to, len, room)
        }
    };
    usize::try_from(n).ok().filter(|&n| n > 0)
}
