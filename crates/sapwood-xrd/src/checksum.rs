//! CRC32C (Castagnoli; RFC 7143, section 13.1), as in page reads and status frames. Adler-32 (RFC 1950, section 8.2),
//! as servers report it for whole files.

/// The checksum of all these bytes.
pub fn crc32c(bytes: &[u8]) -> u32 {
    let mut crc = Crc32c::default();
    crc.update(bytes);
    crc.value()
}

/// The checksum of bytes that arrive piece by piece.
#[derive(Clone, Copy, Debug, Default)]
pub struct Crc32c(u32);

impl Crc32c {
    /// Takes more bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0 = crc32c::crc32c_append(self.0, bytes);
    }

    /// The checksum of all bytes so far.
    pub fn value(self) -> u32 {
        self.0
    }
}

/// The Adler-32 of bytes that arrive piece by piece.
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
    /// Takes more bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        /// The largest prime below 2^16.
        const MODULUS: u32 = 65_521;
        /// This many bytes of 255 can be added before the sums must be reduced (the figure of the RFC's own code).
        const SAFE: usize = 5552;
        for block in bytes.chunks(SAFE) {
            let (sixteens, rest) = block.as_chunks::<16>();
            for sixteen in sixteens {
                // The sum of all sums, without a chain of sixteen dependent additions.
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
