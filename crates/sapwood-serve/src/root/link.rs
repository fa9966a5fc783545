//! The sending side of a connection: whole frames in sequence.

use crate::connections::{Busy, Slot};
use crate::error::FilesError;
use crate::tls::Stream;
use crate::wan::Window;
use bytes::Bytes;
use sapwood_xrd::code::status;
use sapwood_xrd::frame::reply_head;
use sapwood_xrd::reply::Failure;
use std::io::{self, IoSlice};
use std::iter;
use std::sync::Arc;
use tokio::io::{AsyncWriteExt, WriteHalf};
use tokio::sync::{Mutex, MutexGuard, Notify, Semaphore, SemaphorePermit};

/// Bytes sent at a time.
const CHUNK: u64 = 64 << 10;
/// Frames in memory at once: one that is sent, and the next one that is read meanwhile.
const FRAMES: usize = 2;

/// The client has gone, or receives nothing.
#[derive(Debug)]
pub(crate) struct Gone;

impl From<io::Error> for Gone {
    fn from(_: io::Error) -> Self {
        Self
    }
}

/// One connection, as seen by the code that answers.
pub(crate) struct Link {
    writer: Mutex<Writer>,
    /// For frames in memory.
    room: Semaphore,
    /// Nothing more can be sent.
    lost: Notify,
    slot: Arc<Slot>,
    /// It is encrypted.
    pub is_secure: bool,
}

struct Writer {
    half: WriteHalf<Stream>,
    window: Window,
    /// A frame is incomplete: what follows would be read as its rest.
    midway: bool,
}

impl Link {
    pub(super) fn new(half: WriteHalf<Stream>, window: Window, slot: Arc<Slot>, is_secure: bool) -> Self {
        let writer = Mutex::new(Writer { half, window, midway: false });
        Self { writer, room: Semaphore::new(FRAMES), lost: Notify::new(), slot, is_secure }
    }

    /// Stops sending.
    pub(super) fn close(&self) {
        self.lost.notify_one();
    }

    /// Waits until nothing more can be sent.
    pub(super) async fn lost(&self) {
        self.lost.notified().await;
    }

    /// A request is in progress that will be answered here.
    pub(super) fn busy(&self) -> Busy {
        self.slot.busy()
    }

    /// Waits until there is room for another frame in memory; keep the permit until it is sent.
    pub(super) async fn room(&self) -> Result<SemaphorePermit<'_>, Gone> {
        self.room.acquire().await.map_err(|_| Gone)
    }

    /// Starts a frame; others wait until it has ended.
    pub(super) async fn frame(&self) -> Result<Frame<'_>, Gone> {
        let mut writer = self.writer.lock().await;
        if std::mem::replace(&mut writer.midway, true) {
            return Err(Gone);
        }
        Ok(Frame { writer, lost: &self.lost })
    }

    /// Sends a whole frame.
    pub(super) async fn send(&self, head: &[u8], data: &[Bytes]) -> Result<(), Gone> {
        let mut frame = self.frame().await?;
        frame.write_all(head, data).await?;
        frame.end().await
    }

    /// Sends a reply that fits into one frame.
    pub(super) async fn reply(&self, stream: u16, status: u16, body: &[u8]) -> Result<(), Gone> {
        let mut out = Vec::with_capacity(body.len() + 8);
        out.extend(reply_head(stream, status, body.len() as u32));
        out.extend(body);
        self.send(&out, &[]).await
    }

    /// The request succeeded, with an empty answer.
    pub(super) async fn done(&self, stream: u16) -> Result<(), Gone> {
        self.reply(stream, status::OK, b"").await
    }

    /// The request was refused.
    pub(super) async fn fail(&self, stream: u16, failure: &Failure) -> Result<(), Gone> {
        self.reply(stream, status::ERROR, &failure.encode()).await
    }
}

/// A frame being sent. If dropped before its end, it ends the connection.
pub(crate) struct Frame<'a> {
    writer: MutexGuard<'a, Writer>,
    lost: &'a Notify,
}

impl Frame<'_> {
    /// Sends some of it, as the window permits.
    pub(super) async fn write(&mut self, bytes: &[u8]) -> Result<(), Gone> {
        let mut left = bytes;
        while !left.is_empty() {
            let len = self.writer.window.grant(CHUNK.min(left.len() as u64)).await;
            let (now, rest) = left.split_at(usize::try_from(len).unwrap_or(left.len()).min(left.len()));
            self.writer.half.write_all(now).await?;
            left = rest;
        }
        Ok(())
    }

    /// Sends a head and its data, without a system call for each.
    pub(super) async fn write_all(&mut self, head: &[u8], data: &[Bytes]) -> Result<(), Gone> {
        if self.writer.window.is_played() {
            self.write(head).await?;
            for bytes in data {
                self.write(bytes).await?;
            }
            return Ok(());
        }
        let mut slices: Vec<IoSlice<'_>> =
            iter::once(head).chain(data.iter().map(|b| &b[..])).map(IoSlice::new).collect();
        let mut left = slices.as_mut_slice();
        // Removes empty slices in front.
        IoSlice::advance_slices(&mut left, 0);
        while !left.is_empty() {
            let sent = self.writer.half.write_vectored(left).await?;
            if sent == 0 {
                return Err(Gone);
            }
            IoSlice::advance_slices(&mut left, sent);
        }
        Ok(())
    }

    /// All of it has been sent.
    pub(super) async fn end(mut self) -> Result<(), Gone> {
        // TLS may have buffered some of it.
        self.writer.half.flush().await?;
        self.writer.midway = false;
        Ok(())
    }
}

impl Drop for Frame<'_> {
    fn drop(&mut self) {
        if self.writer.midway {
            self.lost.notify_one();
        }
    }
}

/// The error for clients when files cannot be served.
pub(crate) fn failure(error: &FilesError) -> Failure {
    refuse(error.root_number(), &error.to_string())
}

pub(crate) fn refuse(number: u32, message: &str) -> Failure {
    Failure { number, message: message.to_owned() }
}
