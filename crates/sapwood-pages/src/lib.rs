//! Columns in large pages.
//!
//! A column of a batch takes from some kilobytes to some megabytes. The C library gives each of the larger blocks a
//! mapping and takes the smaller ones from the end of its heap, which the kernel fills page by page, 4 KiB at a time,
//! and takes away again when the blocks are freed: on trees of many columns that cost as much as decompressing them.
//! [`LargePages`] takes these blocks from larger mappings for which large pages are requested, and keeps freed memory
//! for later blocks. All other sizes are left to the system.
//!
//! Programs choose it: so only the two interfaces (the command and the Python extension) use it as their global
//! allocator.
//!
//! [`prefetch`] is for those who know what memory they will need soon.

#![warn(unreachable_pub, unnameable_types)]

mod ahead;
#[cfg(target_os = "linux")]
mod arena;
#[cfg(target_os = "linux")]
mod lock;

pub use ahead::prefetch;

use std::alloc::{GlobalAlloc, Layout, System};

/// The allocator: blocks of 16 KiB to 16 MiB are in large pages.
#[derive(Debug, Default, Clone, Copy)]
pub struct LargePages;

/// Below this, rounding to whole pages would waste more than a tenth.
const LEAST: usize = 16 << 10;

/// Above this a block gets its own large pages where its owner requests them, and grows by remapping.
const MOST: usize = 16 << 20;

/// Alignment that every block has.
const PAGE: usize = 4096;

/// Whether a block is ours; gives the same result at allocation and deallocation.
fn ours(size: usize, align: usize) -> bool {
    cfg!(target_os = "linux") && (LEAST..=MOST).contains(&size) && align <= PAGE
}

// SAFETY: a block is either the system's or a range of whole pages that the arena hands out once and takes back once;
// which of the two depends only on the layout, and the layout is the same at both times.
unsafe impl GlobalAlloc for LargePages {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        #[cfg(target_os = "linux")]
        if ours(layout.size(), layout.align()) {
            return lock::with(|a| a.take(layout.size().next_multiple_of(PAGE)))
                .map_or(std::ptr::null_mut(), |address| address as *mut u8);
        }
        // SAFETY: the caller upholds the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        #[cfg(target_os = "linux")]
        if ours(layout.size(), layout.align()) {
            lock::with(|a| a.give(ptr as usize, layout.size().next_multiple_of(PAGE)));
            return;
        }
        // SAFETY: the block came from the system, because its layout is not ours.
        unsafe { System.dealloc(ptr, layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if ours(layout.size(), layout.align()) {
            // SAFETY: as `alloc`; the block is as large as the layout.
            unsafe {
                let block = self.alloc(layout);
                if !block.is_null() {
                    block.write_bytes(0, layout.size());
                }
                return block;
            }
        }
        // SAFETY: the caller upholds the contract of `alloc_zeroed`.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, ptr: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        let (was, becomes) = (ours(layout.size(), layout.align()), ours(new_size, layout.align()));
        if !was && !becomes {
            // SAFETY: the block is the system's and stays so.
            return unsafe { System.realloc(ptr, layout, new_size) };
        }
        #[cfg(target_os = "linux")]
        if was && becomes {
            let (old, new) = (layout.size().next_multiple_of(PAGE), new_size.next_multiple_of(PAGE));
            if lock::with(|a| a.resize(ptr as usize, old, new)) {
                return ptr;
            }
        }
        // SAFETY: the new layout is valid, because the caller promises that `new_size` is; both blocks hold at least
        // the bytes copied, and the old one is returned with its original layout.
        unsafe {
            let block = self.alloc(Layout::from_size_align_unchecked(new_size, layout.align()));
            if !block.is_null() {
                std::ptr::copy_nonoverlapping(ptr, block, layout.size().min(new_size));
                self.dealloc(ptr, layout);
            }
            block
        }
    }
}
