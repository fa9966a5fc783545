//! The process's arena, its lock, and its mappings.

use crate::arena::{Arena, HUGE, Memory};
use std::cell::UnsafeCell;

/// Private anonymous mappings for which large pages are requested.
pub(crate) struct Mappings;

/// Run by the loader, before a thread can hold the lock: a child must not inherit it from a thread that does not exist
/// in the child. If this were done with the first block, another thread could fork while that one is being allocated.
/// An allocator has no `main` for this, and the Python extension has none at all.
#[used]
#[unsafe(link_section = ".init_array")]
static WATCH: extern "C" fn() = watch_forks;

extern "C" fn watch_forks() {
    // SAFETY: the three functions stay in place as long as the program does, and only lock and unlock.
    unsafe { libc::pthread_atfork(Some(before_fork), Some(after_fork), Some(after_fork)) };
}

impl Memory for Mappings {
    fn map(&mut self, len: usize) -> Option<usize> {
        let whole = len + HUGE;
        // SAFETY: a new mapping touches nothing that exists; the parts cut off at its ends are not in use yet.
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
            // a kernel without large pages refuses, and everything works without them
            libc::madvise(start as *mut libc::c_void, len, libc::MADV_HUGEPAGE);
            Some(start)
        }
    }

    fn unmap(&mut self, start: usize, len: usize) {
        // SAFETY: the arena only returns what it got from `map` and what no block uses.
        unsafe {
            libc::munmap(start as *mut libc::c_void, len);
        }
    }

    fn clear(&mut self, start: usize, len: usize) {
        // SAFETY: as `unmap`; what is in these pages is not read again before it is written.
        unsafe {
            libc::madvise(start as *mut libc::c_void, len, libc::MADV_DONTNEED);
        }
    }
}

/// The arena with a lock that can be held during a fork.
struct Locked {
    mutex: UnsafeCell<libc::pthread_mutex_t>,
    arena: UnsafeCell<Arena<Mappings>>,
}

// SAFETY: the arena is accessed only by the holder of the mutex, which is made for being shared.
unsafe impl Sync for Locked {}

static ARENA: Locked =
    Locked { mutex: UnsafeCell::new(libc::PTHREAD_MUTEX_INITIALIZER), arena: UnsafeCell::new(Arena::new(Mappings)) };

/// Runs `f` with the arena. `f` must not allocate or free blocks of the arena's own sizes, so that the lock is never
/// taken twice: its table has small nodes, which are the system's.
pub(crate) fn with<T>(f: impl FnOnce(&mut Arena<Mappings>) -> T) -> T {
    // SAFETY: the mutex is initialised and never moves; between lock and unlock the arena is exclusively ours. Nothing
    // in `f` unwinds except for an overflow of the table's own arithmetic, which would end the program either way.
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
    // SAFETY: the forking thread locked it in `before_fork`, in the parent and so in the child.
    unsafe { libc::pthread_mutex_unlock(ARENA.mutex.get()) };
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

    #[test]
    fn a_child_forked_while_another_thread_has_the_lock_for_the_first_time_gets_it() {
        static HELD: AtomicBool = AtomicBool::new(false);
        let holder = std::thread::spawn(|| {
            with(|_| {
                HELD.store(true, SeqCst);
                // long enough for the fork to start
                std::thread::sleep(std::time::Duration::from_millis(200));
            });
        });
        while !HELD.load(SeqCst) {
            std::hint::spin_loop();
        }
        // SAFETY: the child calls only functions that are safe there: it takes the lock, and is ended if it never gets
        // it.
        let child = unsafe { libc::fork() };
        if child == 0 {
            // SAFETY: as above.
            unsafe {
                libc::alarm(20);
                with(|_| ());
                libc::_exit(0);
            }
        }
        let mut status = -1;
        // SAFETY: the child is ours, and `status` has room for its status.
        assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
        assert_eq!(status, 0, "the child waited for ever");
        holder.join().unwrap();
    }
}
