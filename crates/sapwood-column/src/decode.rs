use crate::entry_starts::EntryStarts;
use crate::input::Input;
use crate::item::regular::{Shape, fuse};
use crate::lists::Lists;
use crate::member_wise::MemberWise;
use crate::ntuple::FieldLayout;
use crate::{Array, ColumnType, Form, Item};
use sapwood_format::tree::{BasketData, EmbeddedBasket};
use sapwood_span::{Error, Result};

/// How a branch's entries are framed.
#[derive(Clone, Debug, PartialEq)]
pub enum Entries {
    /// One item each.
    One,
    /// As many items as fit into the entry: counted arrays, members of split collections.
    UntilEnd,
    /// A flag byte, then as many items as fit: counted arrays that are members of split objects.
    FlaggedUntilEnd,
    /// Fixed arrays of counted arrays that are members of split objects, after a flag ([`Item::Flagged`]) or a byte
    /// count and a version ([`Item::Headed`]): their counter is a separate branch.
    Counted,
    /// Counted arrays that are members of split collections: for each object of the collection a flag and as many
    /// numbers as its counter says; or objects, all after one byte count and version. The counter is a separate branch.
    /// Of a base class ([`Item::Base`]) there is one for each object, and the collection's own branch counts them.
    CountedUntilEnd,
    /// As many as fit after one byte count and version: collections that are members of split collections.
    HeadedUntilEnd,
    /// A C string of a leaf list: one length byte (or 255 and four), then the bytes.
    Text,
}

impl Entries {
    /// Whether the bytes of an entry cannot be decoded without the values of another branch, the counter.
    pub fn are_kept(&self) -> bool {
        matches!(self, Entries::Counted | Entries::CountedUntilEnd)
    }
}

/// How a branch's baskets are decoded.
#[derive(Clone, Debug, PartialEq)]
pub struct Layout {
    /// What an entry (or an item of it) looks like.
    pub item: Item,
    /// How many there are in an entry.
    pub entries: Entries,
    /// The kernel for the usual baskets of collections of numbers.
    lists: Option<Lists>,
    /// The kernels for collections of records that are written member by member.
    by_members: Vec<MemberWise>,
    /// The class of records whose item does not include it.
    class: Option<String>,
    /// What to try where the item does not fit.
    other: Option<Box<Layout>>,
    /// The branch with the number of items, where they cannot be decoded without it.
    counter: Option<usize>,
    /// For the fields of ntuples, which have pages instead of baskets.
    field: Option<Box<FieldLayout>>,
}

/// A decoded basket.
#[derive(Clone, Debug, PartialEq)]
pub enum Decoded {
    /// Entries.
    Column(Array),
    /// Data to be divided by the counter's values: all items of all entries where the offsets were left out in the
    /// file, or the bytes of each entry ([`Layout::attach`]).
    Uncounted(Array),
}

/// Maximum number of entries without bytes: a count from a damaged file must not take all memory.
const MOST_EMPTY: usize = 1 << 20;

/// A basket's values as stored in the file.
#[derive(Clone, Copy)]
struct Raw<'a> {
    data: &'a [u8],
    entries: usize,
    starts: Option<EntryStarts<'a>>,
    /// Position of the first byte of `data` in ROOT's references.
    origin: usize,
}

impl Raw<'_> {
    /// Whether all entries have this size.
    fn all_of(&self, size: usize) -> bool {
        self.entries.checked_mul(size) == Some(self.data.len())
            && self.starts.as_ref().is_none_or(|s| (0..self.entries).all(|i| s.get(i) == i * size))
    }
}

impl Layout {
    /// Chooses once, for all baskets of a branch, which kernels run over them.
    pub fn new(item: Item, entries: Entries) -> Self {
        let one = entries == Entries::One;
        let lists = if one { Lists::of(&item) } else { None };
        let by_members = if one { MemberWise::of(&item) } else { Vec::new() };
        Self { item: fuse(item), entries, lists, by_members, class: None, other: None, counter: None, field: None }
    }

