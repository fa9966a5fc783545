//! Rows: Rust values become columns, and structs become branches.

use crate::{
    BranchSpec, BranchType, CppType, FieldSpec, FileWriter, NtupleOptions, NtupleWriter, TreeOptions, TreeWriter,
};
use sapwood_column::{Array, DType, Values};
use sapwood_span::Result;
use std::collections::{BTreeMap, HashMap};
use std::hash::BuildHasher;
use std::marker::PhantomData;

/// A value that branches can hold: numbers, `bool`, text, arrays, vectors, maps, and structs that derive
/// [`Record`].
pub trait Value {
    /// Its C++ type, within a class or collection.
    fn cpp() -> CppType;

    /// A branch of such values.
    fn branch(name: &str) -> BranchSpec {
        BranchSpec::object(name, Self::cpp())
    }

    /// The column of no values.
    fn column() -> Array;

    /// Appends it to a column created by [`Value::column`]; another column is left unchanged.
    fn append_to(&self, column: &mut Array);
}

/// A struct that is a row of a tree: a branch for each field. Derive it with `#[derive(Record)]`.
pub trait Record: Value {
    /// The branches.
    ///
    /// # Errors
    /// An invalid attribute.
    fn branches() -> Result<Vec<BranchSpec>>;

    /// Empty columns, in the order of the branches.
    fn columns() -> Vec<Array>;

    /// Appends it to the columns.
    fn fill(&self, columns: &mut [Array]);
}

macro_rules! numbers {
    ($($t:ty: $variant:ident),+) => {$(
        impl Value for $t {
            fn cpp() -> CppType {
                CppType::Number(DType::$variant)
            }

            fn branch(name: &str) -> BranchSpec {
                BranchSpec::scalar(name, DType::$variant)
            }

            fn column() -> Array {
                Array::Flat(Values::$variant(Vec::new()))
            }

            fn append_to(&self, column: &mut Array) {
                if let Array::Flat(Values::$variant(values)) = column {
                    values.push((*self).into());
                }
            }
        }
    )+};
}

numbers!(bool: Bool, i8: I8, u8: U8, i16: I16, u16: U16, i32: I32, u32: U32, i64: I64, u64: U64, f32: F32, f64: F64);

impl Value for str {
    fn cpp() -> CppType {
        CppType::Text
    }

    fn column() -> Array {
        Array::Text { offsets: vec![0], bytes: Vec::new() }
    }

    fn append_to(&self, column: &mut Array) {
        if let Array::Text { offsets, bytes } = column {
            bytes.extend_from_slice(self.as_bytes());
            offsets.push(bytes.len() as i64);
        }
    }
}

/// Types that stand for another value.
macro_rules! as_target {
    ($([$($generics:tt)*] $t:ty => $target:ty),+ $(,)?) => {$(
        impl<$($generics)*> Value for $t {
            fn cpp() -> CppType {
                <$target>::cpp()
            }

            fn branch(name: &str) -> BranchSpec {
                <$target>::branch(name)
            }

            fn column() -> Array {
                <$target>::column()
            }

            fn append_to(&self, column: &mut Array) {
                <$target>::append_to(self, column);
            }
        }
    )+};
}

as_target!([] String => str, [T: Value + ?Sized] &T => T, [T: Value + ?Sized] Box<T> => T, [T: Value] Vec<T> => [T]);

impl<T: Value> Value for [T] {
    fn cpp() -> CppType {
        CppType::vector(T::cpp())
    }

    /// Numbers become a counted array.
    fn branch(name: &str) -> BranchSpec {
        match T::cpp() {
            CppType::Number(dtype) => BranchSpec::jagged(name, dtype),
            _ => BranchSpec::object(name, Self::cpp()),
        }
    }

    fn column() -> Array {
        Array::List { offsets: vec![0], content: Box::new(T::column()) }
    }

    fn append_to(&self, column: &mut Array) {
        if let Array::List { offsets, content } = column {
            self.iter().for_each(|item| item.append_to(content));
            offsets.push(content.len() as i64);
        }
    }
}

impl<T: Value, const N: usize> Value for [T; N] {
    /// Arrays within arrays are one array of all their numbers.
    fn cpp() -> CppType {
        match T::cpp() {
            CppType::Number(dtype) => CppType::Array(dtype, N),
            CppType::Array(dtype, n) => CppType::Array(dtype, N * n),
            other => CppType::vector(other),
        }
    }

