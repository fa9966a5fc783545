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
            use std::os::fd::AsRawFd;
            /// Offsets of `tcpi_rcv_rtt` and `tcpi_rcv_ooopack` in `struct tcp_info`, of which not all headers have all
            /// fields; it only grows at its end.
            const ROUND_TRIP: usize = 92 / 4;
            const DISORDERED: usize = 224 / 4;
            const _: () = assert!(std::mem::offset_of!(libc::tcp_info, tcpi_rcv_rtt) == 4 * ROUND_TRIP);
            let mut info = [0_u32; 64];
            let mut size = size_of_val(&info) as libc::socklen_t;
            // SAFETY: the descriptor is open as long as `self` lives; the kernel writes at most `size` bytes to `info`,
            // and any bit pattern is valid there.
            let done = unsafe {
                let info = info.as_mut_ptr().cast();
                libc::getsockopt(self.socket.as_raw_fd(), libc::IPPROTO_TCP, libc::TCP_INFO, info, &raw mut size)
            };
            let known = info.get(..size as usize / 4).filter(|_| done == 0)?;
            let micros = known.get(ROUND_TRIP).filter(|t| **t > 0);
            Some(Reported {
                round_trip: micros.map(|t| Duration::from_micros((*t).into())),
                disordered: known.get(DISORDERED).copied(),
            })
        }
        #[cfg(not(target_os = "linux"))]
        None
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_tells_where_it_is_asked() {
        assert_eq!(std::mem::offset_of!(libc::tcp_info, tcpi_rcv_rtt), 92);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().unwrap();
        runtime.block_on(async {
            let server = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
            let stream = TcpStream::connect(server.local_addr().unwrap()).await.unwrap();
            let said = TcpInfo::of(&stream).unwrap().said().unwrap();
            assert_eq!((said.round_trip, said.disordered.unwrap_or(0)), (None, 0));
        });
    }
}
