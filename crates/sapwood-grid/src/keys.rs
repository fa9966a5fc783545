//! Keys of files and of their parts, and maps of them.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A map whose order depends on its history only, not on chance. Its keys are numbers of files, or of parts of files.
pub(crate) type Map<K, V> = HashMap<K, V, BuildHasherDefault<NumberHash>>;

/// A hash of numbers. They are given by the simulator, so that no scenario chooses keys that collide.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct NumberHash(u64);

impl Hasher for NumberHash {
    fn write_u64(&mut self, key: u64) {
        let mixed = (self.0 ^ key).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        // the map takes the place from the lowest bits, and tells keys of one place apart by the highest
        self.0 = (mixed ^ mixed >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93) ^ mixed >> 29;
    }

    fn write_u32(&mut self, key: u32) {
        self.write_u64(key.into());
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u64(u64::from(byte)));
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// A part of a file.
pub(crate) type Key = u64;

/// The key of a part of a file; there are fewer than 256 parts.
pub(crate) fn key(file: u64, part: usize) -> Key {
    file << 8 | part as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_have_hashes_of_their_own() {
        use std::hash::BuildHasher;
        let map = Map::<u64, ()>::default();
        let keys = |files: u64, parts: usize| (0..files).flat_map(move |f| (0..parts).map(move |p| key(f, p)));
        for (what, keys) in [("parts", keys(20_000, 5).collect::<Vec<u64>>()), ("files", (0..100_000).collect())] {
            let hashes: std::collections::HashSet<u64> = keys.iter().map(|k| map.hasher().hash_one(k)).collect();
            assert_eq!(hashes.len(), keys.len(), "{what}");
            // places in a small map are used evenly
            let mut places = vec![0u32; 1024];
            hashes.iter().for_each(|h| places[(h & 1023) as usize] += 1);
            assert!(places.iter().all(|&n| (20..=400).contains(&n)), "{what}: {places:?}");
        }
    }
}
