//! How much a server may send before an acknowledgement.

use tokio::net::TcpStream;

/// What a fresh connection sends in one round trip.
pub(crate) const WINDOW: u64 = sapwood_span::slow_start::INITIAL_WINDOW;

/// Lets a connection's receive window grow as fast as the server's slow start.
///
/// Linux begins with 64 KB and enlarges the buffer a round trip after more of it was used: behind a sender that
/// doubles, from the fourth round trip on. Asking to be woken only when much has arrived (`SO_RCVLOWAT`) makes room for
/// that much at once, up to half of `tcp_rmem`'s third number, and unlike `SO_RCVBUF` leaves automatic tuning on; then
/// the setting is undone. Room is not memory: it is used only while the application does not read. On other systems
/// this does nothing.
pub(crate) fn widen(stream: &TcpStream) {
    #[cfg(target_os = "linux")]
    {
        use std::os::fd::AsRawFd;
        /// About what arrives in a round trip of 100 ms at 1 Gbit/s.
        const ROOM: libc::c_int = 12 << 20;
        for value in [ROOM, 1] {
            let (value, size) = (&raw const value, size_of::<libc::c_int>() as libc::socklen_t);
            // SAFETY: the descriptor is open as long as `stream` is borrowed; the value is read during the call only.
            // Where the kernel refuses, the window grows as usual.
            unsafe { libc::setsockopt(stream.as_raw_fd(), libc::SOL_SOCKET, libc::SO_RCVLOWAT, value.cast(), size) };
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = stream;
}
