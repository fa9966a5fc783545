//! Numbers and texts as bytes, for parts of histograms.

use sapwood_span::{Error, Result};

pub(crate) fn damaged() -> Error {
    Error::invalid("the bytes are not those of a part of a histogram")
        .with_remedy("use the same version of Sapwood in all processes")
}

/// Writes numbers, little-endian.
pub(crate) struct PartWriter(pub Vec<u8>);

impl PartWriter {
    pub(crate) fn byte(&mut self, x: u8) {
        self.0.push(x);
    }

    pub(crate) fn count(&mut self, x: u64) {
        self.0.extend_from_slice(&x.to_le_bytes());
    }

    pub(crate) fn numbers(&mut self, numbers: &[f64]) {
        self.count(numbers.len() as u64);
        for x in numbers {
            self.0.extend_from_slice(&x.to_le_bytes());
        }
    }

    pub(crate) fn optional(&mut self, numbers: Option<&[f64]>) {
        self.byte(numbers.is_some().into());
        if let Some(numbers) = numbers {
            self.numbers(numbers);
        }
    }

    pub(crate) fn texts(&mut self, texts: Option<&[String]>) {
        self.byte(texts.is_some().into());
        if let Some(texts) = texts {
            self.count(texts.len() as u64);
            for text in texts {
                self.count(text.len() as u64);
                self.0.extend_from_slice(text.as_bytes());
            }
        }
    }
}

/// Reads what [`PartWriter`] wrote.
pub(crate) struct PartReader<'a>(pub &'a [u8]);

impl<'a> PartReader<'a> {
    fn take(&mut self, length: usize) -> Result<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length).ok_or_else(damaged)?;
        self.0 = rest;
        Ok(taken)
    }

    pub(crate) fn byte(&mut self) -> Result<u8> {
        self.take(1)?.first().copied().ok_or_else(damaged)
    }

    pub(crate) fn flag(&mut self) -> Result<bool> {
        match self.byte()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(damaged()),
        }
    }

    pub(crate) fn count(&mut self) -> Result<u64> {
        Ok(u64::from_le_bytes(self.take(8)?.try_into().map_err(|_| damaged())?))
    }

    /// A number of things that each take at least `size` bytes.
    pub(crate) fn length(&mut self, size: usize) -> Result<usize> {
        let length = usize::try_from(self.count()?).map_err(|_| damaged())?;
        if length.checked_mul(size).is_some_and(|bytes| bytes <= self.0.len()) { Ok(length) } else { Err(damaged()) }
    }

    pub(crate) fn numbers(&mut self) -> Result<Vec<f64>> {
        let length = self.length(8)?;
        let bytes = self.take(length * 8)?;
        Ok(bytes.as_chunks::<8>().0.iter().map(|x| f64::from_le_bytes(*x)).collect())
    }

    /// As many numbers as there must be.
    pub(crate) fn exactly(&mut self, length: usize) -> Result<Vec<f64>> {
        let numbers = self.numbers()?;
        if numbers.len() == length { Ok(numbers) } else { Err(damaged()) }
    }

    pub(crate) fn array<const N: usize>(&mut self) -> Result<[f64; N]> {
        self.numbers()?.try_into().map_err(|_| damaged())
    }

    pub(crate) fn optional(&mut self, length: usize) -> Result<Option<Vec<f64>>> {
        Ok(if self.flag()? { Some(self.exactly(length)?) } else { None })
    }

    pub(crate) fn texts(&mut self) -> Result<Option<Vec<String>>> {
        if !self.flag()? {
            return Ok(None);
        }
        let number = self.length(8)?;
        let mut texts = Vec::new();
        for _ in 0..number {
            let length = self.length(1)?;
            texts.push(String::from_utf8(self.take(length)?.to_vec()).map_err(|_| damaged())?);
        }
        Ok(Some(texts))
    }
}
