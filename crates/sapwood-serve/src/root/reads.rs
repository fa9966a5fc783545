//! Answers that bring bytes of files.

use super::link::{Gone, failure, refuse};
use super::reply::Reply;
use crate::error::FilesError;
use crate::files::OpenFile;
use bytes::Bytes;
use sapwood_span::Span;
use sapwood_xrd::answer::{frames, page_frames, page_head, range_head, vector_frames};
use sapwood_xrd::code::{PAGE, error, status};
use sapwood_xrd::frame::reply_head;
use sapwood_xrd::{CHUNK, Chunk, encode_pages};
use std::sync::Arc;

/// Data of a frame at most, where the protocol leaves the choice: what is held in memory of an answer. A multiple of
/// the page.
pub(super) const FRAME: u64 = 128 << 10;
const _: () = assert!(FRAME.is_multiple_of(PAGE));

/// The existing part of a range that may reach beyond the end of the file.
pub(super) fn inside(file: &dyn OpenFile, offset: u64, len: u32) -> Span {
    let size = file.size();
    let start = offset.min(size);
    Span::new(start, u64::from(len).min(size - start))
}

async fn one(file: &dyn OpenFile, span: Span) -> Result<Bytes, FilesError> {
    let mut bytes = file.read(vec![span]).await?;
    bytes.pop().ok_or_else(|| FilesError::Failed("nothing was read".to_owned()))
}

/// Answers a read.
pub(super) async fn read(mut reply: Reply, file: &dyn OpenFile, span: Span) -> Result<(), Gone> {
    if span.len == 0 {
        return reply.done().await;
    }
    file.expect(&[span]);
    for (piece, last) in frames(span, FRAME) {
        let link = Arc::clone(&reply.link);
        let _room = link.room().await?;
        match one(file, piece).await {
            Ok(bytes) => {
                let status = if last { status::OK } else { status::OKSOFAR };
                reply.data(status, bytes).await?;
            }
            Err(e) => return reply.fail(&failure(&e)).await,
        }
    }
    Ok(())
}

/// Answers a page read.
pub(super) async fn page_read(mut reply: Reply, file: &dyn OpenFile, span: Span) -> Result<(), Gone> {
    if span.len == 0 {
        return reply.frame(&page_head(reply.stream, true, span.start, 0), &[]).await;
    }
    file.expect(&[span]);
    for (piece, last) in page_frames(span, FRAME) {
        let link = Arc::clone(&reply.link);
        let _room = link.room().await?;
        match one(file, piece).await {
            Ok(bytes) => {
                let coded = Bytes::from(encode_pages(piece.start, &bytes));
                let head = page_head(reply.stream, last, piece.start, coded.len() as u32);
                reply.frame(&head, &[coded]).await?;
            }
            Err(e) => return reply.fail(&failure(&e)).await,
        }
    }
    Ok(())
}

/// A range of a vector read and its file.
pub(super) type Wanted = (Chunk, Arc<dyn OpenFile>);

/// Answers a vector read. The ranges are inside their files.
pub(super) async fn vector_read(mut reply: Reply, wanted: &[Wanted]) -> Result<(), Gone> {
    expect(wanted);
    let chunks: Vec<Chunk> = wanted.iter().map(|(chunk, _)| *chunk).collect();
    let plan = vector_frames(&chunks, FRAME as usize);
    let many = plan.len();
    for (i, range) in plan.into_iter().enumerate() {
        let status = if i + 1 == many { status::OK } else { status::OKSOFAR };
        let these = wanted.get(range).unwrap_or_default();
        let link = Arc::clone(&reply.link);
        let _room = link.room().await?;
        let sent = match these {
            [(chunk, file)] if u64::from(chunk.len) > FRAME => long_range(&mut reply, status, chunk, &**file).await,
            _ => short_ranges(&mut reply, status, these).await,
        };
        match sent {
            Ok(()) => {}
            Err(Unsent::Gone) => return Err(Gone),
            Err(Unsent::Failed(e)) => return reply.fail(&failure(&e)).await,
        }
    }
    if many == 0 {
        return reply.fail(&refuse(error::ARG_INVALID, "an empty vector read")).await;
    }
    Ok(())
}

enum Unsent {
    Gone,
    Failed(FilesError),
}

impl From<Gone> for Unsent {
    fn from(_: Gone) -> Self {
        Self::Gone
    }
}

impl From<FilesError> for Unsent {
    fn from(error: FilesError) -> Self {
        Self::Failed(error)
    }
}

/// Announces to each file what will be read of it.
fn expect(wanted: &[Wanted]) {
    for same in wanted.chunk_by(|(a, _), (b, _)| a.handle == b.handle) {
        let spans: Vec<Span> = same.iter().map(|(c, _)| Span::new(c.offset, c.len.into())).collect();
        if let Some((_, file)) = same.first() {
            file.expect(&spans);
        }
    }
}

/// A frame of several ranges, or of a short one: read before it is started.
async fn short_ranges(reply: &mut Reply, status: u16, wanted: &[Wanted]) -> Result<(), Unsent> {
    let mut body = Vec::with_capacity(wanted.iter().map(|(c, _)| CHUNK + c.len as usize).sum());
    for same in wanted.chunk_by(|(a, _), (b, _)| a.handle == b.handle) {
        let Some((_, file)) = same.first() else { continue };
        let spans = same.iter().map(|(c, _)| Span::new(c.offset, c.len.into())).collect();
        for ((chunk, _), bytes) in same.iter().zip(file.read(spans).await?) {
            body.extend(range_head(chunk));
            body.extend(&bytes);
        }
    }
    Ok(reply.data(status, body.into()).await?)
}

/// A frame of one long range: read while it is sent. Clients accept no part of a range in a frame, and the whole would
/// need much memory. If it cannot be read to its end, the connection ends: an error cannot be sent in the middle of a
/// frame.
async fn long_range(reply: &mut Reply, status: u16, chunk: &Chunk, file: &dyn OpenFile) -> Result<(), Unsent> {
    let mut pieces = frames(Span::new(chunk.offset, chunk.len.into()), FRAME);
    let Some((first, _)) = pieces.next() else { return Ok(()) };
    let bytes = one(file, first).await?;
    let link = Arc::clone(&reply.link);
    let mut frame = link.frame().await?;
    frame.write(&reply_head(reply.stream, status, CHUNK as u32 + chunk.len)).await?;
    frame.write(&range_head(chunk)).await?;
    frame.write(&bytes).await?;
    reply.sent(bytes.len() as u64);
    for (piece, _) in pieces {
        let Ok(bytes) = one(file, piece).await else { return Err(Unsent::Gone) };
        frame.write(&bytes).await?;
        reply.sent(bytes.len() as u64);
    }
    Ok(frame.end().await?)
}
