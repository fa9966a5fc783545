//! Memory that will be needed soon.

/// Has the processor fetch the memory of a value into its cache, without waiting for it. Where it cannot, nothing happens.
#[inline]
pub fn prefetch<T>(value: &T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: the instruction is one of SSE, which all x86-64 processors have, and changes nothing that a program sees.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(value).cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = value;
}
