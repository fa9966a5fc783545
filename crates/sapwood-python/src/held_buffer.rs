//! Numbers of Python objects, copied while the object's buffer is held.
//!
//! The buffer protocol is declared here by hand: it is part of the stable ABI from Python 3.11 only, while its functions
//! and the layout of `Py_buffer` are the same in 3.10 (Include/object.h there, Include/pybuffer.h since).

use pyo3::exceptions::PyValueError;
use pyo3::ffi::{Py_ssize_t, PyObject};
use pyo3::prelude::*;
use std::ffi::{CStr, c_char, c_int, c_void};

/// `Py_buffer`.
#[repr(C)]
struct View {
    buf: *mut c_void,
    obj: *mut PyObject,
    len: Py_ssize_t,
    itemsize: Py_ssize_t,
    readonly: c_int,
    ndim: c_int,
    format: *mut c_char,
    shape: *mut Py_ssize_t,
    strides: *mut Py_ssize_t,
    suboffsets: *mut Py_ssize_t,
    internal: *mut c_void,
}

/// `PyBUF_ND | PyBUF_FORMAT`: without strides, so that an exporter whose items are not side by side refuses.
const CONTIGUOUS_WITH_FORMAT: c_int = 0x8 | 0x4;

unsafe extern "C" {
    fn PyObject_GetBuffer(object: *mut PyObject, view: *mut View, flags: c_int) -> c_int;
    fn PyBuffer_Release(view: *mut View);
}

/// An object's buffer. While it is held the exporter neither frees nor moves the memory, whatever other threads do with
/// the object and whether or not there is an interpreter lock.
pub(crate) struct HeldBuffer<'py> {
    /// Boxed: an exporter may point into the view that it filled.
    view: Box<View>,
    py: Python<'py>,
}

impl<'py> HeldBuffer<'py> {
    /// Holds the buffer of an object whose items lie side by side.
    ///
    /// # Errors
    /// What the object raises: it has no buffer, or one whose items are apart.
    pub(crate) fn of(given: &Bound<'py, PyAny>) -> PyResult<Self> {
        let mut view = Box::new(View {
            buf: std::ptr::null_mut(),
            obj: std::ptr::null_mut(),
            len: 0,
            itemsize: 0,
            readonly: 0,
            ndim: 0,
            format: std::ptr::null_mut(),
            shape: std::ptr::null_mut(),
            strides: std::ptr::null_mut(),
            suboffsets: std::ptr::null_mut(),
            internal: std::ptr::null_mut(),
        });
        // SAFETY: the object is alive and this thread is attached, as `given` shows; `view` is a Py_buffer to be filled.
        let failed = unsafe { PyObject_GetBuffer(given.as_ptr(), &raw mut *view, CONTIGUOUS_WITH_FORMAT) } != 0;
        if failed {
            return Err(PyErr::fetch(given.py()));
        }
        Ok(Self { view, py: given.py() })
    }

    /// Items of one dimension.
    ///
    /// # Errors
    /// There are several dimensions, or none.
    pub(crate) fn len(&self) -> PyResult<usize> {
        match (self.view.ndim, usize::try_from(self.view.len), usize::try_from(self.view.itemsize)) {
            (1, Ok(bytes), Ok(size)) if size > 0 => Ok(bytes / size),
            (n, ..) => Err(PyValueError::new_err(format!("an array of one dimension is required, not {n}"))),
        }
    }

    /// Bytes of an item.
    pub(crate) fn item_size(&self) -> usize {
        usize::try_from(self.view.itemsize).unwrap_or_default()
    }

    /// The items' type in the language of the module `struct`; bytes where the exporter says nothing.
    pub(crate) fn format(&self) -> &str {
        if self.view.format.is_null() {
            return "B";
        }
        // SAFETY: an exporter that was asked for the format gives a C string that lives as long as the buffer is held.
        unsafe { CStr::from_ptr(self.view.format) }.to_str().unwrap_or_default()
    }

    /// A copy of the items, whose size must be that of `T`.
    ///
    /// Another thread may write to them meanwhile, as it may while Python's own `bytes(array)` copies; each item is then
    /// what it was before or after, or a mixture, and nothing worse, since `T` takes every bit pattern.
    ///
    /// # Errors
    /// The items have another size, or are not of one dimension.
    pub(crate) fn copy<T: AnyBits>(&self) -> PyResult<Vec<T>> {
        let len = self.len()?;
        if self.item_size() != size_of::<T>() {
            let what = format!("the items have {} bytes, not {}", self.item_size(), size_of::<T>());
            return Err(PyValueError::new_err(what));
        }
        let mut out: Vec<T> = Vec::with_capacity(len);
        if len > 0 {
            // SAFETY: the exporter promises `view.len` bytes at `buf` while the buffer is held, and `len` items of this
            // size are no more than that. They may be unaligned: bytes are copied. `out` has room for `len` items, which
            // are initialized once their bytes are there, because every bit pattern is a value of `T`.
            unsafe {
                let bytes = len * size_of::<T>();
                std::ptr::copy_nonoverlapping(self.view.buf.cast::<u8>(), out.as_mut_ptr().cast::<u8>(), bytes);
                out.set_len(len);
            }
        }
        Ok(out)
    }
}

impl Drop for HeldBuffer<'_> {
    fn drop(&mut self) {
        let _attached = self.py;
        // SAFETY: the view was filled by PyObject_GetBuffer and is released once; this thread is attached, as `py` shows.
        unsafe { PyBuffer_Release(&raw mut *self.view) };
    }
}

/// Numbers that have a value for every bit pattern.
///
/// # Safety
/// Only for types without padding and without invalid bit patterns.
pub(crate) unsafe trait AnyBits: Copy {}

macro_rules! any_bits {
    ($($ty:ty),+) => {
        $(
            // SAFETY: a number of the machine: no padding, and every bit pattern is a value.
            unsafe impl AnyBits for $ty {}
        )+
    };
}

any_bits!(u8, i8, u16, i16, u32, i32, u64, i64, f32, f64);
