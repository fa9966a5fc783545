//! CRC32C (Castagnoli; RFC 7143, section 13.1): what page reads and status frames carry. Adler-32 (RFC 1950, section 8.2): what
//! servers tell of whole files.

/// `TABLES[k][b]`: the checksum of byte `b` followed by `k` zero bytes.
static TABLES: [[u32; 256]; 8] = tables();

const fn tables() -> [[u32; 256]; 8] {
    /// The polynomial, bits reversed.
    const POLYNOMIAL: u32 = 0x82f6_3b78;
    let mut tables = [[0; 256]; 8];
    let mut byte = 0;
    while byte < 256 {
        let mut value = byte as u32;
        let mut bit = 0;
        while bit < 8 {
            value = if value & 1 == 1 { value >> 1 ^ POLYNOMIAL } else { value >> 1 };
            bit += 1;
        }
        tables[0][byte] = value;
        byte += 1;
    }
    let mut k = 1;
    while k < 8 {
        let mut byte = 0;
        while byte < 256 {
            let before = tables[k - 1][byte];
            tables[k][byte] = before >> 8 ^ tables[0][(before & 0xff) as usize];
            byte += 1;
        }
        k += 1;
    }
    tables
}

/// The checksum of all these bytes.
pub fn crc32c(bytes: &[u8]) -> u32 {
    let mut crc = Crc32c::default();
    crc.update(bytes);
    crc.value()
}

/// The checksum of bytes that come piece by piece.
#[derive(Clone, Copy, Debug)]
pub struct Crc32c(u32);

impl Default for Crc32c {
    fn default() -> Self {
        Self(u32::MAX)
    }
}

impl Crc32c {
    /// Takes further bytes: eight at a time, one table for each.
    pub fn update(&mut self, bytes: &[u8]) {
        let at = |k: usize, value: u32| TABLES[k][(value & 0xff) as usize];
        let (eights, rest) = bytes.as_chunks::<8>();
        let mut crc = self.0;
        for &[a, b, c, d, e, f, g, h] in eights {
            let low = u32::from_le_bytes([a, b, c, d]) ^ crc;
            let high = u32::from_le_bytes([e, f, g, h]);
            crc = at(7, low)
                ^ at(6, low >> 8)
                ^ at(5, low >> 16)
                ^ at(4, low >> 24)
                ^ at(3, high)
                ^ at(2, high >> 8)
                ^ at(1, high >> 16)
                ^ at(0, high >> 24);
        }
        for &byte in rest {
            crc = crc >> 8 ^ at(0, crc ^ u32::from(byte));
        }
        self.0 = crc;
    }

    /// The checksum of all bytes so far.
    pub fn value(self) -> u32 {
        !self.0
    }
}

/// The Adler-32 of bytes that come piece by piece.
#[derive(Clone, Copy, Debug)]
pub struct Adler32 {
    low: u32,
    high: u32,
}

impl Default for Adler32 {
    fn default() -> Self {
        Self { low: 1, high: 0 }
    }
}

impl Adler32 {
    /// Takes further bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        /// The largest prime below 2^16.
        const MODULUS: u32 = 65_521;
        /// So many bytes of 255 can be added before the sums have to be reduced (the figure of the RFC's own code).
        const SAFE: usize = 5552;
        for block in bytes.chunks(SAFE) {
            let (sixteens, rest) = block.as_chunks::<16>();
            for sixteen in sixteens {
                // The sum of all sums, without a chain of sixteen additions one behind the other.
                let weighted = sixteen.iter().zip((1..=16).rev()).map(|(&b, weight): (_, u32)| u32::from(b) * weight);
                self.high += 16 * self.low + weighted.sum::<u32>();
                self.low += sixteen.iter().map(|&b| u32::from(b)).sum::<u32>();
            }
            for &byte in rest {
                self.low += u32::from(byte);
                self.high += self.low;
            }
            self.low %= MODULUS;
            self.high %= MODULUS;
        }
    }

    /// The checksum of all bytes so far.
    pub fn value(self) -> u32 {
        self.high << 16 | self.low
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adler32_of_known_texts() {
        let large = vec![0xff; 1 << 20];
        for (bytes, sum) in [(&b""[..], 1), (b"Wikipedia", 0x11e6_0398), (&large, 0x8e88_ef11)] {
            for cut in [1, 7, 16, 5552, 100_000] {
                let mut adler = Adler32::default();
                bytes.chunks(cut).for_each(|piece| adler.update(piece));
                assert_eq!(adler.value(), sum, "{} bytes by {cut}", bytes.len());
            }
        }
    }

    /// The examples of RFC 7143, appendix A.4.
    #[test]
    fn examples_of_the_standard() {
        let ascending: Vec<u8> = (0..32).collect();
        let descending: Vec<u8> = (0..32).rev().collect();
        for (bytes, sum) in [
            (vec![0; 32], 0x8a91_36aa),
            (vec![0xff; 32], 0x62a8_ab43),
            (ascending, 0x46dd_794e),
            (descending, 0x113f_db5c),
            (b"123456789".to_vec(), 0xe306_9283),
        ] {
            assert_eq!(crc32c(&bytes), sum);
            for cut in 0..bytes.len() {
                let mut crc = Crc32c::default();
                crc.update(&bytes[..cut]);
                crc.update(&bytes[cut..]);
                assert_eq!(crc.value(), sum);
            }
        }
    }
}
