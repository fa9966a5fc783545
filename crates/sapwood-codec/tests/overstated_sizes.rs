//! Blocks that state more than they hold: memory is taken as it is needed, not as it is stated.

use sapwood_codec::Decoder;
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// The system's allocator, with the largest request recorded.
struct Counting;

static LARGEST: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call is passed unchanged to the system's allocator; counting touches none of its memory.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        LARGEST.fetch_max(layout.size(), Relaxed);
        // SAFETY: the caller upholds the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: the caller upholds the contract of `dealloc`.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

fn block(tag: &[u8; 3], payload: &[u8], size: usize) -> Vec<u8> {
    let mut out = tag.to_vec();
    out.extend(&(payload.len() as u32).to_le_bytes()[..3]);
    out.extend(&(size as u32).to_le_bytes()[..3]);
    out.extend(payload);
    out
}

#[test]
fn small_chains_that_claim_a_gibibyte_cost_a_block() {
    // as much as each codec could make of this many bytes
    for (tag, ratio) in [(b"ZL\x08", 1032), (b"ZS\x01", 32_768), (b"XZ\x00", 8192)] {
        let size = (400 * ratio).min(0xff_ffff);
        let chain: Vec<u8> = (0..(1 << 30) / size).flat_map(|_| block(tag, &[0; 400], size)).collect();
        let claimed = (1 << 30) / size * size;
        LARGEST.store(0, Relaxed);
        let e = Decoder::new().decompress_vec(&chain, &mut Vec::new(), claimed).unwrap_err();
        assert!(e.what().contains("block at offset 0: "), "{e}");
        let largest = LARGEST.load(Relaxed);
        assert!(largest < 120 * chain.len() + (40 << 20), "{tag:?}: {} MB of {} kB", largest >> 20, chain.len() >> 10);
        // and beyond what any codec can
        let chain = block(tag, &[0; 400], (401 * ratio).min(0xff_ffff));
        if 401 * ratio <= 0xff_ffff {
            let e = Decoder::new().decompress_vec(&chain, &mut Vec::new(), 401 * ratio).unwrap_err();
            assert!(e.what().contains("which is impossible"), "{e}");
        }
    }
}
