//! Pages of zeros, for elements that an input lacks. Equal ones are stored once.

use crate::container::Container;
use sapwood_codec::xxh3;
use sapwood_format::ntuple::Page;
use sapwood_span::{Error, Result, Span};
use std::collections::HashMap;

/// Uncompressed bytes of the largest.
const LARGEST: u64 = 1 << 20;

/// The most that an ntuple has: 16 TiB, uncompressed.
const MOST: usize = 1 << 24;

/// The pages of zeros of a file, by their uncompressed bytes, and how many places have one.
#[derive(Default)]
pub(super) struct ZeroPages(HashMap<u64, Span>, usize);

impl ZeroPages {
    /// Adds pages of so many elements of `bits` each to a list.
    pub(super) fn add(
        &mut self,
        mut elements: u64,
        bits: u16,
        file: &mut Container,
        out: &mut Vec<Page>,
    ) -> Result<()> {
        let most = (8 * LARGEST / u64::from(bits.max(1))).max(1);
        while elements > 0 {
            self.1 += 1;
            if self.1 > MOST {
                return Err(Error::unsupported("its inputs lack so many values that more than 16 TiB would be zeros")
                    .with_remedy("merge files with the same fields"));
            }
            let n = elements.min(most);
            let size = (n * u64::from(bits)).div_ceil(8);
            let span = match self.0.get(&size) {
                Some(&span) => span,
                None => self.write(size, file)?,
            };
            out.push(Page { elements: n as u32, has_checksum: true, span });
            elements -= n;
        }
        Ok(())
    }

    fn write(&mut self, size: u64, file: &mut Container) -> Result<Span> {
        let zeros = vec![0; size as usize];
        let mut page = file.compress(&zeros, file.compression).unwrap_or(zeros);
        let len = page.len() as u64;
        page.extend_from_slice(&xxh3(&page).to_le_bytes());
        let start = file.put_blob(size, &[&page])?;
        let span = Span::new(start, len);
        self.0.insert(size, span);
        Ok(span)
    }
}
