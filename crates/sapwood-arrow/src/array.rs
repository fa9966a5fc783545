//! Exported columns: they own their memory, which `release` frees.

use crate::data_type::{DataType, misfit};
use crate::ffi::ArrowArray;
use crate::optional::placed;
use sapwood_column::{Array, Values, with_values};
use sapwood_span::Result;
use std::ffi::c_void;
use std::ptr::{null, null_mut};

/// Memory of one buffer.
enum Buffer {
    Numbers(Values),
    Offsets(Vec<i64>),
    Bytes(Vec<u8>),
}

impl Buffer {
    /// Its address, which does not change while the buffer is only moved.
    fn address(&self) -> *const c_void {
        match self {
            Self::Numbers(values) => with_values!(values, v => v.as_ptr().cast()),
            Self::Offsets(offsets) => offsets.as_ptr().cast(),
            Self::Bytes(bytes) => bytes.as_ptr().cast(),
        }
    }
}

/// The memory owned by an array: its buffers and their addresses, and its children, each boxed separately.
struct Held {
    _memory: Vec<Buffer>,
    buffers: Vec<*const c_void>,
    children: Vec<*mut ArrowArray>,
}

impl Drop for Held {
    fn drop(&mut self) {
        for &child in &self.children {
            // SAFETY: each came from Box::into_raw and is freed only here; a moved one has no `release` left.
            drop(unsafe { Box::from_raw(child) });
        }
        #[cfg(test)]
        tests::LIVE.with(|n| n.set(n.get() - 1));
    }
}

impl ArrowArray {
    /// A column of this type. There are validity bits only where values are optional.
    ///
    /// # Errors
    /// The column is of another type, or holds strings that are not UTF-8 where the type is that of strings.
    pub fn of_column(array: Array, ty: &DataType) -> Result<Self> {
        ty.check(&array)?;
        Self::column(array, ty)
    }

    /// A batch: a struct of columns of the same length.
    ///
    /// # Errors
    /// As [`ArrowArray::of_column`].
    pub(crate) fn of_batch(columns: Vec<Array>, types: &[(String, DataType)]) -> Result<Self> {
        for (array, (_, ty)) in columns.iter().zip(types) {
            ty.check(array)?;
        }
        let rows = columns.first().map_or(0, Array::len);
        let children = columns.into_iter().zip(types).map(|(array, (_, ty))| Self::column(array, ty));
        Ok(Self::new(rows, None, vec![], children.collect::<Result<_>>()?))
    }

    /// A column that was checked to be of this type.
    fn column(mut array: Array, mut ty: &DataType) -> Result<Self> {
        let mut present = None;
        // an option of an option is one: what the outer one does not have, the inner one does not have either
        while let DataType::Optional(inner) = ty {
            let Array::List { offsets, content } = array else { return Err(misfit()) };
            let (has, values) = placed(&offsets, *content)?;
            (present, array, ty) = (Some(has), values, inner);
        }
        let len = array.len();
        Ok(match (array, ty) {
            (Array::Flat(Values::Bool(bools)), _) => {
                Self::new(len, present, vec![Buffer::Bytes(bits(bools.iter().map(|&b| b != 0)))], vec![])
            }
            (Array::Flat(values), _) => Self::new(len, present, vec![Buffer::Numbers(values)], vec![]),
            (Array::Regular { content, .. }, DataType::FixedSizeList(_, item)) => {
                Self::new(len, present, vec![], vec![Self::column(*content, item)?])
            }
            (Array::List { offsets, content }, DataType::List(item)) => {
                let offsets = Buffer::Offsets(one_at_least(offsets));
                Self::new(len, present, vec![offsets], vec![Self::column(*content, item)?])
            }
            (Array::Text { offsets, bytes }, _) => {
                let offsets = Buffer::Offsets(one_at_least(offsets));
                Self::new(len, present, vec![offsets, Buffer::Bytes(bytes)], vec![])
            }
            (Array::Record { fields, .. }, DataType::Struct(types)) => {
                let children = fields.into_iter().zip(types).map(|((_, a), (_, ty))| Self::column(a, ty));
                Self::new(len, present, vec![], children.collect::<Result<_>>()?)
            }
            _ => return Err(misfit()),
        })
    }

