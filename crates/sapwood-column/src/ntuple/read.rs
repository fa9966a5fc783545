//! A field's values in one cluster, from its pages.

use super::element::Element;
use super::layout::{Ends, Node};
use crate::input::Input;
use crate::{Array, DType, Values, with_values};
use sapwood_format::ntuple::{Cluster, Column, Ntuple, Page};
use sapwood_span::{Error, Result};
use std::ops::Range;

/// Elements that a column may have without a page, because it was added after they were written.
const MOST_WITHOUT_PAGES: u64 = 1 << 25;

/// Elements for which memory is taken before their pages were read.
const MOST_RESERVED: u64 = 1 << 18;

/// Where the pages of a cluster come from: decompressed, one at a time.
pub trait Pages {
    /// The bytes of a page: `index` counts those of the whole ntuple; it decompresses to `size` bytes. `again`: the next
    /// entries of the cluster need it, too.
    ///
    /// # Errors
    /// When it cannot be read, is damaged, or is of another size.
    fn page(&mut self, index: usize, page: &Page, size: usize, again: bool) -> Result<&[u8]>;
}

/// A cluster of which some entries are being decoded.
pub(super) struct Reader<'a, P> {
    pub ntuple: &'a Ntuple,
    pub cluster: &'a Cluster,
    pub pages: &'a mut P,
    /// Whether the entries are the last ones of the cluster.
    pub is_end: bool,
}

