//! Fields and columns.

use super::envelope::Frame;
use sapwood_span::{Error, Result};
use std::collections::HashMap;

/// What a field is made of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Role {
    /// Its own columns, or one subfield.
    #[default]
    Leaf,
    /// Items of one subfield, any number of them.
    Collection,
    /// Subfields.
    Record,
    /// One of its subfields at a time.
    Variant,
    /// Objects that ROOT's streamer wrote.
    Streamer,
    /// Something of a later format version.
    Unknown(u16),
}

/// A field: a C++ type at a place of the schema.
#[derive(Clone, Debug, Default)]
pub struct Field {
    /// Name.
    pub name: String,
    /// C++ type, normalized.
    pub type_name: String,
    /// The name of the type in the program that wrote it, where it is another.
    pub type_alias: String,
    /// Description.
    pub description: String,
    /// Version of the field itself.
    pub version: u32,
    /// Version of its class.
    pub type_version: u32,
    /// ROOT's checksum of its class.
    pub type_checksum: Option<u32>,
    /// The field that contains it; none at the top.
    pub parent: Option<usize>,
    /// What it is made of.
    pub role: Role,
    /// Items of each entry, for arrays and bitsets.
    pub array_size: Option<u64>,
    /// The field whose columns it shows under another type.
    pub source: Option<usize>,
    /// Its subfields, ascending.
    pub children: Vec<usize>,
    /// Its columns: representation by representation.
    pub columns: Vec<usize>,
}

/// A column: a sequence of simple elements.
#[derive(Clone, Debug)]
pub struct Column {
    /// Type code of the elements.
    pub code: u16,
    /// Bits per element on storage.
    pub bits: u16,
    /// Its field.
    pub field: usize,
    /// Which of the field's representations it belongs to.
    pub representation: u16,
    /// The elements before this one have no pages: the column was added later.
    pub first_element: u64,
    /// Smallest and largest value, for quantized numbers.
    pub range: Option<(f64, f64)>,
}

/// All fields and columns.
#[derive(Clone, Debug, Default)]
pub struct Schema {
    /// All fields; those at the top have no parent.
    pub fields: Vec<Field>,
    /// All columns with pages.
    pub columns: Vec<Column>,
    /// Descriptions of classes.
    pub type_info: Vec<TypeInfo>,
}

/// How much of a schema is in the header of an ntuple; the rest is in its footer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SchemaSize {
    /// Its first fields.
    pub fields: usize,
    /// Its first columns.
    pub columns: usize,
    /// The first descriptions of classes.
    pub type_info: usize,
}

/// Additional information on a type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeInfo {
    /// What it is: 0 for the class descriptions of streamed objects.
    pub content: u32,
    /// Version of the type.
    pub version: u32,
    /// Name of the type.
    pub type_name: String,
    /// The information.
    pub bytes: Vec<u8>,
}

/// Maximum depth of fields.
const DEEPEST: usize = 100;

/// Bytes that a field, a column, an alias column and additional information on a type take at least.
const FIELD: usize = 8 + 16 + 4 * 4;
const COLUMN: usize = 8 + 12;
const ALIAS: usize = 8 + 8;
const TYPE_INFO: usize = 8 + 8 + 2 * 4;

/// Flags of fields.
pub(super) const REPETITIVE: u16 = 1;
pub(super) const PROJECTED: u16 = 2;
pub(super) const HAS_CHECKSUM: u16 = 4;
/// Flags of columns.
pub(super) const DEFERRED: u16 = 1;
pub(super) const HAS_RANGE: u16 = 2;

impl Schema {
    /// All of it.
    pub fn size(&self) -> SchemaSize {
        SchemaSize { fields: self.fields.len(), columns: self.columns.len(), type_info: self.type_info.len() }
    }

    /// Whether a field has subfields that are called `_0`, `_1` and so on, as the members of tuples are.
    pub fn has_numbered_members(&self, id: usize) -> bool {
        let children = self.fields.get(id).map_or(&[][..], |f| f.children.as_slice());
        let is_numbered = |(i, &child): (usize, &usize)| {
            self.fields.get(child).is_some_and(|f| f.name.strip_prefix('_').is_some_and(|n| *n == i.to_string()))
        };
        !children.is_empty() && children.iter().enumerate().all(is_numbered)
    }

    /// Adds what a header, or a schema extension, describes.
    ///
    /// # Errors
    /// `Corrupt` when parts refer to others that do not exist.
    pub(super) fn extend(&mut self, frame: &mut Frame<'_>) -> Result<()> {
        let (mut list, n) = frame.list(FIELD)?;
        for _ in 0..n {
            self.field(&mut list.record()?)?;
        }
        let (mut list, n) = frame.list(COLUMN)?;
        for _ in 0..n {
            self.column(&mut list.record()?)?;
        }
        let (mut list, n) = frame.list(ALIAS)?;
        for _ in 0..n {
            self.alias(&mut list.record()?)?;
        }
        let (mut list, n) = frame.list(TYPE_INFO)?;
        for _ in 0..n {
            let mut f = list.record()?;
            let (content, version, type_name) = (f.u32()?, f.u32()?, f.string()?);
            self.type_info.push(TypeInfo { content, version, type_name, bytes: f.bytes()?.to_vec() });
        }
        Ok(())
    }

