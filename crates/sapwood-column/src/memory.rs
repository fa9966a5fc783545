//! Large pages for large columns.

use std::mem::MaybeUninit;

/// Below this many bytes large pages gain nothing.
const WORTH: usize = 1 << 20;

/// Asks for large pages behind memory that is about to be filled: a third of the time of reading a whole local tree
/// went into the faults of small ones.
#[cfg(target_os = "linux")]
pub(crate) fn advise<T>(spare: &mut [MaybeUninit<T>]) {
    const PAGE: usize = 4096;
    let bytes = std::mem::size_of_val(spare);
    if bytes < WORTH {
        return;
    }
    // the pages at both ends belong to neighbours as well: advising them too lets neighbouring columns share a large page
    let start = spare.as_mut_ptr() as usize & !(PAGE - 1);
    let end = (spare.as_mut_ptr() as usize + bytes).next_multiple_of(PAGE);
    // SAFETY: MADV_HUGEPAGE changes how pages are backed, never what they hold or who may use them, and every page of
    // the range holds a part of an allocation that we borrow mutably. A kernel that refuses leaves all as it was.
    unsafe {
        libc::madvise(start as *mut libc::c_void, end - start, libc::MADV_HUGEPAGE);
    }
}

/// Other systems decide by themselves.
#[cfg(not(target_os = "linux"))]
pub(crate) fn advise<T>(_: &mut [MaybeUninit<T>]) {}
