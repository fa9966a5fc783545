//! Ports of this machine for servers that cannot choose one themselves, or that come back on the same.

use std::net::TcpListener;
use std::sync::atomic::{AtomicU32, Ordering};

/// From here on systems give ports to outgoing connections and to servers that ask for port 0 (32768 on Linux). A free
/// port from there may be another's a moment later; one from below belongs to nobody who does not name it.
const FIRST_EPHEMERAL: u32 = 32_768;
const FIRST: u32 = 10_240;

/// A port without a listener, never given twice by this process.
pub fn free_port() -> u16 {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    for _ in FIRST..FIRST_EPHEMERAL {
        // processes begin in different places: one step is coprime to the number of ports
        let step = std::process::id().wrapping_mul(7_919).wrapping_add(NEXT.fetch_add(1, Ordering::Relaxed));
        let port = (FIRST + step % (FIRST_EPHEMERAL - FIRST)) as u16;
        if TcpListener::bind(("0.0.0.0", port)).is_ok() {
            return port;
        }
    }
    panic!("every port is taken");
}
