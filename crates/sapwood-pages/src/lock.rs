//! The process's arena, its lock, and its mappings.

use crate::arena::{Arena, HUGE, Memory};
use std::cell::UnsafeCell;

/// Private anonymous mappings for which large pages are asked.
pub struct Mappings {
    watched: bool,
}

impl Memory for Mappings {
    fn map(&mut self, len: usize) -> Option<usize> {
        if !self.watched {
            self.watched = true;
            // a child must not inherit the lock from a thread that it does not have
            // SAFETY: the three functions stay where they are as long as the program does, and do nothing else than
            // lock and unlock.
            unsafe { libc::pthread_atfork(Some(before_fork), Some(after_fork), Some(after_fork)) };
        }
        let whole = len + HUGE;
        // SAFETY: a new mapping touches nothing that exists; what is cut off at its ends is nobody's yet.
        unsafe {
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
            let at = libc::mmap(std::ptr::null_mut(), whole, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0);
            if at == libc::MAP_FAILED {
                return None;
            }
            let (from, start) = (at as usize, (at as usize).next_multiple_of(HUGE));
            if start > from {
                libc::munmap(at, start - from);
            }
            let rest = from + whole - (start + len);
            if rest > 0 {
                libc::munmap((start + len) as *mut libc::c_void, rest);
            }
            // a kernel without large pages refuses, and all is as without
            libc::madvise(start as *mut libc::c_void, len, libc::MADV_HUGEPAGE);
            Some(start)
        }
    }

    fn unmap(&mut self, start: usize, len: usize) {
        // SAFETY: the arena gives only what it got from `map` and what no block uses.
        unsafe {
            libc::munmap(start as *mut libc::c_void, len);
        }
    }
}

/// The arena behind a lock that can be held over a fork.
struct Locked {
    mutex: UnsafeCell<libc::pthread_mutex_t>,
    arena: UnsafeCell<Arena<Mappings>>,
}

// SAFETY: the arena is touched only by whoever holds the mutex, which is made for being shared.
unsafe impl Sync for Locked {}

static ARENA: Locked = Locked {
    mutex: UnsafeCell::new(libc::PTHREAD_MUTEX_INITIALIZER),
    arena: UnsafeCell::new(Arena::new(Mappings { watched: false })),
};

/// Does something with the arena. Nothing done with it takes or gives blocks of the arena's own sizes, so that the
/// lock is never taken twice: its table has small nodes, which are the system's.
pub fn with<T>(f: impl FnOnce(&mut Arena<Mappings>) -> T) -> T {
    // SAFETY: the mutex is initialised and never moves; between lock and unlock the arena is ours alone. Nothing in
    // `f` unwinds but on an overflow of the table's own arithmetic, which would end the program either way.
    unsafe {
        libc::pthread_mutex_lock(ARENA.mutex.get());
        let out = f(&mut *ARENA.arena.get());
        libc::pthread_mutex_unlock(ARENA.mutex.get());
        out
    }
}

extern "C" fn before_fork() {
    // SAFETY: see `with`.
    unsafe { libc::pthread_mutex_lock(ARENA.mutex.get()) };
}

extern "C" fn after_fork() {
    // SAFETY: the forking thread took it in `before_fork`, in the parent and so in the child.
    unsafe { libc::pthread_mutex_unlock(ARENA.mutex.get()) };
}
