use std::io::{self, BufWriter, StdoutLock, Write};
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether stdout was closed when the process began: Rust's runtime then opens /dev/null in its place, and everything
/// written would vanish with a good exit status.
///
/// It must be looked at before the runtime starts, and only the loader calls anything so early: in `main`, the runtime's
/// /dev/null cannot be distinguished from one that the caller chose. No standard API says what was closed.
static CLOSED: AtomicBool = AtomicBool::new(false);

mod early {
    use super::CLOSED;
    use std::sync::atomic::Ordering;

    unsafe extern "C" {
        fn fcntl(fd: i32, command: i32, ...) -> i32;
    }

    /// POSIX: the flags of a descriptor; fails with EBADF only.
    const F_GETFD: i32 = 1;

    extern "C" fn look() {
        // SAFETY: fcntl(1, F_GETFD) takes no pointer and changes nothing
        CLOSED.store(unsafe { fcntl(1, F_GETFD) } < 0, Ordering::Relaxed);
    }

    // SAFETY: the loader calls what is listed in this section before main, with arguments that `look` does not take;
    // `look` needs nothing of Rust's runtime
    #[used]
    #[cfg_attr(target_vendor = "apple", unsafe(link_section = "__DATA,__mod_init_func"))]
    #[cfg_attr(not(target_vendor = "apple"), unsafe(link_section = ".init_array"))]
    static LOOK: extern "C" fn() = look;
}

/// Stdout, or the error of one that is closed.
pub(crate) enum Stdout {
    /// As it should be.
    Open(StdoutLock<'static>),
    /// Was closed when the process began.
    Closed,
}

impl Write for Stdout {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Stdout::Open(out) => out.write(bytes),
            Stdout::Closed => Err(closed()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Stdout::Open(out) => out.flush(),
            Stdout::Closed => Ok(()),
        }
    }
}

/// Says that stdout was closed when the process began, for one that loaded this library later.
pub(crate) fn stdout_was_closed() {
    CLOSED.store(true, Ordering::Relaxed);
}

/// That stdout is open.
///
/// # Errors
/// When it was closed at the beginning.
pub(crate) fn check_stdout() -> io::Result<()> {
    if CLOSED.load(Ordering::Relaxed) { Err(closed()) } else { Ok(()) }
}

fn closed() -> io::Error {
    io::Error::other("stdout is closed")
}

/// Buffered stdout. Flush it at the end: what a closed pipe says is only heard then.
pub(crate) fn stdout() -> BufWriter<Stdout> {
    let out = if CLOSED.load(Ordering::Relaxed) { Stdout::Closed } else { Stdout::Open(io::stdout().lock()) };
    BufWriter::with_capacity(1 << 16, out)
}
