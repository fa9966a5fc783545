//! A producer's connection to a merger in another process.

use super::interruptible::{GoOn, InterruptibleStream};
use super::wire::{self, BAD, END, GOOD, MAGIC, VERSION};
use super::{Gathered, Schema};
use sapwood_span::{Error, ErrorKind, Result};
use std::io::{self, BufWriter, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;

/// Bytes buffered before they are sent.
const BUFFER: usize = 256 << 10;
/// Bytes that a schema can have.
const LONGEST_SCHEMA: u64 = 1 << 30;

/// The connection to a merger.
pub(super) struct Line {
    to: BufWriter<InterruptibleStream>,
    from: InterruptibleStream,
    /// Whether an answer is pending.
    waiting: bool,
    share: usize,
}

fn gone(e: io::Error) -> Error {
    if InterruptibleStream::gave_up(&e) {
        return Error::new(ErrorKind::Interrupted, "interrupted while waiting for the merger")
            .with_remedy("create a new producer and write the entries that were not sent again");
    }
    let error = if wire::is_gone(&e) {
        Error::new(ErrorKind::Io, "the merger's process ended or closed the connection")
    } else {
        Error::io("the connection to the merger failed", e)
    };
    error.with_remedy("keep the file open until all producers have finished")
}

impl Line {
    /// Connects to the merger; returns the schema of what it writes.
    pub(super) fn open(address: &Path) -> Result<(Self, Schema)> {
        let called = UnixStream::connect(address).and_then(InterruptibleStream::pair);
        let (from, to) = called.map_err(|e| {
            Error::io(format!("no merger is listening at {}", address.display()), e)
                .with_remedy("start producers while the merger is open")
        })?;
        let mut line = Self { to: BufWriter::with_capacity(BUFFER, to), from, waiting: false, share: super::LEAST };
        let schema = line.greet().map_err(|e| match e.kind() {
            io::ErrorKind::InvalidData => Error::unsupported("the merger uses another version of this protocol")
                .with_remedy("use the same version of Sapwood in all processes"),
            _ => gone(e),
        })?;
        Ok((line, schema))
    }

    fn greet(&mut self) -> io::Result<Schema> {
        self.to.write_all(&MAGIC)?;
        self.to.write_all(&VERSION.to_le_bytes())?;
        wire::put_u32(&mut self.to, std::process::id() as usize)?;
        self.to.flush()?;
        let mut magic = [0; 4];
        self.from.read_exact(&mut magic)?;
        let (version, len) = (wire::get_u32(&mut self.from)?, wire::get_u64(&mut self.from)?);
        if magic != MAGIC || version != VERSION as usize || len > LONGEST_SCHEMA {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let mut bytes = Vec::new();
        wire::get_bytes(&mut self.from, len, &mut bytes)?;
        self.share = wire::get_u64(&mut self.from)? as usize;
        wire::schema(&bytes)
    }

    /// Sets a callback for waits for the merger.
    pub(super) fn set_interrupt(&mut self, go_on: Box<GoOn>) {
        self.from.set_interrupt(go_on);
    }

    /// Nothing more is sent.
    pub(super) fn give_up(&mut self) {
        self.from.give_up();
    }

    /// Bytes that may be held.
    pub(super) fn share(&self) -> usize {
        self.share
    }

    /// Sends a piece, once the previous one is in the tree.
    pub(super) fn give(&mut self, gathered: &Gathered) -> Result<()> {
        self.answer()?;
        let sent = wire::put_piece(&mut self.to, gathered);
        self.waiting = true;
        // the merger's answer to it says more than a broken connection
        sent.or_else(|e| self.answer().and(Err(gone(e))))
    }

    /// Announces the end, and waits until everything is in the tree.
    pub(super) fn end(&mut self) -> Result<()> {
        self.answer()?;
        self.to.write_all(&[END]).and_then(|()| self.to.flush()).map_err(gone)?;
        self.waiting = true;
        self.answer()
    }

    /// Waits for the merger's answer to what was sent.
    fn answer(&mut self) -> Result<()> {
        if !std::mem::take(&mut self.waiting) {
            return Ok(());
        }
        let said = |from: &mut InterruptibleStream| match wire::get_u8(from)? {
            GOOD => Ok(Ok(wire::get_u64(from)? as usize)),
            BAD => Ok(Err(wire::get_text(from)?)),
            _ => Err(io::ErrorKind::InvalidData.into()),
        };
        match said(&mut self.from).map_err(gone)? {
            Ok(share) => {
                self.share = share;
                Ok(())
            }
            Err(what) => Err(Error::io("the merger could not write", io::Error::other(what))),
        }
    }
}
