//! Bounds connections: how many at once, by address, and for how long.

use sapwood_span::sync::lock;
use std::collections::HashMap;
use std::io;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::sync::Notify;
use tokio::time::{Instant, Sleep};

/// Limits on what clients may use of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClientLimits {
    /// Connections at once, of all clients together. Where there are that many, the one idle for longest is closed for
    /// a new one; where none is idle, the new one is refused.
    pub connections: usize,
    /// Connections at once of one address, by the same rule.
    pub per_address: usize,
    /// A client that receives nothing of its answer for this long is disconnected.
    pub stall: Duration,
    /// A connection without a complete request for this long is closed. Over XRootD: one that has not logged in by
    /// then, or has sent only the beginning of a request for this long.
    pub idle: Duration,
    /// An XRootD session, which may have files open, is closed when it sent no request for this long.
    pub idle_session: Duration,
    /// Files open at once over XRootD, of all clients together.
    pub files: usize,
    /// Files open at once over XRootD by one address.
    pub files_per_address: usize,
}

impl Default for ClientLimits {
    fn default() -> Self {
        Self {
            connections: 1024,
            per_address: 256,
            stall: Duration::from_secs(30),
            idle: Duration::from_secs(75),
            idle_session: Duration::from_secs(3600),
            files: 2048,
            files_per_address: 512,
        }
    }
}

/// All connections of a server.
pub(crate) struct Connections {
    limits: ClientLimits,
    open: Mutex<Open>,
    /// The last one has ended.
    emptied: Notify,
}

#[derive(Default)]
struct Open {
    next: u64,
    /// Connections that have not ended, including those being closed for others.
    slots: usize,
    by_number: HashMap<u64, Client>,
    /// Open files by address.
    files: HashMap<IpAddr, usize>,
}

struct Client {
    address: IpAddr,
    /// Requests in progress.
    busy: usize,
    /// Since when there is none.
    idle: Instant,
    close: Arc<Notify>,
}

impl Connections {
    pub(crate) fn new(limits: ClientLimits) -> Arc<Self> {
        Arc::new(Self { limits, open: Mutex::default(), emptied: Notify::new() })
    }

    pub(crate) fn limits(&self) -> &ClientLimits {
        &self.limits
    }

    fn lock(&self) -> MutexGuard<'_, Open> {
        lock(&self.open)
    }

    /// Waits until there is none.
    pub(crate) async fn none(&self) {
        loop {
            let emptied = self.emptied.notified();
            if self.lock().slots == 0 {
                return;
            }
            emptied.await;
        }
    }

    /// Accepts a new connection, in place of an idle one if necessary; none where there is no room.
    pub(crate) fn enter(self: &Arc<Self>, address: IpAddr) -> Option<Slot> {
        let mut open = self.lock();
        // IPv4 addresses come in both forms where the listener is IPv6.
        let address = address.to_canonical();
        let of_address = open.by_number.values().filter(|c| c.address == address).count();
        if of_address >= self.limits.per_address.max(1) {
            open.make_room(Some(address))?;
        }
        if open.by_number.len() >= self.limits.connections.max(1) {
            open.make_room(None)?;
        }
        let number = open.next;
        open.next += 1;
        open.slots += 1;
        let close = Arc::new(Notify::new());
        let client = Client { address, busy: 0, idle: Instant::now(), close: Arc::clone(&close) };
        open.by_number.insert(number, client);
        Some(Slot { number, address, close, all: Arc::clone(self) })
    }
}

impl Open {
    /// Ends the connection that has been idle for longest, of this address if one is given.
    fn make_room(&mut self, of: Option<IpAddr>) -> Option<()> {
        let candidates = self.by_number.iter().filter(|(_, c)| of.is_none_or(|a| c.address == a));
        let idle = candidates.filter(|(_, c)| c.busy == 0).map(|(number, c)| (c.idle, *number));
        let (_, number) = idle.min()?;
        self.by_number.remove(&number)?.close.notify_one();
        Some(())
    }
}

/// A connection's slot.
pub(crate) struct Slot {
    pub number: u64,
    pub address: IpAddr,
    close: Arc<Notify>,
    all: Arc<Connections>,
}

impl Slot {
    /// Waits until it has to close for another connection.
    pub(crate) async fn ended(&self) {
        self.close.notified().await;
    }