    /// The same for objects in a split collection, which ROOT 3 wrote without headers: only the length of a basket
    /// shows it.
    pub(crate) fn or_without_headers(self) -> Self {
        let item = if let Item::Fused(f) = &self.item { &f.item } else { &self.item };
        let Item::Object(object) = item else { return self };
        let other = Self::new(Item::Members(object.members.clone()), self.entries.clone());
        Self { other: Some(Box::new(other)), ..self }
    }

    /// The same for records of a class.
    pub(crate) fn of_class(self, class: &str) -> Self {
        Self { class: Some(class.to_owned()), ..self }
    }

    /// The same for items that are counted by this branch.
    pub(crate) fn counted_by(self, branch: Option<usize>) -> Self {
        Self { counter: branch, ..self }
    }

    /// Of a field of an ntuple.
    pub(crate) fn of_field(field: FieldLayout) -> Self {
        Self { field: Some(Box::new(field)), ..Self::new(Item::Members(Vec::new()), Entries::One) }
    }

    /// How the pages of a field are decoded, for a branch that is the field of an ntuple.
    pub fn field(&self) -> Option<&FieldLayout> {
        self.field.as_deref()
    }

    /// The branch whose values are needed to divide a [`Decoded::Uncounted`] column, for entries that [are
    /// kept](Entries::are_kept).
    pub fn counter(&self) -> Option<usize> {
        self.counter
    }

    /// The form of the column: details that its type does not include.
    pub fn form(&self) -> Form {
        if let Some(field) = &self.field {
            return field.form();
        }
        let mut form = self.item.form();
        if let (Form::Record { class, .. }, Some(own)) = (&mut form, &self.class) {
            class.get_or_insert_with(|| own.clone());
        }
        match self.entries {
            Entries::One | Entries::Text | Entries::Counted => form,
            _ => Form::List(Box::new(form)),
        }
    }

    /// The type of the column.
    pub fn column_type(&self) -> ColumnType {
        if let Some(field) = &self.field {
            return field.column_type();
        }
        match self.entries {
            Entries::One | Entries::Text | Entries::Counted => self.item.column_type(),
            Entries::UntilEnd | Entries::FlaggedUntilEnd | Entries::CountedUntilEnd | Entries::HeadedUntilEnd => {
                ColumnType::List { item: Box::new(self.item.column_type()) }
            }
        }
    }

    /// Decodes a decompressed basket, into the memory of `spare` where one is given (a column of this layout's type).
    ///
    /// # Errors
    /// `Corrupt` when its bytes do not match the layout.
    pub fn decode(&self, basket: &BasketData, spare: Option<Array>) -> Result<Decoded> {
        let starts = basket.offsets.as_deref().map(|raw| EntryStarts::Table { raw, key_len: basket.key_len });
        let raw = Raw { data: basket.data, entries: basket.entries, starts, origin: basket.key_len as usize };
        self.decode_parts(raw, spare)
    }

    /// Decodes a basket that was stored in the tree's header.
    pub fn decode_embedded(&self, basket: &EmbeddedBasket) -> Result<Decoded> {
        let starts = basket.offsets.as_deref().map(EntryStarts::List);
        let origin = basket.key_len as usize;
        self.decode_parts(Raw { data: &basket.data, entries: basket.entries as usize, starts, origin }, None)
    }

