//! Adler-32, the checksum at the end of a zlib stream (RFC 1950).

/// Computed by libdeflate with the processor's vector instructions.
#[cfg(not(miri))]
pub(crate) fn adler32(bytes: &[u8]) -> u32 {
    libdeflater::adler32(bytes)
}

/// Computed by the formula of RFC 1950, section 9: Miri cannot call C.
#[cfg(any(miri, test))]
#[cfg_attr(not(miri), allow(dead_code))]
pub(crate) fn by_formula(bytes: &[u8]) -> u32 {
    let (a, b) = bytes.iter().fold((1, 0), |(a, b), byte| {
        let a = (a + u32::from(*byte)) % 65_521;
        (a, (b + a) % 65_521)
    });
    b << 16 | a
}

#[cfg(miri)]
pub(crate) use by_formula as adler32;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg_attr(miri, ignore = "compares with a C library")]
    fn the_formula_is_what_is_used() {
        for n in [0_u32, 1, 9, 5552, 70_000] {
            let bytes: Vec<u8> = (0..n).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
            assert_eq!(adler32(&bytes), by_formula(&bytes));
        }
        assert_eq!(adler32(b"Wikipedia"), 0x11e6_0398);
    }
}
