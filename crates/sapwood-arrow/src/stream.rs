//! Exported batches, in sequence.

use crate::data_type::DataType;
use crate::ffi::{ArrowArray, ArrowArrayStream, ArrowSchema};
use sapwood_column::{Array, ColumnType, Form};
use sapwood_span::{Error, ErrorKind, Result, defect};
use std::ffi::{CString, c_char, c_int};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::null_mut;

/// Error numbers, as in errno.
const EINTR: c_int = 4;
const EIO: c_int = 5;
const EINVAL: c_int = 22;
const ENOTSUP: c_int = 95;

type Batches = Box<dyn Iterator<Item = Result<Vec<Array>>> + Send>;

/// The state owned by a stream.
struct Held {
    fields: Vec<(String, DataType)>,
    /// The batch already read to determine the types.
    first: Option<Vec<Array>>,
    batches: Batches,
    error: CString,
}

impl ArrowArrayStream {
    /// A stream of batches of columns with these names, types and forms, one batch for each row group.
    ///
    /// The first batch is read at once: whether its strings are UTF-8 determines the type of the column.
    ///
    /// # Errors
    /// Errors of the first batch; names that Arrow does not allow.
    pub fn of_batches(
        columns: &[(String, ColumnType, Form)],
        batches: impl Iterator<Item = Result<Vec<Array>>> + Send + 'static,
    ) -> Result<Self> {
        let mut batches: Batches = Box::new(batches);
        let first = batches.next().transpose()?;
        let ty = |(i, (name, ty, form)): (usize, &(String, ColumnType, Form))| {
            (name.clone(), DataType::of(ty, Some(form), first.as_ref().and_then(|b| b.get(i))))
        };
        let fields: Vec<_> = columns.iter().enumerate().map(ty).collect();
        // names are refused here, not when the consumer reads
        ArrowSchema::of_type("", &DataType::Struct(fields.clone()))?;
        let held = Box::new(Held { fields, first, batches, error: CString::default() });
        Ok(Self {
            get_schema: Some(get_schema),
            get_next: Some(get_next),
            get_last_error: Some(get_last_error),
            release: Some(release),
            private_data: Box::into_raw(held).cast(),
        })
    }
}

impl Held {
    /// Runs something that may fail: the error, or the panic, is kept, and its number returned.
    fn attempt(&mut self, work: impl FnOnce(&mut Self) -> Result<()>) -> c_int {
        let done = catch_unwind(AssertUnwindSafe(|| work(self))).unwrap_or_else(|p| Err(defect::of_panic(&*p)));
        let Err(e) = done else { return 0 };
        self.error = CString::new(e.to_string().replace('\0', "?")).unwrap_or_default();
        match e.kind() {
            ErrorKind::Interrupted => EINTR,
            ErrorKind::Invalid => EINVAL,
            ErrorKind::Unsupported => ENOTSUP,
            _ => EIO,
        }
    }

    fn next(&mut self) -> Result<Option<ArrowArray>> {
        let batch = match self.first.take() {
            Some(first) => Some(first),
            None => self.batches.next().transpose()?,
        };
        let Some(batch) = batch else { return Ok(None) };
        if batch.len() != self.fields.len() {
            return Err(Error::invalid(format!("a batch has {} columns, not {}", batch.len(), self.fields.len())));
        }
        ArrowArray::of_batch(batch, &self.fields).map(Some)
    }
}

/// # Safety
/// `stream` was made by [`ArrowArrayStream::of_batches`] and not released yet, and no other thread uses it meanwhile.
unsafe fn held<'a>(stream: *mut ArrowArrayStream) -> &'a mut Held {
    // SAFETY: `private_data` came from Box::into_raw of a Held and lives until `release`.
    unsafe { &mut *(*stream).private_data.cast::<Held>() }
}

/// # Safety
/// See [`held`]; `out` can be written.
unsafe extern "C" fn get_schema(stream: *mut ArrowArrayStream, out: *mut ArrowSchema) -> c_int {
    // SAFETY: the caller upholds the specification.
    unsafe { held(stream) }.attempt(|held| {
        let schema = ArrowSchema::of_type("", &DataType::Struct(held.fields.clone()))?;
        // SAFETY: `out` can be written; its previous content is not ours to drop.
        unsafe { out.write(schema) };
        Ok(())
    })
}

/// # Safety
/// See [`held`]; `out` can be written.
unsafe extern "C" fn get_next(stream: *mut ArrowArrayStream, out: *mut ArrowArray) -> c_int {
    // SAFETY: the caller upholds the specification.
    unsafe { held(stream) }.attempt(|held| {
        let array = held.next()?.unwrap_or_else(ArrowArray::released);
        // SAFETY: `out` can be written; its previous content is not ours to drop.
        unsafe { out.write(array) };
        Ok(())
    })
}

