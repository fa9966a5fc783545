//! Whether a queue stands in the way to a host, told by the kernel.

use crate::lock;
use crate::meter::Meter;
use std::sync::Mutex;
use std::time::{Duration, Instant};
use tokio::net::TcpStream;

/// A connection is asked again after this time.
const PAUSE: Duration = Duration::from_millis(20);

/// Asks the kernel how long a round trip over a connection takes while bytes come.
///
/// A way that is full has a queue in front of its narrowest part, and what comes has stood in it: round trips take longer
/// than to open a connection. Where a loss or a receiver's buffer holds a window down, no queue stands. The kernel measures
/// it from time stamps as segments come, so that it is true on a busy machine as well, where the times at which this
/// process gets to read its bytes say little.
pub(crate) struct Gauge {
    #[cfg(target_os = "linux")]
    socket: std::os::fd::OwnedFd,
    asked: Option<Instant>,
}

impl Gauge {
    /// For this connection, which stays open as long as this exists; none where the system allows no further descriptor.
    pub fn of(stream: &TcpStream) -> Option<Self> {
        #[cfg(target_os = "linux")]
        {
            use std::os::fd::AsFd;
            Some(Self { socket: stream.as_fd().try_clone_to_owned().ok()?, asked: None })
        }
        #[cfg(not(target_os = "linux"))]
        {
            let _ = stream;
            None
        }
    }

    /// Bytes came: tells the meter what a round trip takes now, from time to time.
    pub fn tell(&mut self, meter: &Mutex<Meter>) {
        let now = Instant::now();
        if self.asked.is_some_and(|asked| now.saturating_duration_since(asked) < PAUSE) {
            return;
        }
        self.asked = Some(now);
        if let Some(round_trip) = self.round_trip() {
            lock(meter).stood(round_trip);
        }
    }

    /// What a segment took from its sender and back, as the kernel has smoothed it; none before it knows.
    fn round_trip(&self) -> Option<Duration> {
        #[cfg(target_os = "linux")]
        {
            use std::os::fd::AsRawFd;
            // SAFETY: all of its fields are numbers.
            let mut info: libc::tcp_info = unsafe { std::mem::zeroed() };
            let mut size = size_of::<libc::tcp_info>() as libc::socklen_t;
            // SAFETY: the descriptor is open as long as `self` lives; the kernel writes at most `size` bytes to `info`.
            let done = unsafe {
                let info = (&raw mut info).cast();
                libc::getsockopt(self.socket.as_raw_fd(), libc::IPPROTO_TCP, libc::TCP_INFO, info, &raw mut size)
            };
            let known = done == 0 && info.tcpi_rcv_rtt > 0;
            known.then(|| Duration::from_micros(info.tcpi_rcv_rtt.into()))
        }
        #[cfg(not(target_os = "linux"))]
        None
    }
}
