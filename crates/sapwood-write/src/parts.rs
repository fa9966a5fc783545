//! Large baskets are compressed part by part, before they are complete: a cluster in memory is mostly compressed.

use crate::pool::{Job, Pool};
use sapwood_codec::{Algorithm, Compression, Decoder};
use sapwood_span::{Error, Result};
use std::sync::Arc;

/// Bytes of all branches of a tree that are waiting in incomplete parts.
const PENDING: usize = 16 << 20;
/// The largest part; other cores need a share of a large basket, too.
const MOST: usize = 1 << 20;

/// Bytes after which a branch's basket is compressed as far as it is filled, for one of this many branches.
///
/// It depends only on the tree, so that the file does, too; and is a multiple of the size of every number.
pub(crate) fn part_bytes(branches: usize, compression: Compression) -> usize {
    // twice the codec's window: what a part cannot see of the previous one then costs little
    let least = match compression.algorithm() {
        // nothing to gain before it is complete
        Algorithm::None => return usize::MAX - 7,
        Algorithm::Zlib | Algorithm::Lz4 => 64 << 10,
        Algorithm::Zstd | Algorithm::Lzma => 256 << 10,
    };
    (PENDING / branches.max(1)).clamp(least, MOST) & !0xfff
}

/// The parts of a basket being compressed, in order; usually there is only one.
pub(crate) struct Parts {
    pub(crate) jobs: Vec<Arc<Job>>,
    /// Bytes of all of them.
    pub(crate) size: usize,
}

impl Parts {
    /// Bytes in the file, once known.
    pub(crate) fn stored_len(&self) -> Option<u64> {
        let packed = self.jobs.iter().map(|job| job.stored_len()).sum::<Option<u64>>()?;
        Some(packed.min(self.size as u64))
    }

    /// Compresses pending jobs, or waits, until all of them are done.
    pub(crate) fn wait(&self, pool: &mut Pool) {
        for job in &self.jobs {
            pool.wait_for(job);
        }
    }

    /// The bytes for the file, only once, in sequence: blocks, or everything uncompressed where they are not shorter.
    ///
    /// # Errors
    /// The parts are not those that were compressed, or compression panicked.
    pub(crate) fn take(&self) -> Result<Vec<Vec<u8>>> {
        let packed = self.jobs.iter().filter_map(|job| job.take().transpose()).collect::<Result<Vec<Vec<u8>>>>()?;
        if packed.len() < 2 || packed.iter().map(Vec::len).sum::<usize>() < self.size {
            return Ok(packed);
        }
        // as many bytes as uncompressed means not compressed, for every reader
        let (chain, mut bytes) = (packed.concat(), Vec::new());
        let unpacked = Decoder::new().decompress_vec(&chain, &mut bytes, self.size);
        unpacked.map_err(|e| {
            Error::io("a compressed basket does not decompress to its content", std::io::Error::other(e))
        })?;
        Ok(vec![bytes])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Noise, or well compressible bytes.
    fn bytes(noise: bool, n: usize) -> Vec<u8> {
        let mut x = 1_u32;
        let mut next = || {
            x = x.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (x >> 24) as u8
        };
        (0..n).map(|i| if noise { next() } else { (i / 64) as u8 }).collect()
    }

    fn stored(kinds: &[bool], n: usize) -> (Vec<u8>, Vec<u8>) {
        let mut pool = Pool::new(2);
        let data: Vec<Vec<u8>> = kinds.iter().map(|&noise| bytes(noise, n)).collect();
        let jobs = data.iter().map(|d| pool.submit(d.clone(), Compression::default(), true)).collect();
        let parts = Parts { jobs, size: n * kinds.len() };
        parts.wait(&mut pool);
        let len = parts.stored_len().unwrap();
        let stored = parts.take().unwrap().concat();
        assert_eq!(stored.len() as u64, len);
        (data.concat(), stored)
    }

    #[test]
    fn a_chain_that_is_shorter_is_kept() {
        for kinds in [&[false, false][..], &[false, true, false], &[true, false]] {
            let (data, stored) = stored(kinds, 70_000);
            assert!(stored.len() < data.len());
            let mut out = Vec::new();
            Decoder::new().decompress_vec(&stored, &mut out, data.len()).unwrap();
            assert!(out == data, "{kinds:?}");
        }
    }

    #[test]
    fn a_chain_that_is_not_shorter_is_what_it_was() {
        let (data, stored) = stored(&[true, true, true], 70_000);
        assert!(stored == data);
    }

    #[test]
    fn parts_are_multiples_of_numbers() {
        for branches in [0, 1, 3, 17, 152, 10_000] {
            for algorithm in [Algorithm::None, Algorithm::Zlib, Algorithm::Lzma, Algorithm::Lz4, Algorithm::Zstd] {
                let n = part_bytes(branches, Compression::new(algorithm, 1));
                assert!(n >= 64 << 10 && n.is_multiple_of(8), "{branches} {algorithm:?}: {n}");
            }
        }
    }
}