    fn decode_parts(&self, raw: Raw, spare: Option<Array>) -> Result<Decoded> {
        let out = match spare {
            Some(mut a) => {
                a.clear();
                a
            }
            None => self.column_type().empty(),
        };
        match self.entries {
            Entries::One => self.one_each(raw, out).map(Decoded::Column),
            // without offsets an empty rest is not an entry
            Entries::Text if raw.starts.is_none() => {
                self.each(raw, out, |c, out| self.item.read(c, out)).map(Decoded::Column)
            }
            Entries::Text => self
                .each(raw, out, |c, out| match out {
                    // a string that was never set was written as nothing at all
                    Array::Text { offsets, bytes } if c.left() == 0 => {
                        offsets.push(bytes.len() as i64);
                        Ok(())
                    }
                    out => self.item.read(c, out),
                })
                .map(Decoded::Column),
            Entries::UntilEnd => match (self.until_end(raw, out), &self.other) {
                (Err(e), Some(other)) => other.until_end(raw, other.column_type().empty()).map_err(|_| e),
                (read, _) => read,
            },
            Entries::Counted | Entries::CountedUntilEnd => {
                let bytes = Array::Text { offsets: vec![0], bytes: Vec::new() };
                self.each(raw, bytes, Layout::keep).map(Decoded::Uncounted)
            }
            Entries::FlaggedUntilEnd | Entries::HeadedUntilEnd if raw.starts.is_none() => {
                Err(Error::unsupported("entries of variable size without offsets"))
            }
            Entries::FlaggedUntilEnd => self
                .each(raw, out, |c, out| {
                    let Array::List { offsets, content } = out else { return Err(not_a_list()) };
                    if c.left() > 0 && c.u8()? != 0 {
                        self.item.read_all(c, content)?;
                    }
                    offsets.push(content.len() as i64);
                    Ok(())
                })
                .map(Decoded::Column),
            Entries::HeadedUntilEnd => self
                .each(raw, out, |c, out| {
                    let Array::List { offsets, content } = out else { return Err(not_a_list()) };
                    if c.left() > 0 {
                        let inner = if let Item::Headed(inner) = &self.item { inner } else { &self.item };
                        inner.headed(c, |c| inner.read_all(c, content))?;
                    }
                    offsets.push(content.len() as i64);
                    Ok(())
                })
                .map(Decoded::Column),
        }
    }

    /// One item an entry: by the first kernel that fits, else one by one.
    fn one_each(&self, raw: Raw, mut out: Array) -> Result<Array> {
        if let Some(size) = self.item.fixed_size() {
            return self.fixed(raw.data, raw.entries, size, out);
        }
        if let (Some(lists), Some(EntryStarts::Table { raw: table, key_len })) = (&self.lists, &raw.starts) {
            if lists.read(raw.data, table, *key_len, &mut out).is_some() {
                return Ok(out);
            }
            out.clear();
        }
        if let Some(starts) = &raw.starts {
            for kernel in &self.by_members {
                if kernel.read(raw.data, raw.entries, starts, &mut out).is_some() {
                    return Ok(out);
                }
                out.clear();
            }
        }
        if let Some(shape) = self.regular(raw.data)
            && raw.all_of(shape.size())
        {
            shape.read(raw.data, &mut out)?;
            return Ok(out);
        }
        self.each(raw, out, |c, out| self.item.read(c, out))
    }

    /// How all records in these bytes are read at once, if they have one size.
    fn regular(&self, data: &[u8]) -> Option<&Shape> {
        match &self.item {
            Item::Fused(f) => f.fits(data),
            _ => None,
        }
    }

    /// Entries of one size: no offsets needed.
    fn fixed(&self, data: &[u8], entries: usize, size: usize, mut out: Array) -> Result<Array> {
        if entries.checked_mul(size) != Some(data.len()) {
            return Err(Error::corrupt(format!(
                "{entries} entries of {size} bytes in a basket with {} bytes of values",
                data.len()
            )));
        }
        if size == 0 && entries > MOST_EMPTY {
            return Err(Error::corrupt(format!("{entries} entries without bytes in one basket")));
        }
        if size == 0 {
            // classes without members
            crate::schema_evolution::push_nothing(&mut out, entries)?;
        } else if self.item.plain().is_some() {
            reserve(&mut out, data.len());
            self.item.extend_plain(data, entries, &mut out)?;
        } else {
            self.item.read_many(&mut Input::new(data, 0), entries, &mut out)?;
        }
        Ok(out)
    }