    fn branch(name: &str) -> BranchSpec {
        let CppType::Array(dtype, n) = Self::cpp() else { return BranchSpec::object(name, Self::cpp()) };
        let mut branch = BranchSpec::fixed(name, dtype, n);
        branch.extents = match T::branch(name) {
            BranchSpec { ty: BranchType::Fixed(_, n), extents, .. } if extents.is_empty() => vec![N, n],
            BranchSpec { extents, .. } if !extents.is_empty() => [&[N], &extents[..]].concat(),
            _ => Vec::new(),
        };
        branch
    }

    fn column() -> Array {
        match Self::cpp() {
            CppType::Array(_, size) => {
                let content = match T::column() {
                    Array::Regular { content, .. } => content,
                    content => Box::new(content),
                };
                Array::Regular { size, len: 0, content }
            }
            _ => <[T]>::column(),
        }
    }

    fn append_to(&self, column: &mut Array) {
        let Array::Regular { len, content, .. } = column else { return <[T]>::append_to(self, column) };
        *len += 1;
        match T::cpp() {
            // the numbers of an inner array follow the previous ones
            CppType::Array(_, size) => {
                let flat = std::mem::replace(&mut **content, Array::Flat(Values::U8(Vec::new())));
                let mut inner = Array::Regular { size, len: 0, content: Box::new(flat) };
                self.iter().for_each(|item| item.append_to(&mut inner));
                if let Array::Regular { content: flat, .. } = inner {
                    **content = *flat;
                }
            }
            _ => self.iter().for_each(|item| item.append_to(content)),
        }
    }
}

fn map_column(key: Array, value: Array) -> Array {
    let fields = vec![("first".to_owned(), key), ("second".to_owned(), value)];
    Array::List { offsets: vec![0], content: Box::new(Array::Record { len: 0, fields }) }
}

fn push_map<'a, K: Value + 'a, V: Value + 'a>(items: impl Iterator<Item = (&'a K, &'a V)>, column: &mut Array) {
    let Array::List { offsets, content } = column else { return };
    let Array::Record { len, fields } = &mut **content else { return };
    let [(_, keys), (_, values)] = &mut fields[..] else { return };
    for (key, value) in items {
        key.append_to(keys);
        value.append_to(values);
        *len += 1;
    }
    offsets.push(*len as i64);
}

impl<K: Value, V: Value> Value for BTreeMap<K, V> {
    fn cpp() -> CppType {
        CppType::Map(Box::new(K::cpp()), Box::new(V::cpp()))
    }

    fn column() -> Array {
        map_column(K::column(), V::column())
    }

    fn append_to(&self, column: &mut Array) {
        push_map(self.iter(), column);
    }
}

impl<K: Value + Ord, V: Value, S: BuildHasher> Value for HashMap<K, V, S> {
    fn cpp() -> CppType {
        BTreeMap::<K, V>::cpp()
    }

    fn column() -> Array {
        BTreeMap::<K, V>::column()
    }

    /// In the order of the keys, so that the same rows give the same bytes.
    fn append_to(&self, column: &mut Array) {
        let mut items: Vec<(&K, &V)> = self.iter().collect();
        items.sort_by_key(|(key, _)| *key);
        push_map(items.into_iter(), column);
    }
}

/// Rows as columns, for [`TreeWriter::extend`] and [`Producer::extend`](crate::Producer::extend).
#[derive(Clone, Debug)]
pub struct Rows<R: Record> {
    names: Vec<String>,
    columns: Vec<Array>,
    len: usize,
    row: PhantomData<fn(R)>,
}

impl<R: Record> Rows<R> {
    /// No rows.
    ///
    /// # Errors
    /// As [`Record::branches`].
    pub fn new() -> Result<Self> {
        let names = R::branches()?.into_iter().map(|b| b.name).collect();
        Ok(Self { names, columns: R::columns(), len: 0, row: PhantomData })
    }