    /// A request has arrived: the connection is busy until the returned value, and those of other requests, are
    /// dropped.
    pub(crate) fn busy(self: &Arc<Self>) -> Busy {
        if let Some(client) = self.all.lock().by_number.get_mut(&self.number) {
            client.busy += 1;
        }
        Busy(Arc::clone(self))
    }

    /// A slot for an open file; none where there are too many.
    pub(crate) fn file(&self) -> Option<FilePlace> {
        let mut open = self.all.lock();
        let limits = &self.all.limits;
        let (all, of_address) = (open.files.values().sum::<usize>(), open.files.entry(self.address).or_default());
        if all >= limits.files || *of_address >= limits.files_per_address {
            return None;
        }
        *of_address += 1;
        Some(FilePlace { address: self.address, all: Arc::clone(&self.all) })
    }
}

/// An open file's slot.
pub(crate) struct FilePlace {
    address: IpAddr,
    all: Arc<Connections>,
}

impl Drop for FilePlace {
    fn drop(&mut self) {
        let mut open = self.all.lock();
        if let Some(of_address) = open.files.get_mut(&self.address) {
            *of_address -= 1;
            if *of_address == 0 {
                open.files.remove(&self.address);
            }
        }
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        let mut open = self.all.lock();
        open.by_number.remove(&self.number);
        open.slots -= 1;
        if open.slots == 0 {
            self.all.emptied.notify_waiters();
        }
    }
}

/// A request in progress.
pub(crate) struct Busy(Arc<Slot>);

impl Busy {
    /// The client's address.
    pub(crate) fn address(&self) -> IpAddr {
        self.0.address
    }

    /// The number of its connection.
    pub(crate) fn connection(&self) -> u64 {
        self.0.number
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        if let Some(client) = self.0.all.lock().by_number.get_mut(&self.0.number) {
            client.busy -= 1;
            client.idle = Instant::now();
        }
    }
}

/// A socket whose writes fail when the peer has received nothing for too long.
pub(crate) struct Watched {
    stream: TcpStream,
    stall: Duration,
    waiting: Option<Pin<Box<Sleep>>>,
}

impl Watched {
    pub(crate) fn new(stream: TcpStream, stall: Duration) -> Self {
        Self { stream, stall, waiting: None }
    }

    pub(crate) fn tcp(&self) -> &TcpStream {
        &self.stream
    }

    fn watch<T>(&mut self, polled: Poll<io::Result<T>>, context: &mut Context<'_>) -> Poll<io::Result<T>> {
        if polled.is_ready() {
            self.waiting = None;
            return polled;
        }
        let stall = self.stall;
        let waiting = self.waiting.get_or_insert_with(|| Box::pin(tokio::time::sleep(stall)));
        match waiting.as_mut().poll(context) {
            Poll::Ready(()) => Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, "the client receives nothing"))),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl AsyncRead for Watched {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for Watched {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.watch(polled, context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write_vectored(context, slices);
        self.watch(polled, context)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let polled = Pin::new(&mut self.stream).poll_flush(context);
        self.watch(polled, context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_idle_connection_makes_room() {
        let rt = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        rt.block_on(async {
            let second = Duration::from_secs(1);
            let limits = ClientLimits { connections: 3, per_address: 2, ..ClientLimits::default() };
            let all = Connections::new(limits);
            let address = |n: u8| IpAddr::from([10, 0, 0, n]);
            let enter = |n| all.enter(address(n)).map(Arc::new);
            let ended = |place: &Arc<Slot>| {
                let place = Arc::clone(place);
                async move { tokio::time::timeout(second, place.ended()).await.is_ok() }
            };
            let a = enter(1).unwrap();
            tokio::time::advance(second).await;
            let b = enter(1).unwrap();
            tokio::time::advance(second).await;
            let busy = a.busy();
            let c = enter(1).unwrap();
            assert!(ended(&b).await && !ended(&a).await, "b was idle, a is not");
            let _c_busy = c.busy();
            assert!(enter(1).is_none(), "nobody of this address is idle");
            let d = enter(2).unwrap();
            tokio::time::advance(second).await;
            drop(busy);
            tokio::time::advance(second).await;
            let _e = enter(3).unwrap();
            assert!(ended(&d).await && !ended(&a).await, "d was idle for longer than a");
            let v6 = all.enter("::ffff:10.0.0.1".parse().unwrap());
            assert!(v6.is_some() && ended(&a).await, "the same address in another form");
        });
    }
}
