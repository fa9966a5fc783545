//! The process's arena, its lock, and its mappings.

use crate::arena::{Arena, HUGE, Memory};
use std::cell::UnsafeCell;

/// Private anonymous mappings for which large pages are asked.
pub(crate) struct Mappings;

/// Run by the loader, before a thread can have the lock: a child must not inherit it from a thread that it does not
/// have. Were this done with the first block, another thread could fork while the first one is being taken. An allocator
/// has no `main` in which it could be done, and in Python's extension there is none of ours at all.
#[used]
#[unsafe(link_section = ".init_array")]
static WATCH: extern "C" fn() = watch_forks;

extern "C" fn watch_forks() {
    // SAFETY: the three functions stay where they are as long as the program does, and do nothing else than lock and
    // unlock.
    unsafe { libc::pthread_atfork(Some(before_fork), Some(after_fork), Some(after_fork)) };
}

impl Memory for Mappings {
    fn map(&mut self, len: usize) -> Option<usize> {
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

static ARENA: Locked =
    Locked { mutex: UnsafeCell::new(libc::PTHREAD_MUTEX_INITIALIZER), arena: UnsafeCell::new(Arena::new(Mappings)) };

/// Does something with the arena. Nothing done with it takes or gives blocks of the arena's own sizes, so that the
/// lock is never taken twice: its table has small nodes, which are the system's.
pub(crate) fn with<T>(f: impl FnOnce(&mut Arena<Mappings>) -> T) -> T {
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
                // long enough for the fork to begin
                std::thread::sleep(std::time::Duration::from_millis(200));
            });
        });
        while !HELD.load(SeqCst) {
            std::hint::spin_loop();
        }
        // SAFETY: the child calls nothing but what is safe there: it takes the lock, and is ended if it never gets it.
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
        // SAFETY: the child is ours, and there is room for its status.
        assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
        assert_eq!(status, 0, "the child waited for ever");
        holder.join().unwrap();
    }
}
