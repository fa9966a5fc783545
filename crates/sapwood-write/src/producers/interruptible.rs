//! A connection on which waits can be interrupted by a callback.

use super::TICK;
use super::peer::Peer;
use sapwood_span::sync::lock;
use std::fmt;
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

/// Whether to continue.
pub(super) type GoOn = dyn FnMut() -> bool + Send;

/// One end of a connection, for reading or for writing.
pub(super) struct InterruptibleStream {
    stream: UnixStream,
    shared: Arc<Shared>,
}

struct Shared {
    peer: Peer,
    go_on: Mutex<Option<Box<GoOn>>>,
    /// Nothing is read or written any more: the byte stream may be broken anywhere.
    over: AtomicBool,
}

/// The error of an abandoned connection.
#[derive(Debug)]
struct GivenUp;

impl fmt::Display for GivenUp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the connection was abandoned")
    }
}

impl std::error::Error for GivenUp {}

impl InterruptibleStream {
    /// Two handles of one connection, for reading and for writing.
    pub(super) fn pair(stream: UnixStream) -> io::Result<(Self, Self)> {
        stream.set_read_timeout(Some(TICK))?;
        stream.set_write_timeout(Some(TICK))?;
        let peer = Peer::of(&stream);
        let shared = Arc::new(Shared { peer, go_on: Mutex::default(), over: AtomicBool::new(false) });
        Ok((Self { stream: stream.try_clone()?, shared: shared.clone() }, Self { stream, shared }))
    }

    /// Calls `go_on` whenever nothing moves for a while; for both.
    pub(super) fn set_interrupt(&self, go_on: Box<GoOn>) {
        *lock(&self.shared.go_on) = Some(go_on);
    }

    /// Ends it; for both.
    pub(super) fn give_up(&self) {
        self.shared.over.store(true, Ordering::SeqCst);
    }

    /// Whether this is the error of an abandoned connection.
    pub(super) fn gave_up(e: &io::Error) -> bool {
        e.get_ref().is_some_and(|e| e.is::<GivenUp>())
    }

    /// Runs `work` until something moves.
    fn wait(&self, mut work: impl FnMut(&UnixStream) -> io::Result<usize>) -> io::Result<usize> {
        loop {
            if self.shared.over.load(Ordering::SeqCst) {
                return Err(io::Error::other(GivenUp));
            }
            match work(&self.stream) {
                Err(e) if matches!(e.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {
                    if self.shared.peer.is_gone() {
                        return Err(io::ErrorKind::ConnectionReset.into());
                    }
                    let mut go_on = lock(&self.shared.go_on);
                    if go_on.as_mut().is_some_and(|go_on| !go_on()) {
                        self.give_up();
                    }
                }
                done => return done,
            }
        }
    }
}

impl Read for InterruptibleStream {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.wait(|mut stream| stream.read(into))
    }
}

impl Write for InterruptibleStream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.wait(|mut stream| stream.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU32;

    #[test]
    fn who_waits_is_asked_and_can_give_up() {
        let (here, mut there) = UnixStream::pair().unwrap();
        let (mut from, mut to) = InterruptibleStream::pair(here).unwrap();
        let asked = Arc::new(AtomicU32::new(0));
        let seen = asked.clone();
        let go_on = Box::new(move || seen.fetch_add(1, Ordering::SeqCst) % 3 < 2);
        from.set_interrupt(go_on);
        // available bytes are not waited for
        there.write_all(b"ab").unwrap();
        let mut bytes = [0; 2];
        from.read_exact(&mut bytes).unwrap();
        assert_eq!((&bytes, asked.load(Ordering::SeqCst)), (b"ab", 0));
        // the other end does not read
        let e = to.write_all(&vec![0; 10 << 20]).unwrap_err();
        assert!(InterruptibleStream::gave_up(&e), "{e}");
        assert_eq!(asked.load(Ordering::SeqCst), 3);
        // then it is over for both directions, at once
        assert!(InterruptibleStream::gave_up(&from.read(&mut bytes).unwrap_err()));
        assert!(InterruptibleStream::gave_up(&to.write(b"x").unwrap_err()));
        assert_eq!(asked.load(Ordering::SeqCst), 3);
    }
}
