//! The data of a page read's reply: each page of the file with its CRC32C in front.

use crate::checksum::crc32c;
use crate::code::PAGE;
use crate::frame::InvalidMessage;
use bytes::{Bytes, BytesMut};

/// Bytes of a checksum.
const SUM: u64 = 4;

/// Parses one reply. Only pages with a correct checksum are passed on.
#[derive(Debug)]
pub(crate) struct PageBody {
    /// Offset of the next page, and the offset after the last byte wanted.
    at: u64,
    end: u64,
    /// The received part of that page, its checksum in front.
    kept: BytesMut,
    /// Number of damaged pages.
    pub damaged: u32,
}

impl PageBody {
    pub(crate) fn new(offset: u64, len: u64) -> Self {
        Self { at: offset, end: offset.saturating_add(len), kept: BytesMut::new(), damaged: 0 }
    }

    /// Length of the reply to such a read, checksums included.
    pub(crate) fn wire_len(offset: u64, len: u64) -> u64 {
        let first = offset % PAGE;
        len.saturating_add((first.saturating_add(len)).div_ceil(PAGE).saturating_mul(SUM))
    }

    /// A frame begins whose bytes start at this offset, according to its head.
    pub(crate) fn frame(&mut self, offset: u64) -> Result<(), InvalidMessage> {
        if offset != self.at || !self.kept.is_empty() {
            return Err(InvalidMessage("a page read continues at a wrong offset"));
        }
        Ok(())
    }

    /// Some of a frame's data; `last` closes the frame.
    pub(crate) fn push(&mut self, input: &[u8], last: bool, out: &mut Vec<(u64, Bytes)>) -> Result<(), InvalidMessage> {
        self.kept.extend_from_slice(input);
        loop {
            let page = (PAGE - self.at % PAGE).min(self.end - self.at) + SUM;
            let whole = usize::try_from(page).unwrap_or(usize::MAX);
            let len = match self.kept.len() {
                0 => return Ok(()),
                n if n >= whole => whole,
                // The end of the file may come before that of the page.
                n if last && n as u64 > SUM => n,
                _ if last => return Err(InvalidMessage("a page read ends in the middle of a checksum")),
                _ => return Ok(()),
            };
            if self.at >= self.end {
                return Err(InvalidMessage("a page read returns more than was requested"));
            }
            let mut bytes = self.kept.split_to(len).freeze();
            let sum = bytes.split_to(SUM as usize);
            let at = self.at;
            self.at += bytes.len() as u64;
            if crc32c(&bytes).to_be_bytes() == *sum {
                out.push((at, bytes));
            } else {
                self.damaged += 1;
            }
        }
    }
}

/// The data of a page read's frame, with a checksum before each page: the server's side.
pub fn encode(offset: u64, mut data: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(data.len() + data.len() / 1000 + 8);
    let mut first = usize::try_from(PAGE - offset % PAGE).unwrap_or(usize::MAX);
    while !data.is_empty() {
        let (page, rest) = data.split_at(first.min(data.len()));
        out.extend(crc32c(page).to_be_bytes());
        out.extend(page);
        (data, first) = (rest, PAGE as usize);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data(len: usize) -> Vec<u8> {
        (0..len).map(|i| (i * i / 7) as u8).collect()
    }

    #[test]
    fn pages_of_any_place_cut_anywhere() {
        for (offset, len) in [(0, 10_000), (4095, 4098), (4096, 4096), (5000, 1), (100, 20_000)] {
            let (plain, coded) = (data(len), encode(offset, &data(len)));
            assert_eq!(coded.len() as u64, PageBody::wire_len(offset, len as u64));
            for step in [1, 7, 4096, 100_000] {
                let (mut body, mut out) = (PageBody::new(offset, len as u64), Vec::new());
                body.frame(offset).unwrap();
                let pieces = coded.chunks(step);
                let many = pieces.len();
                for (i, piece) in pieces.enumerate() {
                    body.push(piece, i + 1 == many, &mut out).unwrap();
                }
                let all: Vec<u8> = out.iter().flat_map(|(_, b)| b.to_vec()).collect();
                assert!(all == plain && body.damaged == 0 && body.at == body.end);
            }
        }
    }

    #[test]
    fn damaged_pages_are_left_out() {
        let mut coded = encode(0, &data(9000));
        coded[5000] ^= 1;
        let (mut body, mut out) = (PageBody::new(0, 9000), Vec::new());
        body.push(&coded, true, &mut out).unwrap();
        assert_eq!((body.damaged, out.len(), out[1].0), (1, 2, 8192));
    }

    #[test]
    fn too_much_is_refused() {
        let mut body = PageBody::new(0, 100);
        assert!(body.push(&encode(0, &data(5000)), true, &mut Vec::new()).is_err());
        assert!(PageBody::new(0, 100).frame(1).is_err());
    }
}
