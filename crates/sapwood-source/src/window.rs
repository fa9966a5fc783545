//! How much a server may send before it hears from here.

use tokio::net::TcpStream;

/// Lets a connection's receive window grow as fast as the server's slow start.
///
/// Linux begins with 64 KB and enlarges the buffer a round trip after more of it was used: behind a sender that doubles,
/// from the fourth round trip on. Asking to be woken only when a lot is there (`SO_RCVLOWAT`) makes room for so much at
/// once, up to half of `tcp_rmem`'s third number, and unlike `SO_RCVBUF` leaves the kernel free to go on from there;
/// then the wish is taken back. Room is not memory: it is used only while nobody reads. Elsewhere this does nothing.
pub(crate) fn widen(stream: &TcpStream) {
    #[cfg(target_os = "linux")]
    {
        use std::os::fd::AsRawFd;
        /// What comes in a round trip of 100 ms at 1 Gbit/s, about.
        const ROOM: libc::c_int = 12 << 20;
        for value in [ROOM, 1] {
            let (value, size) = (&raw const value, size_of::<libc::c_int>() as libc::socklen_t);
            // SAFETY: the descriptor is open as long as `stream` is borrowed; the value is read during the call only.
            // Where the kernel refuses, the window grows as it always did.
            unsafe { libc::setsockopt(stream.as_raw_fd(), libc::SOL_SOCKET, libc::SO_RCVLOWAT, value.cast(), size) };
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = stream;
}
