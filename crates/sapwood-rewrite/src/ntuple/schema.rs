//! The schemas of ntuples that are joined: the first one's fields, and every encoding of their columns that an input has.

use super::canonical::Meaning;
use super::elements::path_of;
use super::reduced::{becomes, name_of, stands_alone};
use super::used::representations;
use sapwood_format::ntuple::{Column, Field, Role, Schema, TypeInfo};
use sapwood_span::{Error, Result};
use std::collections::HashSet;

/// The schema of the joined ntuple.
pub(super) struct SchemaSum {
    /// The columns of fields that show those of others are missing until [`SchemaSum::finish`].
    pub(super) schema: Schema,
    /// Of each field: the columns of each representation.
    pub(super) representations: Vec<Vec<Vec<usize>>>,
    /// Of each field that shows the columns of another: that field, and which of a representation's columns.
    shown: Vec<Vec<(usize, usize)>>,
    /// The file of the first input.
    first_file: String,
}

/// For fields and columns of an input, those of the joined ntuple. Columns of representations follow their field's.
pub(super) struct SchemaMap {
    /// Of each field of the input.
    pub(super) fields: Vec<usize>,
    /// Of each column of the input.
    pub(super) columns: Vec<usize>,
    /// Columns that are stored in another way there.
    pub(super) converted: HashSet<usize>,
}

/// Whether two columns store the same elements in the same way.
fn is_same(a: &Column, b: &Column) -> bool {
    let range = |c: &Column| c.range.map(|(min, max)| (min.to_bits(), max.to_bits()));
    (a.code, a.bits, range(a)) == (b.code, b.bits, range(b))
}

/// Whether the pages of one can become those of the other. Fields of several columns have one representation where that
/// is possible: uproot 5.7 reads strings of several wrongly.
fn is_convertible(a: &Column, b: &Column) -> bool {
    is_same(a, b) || (Meaning::of(a.code) == Meaning::Ends && Meaning::of(b.code) == Meaning::Ends)
}

impl SchemaSum {
    /// An empty one, for the fields of this file.
    pub(super) fn new(first_file: &str) -> Self {
        Self {
            schema: Schema::default(),
            representations: Vec::new(),
            shown: Vec::new(),
            first_file: first_file.to_owned(),
        }
    }

    /// Adds the schema of an input. Fields at the top that are new are accepted where `extends` says so, and all of the
    /// first input's.
    ///
    /// # Errors
    /// `Invalid`, naming the first difference, when they cannot be joined.
    pub(super) fn join(&mut self, other: &Schema, extends: bool) -> Result<SchemaMap> {
        let is_first = self.schema.fields.is_empty();
        let known = self.schema.fields.len();
        let columns = vec![usize::MAX; other.columns.len()];
        let mut map = SchemaMap { fields: Vec::new(), columns, converted: HashSet::new() };
        for (id, field) in other.fields.iter().enumerate() {
            let above = field.parent.and_then(|p| map.fields.get(p).copied());
            let at = match above {
                // the fields of a new one are new
                Some(above) if above >= known => self.add(field, Some(above), &map),
                Some(above) => self.same_child(other, id, above)?,
                None => match self.top(&field.name) {
                    Some(at) => at,
                    None if is_first || extends => self.add(field, None, &map),
                    None => return Err(self.differs(other, id, "is an extra field")),
                },
            };
            map.fields.push(at);
            if at < known {
                self.compare(other, id, at, &map)?;
            }
            self.join_columns(other, id, at, at < known, &mut map)?;
        }
        for (id, field) in other.fields.iter().enumerate() {
            self.join_shown(other, id, field, &map, known)?;
        }
        if !extends {
            let found = |id: usize| map.fields.contains(&id);
            let mut tops = (0..known).filter(|&id| self.schema.fields.get(id).is_some_and(|f| f.parent.is_none()));
            if let Some(missing) = tops.find(|&id| !found(id)) {
                return Err(self.differs(&self.schema, missing, "is missing"));
            }
        }
        other.type_info.iter().try_for_each(|info| self.join_type_info(info))?;
        Ok(map)
    }

    fn top(&self, name: &str) -> Option<usize> {
        self.schema.fields.iter().position(|f| f.parent.is_none() && f.name == name)
    }

    fn differs(&self, other: &Schema, field: usize, what: &str) -> Error {
        self.difference(other, field, what).with_remedy("merge files of one kind, or omit this one")
    }

    fn difference(&self, other: &Schema, field: usize, what: &str) -> Error {
        Error::invalid(format!("field {} {what} (compared with {})", path_of(other, field), self.first_file))
    }

