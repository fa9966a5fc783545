//! What is wrong with a block, in the same plain words for every codec: the C libraries' own texts name their buffers
//! and functions.

use zstd::zstd_safe::{ErrorCode, zstd_sys::ZSTD_ErrorCode};

/// What is wrong with a block whose header is valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Damage {
    /// The codec cannot decode the payload.
    Invalid,
    /// It decompresses to more bytes than its header says.
    TooLong,
    /// It decompresses to this many bytes, fewer than its header says.
    TooShort(usize),
    /// An LZ4 payload is too short for its checksum.
    NoChecksum,
    /// The checksum before an LZ4 payload does not match.
    Checksum { said: u64, is: u64 },
    /// An xz header requires more memory than its decoder may use.
    Memory(u64),
}

impl Damage {
    pub(crate) fn of_deflate(error: libdeflater::DecompressionError) -> Self {
        match error {
            libdeflater::DecompressionError::BadData => Damage::Invalid,
            libdeflater::DecompressionError::InsufficientSpace => Damage::TooLong,
        }
    }

    /// Zstandard's functions return the negative of a number in `ZSTD_ErrorCode`.
    pub(crate) fn of_zstd(code: ErrorCode) -> Self {
        let too_long = (ZSTD_ErrorCode::ZSTD_error_dstSize_tooSmall as usize).wrapping_neg();
        if code == too_long { Damage::TooLong } else { Damage::Invalid }
    }

    /// The text for messages about a block that should decompress to `size` bytes.
    pub(crate) fn describe(self, size: usize) -> String {
        match self {
            Damage::Invalid => "invalid compressed data".to_owned(),
            Damage::TooLong => format!("it decompresses to more than the {size} bytes it claims"),
            Damage::TooShort(written) => format!("it decompresses to {written} bytes, not the {size} it claims"),
            Damage::NoChecksum => "it is too short for its checksum".to_owned(),
            Damage::Checksum { said, is } => format!("its checksum is {is:016x}, not {said:016x}"),
            Damage::Memory(limit) => format!("it requires more than {} MiB of memory", limit >> 20),
        }
    }
}
