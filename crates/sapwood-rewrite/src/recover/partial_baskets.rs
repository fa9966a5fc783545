//! Baskets with both lost and intact entries, divided between them.

use crate::input::Reader;
use crate::optimize::basket_split::Rule;
use crate::optimize::build::{Built, ClusterPart, Shape, Source, build};
use crate::recode::Recoder;
use bytes::Bytes;
use sapwood_codec::Compression;
use sapwood_edit::own_compression;
use sapwood_edit::tree::{Basket, BranchFacts, Embedded, TreeFacts};
use sapwood_format::Streamers;
use sapwood_format::tree::Tree;
use sapwood_span::{Error, ErrorKind, Result};
use std::collections::HashMap;
use std::ops::Range;

/// A basket, wherever it is stored.
#[derive(Clone)]
pub(super) enum Held {
    File(Basket),
    Header(Box<Embedded>),
}

impl Held {
    pub(super) fn entries(&self) -> Range<u64> {
        match self {
            Held::File(b) => b.first..b.last,
            Held::Header(e) => e.first..e.first + u64::from(e.entries),
        }
    }

    /// Its position in the file.
    pub(super) fn position(&self) -> Option<u64> {
        match self {
            Held::File(b) => Some(b.span.start),
            Held::Header(_) => None,
        }
    }

    /// Its record.
    ///
    /// # Errors
    /// `Corrupt` when it continues past the end of the file; errors of reading.
    pub(super) fn record(&self, reader: &Reader, recoder: &mut Recoder) -> Result<Bytes> {
        match self {
            Held::File(b) if b.span.end() > reader.size() => {
                Err(Error::corrupt("it continues past the end of the file"))
            }
            Held::File(b) => {
                let mut record = Vec::new();
                reader.read(b.span, &mut record)?;
                record.truncate(b.span.len as usize);
                Ok(Bytes::from(record))
            }
            Held::Header(e) => Ok(Bytes::from(e.record(Compression::NONE, recoder.encoder())?.0)),
        }
    }
}

/// A basket of which some entries are kept.
pub(super) struct Cut {
    /// Number of its branch.
    pub(super) branch: usize,
    held: Held,
    /// The entries to keep, and the new number of the first of them.
    pub(super) keep: Vec<(Range<u64>, u64)>,
    shape: Shape,
}

impl Cut {
    /// The baskets with the entries to keep.
    ///
    /// # Errors
    /// Errors of reading and cutting them.
    pub(super) fn build(&self, reader: &Reader, recoder: &mut Recoder) -> Result<Vec<Built>> {
        let source = source(&self.held, reader, recoder)?;
        let mut out = Vec::new();
        for (entries, first) in &self.keep {
            let range = [entries.start, entries.end];
            let (piece, _) =
                build(&self.shape, ClusterPart::default(), std::slice::from_ref(&source), &range, recoder)?;
            let moved = |b: Built| Built { first: b.first - entries.start + first, ..b };
            out.extend(piece.built.into_iter().map(moved));
        }
        Ok(out)
    }
}

fn source(held: &Held, reader: &Reader, recoder: &mut Recoder) -> Result<Source> {
    let record = held.record(reader, recoder)?;
    Ok(Source { entries: held.entries(), record, key_len: None, counts: Vec::new(), ahead: false })
}

/// Determines how the branches of a tree are divided.
pub(super) struct Cutter<'a> {
    header: &'a Tree,
    streamers: &'a Streamers,
    /// The compression of the file, and of the output.
    file: Compression,
    compression: Option<Compression>,
    rules: HashMap<usize, Rule>,
}

impl<'a> Cutter<'a> {
    pub(super) fn new(
        header: &'a Tree,
        streamers: &'a Streamers,
        file: Compression,
        compression: Option<Compression>,
    ) -> Self {
        Self { header, streamers, file, compression, rules: HashMap::new() }
    }

    /// How a branch is divided.
    fn rule(&mut self, branch: usize) -> Rule {
        let (header, streamers) = (self.header, self.streamers);
        let new = || match header.branches.iter().find(|b| b.generated_offsets) {
            // ROOT takes the offsets of a basket from that of the counter: both must stay aligned
            Some(b) => Rule::Whole(format!("offsets of branch {} are left out in the file", b.name)),
            None => Rule::of(header, branch, streamers),
        };
        self.rules.entry(branch).or_insert_with(new).clone()
    }

    /// A basket of `total` bytes before compression, ready to be cut. Otherwise the reason, as text.
    ///
    /// # Errors
    /// Errors of the source.
    pub(super) fn cut(
        &mut self,
        (branch, facts): (usize, &TreeFacts),
        (held, total): (&Held, u64),
        reader: &Reader,
        recoder: &mut Recoder,
    ) -> Result<std::result::Result<Cut, String>> {
        let rule = self.rule(branch);
        if let Rule::Whole(why) = rule {
            return Ok(Err(why));
        }
        let own = facts.branches.get(branch).map_or(self.file, |b| self.own(b));
        let entries = held.entries();
        // a separate basket for each part
        let basket_bytes = u32::try_from(total).unwrap_or(u32::MAX);
        let shape = Shape { rule, counted: None, basket_bytes, compression: self.compression, own, summed: false };
        let cut = Cut { branch, held: held.clone(), keep: Vec::new(), shape };
        // tested once: a basket that can be divided here can be divided when it is written
        let tried = source(held, reader, recoder).and_then(|source| {
            let shape = Shape { compression: Some(Compression::NONE), ..cut.shape.clone() };
            build(&shape, ClusterPart::default(), &[source], &[entries.start, entries.end], recoder)
        });
        match tried {
            Ok(_) => Ok(Ok(cut)),
            Err(e) if matches!(e.kind(), ErrorKind::Corrupt | ErrorKind::Unsupported) => Ok(Err(e.what().to_owned())),
            Err(e) => Err(e),
        }
    }

    fn own(&self, b: &BranchFacts) -> Compression {
        let [total, zip] = [b.total_bytes, b.zip_bytes].map(|n| u64::try_from(n).unwrap_or(0));
        own_compression(b.compression, total, zip).unwrap_or(self.file)
    }
}