    fn add(&mut self, field: &Field, parent: Option<usize>, map: &SchemaMap) -> usize {
        let id = self.schema.fields.len();
        let source = field.source.and_then(|s| map.fields.get(s).copied());
        let (children, columns) = (Vec::new(), Vec::new());
        self.schema.fields.push(Field { parent, source, children, columns, ..field.clone() });
        self.representations.push(Vec::new());
        self.shown.push(Vec::new());
        if let Some(above) = parent.and_then(|p| self.schema.fields.get_mut(p)) {
            above.children.push(id);
        }
        id
    }

    /// The field below `above` at the same place: its name must be the same.
    fn same_child(&self, other: &Schema, id: usize, above: usize) -> Result<usize> {
        let beside = |schema: &Schema, p: usize| schema.fields.get(p).map(|f| f.children.clone()).unwrap_or_default();
        let theirs = other.fields.get(id).and_then(|f| f.parent).map(|p| beside(other, p)).unwrap_or_default();
        let place = theirs.iter().position(|&c| c == id);
        let ours = beside(&self.schema, above);
        let same = place.and_then(|k| ours.get(k).copied());
        let name = |schema: &Schema, id: usize| schema.fields.get(id).map(|f| f.name.clone());
        match same.filter(|&at| name(&self.schema, at) == name(other, id)) {
            Some(at) => Ok(at),
            None => Err(self.differs(other, id, "is an extra field, or in another place")),
        }
    }

    /// Refuses fields of one name that are not the same.
    fn compare(&self, other: &Schema, id: usize, at: usize, map: &SchemaMap) -> Result<()> {
        let (Some(a), Some(b)) = (self.schema.fields.get(at), other.fields.get(id)) else { return Ok(()) };
        let differs = |what: String| Err(self.differs(other, id, &what));
        let shown = |name: &str| if name.is_empty() { "a record without a class".to_owned() } else { name.to_owned() };
        if a.type_name != b.type_name {
            return differs(format!("is {}, but {}", shown(&b.type_name), shown(&a.type_name)));
        }
        if a.role != b.role {
            return differs(format!("is a {:?}, but a {:?}", b.role, a.role).to_lowercase());
        }
        if a.array_size != b.array_size {
            let items = |n: Option<u64>| n.unwrap_or(1);
            return differs(format!("has {} items, but {}", items(b.array_size), items(a.array_size)));
        }
        if (a.version, a.type_version) != (b.version, b.type_version) {
            return differs(format!("has version {} of its class, but {}", b.type_version, a.type_version));
        }
        if let (Some(a), Some(b)) = (a.type_checksum, b.type_checksum)
            && a != b
        {
            return differs(format!("has another version of its class, with checksum {b:08x}, but {a:08x}"));
        }
        if a.source != b.source.and_then(|s| map.fields.get(s).copied()) {
            let source =
                |schema: &Schema, field: &Field| field.source.map_or("none".to_owned(), |s| path_of(schema, s));
            return differs(format!("shows field {}, but {}", source(other, b), source(&self.schema, a)));
        }
        if a.children.len() != b.children.len() {
            return differs(format!("has {} subfields, but {}", b.children.len(), a.children.len()));
        }
        Ok(())
    }

    /// Maps the representations of a field's columns; those that are new are added, unless an input before has the field
    /// and ROOT would misread both.
    fn join_columns(
        &mut self,
        other: &Schema,
        id: usize,
        at: usize,
        is_known: bool,
        map: &mut SchemaMap,
    ) -> Result<()> {
        for theirs in representations(other, id) {
            let columns: Vec<&Column> = theirs.iter().filter_map(|&c| other.columns.get(c)).collect();
            let known = self.representations.get(at).map_or(&[][..], Vec::as_slice);
            if let Some(first) = known.first().filter(|first| first.len() != columns.len()) {
                let what = format!("has {} columns, but {}", columns.len(), first.len());
                return Err(self.differs(other, id, &what));
            }
            let is_same = |ours: &&Vec<usize>| {
                let pairs = ours.iter().filter_map(|&c| self.schema.columns.get(c)).zip(&columns);
                pairs.into_iter().all(|(a, b)| is_same(a, b))
            };
            let is_alike = |ours: &&Vec<usize>| {
                let pairs = ours.iter().filter_map(|&c| self.schema.columns.get(c)).zip(&columns);
                columns.len() > 1 && pairs.into_iter().all(|(a, b)| is_convertible(a, b))
            };
            let ours = match known.iter().find(is_same).or_else(|| known.iter().find(is_alike)) {
                Some(ours) => ours.clone(),
                None => match self.beside(other, id, known, &columns, is_known)? {
                    Some(ours) => ours,
                    None => self.add_columns(at, &columns)?,
                },
            };
            for ((their, column), our) in theirs.into_iter().zip(columns).zip(ours) {
                if self.schema.columns.get(our).is_some_and(|ours| ours.code != column.code) {
                    map.converted.insert(their);
                }
                if let Some(place) = map.columns.get_mut(their) {
                    *place = our;
                }
            }
        }
        Ok(())
    }

