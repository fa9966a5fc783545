//! Several bytes at a time.

/// Which of sixteen bytes are the same.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(super) fn equal(a: &[u8; 16], b: &[u8; 16]) -> u16 {
    use std::arch::x86_64::{_mm_cmpeq_epi8, _mm_loadu_si128, _mm_movemask_epi8};
    // SAFETY: SSE2 is part of x86_64, and sixteen bytes can be loaded, from any alignment
    unsafe {
        let (a, b) = (_mm_loadu_si128(a.as_ptr().cast()), _mm_loadu_si128(b.as_ptr().cast()));
        _mm_movemask_epi8(_mm_cmpeq_epi8(a, b)) as u16
    }
}

/// The same for other processors.
#[cfg(any(test, not(target_arch = "x86_64")))]
#[cfg_attr(target_arch = "x86_64", allow(dead_code))]
pub(super) fn equal_by_words(a: &[u8; 16], b: &[u8; 16]) -> u16 {
    const LOW: u64 = 0x7f7f_7f7f_7f7f_7f7f;
    // a byte that is zero has its highest bit set in `zero`; the product brings the eight together
    let eight = |x: u64| {
        let zero = !(((x & LOW) + LOW) | x | LOW);
        ((zero >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56) as u16
    };
    let x = u128::from_le_bytes(*a) ^ u128::from_le_bytes(*b);
    eight(x as u64) | eight((x >> 64) as u64) << 8
}

#[cfg(not(target_arch = "x86_64"))]
pub(super) use equal_by_words as equal;

/// Eight bytes as numbers of 16 bits.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(super) fn widen(bytes: &[u8; 8], to: &mut [u16; 8]) {
    use std::arch::x86_64::{_mm_loadl_epi64, _mm_setzero_si128, _mm_storeu_si128, _mm_unpacklo_epi8};
    // SAFETY: SSE2 is part of x86_64; eight bytes can be loaded and sixteen written, at any alignment
    unsafe {
        let wide = _mm_unpacklo_epi8(_mm_loadl_epi64(bytes.as_ptr().cast()), _mm_setzero_si128());
        _mm_storeu_si128(to.as_mut_ptr().cast(), wide);
    }
}

/// Eight bytes as numbers of 16 bits.
#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
pub(super) fn widen(bytes: &[u8; 8], to: &mut [u16; 8]) {
    *to = bytes.map(u16::from);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_bytes_are_found() {
        let mut state = 1_u64;
        for _ in 0..if cfg!(miri) { 100 } else { 2000 } {
            let mut next = || {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                std::array::from_fn::<u8, 16, _>(|i| [0, 1, 0x80, 0xff][((state >> (2 * i + 20)) & 3) as usize])
            };
            let (a, b) = (next(), next());
            let wanted = (0..16).filter(|&i| a[i] == b[i]).fold(0, |bits, i| bits | 1 << i);
            assert_eq!(equal(&a, &b), wanted);
            assert_eq!(equal_by_words(&a, &b), wanted);
        }
    }

    #[test]
    fn bytes_get_wider() {
        let mut to = [7; 8];
        widen(&[0, 1, 2, 127, 128, 200, 254, 255], &mut to);
        assert_eq!(to, [0, 1, 2, 127, 128, 200, 254, 255]);
    }
}