    /// Adds a row.
    pub fn push(&mut self, row: &R) {
        row.fill(&mut self.columns);
        self.len += 1;
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The columns, by the names of their branches.
    pub fn columns(&self) -> Vec<(&str, &Array)> {
        self.names.iter().map(String::as_str).zip(&self.columns).collect()
    }

    /// Removes all rows.
    pub fn clear(&mut self) {
        self.columns.iter_mut().for_each(Array::clear);
        self.len = 0;
    }
}

/// Rows that are gathered before they are passed to the tree: their number, and their bytes.
const ROWS: usize = 4096;
const BYTES: usize = 4 << 20;

/// Writes a tree or an ntuple row by row.
#[derive(Debug)]
pub struct RecordWriter<R: Record> {
    output: Output,
    rows: Rows<R>,
}

#[derive(Debug)]
enum Output {
    Tree(TreeWriter),
    Ntuple(NtupleWriter),
}

impl FileWriter {
    /// Starts a tree with rows of this type, as [`FileWriter::tree`] does.
    ///
    /// # Errors
    /// As there, and an invalid attribute.
    pub fn records<R: Record>(&mut self, name: &str, title: &str, options: TreeOptions) -> Result<RecordWriter<R>> {
        let tree = self.tree(name, title, &R::branches()?, options)?;
        Ok(RecordWriter { output: Output::Tree(tree), rows: Rows::new()? })
    }

    /// Starts an ntuple with rows of this type, as [`FileWriter::ntuple`] does in the file's own directory. Lists have no
    /// counters, and classes are records without a class; attributes about branches have no meaning.
    ///
    /// # Errors
    /// As there, and an invalid attribute.
    pub fn ntuple_records<R: Record>(
        &mut self,
        name: &str,
        description: &str,
        options: NtupleOptions,
    ) -> Result<RecordWriter<R>> {
        let fields: Vec<FieldSpec> = R::branches()?.iter().map(FieldSpec::from).collect();
        let ntuple = self.ntuple(self.root(), name, description, &fields, options)?;
        Ok(RecordWriter { output: Output::Ntuple(ntuple), rows: Rows::new()? })
    }
}

impl<R: Record> RecordWriter<R> {
    /// Appends a row.
    ///
    /// # Errors
    /// As [`TreeWriter::extend`].
    pub fn fill(&mut self, row: &R) -> Result<()> {
        self.rows.push(row);
        let n = self.rows.len();
        let full = n >= ROWS || (n.is_power_of_two() || n.is_multiple_of(64)) && self.bytes() >= BYTES;
        if full { self.hand_on() } else { Ok(()) }
    }

    /// Appends rows.
    ///
    /// # Errors
    /// As [`TreeWriter::extend`].
    pub fn extend<'a>(&mut self, rows: impl IntoIterator<Item = &'a R>) -> Result<()>
    where
        R: 'a,
    {
        rows.into_iter().try_for_each(|row| self.fill(row))
    }

    /// Rows so far.
    pub fn entries(&self) -> u64 {
        let written = match &self.output {
            Output::Tree(tree) => tree.entries(),
            Output::Ntuple(ntuple) => ntuple.entries(),
        };
        written + self.rows.len() as u64
    }

    /// Ends the cluster here, as [`TreeWriter::flush`] does.
    ///
    /// # Errors
    /// Errors of the disk.
    pub fn flush(&mut self) -> Result<()> {
        self.hand_on()?;
        match &mut self.output {
            Output::Tree(tree) => tree.flush(),
            Output::Ntuple(ntuple) => ntuple.flush(),
        }
    }

    /// Writes the remaining rows and the header of the tree or ntuple.
    ///
    /// # Errors
    /// Errors of the disk.
    pub fn finish(mut self) -> Result<()> {
        self.hand_on()?;
        match self.output {
            Output::Tree(tree) => tree.finish(),
            Output::Ntuple(ntuple) => ntuple.finish(),
        }
    }

    fn bytes(&self) -> usize {
        self.rows.columns.iter().map(Array::nbytes).sum()
    }

    fn hand_on(&mut self) -> Result<()> {
        if self.rows.is_empty() {
            return Ok(());
        }
        let done = match &mut self.output {
            Output::Tree(tree) => tree.extend(&self.rows.columns()),
            Output::Ntuple(ntuple) => ntuple.extend(&self.rows.columns()),
        };
        self.rows.clear();
        done
    }
}