impl<P: Pages> Reader<'_, P> {
    fn column(&self, column: usize) -> Result<&Column> {
        self.ntuple.schema.columns.get(column).ok_or_else(|| Error::invalid("no such column"))
    }

    /// Whether the column is the one that its field uses in this cluster.
    fn is_used(&self, column: usize) -> bool {
        self.cluster.columns.get(column).is_none_or(|c| !c.is_suppressed)
    }

    /// The representation that is used in this cluster.
    fn used(&self, mut columns: impl Iterator<Item = usize>) -> Result<usize> {
        columns
            .position(|c| self.is_used(c))
            .ok_or_else(|| Error::corrupt("none of the field's representations is used in a cluster"))
    }

    /// These elements of a column, counted in the cluster.
    fn elements(&mut self, column: usize, element: Element, wanted: Range<u64>) -> Result<Values> {
        let deferred = self.column(column)?.first_element > 0 || self.cluster.columns.len() <= column;
        let range = self.cluster.columns.get(column).map_or(0..0, |c| c.pages.clone());
        let pages = self.ntuple.table.pages.get(range.clone()).unwrap_or_default();
        let stored: u64 = pages.iter().map(|p| u64::from(p.elements)).sum();
        let needed = wanted.end;
        if (stored > needed && self.is_end) || (stored < needed && !deferred) {
            return Err(Error::corrupt(format!("its pages have {stored} elements in a cluster that needs {needed}")));
        }
        // those that are missing come before the others; then all entries of the cluster are read at once
        let missing = needed.saturating_sub(stored);
        if missing > MOST_WITHOUT_PAGES {
            return Err(Error::unsupported(format!("{missing} elements without a page")));
        }
        // not more than a few pages, before any of them was read
        let room = (wanted.end - wanted.start.min(wanted.end)).min(MOST_RESERVED);
        let mut out = Values::with_capacity(element.dtype(), room as usize);
        with_values!(&mut out, v => v.resize(missing as usize, Default::default()));
        let mut begin = missing;
        for (i, page) in range.zip(pages) {
            let n = page.elements as usize;
            let end = begin + n as u64;
            let own = wanted.start.max(begin)..wanted.end.min(end);
            if own.is_empty() {
                begin = end;
                continue;
            }
            let size = element.page_bytes(n).ok_or_else(|| Error::corrupt("a page with too many elements"))?;
            let bytes = self.pages.page(i, page, size, end > wanted.end)?;
            if bytes.len() != size {
                return Err(Error::corrupt(format!("a page of {} bytes, not {size}", bytes.len())));
            }
            element.append(bytes, n, &mut out)?;
            let (before, behind) = ((own.start - begin) as usize, (end - own.end) as usize);
            with_values!(&mut out, v => {
                v.truncate(v.len() - behind);
                // only the first of the pages begins before
                drop(v.drain(..before));
                if v.capacity() / 4 > v.len() {
                    // a few entries of a large page
                    v.shrink_to_fit();
                }
            });
            begin = end;
        }
        Ok(out)
    }

    /// Where the items of these entries end, counted from those of the first one; and which items these are in the
    /// cluster.
    fn offsets(&mut self, columns: &[Ends], wanted: Range<u64>) -> Result<(Vec<i64>, Range<u64>)> {
        let Ends { column, element } = columns[self.used(columns.iter().map(|e| e.column))?];
        let before = wanted.start.saturating_sub(1);
        let ends = self.elements(column, element, before..wanted.end)?;
        let mut out = Vec::with_capacity(ends.len() + 1);
        if wanted.start == 0 {
            out.push(0);
        }
        match ends {
            Values::U32(ends) => out.extend(ends.into_iter().map(i64::from)),
            // a number above the greatest becomes negative, which is refused
            Values::U64(ends) => out.extend(ends.into_iter().map(|e| e as i64)),
            _ => return Err(Error::invalid("positions of another type")),
        }
        let (first, last) = (out.first().copied().unwrap_or(0), out.last().copied().unwrap_or(0));
        if first < 0 || out.windows(2).any(|w| w[0] > w[1]) {
            return Err(Error::corrupt("the positions of its items are not increasing"));
        }
        if first > 0 {
            out.iter_mut().for_each(|offset| *offset -= first);
        }
        Ok((out, first as u64..last as u64))
    }

    /// The ends and the bytes of these strings or objects.
    fn bytes(&mut self, columns: &[Ends], bytes: &[usize], wanted: Range<u64>) -> Result<(Vec<i64>, Vec<u8>)> {
        let (offsets, items) = self.offsets(columns, wanted)?;
        let column = bytes[self.used(bytes.iter().copied())?];
        let element = Element::of(self.column(column)?)?;
        match self.elements(column, element, items)? {
            Values::U8(bytes) => Ok((offsets, bytes)),
            _ => Err(Error::corrupt("bytes that are something else")),
        }
    }

    /// These values of a field, counted in the cluster.
    pub(super) fn read(&mut self, node: &Node, wanted: Range<u64>) -> Result<Array> {
        let n = wanted.end - wanted.start;
        let len = usize::try_from(n).map_err(|_| Error::corrupt("more values than there can be"))?;
        let times = |size: usize, what: &str| -> Result<Range<u64>> {
            let times = |n: u64| n.checked_mul(size as u64);
            match (times(wanted.start), times(wanted.end)) {
                (Some(start), Some(end)) => Ok(start..end),
                _ => Err(Error::corrupt(format!("more {what} than there can be"))),
            }
        };
        match node {
            Node::Number { columns, dtype } => {
                let (column, element) = columns[self.used(columns.iter().map(|c| c.0))?];
                cast(self.elements(column, element, wanted)?, *dtype).map(Array::Flat)
            }
            Node::Bits { column, size } => {
                let content = Box::new(Array::Flat(self.elements(*column, Element::Bit, times(*size, "bits")?)?));
                Ok(Array::Regular { size: *size, len, content })
            }
            Node::Text { columns, bytes } => {
                let (offsets, bytes) = self.bytes(columns, bytes, wanted)?;
                Ok(Array::Text { offsets, bytes })
            }
            Node::Streamed { columns, bytes, item } => {
                let (offsets, bytes) = self.bytes(columns, bytes, wanted.clone())?;
                let mut out = item.column_type().empty();
                for (i, w) in offsets.windows(2).enumerate() {
                    // the positions do not decrease
                    let object = bytes.get(w[0] as usize..w[1] as usize).unwrap_or_default();
                    if object.is_empty() {
                        return Err(in_object(Error::unsupported("an object without bytes"), wanted.start + i as u64));
                    }
                    let mut input = Input::new(object, 0);
                    item.read(&mut input, &mut out).map_err(|e| in_object(e, wanted.start + i as u64))?;
                    if input.left() > 0 {
                        let what = format!("an object ends {} bytes before its bytes do", input.left());
                        return Err(in_object(Error::corrupt(what), wanted.start + i as u64));
                    }
                }
                Ok(out)
            }
            Node::List { columns, item, .. } => {
                let (offsets, items) = self.offsets(columns, wanted)?;
                let content = Box::new(self.read(item, items)?);
                Ok(Array::List { offsets, content })
            }
            Node::Fixed { size, item } => {
                Ok(Array::Regular { size: *size, len, content: Box::new(self.read(item, times(*size, "items")?)?) })
            }
            Node::Record { fields, .. } => {
                let field = |(name, node): &(String, Node)| Ok((name.clone(), self.read(node, wanted.clone())?));
                Ok(Array::Record { len, fields: fields.iter().map(field).collect::<Result<_>>()? })
            }
            Node::Cardinality { columns, dtype } => {
                let (offsets, _) = self.offsets(columns, wanted)?;
                let lengths = offsets.windows(2).map(|w| (w[1] - w[0]) as u64).collect();
                cast(Values::U64(lengths), *dtype).map(Array::Flat)
            }
            // its positions count from the beginning of the cluster
            Node::Variant { columns, items } if wanted.start == 0 => self.variant(columns, items, n),
            Node::Variant { .. } => Err(Error::invalid("some entries of a variant")),
        }
    }

    /// For each alternative a list of one item where it is the one in use, and of none elsewhere.
    fn variant(&mut self, columns: &[usize], items: &[Node], n: u64) -> Result<Array> {
        let column = columns[self.used(columns.iter().copied())?];
        let switches = self.switches(column, n)?;
        let mut offsets = vec![vec![0i64]; items.len()];
        for (position, tag) in &switches {
            if *tag as usize > items.len() {
                return Err(Error::corrupt(format!("alternative {tag} of a variant with {}", items.len())));
            }
            for (i, own) in offsets.iter_mut().enumerate() {
                let before = own[own.len() - 1];
                let is_here = *tag as usize == i + 1;
                if is_here && *position != before as u64 {
                    return Err(Error::unsupported("a variant whose values are not in order"));
                }
                own.push(before + i64::from(is_here));
            }
        }
        let mut fields = Vec::with_capacity(items.len());
        for (i, (item, offsets)) in items.iter().zip(offsets).enumerate() {
            let values = offsets[offsets.len() - 1] as u64;
            let content = Box::new(self.read(item, 0..values)?);
            fields.push((format!("_{i}"), Array::List { offsets, content }));
        }
        Ok(Array::Record { len: switches.len(), fields })
    }

    /// Positions and numbers of alternatives.
    fn switches(&mut self, column: usize, n: u64) -> Result<Vec<(u64, u32)>> {
        let deferred = self.column(column)?.first_element > 0 || self.cluster.columns.len() <= column;
        let range = self.cluster.columns.get(column).map_or(0..0, |c| c.pages.clone());
        let pages = self.ntuple.table.pages.get(range.clone()).unwrap_or_default();
        let stored: u64 = pages.iter().map(|p| u64::from(p.elements)).sum();
        if stored > n || (stored < n && (!deferred || n - stored > MOST_WITHOUT_PAGES)) {
            return Err(Error::corrupt(format!("its pages have {stored} elements in a cluster that needs {n}")));
        }
        let mut out = vec![(0, 0); (n - stored) as usize];
        for (i, page) in range.zip(pages) {
            let size = page.elements as usize * 12;
            let bytes = self.pages.page(i, page, size, false)?;
            if bytes.len() != size {
                return Err(Error::corrupt(format!("a page of {} bytes, not {size}", bytes.len())));
            }
            out.extend(bytes.as_chunks::<12>().0.iter().map(|b| {
                let (position, tag) = b.split_at(8);
                let position = position.try_into().map_or(0, u64::from_le_bytes);
                (position, tag.try_into().map_or(0, u32::from_le_bytes))
            }));
        }
        Ok(out)
    }
}