    /// An array of these buffers behind its validity bits; without these, all entries are there.
    fn new(len: usize, present: Option<Vec<bool>>, memory: Vec<Buffer>, children: Vec<Self>) -> Self {
        let missing = present.as_ref().map_or(0, |p| p.iter().filter(|&&p| !p).count());
        let validity = present.filter(|_| missing > 0).map(|p| Buffer::Bytes(bits(p.into_iter())));
        let memory: Vec<Option<Buffer>> = std::iter::once(validity).chain(memory.into_iter().map(Some)).collect();
        #[cfg(test)]
        tests::LIVE.with(|n| n.set(n.get() + 1));
        let buffers = memory.iter().map(|m| m.as_ref().map_or(null(), Buffer::address)).collect::<Vec<_>>();
        let children = children.into_iter().map(|c| Box::into_raw(Box::new(c))).collect::<Vec<_>>();
        let mut held = Box::new(Held { _memory: memory.into_iter().flatten().collect(), buffers, children });
        Self {
            length: len as i64,
            null_count: missing as i64,
            offset: 0,
            n_buffers: held.buffers.len() as i64,
            n_children: held.children.len() as i64,
            buffers: held.buffers.as_mut_ptr(),
            children: held.children.as_mut_ptr(),
            dictionary: null_mut(),
            release: Some(release),
            private_data: Box::into_raw(held).cast(),
        }
    }

    /// A released array: the end of a stream.
    pub(crate) fn released() -> Self {
        Self {
            length: 0,
            null_count: 0,
            offset: 0,
            n_buffers: 0,
            n_children: 0,
            buffers: null_mut(),
            children: null_mut(),
            dictionary: null_mut(),
            release: None,
            private_data: null_mut(),
        }
    }
}

/// # Safety
/// `array` was made by [`ArrowArray::new`] and not released yet.
unsafe extern "C" fn release(array: *mut ArrowArray) {
    // SAFETY: guaranteed by the caller under the specification; `private_data` came from Box::into_raw in `new`.
    unsafe {
        drop(Box::from_raw((*array).private_data.cast::<Held>()));
        (*array).release = None;
        (*array).private_data = null_mut();
    }
}

/// Offsets number one more than the entries, even if there are none.
fn one_at_least(mut offsets: Vec<i64>) -> Vec<i64> {
    if offsets.is_empty() {
        offsets.push(0);
    }
    offsets
}

