//! The HTTP version in an answer.

use crate::tls::Stream;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// What hyper answers HTTP/1.0 with.
const OLD: &[u8] = b"HTTP/1.0";
const OWN: &[u8] = b"HTTP/1.1";

/// A connection whose first answer has HTTP/1.1, the version of this server, also where a client's request has HTTP/1.0
/// (RFC 9110, section 6.2). Clients learn from it what they may use: ROOT's `TWebFile` sends its first request by
/// HTTP/1.0, and opens a connection for every later request to a server that answers with HTTP/1.0.
pub(crate) struct OwnVersion {
    stream: Stream,
    /// Bytes written, as far as they matter.
    written: usize,
    is_old: bool,
}

impl OwnVersion {
    pub(super) fn new(stream: Stream) -> Self {
        Self { stream, written: 0, is_old: false }
    }

    /// These bytes with the server's own version; none where nothing has to be changed.
    fn changed(&mut self, bytes: &[u8]) -> Option<Vec<u8>> {
        if self.written >= OLD.len() {
            return None;
        }
        if self.written == 0 {
            self.is_old = bytes.starts_with(OLD);
        }
        if !self.is_old {
            return None;
        }
        let mut changed = bytes.to_vec();
        changed.iter_mut().zip(OWN.iter().skip(self.written)).for_each(|(byte, own)| *byte = *own);
        Some(changed)
    }

    fn wrote(&mut self, polled: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        if let Poll::Ready(Ok(n)) = &polled {
            self.written = self.written.saturating_add(*n);
        }
        polled
    }
}

impl AsyncRead for OwnVersion {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for OwnVersion {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let changed = self.changed(bytes);
        let polled = Pin::new(&mut self.stream).poll_write(context, changed.as_deref().unwrap_or(bytes));
        self.wrote(polled)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let changed = slices.first().and_then(|first| self.changed(first));
        let polled = match &changed {
            Some(first) => {
                let rest = slices.iter().skip(1).map(|slice| IoSlice::new(slice));
                let all: Vec<IoSlice<'_>> = std::iter::once(IoSlice::new(first)).chain(rest).collect();
                Pin::new(&mut self.stream).poll_write_vectored(context, &all)
            }
            None => Pin::new(&mut self.stream).poll_write_vectored(context, slices),
        };
        self.wrote(polled)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