/// The error of an object, by its number in the cluster.
fn in_object(e: Error, i: u64) -> Error {
    e.clone().worded(format!("object {i} of the cluster: {}", e.what()))
}

/// Numbers as the field's type has them.
///
/// # Errors
/// `Corrupt` when one does not fit.
fn cast(values: Values, to: DType) -> Result<Values> {
    if values.dtype() == to {
        return Ok(values);
    }
    let overflow = || Error::corrupt(format!("a stored number does not fit into {}", to.name()));
    macro_rules! whole {
        ($variant:ident, $t:ty) => {{
            let mut out: Vec<$t> = Vec::with_capacity(values.len());
            macro_rules! from {
                ($v:expr) => {
                    for &x in $v.iter() {
                        out.push(<$t>::try_from(x).map_err(|_| overflow())?);
                    }
                };
            }
            match &values {
                Values::Bool(v) | Values::U8(v) => from!(v),
                Values::I8(v) => from!(v),
                Values::I16(v) => from!(v),
                Values::U16(v) => from!(v),
                Values::I32(v) => from!(v),
                Values::U32(v) => from!(v),
                Values::I64(v) => from!(v),
                Values::U64(v) => from!(v),
                Values::F32(_) | Values::F64(_) => return Err(overflow()),
            }
            Values::$variant(out)
        }};
    }
    Ok(match to {
        DType::Bool => match values {
            Values::U8(v) => Values::Bool(v.into_iter().map(|x| u8::from(x != 0)).collect()),
            other => {
                Values::Bool(with_values!(&other, v => v.iter().map(|x| u8::from(*x != Default::default())).collect()))
            }
        },
        DType::I8 => whole!(I8, i8),
        DType::U8 => whole!(U8, u8),
        DType::I16 => whole!(I16, i16),
        DType::U16 => whole!(U16, u16),
        DType::I32 => whole!(I32, i32),
        DType::U32 => whole!(U32, u32),
        DType::I64 => whole!(I64, i64),
        DType::U64 => whole!(U64, u64),
        DType::F32 => match values {
            Values::F64(v) => Values::F32(v.into_iter().map(|x| x as f32).collect()),
            _ => return Err(overflow()),
        },
        DType::F64 => match values {
            Values::F32(v) => Values::F64(v.into_iter().map(f64::from).collect()),
            _ => return Err(overflow()),
        },
    })
}