    fn field(&mut self, f: &mut Frame<'_>) -> Result<()> {
        let id = self.fields.len();
        let (version, type_version) = (f.u32()?, f.u32()?);
        let parent = f.u32()? as usize;
        let (role, flags) = (f.u16()?, f.u16()?);
        let (name, type_name, type_alias, description) = (f.string()?, f.string()?, f.string()?, f.string()?);
        let array_size = if flags & REPETITIVE != 0 { Some(f.u64()?) } else { None };
        let source = if flags & PROJECTED != 0 { Some(f.u32()? as usize) } else { None };
        let type_checksum = if flags & HAS_CHECKSUM != 0 { Some(f.u32()?) } else { None };
        if parent > id || source.is_some_and(|s| s >= id) {
            return Err(Error::corrupt(format!("field {id} ({name}) of the RNTuple refers to one behind it")));
        }
        let parent = (parent != id).then_some(parent);
        let depth = std::iter::successors(parent, |&p| self.fields[p].parent).take(DEEPEST + 1).count();
        if depth > DEEPEST {
            return Err(Error::corrupt(format!("field {name} of the RNTuple is too deeply nested")));
        }
        let role = match role {
            0 => Role::Leaf,
            1 => Role::Collection,
            2 => Role::Record,
            3 => Role::Variant,
            4 => Role::Streamer,
            other => Role::Unknown(other),
        };
        if let Some(p) = parent {
            self.fields[p].children.push(id);
        }
        let (children, columns) = (Vec::new(), Vec::new());
        self.fields.push(Field {
            name,
            type_name,
            type_alias,
            description,
            version,
            type_version,
            type_checksum,
            parent,
            role,
            array_size,
            source,
            children,
            columns,
        });
        Ok(())
    }

    fn column(&mut self, f: &mut Frame<'_>) -> Result<()> {
        let id = self.columns.len();
        let (code, bits) = (f.u16()?, f.u16()?);
        let field = f.u32()? as usize;
        let (flags, representation) = (f.u16()?, f.u16()?);
        // a negative number: the column is suppressed as well, which the page list says again
        let first_element = if flags & DEFERRED != 0 { f.i64()?.unsigned_abs() } else { 0 };
        let range = if flags & HAS_RANGE != 0 { Some((f.f64()?, f.f64()?)) } else { None };
        let Some(owner) = self.fields.get_mut(field) else {
            return Err(Error::corrupt(format!("column {id} of the RNTuple belongs to no field")));
        };
        owner.columns.push(id);
        self.columns.push(Column { code, bits, field, representation, first_element, range });
        Ok(())
    }

    fn alias(&mut self, f: &mut Frame<'_>) -> Result<()> {
        let (column, field) = (f.u32()? as usize, f.u32()? as usize);
        if column >= self.columns.len() || field >= self.fields.len() {
            return Err(Error::corrupt("an alias column of the RNTuple refers to nothing"));
        }
        self.fields[field].columns.push(column);
        Ok(())
    }

    /// Columns shown by a field other than their own, and that field.
    pub fn aliases(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let is_alias = |&(column, field): &(usize, usize)| self.columns.get(column).is_some_and(|c| c.field != field);
        let all = self.fields.iter().enumerate().flat_map(|(id, f)| f.columns.iter().map(move |&c| (c, id)));
        all.filter(is_alias)
    }

    /// The columns of a field and of all fields below it, ascending.
    pub fn columns_below(&self, id: usize) -> Vec<usize> {
        let (mut out, mut stack) = (Vec::new(), vec![id]);
        while let Some(field) = stack.pop().and_then(|f| self.fields.get(f)) {
            out.extend(&field.columns);
            stack.extend(&field.children);
        }
        out.sort_unstable();
        out.dedup();
        out
    }

    /// The members of a field's records, with the names that users know: those of base classes behind its own, the last
    /// base first, as in uproot. Where a name of a base is not the only one, the base is put in front.
    pub fn members(&self, id: usize) -> Vec<(usize, String)> {
        let field = &self.fields[id];
        match field.role {
            Role::Record => {}
            // items have no name
            Role::Collection | Role::Leaf => return field.children.iter().flat_map(|&c| self.members(c)).collect(),
            _ => return Vec::new(),
        }
        let name = |id: usize| self.fields[id].name.as_str();
        let (bases, own): (Vec<usize>, Vec<usize>) = field.children.iter().partition(|&&c| name(c).starts_with(":_"));
        let mut out: Vec<(usize, String)> = own.iter().map(|&c| (c, user_name(name(c)).to_owned())).collect();
        let inherited: Vec<_> = bases.iter().rev().map(|&base| (base, self.members(base))).collect();
        let mut times: HashMap<&str, usize> = HashMap::new();
        for (_, name) in out.iter().chain(inherited.iter().flat_map(|(_, members)| members)) {
            *times.entry(name).or_default() += 1;
        }
        let mut behind = Vec::new();
        for (base, members) in &inherited {
            for (id, name) in members {
                let is_only = times.get(name.as_str()) == Some(&1);
                let name = if is_only { name.clone() } else { format!("{}::{name}", self.fields[*base].type_name) };
                behind.push((*id, name));
            }
        }
        out.extend(behind);
        out
    }
}

/// The name of a field to users: the members of pairs and tuples are numbers.
pub(super) fn user_name(name: &str) -> &str {
    name.strip_prefix('_').filter(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit())).unwrap_or(name)
}
