//! Asks the kernel (TCP_INFO) about a connection: whether a queue has built up on the path, and whether packets were lost.

use crate::lock;
use crate::meter::Meter;
use std::sync::Mutex;
use std::time::{Duration, Instant};
use tokio::net::TcpStream;

/// A connection is queried again after this time.
const PAUSE: Duration = Duration::from_millis(20);

/// Asks the kernel for the round-trip time of a connection while bytes arrive, and for packets that arrived out of
/// order.
///
/// A saturated path has a queue in front of its bottleneck, and packets wait in it: round trips take longer than
/// opening a connection did. Where a loss or a receiver's buffer limits the window, there is no queue. The kernel
/// measures this from time stamps as segments arrive, so the figure holds on a busy machine as well, where the times at
/// which this process gets to read say little. Packets behind a lost one arrive out of order.
pub(crate) struct TcpInfo {
    #[cfg(target_os = "linux")]
    socket: std::os::fd::OwnedFd,
    asked: Option<Instant>,
    /// Packets that came out of order so far.
    disordered: u32,
}

/// What the kernel reports.
struct Reported {
    /// A segment's smoothed round-trip time; none before it is known.
    round_trip: Option<Duration>,
    /// Packets that came out of order; none where the kernel does not count them (Linux before 5.4).
    disordered: Option<u32>,
}

impl TcpInfo {
    /// For this connection, which stays open while this exists; none where the system allows no more descriptors.
    pub(crate) fn of(stream: &TcpStream) -> Option<Self> {
        #[cfg(target_os = "linux")]
        {
            use std::os::fd::AsFd;
            Some(Self { socket: stream.as_fd().try_clone_to_owned().ok()?, asked: None, disordered: 0 })
        }
        #[cfg(not(target_os = "linux"))]
        {
            let _ = stream;
            None
        }
    }

    /// Bytes arrived: passes the current round-trip time to the meter, from time to time.
    pub(crate) fn tell(&mut self, meter: &Mutex<Meter>) {
        let now = Instant::now();
        if self.asked.is_some_and(|asked| now.saturating_duration_since(asked) < PAUSE) {
            return;
        }
        self.asked = Some(now);
        let Some(said) = self.said() else { return };
        let mut meter = lock(meter);
        if let Some(round_trip) = said.round_trip {
            meter.stood(round_trip);
        }
        if let Some(disordered) = said.disordered {
            meter.ordered(disordered == self.disordered, now);
            self.disordered = disordered;
        }
    }

    fn said(&self) -> Option<Reported> {
        #[cfg(target_os = "linux")]
        {
            let known = linux::fields(&self.socket)?;
            let disordered = known.get(linux::DISORDERED).copied();
            Some(Reported { round_trip: known.microseconds(linux::RECEIVED_ROUND_TRIP), disordered })
        }
        #[cfg(not(target_os = "linux"))]
        None
    }
}

/// How long the handshake of a connection took that has just been opened; none where the system does not tell. On a busy machine it may be
/// much later that a process learns of it.
pub(crate) fn handshake(stream: &TcpStream) -> Option<Duration> {
    #[cfg(target_os = "linux")]
    return linux::fields(stream)?.microseconds(linux::ROUND_TRIP);
    #[cfg(not(target_os = "linux"))]
    {
        let _ = stream;
        None
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use std::os::fd::{AsFd, AsRawFd};
    use std::time::Duration;

    /// Offsets of `tcpi_rtt`, `tcpi_rcv_rtt` and `tcpi_rcv_ooopack` in `struct tcp_info`, of which not all headers have all fields; it only
    /// grows at its end.
    pub(super) const ROUND_TRIP: usize = 68 / 4;
    pub(super) const RECEIVED_ROUND_TRIP: usize = 92 / 4;
    pub(super) const DISORDERED: usize = 224 / 4;
    const _: () = assert!(std::mem::offset_of!(libc::tcp_info, tcpi_rtt) == 4 * ROUND_TRIP);
    const _: () = assert!(std::mem::offset_of!(libc::tcp_info, tcpi_rcv_rtt) == 4 * RECEIVED_ROUND_TRIP);

    /// What the kernel knows of a connection.
    pub(super) struct Fields {
        values: [u32; 64],
        count: usize,
    }

    impl Fields {
        pub(super) fn get(&self, field: usize) -> Option<&u32> {
            self.values.get(..self.count)?.get(field)
        }

        /// A time; 0 is none.
        pub(super) fn microseconds(&self, field: usize) -> Option<Duration> {
            self.get(field).filter(|t| **t > 0).map(|t| Duration::from_micros((*t).into()))
        }
    }

    pub(super) fn fields(socket: &impl AsFd) -> Option<Fields> {
        let mut values = [0_u32; 64];
        let mut size = size_of_val(&values) as libc::socklen_t;
        // SAFETY: the descriptor is open as long as `socket` is borrowed; the kernel writes at most `size` bytes to `values`, and any bit
        // pattern is valid there.
        let done = unsafe {
            let values = values.as_mut_ptr().cast();
            let socket = socket.as_fd().as_raw_fd();
            libc::getsockopt(socket, libc::IPPROTO_TCP, libc::TCP_INFO, values, &raw mut size)
        };
        (done == 0).then_some(Fields { values, count: size as usize / 4 })
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_tells_where_it_is_asked() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().unwrap();
        runtime.block_on(async {
            let server = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
            let stream = TcpStream::connect(server.local_addr().unwrap()).await.unwrap();
            let said = TcpInfo::of(&stream).unwrap().said().unwrap();
            assert_eq!((said.round_trip, said.disordered.unwrap_or(0)), (None, 0));
            let took = handshake(&stream).unwrap();
            assert!(took > Duration::ZERO && took < Duration::from_secs(10), "{took:?}");
        });
    }
}
