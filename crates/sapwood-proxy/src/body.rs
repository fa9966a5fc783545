use crate::pace::Window;
use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};
use sapwood_span::Span;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::sync::{Mutex, mpsc};
use tokio::time::Instant;

/// Bytes handed over at once.
const CHUNK: u64 = 16 << 10;

/// A piece of an answer.
pub(crate) enum Piece {
    Memory(Bytes),
    File(Span),
}

impl Piece {
    fn len(&self) -> u64 {
        match self {
            Piece::Memory(b) => b.len() as u64,
            Piece::File(s) => s.len,
        }
    }
}

/// An answer's body, sent no faster than the link allows.
pub(crate) struct Paced {
    chunks: mpsc::Receiver<std::io::Result<Bytes>>,
    left: u64,
}

impl Paced {
    /// A body without bytes.
    pub fn empty() -> Self {
        Self { chunks: mpsc::channel(1).1, left: 0 }
    }

    /// Starts sending these pieces, the first after `delay` is over.
    pub fn send(pieces: Vec<Piece>, file: Option<Arc<File>>, window: Arc<Mutex<Window>>) -> Self {
        let left = pieces.iter().map(Piece::len).sum();
        let (send, chunks) = mpsc::channel(4);
        tokio::spawn(async move {
            let mut window = window.lock().await;
            window.begin();
            for piece in pieces {
                let mut at = 0;
                while at < piece.len() {
                    let n = CHUNK.min(piece.len() - at);
                    let chunk = match (&piece, &file) {
                        (Piece::Memory(b), _) => Ok(b.slice(at as usize..(at + n) as usize)),
                        (Piece::File(span), Some(file)) => {
                            let mut buffer = vec![0; n as usize];
                            file.read_exact_at(&mut buffer, span.start + at).map(|()| Bytes::from(buffer))
                        }
                        (Piece::File(_), None) => Err(std::io::Error::other("no file")),
                    };
                    let failed = chunk.is_err();
                    // a receiver that is gone is a client that hung up
                    if send.send(chunk).await.is_err() || failed {
                        return;
                    }
                    if let Some(until) = window.send(n as usize) {
                        tokio::time::sleep_until(Instant::from_std(until)).await;
                    }
                    at += n;
                }
            }
        });
        Self { chunks, left }
    }
}

impl Body for Paced {
    type Data = Bytes;
    type Error = std::io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, Self::Error>>> {
        self.chunks.poll_recv(cx).map(|next| {
            let chunk = next?;
            if let Ok(b) = &chunk {
                self.left -= b.len() as u64;
            }
            Some(chunk.map(Frame::data))
        })
    }

    fn is_end_stream(&self) -> bool {
        self.left == 0
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left)
    }
}