    fn until_end(&self, raw: Raw, out: Array) -> Result<Decoded> {
        let shape = self.regular(raw.data);
        let size = self.item.fixed_size().filter(|&s| s > 0).or(shape.map(Shape::size));
        let Some(size) = size else {
            if raw.starts.is_none() {
                return Err(Error::unsupported("entries with items of variable size, without offsets"));
            }
            return self
                .each(raw, out, |c, out| {
                    let Array::List { offsets, content } = out else { return Err(not_a_list()) };
                    self.item.read_all(c, content)?;
                    offsets.push(content.len() as i64);
                    Ok(())
                })
                .map(Decoded::Column);
        };
        let Raw { data, entries, starts, .. } = raw;
        if !data.len().is_multiple_of(size) {
            return Err(Error::corrupt(format!("{} bytes of values are not whole items of {size}", data.len())));
        }
        let Array::List { mut offsets, content: mut boxed } = out else { return Err(not_a_list()) };
        let content = &mut *boxed;
        if let Some(shape) = shape {
            shape.read(data, content)?;
        } else if self.item.plain().is_some() {
            reserve(content, data.len());
            self.item.extend_plain(data, data.len() / size, content)?;
        } else {
            self.item.read_many(&mut Input::new(data, 0), data.len() / size, content)?;
        }
        let Some(starts) = starts else { return Ok(Decoded::Uncounted(*boxed)) };
        // the values of one entry end where those of the next begin
        offsets.clear();
        offsets.reserve(entries + 1);
        let mut before = 0;
        for i in 0..entries {
            let at = starts.get(i);
            if at < before || at > data.len() || !at.is_multiple_of(size) || (i == 0 && at != 0) {
                return Err(Error::corrupt(format!(
                    "entry {i} of the basket begins at byte {at} of {}, the one before at {before}",
                    data.len()
                )));
            }
            before = at;
            offsets.push((at / size) as i64);
        }
        offsets.push(if entries == 0 { 0 } else { (data.len() / size) as i64 });
        Ok(Decoded::Column(Array::List { offsets, content: boxed }))
    }

    /// Entries of any size, one by one.
    fn each(
        &self,
        raw: Raw,
        mut out: Array,
        mut read: impl FnMut(&mut Input, &mut Array) -> Result<()>,
    ) -> Result<Array> {
        let Raw { data, entries, starts, origin } = raw;
        let Some(starts) = starts else {
            let mut c = Input::new(data, origin);
            for i in 0..entries {
                let before = c.left();
                read(&mut c, &mut out).map_err(|e| in_entry(e, i))?;
                if c.left() == before && i > MOST_EMPTY {
                    return Err(Error::corrupt(format!("{entries} entries without bytes in one basket")));
                }
            }
            if c.left() > 0 {
                return Err(Error::corrupt(format!("{} bytes are left after the last entry", c.left())));
            }
            return Ok(out);
        };
        let mut at = if entries > 0 { starts.get(0) } else { 0 };
        if at != 0 {
            return Err(Error::corrupt(format!("the first entry of the basket begins at byte {at}")));
        }
        for i in 0..entries {
            let end = if i + 1 < entries { starts.get(i + 1) } else { data.len() };
            let Some(bytes) = data.get(at..end) else {
                return Err(Error::corrupt(format!(
                    "entry {i} of the basket is at bytes {at}-{end} of {}",
                    data.len()
                )));
            };
            let mut c = Input::new(bytes, origin + at);
            read(&mut c, &mut out).map_err(|e| in_entry(e, i))?;
            if c.left() > 0 {
                return Err(in_entry(Error::corrupt(format!("{} bytes are left over", c.left())), i));
            }
            at = end;
        }
        Ok(out)
    }
}

pub(crate) fn not_a_list() -> Error {
    Error::invalid("items go into a list")
}

pub(crate) fn in_entry(e: Error, i: usize) -> Error {
    Error::new(e.kind(), format!("entry {i} of the basket: {}", e.what()))
}

fn reserve(out: &mut Array, bytes: usize) {
    match out {
        Array::Flat(v) => {
            let n = bytes / v.dtype().size();
            v.reserve(n);
        }
        Array::Regular { content, .. } => reserve(content, bytes),
        _ => {}
    }
}
