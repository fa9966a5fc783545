//! Large pages for large columns.

use std::mem::MaybeUninit;

/// Below this many bytes large pages gain nothing.
const WORTH: usize = 1 << 20;

/// Requests large pages for memory that is about to be filled: page faults of small ones took a third of the time of
/// reading a whole local tree.
#[cfg(target_os = "linux")]
pub(crate) fn advise<T>(spare: &mut [MaybeUninit<T>]) {
    const PAGE: usize = 4096;
    let bytes = std::mem::size_of_val(spare);
    if bytes < WORTH {
        return;
    }
    // the pages at both ends are shared with neighbours: advising them too lets neighbouring columns share a large page
    let start = spare.as_mut_ptr() as usize & !(PAGE - 1);
    let end = (spare.as_mut_ptr() as usize + bytes).next_multiple_of(PAGE);
    // SAFETY: MADV_HUGEPAGE changes how pages are backed, never their content or who may use them, and every page of
    // the range holds a part of an allocation that we borrow mutably. If the kernel refuses, nothing changes.
    unsafe {
        libc::madvise(start as *mut libc::c_void, end - start, libc::MADV_HUGEPAGE);
    }
}

/// Other systems decide on their own.
#[cfg(not(target_os = "linux"))]
pub(crate) fn advise<T>(_: &mut [MaybeUninit<T>]) {}
