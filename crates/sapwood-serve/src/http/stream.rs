//! An answer's body, sent piece by piece.

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
use tokio::sync::{Mutex, mpsc};

/// Bytes read and sent at a time.
const CHUNK: u64 = 64 << 10;

/// A stretch of an answer's body.
pub(crate) enum BodyPart {
    Bytes(Bytes),
    File(Span),
}

impl BodyPart {
    pub fn len(&self) -> u64 {
        match self {
            Self::Bytes(bytes) => bytes.len() as u64,
            Self::File(span) => span.len,
        }
    }
}

/// A body that another task fills. An error in it, such as a file that changed meanwhile, closes the connection: the client
/// sees that something is missing.
pub(crate) struct Streamed {
    chunks: mpsc::Receiver<io::Result<Bytes>>,
    left: u64,
    exchange: Exchange,
    _busy: Busy,
}

impl Streamed {
    /// Begins to send these pieces, as the window grants it; ends when the client has gone.
    pub fn begin(
        pieces: VecDeque<BodyPart>,
        file: Option<Arc<dyn OpenFile>>,
        window: Arc<Mutex<Window>>,
        busy: Busy,
        exchange: Exchange,
    ) -> Self {
        let left = pieces.iter().map(BodyPart::len).sum();
        if let Some(file) = &file {
            let spans = pieces.iter().filter_map(|piece| match piece {
                BodyPart::File(span) => Some(*span),
                BodyPart::Bytes(_) => None,
            });
            file.expect(&spans.collect::<Vec<_>>());
        }
        let (sender, chunks) = mpsc::channel(2);
        tokio::spawn(send(pieces, file, window, sender));
        Self { chunks, left, exchange, _busy: busy }
    }
}

async fn send(
    pieces: VecDeque<BodyPart>,
    file: Option<Arc<dyn OpenFile>>,
    window: Arc<Mutex<Window>>,
    sender: mpsc::Sender<io::Result<Bytes>>,
) {
    let mut window = window.lock().await;
    for piece in pieces {
        let mut at = 0;
        while at < piece.len() {
            let len = window.grant(CHUNK.min(piece.len() - at)).await;
            let chunk = match (&piece, &file) {
                (BodyPart::Bytes(bytes), _) => Ok(bytes.slice(at as usize..(at + len) as usize)),
                (BodyPart::File(span), Some(opened)) => {
                    let read = opened.read(vec![Span::new(span.start + at, len)]);
                    let read = tokio::select! {
                        read = read => read,
                        // Nobody waits for it any more.
                        () = sender.closed() => return,
                    };
                    read.map(|mut bytes| bytes.pop().unwrap_or_default()).map_err(io::Error::other)
                }
                (BodyPart::File(_), None) => Err(io::Error::other("no file")),
            };
            let failed = chunk.is_err();
            if sender.send(chunk).await.is_err() || failed {
                return;
            }
            at += len;
        }
    }
}

impl Body for Streamed {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        let polled = self.chunks.poll_recv(context);
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
