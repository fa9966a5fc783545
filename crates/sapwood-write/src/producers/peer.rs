//! Whether the process at the other end of a local socket still exists.
//!
//! The end of the connection shows it, too, but not always: processes forked from the other one have copies of its
//! sockets, and keep them open as long as they live.

use std::os::unix::net::UnixStream;

/// The process that listened at the other end.
#[derive(Debug)]
pub(super) struct Peer(#[cfg(target_os = "linux")] Known);

#[cfg(target_os = "linux")]
#[derive(Debug)]
enum Known {
    /// Its descriptor, which becomes readable when it has ended.
    Process(std::os::fd::OwnedFd),
    Gone,
    /// In another container, or on a kernel without such descriptors: only the connection shows it.
    Unknown,
}

#[cfg(target_os = "linux")]
impl Peer {
    pub(super) fn of(stream: &UnixStream) -> Self {
        use std::os::fd::{AsRawFd, FromRawFd};
        // SAFETY: only integers, for which zero is valid
        let mut cred: libc::ucred = unsafe { std::mem::zeroed() };
        let mut len = size_of::<libc::ucred>() as libc::socklen_t;
        let (fd, into) = (stream.as_raw_fd(), (&raw mut cred).cast::<libc::c_void>());
        // SAFETY: the descriptor is open, and the buffer has the length passed
        let told = unsafe { libc::getsockopt(fd, libc::SOL_SOCKET, libc::SO_PEERCRED, into, &raw mut len) };
        if told != 0 || cred.pid <= 0 {
            return Self(Known::Unknown);
        }
        // SAFETY: no memory is passed; the result is a new descriptor or an error
        let process = unsafe { libc::syscall(libc::SYS_pidfd_open, cred.pid, 0) };
        match i32::try_from(process) {
            // SAFETY: the descriptor is new and has no other owner
            Ok(fd) if fd >= 0 => Self(Known::Process(unsafe { std::os::fd::OwnedFd::from_raw_fd(fd) })),
            _ if std::io::Error::last_os_error().raw_os_error() == Some(libc::ESRCH) => Self(Known::Gone),
            _ => Self(Known::Unknown),
        }
    }

    /// Whether it is known to have ended.
    pub(super) fn is_gone(&self) -> bool {
        use std::os::fd::AsRawFd;
        match &self.0 {
            Known::Gone => true,
            Known::Unknown => false,
            Known::Process(fd) => {
                let mut asked = libc::pollfd { fd: fd.as_raw_fd(), events: libc::POLLIN, revents: 0 };
                // SAFETY: polls one open descriptor, without waiting
                unsafe { libc::poll(&raw mut asked, 1, 0) == 1 }
            }
        }
    }
}

#[cfg(not(target_os = "linux"))]
impl Peer {
    pub(super) fn of(_stream: &UnixStream) -> Self {
        Self()
    }

    /// Only the connection shows it.
    pub(super) fn is_gone(&self) -> bool {
        false
    }
}