    /// The columns that take those of another encoding; none where ROOT reads both beside each other.
    fn beside(
        &self,
        other: &Schema,
        id: usize,
        known: &[Vec<usize>],
        columns: &[&Column],
        is_known: bool,
    ) -> Result<Option<Vec<usize>>> {
        let ours = |columns: &Vec<usize>| columns.first().and_then(|&c| self.schema.columns.get(c));
        let all = || known.iter().filter_map(ours);
        let (Some(field), &[their], true) = (other.fields.get(id), columns, is_known) else { return Ok(None) };
        if !stands_alone(their) && !all().any(stands_alone) {
            return Ok(None);
        }
        let whole = known.iter().find(|c| ours(c).is_some_and(|our| becomes(field, their, our)));
        if let Some(whole) = whole {
            return Ok(Some(whole.clone()));
        }
        let there = all().find(|our| stands_alone(their) || stands_alone(our)).map_or(String::new(), name_of);
        let what = format!("is stored as {}, but as {there}", name_of(their));
        Err(self.difference(other, id, &what).with_remedy(
            "ROOT reads no field that is stored in both ways: specify a file first in which it has full precision, or \
             write it again without reduced precision",
        ))
    }

    fn add_columns(&mut self, field: usize, columns: &[&Column]) -> Result<Vec<usize>> {
        let Some(known) = self.representations.get_mut(field) else { return Ok(Vec::new()) };
        let number =
            u16::try_from(known.len()).map_err(|_| Error::unsupported("more than 65536 encodings of a field"))?;
        let first = self.schema.columns.len();
        let new = columns.iter().map(|&c| Column { field, representation: number, first_element: 0, ..c.clone() });
        self.schema.columns.extend(new);
        let ids: Vec<usize> = (first..self.schema.columns.len()).collect();
        known.push(ids.clone());
        if let Some(f) = self.schema.fields.get_mut(field) {
            f.columns.extend(&ids);
        }
        Ok(ids)
    }

    /// Which columns of others a field shows: must be the same in all inputs.
    fn join_shown(&mut self, other: &Schema, id: usize, field: &Field, map: &SchemaMap, known: usize) -> Result<()> {
        let mut shown = Vec::new();
        for &c in &field.columns {
            let Some(owner) = other.columns.get(c).map(|c| c.field).filter(|&owner| owner != id) else { continue };
            // further representations follow from the first
            let first = representations(other, owner).into_iter().next().unwrap_or_default();
            if let (Some(place), Some(&at)) = (first.iter().position(|&own| own == c), map.fields.get(owner)) {
                shown.push((at, place));
            }
        }
        let Some(&at) = map.fields.get(id) else { return Ok(()) };
        match self.shown.get_mut(at) {
            Some(ours) if at >= known => *ours = shown,
            Some(ours) if *ours != shown => return Err(self.differs(other, id, "shows other columns")),
            _ => {}
        }
        Ok(())
    }

    fn join_type_info(&mut self, info: &TypeInfo) -> Result<()> {
        let key = |t: &TypeInfo| (t.content, t.version, t.type_name.clone());
        match self.schema.type_info.iter().find(|known| key(known) == key(info)) {
            None => self.schema.type_info.push(info.clone()),
            Some(known) if known == info => {}
            Some(_) => {
                let what = format!("the classes of its objects are described differently than in {}", self.first_file);
                return Err(Error::unsupported(what).with_remedy("merge files that were written by one program"));
            }
        }
        Ok(())
    }

    /// The whole schema.
    pub(super) fn finish(&self) -> Schema {
        let mut schema = self.schema.clone();
        for (field, shown) in schema.fields.iter_mut().zip(&self.shown) {
            let all = shown.first().and_then(|(owner, _)| self.representations.get(*owner)).map_or(0, Vec::len);
            for number in 0..all {
                for (owner, place) in shown {
                    let columns = self.representations.get(*owner).and_then(|r| r.get(number));
                    field.columns.extend(columns.and_then(|columns| columns.get(*place)));
                }
            }
        }
        schema
    }

    /// Whether the field, or one that contains it, is an object of ROOT's streamer.
    pub(super) fn is_streamed(&self, field: usize) -> bool {
        self.schema.fields.get(field).is_some_and(|f| f.role == Role::Streamer)
    }
}