/// # Safety
/// See [`held`].
unsafe extern "C" fn get_last_error(stream: *mut ArrowArrayStream) -> *const c_char {
    // SAFETY: the caller upholds the specification; the text lives until the next call.
    unsafe { held(stream) }.error.as_ptr()
}

/// # Safety
/// See [`held`].
unsafe extern "C" fn release(stream: *mut ArrowArrayStream) {
    // SAFETY: guaranteed by the caller under the specification; `private_data` came from Box::into_raw in `of_batches`.
    unsafe {
        // dropping a scan may wait for its threads, and must not unwind into C
        let held = Box::from_raw((*stream).private_data.cast::<Held>());
        let _ = catch_unwind(AssertUnwindSafe(|| drop(held)));
        (*stream).release = None;
        (*stream).private_data = null_mut();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::array::tests::LIVE;
    use sapwood_column::{DType, Values};
    use std::ffi::CStr;

    fn columns() -> Vec<(String, ColumnType, Form)> {
        let column = |name: &str, ty| (name.to_owned(), ty, Form::Plain);
        vec![column("x", ColumnType::Number(DType::I32)), column("s", ColumnType::Text)]
    }

    fn batch(x: Vec<i32>, text: &[u8]) -> Vec<Array> {
        let offsets = (0..=x.len()).map(|i| (i * text.len() / x.len().max(1)) as i64).collect();
        vec![Array::Flat(Values::I32(x)), Array::Text { offsets, bytes: text.to_vec() }]
    }

    /// The next array, or the number of the error and its text.
    fn next(stream: &mut ArrowArrayStream) -> std::result::Result<ArrowArray, (c_int, String)> {
        let mut out = ArrowArray::released();
        // SAFETY: the stream was not released, and `out` can be written.
        match unsafe { stream.get_next.unwrap()(stream, &raw mut out) } {
            0 => Ok(out),
            n => {
                // SAFETY: the text lives until the next call.
                let text = unsafe { CStr::from_ptr(stream.get_last_error.unwrap()(stream)) };
                Err((n, text.to_str().unwrap().to_owned()))
            }
        }
    }

    #[test]
    fn batches_come_in_order_and_are_freed_once() {
        let batches = [batch(vec![1, 2], b"ab"), batch(vec![3], b"c")];
        let mut stream = ArrowArrayStream::of_batches(&columns(), batches.into_iter().map(Ok)).unwrap();
        let (one, two, end) = (next(&mut stream).unwrap(), next(&mut stream).unwrap(), next(&mut stream).unwrap());
        assert_eq!((one.length, two.length), (2, 1));
        assert!(end.release.is_none(), "the end is an array that is released");
        drop(stream);
        assert_eq!(LIVE.with(std::cell::Cell::get), 6, "batches outlive their stream");
        drop((one, two));
        assert_eq!(LIVE.with(std::cell::Cell::get), 0);
    }

    #[test]
    fn errors_and_panics_are_told() {
        let failing = [Ok(batch(vec![1], b"a")), Err(Error::corrupt("a basket is damaged").in_file("a.root"))];
        let mut stream = ArrowArrayStream::of_batches(&columns(), failing.into_iter()).unwrap();
        drop(next(&mut stream).unwrap());
        assert_eq!(next(&mut stream).unwrap_err(), (EIO, "a.root: a basket is damaged".to_owned()));
        let odd = [Ok(batch(vec![1], b"a")), Ok(batch(vec![1], b"\xff"))];
        let mut stream = ArrowArrayStream::of_batches(&columns(), odd.into_iter()).unwrap();
        drop(next(&mut stream).unwrap());
        assert_eq!(next(&mut stream).unwrap_err().0, ENOTSUP);
        let panicking = (0..2).map(|i| if i == 0 { Ok(batch(vec![1], b"a")) } else { panic!("on purpose") });
        let mut stream = ArrowArrayStream::of_batches(&columns(), panicking).unwrap();
        drop(next(&mut stream).unwrap());
        assert!(next(&mut stream).unwrap_err().1.contains("on purpose"));
        assert_eq!(LIVE.with(std::cell::Cell::get), 0);
    }

    #[test]
    fn a_stream_without_batches_has_a_schema() {
        let mut stream = ArrowArrayStream::of_batches(&columns(), std::iter::empty()).unwrap();
        let mut out = std::mem::MaybeUninit::<ArrowSchema>::uninit();
        // SAFETY: the stream was not released, and `out` can be written; it is initialized when 0 is returned.
        let schema = unsafe {
            assert_eq!(stream.get_schema.unwrap()(&raw mut stream, out.as_mut_ptr()), 0);
            out.assume_init()
        };
        // SAFETY: the schema has this format as long as it lives.
        assert_eq!((schema.n_children, unsafe { CStr::from_ptr(schema.format) }), (2, c"+s"));
        assert!(next(&mut stream).unwrap().release.is_none());
    }
}
