//! Another server takes over: what it has must be the file that was opened.

use super::client::Place;
use super::conn::{Conn, Take};
use super::file::XrdFile;
use super::opening::{Along, Fate, Opened, open_on, settle};
use crate::assemble::Piece;
use crate::counters::Counters;
use crate::lock;
use sapwood_span::{Error, ErrorKind, Span};
use sapwood_xrd::{Outcome, Request};
use std::sync::{Arc, Mutex};

impl XrdFile {
    /// Opens the file on a server that nothing is known of, and reads its first bytes in the same flight.
    ///
    /// # Errors
    /// `Corrupt` where the size or the first bytes are others; what opening and reading meet.
    pub(super) async fn open_replica(&self, place: &Place, conn: Arc<Conn>) -> Result<Opened, Fate> {
        let (client, counters) = (&self.client, self.client.counters());
        let Some(span) = self.beginning.span() else {
            let opened = open_on(client, place, conn, &Vec::new as Along).await?;
            self.version.compare("", &opened.stat).map_err(Fate::Fatal)?;
            return Ok(opened);
        };
        let came: Arc<Mutex<Vec<Piece>>> = Arc::default();
        let ask = |handle| {
            Counters::add(&counters.requests, 1);
            Counters::add(&counters.ranges, 1);
            lock(&came).clear();
            let (kept, wire) = (Arc::clone(&came), Arc::clone(counters));
            let take: Take = Arc::new(move |offset, bytes| {
                Counters::add(&wire.wire, bytes.len() as u64);
                lock(&kept).push(Piece { offset, bytes });
            });
            let len = u32::try_from(span.len).unwrap_or(u32::MAX >> 1);
            (Request::Read { handle, offset: span.start, len, path_id: 0 }, take)
        };
        let along = || vec![ask([0; 4])];
        let mut opened = open_on(client, place, Arc::clone(&conn), &along as Along).await?;
        self.version.compare("", &opened.stat).map_err(Fate::Fatal)?;
        match opened.reads.pop() {
            // the file has another handle than was guessed
            Some(Ok(Outcome::Unread)) | None => {
                let (request, take) = ask(opened.handle);
                settle(conn.ask(&request, Some(take), counters).get().await)?;
            }
            Some(read) => drop(settle(read)?),
        }
        if !self.beginning.is(&joined(&lock(&came), span)) {
            let what = format!("{} has another file of this name and size: its first bytes differ", place.url.server());
            let error = Error::new(ErrorKind::Corrupt, what);
            return Err(Fate::Fatal(error.with_remedy("its replicas are not the same file: tell whoever keeps them")));
        }
        Ok(opened)
    }
}

/// The bytes of a span, as far as they came without a gap.
fn joined(pieces: &[Piece], span: Span) -> Vec<u8> {
    let mut out = Vec::new();
    for piece in pieces {
        if piece.offset == span.start + out.len() as u64 {
            out.extend_from_slice(&piece.bytes);
        }
    }
    out
}
