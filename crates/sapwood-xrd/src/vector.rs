//! The data of a vector read's reply, as they arrive: before each range a header that repeats the request.

use crate::cursor::Cursor;
use crate::frame::InvalidMessage;
use crate::request::{CHUNK, Chunk};
use bytes::Bytes;
use std::collections::VecDeque;

/// Parses one reply; ranges may come in another order than requested, and cross frames.
#[derive(Debug)]
pub(crate) struct VectorBody {
    /// Not answered yet.
    expected: VecDeque<Chunk>,
    header: Vec<u8>,
    /// Offset of the next byte, and how much of the range is still to come.
    at: u64,
    left: u64,
}

impl VectorBody {
    pub(crate) fn new(chunks: &[Chunk]) -> Self {
        Self { expected: chunks.iter().copied().collect(), header: Vec::new(), at: 0, left: 0 }
    }

    /// Appends bytes of the file to `out` with their offset.
    pub(crate) fn push(&mut self, mut input: Bytes, out: &mut Vec<(u64, Bytes)>) -> Result<(), InvalidMessage> {
        while !input.is_empty() {
            if self.left > 0 {
                let len = input.len().min(usize::try_from(self.left).unwrap_or(usize::MAX));
                out.push((self.at, input.split_to(len)));
                self.at += len as u64;
                self.left -= len as u64;
                continue;
            }
            let more = (CHUNK - self.header.len()).min(input.len());
            self.header.extend(input.split_to(more));
            if self.header.len() == CHUNK {
                self.begin()?;
            }
        }
        Ok(())
    }

    fn begin(&mut self) -> Result<(), InvalidMessage> {
        let mut c = Cursor::new(&self.header);
        let (Some(handle), Some(len), Some(offset)) = (c.array(), c.i32(), c.i64()) else {
            return Err(InvalidMessage("a range of a vector read is truncated"));
        };
        let wanted = |e: &Chunk| e.handle == handle && Ok(e.offset) == u64::try_from(offset);
        let place = self.expected.iter().position(wanted);
        let Some(chunk) = place.and_then(|i| self.expected.remove(i)) else {
            return Err(InvalidMessage("a vector read returns a range that was not requested"));
        };
        if Ok(chunk.len) != u32::try_from(len) {
            return Err(InvalidMessage("a vector read returns a range of another length than requested"));
        }
        self.header.clear();
        (self.at, self.left) = (chunk.offset, u64::from(chunk.len));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chunk(offset: u64, len: u32) -> Chunk {
        Chunk { handle: [1, 0, 0, 0], offset, len }
    }

    fn body(chunks: &[Chunk]) -> Vec<u8> {
        let one = |c: &Chunk| {
            let data = (0..c.len).map(|i| (c.offset + u64::from(i)) as u8).collect::<Vec<u8>>();
            [&c.handle[..], &c.len.to_be_bytes(), &c.offset.to_be_bytes(), &data].concat()
        };
        chunks.iter().flat_map(one).collect()
    }

    #[test]
    fn ranges_in_any_order_cut_anywhere() {
        let chunks = [chunk(100, 5), chunk(7, 1), chunk(300, 40)];
        let bytes = Bytes::from(body(&[chunks[2], chunks[0], chunks[1]]));
        for cut in 0..bytes.len() {
            let (mut v, mut out) = (VectorBody::new(&chunks), Vec::new());
            v.push(bytes.slice(..cut), &mut out).unwrap();
            v.push(bytes.slice(cut..), &mut out).unwrap();
            assert!(v.expected.is_empty() && v.left == 0);
            for (offset, bytes) in out {
                assert!(bytes.iter().enumerate().all(|(i, b)| *b == (offset + i as u64) as u8));
            }
        }
    }

    #[test]
    fn what_was_not_asked_for_is_refused() {
        for lie in [chunk(8, 1), chunk(7, 2), Chunk { handle: [2, 0, 0, 0], ..chunk(7, 1) }] {
            assert!(VectorBody::new(&[chunk(7, 1)]).push(body(&[lie]).into(), &mut Vec::new()).is_err());
        }
        let twice = body(&[chunk(7, 1), chunk(7, 1)]);
        assert!(VectorBody::new(&[chunk(7, 1)]).push(twice.into(), &mut Vec::new()).is_err());
    }
}