/// Booleans as bits, the first in the lowest bit of the first byte.
fn bits(bools: impl ExactSizeIterator<Item = bool>) -> Vec<u8> {
    let mut out = vec![0; bools.len().div_ceil(8)];
    for (i, b) in bools.enumerate() {
        out[i / 8] |= u8::from(b) << (i % 8);
    }
    out
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::ArrowSchema;
    use sapwood_column::{ColumnType, DType, Form};
    use std::cell::Cell;

    thread_local! {
        /// Arrays of this thread's test that are not released yet.
        pub(crate) static LIVE: Cell<i64> = const { Cell::new(0) };
    }

    fn live() -> i64 {
        LIVE.with(Cell::get)
    }

    fn example() -> (ColumnType, Array) {
        let text = Array::Text { offsets: vec![0, 1, 3], bytes: "aé".into() };
        let list =
            Array::List { offsets: vec![0, 2, 3], content: Box::new(Array::Flat(Values::F32(vec![1.0, 2.0, 3.0]))) };
        let flags = Array::Regular {
            size: 5,
            len: 2,
            content: Box::new(Array::Flat(Values::Bool(vec![1, 0, 0, 1, 1, 0, 0, 0, 1, 1]))),
        };
        let named = |n: &str, a| (n.to_owned(), a);
        let array =
            Array::Record { len: 2, fields: vec![named("text", text), named("list", list), named("flags", flags)] };
        let list = ColumnType::List { item: Box::new(ColumnType::Number(DType::F32)) };
        let flags = ColumnType::Regular { size: 5, item: Box::new(ColumnType::Number(DType::Bool)) };
        let fields = vec![("text".into(), ColumnType::Text), ("list".into(), list), ("flags".into(), flags)];
        (ColumnType::Record { fields }, array)
    }

    /// This many numbers of an array's buffer.
    fn read<T: Copy>(array: &ArrowArray, buffer: usize, n: usize) -> Vec<T> {
        assert!((buffer as i64) < array.n_buffers);
        // SAFETY: the array has this buffer, of at least `n` items of this type, as the tests construct it.
        unsafe { std::slice::from_raw_parts((*array.buffers.add(buffer)).cast::<T>(), n).to_vec() }
    }

    fn child(array: &ArrowArray, i: usize) -> &ArrowArray {
        assert!((i as i64) < array.n_children);
        // SAFETY: the array has this child and lives as long as the reference.
        unsafe { &**array.children.add(i) }
    }

    #[test]
    fn what_is_exported_has_the_values_at_their_places() {
        let (ty, array) = example();
        let ty = DataType::of(&ty, None, Some(&array));
        let out = ArrowArray::of_column(array, &ty).unwrap();
        assert_eq!((out.length, out.n_buffers, out.n_children, live()), (2, 1, 3, 6));
        let text = child(&out, 0);
        assert_eq!(read::<i64>(text, 1, 3), [0, 1, 3]);
        assert_eq!(read::<u8>(text, 2, 3), "aé".as_bytes());
        assert_eq!(read::<f32>(child(child(&out, 1), 0), 1, 3), [1.0, 2.0, 3.0]);
        assert_eq!(read::<u8>(child(child(&out, 2), 0), 1, 2), [0b0001_1001, 0b11]);
        drop(out);
        assert_eq!(live(), 0);
    }

    #[test]
    fn release_frees_everything_once() {
        let (ty, array) = example();
        let ty = DataType::of(&ty, None, Some(&array));
        let mut out = ArrowArray::of_column(array, &ty).unwrap();
        // a consumer moves one child out, as the specification permits: copy it and mark the original as released
        // SAFETY: the child exists, and its original is marked, so only the copy releases it.
        let taken = unsafe {
            let original = *out.children.add(1);
            let copy = std::ptr::read(original);
            (*original).release = None;
            copy
        };
        let release = out.release.unwrap();
        // SAFETY: it was not released yet.
        unsafe { release(&raw mut out) };
        assert!(out.release.is_none(), "it is marked");
        assert_eq!(live(), 2, "the child that was taken over lives, with its own child");
        assert_eq!(read::<i64>(&taken, 1, 3), [0, 2, 3]);
        drop(out);
        drop(taken);
        assert_eq!(live(), 0);
    }

    #[test]
    fn optional_values_have_validity_bits() {
        let number = Box::new(ColumnType::Number(DType::F32));
        let twice = ColumnType::List { item: Box::new(ColumnType::List { item: number.clone() }) };
        let option = |form| Form::Optional(Box::new(form));
        // an option of an option: its value, an inner one that is missing, an outer one that is missing
        let inner = Array::List { offsets: vec![0, 1, 1], content: Box::new(Array::Flat(Values::F32(vec![2.5]))) };
        let array = Array::List { offsets: vec![0, 1, 2, 2], content: Box::new(inner) };
        let ty = DataType::of(&twice, Some(&option(option(Form::Plain))), Some(&array));
        let out = ArrowArray::of_column(array, &ty).unwrap();
        assert_eq!((out.length, out.null_count, out.n_children), (3, 2, 0));
        assert_eq!((read::<u8>(&out, 0, 1), read::<f32>(&out, 1, 3)), (vec![0b001], vec![2.5, 0.0, 0.0]));
        drop(out);
        // the alternatives of a variant
        let once = |offsets: Vec<i64>, values| Array::List { offsets, content: Box::new(Array::Flat(values)) };
        let fields = vec![
            ("a".to_owned(), once(vec![0, 1, 1], Values::F32(vec![1.0]))),
            ("b".to_owned(), once(vec![0, 0, 1], Values::F32(vec![2.0]))),
        ];
        let list = ColumnType::List { item: number };
        let record = ColumnType::Record { fields: vec![("a".into(), list.clone()), ("b".into(), list)] };
        let form = Form::Variant(vec![Form::Plain, Form::Plain]);
        let array = Array::Record { len: 2, fields };
        let ty = DataType::of(&record, Some(&form), Some(&array));
        let out = ArrowArray::of_column(array, &ty).unwrap();
        assert_eq!((out.null_count, child(&out, 0).null_count), (0, 1));
        assert_eq!(read::<u8>(child(&out, 1), 0, 1), [0b10]);
        drop(out);
        assert_eq!(live(), 0);
    }

    #[test]
    fn strings_that_are_not_utf8_are_binary_or_refused() {
        let odd = || Array::Text { offsets: vec![0, 1, 2], bytes: "é".into() };
        assert_eq!(DataType::of(&ColumnType::Text, None, Some(&odd())), DataType::Binary, "cut within a character");
        assert_eq!(DataType::of(&ColumnType::Text, None, None), DataType::Text);
        assert!(ArrowArray::of_column(odd(), &DataType::Binary).is_ok());
        let e = ArrowArray::of_column(odd(), &DataType::Text).unwrap_err();
        assert!(e.to_string().contains("not UTF-8"), "{e}");
        assert!(ArrowArray::of_column(odd(), &DataType::Number(DType::F32)).is_err());
    }

    #[test]
    fn names_that_arrow_does_not_have_are_refused() {
        assert!(ArrowSchema::of_type("x", &DataType::Text).is_ok());
        assert!(ArrowSchema::of_type("x\0y", &DataType::Text).is_err());
        assert!(ArrowSchema::of_type(&sapwood_span::raw_text::text_of(&[b'x', 0xff]), &DataType::Text).is_err());
    }
}
