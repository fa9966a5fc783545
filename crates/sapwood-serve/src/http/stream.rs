//! An answer's body, sent piece by piece.

use crate::buffers::PIECE;
use crate::connections::Busy;
use crate::exchange::Exchange;
use crate::files::OpenFile;
use crate::wan::Window;
use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};
use sapwood_span::Span;
use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::sync::{Mutex, OwnedSemaphorePermit, Semaphore, mpsc};

/// Bytes read and sent at a time where there is no room for more, and at first: a short answer needs no more.
const SHORT: u64 = 64 << 10;

/// A part of an answer's body.
pub(crate) enum BodyPart {
    Bytes(Bytes),
    File(Span),
}

impl BodyPart {
    /// Its span in the file, if it is from the file.
    pub(super) fn span(&self) -> Option<Span> {
        match self {
            Self::Bytes(_) => None,
            Self::File(span) => Some(*span),
        }
    }

    /// Its first bytes, at most `at`, and what follows them.
    pub(super) fn split(self, at: u64) -> (Option<Self>, Option<Self>) {
        if at == 0 {
            return (None, Some(self));
        }
        if at >= self.len() {
            return (Some(self), None);
        }
        match self {
            Self::Bytes(mut bytes) => {
                let first = bytes.split_to(at as usize);
                (Some(Self::Bytes(first)), Some(Self::Bytes(bytes)))
            }
            Self::File(span) => {
                let rest = Span::new(span.start + at, span.len - at);
                (Some(Self::File(Span::new(span.start, at))), Some(Self::File(rest)))
            }
        }
    }

    pub(super) fn len(&self) -> u64 {
        match self {
            Self::Bytes(bytes) => bytes.len() as u64,
            Self::File(span) => span.len,
        }
    }
}

/// Resources needed to send a body.
pub(super) struct Sending {
    /// The source of the file's bytes.
    pub file: Option<Arc<dyn OpenFile>>,
    pub window: Arc<Mutex<Window>>,
    /// Room for long pieces in memory, of all connections together.
    pub room: Arc<Semaphore>,
}

/// A body that is read while it is sent: a piece is read while the previous one is in flight. An error in it, such as a
/// file that changed meanwhile, closes the connection: the client sees that something is missing.
pub(crate) struct Streamed {
    /// Reads and passes on, as far as there is room; none when it has ended. It runs only while it is polled, and is
    /// dropped with the file as soon as the client has gone.
    reading: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
    chunks: mpsc::Receiver<io::Result<Bytes>>,
    left: u64,
    exchange: Exchange,
    _busy: Busy,
}

impl Streamed {
    /// Starts to send these pieces, as the window permits.
    pub(super) fn begin(pieces: VecDeque<BodyPart>, sending: Sending, busy: Busy, exchange: Exchange) -> Self {
        let left = pieces.iter().map(BodyPart::len).sum();
        let (sender, chunks) = mpsc::channel(1);
        Self { reading: Some(Box::pin(read(pieces, sending, sender))), chunks, left, exchange, _busy: busy }
    }
}

/// A piece, and its room in memory.
struct Kept {
    bytes: Bytes,
    _room: OwnedSemaphorePermit,
}

impl AsRef<[u8]> for Kept {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

async fn read(mut pieces: VecDeque<BodyPart>, sending: Sending, sender: mpsc::Sender<io::Result<Bytes>>) {
    let mut window = sending.window.lock().await;
    let mut is_first = true;
    let mut all = pieces.iter().map(BodyPart::len).sum();
    while let Some(next) = pieces.front().filter(|_| all > 0) {
        let left = next.len();
        // Simulated distant servers send short pieces.
        let long = !is_first && left > SHORT && !window.is_played();
        let room = long.then(|| Arc::clone(&sending.room).try_acquire_owned().ok()).flatten();
        let len = window.grant(if room.is_some() { left.min(PIECE) } else { SHORT.min(all) }).await;
        all -= len;
        let parts = first(&mut pieces, len);
        is_first = is_first && parts.iter().all(|part| part.span().is_none());
        let chunk = match (joined(parts, sending.file.as_deref()).await, room) {
            (Ok(bytes), Some(room)) => Ok(Bytes::from_owner(Kept { bytes, _room: room })),
            (chunk, _) => chunk,
        };
        let failed = chunk.is_err();
        if sender.send(chunk).await.is_err() || failed {
            return;
        }
    }
}

/// Takes the first bytes of a body.
fn first(pieces: &mut VecDeque<BodyPart>, len: u64) -> Vec<BodyPart> {
    let (mut parts, mut left) = (Vec::new(), len);
    while left > 0 {
        let Some(piece) = pieces.pop_front() else { break };
        let (part, rest) = piece.split(left);
        if let Some(rest) = rest {
            pieces.push_front(rest);
        }
        left -= part.as_ref().map_or(0, BodyPart::len);
        parts.extend(part);
    }
    parts
}

/// The bytes of some parts. Many short ranges are read at once, as a disk is waited for in another thread.
async fn joined(parts: Vec<BodyPart>, file: Option<&dyn OpenFile>) -> io::Result<Bytes> {
    let spans: Vec<Span> = parts.iter().filter_map(BodyPart::span).collect();
    let mut read = match file {
        _ if spans.is_empty() => Vec::new(),
        Some(file) => file.read(spans).await.map_err(io::Error::other)?,
        None => return Err(io::Error::other("no file")),
    }
    .into_iter();
    let mut all: Vec<Bytes> = Vec::with_capacity(parts.len());
    for part in parts {
        match part {
            BodyPart::Bytes(bytes) => all.push(bytes),
            BodyPart::File(span) => {
                let bytes = read.next().filter(|bytes| bytes.len() as u64 == span.len);
                all.push(bytes.ok_or_else(|| io::Error::other("reading failed"))?);
            }
        }
    }
    Ok(if all.len() == 1 { all.remove(0) } else { all.concat().into() })
}

impl Body for Streamed {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        // First what has arrived; meanwhile, what comes next.
        let mut polled = self.chunks.poll_recv(context);
        if let Some(reading) = &mut self.reading
            && reading.as_mut().poll(context).is_ready()
        {
            self.reading = None;
        }
        if polled.is_pending() {
            polled = self.chunks.poll_recv(context);
        }
        polled.map(|chunk| {
            Some(chunk?.map(|bytes| {
                self.left = self.left.saturating_sub(bytes.len() as u64);
                self.exchange.sent(bytes.len() as u64);
                Frame::data(bytes)
            }))
        })
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left)
    }
}
