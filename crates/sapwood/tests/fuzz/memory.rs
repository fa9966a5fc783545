//! Counts what a thread has allocated, so that a case can be held to a bound.
//!
//! Per thread: the cases read with one thread, so what they allocate they free on the thread they run on.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::io::Write;

thread_local! {
    static LIVE: Cell<usize> = const { Cell::new(0) };
    static PEAK: Cell<usize> = const { Cell::new(0) };
    /// The target and the seed of the case that runs on this thread.
    static CASE: Cell<(&'static str, u64)> = const { Cell::new(("", 0)) };
}

/// More than this at once is refused: the process then ends, and the words tell which case it was.
const MOST: usize = 2 << 30;

/// The system's allocator with a count.
pub struct Counting;

// SAFETY: every call is handed to the system's allocator unchanged, or refused by null as the contract allows; the
// counters are plain thread-local cells without destructors, which never allocate.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if !grow(layout.size()) {
            return std::ptr::null_mut();
        }
        // SAFETY: the caller's promises are the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if !grow(layout.size()) {
            return std::ptr::null_mut();
        }
        // SAFETY: the caller's promises are the same.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        shrink(layout.size());
        // SAFETY: the caller's promises are the same.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if !grow(size) {
            return std::ptr::null_mut();
        }
        shrink(layout.size());
        // SAFETY: the caller's promises are the same.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

fn grow(bytes: usize) -> bool {
    let done = LIVE.try_with(|live| {
        let now = live.get().saturating_add(bytes);
        if now > MOST {
            return false;
        }
        live.set(now);
        let _ = PEAK.try_with(|peak| peak.set(peak.get().max(now)));
        true
    });
    // a thread that is ending has no counters any more
    let glob_match = done.unwrap_or(true);
    if !glob_match {
        let (target, seed) = CASE.try_with(Cell::get).unwrap_or_default();
        let mut text = [0u8; 200];
        let mut rest = &mut text[..];
        let _ = writeln!(rest, "\n{target}, seed {seed}: {bytes} bytes were asked for, with more than 2 GiB in all");
        let free = rest.len();
        let _ = std::io::stderr().write_all(&text[..200 - free]);
    }
    glob_match
}

fn shrink(bytes: usize) {
    // what came from another thread was not counted here
    let _ = LIVE.try_with(|live| live.set(live.get().saturating_sub(bytes)));
}

/// Names the case that begins on this thread, forgets the peak so far, and gives the bytes in use.
pub fn begin(target: &'static str, seed: u64) -> usize {
    CASE.set((target, seed));
    PEAK.set(LIVE.get());
    LIVE.get()
}

/// The most bytes in use since [`begin`].
pub fn peak() -> usize {
    PEAK.get()
}
